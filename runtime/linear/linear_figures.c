/* linear_figures.c - see linear_figures.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "effects.h"
#include "figure.h"
#include "linear_figures.h"
#include "model_graph.h"
#include "quote.h"
#include "response.h"
#include "transfer.h"

enum { WIDTH = 900, FREQUENCIES = 800, STEPS = 1001, PAIRS_MOST = 12, NAMED_MOST = 7, ROWS_MOST = 60, MODES_MOST = 60 };
static const double LEAST_DRAWN = 1e-4; /* smaller relative effects have the colour of this one */
static const double POINT = 1.2;        /* size of an eigenvalue's point, in gnuplot's unit, where nothing moves it, */
static const double POINT_GROWTH = 1.6; /* and how much larger it is at most */
/* Panels of step responses: their height, that of title and axis together; and as shares of the figure the upper and
 * lower end of the panels, of a panel the gap below it. */
enum { PANEL_HEIGHT = 330, MARGIN_HEIGHT = 90 };
static const double TOP_MARGIN = 0.92, BOTTOM_MARGIN = 0.12, PANEL_GAP = 0.08;

void
overlays_free(overlays *o)
{
    for (size_t i = 0; i < o->n; i++)
        state_space_free(&o->at[i].space);
    vec_free(o);
}

/* ---------------------------------------------------------------- responses */

typedef struct curve {
    size_t input, output;
} curve;

/* The pairs to draw. */
static size_t
curves_of(const linearization *l, const figure_choice *c, curve *to)
{
    size_t n = 0;

    for (size_t i = 0; i < c->ntransfer && n < PAIRS_MOST; i++)
        to[n++] = (curve){ c->transfer[i][0], c->transfer[i][1] };
    for (size_t u = 0; u < l->space.nu && !c->ntransfer; u++)
        for (size_t y = 0; y < l->space.ny && n < PAIRS_MOST; y++)
            to[n++] = (curve){ u, y };
    return n;
}

static size_t
nsystems(const figure_choice *c)
{
    return 1 + (c->over ? c->over->n : 0);
}
static const state_space *
system_at(const linearization *l, const figure_choice *c, size_t k)
{
    return k ? &c->over->at[k - 1].space : &l->space;
}

static void
put_title(strbuf *b, const linearization *l, const figure_choice *c, const curve *x, size_t k)
{
    char *text = bg_format("%s to %s%s%s", l->input.at[x->input].name, model_output_name(l->model, x->output),
                           k ? ": " : "", k ? c->over->at[k - 1].name : "");

    quote_z(b, QUOTE_GNUPLOT, text);
    free(text);
}

/* One panel: column `first` and then every `step` of the systems' data blocks, with or without titles. */
static void
put_curves(strbuf *b, const linearization *l, const figure_choice *c, const curve *x, size_t n, size_t first,
           size_t step, bool titles)
{
    strbuf_puts(b, "plot ");
    for (size_t k = 0; k < nsystems(c); k++)
        for (size_t i = 0; i < n; i++) {
            strbuf_printf(b, "%s$system%zu using 1:%zu with lines lw %s lc rgb \"%s\" dt %zu ",
                          k + i ? ", \\\n     " : "", k, first + step * i, k ? "1.2" : "1.8",
                          figure_color[(k * n + i) % FIGURE_COLORS], k + 1);
            if (titles) {
                strbuf_puts(b, "title ");
                put_title(b, l, c, &x[i], k);
            } else {
                strbuf_puts(b, "notitle");
            }
        }
    strbuf_puts(b, "\n");
}

static bool
can_respond(const linearization *l, const char *path, char **why)
{
    *why = NULL;
    if (!figure_form_known(path))
        *why = bg_format("%s: a figure's name ends in .svg, .png or .pdf", path);
    else if (!l->space.nu || !l->space.ny)
        *why = bg_format("there is nothing to draw: the model has no %s", l->space.nu ? "outputs" : "inputs");
    return !*why;
}

static void
put_figure_head(strbuf *b, const linearization *l, const char *what, const char *path, double height)
{
    char *title = bg_format("%s, %s at %.6g s", what, model_name(l->model), l->time);

    figure_head(b, path, WIDTH, height);
    strbuf_puts(b, "set key outside right top Left reverse samplen 2\n");
    strbuf_puts(b, "set title ");
    quote_z(b, QUOTE_GNUPLOT, title);
    strbuf_puts(b, " font \",13\"\n");
    free(title);
}

