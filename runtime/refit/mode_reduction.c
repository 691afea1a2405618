/* mode_reduction.c - see mode_reduction.h */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "first_solution.h"
#include "gramians.h"
#include "joined.h"
#include "mode_reduction.h"
#include "output_lines.h"
#include "response.h"
#include "simulate.h"
#include "transfer.h"
#include "version.h"
#include "yardstick.h"
#include "compiled.h"

#define EQUAL 1e-12    /* relative to the greatest eigenvalue: equal, or zero, except for rounding */
#define NOTHING 1e-7   /* relative to the greatest effect: no effect */
#define AT_REST 1e-3   /* relative to the greatest value of a step response: it returns to zero */
#define READ_SHARE 0.1 /* relative to the greatest effect of an element that is read: the eigenvalue belongs to it */
enum { YARDSTICK_MOST = 300 };

/* ---------------------------------------------------------------- choice of eigenvalues */

static void
with_conjugates(const linearization *l, mode_choice *c)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->n && c->keep[i]; k++)
            if (cabs(l->modes.eigenvalue[k] - conj(l->modes.eigenvalue[i])) <= EQUAL * l->modes.size)
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

/* Contribution of each mode to the transfer from any input to any output: |residue/Re|, relative to the greatest of
 * that pair. */
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
                         fmax(fabs(creal(l->modes.eigenvalue[i])), EQUAL * l->modes.size);
                most = fmax(most, l->modes.eigenvalue[i] == 0 ? 0 : one[i]);
            }
            for (size_t i = 0; i < n && most > 0; i++)
                all[i] = fmax(all[i], one[i] / most);
        }
    free(one);
    return all;
}

