/* to_order.c - see to_order.h */
#include "to_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array_numbers.h"
#include "columns.h"
#include "crew.h"
#include "gramians.h"
#include "mode_reduction.h"
#include "numbers.h"
#include "response.h"
#include "side_by_side.h"
#include "simulate.h"
#include "tuning.h"
#include "version.h"

enum { FREQUENCIES = 60, PARTS_MOST = 1500 };
static const double ANOTHER = 1e-9;       /* relative: a number that changes by more is another one */
static const double SAME_RESPONSE = 1e-7; /* relative: the text that was written does what the network did */
/* Error that the search aims at, relative to the norm: that of balanced truncation, or the first where this is not
 * known; the second where truncation is exact to rounding. */
static const double AIM = 1e-3, LEAST_AIM = 1e-9;

/* A text, compiled with its inputs and sources open, and its linear model. */
struct linear_text {
    compilation c;
    linearization l;
};

struct work {
    const char *path, *text;
    size_t length;
    const order_options *o;
    reduction *r;
    order_report *report;
    struct linear_text full;
    network network;
    tuning_choice tuning;
    frequencies at;
    joint_result found;
};

static void
linear_text_free(struct linear_text *x)
{
    linearization_free(&x->l);
    compile_free(&x->c);
}

static bool
compile_linear(const struct work *w, const char *text, size_t length, struct linear_text *x, char **why)
{
    compile_options o = { .experiment = w->o->experiment, .open = true };
    double *at, t;
    bool fine;

    *x = (struct linear_text){ 0 };
    if (!compile_text(&x->c, w->path, text, length, STAGE_MODEL, &o)) {
        const char *first = diag_first_error(x->c.sources);

        *why = bg_strdup(first ? first : "it does not compile");
        return false;
    }
    at = bg_calloc(model_nstates(x->c.model) + 1, sizeof *at);
    fine = reduction_point(x->c.model, &t, at) && linearize_at(x->c.model, t, at, &x->l);
    if (!fine)
        *why = bg_strdup(x->l.why                         ? x->l.why
                         : diag_first_error(x->c.sources) ? diag_first_error(x->c.sources)
                                                          : "it has no linear model at its start");
    free(at);
    return fine;
}

/* ---------------------------------------------------------------- numbers of the text */

/* Parameters given by one number of the text move together; parameters that are not a number of the text do not
 * move. */
static void
join_places(struct work *w)
{
    tuning_choice *t = &w->tuning;
    VEC(number_place) place = { 0 };
    size_t *becomes = bg_calloc(t->parameter.by.n + 1, sizeof *becomes);

    for (size_t p = 0; p < t->parameter.by.n; p++) {
        const char *name = t->parameter.name.at[p];
        number_place at = number_find(&w->full.c, t->parameter.by.at[p], name);
        size_t item, q = 0;
        const ast_stmt *array = array_of(&w->full.c, name, &item);

        vec_push(&place, at);
        while (q < p && !(at.known && !array && place.at[q].known && place.at[q].at.begin == at.at.begin))
            q++;
        becomes[p] = q;
        if ((array ? isnan(array_scale(&w->full.c, array)) : !at.known || at.offset != 0)) {
            becomes[p] = NO_INDEX;
            vec_push(&t->left, bg_format("%s: it is not a number in this file", name));
        }
    }
    for (size_t i = 0; i < w->network.n; i++) {
        size_t kept = 0;

        for (size_t j = 0; j < t->tuning.of[i].n; j++) {
            tuned *x = &t->tuning.of[i].at[j];

            x->parameter = becomes[x->parameter];
            if (x->parameter != NO_INDEX)
                t->tuning.of[i].at[kept++] = *x;
        }
        t->tuning.of[i].n = kept;
    }
    vec_free(&place);
    free(becomes);
}