/* Two decades around the eigenvalues; two around 1 where all are zero. */
static void
frequency_range(const linearization *l, double *from, double *to)
{
    *from = INFINITY;
    *to = 0;
    for (size_t i = 0; i < l->modes.count; i++) {
        double x = cabs(l->modes.eigenvalue[i]);

        if (x > 0) {
            *from = fmin(*from, x);
            *to = fmax(*to, x);
        }
    }
    if (*to == 0)
        *from = *to = 1;
    *from = pow(10, floor(log10(*from)) - 1);
    *to = pow(10, ceil(log10(*to)) + 1);
}

/* Frequency, then for each curve the magnitude in dB and the phase in degrees, unwrapped. */
static bool
put_frequency_data(strbuf *b, const state_space *s, size_t k, const curve *x, size_t n, double from, double to)
{
    responder *r = responder_new(s);
    double complex *G = bg_calloc(s->ny * s->nu + 1, sizeof *G);
    double phase[PAIRS_MOST] = { 0 };

    strbuf_printf(b, "$system%zu << EOD\n", k);
    for (size_t i = 0; i < FREQUENCIES && r; i++) {
        double omega = from * pow(to / from, (double)i / (FREQUENCIES - 1));
        bool fine = response_at(r, omega, G);

        strbuf_printf(b, "%.9g", omega);
        for (size_t c = 0; c < n; c++) {
            double complex g = G[x[c].output + s->ny * x[c].input];

            if (!fine || g == 0 || !isfinite(cabs(g))) {
                strbuf_puts(b, " ? ?");
                continue;
            }
            phase[c] += remainder(carg(g) * 180 / M_PI - phase[c], 360);
            strbuf_printf(b, " %.9g %.9g", 20 * log10(cabs(g)), phase[c]);
        }
        strbuf_puts(b, "\n");
    }
    strbuf_puts(b, "EOD\n");
    responder_free(r);
    free(G);
    return r != NULL;
}

bool
draw_bode(const linearization *l, const figure_choice *c, const char *path, char **why)
{
    curve x[PAIRS_MOST];
    size_t n;
    double from, to;
    strbuf b = { 0 };
    bool fine;

    if (!can_respond(l, path, why))
        return false;
    n = curves_of(l, c, x);
    frequency_range(l, &from, &to);
    for (size_t k = 0; k < nsystems(c); k++)
        put_frequency_data(&b, system_at(l, c, k), k, x, n, from, to);
    put_figure_head(&b, l, "frequency response", path, 640);
    strbuf_printf(&b,
                  "set multiplot\nset logscale x\nset xrange [%.9g:%.9g]\nset lmargin 11\nset rmargin at screen 0.72\n",
                  from, to);
    strbuf_puts(&b, "set tmargin at screen 0.92\nset bmargin at screen 0.53\nset format x \"\"\nset ylabel \"magnitude "
                    "[dB]\"\n");
    put_curves(&b, l, c, x, n, 2, 2, true);
    strbuf_puts(&b, "unset title\nset tmargin at screen 0.49\nset bmargin at screen 0.1\nset format x \"%g\"\nset "
                    "xlabel \"frequency [rad/s]\"\n"
                    "set ylabel \"phase [degrees]\"\n");
    put_curves(&b, l, c, x, n, 3, 2, false);
    strbuf_puts(&b, "unset multiplot\n");
    fine = figure_draw(&b, path, why);
    strbuf_free(&b);
    return fine;
}

/* Time range of step responses: until the slowest decaying mode has decayed, or ten periods; for a growing mode three
 * times its growth time. */
static double
time_range(const linearization *l)
{
    double decay = INFINITY, swing = INFINITY, growth = 0;

    for (size_t i = 0; i < l->modes.count; i++) {
        double complex z = l->modes.eigenvalue[i];

        if (creal(z) < 0)
            decay = fmin(decay, -creal(z));
        else if (creal(z) > 0)
            growth = fmax(growth, creal(z));
        else if (cimag(z) != 0)
            swing = fmin(swing, fabs(cimag(z)));
    }
    return growth > 0 ? 3 / growth : isfinite(swing) ? 20 * M_PI / swing : isfinite(decay) ? 7 / decay : 1;
}

