/* causality.c - the order in which strokes are decided, and the rounds of the rank check
 *
 * needs     a flat graph with its incidences
 * provides  strokes, states and dependent storage, junction states, open components
 * keeps     the order of declaration, which decides between equals
 * reports   causality-conflict, causality-cycle, causality-singular (errors); causality-derivative, causality-divides
 *           (notes)
 * source    SCAP: Karnopp & Rosenberg (1968); greedy choice of states: outputs of storage elements form a linear
 *           matroid, sources contracted
 *
 * Why rounds, and why they end: a storage element that strokes refuse is a function of sources and of storage elements
 * tried before it. A relation found by the rank check holds among sources and accepted storage elements alone, so that
 * the last of these depends on the others. Each round makes at least one more element dependent and takes nothing from
 * what the states determine. When no relation is left the states are independent, and every dependent variable is a
 * function of states and sources only. Rounds start over instead of undoing single decisions: each is linear, and there
 * are few. Where relations keep hiding each other (inductors between nodes, in any order of declaration) all are
 * computed at once.
 */
#include <math.h>
#include <string.h>

#include "causality_inside.h"

const flat_element *
causality_element_of(const struct assign *a, uint32_t port)
{
    return &a->f->element.at[a->f->port.at[port].element];
}

bool
causality_is_storage(const struct assign *a, uint32_t port)
{
    return a->preferred[port] != ST_OPEN;
}

enum strength
causality_integral(const struct assign *a, uint32_t port)
{
    return (enum strength)a->preferred[port];
}

const char *
causality_common_name(const struct assign *a, uint32_t j)
{
    return a->f->junction.at[j].type == 0 ? "effort" : "flow";
}

/* ---------------------------------------------------------------- coefficients */

static void
two_port_coefs(const struct assign *a, const flat_element *el, uint32_t in, uint32_t n)
{
    uint32_t out = in + 1, one = 1;
    uint8_t tin = a->f->junction.at[a->s.junction[in]].type, tout = a->f->junction.at[a->s.junction[out]].type;
    uint32_t ci, co;

    if (el->type == EL_TF) {
        /* e_in = n e_out, f_out = n f_in */
        if (tin == tout) {
            ci = tin == 1 ? n : one;
            co = tin == 1 ? one : n;
        } else {
            ci = co = tin == 1 ? n : gf_inv(n);
        }
    } else {
        /* e_in = r f_out, e_out = r f_in */
        if (tin == tout) {
            ci = co = tin == 1 ? n : gf_inv(n);
        } else {
            ci = tin == 1 ? n : one;
            co = tin == 1 ? one : n;
        }
    }
    a->coef[in] = gf_mul(ci, gf_sign(a->s.sign[in]));
    a->coef[out] = gf_mul(co, gf_sign(a->s.sign[out]));
}

static void
add_ratio(struct assign *a, uint32_t residue, inst def)
{
    if (!residue || map_get(&a->ratio_of, residue) != MAP_NONE || map_get(&a->ratio_of, gf_inv(residue)) != MAP_NONE)
        return;
    map_set(&a->ratio_of, residue, (uint32_t)a->ratio.n);
    vec_push(&a->ratio, ((struct ratio){ residue, def }));
    map_set(&a->ratio_of, gf_inv(residue), (uint32_t)a->ratio.n);
    vec_push(&a->ratio, ((struct ratio){ gf_inv(residue), def }));
}

static void
fill_coefs(struct assign *a)
{
    residues r;

    residues_init(&r, a->f);
    for (uint32_t e = 0; e < a->s.nend; e++)
        a->coef[e] = gf_sign(a->s.sign[e]);
    for (size_t i = 0; i < a->f->element.n; i++) {
        const flat_element *el = &a->f->element.at[i];

        for (uint32_t p = el->port0; is_two_port(el) && p + 1 < el->port0 + el->nports; p += 2) {
            uint32_t n = residue_of(&r, el->nlaws ? port_law(a->f, p)->def : INST_NONE);

            two_port_coefs(a, el, p, n);
            if (el->nlaws)
                add_ratio(a, n, port_law(a->f, p)->def);
        }
    }
    residues_free(&r);
}

/* ---------------------------------------------------------------- order of storage elements */

