/* rewrite.h - takes elements out of a model's source text, as edits
 *
 * Elements are removed with their bonds. So is everything that is then left dangling (junctions that carried nothing
 * else, two-ports that lead nowhere), and parameters, constants, signals and inputs that are no longer read. A
 * declaration whose line is removed moves to the next place where its name appears. An element that a remaining part
 * reads stays. All other bytes stay as they are.
 *
 * needs    the tree of a file without syntax errors, a model that elaborates
 * cost     linear in the text, times the rounds that readers require (one or two in practice)
 */
#ifndef BG_REWRITE_H
#define BG_REWRITE_H

#include "flat.h"
#include "edit.h"

enum rewrite_kind {
    REWRITE_ELEMENT, /* a requested element, with its bond */
    REWRITE_JUNCTION,
    REWRITE_TWO_PORT, /* left dangling */
    REWRITE_BOND,     /* a statement that only bonded removed parts and is declared elsewhere */
    REWRITE_VALUE,    /* parameter, constant, signal or input that is no longer read */
    REWRITE_LET,      /* `let` of an experiment for something removed */
    REWRITE_EXPECT,   /* expectation of an experiment for something removed */
    REWRITE_INITIAL,  /* initial value of a removed part */
    REWRITE_MOVE,     /* declaration that moved */
    REWRITE_CLAMP,    /* an element that became a source of zero, which holds its junction's common variable at zero */
    REWRITE_TERM_DELETE,
    REWRITE_TERM_MEAN, /* a term of a sum, deleted or replaced by a number */
    REWRITE_WITHOUT,   /* a statement with `without` for something that is removed elsewhere */
    REWRITE_DROP_BOND, /* a bond between junctions */
    REWRITE_CONDITION, /* a bond or two-port replaced by a modulated source */
    REWRITE_FOLD,      /* a part that only passed a bond on (fold.h) */
    REWRITE_REFIT      /* another number for a parameter (refit.h) */
};
typedef struct rewrite_item {
    enum rewrite_kind kind;
    const char *name;
    span at;
    const char *owner; /* of a change: the part that contains it, for the check of the graph; else NULL */
    uint32_t bond;     /* of REWRITE_DROP_BOND, REWRITE_CONDITION: 1 + index among the plan's bonds */
    const char *const *element;
    size_t nelements; /* of a term: all elements whose laws contain it */
} rewrite_item;

/* The change of a bond between two junctions of the model itself, or of the bond of a two-port through which its source
 * would act back. */
typedef struct rewrite_bond {
    span arrow;         /* place in the text */
    const char *label;  /* for reports: "body -> strut" */
    const char *source; /* name of the source that replaces it; NULL: the bond is dropped */
    const char *text;   /* text of the source: "MSe:body_on_strut = body.e" */
    /* interned: the part with the junction that the source reads (the junction, or a component with it as a port) */
    const char *driver;
    bool forward;  /* the source acts to the right of the arrow, else to its left */
    bool two_port; /* the source replaces an interned two-port of the text, on that side of the arrow */
} rewrite_bond;

/* An element that stays because a remaining part needs it. */
typedef struct rewrite_block {
    const char *element;
    span reader;
    const char *why;
} rewrite_block;

typedef struct rewrite {
    edits edits;            /* sealed */
    VEC(rewrite_item) item; /* operations, in the order of the text within each kind */
    VEC(rewrite_block) blocked;
    VEC(rewrite_bond) bond; /* as requested */
    char *error;            /* internal error, or NULL */
} rewrite;

/* A change inside a remaining part: bytes are replaced, and with them what they read. The pieces of all changes are
 * disjoint. */
typedef struct rewrite_piece {
    span at;
    const char *text;
} rewrite_piece;
typedef struct rewrite_change {
    enum rewrite_kind kind; /* REWRITE_CLAMP, REWRITE_TERM_DELETE, REWRITE_TERM_MEAN, REWRITE_INITIAL, REWRITE_LET */
    /* interned: the part (or value: of_value) that contains it; the change is dropped if that is removed. NULL for a
     * `let` */
    const char *owner;
    bool of_value;
    bool inner; /* it is in a component, which this plan cannot remove */
    const char *const *element;
    size_t nelements; /* of a term: the full names of all elements whose laws contain it; must outlive the plan */
    const char *name; /* for reports: the element or the term */
    span at;
    const rewrite_piece *piece;
    size_t npieces;
} rewrite_change;

/* The word for each kind in reports: "drop", "clamp", "dangling", "parameter", ... */
const char *rewrite_kind_name(enum rewrite_kind k);

/* A request: elements to take out, changes inside remaining parts, bonds to drop or make one-way. Names are interned
 * with those of the tree. */
typedef struct rewrite_request {
    const flat_model *f; /* the model as elaborated from the text */
    const ast_file *file;
    /* The most important first: where one of several must stay because of a part that they carry together, the earlier
     * one stays. Elements of components, loops and arrays by full name ("front.spring", "drag[3]"): these are taken out
     * by `without`, and what clean-up then removes is listed in the items. */
    const char *const *name;
    size_t n;
    /* a clamp needs no pieces: an element of the text itself becomes a source of zero; another one is held by `without`
     * of its effort or flow */
    const rewrite_change *change;
    size_t nchanges;
    /* texts must outlive the plan; a named bond that something reads stays as it is, and so does a bond whose source
     * would have nothing to read */
    const rewrite_bond *bond;
    size_t nbonds;
} rewrite_request;
/* Fills *r; call rewrite_free in any case. False: see r->error. Nothing to do: r->edits.list.n == 0. */
bool rewrite_plan(const rewrite_request *q, rewrite *r);
void rewrite_free(rewrite *r);
/* Deletes statements, each with its whole line (indentation, trailing comment, newline) if the line has nothing else.
 * Sorts them. */
void rewrite_delete_statements(edits *e, const char *text, size_t length, span *lost, size_t n);
/* The place where the model itself declares a part (given its origin and its own place): its own place, or that of the
 * outermost component around it. */
span rewrite_place(const flat_model *f, uint32_t origin, span at);

/* Checks that the graph `after` is the graph `before` with the plan's parts taken out, by names, types, laws and
 * arrows. Both are as elaborated, before any later stage. False: *why (free() it) names the first difference. */
bool rewrite_check(const flat_model *before, const rewrite *r, const flat_model *after, char **why);

#endif
