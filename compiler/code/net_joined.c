/* net_joined.c - the terms of all nets in the present modes, in one array
 *
 * If coefficients depend on modes alone, the held unknowns are sums of terms of the rows, and their rounding is bounded
 * by the magnitudes of the same terms. As long as the modes stay, an evaluation goes through this array in the order of
 * memory instead of solving one net after the other: of a thousand diodes few switch at an event, but each is evaluated
 * every time.
 */
#include <math.h>
#include <string.h>

#include "net_inside.h"

/* Number of combinations of modes that are kept, and of unknowns up to which they are: those of larger nets never
 * recur. */
enum { MOST_JOINED = 16, MOST_HELD = 64 };
enum { SMALL_NET = 8 }; /* unknowns of a net, up to which its terms are few */

static void
in_modes_free(struct in_modes *m)
{
    free(m->modes);
    free(m->known);
    vec_free(&m->term);
    vec_free(&m->wide);
    vec_free(&m->end);
    vec_free(&m->watch);
    vec_free(&m->push);
    vec_free(&m->rest);
}

void
net_joined_forget(struct joined *j)
{
    for (size_t i = 0; i < j->cache.n; i++)
        in_modes_free(&j->cache.at[i]);
    j->cache.n = j->next = 0;
    j->now = NULL;
    j->used = false;
}

void
net_joined_free(struct joined *j)
{
    net_joined_forget(j);
    vec_free(&j->cache);
    vec_free(&j->reads);
    free(j->slack);
}

static bool
in_present_modes(const nets *s, const struct in_modes *m)
{
    const struct joined *j = &s->joined;

    for (size_t i = 0; i < j->reads.n; i++)
        if (m->modes[i] != s->modes[j->reads.at[i]])
            return false;
    return true;
}

/* Which states rest is known from the last search. */
static void
list_resting(nets *s, struct in_modes *m)
{
    m->rest.n = 0;
    for (size_t k = 0; k < s->n; k++) {
        size_t n;
        const uint32_t *rest = net_resting(s, &s->net[k], &n);

        for (size_t i = 0; i < n; i++)
            vec_push(&m->rest, rest[i]);
    }
}

bool
net_joins(nets *s)
{
    struct joined *j = &s->joined;

    if (j->now && in_present_modes(s, j->now))
        return true;
    j->now = NULL;
    for (size_t i = 0; i < j->cache.n && !j->now; i++)
        if (in_present_modes(s, &j->cache.at[i]))
            j->now = &j->cache.at[i];
    for (size_t k = 0; k < s->n && j->now; k++)
        s->net[k].now = j->now->known[k];
    if (j->now)
        list_resting(s, j->now);
    return j->now != NULL;
}

/* Puts the terms of a large net in the order of its rows. */
static void
join_rows(const struct net *k, const uint32_t *place, struct in_modes *m)
{
    const sparse_rows *solve = &k->now->now->solve;
    uint32_t h0 = k->q->held0, n = k->q->n, from = (uint32_t)m->wide.n, *next = bg_calloc(ORDERS * n + 2, sizeof *next);

    for (uint32_t e = 0; e < solve->start[n]; e++)
        next[solve->column[e] + 2] += solve->value[e] != 0;
    for (uint32_t c = 0; c < ORDERS * n; c++) {
        next[c + 2] += next[c + 1];
        if (next[c + 2] > next[c + 1])
            vec_push(&m->end, ((struct row_end){ place[ORDERS * h0 + c], from + next[c + 2] }));
    }
    for (uint32_t e = next[ORDERS * n + 1]; e > 0; e--)
        vec_push(&m->wide, (struct term){ 0 });
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = solve->start[i]; e < solve->start[i + 1]; e++)
            if (solve->value[e] != 0)
                m->wide.at[from + next[solve->column[e] + 1]++] =
                    (struct term){ h0 + i, place[ORDERS * h0 + solve->column[e]], solve->value[e] };
    free(next);
}

