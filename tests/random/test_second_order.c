/* test_second_order.c - mass, damping and stiffness matrices of random mechanical models, numbers and expressions
 *
 * `test_second_order [-t] FIRST COUNT`; -t prints the texts.
 *
 * models   bodies with a mass each, or two of them a field of inertia; motions that are sums of theirs through levers
 *          and of what sources give; on all of them masses (dependent ones), fields of them, springs, springs in series
 *          and behind levers, fields of springs, dampers, fields of dampers, gyrators between bodies, condensers behind
 *          gyrators, forces
 * source   T = v' M v/2 and the like summed up part by part, each by the row that gives its motion: M = sum a' m a,
 *          D = sum a' b a, K = sum a' k a, and what inputs do by the same rows; springs in series by their compliances
 * checks   the numbers, and the expressions evaluated at the point, to 1e-10 of each matrix' greatest entry
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "generate.h"
#include "linearize.h"
#include "second_order.h"

enum { BODIES = 6, MOTIONS = 8, INPUTS = 2, WIDE = BODIES + INPUTS };

#define WITHIN 1e-10

/* A velocity: the bodies' and the second input's, each times a number. */
struct motion {
    double of[BODIES], of_source;
};

struct mechanism {
    uint64_t rng;
    size_t n, nmotions, nparameters;
    struct motion motion[BODIES + MOTIONS];                                                     /* bodies first */
    double M[BODIES][BODIES], D[BODIES][BODIES], K[BODIES][BODIES], L[BODIES][3], N[BODIES][3]; /* F, w, der(w) */
    strbuf head, text;
};

static double
parameter(struct mechanism *g, double least, double most, const char *name)
{
    double x = rg_uniform(&g->rng, least, most);

    if (rg_below(&g->rng, 3) == 0)
        x = round(x * 4) / 4 + (least < 0 && fabs(x) < 0.2); /* ones and halves, equal ones among them */
    x = x == 0 ? 1 : x;
    strbuf_printf(&g->head, "    parameter %s = %.17g;\n", name, x);
    return x;
}

static const char *
next_name(struct mechanism *g, const char *kind, char to[16])
{
    snprintf(to, 16, "%s%zu", kind, ++g->nparameters);
    return to;
}

/* a' c b, into the matrices of a kind; what sources give, into columns of inputs. */
static void
add_pair(const struct mechanism *g, double A[BODIES][BODIES], double by_source[BODIES][3], int column,
         const struct motion *a, double c, const struct motion *b)
{
    for (size_t i = 0; i < g->n; i++) {
        for (size_t j = 0; j < g->n; j++)
            A[i][j] += a->of[i] * c * b->of[j];
        by_source[i][column] -= a->of[i] * c * b->of_source;
    }
}

static void
add_motion(struct mechanism *g)
{
    struct motion m = { { 0 }, 0 };
    size_t at = g->nmotions++, terms = 1 + rg_below(&g->rng, 3);
    char name[16];

    strbuf_printf(&g->text, "    0:s%zu;\n", at);
    for (size_t k = 0; k < terms; k++) {
        size_t body = rg_below(&g->rng, (uint32_t)g->n);
        double a;

        if (m.of[body] != 0)
            continue;
        a = parameter(g, -2, 2, next_name(g, "a", name));
        m.of[body] = a;
        strbuf_printf(&g->text, "    v%zu -> TF:t_%s = %s -> s%zu;\n", body, name, name, at);
    }
    if (rg_below(&g->rng, 4) == 0) {
        m.of_source = parameter(g, -2, 2, next_name(g, "c", name));
        strbuf_printf(&g->text, "    Sf:move%zu = %s*w -> s%zu;\n", at, name, at);
    }
    strbuf_printf(&g->text, "    s%zu -> 1:v%zu;\n", at, at);
    g->motion[at] = m;
}

static size_t
any_motion(struct mechanism *g)
{
    return rg_below(&g->rng, (uint32_t)g->nmotions);
}

/* A symmetric field of two ports on two motions, positive definite. kind: I, C or R. */
static void
add_field(struct mechanism *g, char kind, size_t p, size_t q)
{
    static const char *const law[] = { ['I'] = "x.p", ['C'] = "x.e", ['R'] = "x.e" },
                             *const by[] = { ['I'] = "x.f", ['C'] = "x.q", ['R'] = "x.f" };
    double a = rg_uniform(&g->rng, 1, 3), b = rg_uniform(&g->rng, 1, 3), c = rg_uniform(&g->rng, -0.9, 0.9);
    double m[2][2] = { { a, c }, { c, b } };
    const struct motion *at[2] = { &g->motion[p], &g->motion[q] };
    char name[16];

    next_name(g, "m", name);
    strbuf_printf(&g->head, "    parameter %s[2,2] = [%.17g, %.17g; %.17g, %.17g];\n", name, a, c, c, b);
    strbuf_printf(&g->text, "    %c:f_%s { port x[2]; %s = %s*%s; }\n    v%zu -> f_%s.x[1];\n    v%zu -> f_%s.x[2];\n",
                  kind, name, law[(int)kind], name, by[(int)kind], p, name, q, name);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            add_pair(g,
                     kind == 'I'   ? g->M
                     : kind == 'C' ? g->K
                                   : g->D,
                     kind == 'C' ? g->N : g->L, kind == 'I' ? 2 : 1, at[i], m[i][j], at[j]);
}

