/* rewrite_inside.h - declarations shared by the files rewrite_*.c: the plan of a removal; no other file includes it */
#ifndef BG_REWRITE_INSIDE_H
#define BG_REWRITE_INSIDE_H

#include "cleanup.h"
#include "rewrite.h"
#include "rewrite_without.h"

enum text_part_kind { TEXT_ELEMENT, TEXT_TWO_PORT, TEXT_JUNCTION, TEXT_BOND };

/* A named part of the model, where it is declared, and its bonds. */
struct part {
    const char *name;
    enum text_part_kind kind;
    const ast_node *node; /* of its declaration; NULL: the part is a bond */
    span at;
    uint32_t wanted;  /* index in the list of parts to remove; NONE: not in it */
    uint32_t end[2];  /* a bond's two parts */
    bool gone, fixed; /* fixed: a port, or bonded within a loop: never removed by clean-up */
    bool clamped;
    span stored_read;   /* the reader of its stored quantity; SPAN_NONE: none */
    bool thinned;       /* an earlier `without` removed a bond of it: elaboration itself cleans it up */
    bool held;          /* a remaining part names it: it stays as long as it has a bond */
    const char *turned; /* text of the source that a two-port became */
};

struct value {
    const ast_stmt *stmt;
    bool output, read, gone;
};

/* An expression of `reader` reads `target`. Readers and targets are numbered: parts first, then values, then the world
 * (which always remains). */
struct text_reading {
    uint32_t reader, target;
    span at;
};

/* A node of a chain. cut: 1 + the request for the arrow after it; 0: none */
struct occurrence {
    uint32_t stmt, node, part, cut;
};

/* A bond to drop or make one-way: its ends, its name in the text (a part), and whether it cannot be done. */
struct request {
    uint32_t left, right, name;
    bool off;
};

struct plan {
    const sources *s;
    const ast_model *model;
    const ast_file *file;
    const char *text;
    size_t length;
    map part_of, value_of; /* interned name -> index */
    VEC(struct part) part;
    VEC(struct value) value;
    VEC(struct occurrence) occurrence; /* in order of the text */
    VEC(uint32_t) chain0;              /* [statement] its first occurrence; one more at the end */
    VEC(struct text_reading) reading;  /* sorted by reader once gathered */
    uint32_t *reads0;                  /* [entity + 1] */
    cleanup clean;                     /* the same parts with their links, and the result of the clean-up */
    uint32_t *link_cut;                /* [link of clean] 1 + request, 0: none */
    const rewrite_bond *bond;
    size_t nbonds;
    struct request *request; /* [bond] */
    bool *live;              /* [entity] */
    uint32_t *via;           /* [entity] the reading through which it is needed */
    VEC(uint32_t) work;
    VEC(span) lost; /* statements that are deleted with their line */
    const rewrite_change *change;
    size_t nchanges;
    VEC(span) replaced; /* bytes of the changes, in order of the text */
    rewrite *out;
};

/* ---- rewrite.c ---- */
uint32_t rewrite_world(const struct plan *p);
uint32_t rewrite_value_entity(const struct plan *p, uint32_t v);

/* ---- rewrite_parts.c ---- */
uint32_t rewrite_find_part(const struct plan *p, const char *name);

/* Registers what a statement declares. The parser limits nesting. */
void rewrite_declare(struct plan *p, const ast_stmt *s, bool nested);

/* Collects the nodes of the chains, and from them the bonds between parts, in compressed rows. */
void rewrite_gather_bonds(struct plan *p);

/* ---- rewrite_readers.c ---- */

/* What a `let` or a statement `ref(0) = ...` sets: a part's initial value or a value. NONE: unknown here. */
uint32_t rewrite_initial_target(const struct plan *p, const ast_ref *ref);
bool rewrite_of_this_model(const struct plan *p, const ast_decl *d);

/* Sorts the readings by reader (counting sort) and notes which values were read at all; then forgets those in replaced
 * bytes. */
void rewrite_gather_readings(struct plan *p);
int rewrite_span_order(const void *pa, const void *pb);

/* Refuses to clamp an element whose stored quantity is read. */
void rewrite_refuse_clamps(struct plan *p);

/* Collects the bytes of the changes that are made. */
void rewrite_gather_replaced(struct plan *p);

/* Sorts the readings by reader; replaced bytes no longer read anything. */
void rewrite_sort_readings(struct plan *p);

/* Forgets what these statements read. Sorts them. */
void rewrite_forget(struct plan *p, span *lost, size_t n);

/* ---- rewrite_cascade.c ---- */

/* Removes the wanted parts and then what dangles. */
void rewrite_cascade(struct plan *p);

/* Marks everything that remaining parts read, directly or indirectly. */
void rewrite_mark_live(struct plan *p);

/* Keeps what a remaining part needs. True if anything was kept: the removal must then be computed again. */
bool rewrite_keep_needed(struct plan *p);

/* ---- rewrite_lines.c ---- */
bool rewrite_is_blank(char c);

/* ---- rewrite_edits.c ---- */
void rewrite_note(struct plan *p, enum rewrite_kind kind, const char *name, span at);
void rewrite_make_edits(struct plan *p);

#endif
