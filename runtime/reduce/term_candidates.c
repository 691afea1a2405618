/* term_candidates.c - see term_candidates.h */
#include <math.h>
#include <string.h>

#include "term_candidates.h"
#include "compiled.h"

/* Grid points along which errors are predicted: fewer where there is much to predict or store, so that it takes some
 * seconds at most. */
enum { POINTS_MOST = 501, POINTS_LEAST = 51 };
static const double MOST_WORK = 4e9, WORK_OF_STATE = 20, MOST_NUMBERS = 3e7;
/* Occurrences whose means differ by less than this share of the term's root mean square have one mean. */
static const double ONE_MEAN = 1e-3;
/* Deletion is tried first where its error is below this share of the tolerance, whatever the mean gives: it makes the
 * text shorter. */
static const double NEGLIGIBLE = 0.05;
/* A second reading with a predicted error above this multiple of the tolerance is not tried. */
static const double DOUBTFUL = 3;

/* A run of one experiment with weighted terms. */
struct weighed_run {
    compilation c;
    sim_result r;
    bool ran, equilibrium;
};

/* Statistics of a term over all runs. */
struct seen {
    bool occurs, keep;
    double sum, square; /* over occurrences and points of all runs */
    size_t n;
    double spread; /* of the means of its occurrences in one run */
    VEC(const char *) element;
};

struct finding {
    const recording *run;
    size_t nruns;
    const held_output *const *held;
    const size_t *nheld;
    arena *arena;
    term_candidates *out;
    struct weighed_run *weighed;
    struct seen *seen;
};

/* ---------------------------------------------------------------- components */

static const ast_model *
model_named(const ast_file *file, const map *models, const char *name)
{
    uint32_t i = map_get(models, map_ptr_key(name));

    return i == MAP_NONE ? NULL : file->decl[i].model;
}

/* Calls `see` for the models of the file that a statement instantiates. The parser limits nesting. */
static void
used_by(const ast_file *file, const map *models, const ast_stmt *s, void (*see)(void *ctx, const ast_model *m),
        void *ctx)
{
    switch (s->kind) {
    case AST_STMT_CHAIN:
        for (int i = 0; i < s->nnodes; i++) {
            const ast_model *m = ast_chain(s)[i].own->type ? model_named(file, models, ast_chain(s)[i].own->type)
                                                           : NULL;

            if (m)
                see(ctx, m);
        }
        break;
    case AST_STMT_FOR:
        for (int i = 0; i < s->loop.n; i++)
            used_by(file, models, s->loop.body[i], see, ctx);
        break;
    case AST_STMT_IF:
        for (int i = 0; i < s->cond.nthen; i++)
            used_by(file, models, s->cond.then[i], see, ctx);
        for (int i = 0; i < s->cond.nother; i++)
            used_by(file, models, s->cond.other[i], see, ctx);
        break;
    default: break;
    }
}

struct users {
    VEC(const ast_model *) todo;
    map user;
    uint32_t by;
}; /* user: component -> declaration of the first model that uses it */

static void
see_use(void *ctx, const ast_model *m)
{
    struct users *u = ctx;

    if (map_get(&u->user, map_ptr_key(m)) != MAP_NONE)
        return;
    map_set(&u->user, map_ptr_key(m), u->by);
    vec_push(&u->todo, m);
}

/* Which components the other models of the file that have experiments use, directly or through components. */
static void
find_users(const ast_file *file, const ast_model *own, struct users *u)
{
    map models = { 0 }, done = { 0 };

    for (uint32_t i = 0; i < file->ndecls; i++)
        if (file->decl[i].kind == AST_DECL_MODEL)
            map_set(&models, map_ptr_key(file->decl[i].model->name), i);
    for (size_t i = 0; i < file->ndecls; i++) {
        uint32_t by = file->decl[i].kind == AST_DECL_EXPERIMENT
                          ? map_get(&models, map_ptr_key(file->decl[i].experiment->model))
                          : MAP_NONE;

        if (by == MAP_NONE || file->decl[by].model == own || map_get(&done, by) != MAP_NONE)
            continue;
        map_set(&done, by, 1);
        u->by = by;
        vec_push(&u->todo, file->decl[by].model);
        while (u->todo.n) {
            const ast_model *m = u->todo.at[--u->todo.n];

            for (int k = 0; k < m->nstmt; k++)
                used_by(file, &models, m->stmt[k], see_use, u);
        }
    }
    map_free(&models);
    map_free(&done);
}

