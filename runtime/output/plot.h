/* plot.h - figures of trajectories, drawn by gnuplot
 *
 * One panel for each unit, over a common time axis; the format follows from the suffix: .svg, .png or .pdf.
 */
#ifndef BG_PLOT_H
#define BG_PLOT_H

#include "columns.h"

/* False: *why (free it). */
bool plot_columns(const columns *c, const char *title, const char *path, char **why);

#endif
