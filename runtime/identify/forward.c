/* forward.c - see forward.h */
#include "forward.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "factor.h"

/* How far parameters and states are moved where a derivative is taken by differences: initial values, conditions,
 * reinits. */
static const double MOVE = 1e-5;

#define ROOT6 2.4494897427831780982
static const double stage[3] = { (4 - ROOT6) / 10, (4 + ROOT6) / 10, 1 };
static const double radau[3][3] = { { (88 - 7 * ROOT6) / 360, (296 - 169 * ROOT6) / 1800, (-2 + 3 * ROOT6) / 225 },
                                    { (296 + 169 * ROOT6) / 1800, (88 + 7 * ROOT6) / 360, (-2 - 3 * ROOT6) / 225 },
                                    { (16 - ROOT6) / 36, (16 + ROOT6) / 36, 1.0 / 9 } };

/* One entry of the stages' matrix: entry `from` of the partial derivatives at stage `column`; its row belongs to stage
 * `row`. */
struct place {
    uint32_t from;
    uint8_t row, column, kind;
};
enum { OF_STATE, OF_STATE_DIAGONAL, OF_VARIABLE };

struct follower {
    forward *f;
    bg_model *m;
    const sim_options *o;
    partials *partials;
    struct model_pattern pattern;
    size_t nx, nz, n, ny, nq, first_output;
    double *value[3];      /* partial derivatives at the stages */
    int64_t *column, *row; /* of the stages' matrix, 3n */
    VEC(struct place) place;
    double *matrix, *right; /* right: [3n] */
    factor *stages;
    int64_t *inner_column, *inner_row;
    uint32_t *inner_from;
    double *inner_value, *z;
    factor *inner; /* g_z */
    double *s;     /* [nq][nx] */
    double *x, *y;
    double *ahead, *rate[2], *moved, *g[2], *modes, *reinit[2];
    double tiny;
    bool failed;
};

/* ---------------------------------------------------------------- matrices */

static void
open_stages(struct follower *w)
{
    size_t n = w->n, count = 0;

    w->column = bg_calloc(3 * n + 1, sizeof *w->column);
    for (size_t j = 0; j < 3; j++)
        for (size_t c = 0; c < n; c++) {
            for (uint8_t i = 0; i < 3; i++)
                for (int64_t k = w->pattern.column[c]; k < w->pattern.column[c + 1]; k++) {
                    size_t r = (size_t)w->pattern.row[k];

                    if (r >= n || (r >= w->nx && i != j))
                        continue;
                    vec_push(&w->place, ((struct place){ (uint32_t)k, i, (uint8_t)j,
                                                         r >= w->nx         ? OF_VARIABLE
                                                         : r == c && i == j ? OF_STATE_DIAGONAL
                                                                            : OF_STATE }));
                }
            w->column[j * n + c + 1] = (int64_t)w->place.n;
        }
    w->row = bg_calloc(w->place.n + 1, sizeof *w->row);
    for (size_t k = 0; k < w->place.n; k++)
        w->row[k] = (int64_t)(w->place.at[k].row * n) + w->pattern.row[w->place.at[k].from];
    w->matrix = bg_calloc(w->place.n + 1, sizeof *w->matrix);
    w->right = bg_calloc(3 * n + 1, sizeof *w->right);
    w->stages = factor_new(3 * n, w->column, w->row, 0);

    w->inner_column = bg_calloc(w->nz + 1, sizeof *w->inner_column);
    w->inner_row = bg_calloc(w->pattern.nonzeros + 1, sizeof *w->inner_row);
    w->inner_from = bg_calloc(w->pattern.nonzeros + 1, sizeof *w->inner_from);
    w->inner_value = bg_calloc(w->pattern.nonzeros + 1, sizeof *w->inner_value);
    w->z = bg_calloc(w->nz + 1, sizeof *w->z);
    for (size_t c = 0; c < w->nz; c++) {
        for (int64_t k = w->pattern.column[w->nx + c]; k < w->pattern.column[w->nx + c + 1]; k++) {
            size_t r = (size_t)w->pattern.row[k];

            if (r >= w->nx && r < n) {
                w->inner_row[count] = (int64_t)(r - w->nx);
                w->inner_from[count++] = (uint32_t)k;
            }
        }
        w->inner_column[c + 1] = (int64_t)count;
    }
    w->inner = factor_new(w->nz, w->inner_column, w->inner_row, 0);
}

