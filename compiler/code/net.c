/* net.c - see net.h; the search is in net_search.c */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net_inside.h"

enum { MOST_KNOWN = 256 };
#define SHARES 1e-9 /* of an unknown: a smaller part that its conditions leave undetermined is rounding */
/* Of an unknown's usual size: an unknown at zero, where slopes may be zero or infinite, is moved so far for tangents.
 */
#define BESIDE 1e-6
/* A solution nearer to zero than NET_BESIDE is not reached by slopes that are taken there: where no part of a step
 * leads on, they are taken NEARER, to NEAREST. */
#define NEARER 1e-6
#define NEAREST 1e-17
#define UNKNOWN_SIZE 1e-1 /* SI: in place of BESIDE, as long as no unknown of the unit has had a value */
#define NOTHING 1e-20     /* SI: an unknown below this is what an iteration leaves of zero, and no size */
#define NO_SLOPE 1e-20    /* of a condition: an unknown that can change it by no more is not determined by it */

/* ---- making and freeing ---- */

nets *
nets_new(const net_form *form, double *modes, nets_access a)
{
    nets *s = bg_calloc(1, sizeof *s);

    s->form = form;
    s->access = a;
    s->modes = modes;
    s->nmodes = form->nmodes;
    s->held = modes + s->nmodes;
    s->nheld = form->nheld;
    s->nwatch = form->nwatch;
    s->nrows = ORDERS * (s->nheld + s->nwatch);
    s->nx = form->nx;
    s->n = form->n;
    s->group = form->group;
    s->unit = form->unit;
    s->net = bg_calloc(s->n + 1, sizeof *s->net);
    s->watched = bg_calloc(s->nmodes + 1, sizeof *s->watched);
    for (size_t k = 0; k < s->n; k++) {
        struct net *q = &s->net[k];

        q->q = &form->net[k];
        q->tau = INFINITY;
        q->near = 1;
        q->size = bg_calloc(2 * (size_t)q->q->nwatch + 1, sizeof *q->size);
        q->rows = bg_calloc((size_t)ORDERS * q->q->n + 1, sizeof *q->rows);
        q->ahead = bg_calloc(q->q->nwatch + 1, sizeof *q->ahead);
        if (q->q->curved) {
            q->guess = bg_calloc(q->q->n + 1, sizeof *q->guess);
            q->tangent = bg_calloc((size_t)ORDERS * (q->q->n + q->q->nwatch) * q->q->n + 1, sizeof *q->tangent);
        }
        q->settled = bg_calloc(q->q->nmodes + 1, sizeof *q->settled);
    }
    for (size_t w = 0; w < s->nwatch; w++)
        s->watched[form->watch[w]] = true;
    s->raw = bg_calloc(s->nrows + 1, sizeof(double));
    s->raw0 = bg_calloc(s->nrows + 1, sizeof(double));
    s->at_zero.x = bg_calloc(s->nx + 1, sizeof(double));
    s->at_zero.modes = bg_calloc(s->nmodes + 1, sizeof(double));
    s->at_zero.raw = bg_calloc(s->nrows + 1, sizeof(double));
    s->given = bg_calloc(2 * s->nwatch + 1, sizeof(double));
    s->x_given = bg_calloc(s->nx + 1, sizeof(double));
    s->which = bg_calloc(s->nwatch + 1, sizeof *s->which);
    s->constrained = bg_calloc(ORDERS * s->nheld + 1, sizeof(double));
    s->raw_noise = bg_calloc(s->nrows + 1, sizeof(double));
    s->rounding = bg_calloc(s->nrows + 1, sizeof(double));
    s->xsize = bg_calloc(s->nx + 1, sizeof(double));
    s->unit_size = bg_calloc(form->nunits + 1, sizeof(double));
    s->group_size = bg_calloc(form->ngroups + 1, sizeof(double));
    s->solved_x = bg_calloc(s->nx + 1, sizeof(double));
    s->solved_modes = bg_calloc(s->nmodes + 1, sizeof(double));
    s->z = bg_calloc(s->nheld + 1, sizeof(double));
    s->terms = bg_calloc(s->nx + 1, sizeof(double));
    s->from = bg_calloc(s->nheld + 1, sizeof(double));
    s->stepped = bg_calloc(s->nheld + 1, sizeof(double));
    s->noise = bg_calloc(s->nheld + 1, sizeof(double));
    s->c = bg_calloc(ORDERS * s->nheld + 2, sizeof(double));
    return s;
}