/* Does a remaining part depend on parameter p? */
static bool
number_is_read(const struct work *w, const network_piece *piece, size_t p)
{
    for (size_t m = 0; m < piece->n; m++) {
        size_t part = piece->member[m];

        for (size_t j = 0; j < w->tuning.tuning.of[part].n && w->found.fate[part] == PART_STAYS; j++)
            if (w->tuning.tuning.of[part].at[j].parameter == p)
                return true;
    }
    return false;
}

static double
number_now(const struct work *w, size_t p)
{
    return w->tuning.start.at[p] * exp(w->found.theta[p]);
}

static void
report_number(struct work *w, size_t p, span at, double scale)
{
    reduction *r = w->r;
    double from = w->tuning.start.at[p], to = number_now(w, p);
    char *was = number_written(from / scale), *is = number_written(to / scale);
    int line, unused;

    source_place(w->full.c.sources, w->full.c.ast->file, (uint32_t)reduction_origin(r, at.begin), &line, &unused);
    vec_push(&w->report->number,
             ((order_number){ arena_strdup(r->arena, w->tuning.parameter.name.at[p]), from, to, line }));
    vec_push(&r->operation, ((reduce_operation){ .kind = REWRITE_REFIT,
                                                 .name = arena_strdup(r->arena, w->tuning.parameter.name.at[p]),
                                                 .line = line,
                                                 .round = (int)r->rounds.n + 1,
                                                 .why = arena_format(r->arena, "%s becomes %s", was, is) }));
    free(was);
    free(is);
}

/* Writes all items of the array to which parameter p belongs. */
static void
write_array(const struct work *w, const struct linear_text *small, const network_piece *piece, const ast_stmt *array,
            bool shorten, edits *e)
{
    VEC(double) value = { 0 };
    double scale = array_scale(&small->c, array);
    size_t last = 0;

    for (size_t i = 1;; i++) {
        char *name = bg_format("%s[%zu]", array->value.name, i);
        var_id v = model_parameter(small->c.model, name);

        if (v != VAR_NONE)
            vec_push(&value, model_parameter_value(small->c.model, v) / scale);
        for (size_t p = 0; p < w->tuning.parameter.by.n && v != VAR_NONE; p++)
            if (!strcmp(w->tuning.parameter.name.at[p], name) && number_is_read(w, piece, p)) {
                value.at[i - 1] = number_now(w, p) / scale;
                last = i;
            }
        free(name);
        if (v == VAR_NONE)
            break;
    }
    if (last)
        array_write(&small->c, array, value.at, shorten ? last : value.n, shorten && last < value.n, e);
    vec_free(&value);
}

/* Edits the numbers of the text without the removed elements. */
static void
write_numbers(struct work *w, const struct linear_text *small, const network_piece *piece, bool shorten, bool note,
              edits *e)
{
    VEC(const ast_stmt *) done = { 0 };

    for (size_t p = 0; p < w->tuning.parameter.by.n; p++) {
        const char *name = w->tuning.parameter.name.at[p];
        var_id v = model_parameter(small->c.model, name);
        size_t item, k = 0;
        const ast_stmt *array = array_of(&small->c, name, &item);
        number_place at;
        char *text;

        if (v == VAR_NONE || fabs(w->found.theta[p]) <= ANOTHER || !number_is_read(w, piece, p))
            continue;
        if (array) {
            if (note)
                report_number(w, p, array->at, array_scale(&small->c, array));
            while (k < done.n && done.at[k] != array)
                k++;
            if (k == done.n) {
                vec_push(&done, array);
                write_array(w, small, piece, array, shorten, e);
            }
            continue;
        }
        at = number_find(&small->c, v, name);
        if (note)
            report_number(w, p, at.at, at.scale);
        text = number_written(number_now(w, p) / at.scale);
        edits_replace(e, at.at.begin, at.at.end, text, strlen(text));
        free(text);
    }
    vec_free(&done);
}

/* ---------------------------------------------------------------- removal of elements */