static void
open_follower(struct follower *w)
{
    size_t nmodes = model_nmodes(w->m);

    w->nx = model_nstates(w->m);
    w->ny = model_noutputs(w->m);
    w->nq = w->f->n;
    w->x = bg_calloc(w->nx + 1, sizeof(double));
    w->y = bg_calloc(w->ny + 1, sizeof(double));
    if (w->nq == 0)
        return;
    w->s = bg_calloc(w->nq * w->nx + 1, sizeof(double));
    w->ahead = bg_calloc(w->nx + 1, sizeof(double));
    w->moved = bg_calloc(w->nx + 1, sizeof(double));
    w->modes = bg_calloc(nmodes + 1, sizeof(double));
    for (int i = 0; i < 2; i++) {
        w->rate[i] = bg_calloc(w->nx + 1, sizeof(double));
        w->g[i] = bg_calloc(nmodes + 1, sizeof(double));
        w->reinit[i] = bg_calloc(model_nwhens(w->m) + model_nreinits(w->m) + 1, sizeof(double));
    }
    w->partials = model_partials(w->m, w->f->by, w->nq, w->ny);
    if (!w->partials) {
        w->failed = true;
        return;
    }
    w->pattern = model_partials_pattern(w->partials);
    w->first_output = w->pattern.n - w->ny;
    w->n = w->first_output - w->nq;
    w->nz = w->n - w->nx;
    for (int i = 0; i < 3; i++)
        w->value[i] = bg_calloc(w->pattern.nonzeros + 1, sizeof(double));
    open_stages(w);
}

static void
close_follower(struct follower *w)
{
    for (int i = 0; i < 3; i++)
        free(w->value[i]);
    for (int i = 0; i < 2; i++) {
        free(w->rate[i]);
        free(w->g[i]);
        free(w->reinit[i]);
    }
    if (w->stages)
        factor_free(w->stages);
    if (w->inner)
        factor_free(w->inner);
    vec_free(&w->place);
    free(w->column);
    free(w->row);
    free(w->matrix);
    free(w->right);
    free(w->inner_column);
    free(w->inner_row);
    free(w->inner_from);
    free(w->inner_value);
    free(w->z);
    free(w->s);
    free(w->x);
    free(w->y);
    free(w->ahead);
    free(w->moved);
    free(w->modes);
}

/* ---------------------------------------------------------------- a step, an observation */

static bool
no_value(struct follower *w, double t, const char *what)
{
    const flat_model *f = model_flat(w->m);

    diag_error(f->sources, "run-sensitivity", f->experiment.name ? f->experiment.at : f->at,
               "the derivatives by parameters have no value at %.6g s: %s", t, what);
    w->failed = true;
    return false;
}

/* s from t0 to t1, on which the dense output is good. */
static bool
step(struct follower *w, double t0, double t1, sim_dense *dense, void *of)
{
    double h = t1 - t0;
    size_t n = w->n, nx = w->nx, singular;

    if (!(h > 0) || nx == 0)
        return true;
    for (int i = 0; i < 3; i++) {
        double t = i == 2 ? t1 : t0 + stage[i] * h;

        if (!dense(of, t, w->x) || model_partials_at(w->m, w->partials, t, w->x, w->value[i]) != 0)
            return no_value(w, t, "a law has no finite slope there");
    }
    for (size_t k = 0; k < w->place.n; k++) {
        const struct place *p = &w->place.at[k];
        double v = w->value[p->column][p->from];

        w->matrix[k] = p->kind == OF_VARIABLE ? v : (p->kind == OF_STATE_DIAGONAL) - h * radau[p->row][p->column] * v;
    }
    if (!factor_numeric(w->stages, w->matrix, &singular))
        return no_value(w, t0, "the linearised equations are singular");
    for (size_t q = 0; q < w->nq; q++) {
        double *s = w->s + q * nx;

        memset(w->right, 0, 3 * n * sizeof *w->right);
        for (size_t i = 0; i < 3; i++)
            memcpy(w->right + i * n, s, nx * sizeof *s);
        for (size_t j = 0; j < 3; j++)
            for (int64_t k = w->pattern.column[n + q]; k < w->pattern.column[n + q + 1]; k++) {
                size_t r = (size_t)w->pattern.row[k];
                double v = w->value[j][k];

                if (r < nx)
                    for (size_t i = 0; i < 3; i++)
                        w->right[i * n + r] += h * radau[i][j] * v;
                else if (r < n)
                    w->right[j * n + r] -= v;
            }
        if (!factor_solve(w->stages, w->right))
            return no_value(w, t0, "the linearised equations are singular");
        memcpy(s, w->right + 2 * n, nx * sizeof *s);
    }
    return true;
}

