/* project.c - see project.h */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "equations.h"
#include "joined.h"
#include "project.h"

enum { MAX_ITERATIONS = 20 };
/* All steps are parts of the states' sizes (weight). */
#define MOVE 1e-4        /* by which a state is moved for a slope, to both sides: its error is of second order */
#define FAR 1e-3         /* a longer step asks for new slopes */
#define DEPENDENT 1e-10  /* of the greatest singular value: rows that follow from others */
#define REACHED 1e-12    /* a shorter step has reached the constraints; */
#define AT_ROUNDING 1e-9 /* so has one that is as short and no shorter than half the last */

struct set {
    uint32_t row0, rows, col0, cols;
}; /* constraints and states that belong together */

struct projection {
    size_t nc, nx;
    VEC(uint32_t) row, col;
    VEC(struct set) set;
};

struct projector {
    const projection *of;
    double *scale; /* [nx] largest magnitude of each state so far */
    double *c, *plus, *minus, *x0;
};

/* States that constraint k depends on are joined with it: nodes are constraints, then states. */
static void
join_states(const equations *e, uint32_t k, const uint32_t *position, uint32_t *up, uint32_t *stamp, var_id *todo)
{
    uint32_t nc = (uint32_t)e->constraint.n;
    size_t n = 0;

    todo[n++] = e->constraint.at[k];
    stamp[todo[0]] = k + 1;
    while (n) {
        const eq_var *d = &e->var.at[todo[--n]];
        uint32_t count = d->kind == DEF_EXPLICIT ? 1 : d->kind == DEF_BLOCK ? e->block.at[d->index].n : 0;

        if (d->kind == DEF_STATE)
            up[joined_first(up, nc + position[e->state.at[d->index].var])] = joined_first(up, k);
        for (uint32_t i = 0; i < count; i++) {
            inst x = d->kind == DEF_EXPLICIT ? d->def : e->residual.at[e->block.at[d->index].residual0 + i];

            for (uint32_t s = 0; s < x.n; s++) {
                var_id v = e->f->slot.at[x.first + s];

                if (stamp[v] != k + 1) {
                    stamp[v] = k + 1;
                    todo[n++] = v;
                }
            }
        }
    }
}

projection *
projection_new(const equations *e, const uint32_t *position)
{
    projection *p = bg_calloc(1, sizeof *p);
    uint32_t nc = (uint32_t)e->constraint.n, nx = (uint32_t)e->state.n;
    uint32_t *up = bg_malloc((nc + nx + 1) * sizeof *up), *stamp = bg_calloc(e->var.n + 1, sizeof *stamp);
    uint32_t *number = bg_malloc((nc + nx + 1) * sizeof *number), *fill = bg_calloc(2 * (size_t)nc + 2, sizeof *fill);
    var_id *todo = bg_malloc((e->var.n + 1) * sizeof *todo);

    p->nc = nc;
    p->nx = nx;
    for (uint32_t i = 0; i < nc + nx; i++)
        up[i] = i;
    for (uint32_t k = 0; k < nc; k++)
        join_states(e, k, position, up, stamp, todo);
    memset(number, 0xff, (nc + nx + 1) * sizeof *number);
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < nc + nx; i++) {
            uint32_t root = joined_first(up, i);
            struct set *s;

            if (i < nc && number[root] == NONE) {
                number[root] = (uint32_t)p->set.n;
                vec_push(&p->set, ((struct set){ 0 }));
            }
            if (number[root] == NONE)
                continue;
            s = &p->set.at[number[root]];
            if (!pass)
                (*(i < nc ? &s->rows : &s->cols))++;
            else if (i < nc)
                p->row.at[s->row0 + fill[2 * number[root]]++] = i;
            else
                p->col.at[s->col0 + fill[2 * number[root] + 1]++] = i - nc;
        }
        for (size_t k = 0, r = 0, c = 0; !pass && k < p->set.n; k++) {
            p->set.at[k].row0 = (uint32_t)r;
            p->set.at[k].col0 = (uint32_t)c;
            r += p->set.at[k].rows;
            c += p->set.at[k].cols;
            vec_resize(&p->row, r);
            vec_resize(&p->col, c);
        }
    }
    free(up);
    free(stamp);
    free(number);
    free(fill);
    free(todo);
    return p;
}

void
projection_free(projection *p)
{
    if (!p)
        return;
    vec_free(&p->row);
    vec_free(&p->col);
    vec_free(&p->set);
    free(p);
}

