/* in_image.c - see in_image.h */
#include "in_image.h"

#include <math.h>
#include <string.h>

#include "unwritten.h"

/* Can taking out a part be expressed by a factor in these runs? Where a run starts at equilibrium or solves
 * constraints, the parts present decide more than that. */
static bool
is_fit(const compilation *c)
{
    return !c->flat->experiment.equilibrium && !model_has_nets(c->model) && !model_nconstraints(c->model);
}

struct removable *
in_image_share(struct removable *x)
{
    if (x)
        atomic_fetch_add(&x->users, 1);
    return x;
}

void
in_image_leave(const struct search *d, struct removable *x)
{
    if (!x || atomic_fetch_sub(&x->users, 1) > 1)
        return;
    for (size_t i = 0; i < d->trier.n; i++)
        compile_free(&x->c[i]);
    free(x->c);
    map_free(&x->of);
    free(x);
}

/* Compiles a text again, without these parts and with removable elements. */
static void
make_image(const struct search *d, struct in_image *m, const struct version *of, const overrides *set,
           const struct elaborate_taken *part, size_t nparts)
{
    struct removable *x = bg_calloc(1, sizeof *x);

    m->is = in_image_share(x);
    x->c = bg_calloc(d->trier.n, sizeof *x->c);
    trier_lock(&d->trier);
    for (size_t i = 0; i < d->trier.n && !m->unfit; i++) {
        compile_options o = { .experiment = d->trier.experiment[i],
                              .set = set->at,
                              .nset = set->n,
                              .shared = d->trier.shared,
                              .taken = part,
                              .ntaken = nparts,
                              .removable = true };

        m->unfit = !compile_another(&x->c[i], &of->c[i], STAGE_MODEL, &o) || !is_fit(&x->c[i]);
        diag_silence(x->c[i].sources);
        for (uint32_t k = 0; i == 0 && !m->unfit && k < x->c[0].flat->element.n; k++) {
            const char *name = x->c[0].flat->element.at[k].name;

            map_set(&x->of, bg_hash_bytes(name, strlen(name), 0), k);
        }
    }
    trier_unlock(&d->trier);
}

/* Compiles the base without the first image.taken parts of the round. */
static void
compile_base_image(struct search *d, struct candidate *const *taken)
{
    size_t n = d->image.taken - d->base_taken;
    struct elaborate_taken *part = unwritten_taken(d, taken ? taken + d->base_taken : NULL, n);

    make_image(d, &d->image, d->base, d->base_set, part, n);
    free(part);
}

/* ---------------------------------------------------------------- images of several threads */

/* Without these parts, by number, with these readings, behind those that the base lacks. */
struct kept {
    struct in_image image;
    size_t n;
    size_t *part;
    int *reading;
};

struct images {
    pthread_mutex_t lock; /* also held while one is compiled, which others may want too */
    VEC(struct kept) list;
    const struct removable *first; /* of the base, in the list; NULL: it was not there at the beginning */
};

static struct in_image
share_image(const struct in_image *m)
{
    return (struct in_image){ .is = in_image_share(m->is), .unfit = m->unfit, .taken = m->taken };
}

struct images *
images_new(const struct search *d)
{
    struct images *x = bg_calloc(1, sizeof *x);

    pthread_mutex_init(&x->lock, NULL);
    if (d->image.is && d->image.taken == d->base_taken) {
        vec_push(&x->list, ((struct kept){ .image = share_image(&d->image) }));
        x->first = d->image.is;
    }
    return x;
}