static void
known_free(struct known *k)
{
    free(k->key);
    free(k->a);
    free(k->aw);
    vec_free(&k->slope);
    staircase_free(k->now);
    staircase_free(k->ahead);
    vec_free(&k->push);
    vec_free(&k->rest);
    free(k);
}

static void
forget_net(struct net *k)
{
    for (size_t i = 0; i < k->known.n; i++)
        known_free(k->known.at[i]);
    k->known.n = 0;
    k->last = 0;
    k->now = NULL;
}

static void
forget_general(struct net *k)
{
    for (size_t i = 0; i < k->general.n; i++)
        free(k->general.at[i].may);
    k->general.n = 0;
    map_free(&k->general_of);
    k->general_of = (map){ 0 };
}

void
net_forget(nets *s)
{
    s->solved = false;
}

void
net_sizes(nets *s, const double *x)
{
    for (size_t i = 0; i < s->nx; i++) {
        double *group = &s->group_size[s->group[i]];

        s->xsize[i] = fmax(s->xsize[i], fabs(x[i]));
        *group = fmax(*group, s->xsize[i]);
    }
}

double
net_size(const nets *s, size_t i)
{
    return s->group_size[s->group[i]];
}

void
nets_reset(nets *s)
{
    for (size_t k = 0; k < s->n; k++) {
        forget_net(&s->net[k]);
        forget_general(&s->net[k]);
    }
    net_joined_forget(&s->joined);
    s->at_zero.known = false;
    net_forget(s);
}

void
nets_forget(nets *s)
{
    nets_reset(s);
    for (size_t k = 0; k < s->n; k++) {
        struct net *q = &s->net[k];

        q->tau = INFINITY;
        q->bound = q->searched = q->stays = false;
        q->rest.n = 0;
        memset(q->size, 0, 2 * (size_t)q->q->nwatch * sizeof *q->size);
        memset(q->rows, 0, (size_t)ORDERS * q->q->n * sizeof *q->rows);
        memset(q->ahead, 0, q->q->nwatch * sizeof *q->ahead);
        if (q->guess)
            memset(q->guess, 0, q->q->n * sizeof *q->guess);
        memset(q->settled, 0, q->q->nmodes * sizeof *q->settled);
    }
    memset(s->xsize, 0, s->nx * sizeof *s->xsize);
    memset(s->rounding, 0, s->nrows * sizeof *s->rounding);
    memset(s->group_size, 0, s->form->ngroups * sizeof *s->group_size);
    memset(s->unit_size, 0, s->form->nunits * sizeof *s->unit_size);
}

void
nets_free(nets *s)
{
    if (!s)
        return;
    for (size_t k = 0; k < s->n; k++) {
        forget_net(&s->net[k]);
        vec_free(&s->net[k].known);
        free(s->net[k].size);
        free(s->net[k].rows);
        forget_general(&s->net[k]);
        vec_free(&s->net[k].general);
        free(s->net[k].guess);
        free(s->net[k].tangent);
        free(s->net[k].ahead);
        free(s->net[k].settled);
        vec_free(&s->net[k].rest);
    }
    free(s->net);
    net_joined_free(&s->joined);
    free(s->watched);
    free(s->raw);
    free(s->raw0);
    free(s->at_zero.x);
    free(s->at_zero.modes);
    free(s->at_zero.raw);
    free(s->given);
    free(s->x_given);
    free(s->which);
    map_free(&s->seen);
    free(s->constrained);
    free(s->rounding);
    free(s->raw_noise);
    free(s->xsize);
    free(s->unit_size);
    free(s->group_size);
    free(s->value);
    free(s->by_y);
    free(s->gy);
    free(s->pivot);
    free(s->solved_x);
    free(s->solved_modes);
    free(s->z);
    free(s->terms);
    free(s->noise);
    free(s->stepped);
    free(s->from);
    free(s->c);
    free(s->column);
    free(s->row);
    free(s->source);
    free(s->net_of);
    free(s);
}

bool
nets_watches(const nets *s, uint32_t mode)
{
    return s->watched[mode];
}

bool
nets_vary(const nets *s)
{
    return s->any_varies;
}

/* ---- coefficients ---- */

/* Do the coefficients of the held unknowns depend on more than parameters and modes? If a derivative of or by a kept
 * variable does, those of all nets are taken to. */
