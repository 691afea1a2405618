/* mode_reduction.c - see mode_reduction.h */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gramians.h"
#include "joined.h"
#include "mode_reduction.h"
#include "response.h"
#include "simulate.h"
#include "transfer.h"
#include "version.h"
#include "yardstick.h"

#define NOTHING 1e-7 /* of the greatest effect: none */
enum { STEP_POINTS = 2001, YARDSTICK_MOST = 300, FRACTION_MOST = 64 };

/* ---------------------------------------------------------------- which eigenvalues */

static void
with_conjugates(const linearization *l, mode_choice *c)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->n && c->keep[i]; k++)
            if (cabs(l->modes.eigenvalue[k] - conj(l->modes.eigenvalue[i])) <= 1e-12 * l->modes.size)
                c->keep[k] = true;
}

static char *
any_chosen(const mode_choice *c, const char *text)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->keep[i])
            return NULL;
    return bg_format("\"%s\" leaves no eigenvalue", text);
}

/* How much of what goes from any input to any output each mode carries: |residue/Re|, of the greatest of that pair. */
static double *
strengths(const linearization *l)
{
    size_t n = l->modes.count;
    double *all = bg_calloc(n + 1, sizeof *all), *one = bg_calloc(n + 1, sizeof *one);

    for (size_t u = 0; u < l->space.nu; u++)
        for (size_t y = 0; y < l->space.ny; y++) {
            double most = 0;

            for (size_t i = 0; i < n; i++) {
                one[i] = cabs(mode_residue(l, i, u, y)) /
                         fmax(fabs(creal(l->modes.eigenvalue[i])), 1e-12 * l->modes.size);
                most = fmax(most, l->modes.eigenvalue[i] == 0 ? 0 : one[i]);
            }
            for (size_t i = 0; i < n && most > 0; i++)
                all[i] = fmax(all[i], one[i] / most);
        }
    free(one);
    return all;
}

/* The `count` eigenvalues of the greatest rank, zeros left out. */
static void
keep_greatest(const linearization *l, const double *rank, int count, mode_choice *out)
{
    for (int k = 0; k < count; k++) {
        size_t best = SIZE_MAX;

        for (size_t i = 0; i < l->modes.count; i++)
            if (!out->keep[i] && l->modes.eigenvalue[i] != 0 && (best == SIZE_MAX || rank[i] > rank[best]))
                best = i;
        if (best != SIZE_MAX)
            out->keep[best] = true;
    }
}

char *
choose_modes(const linearization *l, const char *list, mode_choice *out)
{
    const char *s = list;
    int count, used = 0;

    *out = (mode_choice){ bg_calloc(l->modes.count + 1, sizeof(bool)), l->modes.count };
    if (sscanf(list, "slowest %d%n", &count, &used) == 1 && !list[used] && count > 0) {
        double *rank = bg_calloc(l->modes.count + 1, sizeof *rank);

        for (size_t i = 0; i < l->modes.count; i++)
            rank[i] = -fabs(creal(l->modes.eigenvalue[i]));
        keep_greatest(l, rank, count, out);
        free(rank);
    } else if (sscanf(list, "strongest %d%n", &count, &used) == 1 && !list[used] && count > 0) {
        double *rank = strengths(l);

        keep_greatest(l, rank, count, out);
        free(rank);
    } else {
        while (*s) {
            char *end;
            unsigned long i = isdigit((unsigned char)*s) ? strtoul(s, &end, 10) : 0;

            if (!i || i > l->modes.count || (*end && *end != ','))
                return bg_format(
                    "eigenvalues are numbers from 1 to %zu like 3,4, or `slowest 2`, `strongest 2`, not \"%s\"",
                    l->modes.count, list);
            out->keep[i - 1] = true;
            s = *end ? end + 1 : end;
        }
    }
    with_conjugates(l, out);
    return any_chosen(out, list);
}

