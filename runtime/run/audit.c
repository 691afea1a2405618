/* audit.c - see audit.h */
#include "audit.h"

#include <math.h>
#include <string.h>

#include "model_graph.h"
#include "pieces.h"
#include "quartic.h"

#define SMOOTH 1e-5 /* accuracy with which a piece follows functions of time alone (pieces.h) */
/* times rtol: energy that the steps of a run may lose. Each step keeps rtol; their errors add up */
#define ALLOWED 100
#define LEAST_ALLOWED 1e-9 /* below it the rounding of sums and quadratures dominates */
#define ALLOWED_EQUAL 0.01 /* for a run in equal steps, whose length the user chose */
/* of an element's greatest power (GIVES_ALL: of the model's, or of the power that would move its stored energy
 * within the run): what a passive element may give by numerical error */
#define GIVES 1e-6
#define GIVES_ALL 1e-9
#define ALL_STUCK 1e-15 /* W: if no element of a model has more, all motion is rounding */
#define BENDS_LOOKS 64  /* checks for negative stiffness, at most, over the run */

/* work: energy that flowed in; change: of the energy by its law, over smooth pieces; least: power and its time */
struct taken {
    double work, change, least, at, greatest, given;
};

static const double lobatto_weight[5] = { QUARTIC_WEIGHT_END, QUARTIC_WEIGHT_SIDE, QUARTIC_WEIGHT_MIDDLE,
                                          QUARTIC_WEIGHT_SIDE, QUARTIC_WEIGHT_END };

struct audit {
    bg_model *model;
    double rtol, start, stop, t, least_bend, bend_at, next_bend;
    size_t nx, n, bent;
    bool broken, begun, equal_steps;
    bool by_states; /* what is stored are states: where these stay, no mode changes it */
    struct taken *taken;
    const model_graph *graph;
    VEC(uint32_t) store;          /* elements */
    double *modes;                /* scratch */
    double *power[5], *x, *inner; /* [n]; [nx] */
    double last;                  /* time of power[4]; NAN: none */
    double *bonds[3];             /* results of model_bond_values: at the start of the piece; now; scratch */
    /* most: greatest stored energy; through: energy into or out of sources, of resistors */
    double jumps, most, through[2];
    pieces *pieces;
};

static bool
stored_are_states(const audit *a)
{
    size_t stored = 0, states = 0;

    for (size_t s = 0; s < a->store.n; s++)
        stored += a->graph->element[a->store.at[s]].nports;
    for (size_t i = 0; i < a->nx; i++)
        states += model_state(a->model, i).port != NONE;
    return stored == states;
}

audit *
audit_new(bg_model *m, double rtol, bool equal_steps, double start, double stop)
{
    audit *a = bg_calloc(1, sizeof *a);

    a->model = m;
    a->graph = model_graph_of(m);
    a->rtol = rtol;
    a->equal_steps = equal_steps;
    a->start = start;
    a->stop = stop;
    a->nx = model_nstates(m);
    a->n = model_nelements(m);
    a->bent = NO_INDEX;
    a->last = NAN;
    a->next_bend = start;
    a->taken = bg_calloc(a->n + 1, sizeof *a->taken);
    for (int k = 0; k < 5; k++)
        a->power[k] = bg_calloc(a->n + 1, sizeof(double));
    a->x = bg_calloc(a->nx + 1, sizeof(double));
    a->inner = bg_calloc(a->nx + 1, sizeof(double));
    a->modes = bg_calloc(model_nmodes(m) + 1, sizeof(double));
    for (int k = 0; k < 3; k++)
        a->bonds[k] = bg_calloc(model_nbond_values(m) + 1, sizeof(double));
    for (uint32_t i = 0; i < a->n; i++)
        if (element_is_storage(a->graph->element[i].type))
            vec_push(&a->store, i);
    a->pieces = pieces_new(m, start, stop);
    a->by_states = stored_are_states(a);
    return a;
}