static void
find_varying(nets *s)
{
    const struct model_pattern *p = &s->pattern;
    bool all = false;

    for (size_t c = s->nx; c < s->held0 + s->nheld; c++)
        for (int64_t i = p->column[c]; i < p->column[c + 1]; i++) {
            size_t row = (size_t)p->row[i];
            bool of_kept = row >= s->nx && row < s->held0;

            if (!jacobian_varies(s->j, i))
                continue;
            if (of_kept || c < s->held0)
                all = true;
            else
                for (size_t k = 0; k < s->n; k++)
                    s->net[k].varies |= c - s->held0 >= s->net[k].q->held0 &&
                                        c - s->held0 < s->net[k].q->held0 + s->net[k].q->n;
        }
    for (size_t k = 0; k < s->n; k++) {
        s->net[k].varies |= all || s->net[k].guess;
        s->any_varies |= s->net[k].varies;
    }
}

bool
net_need_partials(nets *s)
{
    if (s->j)
        return true;
    s->j = s->access.partials(s->access.ctx);
    if (!s->j)
        return false;
    s->pattern = jacobian_pattern(s->j);
    s->value = bg_calloc(s->pattern.nonzeros + 1, sizeof(double));
    s->row0 = s->pattern.n - s->nrows;
    s->held0 = s->row0 - s->nheld;
    s->ny = s->held0 - s->nx;
    s->by_y = bg_calloc(s->ny * s->nheld + 1, sizeof(double));
    s->gy = bg_calloc(s->ny * s->ny + 1, sizeof(double));
    s->pivot = bg_calloc(s->ny + 1, sizeof *s->pivot);
    find_varying(s);
    return true;
}

/* The greatest coefficient of row a, and those of the columns so far. */
static void
note_greatest(const double *a, uint32_t n, double *row, double *column)
{
    *row = 0;
    for (uint32_t j = 0; j < n; j++) {
        *row = fmax(*row, fabs(a[j]));
        column[j] = fmax(column[j], fabs(a[j]));
    }
}

/* A coefficient whose terms cancel is left as rounding, say 1e-15; beside its derivative of 1 that would be taken for
 * the shortest time constant of the net. It is compared with the greatest of its row and of its column, so that units
 * do not matter. */
void
net_drop_rounding(const struct net *k, double *a, double *aw)
{
    uint32_t n = k->q->n, rows = n, rows_w = k->q->nwatch;
    double *column = bg_malloc(((size_t)n + rows + rows_w + 1) * sizeof *column), *row = column + n;

    for (uint32_t o = 0; o < ORDERS; o++) {
        double most = 0;

        memset(column, 0, n * sizeof *column);
        for (uint32_t i = 0; i < rows + rows_w; i++) {
            const double *of = i < rows ? a + ((size_t)ORDERS * i + o) * n : aw + ((size_t)ORDERS * (i - rows) + o) * n;

            note_greatest(of, n, &row[i], column);
            most = fmax(most, row[i]);
        }
        for (uint32_t i = 0; i < rows + rows_w; i++) {
            double *of = i < rows ? a + ((size_t)ORDERS * i + o) * n : aw + ((size_t)ORDERS * (i - rows) + o) * n;

            for (uint32_t j = 0; j < n; j++)
                if (fabs(of[j]) <= NET_NOISE * (row[i] / most) * column[j])
                    of[j] = 0;
        }
    }
    free(column);
}

void
net_coefficients(nets *s, const struct net *k, double *a, double *aw)
{
    const struct model_pattern *p = &s->pattern;
    const net_part *q = k->q;
    size_t n = q->n, r0 = s->row0 + ORDERS * q->held0, w0 = s->row0 + ORDERS * (s->nheld + q->watch0);

    for (size_t j = 0; j < n + s->ny; j++) {
        size_t c = j < n ? s->held0 + q->held0 + j : s->nx + j - n;

        for (int64_t i = p->column[c]; i < p->column[c + 1]; i++) {
            size_t row = (size_t)p->row[i];
            double *to = row >= r0 && row < r0 + ORDERS * n           ? a + (row - r0) * n
                         : row >= w0 && row < w0 + ORDERS * q->nwatch ? aw + (row - w0) * n
                                                                      : NULL;

            if (!to)
                continue;
            if (j < n)
                to[j] += s->value[i];
            else
                for (size_t h = 0; h < n; h++)
                    to[h] -= s->value[i] * s->by_y[(q->held0 + h) * s->ny + j - n];
        }
    }
}