char *
choose_band(const linearization *l, const char *band, mode_choice *out)
{
    const char *dots = strstr(band, "..");
    char *first, *rest = NULL;
    double from = strtod(band, &first), to = dots ? strtod(dots + 2, &rest) : 0, scale = 1;

    *out = (mode_choice){ bg_calloc(l->modes.count + 1, sizeof(bool)), l->modes.count };
    /* strtod takes the first of the two dots with the number */
    if (!dots || first == band || first < dots || first > dots + 1 || rest == dots + 2 || !(from >= 0) ||
        !(to > from) || !isfinite(to))
        return bg_format("a band is FROM..TO in Hz, like 0..10, not \"%s\"", band);
    while (*rest == ' ' || *rest == '[')
        rest++;
    if (!strncmp(rest, "kHz", 3))
        scale = 1e3;
    else if (*rest && strncmp(rest, "Hz", 2))
        return bg_format("a band is FROM..TO in Hz, like 0..10, not \"%s\"", band);
    for (size_t i = 0; i < l->modes.count; i++) {
        double hertz = cabs(l->modes.eigenvalue[i]) / (2 * M_PI);

        out->keep[i] = l->modes.eigenvalue[i] != 0 && hertz >= from * scale && hertz <= to * scale;
    }
    with_conjugates(l, out);
    return any_chosen(out, band);
}

/* ---------------------------------------------------------------- which elements */

/* Storage, then dissipators, by number in the structure. */
struct chosen {
    size_t nz, nl;
    bool *stays, *by_path;
    double *effect;
};

/* The greatest relative effect of each on a chosen eigenvalue, over the greatest of its kind. */
static void
measure_effects(const linearization *l, const mode_choice *keep, struct chosen *c)
{
    const structure *s = &l->structure;
    double most[2] = { 0, 0 };

    for (size_t j = 0; j < s->nz + s->nl; j++) {
        const double *E = j < s->nz ? l->E_IC_relative + s->n * j : l->E_R_relative + s->n * (j - s->nz);

        for (size_t i = 0; i < keep->n; i++)
            if (keep->keep[i])
                c->effect[j] = fmax(c->effect[j], E[i]);
        most[j >= s->nz] = fmax(most[j >= s->nz], c->effect[j]);
    }
    for (size_t j = 0; j < s->nz + s->nl; j++)
        c->stays[j] = c->effect[j] > NOTHING * fmax(most[0], most[1]);
    /* step 4 of the paper, literally: the input is a combination of what storage that stays gives */
    for (size_t k = 0; k < s->nl; k++) {
        bool all = true, any = false;

        for (size_t j = 0; j < s->nz; j++)
            if (s->matrix[M_J_LS].value[k + s->nl * j] != 0) {
                any = true;
                all = all && c->stays[j];
            }
        c->by_path[k] = any && all;
    }
}

static void
tie(uint32_t *parent, const bool *stays, size_t a, size_t b, double value)
{
    if (value != 0 && stays[a] && stays[b])
        joined_join(parent, a, b);
}

/* What is left falls apart into subsystems: those without an input or without an output go. */
static void
drop_subsystems(const linearization *l, struct chosen *c)
{
    const structure *s = &l->structure;
    size_t n = s->nz + s->nl;
    uint32_t *parent = joined_new(n);
    bool *driven = bg_calloc(n + 1, sizeof *driven), *seen = bg_calloc(n + 1, sizeof *seen);

    for (size_t a = 0; a < s->nz; a++) {
        size_t row = s->storage_state[a];

        for (size_t b = 0; b < s->nz; b++)
            tie(parent, c->stays, a, b, s->matrix[M_J_SS].value[row + s->n * b]);
        for (size_t k = 0; k < s->nl; k++) {
            tie(parent, c->stays, a, s->nz + k, s->matrix[M_J_SL].value[row + s->n * k]);
            tie(parent, c->stays, a, s->nz + k, s->matrix[M_J_LS].value[k + s->nl * a]);
        }
    }
    for (size_t i = 0; i < s->nl; i++)
        for (size_t k = 0; k < s->nl; k++)
            tie(parent, c->stays, s->nz + i, s->nz + k, s->matrix[M_J_LL].value[i + s->nl * k]);
    for (size_t a = 0; a < s->nz; a++) {
        uint32_t group = joined_first(parent, (uint32_t)a);

        for (size_t u = 0; u < l->space.nu && c->stays[a]; u++)
            driven[group] = driven[group] || l->space.B[s->storage_state[a] + s->n * u] != 0;
        for (size_t y = 0; y < l->space.ny && c->stays[a]; y++)
            seen[group] = seen[group] || l->space.C[y + l->space.ny * s->storage_state[a]] != 0;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t group = joined_first(parent, (uint32_t)i);

        c->stays[i] = c->stays[i] && driven[group] && seen[group];
    }
    free(parent);
    free(driven);
    free(seen);
}

