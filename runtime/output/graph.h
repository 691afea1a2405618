/* graph.h - draws the bond graph: half arrows in the direction of power, causal strokes where the effort acts
 *
 * Produces text for Graphviz, or a picture made by its program `dot`.
 */
#ifndef BG_GRAPH_H
#define BG_GRAPH_H

#include "causality.h"

/* c may be NULL: no strokes. */
void graph_print(const flat_model *f, const causal *c, strbuf *out);
/* Is the suffix a known format: .dot, .gv, .svg, .png, .pdf, or standard output? */
bool graph_form_known(const char *path);
/* Draws to `path` in the format of its suffix: .dot (or .gv) is the text itself, .svg, .png, .pdf are made by Graphviz.
 * "-" or NULL: text to standard output. False: *why (free() it). */
bool graph_draw(const flat_model *f, const causal *c, const char *path, char **why);

#endif
