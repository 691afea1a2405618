/* output_lines.c - see output_lines.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output_lines.h"
#include "transfer.h"
#include "compiled.h"

#define SAME_GAIN 1e-9         /* relative: the factor counts as 1 */
#define SAME_FRACTION 1e-12    /* relative: a factor is written as this fraction, */
#define GREATEST_NUMERATOR 1e6 /* with a numerator below this */
#define NO_ERROR 1e-9          /* relative to the greatest value of a step response: no error to correct */
#define WORTH_IT 0.99          /* ratio of errors below which a direct part is worth adding */
#define ASIDE 0.5              /* range in which the factor is searched, as a share of the one that static gains give */
#define FACTOR_DIGITS 4        /* more digits of the factor change no error that is shown */
enum { FRACTION_MOST = 64, SEARCH_STEPS = 80 };

void
output_lines_free(output_lines *l)
{
    for (size_t y = 0; y < l->line.n; y++)
        free(l->line.at[y].direct);
    vec_free(&l->line);
}

double
step_interval(const linearization *full, double *slow)
{
    *slow = INFINITY;
    for (size_t i = 0; i < full->modes.count; i++)
        if (full->modes.eigenvalue[i] != 0 && creal(full->modes.eigenvalue[i]) < 0)
            *slow = fmin(*slow, -creal(full->modes.eigenvalue[i]));
    return isfinite(*slow) ? 12 / *slow / (STEP_POINTS - 1) : 0;
}

size_t
same_input(const linearization *there, const linearization *here, size_t i)
{
    for (size_t k = 0; k < there->input.n; k++)
        if (!strcmp(there->input.at[k].name, here->input.at[i].name))
            return k;
    return NO_INDEX;
}

/* ---------------------------------------------------------------- static gains */

struct gains {
    double full, small; /* NAN: there is no finite gain */
};

static double
gain_at_rest(const state_space *s, size_t u, size_t y)
{
    struct zeros_poles z;
    double gain = transfer_function(s, u, y, &z) && isfinite(z.dc) ? z.dc : NAN;

    zeros_poles_free(&z);
    return gain;
}

static void
find_gains(const linearization *full, const linearization *small, size_t y, struct gains *g)
{
    for (size_t u = 0; u < full->space.nu; u++) {
        size_t there = same_input(small, full, u);

        g[u] = (struct gains){ gain_at_rest(&full->space, u, y),
                               there == NO_INDEX ? 0 : gain_at_rest(&small->space, there, y) };
    }
}

/* The factor on an output, from the first input that has a gain; 1 where none has. *from: that input. */
static double
gain_factor(const struct gains *g, size_t nu, size_t *from)
{
    for (*from = 0; *from < nu; (*from)++) {
        double factor = g[*from].small != 0 ? g[*from].full / g[*from].small : 0;

        if (factor != 0 && isfinite(factor))
            return fabs(factor - 1) > SAME_GAIN ? factor : 1;
    }
    *from = NO_INDEX;
    return 1;
}

state_space
output_lines_gains_only(const linearization *full, const linearization *small)
{
    state_space s = state_space_copy(&small->space);
    struct gains *g = bg_calloc(full->space.nu + 1, sizeof *g);

    for (size_t y = 0; y < s.ny && y < full->space.ny; y++) {
        size_t from;
        double factor;

        find_gains(full, small, y, g);
        factor = gain_factor(g, full->space.nu, &from);
        for (size_t k = 0; k < s.n; k++)
            s.C[y + s.ny * k] *= factor;
        for (size_t u = 0; u < s.nu; u++)
            s.D[y + s.ny * u] *= factor;
    }
    free(g);
    return s;
}

/* ---------------------------------------------------------------- direct feedthrough of inputs */

/* Step responses of all outputs to all inputs: [input][point*ny + output]; zeros for an input that the small model
 * lacks. */
struct steps {
    size_t nu, ny;
    double *full, *small;
    double *size; /* [output + ny*input] greatest value of the full model's response */
};

static size_t
place_of_step(const struct steps *s, size_t u, size_t k, size_t y)
{
    return (u * STEP_POINTS + k) * s->ny + y;
}

