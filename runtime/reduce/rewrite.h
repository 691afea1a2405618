/* rewrite.h - takes elements out of a model's source text, as edits
 *
 * Elements are removed with their bonds. What this leaves dangling is removed, too (junctions that carried nothing
 * else, two-ports that lead nowhere), and so are parameters, constants, signals and inputs that were read before and
 * are not any more. A declaration whose line is removed moves to the next place where its name appears. An element that
 * a remaining part reads stays. All other bytes stay.
 *
 * needs    the tree of a file without syntax errors, a model that elaborates
 * cost     linear in the text, times the rounds that readers require (one or two in practice)
 */
#ifndef BG_REWRITE_H
#define BG_REWRITE_H

#include "flat.h"
#include "edit.h"

enum rewrite_kind {
    REWRITE_ELEMENT, /* an element asked for, with its bond */
    REWRITE_JUNCTION,
    REWRITE_TWO_PORT, /* left dangling */
    REWRITE_BOND,     /* a statement that only bonded what went and is declared elsewhere */
    REWRITE_VALUE,    /* parameter, constant, signal or input that nothing reads any more */
    REWRITE_LET,      /* `let` of an experiment that set something which went */
    REWRITE_EXPECT,   /* what an experiment expects of something which went */
    REWRITE_INITIAL,  /* initial value that went with its part */
    REWRITE_MOVE,     /* declaration that moved */
    REWRITE_CLAMP,    /* an element that became a source of zero: its junction's common variable is held at zero */
    REWRITE_TERM_DELETE,
    REWRITE_TERM_MEAN, /* a term of a sum: gone, or a number in its place */
    REWRITE_WITHOUT,   /* a statement that says `without` what went elsewhere */
    REWRITE_DROP_BOND, /* a bond between junctions */
    REWRITE_CONDITION, /* a bond or two-port that became a modulated source */
    REWRITE_FOLD,      /* what only passed a bond on (fold.h) */
    REWRITE_REFIT      /* another number of a parameter (refit.h) */
};
typedef struct rewrite_item {
    enum rewrite_kind kind;
    const char *name;
    span at;
    const char *owner; /* of a change: what it is in, for the check by graph; else NULL */
    uint32_t bond;     /* of REWRITE_DROP_BOND, REWRITE_CONDITION: 1 + its place among the plan's bonds */
    const char *const *element;
    size_t nelements; /* of a term: all elements whose laws it is in */
} rewrite_item;

/* The fate of a bond between two junctions of the model itself, or of the bond of a two-port through which its source
 * would act back. */
typedef struct rewrite_bond {
    span arrow;         /* in the text */
    const char *label;  /* for reports: "body -> strut" */
    const char *source; /* the name of the source that replaces it; NULL: none, the bond is dropped */
    const char *text;   /* the source as the text says it: "MSe:body_on_strut = body.e" */
    const char *driver; /* interned: the part with the junction that it reads (the junction, or a component that has it
                           as a port) */
    bool forward;       /* it acts to the right of the arrow, else to its left */
    bool two_port; /* the source is an interned two-port of the text, on that side of the arrow, which turns into it */
} rewrite_bond;

/* An element that stays because something that stays needs it. */
typedef struct rewrite_block {
    const char *element;
    span reader;
    const char *why;
} rewrite_block;

typedef struct rewrite {
    edits edits;            /* sealed */
    VEC(rewrite_item) item; /* what is done, in order of the text within each kind */
    VEC(rewrite_block) blocked;
    VEC(rewrite_bond) bond; /* as asked for */
    char *error;            /* internal error, or NULL */
} rewrite;

/* A change inside a remaining part: bytes are replaced, and what they read changes. The pieces of all changes are
 * disjoint. */
typedef struct rewrite_piece {
    span at;
    const char *text;
} rewrite_piece;
typedef struct rewrite_change {
    enum rewrite_kind kind; /* REWRITE_CLAMP, REWRITE_TERM_DELETE, REWRITE_TERM_MEAN, REWRITE_INITIAL, REWRITE_LET */
    const char *owner; /* interned: the part (or value: of_value) that it belongs to; the change is dropped with it. Of
                          a let: NULL */
    bool of_value;
    bool inner; /* it is in a component, which nothing here takes away */
    const char *const *element;
    size_t nelements; /* of a term: the full names of all elements whose laws contain it; outlives the plan */
    const char *name; /* for reports: the element, the term */
    span at;
    const rewrite_piece *piece;
    size_t npieces;
} rewrite_change;

/* What each kind is called in reports: "drop", "clamp", "dangling", "parameter", ... */
const char *rewrite_kind_name(enum rewrite_kind k);

/* A request: elements to take out, changes inside remaining parts, bonds to drop or make one-way. Names are interned
 * with those of the tree. */
typedef struct rewrite_request {
    const flat_model *f; /* the model as elaborated from the text */
    const ast_file *file;
    const char *const *name; /* the most important first: where one of several must stay because of what they carry
                                together, the earlier stays. Elements of components, loops and arrays by full name
                                ("front.spring", "drag[3]"): these go by `without`, and what clean-up after that takes
                                is in the items */
    size_t n;
    const rewrite_change *change; /* a clamp needs no pieces: an element of the text itself becomes a source of zero
                                     there, another is held by `without` of its effort or flow */
    size_t nchanges;
    const rewrite_bond *bond; /* their texts outlive the plan; a named bond that something reads stays as it is, and so
                                 does a bond whose source would have nothing to read */
    size_t nbonds;
} rewrite_request;
/* Fills *r; call rewrite_free also after false. False: see r->error. Nothing to do: r->edits.list.n == 0. */
bool rewrite_plan(const rewrite_request *q, rewrite *r);
void rewrite_free(rewrite *r);
/* Deletes statements, each with its whole line (indentation, trailing comment, newline) if nothing else is on it.
 * Sorts them. */
void rewrite_delete_statements(edits *e, const char *text, size_t length, span *lost, size_t n);
/* The place where the model itself declares a part (its origin, and its own place): its own, or that of the outermost
 * component around it. */
span rewrite_place(const flat_model *f, uint32_t origin, span at);

/* Checks that the graph `after` is `before` with the plan's parts taken out, by names, types, laws and arrows. Both as
 * elaborated, before any later stage. False: *why names the first difference (free it). */
bool rewrite_check(const flat_model *before, const rewrite *r, const flat_model *after, char **why);

#endif