/* Adds column c of the partial derivatives times by: to z's right side where it is wanted, to the outputs. */
static void
add_column(const struct follower *w, size_t c, double by, double *z, double *dy)
{
    for (int64_t k = w->pattern.column[c]; k < w->pattern.column[c + 1] && by != 0; k++) {
        size_t r = (size_t)w->pattern.row[k];

        if (z && r >= w->nx && r < w->n)
            z[r - w->nx] -= w->value[0][k] * by;
        else if (dy && r >= w->first_output)
            dy[r - w->first_output] += w->value[0][k] * by;
    }
}

static bool
observe(struct follower *w, double t, const double *x)
{
    forward *f = w->f;
    size_t i = f->done, singular;

    if (model_outputs(w->m, t, x, f->output + i * w->ny) != 0)
        return no_value(w, t, "an output has none");
    f->done++;
    if (w->nq == 0)
        return true;
    if (model_partials_at(w->m, w->partials, t, x, w->value[0]) != 0)
        return no_value(w, t, "a law has no finite slope there");
    for (size_t c = 0; c < w->nz; c++)
        for (int64_t k = w->inner_column[c]; k < w->inner_column[c + 1]; k++)
            w->inner_value[k] = w->value[0][w->inner_from[k]];
    if (w->nz && !factor_numeric(w->inner, w->inner_value, &singular))
        return no_value(w, t, "the linearised equations are singular");
    for (size_t q = 0; q < w->nq; q++) {
        const double *s = w->s + q * w->nx;

        memset(w->z, 0, w->nz * sizeof *w->z);
        memset(w->y, 0, w->ny * sizeof *w->y);
        for (size_t c = 0; c < w->nx; c++)
            add_column(w, c, s[c], w->z, w->y);
        add_column(w, w->n + q, 1, w->z, w->y);
        if (w->nz && !factor_solve(w->inner, w->z))
            return no_value(w, t, "the linearised equations are singular");
        for (size_t c = 0; c < w->nz; c++)
            add_column(w, w->nx + c, w->z[c], NULL, w->y);
        for (size_t k = 0; k < w->ny; k++)
            f->derivative[(i * w->ny + k) * w->nq + q] = w->y[k];
    }
    return true;
}

static bool
on_piece(void *ctx, double t0, double t1, sim_dense *dense, void *of)
{
    struct follower *w = ctx;
    forward *f = w->f;
    double t = t0;

    while (f->done < f->ntimes && f->time[f->done] < t1 - w->tiny) {
        double next = fmax(f->time[f->done], t0);

        if (w->nq && next > t + w->tiny) {
            if (!step(w, t, next, dense, of))
                return false;
            t = next;
        }
        if (!dense(of, next, w->x))
            return no_value(w, next, "the model cannot be evaluated");
        if (!observe(w, next, w->x))
            return false;
    }
    return w->nq == 0 || step(w, t, t1, dense, of);
}

/* ---------------------------------------------------------------- switchings */

static double
parameter_move(const struct follower *w, size_t q)
{
    double v = fabs(model_parameter_value(w->m, w->f->by[q]));

    return MOVE * (v > 0 ? v : 1);
}

static const char *
name_of(const struct follower *w, size_t q)
{
    return model_flat(w->m)->var.at[w->f->by[q]].name;
}

/* Which condition made the switching: of those that changed the one that is nearest to its border in time. One that
 * made the states jump may have changed back at once; it is at its border. rate: before. SIZE_MAX: none that moves. */
