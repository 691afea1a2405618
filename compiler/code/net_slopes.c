/* net_slopes.c - the coefficients of states in the constraints of a combination of modes; see net.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net_inside.h"

/* of a row's greatest coefficient: another is taken as pivot only if it is greater by more, that is not by rounding */
#define GREATER 1e-9
#define CANCELLED 1e-12 /* of the terms of a difference: the remainder is rounding, and zero */
/* Where conditions read states through kept variables, their slopes are difference quotients: of the conditions,
 * smaller differences are rounding. */
#define PROBE_ROUNDING 1e-9

void
net_slopes_free(struct slopes *g)
{
    free(g->a);
    vec_free(&g->state);
}

static void
reduce_slopes(struct slopes *g)
{
    for (uint32_t r = 0; r < g->nc; r++) {
        double most = 0, by;
        uint32_t row = r, col = 0;

        for (uint32_t i = r; i < g->nc; i++) {
            double size = 0;

            for (uint32_t j = 0; j < g->ns; j++)
                size = fmax(size, fabs(g->a[(size_t)i * g->ns + j]));
            for (uint32_t j = 0; j < g->ns && size > 0; j++)
                if (fabs(g->a[(size_t)i * g->ns + j]) / size > most + GREATER) {
                    most = fabs(g->a[(size_t)i * g->ns + j]) / size;
                    row = i;
                    col = j;
                }
        }
        if (most == 0)
            break;
        for (uint32_t j = 0; j < g->ns; j++) {
            double x = g->a[(size_t)r * g->ns + j];

            g->a[(size_t)r * g->ns + j] = g->a[(size_t)row * g->ns + j];
            g->a[(size_t)row * g->ns + j] = x;
        }
        by = 1 / g->a[(size_t)r * g->ns + col];
        for (uint32_t j = 0; j < g->ns; j++)
            g->a[(size_t)r * g->ns + j] *= by;
        for (uint32_t i = 0; i < g->nc; i++) {
            double f = g->a[(size_t)i * g->ns + col];

            for (uint32_t j = 0; j < g->ns && i != r && f != 0; j++) {
                double *to = &g->a[(size_t)i * g->ns + j], with = f * g->a[(size_t)r * g->ns + j], d = *to - with;

                *to = fabs(d) <= CANCELLED * (fabs(*to) + fabs(with)) ? 0 : d;
            }
        }
    }
}

double
net_row_sum(const sparse_rows *o, uint32_t r, const double *b, double *all)
{
    double sum = 0;

    *all = 0;
    for (uint32_t e = o->start[r]; e < o->start[r + 1]; e++) {
        sum += o->value[e] * b[o->column[e]];
        *all += fabs(o->value[e] * b[o->column[e]]);
    }
    return sum;
}

/* The coefficient of a state in each constraint, from a column of the conditions' partial derivatives. Two conditions
 * that say the same (a switch and a diode side by side, both closed) leave a constraint of rounding, whose coefficients
 * count as zero. */
static bool
apply_constraints(const sparse_rows *o, const double *column, double *c)
{
    bool any = false;

    for (uint32_t r = 0; r < o->n; r++) {
        double all;

        c[r] = net_row_sum(o, r, column, &all);
        if (fabs(c[r]) <= NET_NOISE * all)
            c[r] = 0;
        any |= c[r] != 0;
    }
    return any;
}