static const char *
name_of(const linearization *l, size_t i)
{
    return i < l->structure.nz ? linear_storage_name(l, i) : linear_dissipator_name(l, i - l->structure.nz);
}

/* ---------------------------------------------------------------- the text */

void
record_reduction(reduction *r, const sources *s, uint32_t file, rewrite *plan)
{
    for (size_t i = 0; i < plan->item.n; i++) {
        const rewrite_item *x = &plan->item.at[i];
        int line = 0, unused;

        if (span_known(x->at))
            source_place(s, file, (uint32_t)reduction_origin(r, x->at.begin), &line, &unused);
        vec_push(&r->operation, ((reduce_operation){ .kind = x->kind,
                                                     .name = arena_strdup(r->arena, x->name),
                                                     .line = line,
                                                     .round = (int)r->rounds.n + 1 }));
    }
    for (size_t i = 0; i < plan->blocked.n; i++)
        vec_push(&r->kept, ((reduce_kept){ arena_strdup(r->arena, plan->blocked.at[i].element),
                                           arena_strdup(r->arena, plan->blocked.at[i].why), 0, 1 }));
    vec_push(&r->rounds, plan->edits);
    plan->edits = (edits){ 0 };
}

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

/* A factor as a person would write it: a fraction where it is one, else all its digits. */
static char *
factor_text(double x)
{
    for (int q = 1; q <= FRACTION_MOST; q++) {
        double p = round(x * q);

        if (p != 0 && fabs(p) < 1e6 && fabs(x * q - p) <= 1e-12 * fabs(p))
            return q == 1 ? bg_format("%.0f", p) : bg_format("%.0f/%d", p, q);
    }
    return bg_format("%.15g", x);
}

/* What each output has to be multiplied by so that its gain at rest is that of the full model, from the first input
 * that has one. */
static void
gain_edits(const compilation *c, const linearization *full, const linearization *small, edits *e, strbuf *notes)
{
    const char *text = source_text(c->sources, c->ast->file);

    for (size_t y = 0; y < small->space.ny && y < full->space.ny; y++)
        for (size_t u = 0; u < small->space.nu && u < full->space.nu; u++) {
            struct zeros_poles a, b;
            const char *name = model_flat(small->model)->output.at[y].name;
            const ast_expr *is = output_text(c, name);
            bool fine = transfer_function(&full->space, u, y, &a) & transfer_function(&small->space, u, y, &b);
            double factor = fine && b.dc != 0 && isfinite(b.dc) && isfinite(a.dc) ? a.dc / b.dc : 0;

            zeros_poles_free(&a);
            zeros_poles_free(&b);
            if (!is || is->at.file != c->ast->file || factor == 0) /* no gain at rest from this input */
                continue;
            if (fabs(factor - 1) > 1e-9) {
                char *number = factor_text(factor),
                     *now = bg_format("%s*(%.*s)", number, (int)(is->at.end - is->at.begin), text + is->at.begin);

                edits_replace(e, is->at.begin, is->at.end, now, strlen(now));
                strbuf_printf(notes,
                              "  the gain of %s to %s at rest would be %.6g times what it was: the line of %s is "
                              "multiplied by %s\n",
                              small->input.at[u].name, name, 1 / factor, name, number);
                free(now);
                free(number);
            }
            break;
        }
}

/* The greatest error when a share of the end value answers at once and the rest as b does. */
static double
error_with_direct(const double *a, const double *b, size_t ny, double end, double share)
{
    double most = 0;

    for (size_t k = 1; k < STEP_POINTS; k++)
        most = fmax(most, fabs(a[k * ny] - (1 - share) * b[k * ny] - share * end));
    return most;
}

/* Stiff modes that went answer a step at once: the share of the end value for which the step errs least. The error is
 * convex in it. */
static double
direct_share(const double *a, const double *b, size_t ny, double end)
{
    double low = -0.5, high = 0.5;

    for (int k = 0; k < 60; k++) {
        double one = low + (high - low) / 3, two = high - (high - low) / 3;

        if (error_with_direct(a, b, ny, end, one) < error_with_direct(a, b, ny, end, two))
            high = two;
        else
            low = one;
    }
    return (low + high) / 2;
}

