/* net_joined.c - the terms of all nets in the present modes, one behind the other
 *
 * Where modes alone change coefficients, held unknowns are sums of terms of the rows, and what rounding may leave of
 * them is one of the same terms' magnitudes. While the modes stay, an evaluation goes through these in the order in
 * which they lie in memory, in place of one net after the other: of a thousand diodes few switch at an event, and each
 * is asked for at every evaluation.
 */
#include <math.h>
#include <string.h>

#include "net_inside.h"

void
net_joined_free(struct joined *j)
{
    free(j->modes);
    free(j->first);
    free(j->first_watch);
    vec_free(&j->reads);
    vec_free(&j->term);
    vec_free(&j->watch);
    vec_free(&j->push);
    vec_free(&j->rest);
}

bool
net_is_joined(const nets *s)
{
    const struct joined *j = &s->joined;

    if (!j->ready)
        return false;
    for (size_t i = 0; i < j->reads.n; i++)
        if (j->modes[i] != s->modes[j->reads.at[i]])
            return false;
    return true;
}

static void
join_net(nets *s, const struct net *k, const uint32_t *place)
{
    struct joined *j = &s->joined;
    const sparse_rows *solve = &k->now->now->solve;
    uint32_t h0 = k->q->held0, n = k->q->n;
    size_t nrest;
    const uint32_t *rest = net_resting(s, k, &nrest);

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t e = solve->start[i]; e < solve->start[i + 1]; e++)
            if (solve->value[e] != 0)
                vec_push(&j->term, ((struct term){ place[ORDERS * h0 + solve->column[e]], solve->value[e] }));
        j->first[h0 + i + 1] = (uint32_t)j->term.n;
    }
    for (uint32_t i = 0; i < k->q->nwatch; i++) {
        for (uint32_t e = 0; e < n; e++) {
            double a = fabs(k->now->aw[(size_t)ORDERS * i * n + e]);

            if (a != 0)
                vec_push(&j->watch, ((struct term){ h0 + e, a }));
        }
        j->first_watch[k->q->watch0 + i + 1] = (uint32_t)j->watch.n;
    }
    for (size_t i = 0; i < k->now->push.n; i++) {
        struct push p = k->now->push.at[i];

        vec_push(&j->push, ((struct push){ p.state, h0 + p.held, p.value }));
    }
    for (size_t i = 0; i < nrest; i++)
        vec_push(&j->rest, rest[i]);
}

/* Each once, in ascending order. */
static void
list_modes_read(nets *s)
{
    bool *read = bg_calloc(s->nmodes + 1, sizeof *read);

    for (size_t k = 0; k < s->n; k++)
        for (uint32_t i = 0; i < s->net[k].q->nmodes; i++)
            read[s->form->mode[s->net[k].q->mode0 + i]] = true;
    for (uint32_t m = 0; m < s->nmodes; m++)
        if (read[m])
            vec_push(&s->joined.reads, m);
    free(read);
}

void
net_join(nets *s)
{
    struct joined *j = &s->joined;
    const uint32_t *place;

    if (!j->modes) {
        list_modes_read(s);
        j->modes = bg_calloc(j->reads.n + 1, sizeof *j->modes);
        j->first = bg_calloc(s->nheld + 1, sizeof *j->first);
        j->first_watch = bg_calloc(s->nwatch + 1, sizeof *j->first_watch);
    }
    j->row = s->access.unordered(s->access.ctx, &place);
    j->term.n = j->watch.n = j->push.n = j->rest.n = 0;
    for (size_t k = 0; k < s->n; k++)
        join_net(s, &s->net[k], place);
    for (size_t i = 0; i < j->reads.n; i++)
        j->modes[i] = s->modes[j->reads.at[i]];
    j->ready = true;
}

int
net_joined_solve(nets *s, double t, const double *x)
{
    const struct joined *j = &s->joined;
    const struct term *term = j->term.at;
    double all = 0; /* NAN where one has no value */
    int status;

    for (size_t i = 0; i < s->nheld; i++)
        s->held[i] = 0;
    status = s->access.rows(s->access.ctx, t, x, NULL);
    if (status)
        return status;
    for (size_t i = 0; i < s->nheld; i++) {
        double sum = 0;

        for (uint32_t e = j->first[i]; e < j->first[i + 1]; e++)
            sum += term[e].value * j->row[term[e].of];
        s->held[i] = 0 - sum;
        all += s->held[i] * 0;
    }
    return all == 0 ? 0 : 1;
}

void
net_joined_quiet(nets *s, double *g)
{
    const struct joined *j = &s->joined;
    double *noise = s->c;

    for (size_t i = 0; i < s->nheld; i++) {
        double sum = 0, least = NET_FLOOR * s->unit_size[s->unit[i]];

        for (uint32_t e = j->first[i]; e < j->first[i + 1]; e++)
            sum += fabs(j->term.at[e].value * j->row[j->term.at[e].of]);
        noise[i] = NET_NOISE * sum > least ? NET_NOISE * sum : least;
    }
    for (size_t w = 0; w < s->nwatch; w++) {
        double *at = &g[s->form->watch[w]], slack = 0;

        for (uint32_t e = j->first_watch[w]; e < j->first_watch[w + 1]; e++)
            slack += j->watch.at[e].value * noise[j->watch.at[e].of];
        if (fabs(*at) <= slack)
            *at = 0;
    }
}

void
net_joined_rest(const nets *s, double *dx)
{
    const struct joined *j = &s->joined;

    net_quiet_pushed(s, j->push.at, j->push.n, s->held, dx);
    for (size_t i = 0; i < j->rest.n; i++)
        dx[j->rest.at[i]] = 0;
}