static size_t
find_trigger(struct follower *w, double t, const double *x, const double *before, const double *after, bool jumped,
             double *slope)
{
    size_t best = SIZE_MAX, nmodes = model_nmodes(w->m);
    double length = w->o->stop - w->o->start, d = 1e-2 * MOVE * length, least = 1e-4 * length;

    for (int side = 0; side < 2; side++) {
        double e = side ? -d : d;

        for (size_t i = 0; i < w->nx; i++)
            w->moved[i] = x[i] + e * w->rate[0][i];
        if (model_conditions(w->m, t + e, w->moved, w->g[side]) != 0)
            return SIZE_MAX;
    }
    for (size_t k = 0; k < nmodes; k++) {
        double g = (w->g[0][k] + w->g[1][k]) / 2, dg = (w->g[0][k] - w->g[1][k]) / (2 * d), away = fabs(g);
        struct model_mode mode = model_mode(w->m, k);

        if ((before[k] == after[k] && !jumped) || dg == 0 || !isfinite(dg))
            continue;
        if (mode.kind == MODE_FLOOR)
            away = fabs(g - round(g));
        for (size_t i = 0; mode.kind == MODE_PIECE && mode.table && i < mode.table->n; i++)
            away = i ? fmin(away, fabs(g - mode.table->x[i])) : fabs(g - mode.table->x[0]);
        if (away / fabs(dg) < (before[k] == after[k] ? fmin(least, 1e-9 * length) : least)) {
            least = away / fabs(dg);
            best = k;
            *slope = dg;
        }
    }
    return best;
}

/* Conditions, or reinits, with parameter q and the states moved by e times (1, s), the time by e times dt. */
static bool
moved_values(struct follower *w, size_t q, double e, double t, const double *x, const double *s, const double *flow,
             double dt, bool reinits, double *to)
{
    double at = model_parameter_value(w->m, w->f->by[q]);
    int status;

    for (size_t i = 0; i < w->nx; i++)
        w->moved[i] = x[i] + e * (s[i] + flow[i] * dt);
    model_set_parameter(w->m, name_of(w, q), at + e);
    status = reinits ? model_reinits(w->m, t + e * dt, w->moved, to) : model_conditions(w->m, t + e * dt, w->moved, to);
    model_set_parameter(w->m, name_of(w, q), at);
    return status == 0;
}

static bool
on_jump(void *ctx, double t, const double *before, const double *modes_before, const double *after)
{
    struct follower *w = ctx;
    size_t nmodes = model_nmodes(w->m), nreinits = model_nreinits(w->m), trigger;
    double *modes = model_modes(w->m), slope = 0;
    bool fine, jumped = false;

    if (w->nq == 0 || w->nx == 0)
        return true;
    memcpy(w->modes, modes, nmodes * sizeof *modes);
    fine = model_rhs(w->m, t, after, w->rate[1]) == 0;
    memcpy(modes, modes_before, nmodes * sizeof *modes);
    fine = fine && model_rhs(w->m, t, before, w->rate[0]) == 0;
    if (!fine)
        return no_value(w, t, "the rates have none");
    for (size_t i = 0; i < w->nx; i++)
        jumped |= before[i] != after[i];
    trigger = find_trigger(w, t, before, modes_before, w->modes, jumped, &slope);
    if (trigger == SIZE_MAX && memcmp(modes_before, w->modes, nmodes * sizeof *modes))
        w->f->lost++;
    for (size_t q = 0; q < w->nq && fine; q++) {
        double *s = w->s + q * w->nx, e = parameter_move(w, q), dt = 0;

        if (trigger != SIZE_MAX) {
            fine = moved_values(w, q, e, t, before, s, w->rate[0], 0, false, w->g[0]) &&
                   moved_values(w, q, -e, t, before, s, w->rate[0], 0, false, w->g[1]);
            dt = -(w->g[0][trigger] - w->g[1][trigger]) / (2 * e) / slope;
        }
        if (fine && nreinits)
            fine = moved_values(w, q, e, t, before, s, w->rate[0], dt, true, w->reinit[0]) &&
                   moved_values(w, q, -e, t, before, s, w->rate[0], dt, true, w->reinit[1]);
        for (size_t i = 0; i < w->nx; i++)
            w->ahead[i] = s[i] + w->rate[0][i] * dt;
        for (size_t r = 0; r < nreinits && fine; r++) {
            size_t i = model_reinit_state(w->m, r), at = model_nwhens(w->m) + r;
            double given = (w->reinit[0][at] + w->reinit[1][at]) / 2;

            if (after[i] != before[i] && fabs(given - after[i]) <= 1e-6 * fmax(fabs(after[i]), fabs(before[i])))
                w->ahead[i] = (w->reinit[0][at] - w->reinit[1][at]) / (2 * e);
        }
        for (size_t i = 0; i < w->nx; i++)
            s[i] = w->ahead[i] - w->rate[1][i] * dt;
    }
    memcpy(modes, w->modes, nmodes * sizeof *modes);
    return fine || no_value(w, t, "a condition has none");
}

/* ---------------------------------------------------------------- the start */

