/* partition_whole.c - what a threshold on activity takes out of the whole model, compared with what it takes out of the
 * partitions
 *
 * An element's share of the activity of its partition is greater than its share of the whole: an element that is
 * inactive in the whole may be active among the fewer elements of its partition. It is taken out too where the outputs
 * do not miss it: where no output has a greater error than in the worse of the two models reduced by one ranking alone.
 * Elements that stay are reported with their shares and with the effect of taking them out.
 */
#include <math.h>
#include <string.h>

#include "partition_inside.h"

/* An error counts as greater when it grows by more than a hundredth, and only if it is more than a ten-thousandth of
 * the output: smaller changes are within what two runs of one model differ by. */
static const double NO_WORSE = 1.01, NOTHING = 1e-4;

static const run_error *
same_output(const run_errors *list, const run_error *x)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->at[i].state && !strcmp(list->at[i].name, x->name) && !strcmp(list->at[i].experiment, x->experiment))
            return &list->at[i];
    return NULL;
}

/* The output whose error grew most beyond what it was before, or NULL. */
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

/* Are all of these gone from the text? */
static bool
all_gone(const smaller *x, const name_list *more)
{
    for (size_t i = 0; i < more->name.n; i++)
        for (size_t k = 0; k < x->cost.stay.name.n; k++)
            if (!strcmp(more->name.at[i], x->cost.stay.name.at[k]))
                return false;
    return x->text != NULL;
}

/* Takes further elements out of the smaller text, or out of the conditioned one where nothing has gone yet. */
static bool
take_more(struct worker *d, const smaller *x, const name_list *more, smaller *out)
{
    recording *from = x->text ? partition_recordings(d, d->run, NULL, x->text, x->length) : d->run;
    bool fine = partition_without(d, from, more, out);

    if (x->text)
        free(from);
    return fine;
}

/* Did the element go together with others earlier? */
static bool
went_along(const struct worker *d, const smaller *x, const char *name)
{
    compile_options co = recording_options(d->run);
    compilation c = { 0 };
    bool there = !x->text || !compile_text(&c, d->run->path, x->text, x->length, STAGE_GRAPH, &co);

    for (uint32_t i = 0; !there && i < c.flat->element.n; i++)
        there = !strcmp(c.flat->element.at[i].name, name);
    compile_free(&c);
    return !there;
}

static void
add_of_whole(partitioning *p, const name_list *list)
{
    for (size_t k = 0; k < list->name.n; k++) {
        vec_push(&p->of_whole.name, list->name.at[k]);
        vec_push(&p->all_inactive.name, list->name.at[k]);
    }
}

/* Replaces x by t. Elements that could not be taken out of x before stay in its list. */
static void
go_on_with(smaller *x, smaller *t)
{
    for (size_t i = 0; i < x->cost.stay.name.n; i++)
        vec_push(&t->cost.stay.name, x->cost.stay.name.at[i]);
    smaller_free(x);
    *x = *t;
    *t = (smaller){ 0 };
}

bool
partition_add_whole(struct worker *d, smaller *x)
{
    partitioning *p = d->out;
    name_list more = names_beyond(&p->inactive.at[0], &p->all_inactive, d->a), last = { 0 };
    size_t many, batch = more.name.n;
    bool fine = true;
    /* the errors so far; where nothing has gone yet those of the conditioned model */
    const run_errors *so_far = x->text ? &x->cost.error : &p->error;

    for (size_t i = 0; i < more.name.n && fine; batch = many) {
        smaller t;

        many = batch < more.name.n - i ? batch : more.name.n - i;
        last.name.n = 0;
        for (size_t k = i; k < i + many; k++)
            vec_push(&last.name, d->written ? written_name(d->a, more.name.at[k]) : more.name.at[k]);
        fine = take_more(d, x, &last, &t);
        if (fine && all_gone(&t, &last) && !missed(&t, so_far)) {
            go_on_with(x, &t);
            so_far = &x->cost.error;
            add_of_whole(p, &last);
            i += many;
            many *= 2;
        } else if (many == 1) {
            if (fine && !t.text && went_along(d, x, last.name.at[0]))
                add_of_whole(p, &last);
            else
                add_kept(d, more.name.at[i], &t, so_far);
            i++;
        } else {
            many = (many + 1) / 2;
        }
        smaller_free(&t);
    }
    vec_free(&more.name);
    vec_free(&last.name);
    return fine;
}