static void
breadth_first(struct assign *a)
{
    const strokes *s = &a->s;
    bool *seen = bg_calloc(s->njunction, sizeof *seen);
    VEC(uint32_t) queue = { 0 }, all = { 0 };
    size_t head = 0;

    for (uint32_t p = 0; p < s->nport; p++) { /* ports are in the order of their elements */
        if (seen[s->junction[p]])
            continue;
        seen[s->junction[p]] = true;
        vec_push(&queue, s->junction[p]);
        for (; head < queue.n; head++) {
            uint32_t j = queue.at[head];

            for (uint32_t k = s->row[j]; k < s->row[j + 1]; k++) {
                uint32_t e = s->adjacent[k], other = s->partner[e];

                if (other == END_NONE) {
                    if (causality_is_storage(a, e))
                        vec_push(&all, e);
                } else if (!seen[s->junction[other]]) {
                    seen[s->junction[other]] = true;
                    vec_push(&queue, s->junction[other]);
                }
            }
        }
    }
    for (int pass = 0; pass < 4; pass++)
        for (size_t i = 0; i < all.n; i++) {
            uint32_t p = all.at[i];

            if (pass == 2 * a->invertible[p] + !a->stated[p])
                vec_push(&a->order, p);
        }
    vec_free(&queue);
    vec_free(&all);
    free(seen);
}

/* ---------------------------------------------------------------- deciding */

static bool
decide_sources(struct assign *a, bool report)
{
    bool ok = true;

    if (!strokes_start(&a->s)) {
        if (report)
            causality_report_conflict(a);
        return false;
    }
    for (size_t i = 0; i < a->f->element.n; i++) {
        const flat_element *el = &a->f->element.at[i];

        for (uint32_t p = el->port0; (el->type == EL_SE || el->type == EL_SF) && p < el->port0 + el->nports; p++) {
            size_t mark = a->s.trail.n;

            if (port_is_resistive(a->f, p))
                continue;
            if (strokes_decide(&a->s, p, strength_of(&a->s, p, el->type == EL_SE)))
                continue;
            if (report)
                causality_report_conflict(a);
            strokes_undo(&a->s, mark);
            ok = false;
        }
    }
    return ok;
}

static enum strength
law_strength(const struct assign *a, uint32_t p)
{
    return strength_of(&a->s, p, a->way[p] == WAY_GIVES_EFFORT);
}

static bool
takes_one_stroke(const struct assign *a, uint32_t p)
{
    return causality_element_of(a, p)->type == EL_R && a->way[p] != WAY_EITHER;
}

/* A law whose output another one or a source already gives is solved in a block. */
static void
decide_laws(struct assign *a)
{
    for (uint32_t p = 0; a->one_way && p < a->s.nport; p++) {
        size_t mark = a->s.trail.n;

        if (!takes_one_stroke(a, p) || a->released[p] || strokes_decide(&a->s, p, law_strength(a, p)))
            continue;
        strokes_undo(&a->s, mark);
        a->released[p] = true;
    }
}

enum strength
causality_multiplying(const struct assign *a, const flat_element *el, uint32_t p)
{
    return strength_of(&a->s, p, el->type == EL_GY || (p - el->port0) % 2 == 0);
}

bool
causality_is_varying(const struct assign *a, size_t i)
{
    const flat_element *el = &a->f->element.at[i];

    return is_two_port(el) && a->varying[i];
}

static void
decide_two_ports(struct assign *a)
{
    for (size_t i = 0; i < a->f->element.n; i++) {
        const flat_element *el = &a->f->element.at[i];

        for (uint32_t p = el->port0; causality_is_varying(a, i) && p + 1 < el->port0 + el->nports; p += 2)
            if (!a->may_divide[p] && !strokes_try(&a->s, p, causality_multiplying(a, el, p)))
                strokes_try(&a->s, p, opposite(causality_multiplying(a, el, p)));
    }
}

/* A decision that prevents integral causality of a storage element, made by a law or two-port that can yield to it. */
static void
release_storage(void *ctx, uint32_t e)
{
    struct assign *a = ctx;
    uint32_t in;

    if (e >= a->s.nport)
        return;
    if (takes_one_stroke(a, e))
        a->released[e] = true;
    in = e - (e - causality_element_of(a, e)->port0) % 2;
    if (a->releasing && causality_is_varying(a, a->f->port.at[e].element) && !a->may_divide[in]) {
        a->may_divide[in] = true;
        a->nreleased++;
    }
}

