/* test_random.c - random bond graphs through the whole compiler, against an evaluation that shares nothing with it
 *
 * usage    test_random [-v] [first seed [how many [junctions]]]
 * checks   a model compiles exactly where the pencil of all its equations is regular, and has as many states as the
 *          pencil's order; rates, powers and outputs at random points agree with the reference; powers sum to zero; the
 *          Jacobian, its algebraic variables eliminated, agrees with differences of the rates; a second compilation
 *          gives the same bits (where equations have several solutions, with one of them)
 * allows   a few right models beyond the order of derivatives (0.2 %), and points left out (5 %) where Newton's method
 *          or the frozen conditions find nothing
 * prints   seed, text and what differs for each failure; exit status 1 if there was one
 */
#include "reference.h"
#include "compile.h"
#include "compiled.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 3, MAX_SHOWN = 8 };

typedef struct tally {
    size_t graphs, singular, deep, compiled, dependent, junction_states, with_blocks, with_modes, points, unsure,
        several, failures;
    double worst_rate, worst_power, worst_output, worst_jacobian, worst_sum;
} tally;

static bool verbose;

static void
failure(tally *t, const rgraph *g, const sources *s, const char *what)
{
    if (t->failures++ >= MAX_SHOWN)
        return;
    printf("seed %llu: %s\n%s", (unsigned long long)g->seed, what, g->text.at);
    if (s)
        diag_print(s, stdout, false, DIAG_ERRORS);
    puts("");
}

static bool
is_singularity(const char *code)
{
    return !strncmp(code, "causality-", 10) && strcmp(code, "causality-derivative") != 0;
}
/* Every error says that the equations are singular by structure. */
static bool
only_singular(const sources *s)
{
    for (size_t i = 0; i < diag_count(s); i++) {
        const diagnostic *d = diag_at(s, i);
        if (d->severity == SEV_ERROR && !is_singularity(d->code))
            return false;
    }
    return true;
}

static bool
only_deep(const sources *s)
{
    for (size_t i = 0; i < diag_count(s); i++)
        if (diag_at(s, i)->severity == SEV_ERROR && strcmp(diag_at(s, i)->code, "derivative-order") != 0)
            return false;
    return true;
}

/* The generator's variable for each state; false if one cannot be told. */
static bool
find_states(const rgraph *g, const bg_model *m, uint32_t *state)
{
    const flat_model *f = model_flat(m);
    for (size_t i = 0; i < model_nstates(m); i++) {
        struct model_state s = model_state(m, i);
        state[i] = rg_find(g, s.name);
        const flat_var *v = &f->var.at[s.var];
        if (state[i] == UINT32_MAX &&
            v->kind == VAR_COMMON) { /* of a junction without a name: told by an element on it */
            for (size_t p = 0; p < f->port.n && state[i] == UINT32_MAX; p++) {
                if (f->port.at[p].junction != v->owner)
                    continue;
                const flat_element *el = &f->element.at[f->port.at[p].element];
                for (size_t k = 0; k < g->element.n; k++)
                    if (!strcmp(g->element.at[k].name, el->name))
                        state[i] = f->junction.at[v->owner].type ? g->element.at[k].port[p - el->port0].f
                                                                 : g->element.at[k].port[p - el->port0].e;
            }
        }
        if (state[i] == UINT32_MAX)
            return false;
    }
    return true;
}

/* What mode k would be at its condition's value g. */
static double
mode_at(bg_model *m, size_t k, double g)
{
    struct model_mode md = model_mode(m, k);
    switch (md.kind) {
    case MODE_LESS: return g < 0;
    case MODE_LESS_EQUAL: return g <= 0;
    case MODE_EQUAL: return g == 0;
    default: return ex_table_piece(md.table, g);
    }
}
/* Frozen conditions as they are at (t, x). A run comes here along a path; a random point may be far from where the
 * modes last were, and with those a block need not have a solution: then all combinations are tried, as long as they
 * are few. */
