/* events_act.c - what `when`, samples and assertions do to states */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events_inside.h"

/* Events of a `when` have no end (the bounces of a ball) when CLOSER_MOST intervals in a row were each shorter than
 * CLOSER times the one before, and the last one shorter than CLOSEST of the run. */
#define CLOSER 0.999
#define CLOSER_MOST 8
#define CLOSEST 1e-5

/* Counts a firing of `when` w. False, and reported: there were too many in a very short time; they come ever closer; or
 * no time has passed since the last one, and this one is no consequence of it (`follows`). */
static bool
allow_firing(events *e, size_t w, double t, bool follows)
{
    struct firing *f = &e->firing[w];
    double interval = t - f->at, whole = e->stop - e->start;
    bool stuck = !follows && interval <= 4 * events_tiny(e, t);

    f->closer = interval < CLOSER * f->interval ? f->closer + 1 : 0;
    f->interval = interval;
    f->at = t;
    if (!(t - f->since <= CHATTER_SPAN * whole)) {
        f->since = t;
        f->count = 0;
    }
    if (++f->count <= CHATTER_MOST && !stuck && !(f->closer >= CLOSER_MOST && interval < CLOSEST * whole))
        return true;

    sources *s = model_sources(e->model);
    diag_error(s, "run-chattering", e->when[w].at, "\"%s\" becomes true again and again without end at %.6g s",
               e->when[w].text, t);
    diag_help(s, "The events follow each other ever faster. Stop the run earlier, or replace the events by a spring "
                 "and a damper.");
    return false;
}

/* Names the equation that has no finite value at (t, x), if that is the cause. */
static void
note_infinite(events *e, double t, const double *x)
{
    char *text = NULL;
    span at = model_explain(e->model, t, x, &text);

    if (text && span_known(at))
        diag_note(model_sources(e->model), at, "%s", text);
    free(text);
}

/* Sets the states of w, from values that were all computed before. *moved becomes true if one changed. */
static bool
jump(events *e, size_t w, double t, double *x, bool *moved)
{
    const struct model_when *m = &e->when[w];

    for (size_t r = m->first; r < m->first + m->n; r++) {
        size_t state = model_reinit_state(e->model, r);
        double value = e->reinit[e->nwhens + r];

        if (!isfinite(value)) {
            sources *s = model_sources(e->model);
            diag_error(s, "run-reinit", m->at,
                       m->kind == WHEN_SAMPLES ? "at the sample \"%s\" at %.6g s, the value for \"%s\" is not finite"
                                               : "when \"%s\" becomes true at %.6g s, the value for \"%s\" is not "
                                                 "finite",
                       m->text, t, model_state(e->model, state).name);
            note_infinite(e, t, x);
            return false;
        }
        *moved |= x[state] != value;
        x[state] = value;
    }
    return true;
}

/* In the first sample of w, `previous(s)` is the present value of s, so the states that remember are set first; again
 * until nothing changes, since one may remember another. */
static bool
remember_first(events *e, size_t w, double t, double *x)
{
    const struct model_when *m = &e->when[w];

    for (bool changed = true; changed;) {
        changed = false;
        for (size_t r = m->first; r < m->first + m->n; r++) {
            double value = e->reinit[e->nwhens + r], *at = &x[model_reinit_state(e->model, r)];

            if (!model_reinit_remembers(e->model, r) || *at == value || !isfinite(value))
                continue;
            *at = value;
            changed = true;
        }
        if (changed && model_reinits(e->model, t, x, e->reinit) != 0)
            return false;
    }
    return true;
}

void
events_fail_assertion(events *e, size_t w, double t, const double *x)
{
    const struct model_when *m = &e->when[w];
    sources *s = model_sources(e->model);
    double *v = bg_calloc(model_nvariables(e->model) + 1, sizeof *v);
    strbuf values = { 0 };

    if (model_variables(e->model, t, x, v))
        samples_values(e->model, w, v, &values);
    if (m->says)
        diag_error(s, "run-assert", m->at, "%s: \"%s\" does not hold at %.6g s%s%s", m->says, m->text, t,
                   values.n ? ", where " : "", values.n ? values.at : "");
    else
        diag_error(s, "run-assert", m->at, "\"%s\" does not hold at %.6g s%s%s", m->text, t, values.n ? ", where " : "",
                   values.n ? values.at : "");
    strbuf_free(&values);
    free(v);
}

