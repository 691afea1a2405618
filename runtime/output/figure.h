/* figure.h - what figures drawn by gnuplot have in common: forms, colours, heads
 *
 * The form is that of the file's suffix, .svg, .png or .pdf.
 */
#ifndef BG_FIGURE_H
#define BG_FIGURE_H

#include "base.h"

enum { FIGURE_COLORS = 7 };
extern const char *const figure_color[FIGURE_COLORS]; /* "#rrggbb", told apart by everyone */

/* Does the name end in .svg, .png or .pdf? */
bool figure_form_known(const char *path);
/* Terminal of this size (pixels), encoding, grid, border. The form is known. */
void figure_head(strbuf *b, const char *path, double width, double height);
/* About how wide a text is in the figure's font, in pixels. */
double figure_text_width(const char *text);
/* Draws. False: *why (free it), and the file is as it was. */
bool figure_draw(const strbuf *b, const char *path, char **why);

#endif