static bool
settle_modes(bg_model *m, double t, const double *x)
{
    size_t n = model_nmodes(m);
    if (!n)
        return true;
    double *g = bg_calloc(n, sizeof *g), *mode = model_modes(m);
    bool settled = false;
    for (uint32_t attempt = 0; attempt < (n < 10 ? 1u << n : 1024u) && !settled; attempt++) {
        if (attempt)
            for (size_t k = 0; k < n; k++)
                mode[k] = k < 10 ? (attempt >> k) & 1 : 0;
        for (int round = 0; round < 20 && !settled && model_conditions(m, t, x, g) == 0; round++) {
            settled = true;
            for (size_t k = 0; k < n; k++) {
                double v = mode_at(m, k, g[k]);
                if (v != mode[k])
                    settled = false;
                mode[k] = v;
            }
        }
    }
    free(g);
    return settled;
}

/* The reference's powers in the flat model's order of elements, which is that of the text; by their names. */
static bool
order_powers(const rgraph *g, const flat_model *f, const double *power, double *ordered)
{
    for (size_t i = 0; i < f->element.n; i++) {
        size_t k = 0;
        while (k < g->element.n && strcmp(g->element.at[k].name, f->element.at[i].name) != 0)
            k++;
        if (k == g->element.n)
            return false;
        ordered[i] = power[k];
    }
    return f->element.n == g->element.n;
}

/* What the model has in its stores, dependent ones too, by the generator's variables. */
static bool
stored_values(bg_model *m, const rgraph *g, double t, const double *x, double *start)
{
    const flat_model *f = model_flat(m);
    size_t n = model_nbond_values(m), at = f->port.n + f->bond.n;
    double *value = bg_calloc(n + 1, sizeof *value);
    bool ok = model_bond_values(m, t, x, value) == 0;
    for (size_t p = 0; p < f->port.n && ok; p++) {
        const flat_element *e = &f->element.at[f->port.at[p].element];
        if (e->type != EL_C && e->type != EL_I)
            continue;
        uint32_t v = rg_find(g, var_name(f, f->port.at[p].stored));
        if (v != UINT32_MAX && at < n)
            start[v] = value[at];
        at += 2;
    }
    free(value);
    return ok;
}

static double
differ(const double *a, const double *b, size_t n, double scale)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double d = fabs(a[i] - b[i]) / (fabs(b[i]) + scale + 1e-300);
        if (!(d <= worst))
            worst = isnan(d) ? HUGE_VAL : d;
    }
    return worst;
}

/* [f_x f_z; g_x g_z] with z eliminated, column by column into j. */
static bool
reduced_jacobian(bg_model *m, double t, const double *x, double *j)
{
    struct model_pattern p = model_jacobian_pattern(m);
    size_t nx = p.nx, nz = p.n - p.nx;
    double *value = bg_calloc(p.nonzeros + 1, sizeof *value), *gz = bg_calloc(nz * nz + 1, sizeof *gz),
           *gx = bg_calloc(nz * nx + 1, sizeof *gx), *fz = bg_calloc(nx * nz + 1, sizeof *fz);
    bool ok = model_jacobian(m, t, x, value) == 0;
    memset(j, 0, nx * nx * sizeof *j);
    for (size_t c = 0; c < p.n; c++)
        for (int64_t k = p.column[c]; k < p.column[c + 1]; k++) {
            size_t r = (size_t)p.row[k];
            if (r < nx && c < nx)
                j[r + c * nx] += value[k];
            else if (r < nx)
                fz[r + (c - nx) * nx] += value[k];
            else if (c < nx)
                gx[(r - nx) + c * nz] += value[k];
            else
                gz[(r - nx) + (c - nx) * nz] += value[k];
        }
    if (ok && nz && nx) {
        lapack_int *pivot = bg_calloc(nz, sizeof *pivot);
        ok = LAPACKE_dgesv(LAPACK_COL_MAJOR, (lapack_int)nz, (lapack_int)nx, gz, (lapack_int)nz, pivot, gx,
                           (lapack_int)nz) == 0;
        free(pivot);
        for (size_t c = 0; c < nx && ok; c++)
            for (size_t k = 0; k < nz; k++)
                for (size_t r = 0; r < nx; r++)
                    j[r + c * nx] -= fz[r + k * nx] * gx[k + c * nz];
    }
    free(value);
    free(gz);
    free(gx);
    free(fz);
    return ok;
}
/* Five-point differences of the rates; modes stay frozen, so that nothing has a corner. */
static bool
difference_jacobian(bg_model *m, double t, const double *x0, double h, double *j)
{
    static const double step[] = { -2, -1, 1, 2 }, weight[] = { 1 / 12.0, -8 / 12.0, 8 / 12.0, -1 / 12.0 };
    size_t n = model_nstates(m);
    double *x = bg_calloc(n + 1, sizeof *x), *f = bg_calloc(n + 1, sizeof *f);
    bool ok = true;
    memcpy(x, x0, n * sizeof *x);
    memset(j, 0, n * n * sizeof *j);
    for (size_t c = 0; c < n && ok; c++) {
        for (int k = 0; k < 4 && ok; k++) {
            x[c] = x0[c] + step[k] * h;
            ok = model_rhs(m, t, x, f) == 0;
            for (size_t r = 0; r < n; r++)
                j[r + c * n] += weight[k] * f[r] / h;
        }
        x[c] = x0[c];
    }
    free(x);
    free(f);
    return ok;
}