static bool
find_steps(const linearization *full, const linearization *small, double h, struct steps *s)
{
    bool fine = true;

    s->nu = full->space.nu;
    s->ny = full->space.ny;
    s->full = bg_calloc(s->nu * STEP_POINTS * s->ny + 1, sizeof(double));
    s->small = bg_calloc(s->nu * STEP_POINTS * s->ny + 1, sizeof(double));
    s->size = bg_calloc(s->ny * s->nu + 1, sizeof(double));
    for (size_t u = 0; u < s->nu && fine; u++) {
        size_t there = same_input(small, full, u);

        fine = time_response(&full->space, u, false, h, STEP_POINTS, s->full + place_of_step(s, u, 0, 0)) &&
               (there == NO_INDEX ||
                time_response(&small->space, there, false, h, STEP_POINTS, s->small + place_of_step(s, u, 0, 0)));
        for (size_t k = 0; k < STEP_POINTS && fine; k++)
            for (size_t y = 0; y < s->ny; y++) {
                double *size = &s->size[y + s->ny * u];

                *size = fmax(*size, fabs(s->full[place_of_step(s, u, k, y)]));
            }
    }
    return fine;
}

static void
steps_free(struct steps *s)
{
    free(s->full);
    free(s->small);
    free(s->size);
}

/* Can the output's expression read the input, so that a multiple of it may be added? */
static bool
is_usable(const linearization *full, const linearization *small, size_t u)
{
    const flat_model *f = model_flat(full->model);

    for (size_t i = 0; i < f->opening.n; i++) /* der(input): a rate, which the expression cannot read */
        if (!strcmp(f->opening.at[i].rate_name, full->input.at[u].name))
            return false;
    return same_input(small, full, u) != NO_INDEX;
}

/* The greatest error of the step responses of output y, each relative to its greatest value; g NULL: without a direct
 * part. */
static double
worst_step(const struct steps *s, const bool *usable, const struct gains *g, size_t y, double factor)
{
    double worst = 0;

    for (size_t u = 0; u < s->nu; u++) {
        double direct = g ? g[u].full - factor * g[u].small : 0, size = s->size[y + s->ny * u];

        for (size_t k = 0; k < STEP_POINTS && usable[u] && size > 0; k++) {
            size_t at = place_of_step(s, u, k, y);

            worst = fmax(worst, fabs(s->full[at] - factor * s->small[at] - direct) / size);
        }
    }
    return worst;
}

static double
best_factor(const struct steps *s, const bool *usable, const struct gains *g, size_t y, double around)
{
    double low = around - ASIDE * fabs(around), high = around + ASIDE * fabs(around), digits;

    for (int k = 0; k < SEARCH_STEPS; k++) {
        double one = low + (high - low) / 3, two = high - (high - low) / 3;

        if (worst_step(s, usable, g, y, one) < worst_step(s, usable, g, y, two))
            high = two;
        else
            low = one;
    }
    digits = pow(10, FACTOR_DIGITS - 1 - floor(log10(fabs(low))));
    return round(low * digits) / digits;
}

/* Finds the multiples of inputs to add to output y. Returns why there are none; NULL: l has them. */
static const char *
find_direct(const linearization *full, const linearization *small, const struct steps *s, const struct gains *g,
            size_t y, output_line *l)
{
    bool *usable = bg_calloc(s->nu + 1, sizeof *usable), any = false;
    const char *why = NULL;
    double now, best;

    for (size_t u = 0; u < s->nu && !why; u++) {
        usable[u] = s->size[y + s->ny * u] > 0 && is_usable(full, small, u);
        any = any || usable[u];
        if (usable[u] && !isfinite(g[u].full - g[u].small))
            why = "its static gain is not finite";
    }
    now = any && !why ? worst_step(s, usable, NULL, y, l->factor) : 0;
    if (!why && now <= NO_ERROR)
        why = any ? "its step responses are right already" : "no remaining input acts on it";
    if (!why) {
        best = best_factor(s, usable, g, y, l->factor);
        if (worst_step(s, usable, g, y, best) < WORTH_IT * now) {
            l->factor = best;
            l->direct_any = true;
            for (size_t u = 0; u < s->nu; u++)
                if (usable[u] && fabs(g[u].full - best * g[u].small) > NO_ERROR * s->size[y + s->ny * u])
                    l->direct[u] = g[u].full - best * g[u].small;
        } else {
            why = "its step responses would not improve";
        }
    }
    free(usable);
    return why;
}

/* ---------------------------------------------------------------- the text */

/* The expression of an output in the text of c. */
static const ast_expr *
output_text(const compilation *c, const char *name)
{
    const ast_model *m = c->flat->ast;

    for (int i = 0; i < m->nstmt; i++)
        if (m->stmt[i]->kind == AST_STMT_VALUE && m->stmt[i]->value.kind == AST_OUTPUT &&
            !strcmp(m->stmt[i]->value.name, name))
            return m->stmt[i]->value.value;
    return NULL;
}