projector *
projector_new(const projection *of)
{
    projector *p = bg_calloc(1, sizeof *p);

    p->of = of;
    p->scale = bg_calloc(of->nx + 1, sizeof *p->scale);
    p->c = bg_calloc(of->nc + 1, sizeof *p->c);
    p->plus = bg_calloc(of->nc + 1, sizeof *p->plus);
    p->minus = bg_calloc(of->nc + 1, sizeof *p->minus);
    p->x0 = bg_calloc(of->nx + 1, sizeof *p->x0);
    return p;
}

void
projector_forget(projector *p)
{
    memset(p->scale, 0, p->of->nx * sizeof *p->scale);
}

void
projector_free(projector *p)
{
    if (!p)
        return;
    free(p->scale);
    free(p->c);
    free(p->plus);
    free(p->minus);
    free(p->x0);
    free(p);
}

static double
state_weight(const projector *p, uint32_t state)
{
    return p->scale[state] > 0 ? p->scale[state] : 1;
}

/* One set: the constraints' slopes by central differences (exact for the quadratic ones that lengths give), then steps
 * of least norm. */
static int
project_set(projector *p, const struct set *s, projector_values *values, void *ctx, double *x)
{
    uint32_t m = s->rows, n = s->cols, ld = m > n ? m : n;
    const uint32_t *row = p->of->row.at + s->row0, *col = p->of->col.at + s->col0;
    double *a = bg_calloc((size_t)m * n + 1, sizeof *a), *work = bg_calloc((size_t)m * n + 1, sizeof *work);
    double *b = bg_calloc(ld + 1, sizeof *b), *sigma = bg_calloc(ld + 1, sizeof *sigma), last = INFINITY;
    int failed = 1;

    for (int it = 0; it < MAX_ITERATIONS; it++) {
        double step = 0, slope = 0;
        lapack_int rank;

        if (values(ctx, x, p->c))
            break;
        /* slopes are taken again only while the start is far */
        for (uint32_t k = 0; k < n && (it == 0 || last > FAR); k++) {
            double *v = &x[col[k]], kept = *v, h = MOVE * state_weight(p, col[k]);
            int bad;

            *v = kept + h;
            bad = values(ctx, x, p->plus);
            *v = kept - h;
            bad = values(ctx, x, p->minus) || bad;
            *v = kept;
            if (bad)
                goto out;
            for (uint32_t i = 0; i < m; i++)
                a[(size_t)k * m + i] = (p->plus[row[i]] - p->minus[row[i]]) / (2 * MOVE);
        }
        for (size_t i = 0; i < (size_t)m * n; i++)
            slope = fmax(slope, fabs(a[i]));
        if (slope == 0) {
            /* constraints of a branch that does not hold at present */
            failed = 0;
            for (uint32_t i = 0; i < m; i++)
                failed |= p->c[row[i]] != 0;
            break;
        }
        if (!isfinite(slope))
            break;
        /* each row scaled by its own size, so that lengths and areas have equal weight */
        for (uint32_t i = 0; i < m; i++) {
            double size = 0;

            for (uint32_t k = 0; k < n; k++)
                size = fmax(size, fabs(a[(size_t)k * m + i]));
            size = size > 0 ? size : 1;
            for (uint32_t k = 0; k < n; k++)
                work[(size_t)k * m + i] = a[(size_t)k * m + i] / size;
            b[i] = -p->c[row[i]] / size;
        }
        if (LAPACKE_dgelsd(LAPACK_COL_MAJOR, (lapack_int)m, (lapack_int)n, 1, work, (lapack_int)m, b, (lapack_int)ld,
                           sigma, DEPENDENT, &rank))
            break;
        for (uint32_t k = 0; k < n; k++) {
            step = fmax(step, fabs(b[k]));
            x[col[k]] += b[k] * state_weight(p, col[k]);
        }
        if (step < REACHED || (step < AT_ROUNDING && step >= last / 2)) {
            failed = 0;
            break;
        }
        if (!isfinite(step))
            break;
        last = step;
    }
out:
    free(a);
    free(work);
    free(b);
    free(sigma);
    return failed;
}

int
projector_run(projector *p, projector_values *values, void *ctx, double *x)
{
    int failed = 0;

    for (size_t i = 0; i < p->of->nx; i++)
        p->scale[i] = fmax(p->scale[i], fabs(x[i]));
    memcpy(p->x0, x, p->of->nx * sizeof *x);
    for (size_t k = 0; k < p->of->set.n && !failed; k++)
        failed = project_set(p, &p->of->set.at[k], values, ctx, x);
    if (failed)
        memcpy(x, p->x0, p->of->nx * sizeof *x);
    return failed;
}
