/* graph.h - the bond graph as a drawing: half arrows along the power, causal strokes where the effort acts
 *
 * Text for Graphviz, or what its program `dot` makes of it.
 */
#ifndef BG_GRAPH_H
#define BG_GRAPH_H

#include "causality.h"

/* c may be NULL: no strokes. */
void graph_print(const flat_model *f, const causal *c, strbuf *out);
/* Is the suffix one that can be drawn: .dot, .gv, .svg, .png, .pdf, or standard output? */
bool graph_form_known(const char *path);
/* Draws to `path`, its form by suffix: .dot (or .gv) the text itself, .svg, .png, .pdf through Graphviz. "-" or NULL:
 * text to standard output. False: *why (free it). */
bool graph_draw(const flat_model *f, const causal *c, const char *path, char **why);

#endif