/* Does removing the part mean to drop its bond (its own variable is zero), rather than to hold its junction at rest? */
static bool
is_drop(const struct work *w, size_t part)
{
    const flat_model *f = w->full.c.flat;
    const network_part *q = &w->network.part[part];
    bool effort_zero = q->gives_effort == (w->found.fate[part] == PART_GIVES_NOTHING);

    return effort_zero == (f->junction.at[f->port.at[q->port].junction].type == 1);
}

/* Is it next to a remaining part? Otherwise both ways of removing it are the same. */
static bool
touches(const struct work *w, const network_piece *piece, size_t part)
{
    const network *k = &w->network;

    for (size_t m = 0; m < piece->n; m++)
        if (piece->member[m] == part || k->J[part + k->n * piece->member[m]] != 0 ||
            k->J[piece->member[m] + k->n * part] != 0)
            return true;
    return false;
}

static const char *
name_in(const flat_model *f, const char *name)
{
    for (uint32_t e = 0; e < f->element.n; e++)
        if (!strcmp(f->element.at[e].name, name))
            return f->element.at[e].name;
    return NULL;
}

/* The text without the removed elements. clamps: which of them are clamped; the others are dropped. */
static bool
text_without_parts(struct work *w, const network_piece *piece, const bool *clamped, strbuf *out, bool record,
                   char **why)
{
    compile_options o = { .experiment = w->o->experiment };
    compilation plain = { 0 };
    VEC(const char *) name = { 0 };
    VEC(rewrite_change) change = { 0 };
    rewrite plan = { 0 };
    bool fine = compile_text(&plain, w->path, w->text, w->length, STAGE_GRAPH, &o);

    for (size_t i = 0; i < w->network.n && fine; i++) {
        uint32_t port = w->network.part[i].port;
        const char *element = port == NONE ? NULL : name_in(plain.flat, port_name(w->full.c.flat, port));
        bool stays = false;

        for (size_t m = 0; m < piece->n; m++)
            stays = stays || (piece->member[m] == i && w->found.fate[i] == PART_STAYS);
        if (stays || !element)
            continue;
        if (clamped[i])
            vec_push(&change, ((rewrite_change){ .kind = REWRITE_CLAMP, .owner = element, .name = element }));
        else
            vec_push(&name, element);
    }
    fine = fine && rewrite_plan(&(rewrite_request){ .f = plain.flat,
                                                    .file = plain.ast,
                                                    .name = name.at,
                                                    .n = name.n,
                                                    .change = change.at,
                                                    .nchanges = change.n },
                                &plan);
    if (!fine)
        *why = bg_strdup(plan.error ? plan.error : "the text does not compile");
    if (fine) {
        edits_apply(&plan.edits, w->text, w->length, out);
        if (!out->at)
            strbuf_puts(out, "");
        *why = reduction_check(w->path, w->text, w->length, &o, &plan, out->at, out->n, &o);
        fine = !*why;
    }
    if (fine && record)
        record_reduction(w->r, plain.sources, plain.ast->file, &plan);
    rewrite_free(&plan);
    vec_free(&name);
    vec_free(&change);
    compile_free(&plain);
    return fine;
}

/* Has the text the response that the network predicts (theta NULL: with unchanged numbers)? */
static bool
responds(const struct work *w, const linearization *l, const double *theta)
{
    double *none = bg_calloc(w->tuning.tuning.nparameters + 1, sizeof *none), off = 0;
    frequencies f = w->at;
    responder *r = l->space.nu == w->network.nu && l->space.ny == w->network.ny ? responder_new(&l->space) : NULL;
    bool fine = r != NULL;

    f.G = bg_calloc(f.n * f.size + 1, sizeof *f.G);
    for (size_t i = 0; i < f.n && fine; i++)
        fine = response_at(r, f.omega[i], f.G + i * f.size);
    if (fine)
        off = network_error(&w->network, &w->tuning.tuning, w->found.fate, &f, theta ? theta : none);
    free(f.G);
    free(none);
    responder_free(r);
    return fine && off <= SAME_RESPONSE;
}

