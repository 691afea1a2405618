/* junction_states.c - common variables of junctions as states instead of storage elements */
#include <string.h>

#include "causality_inside.h"

/* Is there any modulated two-port? */
static bool
find_state_candidates(struct assign *a)
{
    bool *listed = bg_calloc(a->s.njunction, sizeof *listed), varies = false;

    for (size_t i = 0; i < a->f->element.n; i++) {
        const flat_element *el = &a->f->element.at[i];

        for (uint32_t p = el->port0; causality_is_varying(a, i) && p < el->port0 + el->nports; p++) {
            uint32_t j = a->s.junction[p];

            varies = true;
            if (causality_multiplying(a, el, p) == ST_WEAK && !listed[j]) {
                listed[j] = true;
                vec_push(&a->candidate, j);
            }
        }
    }
    free(listed);
    return varies;
}

typedef VEC(uint32_t) points;

/* The points on which a point acts directly: 2j is the common variable of junction j, 2j + 1 the output of its strong
 * end. */
static void
acted_on(const struct assign *a, uint32_t point, points *out)
{
    const strokes *s = &a->s;
    uint32_t j = point / 2, e = s->strong[j];

    out->n = 0;
    if (point % 2) {
        if (e != END_NONE && s->partner[e] != END_NONE)
            vec_push(out, 2 * s->junction[s->partner[e]] + s->link[e]);
        return;
    }
    for (uint32_t k = s->row[j]; k < s->row[j + 1]; k++) {
        e = s->adjacent[k];
        if (s->partner[e] != END_NONE && s->at[e] == ST_WEAK)
            vec_push(out, 2 * s->junction[s->partner[e]] + !s->link[e]);
    }
}

static void
taint(points *list, bool *seen, uint32_t point)
{
    if (seen[point])
        return;
    seen[point] = true;
    vec_push(list, point);
}

/* Marks what resistors, rates of dependent storage and open junctions act on. Unmarked points are functions of states
 * and sources alone. */
static bool *
mark_changeable(const struct assign *a)
{
    const strokes *s = &a->s;
    bool *seen = bg_calloc(2 * (size_t)s->njunction, sizeof *seen);
    points list = { 0 }, next = { 0 };

    for (uint32_t j = 0; j < s->njunction; j++)
        if (s->strong[j] == END_NONE)
            taint(&list, seen, 2 * j);
    for (uint32_t p = 0; p < s->nport; p++)
        if (s->at[p] != ST_OPEN && (port_is_resistive(a->f, p) || causality_is_dependent(a, p)))
            taint(&list, seen, 2 * s->junction[p] + (s->at[p] == ST_WEAK));
    for (size_t i = 0; i < list.n; i++) {
        uint32_t j = list.at[i] / 2, e = s->strong[j];

        if (list.at[i] % 2 && e != END_NONE && s->partner[e] == END_NONE &&
            (port_is_resistive(a->f, e) || causality_is_dependent(a, e)))
            taint(&list, seen, 2 * j);
        acted_on(a, list.at[i], &next);
        for (size_t k = 0; k < next.n; k++)
            taint(&list, seen, next.at[k]);
    }
    vec_free(&next);
    vec_free(&list);
    return seen;
}

/* Strokes that follow from each other form no loop, but two-ports decided separately may. Frees those in loops, so that
 * the rank check handles the open part. Returns whether there were any. */