/* Offered, not written: the model would transmit at once what its elements do not. */
static void
note_direct(const double *a, const double *b, size_t ny, double most, const char *input, const char *output,
            strbuf *notes)
{
    double end = a[(STEP_POINTS - 1) * ny], share, least;

    if (fabs(b[(STEP_POINTS - 1) * ny] - end) > 1e-3 * fabs(end) || !(most > 0.01 * fabs(end)))
        return;
    share = direct_share(a, b, ny, end);
    least = error_with_direct(a, b, ny, end, share);
    if (least < 0.9 * most)
        strbuf_printf(notes,
                      "  with %.4g times what %s is now and %.4g*%s (SI) added, which answers at once as stiff modes "
                      "that went do, it would be at most %.3g %% off\n",
                      1 - share, output, share * end, input, 100 * least / fabs(end));
}

static void
compare_steps(const linearization *full, const linearization *small, reduction *r, strbuf *notes)
{
    double slow = INFINITY, h;
    size_t ny = full->space.ny;
    double *a = bg_calloc(STEP_POINTS * ny + 1, sizeof *a), *b = bg_calloc(STEP_POINTS * ny + 1, sizeof *b);
    responder *one = responder_new(&full->space), *other = responder_new(&small->space);
    double complex *G = bg_calloc(ny * full->space.nu + 1, sizeof *G),
                   *H = bg_calloc(ny * full->space.nu + 1, sizeof *H);

    for (size_t i = 0; i < full->modes.count; i++)
        if (full->modes.eigenvalue[i] != 0 && creal(full->modes.eigenvalue[i]) < 0)
            slow = fmin(slow, -creal(full->modes.eigenvalue[i]));
    h = isfinite(slow) ? 12 / slow / (STEP_POINTS - 1) : 0;
    for (size_t u = 0; h > 0 && u < full->space.nu && u < small->space.nu && small->space.ny == ny; u++) {
        if (!time_response(&full->space, u, false, h, STEP_POINTS, a) ||
            !time_response(&small->space, u, false, h, STEP_POINTS, b))
            continue;
        for (size_t y = 0; y < ny; y++) {
            const flat_output *o = &model_flat(full->model)->output.at[y];
            double worst = 0, last = fabs(a[(STEP_POINTS - 1) * ny + y]), most = 0, square = 0;

            for (size_t k = 0; k < STEP_POINTS; k++) {
                double d = fabs(a[k * ny + y] - b[k * ny + y]);

                most = fmax(most, d);
                square += d * d / STEP_POINTS;
            }
            for (int k = 0; k < 200 && one && other; k++) {
                double omega = slow * pow(10, -2 + 4.0 * k / 199);

                if (response_at(one, omega, G) && response_at(other, omega, H))
                    worst = fmax(worst, cabs(G[y + ny * u] - H[y + ny * u]));
            }
            vec_push(&r->error,
                     ((reduce_error){ .experiment = arena_format(r->arena, "step of %s", full->input.at[u].name),
                                      .output = arena_strdup(r->arena, o->name),
                                      .shown = 1,
                                      .max = most,
                                      .rms = sqrt(square),
                                      .avasim = NAN,
                                      .within = NAN }));
            if (last > 0)
                strbuf_printf(notes,
                              "  a step of %s: %s is at most %.3g %% of its end value off; in the frequency response "
                              "at most %.3g %%\n",
                              full->input.at[u].name, o->name, 100 * most / last, 100 * worst / last);
            if (last > 0)
                note_direct(a + y, b + y, ny, most, full->input.at[u].name, o->name, notes);
        }
    }
    free(a);
    free(b);
    responder_free(one);
    responder_free(other);
    free(G);
    free(H);
}

bool
reduction_point(bg_model *m, double *t, double *x)
{
    sim_options o = { 0 };
    bool fine = !model_flat(m)->experiment.name || sim_options_from_experiment(m, &o);

    *t = o.start;
    fine = fine && model_initial(m, o.start, x) && (!o.equilibrium || equilibrium(m, o.start, x));
    sim_options_free(&o);
    return fine;
}