bool
net_slopes(nets *s, struct net *k, const struct known *w, double t, double *x, struct known *terms, struct slopes *g)
{
    const net_part *q = k->q;
    size_t r0 = s->row0 + ORDERS * q->held0;
    double *column = bg_calloc(ORDERS * (size_t)q->n + 1, sizeof *column),
           *c = bg_calloc(w->now->constraint.n + 1, sizeof *c);
    bool ok = net_partials(s, t, x) == 0;
    VEC(double) all = { 0 };

    *g = (struct slopes){ .nc = w->now->constraint.n };
    for (size_t i = 0; i < s->nx && ok; i++) {
        memset(column, 0, ORDERS * q->n * sizeof *column);
        if (s->ny) {
            double kept = x[i], h = NET_PROBE * fmax(net_size(s, i), NET_LEAST_SIZE);

            x[i] = kept + h;
            ok = s->access.rows(s->access.ctx, t, x, s->raw) == 0;
            x[i] = kept - h;
            ok = ok && s->access.rows(s->access.ctx, t, x, s->raw0) == 0;
            x[i] = kept;
            for (size_t r = 0; r < ORDERS * q->n; r++) {
                double up = s->raw[ORDERS * q->held0 + r], down = s->raw0[ORDERS * q->held0 + r];

                column[r] = fabs(up - down) <= PROBE_ROUNDING * (fabs(up) + fabs(down)) ? 0 : (up - down) / (2 * h);
            }
        } else {
            for (int64_t e = s->pattern.column[i]; e < s->pattern.column[i + 1]; e++)
                if ((size_t)s->pattern.row[e] >= r0 && (size_t)s->pattern.row[e] < r0 + ORDERS * q->n)
                    column[(size_t)s->pattern.row[e] - r0] = s->value[e];
        }
        if (!apply_constraints(&w->now->constraint, column, c))
            continue;
        vec_push(&g->state, (uint32_t)i);
        for (uint32_t r = 0; r < g->nc; r++) {
            vec_push(&all, c[r]);
            if (terms && c[r] != 0)
                vec_push(&terms->slope, ((struct slope){ r, (uint32_t)i, c[r] }));
        }
    }
    g->ns = (uint32_t)g->state.n;
    g->a = bg_calloc((size_t)g->nc * g->ns + 1, sizeof *g->a);
    for (uint32_t r = 0; r < g->nc; r++)
        for (uint32_t j = 0; j < g->ns; j++)
            g->a[(size_t)r * g->ns + j] = all.at[(size_t)j * g->nc + r];
    vec_free(&all);
    free(column);
    free(c);
    if (ok)
        reduce_slopes(g);
    return ok;
}

uint32_t
net_single(const struct slopes *g, uint32_t r)
{
    uint32_t found = NONE;

    for (uint32_t j = 0; j < g->ns; j++)
        if (g->a[(size_t)r * g->ns + j] != 0) {
            if (found != NONE)
                return NONE;
            found = g->state.at[j];
        }
    return found;
}

/* Do the constraints hold with x_i at zero, now and at other times? */
static bool
zero_holds(nets *s, struct net *k, const struct known *w, double t, double *x, uint32_t i)
{
    const double at[] = { t, 1.37 * t + 0.71, 0.43 * t - 1.93 }; /* no two a whole number of periods apart */
    double kept = x[i];
    bool ok = true;

    for (size_t n = 0; n < sizeof at / sizeof *at && ok; n++) {
        x[i] = 0;
        ok = net_rows_free(s, at[n], x) == 0;
        x[i] = kept;
        for (uint32_t r = 0; r < w->now->constraint.n && ok; r++) {
            double all, sum = net_row_sum(&w->now->constraint, r, s->raw + ORDERS * k->q->held0, &all);

            ok = fabs(sum) <= NET_NOISE * all;
        }
    }
    return ok;
}

bool
net_find_rest(nets *s, struct net *k, struct known *w, double t, double *x)
{
    struct slopes g;

    if (w->rest_known)
        return true;
    w->rest_known = true;
    if (!w->now->constraint.n)
        return true;
    if (!net_slopes(s, k, w, t, x, w, &g)) {
        net_slopes_free(&g);
        return false;
    }
    for (uint32_t r = 0; r < g.nc; r++) {
        uint32_t i = net_single(&g, r);

        if (i != NONE && zero_holds(s, k, w, t, x, i))
            vec_push(&w->rest, i);
    }
    net_slopes_free(&g);
    return true;
}
