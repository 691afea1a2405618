/* net_pivot.c - modes exchanged until none contradicts a short time ahead; see net.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net_inside.h"

enum { FLIPS_EACH = 12, FLIPS = 60 };
/* the part of its other branch that is added to a condition where the modes have no solution or many ("softened") */
#define SOFT 1e-4
#define ROUNDED 1e-15 /* of the terms of a difference: less of it contradicts no mode */

double *
net_mode_of(nets *s, const struct net *k, uint32_t w)
{
    return &s->modes[s->form->watch[k->q->watch0 + w]];
}

/* Distance to the side of zero that belongs to the mode: negative if g contradicts it. */
double
net_margin_of(nets *s, const struct net *k, uint32_t w, double g)
{
    return *net_mode_of(s, k, w) != 0 ? -g : g;
}

/* Which watched differences contradict their modes a time h later, and how many. ahead: solves for the held unknowns
 * then; b, bw: conditions and differences with these at zero; aw: what the unknowns add to the differences. */
static int
contradictions(nets *s, struct net *k, const staircase *ahead, const double *b, const double *bw, const double *aw,
               double h, uint32_t *which)
{
    const net_part *q = k->q;
    const double weight[ORDERS] = { 1, h, h * h / 2 };
    double *z = s->z, *noise = s->c;
    int n = 0;

    sparse_apply(&ahead->solve, b, z);
    net_noise(s, k, ahead, b, noise);
    for (uint32_t i = 0; i < q->nwatch; i++) {
        double g = 0, slack = 0;

        for (int o = 0; o < ORDERS; o++) {
            double part = bw[ORDERS * i + (uint32_t)o];

            slack += weight[o] * fabs(part) * ROUNDED;
            for (uint32_t j = 0; j < q->n; j++) {
                double a = aw[((size_t)ORDERS * i + (size_t)o) * q->n + j];

                if (a != 0) {
                    part -= a * z[j];
                    slack += weight[o] * fabs(a) * noise[j];
                }
            }
            g += weight[o] * part;
        }
        k->ahead[i] = fabs(g);
        if (net_margin_of(s, k, i, g) < -slack)
            which[n++] = i;
    }
    return n;
}

/* A law that leaves rest with an infinite slope (a root) has an infinite second derivative, beside which the first
 * would say nothing of the time to come: where this is finite, it alone counts. So it does where the second is less
 * than the rounding in it, as next to a root. noise: that rounding, or NULL. */
static void
drop_infinite(double *rows, double *noise, size_t n)
{
    for (size_t i = 2; i < ORDERS * n; i += ORDERS)
        if (isfinite(rows[i - 1]) && (!isfinite(rows[i]) || (noise && fabs(rows[i]) <= noise[i]))) {
            rows[i] = 0;
            if (noise)
                noise[i] = 0;
        }
}

int
net_contradictions(nets *s, struct net *k, struct known *w, double h, uint32_t *which)
{
    const net_part *q = k->q;

    size_t held = ORDERS * q->held0, watches = ORDERS * (s->nheld + q->watch0);

    drop_infinite(s->raw + held, k->guess ? s->rounding + held : NULL, q->n);
    drop_infinite(s->raw + watches, k->guess ? s->rounding + watches : NULL, q->nwatch);

    if (!w->ahead || w->h != h) {
        staircase_free(w->ahead);
        w->ahead = staircase_ahead(q->n, w->a, h);
        w->h = h;
    }
    return contradictions(s, k, w->ahead, s->raw + ORDERS * q->held0, s->raw + ORDERS * (s->nheld + q->watch0), w->aw,
                          h, which);
}

/* Evaluates the rows with the held unknowns at zero into s->raw, and finds the solver of the present modes; NULL: none.
 */
static struct known *
look_at_net(nets *s, struct net *k, double t, const double *x)
{
    return net_rows_free(s, t, x) == 0 ? net_known(s, k, t, x) : NULL;
}

void
net_exchange_all(nets *s, const struct net *k)
{
    for (uint32_t i = 0; i < k->q->nwatch; i++)
        *net_mode_of(s, k, i) = *net_mode_of(s, k, i) == 0;
}