/* The `count` eigenvalues of greatest rank, without zero ones. */
static void
keep_greatest(const linearization *l, const double *rank, int count, mode_choice *out)
{
    for (int k = 0; k < count; k++) {
        size_t best = NO_INDEX;

        for (size_t i = 0; i < l->modes.count; i++)
            if (!out->keep[i] && l->modes.eigenvalue[i] != 0 && (best == NO_INDEX || rank[i] > rank[best]))
                best = i;
        if (best != NO_INDEX)
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
    /* strtod reads the first of the two dots as part of the number */
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

/* ---------------------------------------------------------------- choice of elements */

/* Storage, then dissipators, by their number in the structure. */
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
    /* step 4 of the paper, literally: its input is a combination of outputs of remaining storage */
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

/* The rest falls into subsystems: drops those without an input or without an output. */
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
element_name(const linearization *l, size_t i)
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

/* Errors of the small model's step and frequency responses from one input to one output. */
struct pair_error {
    double most, rms, response;
    double end, size; /* of the full step response: its final and its greatest value */
};

/* The greatest errors of frequency responses, around the slowest eigenvalue. there [nu]: the inputs' numbers in the
 * small model; NO_INDEX: it lacks the input. */
static void
response_errors(const state_space *full, const state_space *small, const size_t *there, double slow,
                struct pair_error *e)
{
    responder *one = responder_new(full), *other = responder_new(small);
    double complex *G = bg_calloc(full->ny * full->nu + 1, sizeof *G),
                   *H = bg_calloc(small->ny * small->nu + 1, sizeof *H);

    for (int k = 0; k < FREQUENCY_POINTS && one && other; k++) {
        double omega = slow *
                       pow(10, -FREQUENCY_DECADES / 2.0 + (double)FREQUENCY_DECADES * k / (FREQUENCY_POINTS - 1));

        if (!response_at(one, omega, G) || !response_at(other, omega, H))
            continue;
        for (size_t u = 0; u < full->nu; u++)
            for (size_t y = 0; y < full->ny && there[u] != NO_INDEX; y++) {
                double *worst = &e[y + full->ny * u].response;

                *worst = fmax(*worst, cabs(G[y + full->ny * u] - H[y + small->ny * there[u]]));
            }
    }
    responder_free(one);
    responder_free(other);
    free(G);
    free(H);
}

/* [output + ny*input]; NAN for inputs that the small model lacks. */
static struct pair_error *
pair_errors(const state_space *full, const state_space *small, const size_t *there, double h, double slow)
{
    size_t ny = full->ny;
    struct pair_error *e = bg_calloc(ny * full->nu + 1, sizeof *e);
    double *a = bg_calloc(STEP_POINTS * ny + 1, sizeof *a), *b = bg_calloc(STEP_POINTS * ny + 1, sizeof *b);

    response_errors(full, small, there, slow, e);
    for (size_t u = 0; u < full->nu; u++) {
        bool known = there[u] != NO_INDEX && time_response(full, u, false, h, STEP_POINTS, a) &&
                     time_response(small, there[u], false, h, STEP_POINTS, b);

        for (size_t y = 0; y < ny; y++) {
            struct pair_error *x = &e[y + ny * u];

            for (size_t k = 0; k < STEP_POINTS; k++) {
                double d = fabs(a[k * ny + y] - b[k * ny + y]);

                x->size = fmax(x->size, fabs(a[k * ny + y]));
                x->most = fmax(x->most, d);
                x->rms += d * d / STEP_POINTS;
            }
            x->rms = sqrt(x->rms);
            x->end = fabs(a[(STEP_POINTS - 1) * ny + y]);
            if (!known)
                x->most = x->rms = NAN;
        }
    }
    free(a);
    free(b);
    return e;
}

static void
note_pair(const char *input, const output_line *line, const struct pair_error *now, const struct pair_error *was,
          strbuf *notes)
{
    bool ends = now->end > AT_REST * now->size; /* otherwise it returns to zero */
    double share = (ends ? now->end : now->size) / 100;

    strbuf_printf(notes,
                  "  a step of %s: %s is at most %.3g %% of its %s value off; in the frequency response at most "
                  "%.3g %%\n",
                  input, line->output, now->most / share, ends ? "end" : "greatest", now->response / share);
    if (line->direct_any)
        strbuf_printf(notes, "    with only the static gains corrected it would be %.3g %% and %.3g %%\n",
                      was->most / share, was->response / share);
}

/* before: the small model with corrected static gains only; lines: the changes of the outputs. */
static void
compare_steps(const linearization *full, const linearization *small, const state_space *before,
              const output_lines *lines, reduction *r, strbuf *notes)
{
    size_t ny = full->space.ny, nu = full->space.nu, *there = bg_calloc(nu + 1, sizeof *there);
    double slow, h = step_interval(full, &slow);
    struct pair_error *now = NULL, *was = NULL;

    for (size_t u = 0; u < nu; u++)
        there[u] = same_input(small, full, u);
    if (h > 0 && small->space.ny == ny) {
        now = pair_errors(&full->space, &small->space, there, h, slow);
        was = pair_errors(&full->space, before, there, h, slow);
    }
    for (size_t u = 0; u < nu && now; u++)
        for (size_t y = 0; y < ny; y++) {
            const output_line *line = &lines->line.at[y];
            const char *input = full->input.at[u].name;
            const struct pair_error *n = &now[y + ny * u], *w = line->direct_any ? &was[y + ny * u] : n;

            if (isnan(n->most))
                continue;
            vec_push(&r->error, ((reduce_error){ .experiment = arena_format(r->arena, "step of %s", input),
                                                 .output = arena_strdup(r->arena, line->output),
                                                 .shown = 1,
                                                 .max = n->most,
                                                 .rms = n->rms,
                                                 .avasim = NAN,
                                                 .within = NAN }));
            vec_push(&r->line, ((reduce_line){ .output = arena_strdup(r->arena, line->output),
                                               .input = arena_strdup(r->arena, input),
                                               .factor = line->factor,
                                               .direct = line->direct[u],
                                               .end = n->end,
                                               .step = n->most,
                                               .response = n->response,
                                               .step_before = w->most,
                                               .response_before = w->response }));
            if (n->size > 0)
                note_pair(input, line, n, w, notes);
        }
    free(there);
    free(now);
    free(was);
}

bool
reduction_point(bg_model *m, double *t, double *x)
{
    sim_options o = { 0 };
    bool fine = !model_flat(m)->experiment.name || sim_options_from_experiment(m, &o);

    *t = o.start;
    fine = fine && first_point(m, o.start, o.equilibrium, x);
    sim_options_free(&o);
    return fine;
}

/* Notes the error of balanced truncation to as many states. */
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
linearize_text(const char *path, const char *text, size_t length, const compile_options *o, compilation *c,
               linearization *l, char **why)
{
    compile_options open = *o;
    double *x, t;
    bool fine;

    open.open = true;
    if (!compile_text(c, path, text, length, STAGE_MODEL, &open)) {
        *why = bg_format("the reduced text does not compile: %s", diag_first_error(c->sources));
        return false;
    }
    x = bg_calloc(model_nstates(c->model) + 1, sizeof *x);
    fine = reduction_point(c->model, &t, x) && linearize_at(c->model, t, x, l);
    if (!fine)
        *why = bg_format("the reduced text has no linear model: %s", l->why ? l->why
                                                                     : diag_first_error(c->sources)
                                                                         ? diag_first_error(c->sources)
                                                                         : "no such point");
    free(x);
    return fine;
}

/* Are all elements on which source k acts removed? */
static bool
source_goes(const linearization *l, const struct chosen *c, size_t k)
{
    const structure *s = &l->structure;
    bool any = false, all = true;

    for (size_t j = 0; j < c->nz + c->nl; j++) {
        double acts = j < c->nz ? s->matrix[M_J_SU].value[s->storage_state[j] + s->n * k]
                                : s->matrix[M_J_LU].value[j - c->nz + s->nl * k];

        any = any || acts != 0;
        all = all && (acts == 0 || !c->stays[j]);
    }
    return any && all;
}

/* An element that no chosen eigenvalue depends on may have to stay because something reads it. Then the eigenvalues
 * that it affects most are kept too: alone it would behave as in neither model. True: there are more eigenvalues to
 * keep. */
static bool
keep_what_is_read(const linearization *l, const struct chosen *c, const rewrite *plan, mode_choice *keep, strbuf *notes)
{
    bool more = false;

    for (size_t j = 0; j < c->nz + c->nl; j++) {
        const double *E = j < c->nz ? l->E_IC_relative + keep->n * j : l->E_R_relative + keep->n * (j - c->nz);
        double most = 0;
        bool blocked = false, new = false;

        for (size_t k = 0; k < plan->blocked.n && !c->stays[j]; k++)
            blocked = blocked || !strcmp(plan->blocked.at[k].element, element_name(l, j));
        for (size_t i = 0; i < keep->n; i++)
            most = fmax(most, E[i]);
        for (size_t i = 0; i < keep->n && blocked && most > 0; i++)
            if (!keep->keep[i] && E[i] > READ_SHARE * most)
                keep->keep[i] = new = more = true;
        if (new)
            strbuf_printf(notes, "  %s is read: the eigenvalues that it affects most are kept too\n",
                          element_name(l, j));
    }
    return more;
}

/* Takes the chosen elements out of the text. *again: more eigenvalues are to be kept; nothing was done. */
static bool
take_out_elements(const char *path, const char *text, size_t length, const compile_options *o, const linearization *l,
                  const struct chosen *c, mode_choice *keep, bool *again, reduction *r, strbuf *now, strbuf *notes,
                  char **why)
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
    for (size_t k = 0; k < l->structure.nu && fine; k++)
        if (source_goes(l, c, k))
            vec_push(&name,
                     plain.flat->element.at[model_flat(l->model)->opening.at[l->structure.source[k]].element].name);
    if (fine && name.n)
        fine = rewrite_plan(&(rewrite_request){ .f = plain.flat, .file = plain.ast, .name = name.at, .n = name.n },
                            &plan);
    if (!fine)
        *why = bg_strdup(plan.error ? plan.error : "the text does not compile without an experiment's values");
    *again = fine && keep_what_is_read(l, c, &plan, keep, notes);
    if (*again) {
        rewrite_free(&plan);
        vec_free(&name);
        compile_free(&plain);
        return true;
    }
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
        static const char *const head[] = { "no effect on them       ", "not driven, or not seen ",
                                            "dissipators by effect   ", "by causal paths         " };
        bool any = false;

        for (size_t i = 0; i < n; i++) {
            bool in = kind == 0   ? !felt->stays[i]
                      : kind == 1 ? felt->stays[i] && !left->stays[i]
                      : kind == 2 ? i >= nz && felt->stays[i]
                                  : i >= nz && felt->by_path[i - nz];

            if (in) {
                strbuf_printf(notes, any ? ", %s" : "\n  %s%s", any ? element_name(l, i) : head[kind],
                              element_name(l, i));
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
                mode_choice *keep, bool direct, reduction *r, strbuf *notes, char **why)
{
    size_t n = l->structure.nz + l->structure.nl;
    struct chosen felt = { l->structure.nz, l->structure.nl, bg_calloc(n + 1, sizeof(bool)),
                           bg_calloc(n + 1, sizeof(bool)), bg_calloc(n + 1, sizeof(double)) };
    struct chosen left = felt;
    compilation c = { 0 }, last = { 0 };
    linearization small = { 0 }, corrected = { 0 };
    strbuf now = { 0 }, done = { 0 };
    edits gain = { 0 };
    output_lines lines = { 0 };
    state_space before = { 0 };
    bool fine;

    *why = NULL;
    *r = (reduction){ .arena = arena_new(), .model = model_name(l->model), .kept_share = NAN };
    left.stays = bg_calloc(n + 1, sizeof(bool));
    fine = l->E_IC_relative && !l->switched;
    if (!fine)
        *why = l->switched ? bg_strdup("it has ideal switches: a part without effect in one mode may matter in "
                                       "another")
                           : bg_format("the effects of single elements are not known: %s",
                                       l->structure.why ? l->structure.why : "the point moves");
    for (bool again = true; fine && again;) {
        measure_effects(l, keep, &felt);
        memcpy(left.stays, felt.stays, n * sizeof(bool));
        drop_subsystems(l, &left);
        fine = any_stays(&left);
        if (!fine)
            *why = bg_strdup("no element that affects these eigenvalues is both driven by an input and read by an "
                             "output");
        fine = fine && take_out_elements(path, text, length, o, l, &left, keep, &again, r, &now, notes, why);
        if (fine && !again)
            note_choice(l, keep, &felt, &left, notes);
    }
    fine = fine && linearize_text(path, now.at, now.n, o, &c, &small, why);
    if (fine) {
        output_lines_correct(&c, l, &small, direct, &lines, &gain, notes);
        before = output_lines_gains_only(l, &small);
        fine = edits_seal(&gain, now.n, why);
    }
    if (fine && gain.list.n) {
        edits_apply(&gain, now.at, now.n, &done);
        vec_push(&r->rounds, gain);
        gain = (edits){ 0 };
    } else if (fine) {
        strbuf_puts(&done, now.at);
    }
    fine = fine && linearize_text(path, done.at, done.n, o, &last, &corrected, why);
    if (fine) {
        if (r->rounds.n) {
            compare_steps(l, &corrected, &before, &lines, r, notes);
            note_yardstick(l, &corrected, notes);
        }
        r->states_before = l->space.n;
        r->states_after = corrected.space.n;
        r->elements_before = model_nelements(l->model);
        r->elements_after = model_nelements(last.model);
        r->text = done.at;
        r->length = done.n;
        done = (strbuf){ 0 };
    }
    edits_free(&gain);
    output_lines_free(&lines);
    state_space_free(&before);
    strbuf_free(&now);
    strbuf_free(&done);
    linearization_free(&small);
    linearization_free(&corrected);
    compile_free(&c);
    compile_free(&last);
    free(felt.stays);
    free(felt.by_path);
    free(felt.effect);
    free(left.stays);
    return fine;
}
