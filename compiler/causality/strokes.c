/* strokes.c - implications of causal strokes, with reasons and exact undo
 *
 * Two rules, applied first in, first out: an end known to be strong makes the others of its junction weak; if all ends
 * but one are weak, the last one is strong. A bond or two-port carries strength to its partner. The open ends of a
 * junction are represented by their number and the XOR of their ids, so that the last one is found without a scan. Time
 * is linear in the number of decided ends.
 */
#include <string.h>

#include "strokes.h"

static void
join_ends(strokes *s, uint32_t a, uint32_t b, bool gyrates)
{
    uint8_t ta = s->f->junction.at[s->junction[a]].type, tb = s->f->junction.at[s->junction[b]].type;

    s->partner[a] = b;
    s->partner[b] = a;
    s->link[a] = s->link[b] = (ta == tb) != gyrates;
}

void
strokes_init(strokes *s, const flat_model *f)
{
    uint32_t n = 0;

    memset(s, 0, sizeof *s);
    s->f = f;
    s->nport = (uint32_t)f->port.n;
    s->nend = s->nport + 2 * (uint32_t)f->bond.n;
    s->njunction = (uint32_t)f->junction.n;
    s->junction = bg_calloc(s->nend, sizeof *s->junction);
    s->partner = bg_malloc(s->nend * sizeof *s->partner);
    s->link = bg_calloc(s->nend, sizeof *s->link);
    s->sign = bg_calloc(s->nend, sizeof *s->sign);
    s->incidence = bg_calloc(s->nend, sizeof *s->incidence);
    s->at = bg_calloc(s->nend, sizeof *s->at);
    s->why = bg_calloc(s->nend, sizeof *s->why);
    s->from = bg_calloc(s->nend, sizeof *s->from);
    s->row = bg_calloc(s->njunction + 1u, sizeof *s->row);
    s->adjacent = bg_calloc(s->nend, sizeof *s->adjacent);
    s->undecided = bg_calloc(s->njunction, sizeof *s->undecided);
    s->mix = bg_calloc(s->njunction, sizeof *s->mix);
    s->strong = bg_calloc(s->njunction, sizeof *s->strong);
    s->free_common = bg_calloc(s->njunction, sizeof *s->free_common);
    for (uint32_t p = 0; p < s->nport; p++) {
        s->junction[p] = f->port.at[p].junction;
        s->partner[p] = END_NONE;
    }
    for (uint32_t b = 0; b < f->bond.n; b++) {
        uint32_t e = s->nport + 2 * b;

        s->junction[e] = f->bond.at[b].from;
        s->junction[e + 1] = f->bond.at[b].to;
        join_ends(s, e, e + 1, false);
    }
    for (size_t i = 0; i < f->element.n; i++) {
        const flat_element *el = &f->element.at[i];

        for (uint32_t p = el->port0; is_two_port(el) && p + 1 < el->port0 + el->nports; p += 2)
            join_ends(s, p, p + 1, el->type == EL_GY);
    }
    for (uint32_t j = 0; j < s->njunction; j++) {
        const flat_junction *fj = &f->junction.at[j];

        s->row[j] = n;
        for (uint32_t i = fj->inc0; i < fj->inc0 + fj->ninc; i++) {
            const flat_incidence *in = &f->incidence.at[i];
            uint32_t e = in->index;

            if (in->is_bond) {
                e = s->nport + 2 * in->index;
                /* the ends of a bond from a junction to itself are distinguished by the sign: one leaves, one
                 * arrives */
                if (f->bond.at[in->index].from != j || (f->bond.at[in->index].to == j && in->sign > 0))
                    e++;
            }
            s->adjacent[n++] = e;
            s->sign[e] = in->sign;
            s->incidence[e] = i;
        }
    }
    s->row[s->njunction] = n;
    strokes_reset(s);
}

void
strokes_free(strokes *s)
{
    free(s->junction);
    free(s->partner);
    free(s->link);
    free(s->sign);
    free(s->incidence);
    free(s->at);
    free(s->why);
    free(s->from);
    free(s->row);
    free(s->adjacent);
    free(s->undecided);
    free(s->mix);
    free(s->strong);
    free(s->free_common);
    vec_free(&s->trail);
}

void
strokes_reset(strokes *s)
{
    memset(s->at, 0, s->nend);
    memset(s->free_common, 0, s->njunction * sizeof *s->free_common);
    for (uint32_t j = 0; j < s->njunction; j++) {
        s->undecided[j] = s->row[j + 1] - s->row[j];
        s->mix[j] = 0;
        s->strong[j] = END_NONE;
        for (uint32_t i = s->row[j]; i < s->row[j + 1]; i++)
            s->mix[j] ^= s->adjacent[i];
    }
    s->trail.n = s->head = 0;
}

static bool
note_conflict(strokes *s, uint32_t j, uint32_t e, uint32_t held, enum why why, uint32_t from)
{
    s->conflict = (stroke_conflict){ .junction = j, .e = e, .held = held, .from = from, .why = why };
    return false;
}