/* Does what w says, when its condition turns true or its sample is due. follows: see allow_firing. */
static enum events_status
fire(events *e, size_t w, double t, double *x, bool follows, bool *moved)
{
    bool first = false;

    switch (e->when[w].kind) {
    case WHEN_ASSERTS: events_fail_assertion(e, w, t, x); return EVENTS_STOP;
    case WHEN_STOPS:
        if (e->stopped == NO_INDEX)
            e->stopped = w;
        return EVENTS_SAME;
    case WHEN_SAMPLES: first = samples_first(e->samples, w); break;
    case WHEN_TURNS:
        if (!allow_firing(e, w, t, follows))
            return EVENTS_STOP;
        *moved = true; /* an event, whatever it sets */
        break;
    }
    if (e->follow)
        e->follow(e->follow_ctx, w, first, x);
    if (first && !remember_first(e, w, t, x))
        return EVENTS_FAILED;
    return jump(e, w, t, x, moved) ? EVENTS_SWITCHED : EVENTS_STOP;
}

/* Notes in `turned` the conditions that are true at this instant alone, since what they say to be equal passes from one
 * side to the other. */
static bool
find_passing(events *e, double t, const double *x)
{
    memset(e->turned, 0, e->nwhens * sizeof *e->turned);
    if (!e->any_passing)
        return true;
    for (uint32_t k = 0; k < e->n; k++)
        if (e->passing[k])
            e->value[k] = 1;
    if (model_reinits(e->model, t, x, e->reinit) != 0)
        return false;
    for (size_t w = 0; w < e->nwhens; w++)
        e->turned[w] = e->reinit[w] != 0 && !e->held[w];
    for (uint32_t k = 0; k < e->n; k++) {
        if (e->passing[k])
            e->value[k] = 0;
        e->passing[k] = false;
    }
    e->any_passing = false;
    return true;
}

/* Notes in `turned` the conditions that turned true and, if `first`, the samples that are due. */
static enum events_status
find_turned(events *e, double t, const double *x, bool first, bool *sampled)
{
    *sampled = first && samples_take(e->samples, t + events_tiny(e, t), e->value);
    if (!find_passing(e, t, x) || model_reinits(e->model, t, x, e->reinit) != 0)
        return EVENTS_FAILED;
    for (size_t w = 0; w < e->nwhens; w++) {
        bool now = e->reinit[w] != 0;

        e->turned[w] = e->turned[w] || (now && !e->held[w]) || (*sampled && samples_taken(e->samples, w));
        e->held[w] = now;
    }
    return EVENTS_SAME;
}

/* Is mode k a comparison, floor() or piece of a table that a state may turn, not one that a search decides? */
static bool
follows_states(const events *e, uint32_t k)
{
    enum mode_kind kind = e->mode[k].kind;

    return !e->of_net[k] && e->mode[k].side == 0 &&
           (kind == MODE_LESS || kind == MODE_LESS_EQUAL || kind == MODE_EQUAL || events_stepped(&e->mode[k]));
}

/* Values of the next block may read conditions that those before it at this instant have turned. */
static bool
follow_blocks_at(events *e, double t, const double *x)
{
    bool changed = e->near.n > 0;

    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = false;
        if (!events_look(e, t, x, e->g))
            return false;
        for (size_t i = 0; i < e->near.n; i++) {
            uint32_t k = e->near.at[i];
            double before = e->value[k], g = e->g[k];

            if (!follows_states(e, k) ||
                !(events_margin_of(e, k, g) < -CONTRADICTION * e->size[k] || events_jumped_onto(e, k, g)))
                continue;
            events_set_mode(e, k, events_right_value(e, k, g, g, false), g, g);
            changed |= e->value[k] != before;
        }
    }
    return true;
}

enum events_status
events_act(events *e, double t, double *x)
{
    bool any = false, any_switched = false, sampled;

    events_hold_all(e, t, x);
    for (bool first = true; e->nwhens > 0; first = false) { /* ends: firings are counted */
        bool fired = false, moved = false;
        enum events_status status = find_turned(e, t, x, first, &sampled);

        if (status != EVENTS_SAME)
            return status;
        events_keep_before(e);
        /* in the order of the text; each reads the states that those before it have set */
        for (size_t w = 0; w < e->nwhens; w++) {
            if (!e->turned[w])
                continue;
            if (fired && (!follow_blocks_at(e, t, x) || model_reinits(e->model, t, x, e->reinit) != 0))
                return EVENTS_FAILED;
            status = fire(e, w, t, x, any, &moved);
            if (status == EVENTS_FAILED || status == EVENTS_STOP)
                return status;
            any_switched |= status == EVENTS_SWITCHED && e->when[w].kind == WHEN_TURNS;
            fired |= status == EVENTS_SWITCHED;
        }
        if (!moved)
            break;
        any = true;
        if (e->watched.n || e->nets) {
            enum events_status settled = events_settle_right(e, t, x, true);

            if (settled == EVENTS_FAILED || settled == EVENTS_STOP)
                return settled;
            any_switched |= settled == EVENTS_SWITCHED;
        }
        events_hold_all(e, t, x);
    }
    return any_switched ? EVENTS_SWITCHED : any ? EVENTS_SAMPLED : EVENTS_SAME;
}