void
audit_free(audit *a)
{
    if (!a)
        return;
    free(a->taken);
    for (int k = 0; k < 5; k++)
        free(a->power[k]);
    free(a->x);
    free(a->inner);
    for (int k = 0; k < 3; k++)
        free(a->bonds[k]);
    free(a->modes);
    vec_free(&a->store);
    pieces_free(a->pieces);
    free(a);
}

/* The energy that storage s received from bonds[0] to bonds[1]; NAN without a closed form. first: position of its
 * ports in them. */
static double
taken_up(const audit *a, size_t s, size_t first)
{
    const struct model_element *e = &a->graph->element[a->store.at[s]];
    double sum = 0;

    for (uint32_t p = 0; p < e->nports; p++)
        sum += model_energy_taken(a->model, e->port0 + p, a->bonds[0] + first + 2 * p, a->bonds[1] + first + 2 * p);
    return sum;
}

/* The same along a straight line between the states, for laws without a closed form. */
static double
along_line(audit *a, size_t s, size_t first, double t, const double *from, const double *to)
{
    const double place[5] = { 0, quartic_place[0], quartic_place[1], quartic_place[2], 1 };
    size_t ports = a->graph->element[a->store.at[s]].nports;
    double sum = 0;
    bool changes = false;

    for (size_t p = 0; p < ports; p++)
        changes |= a->bonds[0][first + 2 * p] != a->bonds[1][first + 2 * p];
    for (int k = 0; k < 5 && changes; k++) {
        for (size_t i = 0; i < a->nx; i++)
            a->inner[i] = from[i] + place[k] * (to[i] - from[i]);
        if (model_bond_values(a->model, t, a->inner, a->bonds[2]) != 0)
            return NAN;
        for (size_t at = first; at < first + 2 * ports; at += 2)
            sum += lobatto_weight[k] * a->bonds[2][at + 1] * (a->bonds[1][at] - a->bonds[0][at]);
    }
    return sum;
}

/* The energies of storage at (t, x) into bonds[1], behind the powers of ports and bonds (model.h). */
static bool
look_at_storage(audit *a, double t, const double *x)
{
    const double *at = a->bonds[1] + a->graph->nports + a->graph->nbonds;
    double all = 0;

    if (model_bond_values(a->model, t, x, a->bonds[1]) != 0)
        return false;
    for (size_t s = 0; s < a->store.n; s++)
        for (uint32_t p = 0; p < a->graph->element[a->store.at[s]].nports; p++, at += 2)
            all += a->graph->element[a->store.at[s]].pseudo ? 0 : fabs(at[0] * at[1]) / 2;
    a->most = fmax(a->most, all);
    return true;
}

static void
swap(double **a, double **b)
{
    double *kept = *a;

    *a = *b;
    *b = kept;
}

/* Ends the smooth piece at (t, x): compares the energies by the laws with the energy that flowed in. */
static bool
end_stretch(audit *a, double t, const double *x)
{
    size_t at = a->graph->nports + a->graph->nbonds;

    if (!look_at_storage(a, t, x))
        return false;
    for (size_t s = 0; s < a->store.n; s++) {
        struct taken *e = &a->taken[a->store.at[s]];
        double change = taken_up(a, s, at);

        e->change = isfinite(change) ? e->change + change
                                     : e->work; /* without a closed form the energy that flowed in counts as stored */
        at += 2 * a->graph->element[a->store.at[s]].nports;
    }
    swap(&a->bonds[0], &a->bonds[1]);
    return true;
}

bool
audit_start(void *of, double t, const double *x)
{
    audit *a = of;

    a->begun = true;
    a->t = t;
    a->broken = !look_at_storage(a, t, x);
    swap(&a->bonds[0], &a->bonds[1]);
    return true; /* the run itself reports the error */
}

static void
note_power(audit *a, double t, const double *power)
{
    for (size_t i = 0; i < a->n; i++) {
        struct taken *e = &a->taken[i];

        double size = fabs(power[i]);

        e->greatest = size > e->greatest ? size : e->greatest;
        if (power[i] < e->least) {
            e->least = power[i];
            e->at = t;
        }
    }
}

