/* figure.h - common parts of figures drawn by gnuplot: file formats, colours, headers
 *
 * The format follows from the file's suffix: .svg, .png or .pdf.
 */
#ifndef BG_FIGURE_H
#define BG_FIGURE_H

#include "base.h"

enum { FIGURE_COLORS = 7 };
extern const char *const figure_color[FIGURE_COLORS]; /* "#rrggbb", distinguishable for colour-blind readers */

/* Does the name end in .svg, .png or .pdf? */
bool figure_form_known(const char *path);
/* Terminal of this size (pixels), encoding, grid and border. The format must be known. */
void figure_head(strbuf *b, const char *path, double width, double height);
/* Estimated width of a text in the figure's font, in pixels. */
double figure_text_width(const char *text);
/* Draws. False: *why (free() it), and the file is unchanged. */
bool figure_draw(const strbuf *b, const char *path, char **why);

#endif