/* Size of the terms of condition i, with the unknowns as great as they have been so far. */
static double
row_size(const nets *s, const struct net *k, const double *a, const double *b, double h, uint32_t i)
{
    const double weight[ORDERS] = { 1, h, h * h / 2 };
    double size = 0;

    for (uint32_t o = 0; o < ORDERS; o++) {
        size += weight[o] * fabs(b[ORDERS * i + o]);
        for (uint32_t j = 0; j < k->q->n; j++) {
            double usual = s->unit_size[s->unit[k->q->held0 + j]];

            size += weight[o] * fabs(a[((size_t)ORDERS * i + o) * k->q->n + j]) * (usual > 0 ? usual : 1);
        }
    }
    return size;
}

/* Contradictions where each condition contains a small part of its other branch: an ideal diode then has a small
 * resistance, and leaks a little. The conditions so have one solution whatever the modes (of switches in series, side
 * by side, in loops with stiff sources), and pivoting by least index ends. -1: not possible. */
static int
soft_contradictions(nets *s, struct net *k, double t, const double *x, double h, uint32_t *which)
{
    size_t n = k->q->n, na = ORDERS * n * n;
    double *a = bg_malloc((na + ORDERS * n + 1) * sizeof *a), *b = a + na;
    struct known *w;
    int found = -1;

    net_exchange_all(s, k);
    w = look_at_net(s, k, t, x);
    if (w) {
        memcpy(a, w->a, na * sizeof *a);
        memcpy(b, s->raw + ORDERS * k->q->held0, ORDERS * n * sizeof *b);
    }
    net_exchange_all(s, k);
    if (w && (w = look_at_net(s, k, t, x))) {
        const double *own = s->raw + ORDERS * k->q->held0;
        staircase *ahead;

        for (uint32_t i = 0; i < n; i++) {
            double other = row_size(s, k, a, b, h, i), part = SOFT * row_size(s, k, w->a, own, h, i) / other;

            if (!(other > 0) || !isfinite(part))
                part = 0;
            for (size_t e = ORDERS * n * i; e < ORDERS * n * (i + 1); e++)
                a[e] = w->a[e] + part * a[e];
            for (uint32_t o = ORDERS * i; o < ORDERS * (i + 1); o++)
                b[o] = own[o] + part * b[o];
        }
        ahead = staircase_ahead((uint32_t)n, a, h);
        found = contradictions(s, k, ahead, b, s->raw + ORDERS * (s->nheld + k->q->watch0), w->aw, h, which);
        staircase_free(ahead);
    }
    free(a);
    return found;
}

static uint64_t
hash_modes(nets *s, const struct net *k)
{
    uint64_t hash = 14695981039346656037u;

    for (uint32_t i = 0; i < k->q->nwatch; i++)
        hash = bg_hash_mix(hash, (uint64_t)*net_mode_of(s, k, i) + 2 * i);
    return hash;
}

bool
net_pivot(nets *s, struct net *k, double t, const double *x, double h, bool soft)
{
    uint32_t nw = k->q->nwatch, *which = s->which;
    int best = (int)nw + 1, patience = FLIPS_EACH, most = FLIPS + 8 * (int)nw;
    bool ok = false;
    map *seen = &s->seen;

    map_clear(seen);

    for (int round = 0; round < most; round++) {
        struct known *w = soft ? NULL : look_at_net(s, k, t, x);
        uint64_t hash;
        int n;

        if (w)
            net_drop_drift(s, k, w, x);
        n = soft ? soft_contradictions(s, k, t, x, h, which) : w ? net_contradictions(s, k, w, h, which) : -1;

        if (n <= 0) {
            ok = n == 0;
            break;
        }
        hash = hash_modes(s, k);
        if (patience <= 0 && map_get(seen, hash) != MAP_NONE)
            break;
        map_set(seen, hash, 1);
        if (n < best) {
            best = n;
            patience = FLIPS_EACH;
        } else {
            patience--;
        }
        for (int i = 0; i < (patience > 0 ? n : 1); i++) {
            double *m = net_mode_of(s, k, which[i]);

            *m = *m == 0;
        }
    }
    return ok;
}