/* Removes parts next to remaining ones as in the network; where dropping gives the same response, they are dropped. */
static bool
cut_text(struct work *w, const network_piece *piece, strbuf *out, char **why)
{
    bool *clamped = bg_calloc(w->network.n + 1, sizeof *clamped), fine = false;
    struct linear_text small;

    for (size_t i = 0; i < w->network.n; i++)
        clamped[i] = !(w->found.fate[i] == PART_STAYS) && touches(w, piece, i) && !is_drop(w, i);
    for (size_t i = 0; i <= w->network.n; i++) {
        strbuf text = { 0 };
        bool last = i == w->network.n, same;

        if (!last && !clamped[i])
            continue;
        if (!last)
            clamped[i] = false;
        same = text_without_parts(w, piece, clamped, &text, false, why) &&
               compile_linear(w, text.at, text.n, &small, why) && responds(w, &small.l, NULL);
        linear_text_free(&small);
        if (!last && !same) {
            clamped[i] = true;
            free(*why);
            *why = NULL;
        } else if (last) {
            fine = same;
        }
        strbuf_free(&text);
    }
    if (fine)
        fine = text_without_parts(w, piece, clamped, out, true, why);
    else if (!*why)
        *why = bg_strdup("the reduced text does not have the expected response");
    free(clamped);
    return fine;
}

/* ---------------------------------------------------------------- errors in time */

/* A model, compiled, and its run */
struct order_run {
    compilation c;
    sim_options o;
    track k;
    sim_result r;
    bool fine;
};

static void
set_order_run_up(const struct work *w, const char *text, size_t length, struct order_run *x)
{
    compile_options o = { .experiment = w->o->experiment };

    x->fine = compile_text(&x->c, w->path, text, length, STAGE_MODEL, &o) &&
              sim_options_from_experiment(x->c.model, &x->o);
    if (x->fine) {
        if (w->o->adjust)
            w->o->adjust(w->o->ctx, x->c.model, &x->o);
        x->k.n = model_noutputs(x->c.model);
        x->o.track = &x->k;
        x->o.outputs = true;
    }
}

static void
run_order(void *ctx, size_t i)
{
    struct order_run *x = (struct order_run *)ctx + i;

    x->fine = x->fine && simulate(x->c.model, &x->o, &x->r);
}

static void
order_run_free(struct order_run *x)
{
    sim_options_free(&x->o);
    sim_result_free(&x->r);
    track_free(&x->k);
    compile_free(&x->c);
}

/* The full model and the reduced one run side by side. */
static bool
compare_in_time(struct work *w, char **why)
{
    struct order_run run[2] = { 0 }, *full = &run[0], *small = &run[1];
    bool fine;

    set_order_run_up(w, w->text, w->length, full);
    set_order_run_up(w, w->r->text, w->r->length, small);
    crew_each(2, side_by_side_workers(), run_order, run);
    fine = full->fine && small->fine;
    if (!fine) {
        const char *first = diag_first_error((full->fine ? small : full)->c.sources);

        *why = bg_strdup(first ? first : "it does not run");
    }
    for (size_t i = 0; fine && i < full->c.flat->output.n; i++) {
        const flat_output *o = &full->c.flat->output.at[i];
        size_t in = flat_find_output(small->c.flat, o->name);

        if (in != NO_INDEX)
            reduction_note_error(w->r, w->o->experiment, o, NAN, track_compare(&full->k, i, &small->k, in));
    }
    if (fine) {
        w->r->steps_before = full->r.steps;
        w->r->steps_after = small->r.steps;
        w->r->evaluations_before = full->r.rhs_evaluations;
        w->r->evaluations_after = small->r.rhs_evaluations;
    }
    order_run_free(full);
    order_run_free(small);
    return fine;
}

/* ---------------------------------------------------------------- the whole */