/* Collects the model and those of its components in this file whose text may change; the others are noted. */
static void
find_texts(struct finding *s, const compilation *c)
{
    struct users u = { 0 };
    map seen = { 0 };
    VEC(const ast_model *) model = { 0 };

    find_users(c->ast, c->flat->ast, &u);
    vec_push(&model, c->flat->ast);
    for (size_t i = 0; i < c->flat->origin.n; i++) {
        const ast_model *m = c->flat->origin.at[i].model;
        uint32_t by;

        if (!m || m->at.file != c->ast->file || map_get(&seen, map_ptr_key(m)) != MAP_NONE)
            continue;
        map_set(&seen, map_ptr_key(m), 1);
        by = map_get(&u.user, map_ptr_key(m));
        if (by == MAP_NONE)
            vec_push(&model, m);
        else
            vec_push(&s->out->kept, ((term_kept){ arena_format(s->arena, "terms of %s", m->name), m->name_at,
                                                  arena_format(s->arena,
                                                               "model \"%s\", which has experiments of its own, uses "
                                                               "this component too",
                                                               c->ast->decl[by].model->name) }));
    }
    terms_find(c->sources, c->ast, model.at, model.n, s->arena, &s->out->terms);
    vec_free(&model);
    vec_free(&u.todo);
    map_free(&u.user);
    map_free(&seen);
}

/* ---------------------------------------------------------------- runs */

static size_t
points_for(const bg_model *m, size_t nterms)
{
    double outputs = (double)model_flat(m)->output.n, states = (double)model_nstates(m);
    double work = 2 * (double)nterms * (states + outputs + 1) * WORK_OF_STATE;
    double kept = (double)model_noutputs(m) + states + (double)model_nmodes(m);
    double points = fmin(MOST_WORK / work, MOST_NUMBERS / (kept + 1));

    return points >= POINTS_MOST ? POINTS_MOST : points <= POINTS_LEAST ? POINTS_LEAST : (size_t)points;
}

static void
run_weighed(const recording *r, const span *weigh, size_t n, struct weighed_run *w)
{
    compile_options co = recording_options(r);
    sim_options so = { 0 };

    co.weigh = weigh;
    co.nweigh = n;
    if (!compile_text(&w->c, r->path, r->text, r->length, STAGE_MODEL, &co) ||
        !sim_options_from_experiment(w->c.model, &so))
        return;
    so.points = points_for(w->c.model, n);
    so.outputs = so.states = so.modes = true;
    if (r->adjust)
        r->adjust(r->ctx, w->c.model, &so);
    w->ran = simulate(w->c.model, &so, &w->r);
    w->equilibrium = so.equilibrium;
    sim_options_free(&so);
}

/* Collects the occurrences of terms in a run: they follow all other outputs. */
static void
gather_occurrences(struct finding *s, const struct weighed_run *w)
{
    const flat_model *f = w->c.flat;
    size_t all = w->ran ? model_noutputs(w->c.model) : 0, first = w->ran ? all - f->weighed.n : 0,
           nterms = s->out->terms.term.n;
    double *low = bg_calloc(nterms + 1, sizeof *low), *high = bg_calloc(nterms + 1, sizeof *high);
    bool *any = bg_calloc(nterms + 1, sizeof *any);

    for (size_t k = 0; f && k < f->weighed.n; k++) {
        const flat_weighed *x = &f->weighed.at[k];
        struct seen *t = &s->seen[x->weight];
        double sum = 0, mean;

        t->occurs = true;
        t->keep |= x->keep;
        if (x->element != NONE)
            vec_push(&t->element, arena_strdup(s->arena, f->element.at[x->element].name));
        for (size_t p = 0; p < w->r.points && w->ran; p++) {
            double v = w->r.output[p * all + first + k];

            sum += v;
            t->square += v * v;
        }
        t->sum += sum;
        t->n += w->ran ? w->r.points : 0;
        mean = sum / (double)(w->r.points ? w->r.points : 1);
        low[x->weight] = any[x->weight] ? fmin(low[x->weight], mean) : mean;
        high[x->weight] = any[x->weight] ? fmax(high[x->weight], mean) : mean;
        any[x->weight] = true;
    }
    for (size_t i = 0; i < nterms; i++)
        s->seen[i].spread = fmax(s->seen[i].spread, high[i] - low[i]);
    free(low);
    free(high);
    free(any);
}