/* net_coefficients with rounding set to zero. may: of struct general; NULL for a net that is not curved. */
static void
coefficients(nets *s, const struct net *k, const bool *may, double *a, double *aw)
{
    size_t na = (size_t)ORDERS * k->q->n * k->q->n, naw = (size_t)ORDERS * k->q->nwatch * k->q->n;

    net_coefficients(s, k, a, aw);
    if (!may)
        net_drop_rounding(k, a, aw);
    for (size_t i = 0; i < na && may; i++)
        a[i] = may[i] ? a[i] : 0;
    for (size_t i = 0; i < naw && may; i++)
        aw[i] = may[na + i] ? aw[i] : 0;
}

/* Sets a slope to zero if its term in the condition, with the unknown as great as any of its unit so far, is next to
 * nothing beside the greatest term. */
static void
drop_slopes(const nets *s, const struct net *k, double *a)
{
    uint32_t n = k->q->n;

    for (uint32_t i = 0; i < ORDERS * n; i++) {
        double most = 0, *row = a + (size_t)i * n;

        for (uint32_t j = 0; j < n; j++)
            most = fmax(most, fabs(row[j]) * s->unit_size[s->unit[k->q->held0 + j]]);
        for (uint32_t j = 0; j < n; j++)
            if (fabs(row[j]) * s->unit_size[s->unit[k->q->held0 + j]] <= NO_SLOPE * most)
                row[j] = 0;
    }
}

/* How a net's unknowns move states, from the last partial derivatives. */
static void
net_pushes(nets *s, const struct net *k, struct known *to)
{
    const struct model_pattern *p = &s->pattern;

    for (uint32_t j = 0; j < k->q->n; j++) {
        size_t c = s->held0 + k->q->held0 + j;

        for (int64_t i = p->column[c]; i < p->column[c + 1]; i++)
            if ((size_t)p->row[i] < s->nx && s->value[i] != 0)
                vec_push(&to->push, ((struct push){ (uint32_t)p->row[i], j, s->value[i] }));
        for (size_t y = 0; y < s->ny; y++)
            for (int64_t i = p->column[s->nx + y]; i < p->column[s->nx + y + 1]; i++) {
                double v = -s->by_y[(k->q->held0 + j) * s->ny + y] * s->value[i];

                if ((size_t)p->row[i] < s->nx && v != 0)
                    vec_push(&to->push, ((struct push){ (uint32_t)p->row[i], j, v }));
            }
    }
}

static bool
is_key(const nets *s, const struct net *k, const double *key)
{
    for (uint32_t i = 0; i < k->q->nmodes; i++)
        if (key[i] != s->modes[s->form->mode[k->q->mode0 + i]])
            return false;
    return true;
}

/* The shortest time constant: the least ratio of a coefficient to its time derivative. */
static double
time_of(const double *a, uint32_t rows, uint32_t n)
{
    double tau = INFINITY;

    for (uint32_t i = 0; i < rows; i++)
        for (int k = 0; k + 1 < ORDERS; k++)
            for (uint32_t j = 0; j < n; j++) {
                double x = fabs(a[((size_t)ORDERS * i + (size_t)k) * n + j]),
                       y = fabs(a[((size_t)ORDERS * i + (size_t)k + 1) * n + j]);

                if (x > 0 && y > 0)
                    tau = fmin(tau, x / y);
            }
    return tau;
}

/* How far unknown j is moved from zero, at least, for slopes. */
static double
least_of(const nets *s, const struct net *k, uint32_t j)
{
    double usual = s->unit_size[s->unit[k->q->held0 + j]];

    return NET_BESIDE * k->near * (usual > 0 ? usual : 1);
}

bool
net_come_nearer(const nets *s, struct net *k)
{
    bool beside = false;

    for (uint32_t j = 0; j < k->q->n && k->near > NEAREST; j++)
        beside |= fabs(s->held[k->q->held0 + j]) < least_of(s, k, j);
    if (beside)
        k->near *= NEARER;
    return beside;
}

/* Partial derivatives for curved nets (one, or all), with unknowns at zero moved by NET_BESIDE, so that slopes are
 * finite. Afterwards the held unknowns are as before. */
static int
partials_beside_zero(nets *s, const struct net *one, double t, const double *x)
{
    double *kept = bg_malloc((s->nheld + 1) * sizeof *kept);
    int status;

    memcpy(kept, s->held, s->nheld * sizeof *kept);
    for (size_t i = 0; i < s->n; i++) {
        const struct net *k = &s->net[i];

        for (uint32_t j = 0; j < k->q->n && k->guess && (!one || k == one); j++) {
            double least = least_of(s, k, j), *z = &s->held[k->q->held0 + j];

            *z = fabs(*z) < least ? least : *z;
        }
    }
    status = net_partials(s, t, x);
    memcpy(s->held, kept, s->nheld * sizeof *kept);
    free(kept);
    return status;
}