static bool
put_step_data(strbuf *b, const state_space *s, size_t k, const curve *x, size_t n, double h)
{
    double *y = bg_calloc(STEPS * s->ny * s->nu + 1, sizeof *y);
    bool fine = true;

    for (size_t u = 0; u < s->nu && fine; u++)
        fine = time_response(s, u, false, h, STEPS, y + u * STEPS * s->ny);
    strbuf_printf(b, "$system%zu << EOD\n", k);
    for (size_t i = 0; i < STEPS && fine; i++) {
        strbuf_printf(b, "%.9g", h * (double)i);
        for (size_t c = 0; c < n; c++) {
            double v = y[x[c].input * STEPS * s->ny + i * s->ny + x[c].output];

            if (isfinite(v))
                strbuf_printf(b, " %.9g", v);
            else
                strbuf_puts(b, " ?");
        }
        strbuf_puts(b, "\n");
    }
    strbuf_puts(b, "EOD\n");
    free(y);
    return fine;
}

static const char *
output_unit(const linearization *l, const curve *x)
{
    const unit *u = model_graph_of(l->model)->output[x->output].unit;

    return u ? unit_text(u) : "";
}

/* Brings curves of outputs in one unit together; units and curves keep their order otherwise. */
static void
group_by_unit(const linearization *l, curve *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        curve moved = x[i];
        size_t to = i;

        while (to > 0 && strcmp(output_unit(l, &x[to - 1]), output_unit(l, &moved)))
            to--;
        if (to == 0)
            continue; /* the first of its unit */
        memmove(&x[to + 1], &x[to], (i - to) * sizeof *x);
        x[to] = moved;
    }
}

/* A panel for each unit, one above the other: 1 mm would not be seen beside 1000 N. */
static void
put_step_panels(strbuf *b, const linearization *l, const figure_choice *c, const curve *x, size_t n, size_t npanels)
{
    double top = TOP_MARGIN, each = (TOP_MARGIN - BOTTOM_MARGIN) / (double)npanels;

    for (size_t from = 0, to, panel = 0; from < n; from = to, panel++) {
        const char *u = output_unit(l, &x[from]);

        for (to = from + 1; to < n && !strcmp(output_unit(l, &x[to]), u);)
            to++;
        strbuf_printf(b, "set tmargin at screen %.4f\nset bmargin at screen %.4f\n", top - each * (double)panel,
                      top - each * (double)(panel + 1) + (to < n ? PANEL_GAP * each : 0));
        strbuf_printf(b, "set format x \"%s\"\n%s", to < n ? "" : "%g",
                      to < n ? "" : "set xlabel \"time after the step [s]\"\n");
        strbuf_printf(b, "set ylabel \"departure%s%s%s\"\n", *u ? " [" : "", u, *u ? "]" : "");
        put_curves(b, l, c, x + from, to - from, 2 + from, 1, true);
        strbuf_puts(b, "unset title\n");
    }
}

bool
draw_steps(const linearization *l, const figure_choice *c, const char *path, char **why)
{
    curve x[PAIRS_MOST];
    size_t n, npanels = 1;
    double h;
    strbuf b = { 0 };
    bool fine = true;

    if (!can_respond(l, path, why))
        return false;
    n = curves_of(l, c, x);
    group_by_unit(l, x, n);
    for (size_t i = 1; i < n; i++)
        npanels += strcmp(output_unit(l, &x[i]), output_unit(l, &x[i - 1])) != 0;
    h = time_range(l) / (STEPS - 1);
    for (size_t k = 0; k < nsystems(c) && fine; k++)
        fine = put_step_data(&b, system_at(l, c, k), k, x, n, h);
    if (!fine) {
        *why = bg_strdup("the step response has no finite values");
        strbuf_free(&b);
        return false;
    }
    put_figure_head(&b, l, "responses to steps of 1 (SI)", path, MARGIN_HEIGHT + PANEL_HEIGHT * (double)npanels);
    strbuf_printf(&b, "set multiplot\nset xrange [0:%.9g]\nset lmargin 11\nset rmargin at screen 0.72\n",
                  h * (STEPS - 1));
    put_step_panels(&b, l, c, x, n, npanels);
    strbuf_puts(&b, "unset multiplot\n");
    fine = figure_draw(&b, path, why);
    strbuf_free(&b);
    return fine;
}

/* ---------------------------------------------------------------- eigenvalues and effects */

static double
relative_effect(const linearization *l, size_t p, size_t mode)
{
    double x = cabs(l->effect.at[p * l->modes.count + mode]) * fabs(l->effect.value[p]);

    return x <= EFFECT_ROUNDING * l->modes.size ? 0 : x; /* NAN stays */
}