static void
add_series(struct mechanism *g)
{
    size_t p = any_motion(g), springs = 2 + rg_below(&g->rng, 2), at = ++g->nparameters;
    double compliance = 0;
    char name[16], lever[16];

    strbuf_printf(&g->text, "    v%zu -> 0:x%zu;\n", p, at);
    for (size_t k = 0; k < springs; k++) {
        double c = parameter(g, 0.1, 2, next_name(g, "c", name)), a = 1;

        if (k && rg_below(&g->rng, 2)) { /* a shorter arm: e2 = e/a, q2 = c e2, q = q2/a */
            a = parameter(g, 0.5, 3, next_name(g, "a", lever));
            strbuf_printf(&g->text, "    x%zu -> TF:t_%s = %s -> C:z_%s = %s;\n", at, lever, lever, name, name);
        } else {
            strbuf_printf(&g->text, "    x%zu -> C:z_%s = %s;\n", at, name, name);
        }
        compliance += c / (a * a);
    }
    add_pair(g, g->K, g->N, 1, &g->motion[p], 1 / compliance, &g->motion[p]);
}

static void
add_part(struct mechanism *g)
{
    size_t p = any_motion(g), q = any_motion(g);
    const struct motion *a = &g->motion[p];
    char name[16];
    double x;

    switch (rg_below(&g->rng, 9)) {
    case 0:
    case 1:
        if (p >= g->n || rg_below(&g->rng, 2)) {
            x = parameter(g, 0.2, 3, next_name(g, "m", name));
            strbuf_printf(&g->text, "    v%zu -> I:i_%s = %s;\n", p, name, name);
            add_pair(g, g->M, g->L, 2, a, x, a);
        }
        break;
    case 2:
        x = parameter(g, 0.2, 3, next_name(g, "k", name));
        strbuf_printf(&g->text, "    v%zu -> C:z_%s = 1/%s;\n", p, name, name);
        add_pair(g, g->K, g->N, 1, a, x, a);
        break;
    case 3:
        x = parameter(g, 0.2, 3, next_name(g, "b", name));
        strbuf_printf(&g->text, "    v%zu -> R:r_%s = %s;\n", p, name, name);
        add_pair(g, g->D, g->L, 1, a, x, a);
        break;
    case 4: add_series(g); break;
    case 5:
        if (p != q)
            add_field(g, "CR"[rg_below(&g->rng, 2)], p, q);
        break;
    case 6:
        if (p != q && p >= g->n && q >= g->n)
            add_field(g, 'I', p, q);
        break;
    case 7: /* e1 = r f2, e2 = r f1; and a condenser behind one, q = c e2: e1 = r dq/dt = r^2 c df1/dt */
        x = parameter(g, 0.2, 2, next_name(g, "g", name));
        if (p != q && p < g->n && q < g->n) {
            strbuf_printf(&g->text, "    v%zu -> GY:y_%s = %s -> v%zu;\n", p, name, name, q);
            g->D[p][q] += x;
            g->D[q][p] -= x;
        } else {
            char c[16];
            double y = parameter(g, 0.2, 2, next_name(g, "c", c));

            strbuf_printf(&g->text, "    v%zu -> GY:y_%s = %s -> C:z_%s = %s;\n", p, name, name, c, c);
            add_pair(g, g->M, g->L, 2, a, x * x * y, a);
        }
        break;
    default:
        x = parameter(g, -2, 2, next_name(g, "h", name));
        strbuf_printf(&g->text, "    Se:push_%s = %s*F -> v%zu;\n", name, name, p);
        for (size_t i = 0; i < g->n; i++)
            g->L[i][0] += a->of[i] * x;
    }
}

static void
generate(struct mechanism *g, uint64_t seed)
{
    size_t first = 0, motions, parts;
    char name[16];

    *g = (struct mechanism){ .rng = seed };
    g->nmotions = g->n = 1 + rg_below(&g->rng, BODIES);
    for (size_t i = 0; i < g->n; i++) {
        g->motion[i].of[i] = 1;
        strbuf_printf(&g->text, "    1:v%zu;\n", i);
    }
    for (; first + 1 < g->n && rg_below(&g->rng, 2); first += 2)
        add_field(g, 'I', first, first + 1);
    for (size_t i = first; i < g->n; i++) {
        double m = parameter(g, 0.2, 3, next_name(g, "m", name));

        strbuf_printf(&g->text, "    v%zu -> I:i_%s = %s;\n", i, name, name);
        g->M[i][i] += m;
    }
    motions = rg_below(&g->rng, MOTIONS + 1);
    for (size_t i = 0; i < motions; i++)
        add_motion(g);
    parts = 1 + rg_below(&g->rng, 12);
    for (size_t i = 0; i < parts; i++)
        add_part(g);
}