/* Balanced truncation to as many states beside what is left. */
static void
note_yardstick(const linearization *full, const linearization *small, strbuf *notes)
{
    yardstick y = { 0 };

    if (full->space.n <= YARDSTICK_MOST && small->space.nu == full->space.nu && small->space.ny == full->space.ny) {
        if (yardstick_open(&full->space, &y)) {
            state_space stable = { 0 };
            char *why = NULL;

            yardstick_against(&y, "what is left", &small->space);
            if (stable_part(&small->space, &stable, &why))
                yardstick_truncate(&y, stable.n < y.full.n ? stable.n : y.full.n);
            state_space_free(&stable);
            free(why);
        }
        if (y.why)
            strbuf_printf(notes, "  no H-infinity error: %s\n", y.why);
        for (size_t i = 0; i < y.row.n; i++) {
            const yardstick_row *r = &y.row.at[i];

            if (r->why)
                strbuf_printf(notes, "  no H-infinity error of %s: %s\n", r->name, r->why);
            else if (r->truncation)
                strbuf_printf(notes,
                              "  by balanced truncation to %zu states, which keeps no elements, it would be %.3g %% "
                              "(at most %.3g %%)\n",
                              r->order, 100 * r->error.lower / y.norm.lower, 100 * r->bound / y.norm.lower);
            else
                strbuf_printf(notes, "  H-infinity error: %.3g %% of the norm %.6g\n",
                              100 * r->error.lower / y.norm.lower, y.norm.lower);
        }
    }
    yardstick_free(&y);
}

static bool
linear_of(const char *path, const char *text, size_t length, const compile_options *o, compilation *c, linearization *l,
          char **why)
{
    compile_options open = *o;
    double *x, t;
    bool fine;

    open.open = true;
    if (!compile_text(c, path, text, length, STAGE_MODEL, &open)) {
        *why = bg_format("what is left does not compile: %s", diag_first_error(c->sources));
        return false;
    }
    x = bg_calloc(model_nstates(c->model) + 1, sizeof *x);
    fine = reduction_point(c->model, &t, x) && linearize_at(c->model, t, x, l);
    if (!fine)
        *why = bg_format("what is left has no linear model: %s", l->why ? l->why
                                                                 : diag_first_error(c->sources)
                                                                     ? diag_first_error(c->sources)
                                                                     : "no such point");
    free(x);
    return fine;
}

/* The elements that go, taken out of the text. */
static bool
take_out(const char *path, const char *text, size_t length, const compile_options *o, const linearization *l,
         const struct chosen *c, reduction *r, strbuf *now, char **why)
{
    compilation plain = { 0 };
    VEC(const char *) name = { 0 };
    rewrite plan = { 0 };
    bool fine = compile_text(&plain, path, text, length, STAGE_GRAPH, o);

    for (size_t i = 0; i < c->nz + c->nl && fine; i++) {
        uint32_t port = i < c->nz ? l->structure.storage[i] : l->structure.dissipator[i - c->nz];

        if (!c->stays[i] && plain.flat->element.at[plain.flat->port.at[port].element].nports == 1)
            vec_push(&name, plain.flat->element.at[plain.flat->port.at[port].element].name);
    }
    if (fine && name.n)
        fine = rewrite_plan(&(rewrite_request){ .f = plain.flat, .file = plain.ast, .name = name.at, .n = name.n },
                            &plan);
    if (!fine)
        *why = bg_strdup(plan.error ? plan.error : "the text does not compile without an experiment's values");
    if (fine && name.n && plan.edits.list.n) {
        edits_apply(&plan.edits, text, length, now);
        if (!now->at)
            strbuf_puts(now, "");
        *why = reduction_check(path, text, length, o, &plan, now->at, now->n, o);
        fine = !*why;
        record_reduction(r, plain.sources, plain.ast->file, &plan);
    } else if (fine) {
        char *copy = bg_format("%.*s", (int)length, text);

        strbuf_puts(now, copy);
        free(copy);
    }
    rewrite_free(&plan);
    vec_free(&name);
    compile_free(&plain);
    return fine;
}