/* One piece: powers at five points, by Lobatto's rule; at its end first, where conditions were evaluated last. */
static bool
take_energies(audit *a, double t0, double t1, bool (*dense)(void *of, double t, double *x), void *of)
{
    const double place[5] = { 0, quartic_place[0], quartic_place[1], quartic_place[2], 1 };
    static const int order[5] = { 4, 0, 1, 2, 3 };
    double h = t1 - t0;
    bool begun = a->last == t0;

    if (begun)
        swap(&a->power[0], &a->power[4]);
    for (int i = 0; i < 5; i++) {
        int k = order[i];
        double t = k == 4 ? t1 : t0 + place[k] * h;

        if (k == 0 && begun)
            continue;
        if (!dense(of, t, a->x) || model_powers(a->model, t, a->x, a->power[k]) != 0)
            return false;
        note_power(a, t, a->power[k]);
    }
    a->last = t1;
    for (size_t i = 0; i < a->n; i++) {
        enum element_type type = a->graph->element[i].type;
        double sum = 0, out = 0;

        for (int k = 0; k < 5; k++) {
            sum += lobatto_weight[k] * a->power[k][i];
            out += a->power[k][i] < 0 ? lobatto_weight[k] * a->power[k][i] : 0;
        }
        a->taken[i].work += sum * h;
        a->taken[i].given -= out * h;
        if (!a->graph->element[i].pseudo && type <= EL_R)
            a->through[type == EL_R] += (sum - 2 * out) * h;
    }
    return true;
}

/* The storage with the most negative stiffness so far, whose state is a->x. */
static void
look_at_bends(audit *a, double t)
{

    if (t < a->next_bend)
        return;
    a->next_bend = t + (a->stop - a->start) / BENDS_LOOKS;
    for (size_t i = 0; i < a->nx; i++) {
        double bend = model_energy_curvature(a->model, i, a->x);

        if (bend < a->least_bend) {
            a->least_bend = bend;
            a->bend_at = t;
            a->bent = i;
        }
    }
}

bool
audit_piece(void *of_audit, double t0, double t1, bool (*dense)(void *of, double t, double *x), void *of)
{
    audit *a = of_audit;
    const double *end = &t1;
    size_t n = 1;

    if (a->broken || !(t1 > t0))
        return true;
    if (a->pieces)
        pieces_cut(a->pieces, t0, t1, SMOOTH, &end, &n);
    for (size_t k = 0; k < n && !a->broken; t0 = end[k++])
        a->broken = !take_energies(a, t0, end[k], dense, of);
    look_at_bends(a, t1);
    a->t = t1;
    return true;
}

bool
audit_jump(void *of, double t, const double *before, const double *modes_before, const double *after)
{
    audit *a = of;
    size_t nmodes = model_nmodes(a->model), at = a->graph->nports + a->graph->nbonds;
    double *modes = model_modes(a->model);

    a->last = NAN;
    pieces_forget(a->pieces);
    if (a->broken || !a->store.n)
        return true;
    if (a->by_states && !memcmp(before, after, a->nx * sizeof *before)) {
        a->broken = !end_stretch(a, t, after);
        return true;
    }
    memcpy(a->modes, modes, nmodes * sizeof *modes);
    memcpy(modes, modes_before, nmodes * sizeof *modes);
    model_let_give(a->model, false);
    a->broken = !end_stretch(a, t, before);
    model_let_give(a->model, true);
    memcpy(modes, a->modes, nmodes * sizeof *modes);
    a->broken = a->broken || !look_at_storage(a, t, after);
    for (size_t s = 0; s < a->store.n && !a->broken; s++) {
        double change = taken_up(a, s, at);

        if (!isfinite(change))
            change = along_line(a, s, at, t, before, after);
        if (!a->graph->element[a->store.at[s]].pseudo)
            a->jumps -= change;
        at += 2 * a->graph->element[a->store.at[s]].nports;
    }
    swap(&a->bonds[0], &a->bonds[1]);
    return true;
}