/* Tries integral causality for a storage port. False: neither causality is possible. */
static bool
decide_storage(struct assign *a, uint32_t p)
{
    size_t mark = a->s.trail.n;

    if (strokes_decide(&a->s, p, causality_integral(a, p)))
        return true;
    if (a->asked[p]) {
        stroke_path path = { 0 };
        uint32_t root[2];

        strokes_explain(&a->s, LOOK_BACK, root, &path);
        a->set_by[p] = root[0] != p ? root[0] : root[1];
        vec_free(&path.end);
    }
    if (a->one_way || a->releasing)
        strokes_roots(&a->s, release_storage, a, LOOK_BACK);
    strokes_undo(&a->s, mark);
    return strokes_decide(&a->s, p, opposite(causality_integral(a, p)));
}

enum outcome
causality_run(struct assign *a, bool report, enum mode mode)
{
    strokes *s = &a->s;
    size_t released = 0, before = 0;

    strokes_reset(s);
    for (size_t i = 0; i < a->candidate.n && mode == LOOKING; i++)
        s->free_common[a->candidate.at[i]] = true;
    for (uint32_t p = 0; p < s->nport; p++) {
        before += a->released[p];
        if (!a->forced[p])
            a->set_by[p] = END_NONE;
    }
    if (!decide_sources(a, report))
        return CONTRADICTION;
    decide_laws(a);
    for (size_t i = 0; i < a->candidate.n && mode == FINAL; i++) {
        uint32_t j = a->candidate.at[i];

        a->state_junction[j] = a->state_junction[j] && strokes_try_state(s, j);
    }
    if (mode != ANY_DIRECTION)
        decide_two_ports(a);
    for (size_t i = 0; i < a->order.n; i++)
        if (!a->forced[a->order.at[i]] && !decide_storage(a, a->order.at[i])) {
            if (report)
                causality_report_conflict(a);
            return CONTRADICTION;
        }
    for (uint32_t p = 0; a->one_way && p < s->nport; p++)
        released += a->released[p];
    if (released > before)
        return REPEAT;
    for (size_t i = 0; i < a->order.n; i++) {
        uint32_t p = a->order.at[i];

        if (a->forced[p] && !strokes_try(s, p, opposite(causality_integral(a, p))))
            strokes_try(s, p, causality_integral(a, p));
    }
    for (uint32_t p = 0; a->one_way && p < s->nport; p++)
        if (takes_one_stroke(a, p) && a->released[p])
            strokes_try(s, p, law_strength(a, p));
    return RAN;
}

/* Lets every one-way law yield; false if all had yielded already. */
static bool
release_laws(struct assign *a)
{
    bool any = false;

    for (uint32_t p = 0; a->one_way && p < a->s.nport; p++)
        if (takes_one_stroke(a, p) && !a->released[p])
            any = a->released[p] = true;
    return any;
}

/* Computes all relations at once: every storage element gives its output where it can, and no implications are drawn
 * from what remains at a junction, so that no relation is hidden by a stroke that another one caused. Makes the leading
 * storage element of each relation dependent. */
static void
resolve_all(struct assign *a, enum mode mode)
{
    strokes *s = &a->s;

    strokes_reset(s);
    memset(a->forced, 0, s->nport * sizeof *a->forced);
    for (uint32_t j = 0; j < s->njunction; j++)
        s->free_common[j] = true;
    if (!decide_sources(a, false))
        return;
    decide_laws(a);
    for (uint32_t j = 0; j < s->njunction && mode == FINAL; j++)
        a->state_junction[j] = a->state_junction[j] && strokes_try_state(s, j);
    if (mode != ANY_DIRECTION)
        decide_two_ports(a);
    for (size_t i = 0; i < a->order.n; i++)
        if (!strokes_try(s, a->order.at[i], causality_integral(a, a->order.at[i])))
            strokes_try(s, a->order.at[i], opposite(causality_integral(a, a->order.at[i])));
    for (uint32_t j = 0; j < s->njunction; j++)
        s->free_common[j] = mode == FINAL && a->state_junction[j];
    rankcheck(s, a->coef, a->one_way, &a->found);
    causality_resolve(a, false);
}

