/* test_second_order.c - mass, damping and stiffness matrices of random mechanical models, numbers and expressions
 *
 * `test_second_order [-t] FIRST COUNT`; -t prints the texts.
 *
 * source   the equations of motion in positions (mechanisms.h)
 * checks   the numbers, and the expressions evaluated at the point, to 1e-10 of each matrix' greatest entry; the
 *          expressions evaluated for the same model with other numbers, at another point, too: what is equal or zero
 *          by chance is not left out
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "linearize.h"
#include "mechanisms.h"
#include "second_order.h"
#include "compiled.h"

enum { BODIES = MECHANISM_BODIES };

#define WITHIN 1e-10

struct tally {
    size_t models, compared, moving, written, others, failures; /* others: not of the velocities of bodies */
};

static void
failure(struct tally *t, uint64_t seed, const char *what)
{
    if (t->failures++ < 8)
        printf("model %llu: %s\n", (unsigned long long)seed, what);
}

/* Column of the matrix there that column k of bgc's is: inputs F, w and der(w). */
static size_t
column_of(const linearization *l, size_t k)
{
    const char *name = l->input.at[k].name;

    return !strcmp(name, "F") ? 0 : !strcmp(name, "w") ? 1 : 2;
}

/* A model, its numbers, and its matrices from both sides. */
struct side {
    mechanism *g;
    char *text;
    compilation c;
    linearization l;
    second_order s;
    double *x, *v;
    size_t *body; /* of each coordinate, BODIES: none */
    double M[BODIES * BODIES], D[BODIES * BODIES], K[BODIES * BODIES], L[3 * BODIES], N[3 * BODIES];
};

/* The body whose velocity a coordinate is. */
static size_t
body_of(const struct side *m, size_t i)
{
    const flat_model *f = m->c.flat;
    const flat_var *v = &f->var.at[model_state(m->c.model, m->l.order[m->s.momentum[i]]).var];
    uint32_t junction = v->kind == VAR_STORED ? f->port.at[v->owner].junction : v->owner;
    size_t body = strtoul(f->junction.at[junction].name + 1, NULL, 10);

    return body < mechanism_bodies(m->g) ? body : BODIES;
}

static bool
make_side(struct side *m, uint64_t seed, uint64_t numbers, bool round, struct tally *t)
{
    m->g = mechanism_new(seed, numbers, round);
    m->text = mechanism_text(m->g);
    if (!compile_text(&m->c, "random.bg", m->text, strlen(m->text), STAGE_MODEL, &(compile_options){ .open = true })) {
        failure(t, seed, "is not compiled");
        return false;
    }
    m->x = calloc(model_nstates(m->c.model) + 1, sizeof(double));
    m->v = calloc(m->c.flat->var.n + 1, sizeof(double));
    for (size_t i = 0; i < model_nstates(m->c.model); i++)
        if (!mechanism_state(m->g, model_state(m->c.model, i).name, &m->x[i])) {
            t->others++; /* a condenser behind a gyrator is one */
            return false;
        }
    if (!linearize_at(m->c.model, 0, m->x, &m->l) || !model_variables(m->c.model, 0, m->x, m->v)) {
        failure(t, seed, m->l.why ? m->l.why : "no variables");
        return false;
    }
    mechanism_matrices(m->g, (double *const[]){ m->M, m->D, m->K, m->L, m->N });
    second_order_make(&m->l, &m->s);
    if (m->s.why) {
        failure(t, seed, m->s.why);
        return false;
    }
    m->body = calloc(m->s.n + 1, sizeof *m->body);
    for (size_t i = 0; i < m->s.n; i++)
        m->body[i] = body_of(m, i);
    return true;
}

static void
free_side(struct side *m)
{
    second_order_free(&m->s);
    linearization_free(&m->l);
    compile_free(&m->c);
    free(m->x);
    free(m->v);
    free(m->body);
    free(m->text);
    mechanism_free(m->g);
}

static bool
is_of_bodies(const struct side *m)
{
    bool fine = m->s.n == mechanism_bodies(m->g);

    for (size_t i = 0; i < m->l.input.n; i++) /* of a junction's effort that is a state and has the force in it */
        fine = fine && strcmp(m->l.input.at[i].name, "der(F)") != 0;

    for (size_t i = 0; i < m->s.n; i++)
        fine = fine && m->body[i] < BODIES;
    return fine;
}

/* Numbers, and expressions with the values of m. */
static void
compare(struct tally *t, uint64_t seed, const struct side *m, pool *p, const structure_block *written)
{
    const double *const value[5] = { m->s.M, m->s.D, m->s.K, m->s.L, m->s.N }, *const want[5] = { m->M, m->D, m->K,
                                                                                                  m->L, m->N };
    double most[5] = { 0 };

    for (int b = 0; b < 5; b++) {
        size_t columns = b < 3 ? m->s.n : m->s.nu;
        double off = 0, off_written = 0;
        char text[120];

        for (size_t i = 0; i < m->s.n; i++)
            for (size_t j = 0; j < columns; j++) {
                double x = want[b][m->body[i] + BODIES * (b < 3 ? m->body[j] : column_of(&m->l, j))];

                most[b] = fmax(most[b], fabs(x));
                off = fmax(off, fabs(value[b][i + m->s.n * j] - x));
                if (written)
                    off_written = fmax(off_written, fabs(ex_eval(p, written[b].text[i + m->s.n * j], m->v) - x));
            }
        most[b] = fmax(most[b], b > 2 ? most[b - 2] : 1);
        if (!(off <= WITHIN * most[b] && off_written <= WITHIN * most[b])) {
            snprintf(text, sizeof text, "%c: numbers off by %.2g, expressions by %.2g, of %.2g", "MDKLN"[b], off,
                     off_written, most[b]);
            failure(t, seed, text);
        }
    }
}

static void
check(struct tally *t, uint64_t seed, bool print)
{
    struct side one = { 0 }, other = { 0 };
    structure_block written[5] = { 0 };
    char *why = NULL;
    bool fine = make_side(&one, seed, seed, true, t) && make_side(&other, seed, seed + 1000000, false, t);

    if (print)
        fputs(one.text, stdout);
    t->models++;
    if (fine && !(is_of_bodies(&one) && is_of_bodies(&other))) {
        t->others++;
        fine = false;
    }
    if (fine) {
        bool texts = second_order_write(&one.l, &one.s, written, &why);
        pool *p = one.c.flat->pool;

        t->compared++;
        t->moving += mechanism_moves(one.g);
        t->written += texts;
        if (!texts)
            failure(t, seed, why);
        compare(t, seed, &one, p, texts ? written : NULL);
        compare(t, seed, &other, p, texts ? written : NULL);
    }
    for (int b = 0; b < 5; b++) {
        free(written[b].value);
        free(written[b].text);
    }
    free(why);
    free_side(&one);
    if (other.g)
        free_side(&other);
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
    printf("%zu models: %zu compared (%zu with ratios that move), %zu of them as expressions; %zu with other "
           "coordinates; %zu failures\n",
           t.models, t.compared, t.moving, t.written, t.others, t.failures);
    return t.failures > 0;
}
