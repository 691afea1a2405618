/* verify_graph.h - holds a flat bond graph against its normal form (flat.h)
 *
 * Every index leads somewhere, rows of incidences are those of ports and bonds, variables belong to what they say, and
 * what can be named in a message has a place in the text.
 *
 * cost     linear
 */
#ifndef BG_VERIFY_GRAPH_H
#define BG_VERIFY_GRAPH_H

#include "flat.h"

/* NULL: it is as it should be. Else what is not (free it). */
char *verify_graph(const flat_model *f);
/* An expression: its template is in the pool, its slots are variables. False: *flaw says so of `what`. */
bool verify_inst(const flat_model *f, inst i, const char *what, char **flaw);
/* A place in a text that was read. */
bool verify_place(const flat_model *f, span at, const char *what, char **flaw);

#endif