/* The parameter with the greatest effect on a mode; nparameters: there is none. */
static size_t
strongest(const linearization *l, size_t mode, double *size)
{
    size_t best = l->effect.nparameters;

    *size = 0;
    for (size_t p = 0; p < l->effect.nparameters; p++) {
        double x = relative_effect(l, p, mode);

        if (x > *size * CLEARLY_GREATER) {
            *size = x;
            best = p;
        }
    }
    return best;
}

/* An axis on which all points have one value has a range about it; gnuplot would warn and choose one. */
static void
put_range(strbuf *b, const linearization *l, const char *axis, double (*part)(double complex))
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < l->modes.count; i++) {
        least = fmin(least, part(l->modes.eigenvalue[i]));
        most = fmax(most, part(l->modes.eigenvalue[i]));
    }
    if (least == most)
        strbuf_printf(b, "set %srange [%.9g:%.9g]\n", axis, least - fmax(1, fabs(least)), least + fmax(1, fabs(least)));
}

bool
draw_poles(const linearization *l, const char *path, char **why)
{
    size_t np = l->effect.nparameters, *count = bg_calloc(np + 2, sizeof *count), named[NAMED_MOST], n = 0, shown = 0,
           in_group[NAMED_MOST + 2] = { 0 };
    strbuf b = { 0 };
    bool fine;

    *why = NULL;
    if (!figure_form_known(path))
        *why = bg_format("%s: a figure's name ends in .svg, .png or .pdf", path);
    else if (!l->modes_known || l->modes.count == 0)
        *why = bg_strdup("there is nothing to draw: no eigenvalues are known");
    if (*why) {
        free(count);
        return false;
    }
    for (size_t i = 0; i < l->modes.count; i++) {
        double size;

        count[strongest(l, i, &size)]++;
    }
    /* colours for the parameters that are strongest for most modes */
    for (; n < NAMED_MOST - 1; n++) {
        size_t best = np;

        for (size_t p = 0; p < np; p++)
            if (count[p] && (best == np || count[p] > count[best]))
                best = p;
        if (best == np)
            break;
        named[n] = best;
        count[best] = 0;
    }
    for (size_t k = 0; k <= n + 1; k++) { /* named parameters, others, none */
        strbuf_printf(&b, "$group%zu << EOD\n", k);
        for (size_t i = 0; i < l->modes.count; i++) {
            double size;
            size_t p = strongest(l, i, &size), at = 0;

            while (at < n && named[at] != p)
                at++;
            if ((p == np ? n + 1 : at) == k) {
                double complex z = l->modes.eigenvalue[i];

                strbuf_printf(&b, "%.9g %.9g %.4g\n", creal(z), cimag(z),
                              z == 0 ? POINT : POINT + POINT_GROWTH * fmin(1, size / cabs(z)));
                in_group[k]++;
            }
        }
        strbuf_puts(&b, "EOD\n");
    }
    put_figure_head(&b, l, "eigenvalues", path, 560);
    put_range(&b, l, "x", creal);
    put_range(&b, l, "y", cimag);
    strbuf_puts(&b, "set rmargin at screen 0.72\nset xlabel \"Re [1/s]\"\nset ylabel \"Im [1/s]\"\nset xzeroaxis lc "
                    "rgb \"#606060\"\nset yzeroaxis lc rgb \"#606060\"\n"
                    "set offsets graph 0.06, graph 0.06, graph 0.06, graph 0.06\nset key title \"strongest effect\" "
                    "left\nplot ");
    for (size_t k = 0; k <= n + 1; k++) {
        if (!in_group[k])
            continue;
        strbuf_printf(&b, "%s$group%zu using 1:2:3 with points pt 2 ps variable lw 2 lc rgb \"%s\" title ",
                      shown++ ? ", \\\n     " : "", k,
                      k < n    ? figure_color[k]
                      : k == n ? "#000000"
                               : "#a0a0a0");
        quote_z(&b, QUOTE_GNUPLOT, k < n ? l->effect.parameter[named[k]] : k == n ? "another" : "none");
    }
    strbuf_puts(&b, "\n");
    fine = figure_draw(&b, path, why);
    strbuf_free(&b);
    free(count);
    return fine;
}