/* Reports resistors that gave power and storage with negative stiffness. */
static void
note_storage(audit *a)
{
    sources *to = model_sources(a->model);
    double greatest = 0;

    for (size_t i = 0; i < a->n; i++)
        greatest = fmax(greatest, a->taken[i].greatest);
    if (greatest < ALL_STUCK)
        greatest = INFINITY;
    greatest = fmax(greatest, a->most / (a->stop - a->start));
    for (size_t i = 0; i < a->n; i++) {
        const struct taken *e = &a->taken[i];
        const struct model_element *el = &a->graph->element[i];

        if (el->type != EL_R || a->graph->element[i].pseudo ||
            !(-e->least > GIVES * e->greatest && -e->least > GIVES_ALL * greatest))
            continue;
        diag_info(to, "audit-resistor", el->at,
                  "\"%s\" gives power though it is a resistor: %.4g W at %.6g s, %.4g J in all", el->name, -e->least,
                  e->at, e->given);
    }
    if (a->bent != NO_INDEX) {
        struct model_state s = model_state(a->model, a->bent);
        const struct model_element *el = &a->graph->element[a->graph->port[s.port].element];

        diag_info(to, "audit-stiffness", el->at,
                  "\"%s\" is unstable by itself at %.6g s: the second derivative of its energy by %s is %.4g", el->name,
                  a->bend_at, s.name, a->least_bend);
    }
}

static void
warn_residual(audit *a, const audit_totals *r, double t)
{
    sources *to = model_sources(a->model);
    double allowed = (a->equal_steps ? ALLOWED_EQUAL : fmax(ALLOWED * a->rtol, LEAST_ALLOWED)) * r->size;

    if (r->worst == NO_INDEX || fmax(fabs(r->residual), fabs(r->worst_residual)) <= allowed)
        return;
    const struct model_element *e = &a->graph->element[r->worst];

    if (!isfinite(r->residual) || !isfinite(r->worst_residual) || !isfinite(allowed)) {
        diag_warn(to, "audit-energy", e->at,
                  "the energy of \"%s\" until %.6g s is not a number, so the balance of the run cannot be checked",
                  e->name, t);
        return;
    }

    if (fabs(r->residual) > allowed)
        diag_warn(to, "audit-energy", e->at,
                  "the energy of the run does not add up until %.6g s: %.3g J of %.3g J are %s by its steps, most of "
                  "it (%.3g J) in "
                  "\"%s\"",
                  t, fabs(r->residual), r->size, r->residual > 0 ? "lost" : "made", fabs(r->worst_residual), e->name);
    else
        diag_warn(to, "audit-energy", e->at,
                  "the energy of \"%s\" does not add up until %.6g s: the run's steps %s %.3g J of %.3g J there, and "
                  "as much elsewhere",
                  e->name, t, r->worst_residual > 0 ? "lose" : "make", fabs(r->worst_residual), r->size);
    diag_help(to, "%s; `--verify` shows the effect on the results.",
              a->equal_steps ? "Take shorter steps" : "Tighten rtol");
}

audit_totals
audit_close(audit *a, double t, const double *x)
{
    audit_totals r = { .worst = NO_INDEX };

    if (!a->begun || a->broken || !end_stretch(a, t, x))
        return r;
    r.known = true;
    for (size_t i = 0; i < a->n; i++) {
        const struct taken *e = &a->taken[i];
        enum element_type type = a->graph->element[i].type;

        r.pseudo += a->graph->element[i].pseudo;
        if (a->graph->element[i].pseudo)
            continue;
        if (type == EL_SE || type == EL_SF)
            r.supplied -= e->work;
        else if (type == EL_R)
            r.dissipated += e->work;
        else if (type == EL_C || type == EL_I) {
            double residual = e->work - e->change;

            r.stored += e->change;
            r.residual += residual;
            if (r.worst == NO_INDEX || !(fabs(residual) <= fabs(r.worst_residual))) {
                r.worst = i;
                r.worst_residual = residual;
            }
        }
    }
    r.jumps = a->jumps;
    r.stored -= a->jumps;
    r.size = fmax(a->most, fmax(a->through[0], a->through[1]));
    note_storage(a);
    warn_residual(a, &r, t);
    return r;
}