/* Makes the network; returns why that is impossible, or NULL. */
static char *
no_network(struct work *w)
{
    const linearization *l = &w->full.l;
    const flat_model *f = w->full.c.flat;
    bg_model *m = w->full.c.model;
    const char *law, *modulated = NULL;
    double *x = linearization_states(l);
    char *why = NULL;
    bool linear;

    linear = linear_everywhere(m, l->time, x);
    free(x);
    if (!network_of(m, l, &w->network, &why))
        return why;
    if ((law = tuning_nonlinear(m, &w->network)))
        return bg_format("the law of %s is not linear", law);
    for (uint32_t e = 0; e < f->element.n && !modulated; e++)
        if (f->element.at[e].modulated && f->element.at[e].nports == 2)
            modulated = f->element.at[e].name;
    if (!linear)
        return modulated ? bg_format("it is not linear in its states (%s is modulated)", modulated)
                         : bg_strdup("it is not linear in its states");
    return NULL;
}

/* A sentence about a part that has to stay and does not connect inputs with outputs. */
static char *
not_reached(const struct work *w)
{
    uint8_t *fate = bg_calloc(w->network.n + 1, 1);
    network_piece piece;
    char *why = NULL;
    size_t locked = 0;

    network_piece_of(&w->network, fate, &piece);
    for (size_t i = 0; i < w->network.n; i++)
        locked += w->network.part[i].storage && w->network.part[i].locked;
    for (size_t i = 0; i < w->network.n && !piece.whole && !why; i++) {
        bool in = !w->network.part[i].locked;

        for (size_t m = 0; m < piece.n; m++)
            in = in || piece.member[m] == i;
        if (!in && w->network.part[i].port != NONE)
            why = bg_format(w->network.part[i].whole ? "%s stays (a field or dependent storage), and nothing joins "
                                                       "it to inputs and outputs"
                                                     : "%s is read, and no input reaches it",
                            port_name(w->full.c.flat, w->network.part[i].port));
        else if (!in)
            why = bg_strdup("an integral is read that no input reaches");
    }
    if (!why && locked > w->o->states)
        why = bg_format(
            "%zu states stay: they are read by name, kept, in fields, or in storage on which other storage depends",
            locked);
    network_piece_free(&piece);
    free(fate);
    return why;
}

static enum order_result
open_model(struct work *w, char **why)
{
    const linearization *l = &w->full.l;
    yardstick *y = &w->report->yard;

    if (!compile_linear(w, w->text, w->length, &w->full, why))
        return ORDER_FAILED;
    w->r->model = arena_strdup(w->r->arena, w->full.c.flat->name);
    w->r->states_before = l->space.n;
    w->r->elements_before = model_nelements(w->full.c.model);
    if (l->space.n <= w->o->states)
        *why = bg_format("it has %zu states already", l->space.n);
    else if (!l->space.nu || !l->space.ny)
        *why = bg_format("it has no %s", l->space.nu ? "output" : "input and no source");
    else if (l->space.n > PARTS_MOST)
        *why = bg_format("it has %zu states; the limit of this method is %d", l->space.n, PARTS_MOST);
    if (*why)
        return ORDER_REFUSED;
    if ((*why = no_network(w))) {
        char *of = *why;

        *why = bg_format("%s (--within or --threshold with --refit fits in time, whatever the laws)", of);
        free(of);
        return ORDER_REFUSED;
    }
    if (!tuning_of(w->full.c.model, &w->network, w->o->parameters, &w->tuning, why) || (*why = not_reached(w)))
        return ORDER_REFUSED;
    join_places(w);
    if (!yardstick_open(&l->space, y)) {
        *why = bg_strdup(y->why);
        return ORDER_REFUSED;
    }
    yardstick_truncate(y, w->o->states);
    if (!frequencies_of(&y->full, l->modes.eigenvalue, l->modes.count, FREQUENCIES, &w->at)) {
        *why = bg_strdup("no input acts on an output");
        return ORDER_REFUSED;
    }
    return ORDER_DONE;
}