/* The modes to draw: one of each pair, without zeros. */
static size_t
modes_drawn(const linearization *l, size_t *to)
{
    size_t n = 0;

    for (size_t i = 0; i < l->modes.count && n < MODES_MOST; i++)
        if (cimag(l->modes.eigenvalue[i]) >= 0 && l->modes.eigenvalue[i] != 0)
            to[n++] = i;
    return n;
}

struct ranked {
    size_t p;
    double size;
};

static int
falling(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return x->size != y->size ? (x->size < y->size) - (x->size > y->size) : (x->p > y->p) - (x->p < y->p);
}

/* The parameters with the greatest effect on any mode, at most ROWS_MOST, in the order of the text. */
static size_t
parameters_drawn(const linearization *l, const size_t *mode, size_t nmodes, size_t *to)
{
    size_t np = l->effect.nparameters, n = 0;
    struct ranked *r = bg_calloc(np + 1, sizeof *r);
    bool *in = bg_calloc(np + 1, sizeof *in);

    for (size_t p = 0; p < np; p++) {
        r[p].p = p;
        for (size_t i = 0; i < nmodes; i++)
            r[p].size = fmax(r[p].size, relative_effect(l, p, mode[i]) / cabs(l->modes.eigenvalue[mode[i]]));
    }
    if (np)
        qsort(r, np, sizeof *r, falling);
    for (size_t k = 0; k < np && k < ROWS_MOST; k++)
        in[r[k].p] = r[k].size > 0;
    for (size_t p = 0; p < np; p++)
        if (in[p])
            to[n++] = p;
    free(r);
    free(in);
    return n;
}

bool
draw_effects(const linearization *l, const char *path, char **why)
{
    size_t mode[MODES_MOST], nmodes, parameter[ROWS_MOST], rows;
    strbuf b = { 0 };
    bool fine;

    *why = NULL;
    if (!figure_form_known(path)) {
        *why = bg_format("%s: a figure's name ends in .svg, .png or .pdf", path);
        return false;
    }
    nmodes = modes_drawn(l, mode);
    rows = parameters_drawn(l, mode, nmodes, parameter);
    if (!nmodes || !rows) {
        *why = bg_strdup("there is nothing to draw: no parameter moves an eigenvalue that is not zero");
        return false;
    }
    strbuf_puts(&b, "$effects << EOD\n");
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < nmodes; c++) {
            double x = relative_effect(l, parameter[r], mode[c]) / cabs(l->modes.eigenvalue[mode[c]]);

            if (x > 0 && isfinite(x))
                strbuf_printf(&b, "%zu %zu %.6g\n", c, r, fmax(x, LEAST_DRAWN));
        }
    strbuf_puts(&b, "EOD\n");
    put_figure_head(&b, l, "effect of each parameter: |p dλ/dp| / |λ|", path, 180 + 22 * (double)rows);
    strbuf_printf(&b,
                  "unset key\nunset grid\nset xrange [-0.5:%zu.5]\nset yrange [%zu.5:-0.5]\nset logscale cb\nset "
                  "cbrange [1e-4:1]\n",
                  nmodes - 1, rows - 1);
    strbuf_puts(&b,
                "set palette defined (0 \"#f7fbff\", 0.5 \"#6baed6\", 1 \"#08306b\")\nset format cb \"%g\"\nset label "
                "\"white: none,\\nor below\\n0.0001\" at graph 1.02, graph 0 offset 0, -1.5\n"
                "set border 15 lc rgb \"#606060\"\nset lmargin 16\nset bmargin 8\nset ytics (");
    for (size_t r = 0; r < rows; r++) {
        strbuf_puts(&b, r ? ", " : "");
        quote_z(&b, QUOTE_GNUPLOT, l->effect.parameter[parameter[r]]);
        strbuf_printf(&b, " %zu", r);
    }
    strbuf_puts(&b, ")\nset xtics rotate by 50 right (");
    for (size_t c = 0; c < nmodes; c++) {
        double complex z = l->modes.eigenvalue[mode[c]];

        if (cimag(z) > 0)
            strbuf_printf(&b, "%s\"%.3g ± %.3gi\" %zu", c ? ", " : "", creal(z), cimag(z), c);
        else
            strbuf_printf(&b, "%s\"%.3g\" %zu", c ? ", " : "", creal(z), c);
    }
    strbuf_puts(&b, ")\nplot $effects using 1:2:(0.5):(0.5):3 with boxxyerror fs solid noborder lc palette\n");
    fine = figure_draw(&b, path, why);
    strbuf_free(&b);
    return fine;
}