/* Writes a factor as a fraction where it is one, otherwise with all its digits. */
static void
put_factor(strbuf *out, double x)
{
    for (int q = 1; q <= FRACTION_MOST; q++) {
        double p = round(x * q);

        if (p != 0 && fabs(p) < GREATEST_NUMERATOR && fabs(x * q - p) <= SAME_FRACTION * fabs(p)) {
            strbuf_printf(out, q == 1 ? "%.0f" : "%.0f/%d", p, q);
            return;
        }
    }
    strbuf_printf(out, "%.15g", x);
}

/* Writes the multiple of an input: " + 0.02 [m/N]*F". */
static void
put_direct(const compilation *c, const flat_output *o, const linear_input *in, double x, strbuf *out)
{
    const flat_model *f = c->flat;
    const unit *u = o->unit && in->unit ? unit_divide(c->units, o->unit, in->unit) : NULL;

    strbuf_printf(out, " %c %.15g", x < 0 ? '-' : '+', fabs(x));
    if (u && !unit_is_number(u))
        strbuf_printf(out, " [%s]", unit_text(unit_dimension(u)));
    strbuf_printf(out, "*%s", in->name);
    if (in->element != NONE)
        strbuf_puts(out, f->element.at[in->element].type == EL_SE ? ".e" : ".f");
}

static void
edit_line(const compilation *c, const linearization *full, const linearization *small, const output_line *l, size_t y,
          const ast_expr *is, edits *e, strbuf *added)
{
    const flat_output *o = &c->flat->output.at[y];
    const char *text = source_text(c->sources, c->ast->file);
    strbuf now = { 0 };

    if (l->factor != 1)
        put_factor(&now, l->factor);
    strbuf_printf(&now, "%s(%.*s)", l->factor != 1 ? "*" : "", (int)(is->at.end - is->at.begin), text + is->at.begin);
    for (size_t u = 0; u < full->space.nu; u++)
        if (l->direct[u] != 0)
            put_direct(c, o, &small->input.at[same_input(small, full, u)], l->direct[u], added);
    strbuf_puts(&now, added->at ? added->at : "");
    edits_replace(e, is->at.begin, is->at.end, now.at, now.n);
    strbuf_free(&now);
}

static void
note_line(const linearization *full, const output_line *l, double gain, size_t from, const char *added, strbuf *notes)
{
    strbuf number = { 0 };

    put_factor(&number, l->factor);
    if (gain != 1)
        strbuf_printf(notes, "  the static gain of %s to %s would change by a factor of %.6g",
                      full->input.at[from].name, l->output, 1 / gain);
    else
        strbuf_printf(notes, "  the static gains of %s are corrected", l->output);
    strbuf_printf(notes, ": the line of %s is multiplied by %s", l->output, number.at);
    if (added)
        strbuf_printf(notes, " plus%s, a direct term that stands for the fast modes taken out", added);
    strbuf_puts(notes, "\n");
    strbuf_free(&number);
}

void
output_lines_correct(const compilation *c, const linearization *full, const linearization *small, bool direct,
                     output_lines *l, edits *e, strbuf *notes)
{
    struct gains *g = bg_calloc(full->space.nu + 1, sizeof *g);
    struct steps s = { 0 };
    double slow, h = step_interval(full, &slow);
    bool known = direct && h > 0 && find_steps(full, small, h, &s);

    for (size_t y = 0; y < small->space.ny && y < full->space.ny; y++) {
        output_line line = { .output = model_output_name(small->model, y),
                             .factor = 1,
                             .direct = bg_calloc(full->space.nu + 1, sizeof(double)) };
        const ast_expr *is = output_text(c, line.output);
        const char *why = known ? NULL : "the step responses of the model do not settle";
        strbuf added = { 0 };
        size_t from = NO_INDEX;
        double gain;

        if (is && is->at.file != c->ast->file)
            is = NULL;
        if (!is)
            why = "its line is not in this file";
        find_gains(full, small, y, g);
        gain = is ? gain_factor(g, full->space.nu, &from) : 1;
        line.factor = gain;
        if (direct && known && is)
            why = find_direct(full, small, &s, g, y, &line);
        if (direct && why)
            strbuf_printf(notes, "  no direct term is added to %s: %s\n", line.output, why);
        if (is && (line.factor != 1 || line.direct_any)) {
            edit_line(c, full, small, &line, y, is, e, &added);
            note_line(full, &line, gain, from, added.at, notes);
        }
        strbuf_free(&added);
        vec_push(&l->line, line);
    }
    steps_free(&s);
    free(g);
}