/* Writes the numbers; arrays are shortened to the items that are read where that compiles. */
static bool
write_number_text(struct work *w, const strbuf *cut, const network_piece *piece, char **why)
{
    struct linear_text small, last = { 0 };
    bool fine = compile_linear(w, cut->at, cut->n, &small, why);

    for (int way = 0; fine && way < 2; way++) {
        edits e = { 0 };
        strbuf text = { 0 };
        bool good;

        write_numbers(w, &small, piece, way == 0, false, &e);
        good = edits_seal(&e, cut->n, why);
        if (good)
            edits_apply(&e, cut->at, cut->n, &text);
        good = good && compile_linear(w, text.at, text.n, &last, why) && responds(w, &last.l, w->found.theta);
        if (good) {
            edits unused = { 0 };

            write_numbers(w, &small, piece, way == 0, true, &unused);
            edits_free(&unused);
            vec_push(&w->r->rounds, e);
            w->r->text = text.at;
            w->r->length = text.n;
            w->r->states_after = last.l.space.n;
            w->r->elements_after = model_nelements(last.c.model);
            yardstick_against(&w->report->yard, "elements that stay, refitted", &last.l.space);
            linear_text_free(&last);
            break;
        }
        linear_text_free(&last);
        edits_free(&e);
        strbuf_free(&text);
        fine = way == 0;
        if (fine) {
            free(*why);
            *why = NULL;
        } else if (!*why) {
            *why = bg_strdup("the text with its numbers does not respond as it should");
        }
    }
    linear_text_free(&small);
    return fine;
}

enum order_result
reduce_to_order(const char *path, const char *text, size_t length, const order_options *o, reduction *r,
                order_report *report, char **why)
{
    struct work w = { .path = path, .text = text, .length = length, .o = o, .r = r, .report = report };
    network_piece piece = { 0 };
    strbuf cut = { 0 };
    enum order_result result;

    *why = NULL;
    *r = (reduction){ .arena = arena_new(), .kept_share = NAN };
    *report = (order_report){ .states = o->states };
    result = open_model(&w, why);
    if (result == ORDER_DONE) {
        const yardstick_row *truncated = &report->yard.row.at[0];
        double aim = truncated->why ? AIM : fmax(truncated->error.upper / report->yard.norm.lower, LEAST_AIM);

        report->frequencies = w.at.n;
        if (!joint_search(&w.network, &w.tuning.tuning, &w.at,
                          &(joint_options){ .states = o->states, .yardstick = aim }, &w.found)) {
            *why = bg_format("no set of elements with at most %zu states connects inputs to outputs", o->states);
            result = ORDER_FAILED;
        }
        report->tried = w.found.tried;
        report->fits = w.found.fits;
        report->exchanges = w.found.exchanges;
    }
    if (result == ORDER_DONE) {
        network_piece_of(&w.network, w.found.fate, &piece);
        if (!cut_text(&w, &piece, &cut, why) || !write_number_text(&w, &cut, &piece, why) ||
            (o->experiment && !compare_in_time(&w, why)))
            result = ORDER_FAILED;
    }
    for (size_t i = 0; i < w.tuning.left.n; i++) {
        vec_push(&report->left, w.tuning.left.at[i]);
        w.tuning.left.at[i] = NULL;
    }
    strbuf_free(&cut);
    network_piece_free(&piece);
    joint_result_free(&w.found);
    frequencies_free(&w.at);
    tuning_choice_free(&w.tuning, &w.network);
    network_free(&w.network);
    linear_text_free(&w.full);
    return result;
}

void
order_report_free(order_report *r)
{
    for (size_t i = 0; i < r->left.n; i++)
        free(r->left.at[i]);
    vec_free(&r->left);
    vec_free(&r->number);
    yardstick_free(&r->yard);
}
