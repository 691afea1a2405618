/* partition_whole.c - what a threshold on activity takes out of the model as given, beside what it takes out of the
 * partitions
 *
 * An element's share of its partition's activity is greater than that of the whole: what is inactive in the whole may
 * be active where it is ranked among fewer. Such an element goes too where the outputs do not miss it: where no output
 * ends further off than the worse of the two models that are reduced by one ranking alone. What stays is told, with its
 * shares and what its loss would do.
 */
#include <math.h>
#include <string.h>

#include "partition_inside.h"

/* A hundredth of an error, or a ten thousandth of an output, says nothing. */
static const double NO_WORSE = 1.01, NOTHING = 1e-4;

static const run_error *
same_output(const run_errors *list, const run_error *x)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->at[i].state && !strcmp(list->at[i].name, x->name) && !strcmp(list->at[i].experiment, x->experiment))
            return &list->at[i];
    return NULL;
}

/* The output that is off most beyond what it was, or NULL. */
static const run_error *
missed(const smaller *now, const run_errors *before)
{
    const run_error *worst = NULL;
    double most = 0;

    for (size_t i = 0; i < now->cost.error.n; i++) {
        const run_error *x = &now->cost.error.at[i], *was = same_output(before, x);
        double may = NO_WORSE * (was ? was->rms : 0) + NOTHING * x->size, by = x->rms - may;

        if (!x->asked || x->rms <= may)
            continue;
        if (!worst || by * worst->size > most * x->size) {
            worst = x;
            most = by;
        }
    }
    return worst;
}

static void
add_kept(struct worker *d, const char *name, const smaller *now, const run_errors *before)
{
    partitioning *p = d->out;
    kept_part x = { .name = name, .share = share_in(&p->share.at[0], name, d->a), .share_of_part = NAN };
    const run_error *e = now->text ? missed(now, before) : NULL, *was = e ? same_output(before, e) : NULL;

    for (size_t i = 1; i < p->share.n && isnan(x.share_of_part); i++) {
        x.part = p->share.at[i].of;
        x.share_of_part = share_in(&p->share.at[i], name, d->a);
    }
    if (e) {
        x.output = e->name;
        x.experiment = e->experiment;
        x.off = e->size > 0 ? e->rms / e->size : INFINITY;
        x.off_before = was && was->size > 0 ? was->rms / was->size : 0;
    }
    vec_push(&p->kept, x);
}

/* Are all of these out of the text? */
static bool
all_gone(const smaller *x, const name_list *more)
{
    for (size_t i = 0; i < more->name.n; i++)
        for (size_t k = 0; k < x->cost.stay.name.n; k++)
            if (!strcmp(more->name.at[i], x->cost.stay.name.at[k]))
                return false;
    return x->text != NULL;
}

bool
partition_add_whole(struct worker *d, smaller *x)
{
    partitioning *p = d->out;
    name_list more = names_beyond(&p->inactive.at[0], &p->all_inactive, d->a), all = { 0 }, last = { 0 };
    size_t many, batch = more.name.n;
    bool fine = true;
    const run_errors *so_far = x->text ? &x->cost.error : &p->error; /* nothing went yet: of the conditioned model */

    for (size_t i = 0; i < p->all_inactive.name.n; i++)
        vec_push(&all.name, p->all_inactive.name.at[i]);
    for (size_t i = 0; i < more.name.n && fine; batch = many) {
        size_t before = all.name.n;
        smaller t;

        many = batch < more.name.n - i ? batch : more.name.n - i;
        last.name.n = 0;
        for (size_t k = i; k < i + many; k++) {
            const char *name = d->written ? written_name(d->a, more.name.at[k]) : more.name.at[k];

            vec_push(&all.name, name);
            vec_push(&last.name, name);
        }
        fine = partition_without(d, d->run, &all, &t);
        if (fine && all_gone(&t, &last) && !missed(&t, so_far)) {
            smaller_free(x);
            *x = t;
            so_far = &x->cost.error;
            t = (smaller){ 0 };
            for (size_t k = 0; k < last.name.n; k++) {
                vec_push(&p->of_whole.name, last.name.at[k]);
                vec_push(&p->all_inactive.name, last.name.at[k]);
            }
            i += many;
            many *= 2;
        } else {
            all.name.n = before;
            if (many == 1)
                add_kept(d, more.name.at[i++], &t, so_far);
            else
                many = (many + 1) / 2;
        }
        smaller_free(&t);
    }
    vec_free(&more.name);
    vec_free(&all.name);
    vec_free(&last.name);
    return fine;
}
