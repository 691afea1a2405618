/* verify_graph.h - checks a flat bond graph against its normal form (flat.h)
 *
 * Every index is valid, rows of incidences agree with ports and bonds, variables belong to their owners, and everything
 * that a message can name has a place in the text.
 *
 * cost     linear
 */
#ifndef BG_VERIFY_GRAPH_H
#define BG_VERIFY_GRAPH_H

#include "flat.h"

/* NULL: correct. Else a description of the error (free() it). */
char *verify_graph(const flat_model *f);
/* Checks an expression: its template is in the pool, its slots are variables. False: *flaw describes it for `what`. */
bool verify_inst(const flat_model *f, inst i, const char *what, char **flaw);
/* Checks a place in a text. */
bool verify_place(const flat_model *f, span at, const char *what, char **flaw);

#endif