/* ---------------------------------------------------------------- candidates */

static double
mean_of(const struct seen *t)
{
    return t->n ? t->sum / (double)t->n : 0;
}
static double
rms_of(const struct seen *t)
{
    return t->n ? sqrt(t->square / (double)t->n) : 0;
}

static bool
occurs(const struct seen *t)
{
    return t->occurs && !t->keep;
}

/* Among terms that change together the first represents all. */
static bool
offered(const struct finding *s, uint32_t i)
{
    uint32_t with = s->out->terms.term.at[i].with;

    if (with == NONE)
        return occurs(&s->seen[i]);
    for (uint32_t k = with; k < s->out->terms.term.n && with == i; k++)
        if (s->out->terms.term.at[k].with == with && !occurs(&s->seen[k]))
            return false;
    return with == i;
}

static bool
has_mean(const struct finding *s, uint32_t i)
{
    const struct seen *t = &s->seen[i];

    return s->out->terms.term.at[i].with == NONE && s->out->terms.term.at[i].varies &&
           !s->out->terms.term.at[i].no_number && t->n && isfinite(mean_of(t)) && t->spread <= ONE_MEAN * rms_of(t);
}

/* Predicted errors over their tolerances: of deleting term i at 2*i, of its mean at 2*i + 1. False: they are not
 * known. */
static bool
predict(struct finding *s, double *error)
{
    size_t n = s->out->terms.term.n, count = 0;
    weight_change *change = bg_calloc(2 * n + 1, sizeof *change);
    weight_move *move = bg_calloc(3 * n + 1, sizeof *move), *m = move;
    double *greatest = bg_calloc(2 * n + 1, sizeof *greatest);
    size_t *of = bg_calloc(2 * n + 1, sizeof *of);
    bool fine = true;

    for (uint32_t i = 0; i < n; i++) {
        if (!offered(s, i))
            continue;
        of[count] = 2 * i;
        change[count].move = m;
        *m++ = (weight_move){ 2 * i, -1 };
        for (uint32_t k = i + 1; k < n && s->out->terms.term.at[i].with == i; k++)
            if (s->out->terms.term.at[k].with == i)
                *m++ = (weight_move){ 2 * k, -1 };
        change[count].n = (size_t)(m - change[count].move);
        count++;
        if (!has_mean(s, i))
            continue;
        of[count] = 2 * i + 1;
        m[0] = (weight_move){ 2 * i, -1 };
        m[1] = (weight_move){ 2 * i + 1, mean_of(&s->seen[i]) };
        change[count++] = (weight_change){ m, 2 };
        m += 2;
    }
    for (size_t x = 0; x < s->nruns && fine; x++) {
        const struct weighed_run *w = &s->weighed[x];

        fine = w->ran &&
               sensitivity(w->c.model, &w->r, w->equilibrium, change, count, s->held[x], s->nheld[x], greatest);
    }
    for (size_t k = 0; k < count; k++)
        error[of[k]] = isnan(greatest[k]) ? INFINITY : greatest[k];
    free(change);
    free(move);
    free(greatest);
    free(of);
    return fine;
}

static const char *
error_text(arena *a, double error)
{
    return isfinite(error) ? arena_format(a, "predicted error %.2g of the tolerance left", error)
                           : "no finite error is predicted";
}