static void
note_choice(const linearization *l, const mode_choice *keep, const struct chosen *felt, const struct chosen *left,
            strbuf *notes)
{
    size_t nz = felt->nz, n = nz + felt->nl;
    bool first = true;

    strbuf_puts(notes, "  eigenvalues kept        ");
    for (size_t i = 0; i < keep->n; i++)
        if (keep->keep[i] && cimag(l->modes.eigenvalue[i]) >= 0) {
            strbuf_printf(notes, "%s%.6g", first ? "" : ", ", creal(l->modes.eigenvalue[i]));
            if (cimag(l->modes.eigenvalue[i]) > 0)
                strbuf_printf(notes, " +- %.6gi", cimag(l->modes.eigenvalue[i]));
            first = false;
        }
    for (int kind = 0; kind < 4; kind++) {
        static const char *const head[] = { "no effect on them       ", "neither driven nor seen ",
                                            "dissipators by effect   ", "by causal paths         " };
        bool any = false;

        for (size_t i = 0; i < n; i++) {
            bool in = kind == 0   ? !felt->stays[i]
                      : kind == 1 ? felt->stays[i] && !left->stays[i]
                      : kind == 2 ? i >= nz && felt->stays[i]
                                  : i >= nz && felt->by_path[i - nz];

            if (in) {
                strbuf_printf(notes, any ? ", %s" : "\n  %s%s", any ? name_of(l, i) : head[kind], name_of(l, i));
                any = true;
            }
        }
    }
    strbuf_puts(notes, "\n");
}

static bool
any_stays(const struct chosen *c)
{
    for (size_t i = 0; i < c->nz; i++)
        if (c->stays[i])
            return true;
    return false;
}

bool
reduce_to_modes(const char *path, const char *text, size_t length, const compile_options *o, const linearization *l,
                const mode_choice *keep, reduction *r, strbuf *notes, char **why)
{
    size_t n = l->structure.nz + l->structure.nl;
    struct chosen felt = { l->structure.nz, l->structure.nl, bg_calloc(n + 1, sizeof(bool)),
                           bg_calloc(n + 1, sizeof(bool)), bg_calloc(n + 1, sizeof(double)) };
    struct chosen left = felt;
    compilation c = { 0 }, again = { 0 };
    linearization small = { 0 }, corrected = { 0 };
    strbuf now = { 0 }, done = { 0 };
    edits gain = { 0 };
    bool fine;

    *why = NULL;
    *r = (reduction){ .arena = arena_new(), .model = model_flat(l->model)->name, .kept_share = NAN };
    left.stays = bg_calloc(n + 1, sizeof(bool));
    fine = l->E_IC_relative != NULL;
    if (!fine)
        *why = bg_format("the effects of single elements are not known: %s",
                         l->structure.why ? l->structure.why : "the point moves");
    if (fine) {
        measure_effects(l, keep, &felt);
        memcpy(left.stays, felt.stays, n * sizeof(bool));
        drop_subsystems(l, &left);
        note_choice(l, keep, &felt, &left, notes);
        fine = any_stays(&left);
        if (!fine)
            *why = bg_strdup("nothing that these eigenvalues feel is both driven by an input and seen by an output");
        fine = fine && take_out(path, text, length, o, l, &left, r, &now, why);
    }
    fine = fine && linear_of(path, now.at, now.n, o, &c, &small, why);
    if (fine) {
        gain_edits(&c, l, &small, &gain, notes);
        fine = edits_seal(&gain, now.n, why);
    }
    if (fine && gain.list.n) {
        edits_apply(&gain, now.at, now.n, &done);
        vec_push(&r->rounds, gain);
        gain = (edits){ 0 };
    } else if (fine) {
        strbuf_puts(&done, now.at);
    }
    fine = fine && linear_of(path, done.at, done.n, o, &again, &corrected, why);
    if (fine) {
        if (r->rounds.n) {
            compare_steps(l, &corrected, r, notes);
            note_yardstick(l, &corrected, notes);
        }
        r->states_before = l->space.n;
        r->states_after = corrected.space.n;
        r->elements_before = model_nelements(l->model);
        r->elements_after = model_nelements(again.model);
        r->text = done.at;
        r->length = done.n;
        done = (strbuf){ 0 };
    }
    edits_free(&gain);
    strbuf_free(&now);
    strbuf_free(&done);
    linearization_free(&small);
    linearization_free(&corrected);
    compile_free(&c);
    compile_free(&again);
    free(felt.stays);
    free(felt.by_path);
    free(felt.effect);
    free(left.stays);
    return fine;
}