void
net_share_partials(nets *s, double t, const double *x)
{
    size_t several = 0;

    for (size_t k = 0; k < s->n; k++)
        several += s->net[k].varies;
    if (several < 2)
        return;
    for (size_t k = 0; k < s->n; k++)
        if (s->net[k].guess)
            net_general(s, &s->net[k], t, x); /* first: it evaluates at other points */
    s->shared = partials_beside_zero(s, NULL, t, x) == 0;
}

struct known *
net_known(nets *s, struct net *k, double t, const double *x)
{
    const net_part *q = k->q;
    struct known *found;
    const bool *may;

    if (s->joined.used) /* a solution by net_joined_solve leaves no rows */
        net_forget(s);
    s->joined.now = NULL;
    s->joined.used = false;
    if (!net_need_partials(s))
        return NULL;
    if (!k->varies) {
        if (k->last < k->known.n && is_key(s, k, k->known.at[k->last]->key))
            return k->known.at[k->last];
        for (uint32_t i = 0; i < k->known.n; i++)
            if (is_key(s, k, k->known.at[i]->key)) {
                k->last = i;
                return k->known.at[i];
            }
    }
    may = k->guess ? net_general(s, k, t, x).may : NULL;
    if (!s->shared && (k->guess ? partials_beside_zero(s, k, t, x) : net_partials(s, t, x)) != 0)
        return NULL;
    if (k->varies || k->known.n == MOST_KNOWN) {
        net_joined_forget(&s->joined);
        forget_net(k);
    }
    found = bg_calloc(1, sizeof *found);
    found->key = bg_calloc(q->nmodes + 1, sizeof(double));
    found->a = bg_calloc((size_t)ORDERS * q->n * q->n + 1, sizeof(double));
    found->aw = bg_calloc((size_t)ORDERS * q->nwatch * q->n + 1, sizeof(double));
    for (uint32_t i = 0; i < q->nmodes; i++)
        found->key[i] = s->modes[s->form->mode[q->mode0 + i]];
    coefficients(s, k, may, found->a, found->aw);
    if (k->coarse)
        drop_slopes(s, k, found->a);
    net_pushes(s, k, found);
    for (size_t i = 0; i < (size_t)ORDERS * q->n * q->n; i++)
        if (!isfinite(found->a[i])) {
            known_free(found);
            return NULL;
        }
    vec_push(&k->known, found);
    k->last = (uint32_t)k->known.n - 1;
    found->now = staircase_new(q->n, found->a);
    if (!k->guess)
        k->tau = fmin(k->tau, fmin(time_of(found->a, q->n, q->n), time_of(found->aw, q->nwatch, q->n)));
    return found;
}

/* ---- solving ---- */

int
net_rows(nets *s, double t, const double *x)
{
    return s->access.rows(s->access.ctx, t, x, s->raw);
}

/* Moves the held unknowns that are at zero by BESIDE: at zero itself slopes may be zero or infinite. */
static void
stand_beside(nets *s, const struct net *k)
{
    for (uint32_t j = 0; j < k->q->n; j++) {
        double usual = s->unit_size[s->unit[k->q->held0 + j]], least = usual > 0 ? BESIDE * usual : UNKNOWN_SIZE;

        if (fabs(k->guess[j]) < least)
            s->held[k->q->held0 + j] = least;
    }
}