static void
join_net(const nets *s, const struct net *k, const uint32_t *place, struct in_modes *m)
{
    const sparse_rows *solve = &k->now->now->solve;
    uint32_t h0 = k->q->held0, n = k->q->n;

    if (n > SMALL_NET)
        join_rows(k, place, m);
    for (uint32_t i = 0; i < n && n <= SMALL_NET; i++)
        for (uint32_t e = solve->start[i]; e < solve->start[i + 1]; e++)
            if (solve->value[e] != 0)
                vec_push(&m->term, ((struct term){ h0 + i, place[ORDERS * h0 + solve->column[e]], solve->value[e] }));
    for (uint32_t i = 0; i < k->q->nwatch; i++)
        for (uint32_t e = 0; e < n; e++) {
            double a = fabs(k->now->aw[(size_t)ORDERS * i * n + e]);

            if (a != 0)
                vec_push(&m->watch, ((struct term){ k->q->watch0 + i, h0 + e, a }));
        }
    for (size_t i = 0; i < k->now->push.n; i++) {
        struct push p = k->now->push.at[i];

        vec_push(&m->push, ((struct push){ p.state, h0 + p.held, p.value }));
    }
    m->known[k - s->net] = k->now;
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

/* One of the cache, with nothing in it. */
static struct in_modes *
new_combination(nets *s)
{
    struct joined *j = &s->joined;
    size_t most = s->nheld <= MOST_HELD ? MOST_JOINED : 1;
    struct in_modes *m;

    if (j->cache.n < most) {
        vec_push(&j->cache, ((struct in_modes){ 0 }));
        m = &j->cache.at[j->cache.n - 1];
        m->modes = bg_calloc(j->reads.n + 1, sizeof *m->modes);
        m->known = bg_calloc(s->n + 1, sizeof *m->known);
        return m;
    }
    m = &j->cache.at[j->next];
    j->next = (j->next + 1) % most;
    m->term.n = m->wide.n = m->end.n = m->watch.n = m->push.n = 0;
    return m;
}

void
net_join(nets *s)
{
    struct joined *j = &s->joined;
    const uint32_t *place;
    struct in_modes *m;

    if (!j->slack) {
        list_modes_read(s);
        j->slack = bg_calloc(s->nwatch + 1, sizeof *j->slack);
    }
    m = new_combination(s);
    j->row = s->access.unordered(s->access.ctx, &place);
    for (size_t k = 0; k < s->n; k++)
        join_net(s, &s->net[k], place, m);
    list_resting(s, m);
    for (size_t i = 0; i < j->reads.n; i++)
        m->modes[i] = s->modes[j->reads.at[i]];
    j->now = m;
}

/* Takes the terms of the rows computed last off their unknowns, or adds their magnitudes. */
static inline void
add_terms(const struct joined *j, bool magnitudes, double *to)
{
    const struct in_modes *m = j->now;
    size_t i = 0;

    for (const struct term *term = m->term.at, *end = term + m->term.n; term < end; term++) {
        double v = term->value * j->row[term->of];

        to[term->to] += magnitudes ? fabs(v) : -v;
    }
    for (const struct row_end *r = m->end.at, *last = r + m->end.n; r < last; r++) {
        double row = j->row[r->row];

        for (; row != 0 && i < r->end; i++)
            to[m->wide.at[i].to] += magnitudes ? fabs(m->wide.at[i].value * row) : -m->wide.at[i].value * row;
        i = r->end;
    }
}

int
net_joined_solve(nets *s, double t, const double *x)
{
    const struct joined *j = &s->joined;
    double all = 0; /* NAN if one of the terms has no value */
    int status;

    for (size_t i = 0; i < s->nheld; i++)
        s->held[i] = 0;
    status = s->access.rows(s->access.ctx, t, x, NULL);
    if (status)
        return status;
    add_terms(j, false, s->held);
    for (size_t i = 0; i < s->nheld; i++)
        all += s->held[i] * 0;
    return all == 0 ? 0 : 1;
}

void
net_joined_quiet(nets *s, double *g)
{
    const struct joined *j = &s->joined;
    double *noise = s->c;

    for (size_t i = 0; i < s->nheld; i++)
        noise[i] = 0;
    add_terms(j, true, noise);
    for (size_t i = 0; i < s->nheld; i++) {
        double least = NET_FLOOR * s->unit_size[s->unit[i]];

        noise[i] = NET_NOISE * noise[i] > least ? NET_NOISE * noise[i] : least;
    }
    for (size_t w = 0; w < s->nwatch; w++)
        j->slack[w] = 0;
    for (const struct term *term = j->now->watch.at, *end = term + j->now->watch.n; term < end; term++)
        j->slack[term->to] += term->value * noise[term->of];
    for (size_t w = 0; w < s->nwatch; w++) {
        double *at = &g[s->form->watch[w]];

        if (fabs(*at) <= j->slack[w])
            *at = 0;
    }
}

void
net_joined_rest(const nets *s, double *dx)
{
    const struct in_modes *m = s->joined.now;

    net_quiet_pushed(s, m->push.at, m->push.n, s->held, dx);
    for (size_t i = 0; i < m->rest.n; i++)
        dx[m->rest.at[i]] = 0;
}