/* Without predicted errors: the size of a term relative to the greatest other term of its sum, or else its place. */
static void
compare_sizes(const struct finding *s, term_candidate *x)
{
    const terms *t = &s->out->terms;
    const term_sum *sum = &t->sum.at[t->term.at[x->term].sum];
    double most = 0;

    for (uint32_t k = 0; k < sum->n; k++)
        most = fmax(most, sum->first + k == x->term ? 0 : rms_of(&s->seen[sum->first + k]));
    x->predicted = !s->seen[x->term].n ? (double)x->term : most > 0 ? rms_of(&s->seen[x->term]) / most : INFINITY;
    if (most > 0)
        x->reading[0].why = arena_format(s->arena, "it is %.2g of the greatest other term", x->predicted);
}

static void
add_term_candidate(struct finding *s, uint32_t i, const double *error)
{
    term_candidate x = { .term = i, .mean = mean_of(&s->seen[i]) };
    struct reading gone = { .kind = REWRITE_TERM_DELETE };
    struct reading mean = { .kind = REWRITE_TERM_MEAN, .why = arena_format(s->arena, "its mean is %.4g", x.mean) };
    bool both = has_mean(s, i);

    x.reading[x.nreadings++] = gone;
    if (!s->out->predicts) {
        compare_sizes(s, &x);
        if (both)
            x.reading[x.nreadings++] = mean;
    } else {
        double e[2] = { error[2 * i], both ? error[2 * i + 1] : INFINITY };

        x.reading[0].why = error_text(s->arena, e[0]);
        mean.why = arena_format(s->arena, "%s, %s", mean.why, error_text(s->arena, e[1]));
        if (both && e[1] < e[0] && e[0] > NEGLIGIBLE) {
            x.reading[1] = x.reading[0];
            x.reading[0] = mean;
            x.nreadings += e[0] <= DOUBTFUL;
            x.predicted = e[1];
        } else {
            if (both && e[1] <= DOUBTFUL)
                x.reading[x.nreadings++] = mean;
            x.predicted = e[0];
        }
    }
    vec_push(&s->out->list, x);
}

void
term_candidates_find(const compilation *c, const recording *run, size_t nruns, const held_output *const *held,
                     const size_t *nheld, arena *a, term_candidates *out)
{
    struct finding s = { .run = run, .nruns = nruns, .held = held, .nheld = nheld, .arena = a, .out = out };
    span *weigh;
    double *error;
    size_t n;

    memset(out, 0, sizeof *out);
    find_texts(&s, c);
    n = out->terms.term.n;
    if (!n)
        return;
    weigh = bg_calloc(n, sizeof *weigh);
    error = bg_calloc(2 * n, sizeof *error);
    s.seen = bg_calloc(n, sizeof *s.seen);
    s.weighed = bg_calloc(nruns, sizeof *s.weighed);
    for (size_t i = 0; i < n; i++)
        weigh[i] = out->terms.term.at[i].expr->at;
    for (size_t x = 0; x < nruns; x++) {
        run_weighed(&run[x], weigh, n, &s.weighed[x]);
        out->simulations += s.weighed[x].ran;
        if (!s.weighed[x].c.flat)
            vec_push(&out->kept,
                     ((term_kept){ "terms", SPAN_NONE,
                                   arena_format(a, "their importance in %s is not known: %s", run[x].experiment,
                                                diag_first_error(s.weighed[x].c.sources)) }));
        gather_occurrences(&s, &s.weighed[x]);
    }
    out->predicts = predict(&s, error);
    for (uint32_t i = 0; i < n; i++) {
        term *t = &out->terms.term.at[i];
        const char **element = arena_new_array(a, const char *, s.seen[i].element.n + 1);

        if (s.seen[i].element.n)
            memcpy(element, s.seen[i].element.at, s.seen[i].element.n * sizeof *element);
        t->element = element;
        t->nelements = s.seen[i].element.n;
        if (offered(&s, i))
            add_term_candidate(&s, i, error);
        vec_free(&s.seen[i].element);
    }
    for (size_t x = 0; x < nruns; x++) {
        sim_result_free(&s.weighed[x].r);
        compile_free(&s.weighed[x].c);
    }
    free(s.weighed);
    free(s.seen);
    free(weigh);
    free(error);
}

void
term_candidates_free(term_candidates *t)
{
    terms_free(&t->terms);
    vec_free(&t->list);
    vec_free(&t->kept);
}