void
images_free(const struct search *d, struct images *x)
{
    for (size_t i = 0; i < x->list.n; i++) {
        in_image_drop(d, &x->list.at[i].image);
        free(x->list.at[i].part);
        free(x->list.at[i].reading);
    }
    vec_free(&x->list);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

static bool
lacks(const struct kept *k, struct candidate *const *part, size_t n)
{
    bool same = k->n == n;

    for (size_t i = 0; i < n && same; i++)
        same = k->part[i] == part[i]->number && k->reading[i] == part[i]->chosen;
    return same;
}

/* Finds that image, or compiles it for all. */
static void
take_kept(struct search *d, struct candidate *const *taken)
{
    struct images *x = d->images;
    struct candidate *const *part = taken + d->base_taken;
    size_t n = d->image.taken - d->base_taken;

    pthread_mutex_lock(&x->lock);
    for (size_t i = 0; i < x->list.n && !d->image.is; i++)
        if (lacks(&x->list.at[i], part, n))
            d->image = share_image(&x->list.at[i].image);
    if (!d->image.is) {
        struct kept k = { .n = n };

        compile_base_image(d, taken);
        k.image = share_image(&d->image);
        k.part = bg_calloc(n + 1, sizeof *k.part);
        k.reading = bg_calloc(n + 1, sizeof *k.reading);
        for (size_t i = 0; i < n; i++) {
            k.part[i] = part[i]->number;
            k.reading[i] = part[i]->chosen;
        }
        vec_push(&x->list, k);
    }
    pthread_mutex_unlock(&x->lock);
}

/* The same, if it is not there. */
static bool
make_base_image(struct search *d, struct candidate *const *taken)
{
    if (!d->image.is && d->images)
        take_kept(d, taken);
    else if (!d->image.is)
        compile_base_image(d, taken);
    return !d->image.unfit;
}

void
in_image_ahead(const struct search *d, const struct version *of, const overrides *set, struct in_image *out)
{
    make_image(d, out, of, set, NULL, 0);
    for (size_t i = 0; i < d->trier.n && !out->unfit; i++)
        model_need_run(out->is->c[i].model);
}

void
in_image_use(struct search *d, struct in_image *ahead)
{
    if (!ahead->is || ahead->unfit)
        return;
    ahead->taken = d->image.taken;
    d->image = *ahead;
    *ahead = (struct in_image){ 0 };
}

compilation *
in_image_base(struct search *d)
{
    return d->image.taken == d->base_taken && make_base_image(d, NULL) ? d->image.is->c : NULL;
}

void
in_image_drop(const struct search *d, struct in_image *m)
{
    in_image_leave(d, m->is);
    *m = (struct in_image){ 0 };
}

void
in_image_forget(struct search *d, size_t taken)
{
    in_image_drop(d, &d->image);
    d->image = (struct in_image){ .taken = taken };
}

/* Its number in the image; MAP_NONE: it is not there. */
static uint32_t
number_in(const struct removable *is, const compilation *c, const char *name)
{
    uint32_t e = map_get(&is->of, bg_hash_bytes(name, strlen(name), 0));

    return e != MAP_NONE && e < c->flat->element.n && !strcmp(c->flat->element.at[e].name, name) ? e : MAP_NONE;
}

bool
in_image_can(const struct search *d, const struct candidate *x, int reading)
{
    /* without the parts that were accepted since then it would say the same */
    const struct removable *is = d->image.is ? d->image.is : d->images ? d->images->first : NULL;
    uint32_t e = is ? number_in(is, is->c, x->name) : MAP_NONE;
    struct model_removal r;

    if (!is)
        return true;
    if (e == MAP_NONE)
        return false;
    r = model_removal(is->c[0].model, e);
    return r.factor != VAR_NONE && r.rests == (x->reading[reading].kind == REWRITE_CLAMP);
}

static bool
take_out(const struct search *d, const compilation *c, struct candidate *const *part, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t e = number_in(d->image.is, c, part[i]->name);

        if (e == MAP_NONE || !model_take_out(c->model, e, part[i]->reading[part[i]->chosen].kind == REWRITE_CLAMP))
            return false;
    }
    return true;
}

/* Runs the remaining model in every experiment. */
static bool
judge_runs(struct search *d, compilation *c, const struct demand *demand, struct verdict *out)
{
    struct version v = { .c = c, .lent = true };
    size_t at = 0;
    const char *why;
    bool decided;

    d->slack = BEYOND_DOUBT;
    d->demand = demand;
    why = version_run(&d->trier, &v, d->base_set, &at);
    d->demand = NULL;
    d->slack = 0;
    if (why) {
        decided = v.outputs[at].beyond;
        out->why = decided ? trial_too_far(d, &v.outputs[at], at) : NULL;
    } else {
        trial_measure(d, out, &v);
        decided = out->fine = out->worst <= WITHIN / LIKELY;
    }
    version_free(&d->trier, &v);
    return decided;
}

bool
in_image_try(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand,
             struct verdict *out)
{
    size_t before = d->out->simulations;
    compilation *c;
    bool fine = true;

    if (d->exact || !make_base_image(d, taken))
        return false;
    *out = (struct verdict){ .worst = NAN, .ran = true, .unwritten = true, .in_image = true };
    c = bg_calloc(d->trier.n, sizeof *c);
    for (size_t i = 0; i < d->trier.n && fine; i++) {
        c[i] = d->image.is->c[i];
        c[i].model = model_another(d->image.is->c[i].model);
        fine = take_out(d, &c[i], taken + d->image.taken, n - d->image.taken);
    }
    fine = fine && judge_runs(d, c, demand, out);
    for (size_t i = 0; i < d->trier.n; i++)
        model_free(c[i].model);
    free(c);
    out->spent = d->out->simulations - before;
    return fine;
}
