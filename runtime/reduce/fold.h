/* fold.h - folds parts that only pass a bond on into their neighbours, as edits of the text
 *
 *   a junction with one bond in and one out        a -> j -> b                  a -> b
 *   a two-port before a linear R, C, I, a source    a -> TF:t = n -> R:r = x     a -> R:r = n^2*x
 *   or behind a source                              Se:u = x -> TF:t = n -> b    Se:u = x/n -> b
 *   two two-ports in series                         TF:t = n -> TF:u = m         TF:t = n*m
 *
 * Gyrators are folded likewise; the element behind one changes its type (C and I, Se and Sf). Each fold is exact. A
 * part stays if something reads it, keeps it or gives it an initial value; so do named bonds, domains stated at a
 * junction, and everything that is not written once in the model's own text.
 *
 * cost     linear in the text
 */
#ifndef BG_FOLD_H
#define BG_FOLD_H

#include "compile.h"
#include "rewrite.h"

/* One fold: its edits, the statements that are deleted with their line, and the statements that it changes (at most
 * two). */
typedef struct fold {
    const char *name;  /* what goes */
    const char *owner; /* for a two-port: the element that took its modulus; NULL: a junction */
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
    bool within; /* it only removes a node from a chain: other such folds may change the same statement */
} fold;
typedef VEC(fold) folds;

/* c: compiled (STAGE_GRAPH). In the order of the text; texts are in the arena. */
void folds_find(const compilation *c, arena *a, folds *out);
/* Plans some of the folds: one that changes a statement already changed by an earlier one is left for later. False:
 * r->error. */
bool folds_plan(const compilation *c, const fold *const *list, size_t n, rewrite *r);

#endif