/* s of the initial values, by differences: each is a formula of the parameters. */
static bool
initial_sensitivities(struct follower *w)
{
    for (size_t q = 0; q < w->nq; q++) {
        double at = model_parameter_value(w->m, w->f->by[q]), e = parameter_move(w, q), *s = w->s + q * w->nx;
        bool fine;

        model_set_parameter(w->m, name_of(w, q), at + e);
        fine = model_initial(w->m, w->o->start, s);
        model_set_parameter(w->m, name_of(w, q), at - e);
        fine = fine && model_initial(w->m, w->o->start, w->moved);
        model_set_parameter(w->m, name_of(w, q), at);
        if (!fine)
            return false;
        for (size_t i = 0; i < w->nx; i++)
            s[i] = (s[i] - w->moved[i]) / (2 * e);
    }
    return true;
}

/* At an equilibrium f = 0 and g = 0 for every q: [f_x f_z; g_x g_z] (s, z) = -(f_q, g_q). States that only outputs read
 * keep what their initial values say; so do all where that system is singular (what it leaves free keeps its initial
 * value too). */
static bool
on_start(void *ctx, double t, const double *x)
{
    struct follower *w = ctx;
    size_t n = w->n, nx = w->nx, count = 0, singular;
    int64_t *column, *row;
    double *value, *right;
    factor *f;

    if (w->nq == 0 || nx == 0 || !w->o->equilibrium)
        return true;
    if (model_partials_at(w->m, w->partials, t, x, w->value[0]) != 0)
        return no_value(w, t, "a law has no finite slope there");
    column = bg_calloc(n + 1, sizeof *column);
    row = bg_calloc(w->pattern.nonzeros + 1, sizeof *row);
    value = bg_calloc(w->pattern.nonzeros + 1, sizeof *value);
    right = bg_calloc(n + 1, sizeof *right);
    for (size_t c = 0; c < n; c++) {
        for (int64_t k = w->pattern.column[c]; k < w->pattern.column[c + 1]; k++) {
            size_t r = (size_t)w->pattern.row[k];

            if (r >= n)
                continue;
            row[count] = (int64_t)r;
            value[count++] = r < nx && model_state(w->m, r).only_outputs ? r == c : w->value[0][k];
        }
        column[c + 1] = (int64_t)count;
    }
    f = factor_new(n, column, row, 1e-13);
    if (factor_numeric(f, value, &singular))
        for (size_t q = 0; q < w->nq; q++) {
            double *s = w->s + q * nx;

            memset(right, 0, n * sizeof *right);
            for (int64_t k = w->pattern.column[n + q]; k < w->pattern.column[n + q + 1]; k++)
                if ((size_t)w->pattern.row[k] < n)
                    right[w->pattern.row[k]] -= w->value[0][k];
            for (size_t i = 0; i < nx; i++)
                if (model_state(w->m, i).only_outputs)
                    right[i] = s[i];
            if (factor_solve(f, right))
                memcpy(s, right, nx * sizeof *s);
        }
    factor_free(f);
    free(column);
    free(row);
    free(value);
    free(right);
    return true;
}

bool
forward_run(forward *f, const sim_options *o)
{
    struct follower w = { .f = f,
                          .m = f->model,
                          .o = o,
                          .tiny = 8 * DBL_EPSILON * fmax(fabs(o->stop), o->stop - o->start) };
    sim_follower follow = { .start = on_start, .piece = on_piece, .jump = on_jump, .ctx = &w };
    sim_options plain = *o;
    sim_result r = { 0 };
    size_t reached;
    bool fine;

    plain.points = 0;
    plain.outputs = plain.states = plain.modes = false;
    plain.activity = f->activity != NULL;
    plain.follow = &follow;
    f->done = f->lost = 0;
    open_follower(&w);
    fine = !w.failed && model_need(f->model, PART_OUTPUTS) && initial_sensitivities(&w);
    if (fine) {
        fine = simulate(f->model, &plain, &r);
        reached = f->done;
        f->end = r.t_end;
        while (fine && f->done < f->ntimes) {
            reached += f->time[f->done] <= r.t_end + w.tiny;
            fine = observe(&w, r.t_end, r.x_end);
        }
        f->done = reached;
        if (fine && f->activity)
            memcpy(f->activity, r.activity, model_nelements(f->model) * sizeof(double));
        f->seconds = r.cpu_seconds;
        sim_result_free(&r);
    }
    close_follower(&w);
    return fine;
}