static bool
same_numbers(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* net_rows for zero held unknowns; kept, since a search asks for them at one place again and again. */
static int
rows_at_zero(nets *s, double t, const double *x)
{
    struct rows_at *at = &s->at_zero;
    int status;

    if (at->known && at->t == t && same_numbers(at->x, x, s->nx) && same_numbers(at->modes, s->modes, s->nmodes)) {
        memcpy(s->raw, at->raw, s->nrows * sizeof *s->raw);
        return 0;
    }
    status = net_rows(s, t, x);
    at->known = status == 0;
    at->t = t;
    for (size_t i = 0; i < s->nx; i++)
        at->x[i] = x[i];
    memcpy(at->modes, s->modes, s->nmodes * sizeof *at->modes);
    memcpy(at->raw, s->raw, s->nrows * sizeof *at->raw);
    return status;
}

int
net_rows_free(nets *s, double t, const double *x)
{
    int status;
    bool any = false;

    memset(s->held, 0, s->nheld * sizeof(double));
    net_forget(s);
    if (!net_need_partials(s))
        return -1;
    if (!nets_curved(s))
        return rows_at_zero(s, t, x);
    for (size_t k = 0; k < s->n; k++)
        if (s->net[k].guess) {
            net_general(s, &s->net[k], t, x); /* first: it evaluates at other points */
            memcpy(s->held + s->net[k].q->held0, s->net[k].guess, s->net[k].q->n * sizeof(double));
            any = true;
        }
    status = net_rows(s, t, x);
    for (size_t k = 0; k < s->n && any; k++)
        if (s->net[k].guess)
            stand_beside(s, &s->net[k]);
    if (status == 0 && any)
        status = net_partials(s, t, x);
    for (size_t k = 0; k < s->n && status == 0 && any; k++) {
        struct net *q = &s->net[k];
        uint32_t n = q->q->n;
        double *a = q->tangent, *aw = a + (size_t)ORDERS * n * n, *z = q->guess;

        if (!q->guess)
            continue;
        memset(a, 0, (size_t)ORDERS * (n + q->q->nwatch) * n * sizeof *a);
        coefficients(s, q, net_general(s, q, t, x).may, a, aw);
        q->tau = fmin(time_of(a, n, n), time_of(aw, q->q->nwatch, n));
        for (uint32_t i = 0; i < ORDERS * n; i++)
            for (uint32_t j = 0; j < n; j++)
                s->raw[ORDERS * q->q->held0 + i] -= a[(size_t)i * n + j] * z[j];
        for (uint32_t i = 0; i < ORDERS * q->q->nwatch; i++)
            for (uint32_t j = 0; j < n; j++)
                s->raw[ORDERS * (s->nheld + q->q->watch0) + i] -= aw[(size_t)i * n + j] * z[j];
    }
    return status;
}

bool
nets_combine(nets *s, const double *rows, double *held)
{
    for (size_t k = 0; k < s->n; k++) {
        struct net *q = &s->net[k];

        if (!s->solved || !q->now)
            return false;
        sparse_apply(&q->now->now->solve, rows + ORDERS * q->q->held0, held + q->q->held0);
    }
    return true;
}

bool
nets_share(const nets *s, double *share)
{
    double *rows = bg_calloc(ORDERS * s->nheld + 1, sizeof *rows), *held = bg_calloc(s->nheld + 1, sizeof *held);
    bool fine = s->solved;

    memset(share, 0, s->nheld * s->nheld * sizeof *share);
    for (size_t k = 0; k < s->n && fine; k++) {
        const struct net *q = &s->net[k];
        uint32_t h0 = q->q->held0, n = q->q->n;

        fine = q->now != NULL;
        for (uint32_t j = 0; j < n && fine; j++) {
            for (uint32_t i = 0; i < ORDERS * n; i++)
                rows[ORDERS * h0 + i] = q->now->a[(size_t)i * n + j];
            sparse_apply(&q->now->now->solve, rows + ORDERS * h0, held + h0);
            for (uint32_t i = 0; i < n; i++) {
                double left = (i == j) - held[h0 + i];

                share[(h0 + i) + s->nheld * (h0 + j)] = fabs(left) > SHARES ? left : 0;
            }
        }
    }
    free(rows);
    free(held);
    return fine;
}

void
net_note_sizes(nets *s, const struct net *k, const double *noise)
{
    for (uint32_t i = 0; i < k->q->n; i++) {
        double a = fabs(s->held[k->q->held0 + i]), *size = &s->unit_size[s->unit[k->q->held0 + i]];

        *size = a > noise[i] && a > NOTHING && a > *size ? a : *size;
    }
}

void
net_held_sizes(nets *s)
{
    for (size_t i = 0; i < s->nheld; i++) {
        double a = fabs(s->held[i]), *size = &s->unit_size[s->unit[i]];

        *size = a > *size ? a : *size;
    }
}

bool
net_settled(const nets *s, const struct net *k)
{
    bool same = k->searched;

    for (uint32_t i = 0; i < k->q->nmodes && same; i++)
        same = s->modes[s->form->mode[k->q->mode0 + i]] == k->settled[i];
    return same;
}

const uint32_t *
net_resting(const nets *s, const struct net *k, size_t *n)
{
    bool settled = net_settled(s, k), known = !settled && k->now && k->now->rest_known;

    *n = settled ? k->rest.n : known ? k->now->rest.n : 0;
    return settled ? k->rest.at : known ? k->now->rest.at : NULL;
}
