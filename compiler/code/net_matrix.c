/* net_matrix.c - the integrator's matrix of a model with nets; see net.h */
#include <stdlib.h>
#include <string.h>

#include "net_inside.h"

typedef VEC(uint32_t) net_list;

/* Lists the nets whose conditions read the variable of a column, in their order; for a held unknown also its own net.
 * stamp[net]: 1 + the last column that listed it. */
static void
find_asked(const nets *s, size_t c, size_t *stamp, net_list *to)
{
    const struct model_pattern *p = &s->pattern;
    int64_t i = p->column[c];

    to->n = 0;
    for (bool own = c >= s->held0; own || i < p->column[c + 1]; own = false) {
        size_t r = own ? NO_INDEX : (size_t)p->row[i++], at;
        uint32_t k;

        if (!own && (r < s->row0 || r >= s->row0 + ORDERS * s->nheld))
            continue;
        k = s->net_of[own ? c - s->held0 : (r - s->row0) / ORDERS];
        if (stamp[k] == c + 1)
            continue;
        stamp[k] = c + 1;
        vec_push(to, k);
        for (at = to->n - 1; at > 0 && to->at[at - 1] > k; at--)
            to->at[at] = to->at[at - 1];
        to->at[at] = k;
    }
}

/* The rows of held unknowns are z + G r = 0, where G gives the unknowns from the conditions r. If r reads a state or a
 * kept variable, all unknowns of its net may depend on it. */
static void
make_net_matrix(nets *s)
{
    const struct model_pattern *p = &s->pattern;
    size_t n = s->held0 + s->nheld, *stamp = bg_calloc(s->n + 1, sizeof *stamp);
    VEC(int64_t) row = { 0 }, source = { 0 };
    net_list asked = { 0 };

    s->net_of = bg_calloc(s->nheld + 1, sizeof *s->net_of);
    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = 0; i < s->net[k].q->n; i++)
            s->net_of[s->net[k].q->held0 + i] = k;
    s->column = bg_calloc(n + 1, sizeof *s->column);
    for (size_t c = 0; c < n; c++) {
        for (int64_t i = p->column[c]; i < p->column[c + 1]; i++)
            if ((size_t)p->row[i] < s->held0) {
                vec_push(&row, p->row[i]);
                vec_push(&source, i);
            }
        find_asked(s, c, stamp, &asked);
        for (size_t a = 0; a < asked.n; a++) {
            const net_part *q = s->net[asked.at[a]].q;
            bool own = c >= s->held0 && s->net_of[c - s->held0] == asked.at[a], dense = c < s->held0 || (own && s->ny);

            for (uint32_t i = q->held0; i < q->held0 + q->n; i++)
                if (dense || (own && i == c - s->held0)) {
                    vec_push(&row, (int64_t)(s->held0 + i));
                    vec_push(&source, -1);
                }
        }
        s->column[c + 1] = (int64_t)row.n;
    }
    s->row = row.at;
    s->source = source.at;
    s->matrix = (struct model_pattern){ n, s->nx, s->column, s->row, row.n };
    vec_free(&asked);
    free(stamp);
}

struct model_pattern
nets_pattern(nets *s)
{
    if (!net_need_partials(s))
        return (struct model_pattern){ 0, 0, NULL, NULL, 0 };
    if (!s->matrix.n)
        make_net_matrix(s);
    return s->matrix;
}

int
nets_jacobian(nets *s, double t, const double *x, double *value)
{
    int status = nets_solve(s, t, x);

    if (!status)
        status = net_partials(s, t, x);
    if (status || !nets_pattern(s).n)
        return status ? status : -1;
    memset(s->raw0, 0, s->nrows * sizeof(double));
    for (size_t c = 0; c < s->matrix.n; c++) {
        int64_t i = s->column[c];

        for (int64_t q = s->pattern.column[c]; q < s->pattern.column[c + 1]; q++)
            if ((size_t)s->pattern.row[q] >= s->row0)
                s->raw0[(size_t)s->pattern.row[q] - s->row0] = s->value[q];
        for (; i < s->column[c + 1] && s->source[i] >= 0; i++)
            value[i] = s->value[s->source[i]];
        while (i < s->column[c + 1]) {
            const struct net *k = &s->net[s->net_of[(size_t)s->row[i] - s->held0]];
            const net_part *q = k->q;

            if (!k->now)
                return 1;

            staircase_solve_few(k->now->now, s->raw0 + ORDERS * q->held0, s->z);
            for (; i < s->column[c + 1] && (size_t)s->row[i] - s->held0 < q->held0 + q->n; i++) {
                size_t h = (size_t)s->row[i] - s->held0 - q->held0, own = c - s->held0 - q->held0;

                /* what the conditions say of z itself is 1, also through kept variables */
                if (c < s->held0)
                    value[i] = s->z[h];
                else if (!s->ny)
                    value[i] = 1;
                else {
                    double all = 0;
                    const sparse_rows *g = &k->now->now->solve;

                    for (uint32_t e = g->start[h]; e < g->start[h + 1]; e++)
                        all += g->value[e] * k->now->a[(size_t)g->column[e] * q->n + own];
                    value[i] = s->z[h] + (h == own) - all;
                }
            }
        }
        for (int64_t q = s->pattern.column[c]; q < s->pattern.column[c + 1]; q++)
            if ((size_t)s->pattern.row[q] >= s->row0)
                s->raw0[(size_t)s->pattern.row[q] - s->row0] = 0;
    }
    return 0;
}