static bool
set(strokes *s, uint32_t e, enum strength v, enum why why, uint32_t from)
{
    uint32_t j = s->junction[e];

    if (s->at[e] == v)
        return true;
    if (s->at[e] != ST_OPEN)
        return note_conflict(s, j, e, e, why, from);
    if (v == ST_STRONG && s->strong[j] != END_NONE)
        return note_conflict(s, j, e, s->strong[j], why, from);
    s->at[e] = (int8_t)v;
    s->why[e] = (uint8_t)why;
    s->from[e] = from;
    s->undecided[j]--;
    s->mix[j] ^= e;
    if (v == ST_STRONG)
        s->strong[j] = e;
    vec_push(&s->trail, e);
    return true;
}

/* The implications at junction j once all of its ends but one, or all of them, are weak. */
static bool
last_one(strokes *s, uint32_t j)
{
    if (s->strong[j] != END_NONE || s->free_common[j])
        return true;
    if (s->undecided[j] == 1)
        return set(s, s->mix[j], ST_STRONG, WHY_LAST, END_NONE);
    return s->undecided[j] != 0 || note_conflict(s, j, END_NONE, END_NONE, WHY_LAST, END_NONE);
}

static bool
follow_stroke(strokes *s)
{
    while (s->head < s->trail.n) {
        uint32_t e = s->trail.at[s->head++], j = s->junction[e], other = s->partner[e];
        enum strength v = (enum strength)s->at[e];

        if (other != END_NONE && !set(s, other, s->link[e] ? opposite(v) : v, WHY_PARTNER, e))
            return false;
        if (v == ST_WEAK) {
            if (!last_one(s, j))
                return false;
            continue;
        }
        for (uint32_t i = s->row[j]; s->undecided[j] && i < s->row[j + 1]; i++)
            if (s->adjacent[i] != e && !set(s, s->adjacent[i], ST_WEAK, WHY_STRONG, e))
                return false;
        /* the ends decided before e became strong were already weak, as checked when they were set */
    }
    return true;
}

void
strokes_undo(strokes *s, size_t mark)
{
    while (s->trail.n > mark) {
        uint32_t e = s->trail.at[--s->trail.n], j = s->junction[e];

        if (s->strong[j] == e)
            s->strong[j] = END_NONE;
        s->at[e] = ST_OPEN;
        s->undecided[j]++;
        s->mix[j] ^= e;
    }
    s->head = mark;
}

bool
strokes_start(strokes *s)
{
    for (uint32_t j = 0; j < s->njunction; j++)
        if (s->undecided[j] == 1 && (!last_one(s, j) || !follow_stroke(s)))
            return false;
    return true;
}

bool
strokes_decide(strokes *s, uint32_t e, enum strength v)
{
    return set(s, e, v, WHY_ROOT, END_NONE) && follow_stroke(s);
}

bool
strokes_try(strokes *s, uint32_t e, enum strength v)
{
    size_t mark = s->trail.n;

    if (strokes_decide(s, e, v))
        return true;
    strokes_undo(s, mark);
    return false;
}

bool
strokes_try_state(strokes *s, uint32_t j)
{
    size_t mark = s->trail.n;
    bool before = s->free_common[j];

    if (s->strong[j] != END_NONE)
        return false;
    s->free_common[j] = true;
    for (uint32_t i = s->row[j]; i < s->row[j + 1]; i++)
        if (!set(s, s->adjacent[i], ST_WEAK, WHY_ROOT, END_NONE)) {
            strokes_undo(s, mark);
            s->free_common[j] = before;
            return false;
        }
    if (follow_stroke(s) && s->strong[j] == END_NONE)
        return true;
    strokes_undo(s, mark);
    s->free_common[j] = before;
    return false;
}

/* ---------------------------------------------------------------- reasons */

typedef VEC(uint32_t) ends;

/* The ends that made `e` what it is. */
static void
antecedents(const strokes *s, uint32_t e, enum why why, uint32_t from, ends *out)
{
    uint32_t j = s->junction[e];

    out->n = 0;
    switch (why) {
    case WHY_ROOT: break;
    case WHY_PARTNER:
    case WHY_STRONG: vec_push(out, from); break;
    case WHY_LAST:
        for (uint32_t i = s->row[j]; i < s->row[j + 1]; i++)
            if (s->adjacent[i] != e)
                vec_push(out, s->adjacent[i]);
        break;
    }
}

/* A breadth-first walk backwards through the reasons. Each end remembers which one led to it. */
struct walk {
    ends found, next;
    map seen;
    VEC(uint32_t) parent;
    size_t head;
};

static void
walk_add(struct walk *w, uint32_t e, uint32_t parent)
{
    if (map_get(&w->seen, e) != MAP_NONE)
        return;
    map_set(&w->seen, e, (uint32_t)w->found.n);
    vec_push(&w->found, e);
    vec_push(&w->parent, parent);
}

