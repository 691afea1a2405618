/* rewrite.h - takes elements out of a model's source text, as edits
 *
 * Elements go with their bonds. What this leaves dangling goes too (junctions that carried only what went, two-ports into nothing),
 * and so do parameters, constants, signals and inputs that nothing reads any more that was read before. A declaration whose line goes
 * moves to where the name appears next. An element that something surviving reads stays. All other bytes stay.
 *
 * needs    the tree of a file without syntax errors, a model that elaborates
 * cost     linear in the text, times the rounds that readers ask for (one or two in practice)
 */
#ifndef BG_REWRITE_H
#define BG_REWRITE_H

#include "../compiler/flat.h"
#include "edit.h"

enum rewrite_kind {
    REWRITE_ELEMENT,             /* an element asked for, with its bond */
    REWRITE_JUNCTION, REWRITE_TWO_PORT,                  /* left dangling */
    REWRITE_VALUE,               /* parameter, constant, signal or input that nothing reads any more */
    REWRITE_LET,                 /* `let` of an experiment that set something which went */
    REWRITE_INITIAL,             /* initial value that went with its part */
    REWRITE_MOVE                 /* declaration that moved */
};
typedef struct rewrite_item { enum rewrite_kind kind; const char *name; span at; } rewrite_item;

/* An element that stays because something that stays needs it. */
typedef struct rewrite_block { const char *element; span reader; const char *why; } rewrite_block;

typedef struct rewrite {
    edits edits;                 /* sealed */
    VEC(rewrite_item) item;      /* what is done, in order of the text within each kind */
    VEC(rewrite_block) blocked;
    char *error;                 /* internal error, or NULL */
} rewrite;

/* What each kind is called in reports: "drop-bond", "drop-junction", ... */
const char *rewrite_kind_name(enum rewrite_kind k);

/* Plans to take out the elements named (pointers interned with the tree's names), the most important first: where one of several must stay
 * because of what they carry together, the earlier stays. *r is filled; rewrite_free it, also after false.
 * False: r->error. Nothing left to do: r->edits.list.n == 0. */
bool rewrite_plan(const sources *s, const ast_file *file, const ast_model *model, const char *const *name, size_t n, rewrite *r);
void rewrite_free(rewrite *r);

/* Is the graph `after` what `before` becomes when the plan's parts are taken out? By names, types, laws and arrows.
 * Both as elaborated, before any later stage. False: *why names the first difference (free it). */
bool rewrite_check(const flat_model *before, const rewrite *r, const flat_model *after, char **why);

#endif