static bool
release_loops(struct assign *a)
{
    const strokes *s = &a->s;
    uint32_t n = 2 * s->njunction;
    uint32_t *into = bg_calloc(n, sizeof *into), *outof = bg_calloc(n, sizeof *outof),
             *row = bg_calloc(n + 1u, sizeof *row), *before;
    bool *gone = bg_calloc(n, sizeof *gone), any = false;
    points next = { 0 }, ready = { 0 };

    for (uint32_t v = 0; v < n; v++) {
        acted_on(a, v, &next);
        outof[v] = (uint32_t)next.n;
        for (size_t i = 0; i < next.n; i++)
            into[next.at[i]]++;
    }
    for (uint32_t v = 0, sum = 0; v <= n; v++) {
        sum += v < n ? into[v] : 0;
        row[v] = sum;
    }
    before = bg_malloc(row[n] * sizeof *before);
    for (uint32_t v = 0; v < n; v++) {
        acted_on(a, v, &next);
        for (size_t i = 0; i < next.n; i++)
            before[--row[next.at[i]]] = v;
        if (!into[v] || !outof[v])
            vec_push(&ready, v);
    }
    /* removes points without predecessors or successors, from both sides */
    for (size_t i = 0; i < ready.n; i++) {
        uint32_t v = ready.at[i];

        if (gone[v])
            continue;
        gone[v] = true;
        acted_on(a, v, &next);
        for (size_t k = 0; k < next.n; k++)
            if (--into[next.at[k]] == 0)
                vec_push(&ready, next.at[k]);
        for (uint32_t k = row[v]; k < row[v + 1]; k++)
            if (--outof[before[k]] == 0)
                vec_push(&ready, before[k]);
    }
    for (uint32_t i = 0; i < a->f->element.n; i++) {
        uint32_t p = a->f->element.at[i].port0;

        for (uint32_t k = p; causality_is_varying(a, i) && k < p + a->f->element.at[i].nports; k++) {
            uint32_t j = s->junction[k], from = 2 * j + (s->at[k] == ST_STRONG), in = k - (k - p) % 2;

            if (s->at[k] == ST_OPEN || gone[from] || (a->may_divide[in] && k == in))
                continue;
            acted_on(a, from, &next);
            for (size_t t = 0; t < next.n; t++)
                if (next.at[t] / 2 == s->junction[s->partner[k]] && !gone[next.at[t]] && !a->may_divide[in])
                    any = a->may_divide[in] = true;
        }
    }
    free(into);
    free(outof);
    free(row);
    free(before);
    free(gone);
    vec_free(&next);
    vec_free(&ready);
    return any;
}

void
causality_choose_junction_states(struct assign *a)
{
    enum { TRIES = 8 };
    size_t want;
    bool *changeable;
    enum outcome o;

    if (!find_state_candidates(a))
        return;
    if (!causality_settle(a, false, ANY_DIRECTION)) {
        memset(a->forced, 0, a->s.nport * sizeof *a->forced);
        memset(a->may_divide, true, a->s.nport * sizeof *a->may_divide);
        return;
    }
    want = causality_count_states(a);
    changeable = mark_changeable(a);
    memset(a->forced, 0, a->s.nport * sizeof *a->forced);
    while ((o = causality_run(a, false, LOOKING)) == REPEAT)
        ;
    for (size_t i = 0; i < a->candidate.n; i++) {
        uint32_t j = a->candidate.at[i];

        a->state_junction[j] = o == RAN && a->s.strong[j] == END_NONE && !changeable[2 * j];
    }
    free(changeable);
    for (int tries = 0;; tries++) {
        bool settled = causality_settle(a, false, FINAL), loops = settled && release_loops(a),
             right = settled && causality_count_states(a) == want;
        size_t before = a->nreleased;

        memset(a->forced, 0, a->s.nport * sizeof *a->forced);
        if (right && !loops)
            break;
        if (tries < TRIES && loops)
            continue;
        if (tries < TRIES) {
            a->releasing = true;
            causality_settle(a, false, FINAL);
            memset(a->forced, 0, a->s.nport * sizeof *a->forced);
            a->releasing = false;
            if (a->nreleased > before)
                continue;
        }
        /* no other alternative: as many states as possible, with dividing two-ports if necessary */
        memset(a->state_junction, 0, a->s.njunction * sizeof *a->state_junction);
        memset(a->may_divide, true, a->s.nport * sizeof *a->may_divide);
        break;
    }
}
