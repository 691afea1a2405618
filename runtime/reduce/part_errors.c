/* part_errors.c - see part_errors.h */
#include "part_errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "part_backward.h"
#include "side_by_side.h"

/* Rates that change at a switching by less than this share of their greatest value count as continuous: a step of the
 * grid lies between the switching and the points that are compared. */
static const double SMOOTH = 0.05;

static void
open_moves(const struct backward *b)
{
    part_moves *m = b->moves;

    *m = (part_moves){ .ntimes = b->ntimes, .nheld = b->nheld, .n = b->ntimes * b->nheld };
    m->time = bg_calloc(m->ntimes + 1, sizeof *m->time);
    m->at = bg_malloc((2 * b->nelements * m->n + 1) * sizeof *m->at);
    for (size_t k = 0; k < m->ntimes; k++)
        m->time[k] = b->run->time[backward_begins_at(b, k)];
}

void
part_moves_free(part_moves *m)
{
    free(m->time);
    free(m->at);
    influence_free(m->influence);
    *m = (part_moves){ 0 };
}

/* All shares: what they say of the elements, one behind the other; each of several threads has an instance of its own.
 */
struct shares {
    const struct backward *all;
    struct backward *of;
    part_error *said;
};

static void
run_in_thread(void *ctx, size_t i)
{
    const struct shares *s = ctx;
    part_error *said = s->said + i * (s->all->nelements + 1);

    if (!s->of[i].of || !backward_run_share(&s->of[i], i, said))
        said->dropped = NAN;
}

static bool
run_in_process(void *ctx, size_t i, void *result)
{
    struct backward own = *((const struct shares *)ctx)->all;

    return backward_run_share(&own, i, result);
}

/* Runs the shares in threads. */
static void
run_threads(struct shares *s)
{
    const struct backward *b = s->all;

    s->of = bg_calloc(b->shares, sizeof *s->of);
    for (size_t i = 0; i < b->shares; i++) {
        s->of[i] = *b;
        if (i == 0)
            continue;
        s->of[i].model = model_another(b->model);
        s->of[i].of = model_partials(s->of[i].model, b->by, b->nby, model_noutputs(b->model));
    }
    crew_share(b->shares, run_in_thread, s);
    for (size_t i = 1; i < b->shares; i++)
        model_free(s->of[i].model);
    free(s->of);
}

/* The solution of a block starts from that of the last point, and so may depend on it: such models go on from the end
 * of the run, in processes with a copy of everything where memory can be shared. */
static void
run_shares(struct backward *b, size_t moves, part_error *said)
{
    bool apart = model_has_blocks(b->model) && b->shares > 1;
    struct shares s = { .all = b, .said = said };
    char *shared = apart ? side_memory_new(sizeof *b->division + moves) : NULL;
    struct division own = { 0 };

    b->division = shared ? (struct division *)shared : &own;
    b->division->moves = !b->moves ? NULL : shared ? (float *)(shared + sizeof *b->division) : b->moves->at;
    if (apart && !shared)
        b->shares = 1;
    backward_turn_pattern(b);
    b->points =
        (struct shared_points){ .users = b->shares, .numbers = b->pattern.nonzeros + b->nx + 1, .n = b->run->points };
    if (!apart && b->shares > 1)
        b->points.memory = shared_points_new(b->shares, b->points.numbers);
    for (size_t i = 0; i < b->shares; i++)
        atomic_store(&b->division->left[i], b->run->points);
    if (apart)
        side_by_side(b->shares, (b->nelements + 1) * sizeof *said, b->shares, run_in_process, &s, said);
    else
        run_threads(&s);
    if (shared && b->moves)
        memcpy(b->moves->at, b->division->moves, moves);
    if (shared)
        side_memory_free(shared, sizeof *b->division + moves);
    free(b->points.memory);
    backward_release_pattern(b);
}

/* Runs all shares; each element gets the greatest error of any share. */
static bool
run_all(struct backward *b, part_error *out)
{
    size_t each = b->nelements + 1, moves = 0;
    part_error *of = bg_calloc(b->shares * each, sizeof *of);
    bool fine = true;

    b->room = b->ntimes * b->nheld;
    if (b->moves) {
        open_moves(b);
        moves = 2 * b->nelements * b->moves->n * sizeof(float);
    }
    run_shares(b, moves, of);
    for (size_t i = 0; i < b->shares; i++) {
        const part_error *said = of + i * each;

        fine = fine && said->dropped == 0;
        for (size_t e = 0; e < b->nelements && fine; e++) {
            backward_raise(&out[e].dropped, said[e + 1].dropped);
            backward_raise(&out[e].rests, said[e + 1].rests);
        }
    }
    for (size_t e = 0; e < b->nelements; e++) {
        for (int k = 0; k < 2; k++) {
            double *to = backward_of_reading(b, out, e, k);

            *to = backward_knows_reading(b, e, k) && isfinite(*to) ? *to : INFINITY;
        }
    }
    free(of);
    return fine;
}