static void
check_point(tally *tl, const rgraph *g, compilation *c, compilation *again, const uint32_t *state, double t,
            const double *x)
{
    bg_model *m = c->model;
    size_t n = model_nstates(m), ne = model_nelements(m), no = model_noutputs(m);
    double *dx = bg_calloc(n + 1, sizeof *dx), *power = bg_calloc(ne + 1, sizeof *power),
           *y = bg_calloc(no + 1, sizeof *y);
    double *expected = bg_calloc(ne + 1, sizeof *expected), *dx2 = bg_calloc(n + 1, sizeof *dx2),
           *j = bg_calloc(n * n + 1, sizeof *j), *fd = bg_calloc(n * n + 1, sizeof *fd);
    double *start = bg_calloc(g->var.n + 1, sizeof *start);
    reference ref = { 0 };
    char what[256] = "";
    enum reference_outcome o = reference_at(g, t, state, x, n, NULL, &ref);
    if (o != REFERENCE_FINE) {
        if (o == REFERENCE_UNDETERMINED)
            snprintf(what, sizeof what, "the states do not determine the model");
        else
            tl->unsure++;
        goto done;
    }
    if (!settle_modes(m, t, x)) {
        tl->unsure++;
        goto done;
    }
    if (model_rhs(m, t, x, dx) || model_powers(m, t, x, power) || model_outputs(m, t, x, y)) {
        char *text = NULL;
        model_explain(m, t, x, &text);
        /* far from where the block was solved last the iteration may find nothing; a run comes here in small steps */
        if (text && model_has_blocks(m) && strstr(text, "no solution that the iteration finds"))
            tl->unsure++;
        else
            snprintf(what, sizeof what, "the rates have no value: %s", text ? text : "");
        free(text);
        goto done;
    }
    if (!order_powers(g, model_flat(m), ref.power, expected)) {
        snprintf(what, sizeof what, "the flat model has other elements");
        goto done;
    }
    double scale = ref.scale;
    for (size_t i = 0; i < n; i++)
        scale = fmax(scale, fabs(ref.rate[i]));
    double tolerance = 1e-10 * fmax(1, ref.condition * 1e-5);
    double dr = differ(dx, ref.rate, n, scale), dp = differ(power, expected, ne, scale * scale),
           dy = no == g->output.n ? differ(y, ref.output, no, scale * scale + scale) : HUGE_VAL;
    double sum = 0;
    for (size_t i = 0; i < ne; i++)
        sum += power[i];
    sum = fabs(sum) / (scale * scale + 1e-300);
    if (!(dr <= tolerance) && stored_values(m, g, t, x, start)) { /* another solution of the same equations will do */
        reference other = { 0 };
        if (reference_at(g, t, state, x, n, start, &other) == REFERENCE_FINE &&
            differ(dx, other.rate, n, scale) <= tolerance && order_powers(g, model_flat(m), other.power, expected)) {
            reference swap = ref;
            ref = other;
            other = swap;
            dr = differ(dx, ref.rate, n, scale);
            dp = differ(power, expected, ne, scale * scale);
            dy = differ(y, ref.output, no, scale * scale + scale);
            tl->several++;
        }
        reference_free(&other);
    }
    tl->worst_rate = fmax(tl->worst_rate, dr);
    tl->worst_power = fmax(tl->worst_power, dp);
    tl->worst_output = fmax(tl->worst_output, dy);
    tl->worst_sum = fmax(tl->worst_sum, sum);
    if (!(dr <= tolerance)) {
        size_t at = 0;
        for (size_t i = 1; i < n; i++)
            if (!(fabs(dx[i] - ref.rate[i]) <= fabs(dx[at] - ref.rate[at])))
                at = i;
        snprintf(
            what, sizeof what,
            "rates differ by %.3g: %s' is %.12g, reference %.12g (scale %.3g, condition %.3g, differentiated %u times)",
            dr, model_state(m, at).name, dx[at], ref.rate[at], scale, ref.condition, ref.derivatives);
    } else if (!(dp <= tolerance)) {
        size_t at = 0;
        for (size_t i = 1; i < ne; i++)
            if (!(fabs(power[i] - expected[i]) <= fabs(power[at] - expected[at])))
                at = i;
        snprintf(what, sizeof what, "powers differ by %.3g: %s takes %.12g, reference %.12g", dp,
                 model_flat(m)->element.at[at].name, power[at], expected[at]);
    } else if (!(dy <= tolerance))
        snprintf(what, sizeof what, "outputs differ by %.3g", dy);
    else if (!(sum <= 1e-9))
        snprintf(what, sizeof what, "the powers sum to %.3g of scale", sum);
    if (what[0])
        goto done;
    if (again) {
        double *modes = model_modes(again->model);
        if (model_nmodes(m))
            memcpy(modes, model_modes(m), model_nmodes(m) * sizeof *modes);
        /* powers and outputs above may have moved a block's start: the first model is asked again too */
        if (model_rhs(m, t, x, dx) || model_rhs(again->model, t, x, dx2) || memcmp(dx, dx2, n * sizeof *dx))
            snprintf(what, sizeof what, "a second compilation gives other rates");
    }
    if (!what[0] && n) {
        /* differences along one solution: iterations start from that at (t, x), in the second compilation's later
         * points too */
        model_accept(m, t, x);
        if (again)
            model_accept(again->model, t, x);
        if (!reduced_jacobian(m, t, x, j))
            snprintf(what, sizeof what, "the Jacobian has no value");
        double d = HUGE_VAL;
        for (double h = 1e-3; h > 1e-6 && d > 1e-6 && !what[0]; h /= 10) { /* shorter where a law bends sharply */
            if (!difference_jacobian(m, t, x, h, fd)) {
                d = 0;
                break;
            }
            double big = 1;
            for (size_t k = 0; k < n * n; k++)
                big = fmax(big, fabs(fd[k]));
            d = fmin(d, differ(j, fd, n * n, fmax(big, scale)));
        }
        if (!what[0])
            tl->worst_jacobian = fmax(tl->worst_jacobian, d);
        if (!what[0] && !(d <= 1e-6)) {
            size_t at = 0;
            for (size_t k = 1; k < n * n; k++)
                if (!(fabs(j[k] - fd[k]) <= fabs(j[at] - fd[at])))
                    at = k;
            snprintf(what, sizeof what, "Jacobian differs by %.3g: d %s'/d %s is %.10g, differences say %.10g", d,
                     model_state(m, at % n).name, model_state(m, at / n).name, j[at], fd[at]);
        }
    }
done:
    tl->points++;
    if (what[0])
        failure(tl, g, c->sources, what);
    free(dx);
    free(power);
    free(expected);
    free(y);
    free(dx2);
    free(j);
    free(fd);
    free(start);
    reference_free(&ref);
}