static void
walk_start(const strokes *s, struct walk *w)
{
    const stroke_conflict *c = &s->conflict;

    memset(w, 0, sizeof *w);
    if (c->e == END_NONE) {
        for (uint32_t i = s->row[c->junction]; i < s->row[c->junction + 1]; i++)
            walk_add(w, s->adjacent[i], END_NONE);
        return;
    }
    if (c->why == WHY_ROOT) {
        walk_add(w, c->e, END_NONE);
        if (c->held == c->e) { /* the end to be decided is itself decided otherwise: continue with its reasons */
            antecedents(s, c->e, (enum why)s->why[c->e], s->from[c->e], &w->next);
            for (size_t i = 0; i < w->next.n; i++)
                walk_add(w, w->next.at[i], END_NONE);
            w->head = 1;
            return;
        }
    } else {
        antecedents(s, c->e, c->why, c->from, &w->next);
        for (size_t i = 0; i < w->next.n; i++)
            walk_add(w, w->next.at[i], END_NONE);
    }
    walk_add(w, c->held, END_NONE);
}

/* The next root; END_NONE: no more. */
static uint32_t
walk_root(const strokes *s, struct walk *w, size_t limit)
{
    while (w->head < w->found.n && w->head < limit) {
        uint32_t i = (uint32_t)w->head++, e = w->found.at[i];

        antecedents(s, e, (enum why)s->why[e], s->from[e], &w->next);
        if (!w->next.n)
            return i;
        for (size_t k = 0; k < w->next.n; k++)
            walk_add(w, w->next.at[k], i);
    }
    return END_NONE;
}

static void
walk_free(struct walk *w)
{
    vec_free(&w->found);
    vec_free(&w->next);
    vec_free(&w->parent);
    map_free(&w->seen);
}

void
strokes_explain(strokes *s, size_t limit, uint32_t root[2], stroke_path *path)
{
    struct walk w;
    uint32_t index[2] = { END_NONE, END_NONE };
    uint32_t i;
    bool decided;

    root[0] = root[1] = END_NONE;
    path->end.n = 0;
    walk_start(s, &w);
    /* the decision that failed counts as a root although it was not made */
    decided = s->conflict.e != END_NONE && s->conflict.why == WHY_ROOT;
    if (decided) {
        index[0] = 0;
        if (w.head == 0)
            w.head = 1;
    }
    while (index[1] == END_NONE && (i = walk_root(s, &w, limit)) != END_NONE)
        index[index[0] != END_NONE] = i;
    if (index[0] != END_NONE) {
        /* from a root the parents lead towards the conflict */
        for (i = index[0]; i != END_NONE; i = w.parent.at[i])
            vec_push(&path->end, w.found.at[i]);
        root[0] = w.found.at[index[0]];
    }
    if (index[1] != END_NONE) {
        size_t middle;

        w.next.n = 0;
        for (i = index[1]; i != END_NONE; i = w.parent.at[i])
            vec_push(&w.next, w.found.at[i]);
        /* removes the part that both paths share on the way to the conflict */
        while (path->end.n > 1 && w.next.n > 1 && path->end.at[path->end.n - 1] == w.next.at[w.next.n - 1] &&
               path->end.at[path->end.n - 2] == w.next.at[w.next.n - 2]) {
            path->end.n--;
            w.next.n--;
        }
        if (w.next.n && path->end.n && path->end.at[path->end.n - 1] == w.next.at[w.next.n - 1])
            w.next.n--;
        middle = path->end.n;
        for (size_t k = 0; k < w.next.n; k++)
            vec_push(&path->end, w.next.at[k]);
        for (size_t a = middle, b = path->end.n; a + 1 < b; a++, b--) {
            uint32_t t = path->end.at[a];

            path->end.at[a] = path->end.at[b - 1];
            path->end.at[b - 1] = t;
        }
        root[1] = w.found.at[index[1]];
    }
    walk_free(&w);
}

uint32_t *
strokes_origins(const strokes *s)
{
    uint32_t *origin = bg_malloc((s->nend + 1) * sizeof *origin), *far = bg_calloc(s->nend + 1, sizeof *far);
    ends behind = { 0 };

    memset(origin, 0xff, (s->nend + 1) * sizeof *origin); /* END_NONE */
    /* an end's reason comes before it in the trail */
    for (size_t i = 0; i < s->trail.n; i++) {
        uint32_t e = s->trail.at[i];

        antecedents(s, e, (enum why)s->why[e], s->from[e], &behind);
        if (!behind.n)
            origin[e] = e;
        for (size_t k = 0; k < behind.n; k++) {
            uint32_t b = behind.at[k];

            if (origin[b] != END_NONE && (origin[e] == END_NONE || far[b] + 1 < far[e])) {
                origin[e] = origin[b];
                far[e] = far[b] + 1;
            }
        }
    }
    vec_free(&behind);
    free(far);
    return origin;
}

void
strokes_roots(strokes *s, void (*visit)(void *ctx, uint32_t end), void *ctx, size_t limit)
{
    struct walk w;
    uint32_t i;

    walk_start(s, &w);
    while ((i = walk_root(s, &w, limit)) != END_NONE)
        visit(ctx, w.found.at[i]);
    walk_free(&w);
}
