/* fold.h - what only passes a bond on, folded into what stands beside it, as changes of the text
 *
 *   a junction with one bond in and one out        a -> j -> b                  a -> b
 *   a two-port before a linear R, C, I, a source    a -> TF:t = n -> R:r = x     a -> R:r = n^2*x
 *   or behind a source                              Se:u = x -> TF:t = n -> b    Se:u = x/n -> b
 *   two two-ports in series                         TF:t = n -> TF:u = m         TF:t = n*m
 *
 * Gyrators likewise; what they turn changes its type (C and I, Se and Sf). Each is exact. What something reads, keeps
 * or gives an initial value stays, and so do named bonds, domains said at a junction, and all that is not said once in
 * the model's own text.
 *
 * cost     linear in the text
 */
#ifndef BG_FOLD_H
#define BG_FOLD_H

#include "compile.h"
#include "rewrite.h"

/* Of one fold: its edits, the statements that go with their line, the statements that it changes (two at most). */
typedef struct fold {
    const char *name;  /* what goes */
    const char *owner; /* of a two-port: what its modulus went into; NULL: a junction */
    const char *why;   /* the new text */
    span at;
    struct {
        span at;
        const char *text;
    } edit[2];
    int nedits;
    span lost[2];
    int nlost;
    uint32_t stmt[3];
    int nstmts;  /* in the model */
    bool within; /* it only takes a node out of a chain: others may do so beside it */
} fold;
typedef VEC(fold) folds;

/* c: compiled (STAGE_GRAPH). In the order of the text; texts in the arena. */
void folds_find(const compilation *c, arena *a, folds *out);
/* The plan for some of them: those whose statements an earlier one changes are left for another time. False: r->error.
 */
bool folds_plan(const compilation *c, const fold *const *list, size_t n, rewrite *r);

#endif