bool
causality_settle(struct assign *a, bool report, enum mode mode)
{
    for (int round = 1;; round++) {
        enum outcome o = causality_run(a, report, mode);

        if (o == REPEAT) {
            /* what was found before a law yielded may no longer hold */
            memset(a->forced, 0, a->s.nport * sizeof *a->forced);
            continue;
        }
        if (o == CONTRADICTION)
            return false;
        rankcheck(&a->s, a->coef, a->one_way, &a->found);
        if (!a->found.of.n)
            return true;
        if (round == PATIENCE) {
            resolve_all(a, mode);
            continue;
        }
        /* in an over-determined model, sources appear in relations that later rounds find too: report once nothing else
         * is left */
        if (causality_resolve(a, false))
            continue;
        if (release_laws(a)) {
            memset(a->forced, 0, a->s.nport * sizeof *a->forced);
            continue;
        }
        if (report)
            causality_resolve(a, true);
        return false;
    }
}

size_t
causality_count_states(const struct assign *a)
{
    size_t n = 0;

    for (size_t i = 0; i < a->order.n; i++)
        n += a->s.at[a->order.at[i]] == causality_integral(a, a->order.at[i]);
    for (size_t i = 0; i < a->candidate.n; i++)
        n += a->state_junction[a->candidate.at[i]];
    return n;
}

/* ---------------------------------------------------------------- results */

static void
list_components(const struct assign *a, causal *c)
{
    const strokes *s = &a->s;
    bool *seen = bg_calloc(s->njunction, sizeof *seen);

    vec_push(&c->component, 0);
    for (uint32_t first = 0; first < s->njunction; first++) {
        size_t head = c->open_junction.n;

        if (seen[first] || s->strong[first] != END_NONE || s->free_common[first])
            continue;
        seen[first] = true;
        vec_push(&c->open_junction, first);
        for (; head < c->open_junction.n; head++) {
            uint32_t j = c->open_junction.at[head];

            for (uint32_t k = s->row[j]; k < s->row[j + 1]; k++) {
                uint32_t e = s->adjacent[k], other;

                if (s->at[e] != ST_OPEN || s->partner[e] == END_NONE)
                    continue;
                other = s->junction[s->partner[e]];
                if (!seen[other]) {
                    seen[other] = true;
                    vec_push(&c->open_junction, other);
                }
            }
        }
        vec_push(&c->component, (uint32_t)c->open_junction.n);
    }
    free(seen);
}

/* Strokes of open bonds, for drawings: resistors by their law or strong, one after the other, then bonds. */
static void
draw_open(struct assign *a, causal *c)
{
    strokes *s = &a->s;

    for (int bonds = 0; bonds < 2; bonds++)
        for (uint32_t e = bonds ? s->nport : 0; e < (bonds ? s->nend : s->nport); e++) {
            enum strength first = ST_STRONG;

            if (s->at[e] != ST_OPEN || (!bonds && !port_is_resistive(a->f, e)))
                continue;
            if (!bonds && a->way[e] != WAY_EITHER)
                first = law_strength(a, e);
            if (!strokes_try(s, e, first))
                strokes_try(s, e, opposite(first));
        }
    memcpy(c->drawn, s->at, s->nport);
    for (size_t b = 0; b < a->f->bond.n; b++) {
        c->drawn_from[b] = s->at[s->nport + 2 * b];
        c->drawn_to[b] = s->at[s->nport + 2 * b + 1];
    }
}