static void
check_graph(tally *t, uint64_t seed, uint32_t size)
{
    rgraph *g = rg_generate(seed, size);
    compilation c = { 0 }, again = { 0 };
    size_t order = 0;
    bool regular = reference_order(g, &order),
         compiled = compile_text(&c, "random.bg", g->text.at, g->text.n, STAGE_MODEL, NULL);
    char what[256];
    t->graphs++;
    if (!compiled) {
        if (diag_errors(c.sources) == 0)
            failure(t, g, c.sources, "refused without an error");
        else if (regular && only_deep(c.sources))
            t->deep++;
        else if (!only_singular(c.sources))
            failure(t, g, c.sources, "refused, though the model is a right one");
        else if (regular)
            failure(t, g, c.sources, "refused as singular; its pencil is regular");
        else
            t->singular++;
    } else if (!regular) {
        failure(t, g, c.sources, "compiled, though the pencil of its equations is singular");
    } else {
        size_t n = model_nstates(c.model);
        uint32_t *state = bg_calloc(n + 1, sizeof *state);
        double *x = bg_calloc(n + 1, sizeof *x);
        uint64_t rng = seed ^ 0x5851F42D4C957F2Du;
        t->compiled++;
        t->dependent += order < g->var.n - g->nalgebraic;
        t->with_blocks += model_has_blocks(c.model);
        t->with_modes += model_nmodes(c.model) > 0;
        bool twice = seed % 4 == 0 && compile_text(&again, "random.bg", g->text.at, g->text.n, STAGE_MODEL, NULL);
        if (n != order) {
            snprintf(what, sizeof what, "%zu states, but the pencil is of order %zu", n, order);
            failure(t, g, c.sources, what);
        } else if (!find_states(g, c.model, state)) {
            failure(t, g, c.sources, "a state is none of the model's variables");
        } else {
            size_t before = t->failures;
            for (size_t i = 0; i < n; i++)
                t->junction_states += state[i] < g->nalgebraic;
            for (int k = 0; k < POINTS && t->failures == before; k++) {
                for (size_t i = 0; i < n; i++)
                    x[i] = rg_uniform(&rng, -1, 1);
                check_point(t, g, &c, twice ? &again : NULL, state, rg_uniform(&rng, 0, 3), x);
            }
        }
        free(state);
        free(x);
    }
    compile_free(&c);
    compile_free(&again);
    rg_free(g);
}

