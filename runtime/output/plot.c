/* plot.c - figures of trajectories through gnuplot */
#include <math.h>
#include <string.h>

#include "figure.h"
#include "plot.h"
#include "quote.h"

enum {
    PANEL_HEIGHT = 230,
    MARGIN_HEIGHT = 90,
    WIDTH = 900,        /* width with short legends */
    CURVES_WIDTH = 560, /* least width of curves and their axis, with long legends */
    LEGEND_LINE = 60,   /* width of the line sample in a legend, and margins */
    MOST_PANELS = 12,
    MOST_POINTS = 4000,
    LONGEST_LABEL = 60
};

/* Columns of one unit share a panel. */
struct panel {
    const char *unit;
    VEC(size_t) column;
};
struct panels {
    VEC(struct panel) at;
};

static void
group(const columns *c, struct panels *p)
{
    for (size_t k = 0; k < c->column.n; k++) {
        const char *u = column_unit(&c->column.at[k]);
        size_t i = 0;

        u = u ? u : "";
        while (i < p->at.n && strcmp(p->at.at[i].unit, u))
            i++;
        if (i == p->at.n) {
            if (i == MOST_PANELS)
                continue;
            vec_push(&p->at, ((struct panel){ u, { 0 } }));
        }
        vec_push(&p->at.at[i].column, k);
    }
}

/* The points to draw: all, or every n-th and the last. */
static void
put_data(strbuf *b, const columns *c)
{
    size_t step = c->points / MOST_POINTS + 1;

    strbuf_puts(b, "$run << EOD\n");
    for (size_t i = 0; i < c->points; i = i + step < c->points || i + 1 == c->points ? i + step : c->points - 1) {
        strbuf_printf(b, "%.9g", c->time[i]);
        for (size_t k = 0; k < c->column.n; k++) {
            double y = column_shown(&c->column.at[k], i);

            if (isfinite(y))
                strbuf_printf(b, " %.9g", y);
            else
                strbuf_puts(b, " ?");
        }
        strbuf_puts(b, "\n");
    }
    strbuf_puts(b, "EOD\n");
}

static bool
has_value(const columns *c, size_t k)
{
    for (size_t i = 0; i < c->points; i++)
        if (isfinite(column_shown(&c->column.at[k], i)))
            return true;
    return false;
}

/* The legend's text for a column, shortened where it is long. free() it. */
static char *
label_of(const column *x)
{
    const char *u = column_unit(x), *comma = x->quantity ? ", " : "", *quantity = x->quantity ? x->quantity : "";
    int n = (int)strlen(x->name);
    const char *more = n > LONGEST_LABEL ? "..." : "";

    if (n > LONGEST_LABEL)
        for (n = LONGEST_LABEL - 3; n && ((unsigned char)x->name[n] & 0xc0) == 0x80;)
            n--;
    return u && *u ? bg_format("%.*s%s%s%s [%s]", n, x->name, more, comma, quantity, u)
                   : bg_format("%.*s%s%s%s", n, x->name, more, comma, quantity);
}

/* right: where the curves end and the legend begins, as a share of the width. */
static void
put_panel(strbuf *b, const columns *c, const struct panel *p, size_t i, size_t n, double bottom, double top,
          double right)
{
    double high = (top - bottom) / (double)n, above = top - (double)i * high;
    bool any = false;

    strbuf_printf(
        b,
        "set tmargin at screen %.4f\nset bmargin at screen %.4f\nset key at screen %.4f, screen %.4f left top "
        "Left reverse samplen 2\n",
        above - 0.1 * high, above - 0.95 * high, right + 0.01, above - 0.1 * high);
    if (i + 1 == n)
        strbuf_puts(b, "set xlabel \"time [s]\"\nset format x \"%g\"\n");
    else
        strbuf_puts(b, "unset xlabel\nset format x \"\"\n");
    strbuf_puts(b, "set ylabel ");
    if (*p->unit) {
        char *label = bg_format("[%s]", p->unit);

        quote_z(b, QUOTE_GNUPLOT, label);
        free(label);
    } else {
        strbuf_puts(b, "\"\"");
    }
    /* gnuplot fails on a panel or curve without any point: only its name is drawn */
    for (size_t k = 0; k < p->column.n && !any; k++)
        any = has_value(c, p->column.at[k]);
    strbuf_puts(b, any ? "\nset autoscale y\nplot " : "\nset yrange [-1:1]\nplot -2 notitle, ");
    for (size_t k = 0; k < p->column.n; k++) {
        char *label = label_of(&c->column.at[p->column.at[k]]);

        strbuf_puts(b, k ? ", \\\n     " : "");
        if (has_value(c, p->column.at[k]))
            strbuf_printf(b, "$run using 1:%zu", p->column.at[k] + 2);
        else
            strbuf_puts(b, "keyentry");
        strbuf_printf(b, " with lines lw 1.6 lc rgb \"%s\" dt %zu title ", figure_color[k % FIGURE_COLORS],
                      k / FIGURE_COLORS % 4 + 1);
        quote_z(b, QUOTE_GNUPLOT, label);
        free(label);
    }
    strbuf_puts(b, "\n");
}

/* Width of the longest line of a legend, in pixels. */
static double
legend_width(const columns *c)
{
    double widest = 0;

    for (size_t k = 0; k < c->column.n; k++) {
        char *label = label_of(&c->column.at[k]);

        widest = fmax(widest, figure_text_width(label));
        free(label);
    }
    return LEGEND_LINE + widest;
}

bool
plot_columns(const columns *c, const char *title, const char *path, char **why)
{
    struct panels p = { { 0 } };
    strbuf b = { 0 };
    bool fine;
    double height, width, right;

    *why = NULL;
    if (!figure_form_known(path)) {
        *why = bg_format("%s: a figure's name ends in .svg, .png or .pdf", path);
        return false;
    }
    if (c->column.n == 0 || c->points < 2) {
        *why = bg_format("there is nothing to draw: the model has no outputs (--states draws its states)");
        return false;
    }
    group(c, &p);
    height = (double)(p.at.n * PANEL_HEIGHT + MARGIN_HEIGHT);
    width = fmax(WIDTH, CURVES_WIDTH + legend_width(c));
    right = 1 - legend_width(c) / width;
    put_data(&b, c);
    figure_head(&b, path, width, height);
    strbuf_printf(&b, "set lmargin 11\nset rmargin at screen %.4f\n", right);
    strbuf_printf(&b, "set xrange [%.17g:%.17g]\nset multiplot title ", c->time[0],
                  c->time[c->points - 1] > c->time[0] ? c->time[c->points - 1] : c->time[0] + 1);
    quote_z(&b, QUOTE_GNUPLOT, title ? title : "");
    strbuf_puts(&b, "\n");
    for (size_t i = 0; i < p.at.n; i++)
        put_panel(&b, c, &p.at.at[i], i, p.at.n, 55 / height, 1 - 25 / height, right);
    strbuf_puts(&b, "unset multiplot\n");

    fine = figure_draw(&b, path, why);
    for (size_t i = 0; i < p.at.n; i++)
        vec_free(&p.at.at[i].column);
    vec_free(&p.at);
    strbuf_free(&b);
    return fine;
}
