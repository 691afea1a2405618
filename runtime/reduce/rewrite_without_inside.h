/* rewrite_without_inside.h - declarations shared by the files rewrite_without*.c; no other file includes it */
#ifndef BG_REWRITE_WITHOUT_INSIDE_H
#define BG_REWRITE_WITHOUT_INSIDE_H

#include "cleanup.h"
#include "rewrite_without.h"

/* A name as `without` writes it: "drag[" 3 "]", "m[" 3 "].f", or "hub.bearing" without a last number. */
struct entry {
    const char *head, *tail;
    uint32_t number;
    bool numbered;
    uint32_t group;
    size_t order;
};

/* One list of entries: a statement of the model, or the list behind an instance. */
struct group {
    const ast_stmt *after;
    const ast_node *node;
    const ast_stmt *old;
    bool used;
};

struct taking {
    const flat_model *f;
    const ast_file *file;
    const char *text;
    size_t length;
    rewrite *r;
    without_lost *lost;
    map element_of, junction_of, instance_of; /* interned name -> index; of instances their origin */
    uint32_t *asked;                          /* [origin] an instance to remove whole: index in the list, or NONE */
    uint32_t *inside;                         /* [junction + element] the instance with which it is removed, or NONE */
    map top;                                  /* statements of the model itself */
    uint32_t *wanted;                         /* [element] place in the list, NONE */
    bool *clamped;                            /* [element] its junction's common variable is removed instead */
    bool *element_gone, *junction_gone;
    cleanup clean;                 /* junctions, then elements */
    bool *by_text;                 /* [junction + element] the planner of the text removed and reported it */
    map mentioned, mentioned_base; /* in other experiments: whole name, first name -> item in their list */
    VEC(span) mention;
    VEC(uint32_t) open;
    VEC(struct entry) entry;
    VEC(struct group) group;
    map heads; /* hash of head and tail -> order of the first entry with them */
};

/* ---- rewrite_without.c ---- */

/* The outermost instance or loop iteration around it; NONE: the model itself. */
uint32_t without_outermost(const flat_model *f, uint32_t origin);
const ast_stmt *without_top_statement(const flat_model *f, const flat_element *e);
bool without_stands_in_model(const struct taking *t, const ast_stmt *s);

/* The first n names as "front.spring[2]"; NULL where an index is not a plain number. */
const char *without_literal_name(const flat_model *f, const ast_ref *ref, int n);

/* ---- rewrite_without_instances.c ---- */
/* Adds everything inside the requested instances. */
void without_ask_instances(struct taking *t);
/* Keeps an instance. */
void without_keep_instance(struct taking *t, uint32_t origin, span reader, const char *why);
/* Keeps the instances of which something outside names a part. */
void without_block_instances(struct taking *t);

/* ---- rewrite_without_cascade.c ---- */
/* Collects the flat model's parts and links for the clean-up. */
void without_gather_links(struct taking *t);
void without_cascade(struct taking *t, const char *const *gone, size_t ngone);
void without_block_named(struct taking *t);

/* Keeps what a remaining part names. True if anything was kept. */
bool without_keep_needed(struct taking *t);

/* ---- rewrite_without_lines.c ---- */
void without_note(struct taking *t, enum rewrite_kind kind, const char *name, span at);

/* Deletes lines of loops all of whose copies are removed. Their elements need no `without`; whole[e] is set. */
void without_drop_lines(struct taking *t, bool *whole);

/* ---- rewrite_without_lists.c ---- */
void without_add_entry(struct taking *t, const char *name, uint32_t group);

/* The list that removes element e, and its name there. */
uint32_t without_group_of(struct taking *t, uint32_t e, const char **name);
/* The model's own list, behind the statement that makes an instance. */
uint32_t without_group_of_instance(struct taking *t, uint32_t origin);

/* Takes over existing lists: items as entries; what cannot be read as entries is copied. */
void without_take_over(struct taking *t, const map *dropped);

/* Writes each list again. */
void without_write_lists(struct taking *t);

/* Finds the model's own `without`: the last one in its text. */
void without_find_old_lists(struct taking *t, const map *dropped, bool wanted);

#endif
