/* rewrite_inside.h - what the rewrite_*.c files share: the plan of what is to go; nobody else includes it */
#ifndef BG_REWRITE_INSIDE_H
#define BG_REWRITE_INSIDE_H

#include "cleanup.h"
#include "rewrite.h"
#include "rewrite_without.h"

enum part_kind { PART_ELEMENT, PART_TWO_PORT, PART_JUNCTION, PART_BOND };

/* A name of the model's parts, where it is declared, and what is bonded to it. */
struct part {
    const char *name;
    enum part_kind kind;
    const ast_node *node; /* of the declaration; NULL: a bond */
    span at;
    uint32_t wanted;  /* place in the list of what is to go, NONE if not in it */
    uint32_t end[2];  /* a bond's two parts */
    bool gone, fixed; /* fixed: a port, or bonded within a loop: never goes by itself */
    bool clamped;
    span stored_read;   /* who reads what it stores: SPAN_NONE: nobody */
    bool thinned;       /* an earlier `without` took a bond of it: the language itself cleans it up */
    bool held;          /* something that stays names it: it stays while a bond is left */
    const char *turned; /* a two-port that is a source now: its text */
};

struct value {
    const ast_stmt *stmt;
    bool output, read, gone;
};

/* An expression of `reader` reads `target`. Readers and targets are parts (0 ...), then values, then the world (always
 * there). */
struct reading {
    uint32_t reader, target;
    span at;
};

/* A node of a chain. cut: 1 + the request for the arrow behind it, 0: none */
struct occurrence {
    uint32_t stmt, node, part, cut;
};

/* A bond to be dropped or made one-way: its ends, its name in the text (a part), and whether that cannot be done. */
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
    VEC(struct reading) reading;       /* sorted by reader once gathered */
    uint32_t *reads0;                  /* [entity + 1] */
    cleanup clean;                     /* the same parts with their links, and what is left of them */
    uint32_t *link_cut;                /* [link of clean] 1 + request, 0: none */
    const rewrite_bond *bond;
    size_t nbonds;
    struct request *request; /* [bond] */
    bool *live;              /* [entity] */
    uint32_t *via;           /* [entity] the reading that made it live */
    VEC(uint32_t) work;
    VEC(span) lost; /* statements that go with their line */
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

/* Declares what a statement declares. Nesting is bounded by the parser. */
void rewrite_declare(struct plan *p, const ast_stmt *s, bool nested);

/* Gathers the chains' nodes and, from them, who is bonded to whom, in compressed rows. */
void rewrite_gather_bonds(struct plan *p);

/* ---- rewrite_readers.c ---- */

/* What a `let` or a statement `ref(0) = ...` sets: a part's initial value or a value. NONE: something unknown here.
 */
uint32_t rewrite_initial_target(const struct plan *p, const ast_ref *ref);
bool rewrite_of_this_model(const struct plan *p, const ast_decl *d);

/* Sorts the readings by reader (counting) and notes which values were read at all; then those in replaced bytes are
 * forgotten. */
void rewrite_gather_readings(struct plan *p);
int rewrite_span_order(const void *pa, const void *pb);

/* What stores what is read is not clamped. */
void rewrite_refuse_clamps(struct plan *p);

/* The bytes of the changes that are made. */
void rewrite_gather_replaced(struct plan *p);

/* By reader; what the changes replace reads nothing any more. */
void rewrite_sort_readings(struct plan *p);

/* What these statements read is not read any more. Sorts them. */
void rewrite_forget(struct plan *p, span *lost, size_t n);

/* ---- rewrite_cascade.c ---- */

/* Takes out what is wanted and then what dangles. */
void rewrite_cascade(struct plan *p);

/* Marks all that what stays reads, directly or through what it reads. */
void rewrite_mark_live(struct plan *p);

/* Keeps what something that stays needs. True if anything was kept: then what goes must be found again. */
bool rewrite_keep_needed(struct plan *p);

/* ---- rewrite_lines.c ---- */
bool rewrite_is_blank(char c);

/* ---- rewrite_edits.c ---- */
void rewrite_note(struct plan *p, enum rewrite_kind kind, const char *name, span at);
void rewrite_make_edits(struct plan *p);

#endif