/* The greatest rate of each state; `rate` is a work array. False: rates are not known. */
static bool
find_greatest_rates(const struct backward *b, double *rate, double *greatest)
{
    const sim_result *r = b->run;
    bool fine = true;

    for (size_t p = 0; p < r->points && fine; p++) {
        backward_set_modes(b, p);
        fine = model_rhs(b->model, r->time[p], r->state + p * b->nx, rate) == 0;
        for (size_t i = 0; i < b->nx && fine; i++)
            greatest[i] = fmax(greatest[i], fabs(rate[i]));
    }
    return fine;
}

/* Where rates are continuous at every switching, errors and w pass it unchanged. A jump of the rates would add a
 * dependence on the time of switching, and events that set states would make jumps of their own. */
static bool
switches_smoothly(const struct backward *b)
{
    const sim_result *r = b->run;
    size_t n = model_nmodes(b->model);
    double *rate = bg_calloc(3 * b->nx + 1, sizeof *rate), *before = rate + b->nx, *greatest = before + b->nx;
    bool fine = n && model_nwhens(b->model) == 0 && find_greatest_rates(b, rate, greatest);

    for (size_t p = 1; p < r->points && fine; p++) {
        const double *x = r->state + p * b->nx;

        if (!memcmp(r->mode + p * n, r->mode + (p - 1) * n, n * sizeof(double)))
            continue;
        backward_set_modes(b, p - 1);
        fine = model_rhs(b->model, r->time[p], x, before) == 0;
        backward_set_modes(b, p);
        fine = fine && model_rhs(b->model, r->time[p], x, rate) == 0;
        for (size_t i = 0; i < b->nx && fine; i++)
            fine = fabs(rate[i] - before[i]) <= SMOOTH * greatest[i];
    }
    free(rate);
    return fine;
}

/* The runs of one experiment, and what its forward run gave. */
struct forward {
    struct backward b;
    sim_result r;
    bool known;
};

struct forwards {
    const part_run *run;
    struct forward *of;
    atomic_bool failed; /* one of them: none is begun any more */
};

static void
run_forward(void *ctx, size_t i)
{
    struct forwards *f = ctx;
    const part_run *x = &f->run[i];
    struct forward *to = &f->of[i];
    sim_options *so = x->so;

    if (atomic_load(&f->failed))
        return;
    so->points = POINTS;
    so->outputs = false;
    so->states = so->modes = true;
    to->known = backward_open(&to->b, x->model, x->held, x->nheld) && simulate(x->model, so, &to->r) &&
                to->r.nparted == 0 && to->r.nsamples == 0 && !to->r.stopped;
    to->b.run = &to->r;
    to->known = to->known && (to->r.nevents == 0 || switches_smoothly(&to->b));
    if (!to->known)
        atomic_store(&f->failed, true);
}

/* The backward runs of one experiment. */
static bool
run_backward(struct forward *x, size_t workers, part_error *out, part_moves *moves)
{
    x->b.moves = moves;
    x->b.shares = workers < x->b.ntimes ? workers : x->b.ntimes;
    x->known = x->known && run_all(&x->b, out);
    if (moves && x->known)
        moves->influence = influence_new(x->b.model, x->b.held, x->b.nheld, &x->r);
    else if (moves)
        part_moves_free(moves);
    return x->known;
}

static void
close_forward(struct forward *x)
{
    backward_close(&x->b);
    sim_result_free(&x->r);
}

size_t
part_errors(const part_run *list, size_t n, size_t workers, part_error *out, part_moves *moves)
{
    struct forward *of = bg_calloc(n + 1, sizeof *of);
    size_t done = 0;
    bool fine = true;

    /* not all forward runs at once: their states are kept */
    for (size_t first = 0, most = 0; first < n && fine; first += most) {
        struct forwards f = { .run = list + first, .of = of + first };

        most = n - first < workers ? n - first : workers;
        crew_each(most, workers, run_forward, &f);
        for (size_t i = first; i < first + most; i++) {
            fine = fine && run_backward(&of[i], workers, out, moves ? &moves[i] : NULL);
            done += fine;
            close_forward(&of[i]);
        }
    }
    free(of);
    return done;
}