/* ---------------------------------------------------------------- compared */

struct tally {
    size_t models, compared, written, failures;
};

static void
failure(struct tally *t, uint64_t seed, const char *what)
{
    if (t->failures++ < 8)
        printf("model %llu: %s\n", (unsigned long long)seed, what);
}

/* Column of the matrix here that column k of bgc's is: inputs F, w and der(w). */
static int
column_of(const linearization *l, size_t k)
{
    const char *name = l->input.at[k].name;

    return !strcmp(name, "F") ? 0 : !strcmp(name, "w") ? 1 : 2;
}

/* want: of matrix b, at row i and column j. */
static double
wanted(const struct mechanism *g, const linearization *l, int b, size_t i, size_t j)
{
    return b == 0   ? g->M[i][j]
           : b == 1 ? g->D[i][j]
           : b == 2 ? g->K[i][j]
           : b == 3 ? g->L[i][column_of(l, j)]
                    : g->N[i][column_of(l, j)];
}

static void
compare(struct tally *t, uint64_t seed, const struct mechanism *g, const linearization *l, const second_order *s,
        const structure_block *written, const double *v)
{
    const double *const value[5] = { s->M, s->D, s->K, s->L, s->N };
    const flat_model *f = model_flat(l->model);

    for (int b = 0; b < 5; b++) {
        size_t columns = b < 3 ? s->n : s->nu;
        double most = 0, off = 0, off_written = 0;
        char text[120];

        for (size_t i = 0; i < s->n; i++)
            for (size_t j = 0; j < columns; j++) {
                double want = wanted(g, l, b, i, j);

                most = fmax(most, fabs(want));
                off = fmax(off, fabs(value[b][i + s->n * j] - want));
                if (written)
                    off_written = fmax(off_written, fabs(ex_eval(f->pool, written[b].text[i + s->n * j], v) - want));
            }
        most = b == 4 ? fmax(most, fabs(s->K[0])) : most;
        if (!(off <= WITHIN * fmax(most, 1) && off_written <= WITHIN * fmax(most, 1))) {
            snprintf(text, sizeof text, "%c: numbers off by %.2g, expressions by %.2g, of %.2g", "MDKLN"[b], off,
                     off_written, most);
            failure(t, seed, text);
        }
    }
}

static void
check(struct tally *t, uint64_t seed, bool print)
{
    struct mechanism g;
    compilation c = { 0 };
    linearization l = { 0 };
    strbuf text = { 0 };

    generate(&g, seed);
    strbuf_printf(&text, "model mechanism {\n%s    input F = 0.5;\n    input w = 0;\n%s}\n", g.head.at, g.text.at);
    if (print)
        fputs(text.at, stdout);
    t->models++;
    if (!compile_text(&c, "random.bg", text.at, text.n, STAGE_MODEL, &(compile_options){ .open = true })) {
        failure(t, seed, "is not compiled");
    } else {
        size_t n = model_nstates(c.model);
        double *x = calloc(n + 1, sizeof *x), *v = calloc(c.flat->var.n + 1, sizeof *v);
        structure_block written[5] = { 0 };
        second_order s = { .n = 0 };
        char *why = NULL;

        for (size_t i = 0; i < n; i++)
            x[i] = rg_uniform(&g.rng, -1, 1);
        if (!linearize_at(c.model, 0, x, &l) || !model_variables(c.model, 0, x, v)) {
            failure(t, seed, l.why ? l.why : "no variables");
        } else {
            second_order_make(&l, &s);
            if (s.why || s.n != g.n) {
                failure(t, seed, s.why ? s.why : "other coordinates than its bodies");
            } else {
                bool fine = second_order_write(&l, &s, written, &why);

                t->compared++;
                t->written += fine;
                if (!fine)
                    failure(t, seed, why);
                compare(t, seed, &g, &l, &s, fine ? written : NULL, v);
            }
        }
        for (int b = 0; b < 5; b++) {
            free(written[b].value);
            free(written[b].text);
        }
        second_order_free(&s);
        linearization_free(&l);
        free(why);
        free(x);
        free(v);
    }
    compile_free(&c);
    free(text.at);
    free(g.head.at);
    free(g.text.at);
}

int
main(int argc, char **argv)
{
    bool print = argc > 1 && !strcmp(argv[1], "-t");
    uint64_t first = argc > 1 + print ? strtoull(argv[1 + print], NULL, 10) : 1,
             count = argc > 2 + print ? strtoull(argv[2 + print], NULL, 10) : 100;
    struct tally t = { 0 };

    for (uint64_t k = 0; k < count; k++)
        check(&t, first + k, print);
    printf("%zu models: %zu compared, %zu of them as expressions; %zu failures\n", t.models, t.compared, t.written,
           t.failures);
    return t.failures > 0;
}