static causal *
result(struct assign *a)
{
    const strokes *s = &a->s;
    causal *c = bg_calloc(1, sizeof *c);
    size_t nbond = a->f->bond.n;

    c->port = bg_malloc(s->nport);
    c->drawn = bg_malloc(s->nport);
    c->bond_from = bg_malloc(nbond);
    c->bond_to = bg_malloc(nbond);
    c->drawn_from = bg_malloc(nbond);
    c->drawn_to = bg_malloc(nbond);
    c->strong = bg_malloc(s->njunction * sizeof *c->strong);
    c->state = bg_calloc(s->nport, sizeof *c->state);
    if (s->nport)
        memcpy(c->port, s->at, s->nport);
    for (size_t b = 0; b < nbond; b++) {
        c->bond_from[b] = s->at[s->nport + 2 * b];
        c->bond_to[b] = s->at[s->nport + 2 * b + 1];
    }
    for (uint32_t j = 0; j < s->njunction; j++) {
        c->strong[j] = s->strong[j] == END_NONE ? NONE : s->incidence[s->strong[j]];
        if (a->state_junction[j])
            vec_push(&c->junction_state, j);
    }
    for (uint32_t p = 0; p < s->nport; p++) {
        if (!causality_is_storage(a, p))
            continue;
        c->state[p] = s->at[p] == causality_integral(a, p);
        if (!c->state[p])
            vec_push(&c->dependent, p);
    }
    for (size_t i = 0; i < a->relation.n; i++) {
        causal_relation r = a->relation.at[i], kept = { r.port, (uint32_t)c->term.n, r.n };

        /* rounds that started over may have found the same relation again */
        if (c->state[r.port] || (i + 1 < a->relation.n && a->relation.at[i + 1].port == r.port))
            continue;
        for (uint32_t t = r.first; t < r.first + r.n; t++)
            vec_push(&c->term, a->term.at[t]);
        vec_push(&c->relation, kept);
    }
    list_components(a, c);
    return c;
}

static void
prepare_decisions(struct assign *a)
{
    a->coef = bg_calloc(a->s.nend, sizeof *a->coef);
    a->released = bg_calloc(a->s.nport, sizeof *a->released);
    a->may_divide = bg_calloc(a->s.nport, sizeof *a->may_divide);
    a->forced = bg_calloc(a->s.nport, sizeof *a->forced);
    a->state_junction = bg_calloc(a->s.njunction, sizeof *a->state_junction);
    a->asked = bg_calloc(a->s.nport, sizeof *a->asked);
    a->set_by = bg_malloc(a->s.nport * sizeof *a->set_by);
    memset(a->set_by, 0xff, a->s.nport * sizeof *a->set_by);
    a->preferred = bg_calloc(a->s.nport, sizeof *a->preferred);
    for (uint32_t p = 0; p < a->s.nport; p++) {
        enum element_type t = causality_element_of(a, p)->type;

        if (t == EL_C || t == EL_I)
            a->preferred[p] = (int8_t)strength_of(&a->s, p, !port_has_momentum(a->f, p));
        a->one_way = a->one_way || takes_one_stroke(a, p);
    }
    fill_coefs(a);
    breadth_first(a);
}

static void
dispose(struct assign *a)
{
    strokes_free(&a->s);
    free(a->coef);
    free(a->preferred);
    free(a->released);
    free(a->may_divide);
    free(a->forced);
    free(a->state_junction);
    free(a->asked);
    free(a->set_by);
    vec_free(&a->order);
    vec_free(&a->candidate);
    vec_free(&a->relation);
    vec_free(&a->term);
    vec_free(&a->ratio);
    map_free(&a->ratio_of);
    relations_free(&a->found);
}

causal *
causality(flat_model *f, const enum law_way *way, const bool *varying, const bool *invertible, const bool *stated)
{
    struct assign a = { .f = f, .way = way, .varying = varying, .invertible = invertible, .stated = stated };
    causal *c = NULL;
    bool ok;

    strokes_init(&a.s, f);
    prepare_decisions(&a);
    ok = causality_check_cycles(&a);
    ok = causality_check_lonely(&a) && ok;
    if (ok) {
        causality_choose_junction_states(&a);
        ok = causality_settle(&a, true, FINAL);
    }
    if (ok) {
        c = result(&a);
        causality_report_dependent(&a, c);
        causality_report_dividing(&a);
        draw_open(&a, c);
    }
    dispose(&a);
    return c;
}

void
causal_free(causal *c)
{
    if (!c)
        return;
    free(c->port);
    free(c->bond_from);
    free(c->bond_to);
    free(c->strong);
    free(c->state);
    vec_free(&c->junction_state);
    vec_free(&c->dependent);
    vec_free(&c->relation);
    vec_free(&c->term);
    vec_free(&c->component);
    vec_free(&c->open_junction);
    free(c->drawn);
    free(c->drawn_from);
    free(c->drawn_to);
    free(c);
}