int
main(int argc, char **argv)
{
    int k = 1;
    if (k < argc && !strcmp(argv[k], "-v")) {
        verbose = true;
        k++;
    }
    uint64_t first = k < argc ? strtoull(argv[k++], NULL, 10) : 1,
             count = k < argc ? strtoull(argv[k++], NULL, 10) : 1000;
    uint32_t size = k < argc ? (uint32_t)strtoul(argv[k], NULL, 10) : 0;
    tally t = { 0 };
    for (uint64_t s = first; s < first + count; s++) {
        size_t before = t.failures;
        check_graph(&t, s, size);
        if (verbose && t.failures > before)
            printf("failed: %llu\n", (unsigned long long)s);
    }
    printf("%zu graphs: %zu compiled (%zu with dependent storage, %zu junction states, %zu with nonlinear blocks, %zu "
           "with modes), %zu singular, %zu refused for the order of their derivatives; "
           "%zu points, %zu left out, %zu at another solution\n",
           t.graphs, t.compiled, t.dependent, t.junction_states, t.with_blocks, t.with_modes, t.singular, t.deep,
           t.points, t.unsure, t.several);
    printf("greatest differences: rates %.2g, powers %.2g, outputs %.2g, sum of powers %.2g, Jacobian %.2g\n",
           t.worst_rate, t.worst_power, t.worst_output, t.worst_sum, t.worst_jacobian);
    if (t.points && t.unsure * 20 > t.points + 40) {
        printf("too many points left out\n");
        return 1;
    }
    if (t.deep * 500 > t.graphs + 500) {
        printf("too many refused for the order of their derivatives\n");
        return 1;
    }
    if (t.failures)
        printf("%zu failures\n", t.failures);
    return t.failures != 0;
}
