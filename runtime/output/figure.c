/* figure.c - see figure.h */
#include <string.h>

#include "figure.h"
#include "files.h"
#include "picture.h"

const char *const figure_color[FIGURE_COLORS] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#000000" };

static const char *
terminal_of(const char *path)
{
    return has_suffix(path, ".svg")   ? "svg"
           : has_suffix(path, ".png") ? "pngcairo"
           : has_suffix(path, ".pdf") ? "pdfcairo"
                                      : NULL;
}

bool
figure_form_known(const char *path)
{
    return terminal_of(path) != NULL;
}

void
figure_head(strbuf *b, const char *path, double width, double height)
{
    const char *terminal = terminal_of(path);

    if (!strcmp(terminal, "pdfcairo"))
        strbuf_printf(b, "set terminal pdfcairo size %.2fin,%.2fin font \"Helvetica,10\"\n", width / 100.0,
                      height / 100.0);
    else
        strbuf_printf(b, "set terminal %s size %.0f,%.0f font \"Helvetica,11\"%s\n", terminal, width, height,
                      strcmp(terminal, "svg") ? "" : " background rgb \"white\"");
    strbuf_puts(
        b, "set encoding utf8\nset datafile missing \"?\"\nset termoption noenhanced\n"
           "set grid lc rgb \"#d8d8d8\" lw 0.6\nset border 3 lc rgb \"#606060\"\nset tics nomirror out scale 0.6\n");
}

double
figure_text_width(const char *text)
{
    double width = 0;

    for (const unsigned char *s = (const unsigned char *)text; *s; s++)
        width += (*s & 0xc0) == 0x80               ? 0 /* the rest of a character */
                 : strchr("ijlt.,:;'|()[]!f ", *s) ? 5
                 : strchr("mwMW@%", *s)            ? 13
                 : *s >= 'A' && *s <= 'Z'          ? 10
                                                   : 8.5;
    return width;
}

bool
figure_draw(const strbuf *b, const char *path, char **why)
{
    /* does not read settings of the user or of the current folder */
    const char *argv[] = { "gnuplot", "-d", "-", NULL };

    return picture_draw(argv, b, path, "figures need gnuplot, which is not installed", why);
}
