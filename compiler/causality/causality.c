/* causality.c - the order in which strokes are decided, the rounds of the rank check, and what is said about it
 *
 * needs     a flat graph with its incidences
 * provides  strokes, states and dependent storage, junction states, open components
 * keeps     the order of declaration, which decides between equals
 * reports   causality-conflict, causality-cycle, causality-singular (errors); causality-derivative, causality-divides
 *           (notes)
 * source    SCAP: Karnopp & Rosenberg (1968); greedy choice of states: outputs of storages form a linear matroid,
 *           sources contracted
 *
 * Why rounds, and why they end: a storage that strokes refuse is a function of sources and the storages tried before
 * it. A relation that the rank check finds holds among sources and accepted storages alone, so that the last of them
 * depends on the rest. Each round makes at least one more storage dependent and takes nothing from what the states
 * determine; when no relation is left the states are independent, and every dependent variable is a function of states
 * and sources only. Rounds start over rather than take single decisions back: each is linear, and there are few of
 * them. Where relations keep hiding behind each other (inductors between nodes, in any order of declaration) all are
 * found at once instead.
 */
#include <math.h>
#include <string.h>

#include "rankcheck.h"
#include "domain.h"

enum {
    PATH_NOTES = 12,      /* bonds of a path that are printed */
    TERMS_PRINTED = 24,   /* of a relation */
    DEPENDENT_NOTES = 20, /* storages reported one by one */
    PRODUCTS_TRIED = 128, /* moduli, for weights that are products of two */
    PATIENCE = 12,        /* rounds before all relations are looked for at once */
    LOOK_BACK = 4096      /* reasons looked at to name who sets a storage */
};

struct assign {
    flat_model *f;
    const enum law_way *way;
    const bool *varying, *invertible, *stated;
    strokes s;
    uint32_t *coef;    /* [nend] residues */
    int8_t *preferred; /* [nport] strength that makes a storage integral; open: no storage */
    bool one_way;      /* some resistor has a fixed causality */
    bool *released;    /* [nport] one-way resistors that give way to a storage */
    bool *may_divide;  /* [nport] in-ports of varying two-ports that are not decided: they give way to a storage, or lie
                          in a loop */
    bool releasing;    /* look for these */
    size_t nreleased;
    bool *forced;            /* [nport] storages made dependent by the rank check */
    bool *state_junction;    /* [njunction] */
    bool *asked;             /* [nport] storages whose refusal is to be explained */
    uint32_t *set_by;        /* [nport] the end found behind it */
    VEC(uint32_t) order;     /* storage ports as they are tried */
    VEC(uint32_t) candidate; /* junctions on the giving side of a varying two-port */
    relations found;
    VEC(causal_relation) relation;
    VEC(causal_term) term; /* of what was found, where the weights are known */
    VEC(struct ratio {
        uint32_t residue;
        inst def;
    })
    ratio;        /* distinct moduli, each followed by its inverse */
    map ratio_of; /* residue -> its place there */
};

static const flat_element *
element_of(const struct assign *a, uint32_t port)
{
    return &a->f->element.at[a->f->port.at[port].element];
}

static bool
is_storage(const struct assign *a, uint32_t port)
{
    return a->preferred[port] != ST_OPEN;
}

static enum strength
integral(const struct assign *a, uint32_t port)
{
    return (enum strength)a->preferred[port];
}

static const char *
common_name(const struct assign *a, uint32_t j)
{
    return a->f->junction.at[j].type == 0 ? "effort" : "flow";
}

static bool
is_two_port(const flat_element *el)
{
    return el->type == EL_TF || el->type == EL_GY;
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

/* ---------------------------------------------------------------- messages */

static span
place_of(const struct assign *a, uint32_t e)
{
    return e < a->s.nport ? a->f->port.at[e].at : a->f->bond.at[(e - a->s.nport) / 2].at;
}

static const char *
bond_name(const struct assign *a, uint32_t e)
{
    return e < a->s.nport ? a->f->port.at[e].bond_name : a->f->bond.at[(e - a->s.nport) / 2].name;
}

/* What the decision at end e says, as a clause: `source "u" sets the effort of "n"`. Caller frees. */
static char *
describe_root(const struct assign *a, uint32_t e)
{
    uint32_t j = a->s.junction[e];
    const flat_junction *fj = &a->f->junction.at[j];

    if (e < a->s.nport) {
        const flat_element *el = element_of(a, e);
        const char *what = el->type == EL_SE || el->type == EL_SF ? "source"
                           : el->type == EL_C || el->type == EL_I ? "storage"
                                                                  : "element";
        bool open = port_is_resistive(a->f, e), effort = el->type == EL_SE && !open ? true
                                                         : el->type == EL_SF && !open
                                                             ? false
                                                             : (fj->type == 0) == (a->s.at[e] == ST_STRONG);

        return bg_format("%s \"%s\" gives %s to \"%s\"", what, el->name, effort ? "effort" : "flow", fj->name);
    }
    return bg_format("\"%s\" has nothing else joined to it", fj->name);
}

static span
root_span(const struct assign *a, uint32_t e)
{
    return e < a->s.nport ? element_of(a, e)->at : a->f->junction.at[a->s.junction[e]].at;
}

/* The bonds and two-ports from one root to the other as notes; both ends of a bond count once. */
static void
note_path(const struct assign *a, const stroke_path *path)
{
    sources *src = a->f->sources;
    size_t shown = 0, hidden = 0;
    uint32_t last = END_NONE;

    for (size_t i = 0; i < path->end.n; i++) {
        uint32_t e = path->end.at[i], id = e < a->s.nport ? e : a->s.nport + (e - a->s.nport) / 2;
        const char *name = bond_name(a, e);
        const char *here = a->f->junction.at[a->s.junction[e]].name;

        if (id == last || a->s.partner[e] == END_NONE)
            continue;
        last = id;
        if (shown == PATH_NOTES) {
            hidden++;
            continue;
        }
        shown++;
        if (e < a->s.nport)
            diag_note(src, place_of(a, e), "by way of \"%s\" at \"%s\"", element_of(a, e)->name, here);
        else
            diag_note(src, place_of(a, e), "by way of %s%s%s between \"%s\" and \"%s\"", name ? "bond \"" : "the bond",
                      name ? name : "", name ? "\"" : "", here, a->f->junction.at[a->s.junction[a->s.partner[e]]].name);
    }
    if (hidden)
        diag_note(src, SPAN_NONE, "and %zu more bonds between them", hidden);
}

static void
report_conflict(struct assign *a)
{
    sources *src = a->f->sources;
    const stroke_conflict c = a->s.conflict;
    const flat_junction *fj = &a->f->junction.at[c.junction];
    bool twice = c.e != END_NONE && a->s.strong[c.junction] != END_NONE;
    stroke_path path = { 0 };
    uint32_t root[2];

    strokes_explain(&a->s, SIZE_MAX, root, &path);
    if (root[0] == END_NONE) {
        diag_error(src, "causality-conflict", fj->at, "nothing determines the %s of \"%s\"", common_name(a, c.junction),
                   fj->name);
    } else if (root[1] == END_NONE) {
        char *what = describe_root(a, root[0]);

        diag_error(src, "causality-conflict", root_span(a, root[0]), "%s, which cannot be: %s the %s of \"%s\"", what,
                   twice ? "something else determines" : "nothing is left to determine", common_name(a, c.junction),
                   fj->name);
        diag_note(src, fj->at, "\"%s\" is here", fj->name);
        free(what);
        note_path(a, &path);
    } else {
        const char *name[2];
        char *what[2];

        for (int i = 0; i < 2; i++) {
            name[i] = root[i] < a->s.nport ? element_of(a, root[i])->name
                                           : a->f->junction.at[a->s.junction[root[i]]].name;
            what[i] = describe_root(a, root[i]);
        }
        diag_error(src, "causality-conflict", root_span(a, root[0]),
                   "\"%s\" and \"%s\" contradict each other: %s the %s of \"%s\"", name[0], name[1],
                   twice ? "both determine" : "with both given nothing is left to determine",
                   common_name(a, c.junction), fj->name);
        diag_note(src, root_span(a, root[0]), "%s", what[0]);
        diag_note(src, root_span(a, root[1]), "%s", what[1]);
        note_path(a, &path);
        diag_help(src, "Put a resistor or a storage between the two, or leave one of them out.");
        free(what[0]);
        free(what[1]);
    }
    vec_free(&path.end);
}

/* ---------------------------------------------------------------- cycles of bonds of one kind */

static uint32_t
set_root(uint32_t *up, uint32_t j)
{
    while (up[j] != j)
        j = up[j] = up[up[j]];
    return j;
}

/* The bonds of one kind between the ends of bond `closing`, breadth first over the forest of those in `tree`. */
static void
report_cycle(struct assign *a, uint32_t closing, const bool *tree)
{
    const flat_model *f = a->f;
    const strokes *s = &a->s;
    const flat_bond *b = &f->bond.at[closing];
    uint32_t *came = bg_malloc(s->njunction * sizeof *came);
    VEC(uint32_t) queue = { 0 };
    size_t notes = 0;

    memset(came, 0xff, s->njunction * sizeof *came);
    vec_push(&queue, b->from);
    for (size_t i = 0; i < queue.n && b->from != b->to && came[b->to] == END_NONE; i++) {
        uint32_t j = queue.at[i];

        for (uint32_t k = s->row[j]; k < s->row[j + 1]; k++) {
            uint32_t e = s->adjacent[k], other;

            if (e < s->nport || !tree[(e - s->nport) / 2])
                continue;
            other = s->junction[s->partner[e]];
            if (other == b->from || came[other] != END_NONE)
                continue;
            came[other] = s->partner[e];
            vec_push(&queue, other);
        }
    }
    diag_error(f->sources, "causality-cycle", b->at,
               "bonds between %c-junctions close a cycle through \"%s\": the %s that circulates in it is undetermined",
               f->junction.at[b->from].type ? '1' : '0', f->junction.at[b->from].name,
               f->junction.at[b->from].type ? "effort" : "flow");
    for (uint32_t j = b->to; j != b->from && came[j] != END_NONE; j = s->junction[s->partner[came[j]]]) {
        if (notes++ < PATH_NOTES)
            diag_note(f->sources, place_of(a, came[j]), "the cycle goes on from \"%s\" to \"%s\"",
                      f->junction.at[j].name, f->junction.at[s->junction[s->partner[came[j]]]].name);
    }
    if (notes > PATH_NOTES)
        diag_note(f->sources, SPAN_NONE, "and through %zu more bonds", notes - PATH_NOTES);
    diag_help(f->sources, "One bond of the cycle can go: what it says follows from the others.");
    vec_free(&queue);
    free(came);
}

static bool
check_cycles(struct assign *a)
{
    const flat_model *f = a->f;
    uint32_t *up = bg_malloc(a->s.njunction * sizeof *up);
    bool *tree = bg_calloc(f->bond.n, sizeof *tree), ok = true;
    VEC(uint32_t) closing = { 0 };

    for (uint32_t j = 0; j < a->s.njunction; j++)
        up[j] = j;
    for (uint32_t b = 0; b < f->bond.n; b++) {
        uint32_t from = f->bond.at[b].from, to = f->bond.at[b].to, x, y;

        if (f->junction.at[from].type != f->junction.at[to].type)
            continue;
        x = set_root(up, from);
        y = set_root(up, to);
        if (x == y) {
            vec_push(&closing, b);
            continue;
        }
        up[x] = y;
        tree[b] = true;
    }
    for (size_t i = 0; i < closing.n && i < SOURCES_MAX_ERRORS; i++)
        report_cycle(a, closing.at[i], tree);
    ok = closing.n == 0;
    vec_free(&closing);
    free(tree);
    free(up);
    return ok;
}

/* Junctions that nothing is joined to. */
static bool
check_lonely(struct assign *a)
{
    bool ok = true;

    for (uint32_t j = 0; j < a->s.njunction; j++)
        if (a->s.row[j] == a->s.row[j + 1]) {
            diag_error(a->f->sources, "causality-singular", a->f->junction.at[j].at,
                       "nothing determines the %s of \"%s\": nothing is joined to it", common_name(a, j),
                       a->f->junction.at[j].name);
            ok = false;
        }
    return ok;
}

/* ---------------------------------------------------------------- the order of storages */

static void
breadth_first(struct assign *a)
{
    const strokes *s = &a->s;
    bool *seen = bg_calloc(s->njunction, sizeof *seen);
    VEC(uint32_t) queue = { 0 }, all = { 0 };
    size_t head = 0;

    for (uint32_t p = 0; p < s->nport; p++) { /* ports stand in the order of their elements */
        if (seen[s->junction[p]])
            continue;
        seen[s->junction[p]] = true;
        vec_push(&queue, s->junction[p]);
        for (; head < queue.n; head++) {
            uint32_t j = queue.at[head];

            for (uint32_t k = s->row[j]; k < s->row[j + 1]; k++) {
                uint32_t e = s->adjacent[k], other = s->partner[e];

                if (other == END_NONE) {
                    if (is_storage(a, e))
                        vec_push(&all, e);
                } else if (!seen[s->junction[other]]) {
                    seen[s->junction[other]] = true;
                    vec_push(&queue, s->junction[other]);
                }
            }
        }
    }
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; i < all.n; i++) {
            uint32_t p = all.at[i];

            if (pass == (!a->invertible[p] ? 0 : a->stated[p] ? 1 : 2))
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
            report_conflict(a);
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
                report_conflict(a);
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
is_one_way(const struct assign *a, uint32_t p)
{
    return element_of(a, p)->type == EL_R && a->way[p] != WAY_EITHER;
}

/* A law that only gives what another one or a source gives already is solved for in a block. */
static void
decide_laws(struct assign *a)
{
    for (uint32_t p = 0; a->one_way && p < a->s.nport; p++) {
        size_t mark = a->s.trail.n;

        if (!is_one_way(a, p) || a->released[p] || strokes_decide(&a->s, p, law_strength(a, p)))
            continue;
        strokes_undo(&a->s, mark);
        a->released[p] = true;
    }
}

/* Multiplying direction at an end of a two-port: what the port brings is modulus times what it gets on the other side.
 */
static enum strength
multiplying(const struct assign *a, const flat_element *el, uint32_t p)
{
    return strength_of(&a->s, p, el->type == EL_GY || (p - el->port0) % 2 == 0);
}

static bool
is_varying(const struct assign *a, size_t i)
{
    const flat_element *el = &a->f->element.at[i];

    return is_two_port(el) && a->varying[i];
}

static void
decide_two_ports(struct assign *a)
{
    for (size_t i = 0; i < a->f->element.n; i++) {
        const flat_element *el = &a->f->element.at[i];

        for (uint32_t p = el->port0; is_varying(a, i) && p + 1 < el->port0 + el->nports; p += 2)
            if (!a->may_divide[p] && !strokes_try(&a->s, p, multiplying(a, el, p)))
                strokes_try(&a->s, p, opposite(multiplying(a, el, p)));
    }
}

/* A decision behind the refusal of a storage, made by a law or a two-port that can give way to it. */
static void
release(void *ctx, uint32_t e)
{
    struct assign *a = ctx;
    uint32_t in;

    if (e >= a->s.nport)
        return;
    if (is_one_way(a, e))
        a->released[e] = true;
    in = e - (e - element_of(a, e)->port0) % 2;
    if (a->releasing && is_varying(a, a->f->port.at[e].element) && !a->may_divide[in]) {
        a->may_divide[in] = true;
        a->nreleased++;
    }
}

/* Offers integral causality to a storage. False: neither way is possible. */
static bool
decide_storage(struct assign *a, uint32_t p)
{
    size_t mark = a->s.trail.n;

    if (strokes_decide(&a->s, p, integral(a, p)))
        return true;
    if (a->asked[p]) {
        stroke_path path = { 0 };
        uint32_t root[2];

        strokes_explain(&a->s, LOOK_BACK, root, &path);
        a->set_by[p] = root[0] != p ? root[0] : root[1];
        vec_free(&path.end);
    }
    if (a->one_way || a->releasing)
        strokes_roots(&a->s, release, a, LOOK_BACK);
    strokes_undo(&a->s, mark);
    return strokes_decide(&a->s, p, opposite(integral(a, p)));
}

enum outcome { RAN, CONTRADICTION, REPEAT };
enum mode {
    FINAL,
    LOOKING,      /* candidates for junction states need no strong end, to see which of them stay open */
    ANY_DIRECTION /* varying two-ports may divide: how many states are there? */
};

/* All decisions from the beginning. */
static enum outcome
run(struct assign *a, bool report, enum mode mode)
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
                report_conflict(a);
            return CONTRADICTION;
        }
    for (uint32_t p = 0; a->one_way && p < s->nport; p++)
        released += a->released[p];
    if (released > before)
        return REPEAT;
    for (size_t i = 0; i < a->order.n; i++) {
        uint32_t p = a->order.at[i];

        if (a->forced[p] && !strokes_try(s, p, opposite(integral(a, p))))
            strokes_try(s, p, integral(a, p));
    }
    for (uint32_t p = 0; a->one_way && p < s->nport; p++)
        if (is_one_way(a, p) && a->released[p])
            strokes_try(s, p, law_strength(a, p));
    return RAN;
}

/* ---------------------------------------------------------------- relations */

static bool
is_dependent(const struct assign *a, uint32_t of)
{
    return of < a->s.nport && is_storage(a, of) && a->s.at[of] != (int8_t)integral(a, of);
}

#define RANK_SETTLED ((uint64_t)16 << 32)

/* Refused, or made dependent in an earlier round (which strokes may undo as long as other relations are left). */
static bool
is_settled(const struct assign *a, uint32_t of)
{
    return is_dependent(a, of) || (of < a->s.nport && a->forced[of]);
}

/* The term that is to become dependent first: a state junction, then a storage whose law inverts, without a stated
 * value, declared last. Before all of them come storages that are settled already: a relation with one of these in it,
 * after elimination, says nothing about the states yet. */
static uint64_t
rank_of(const struct assign *a, uint32_t of)
{
    if (is_settled(a, of))
        return RANK_SETTLED | of;
    if (of >= a->s.nport)
        return (uint64_t)8 << 32 | of;
    if (!is_storage(a, of))
        return of;
    return (uint64_t)(4 + 2 * (a->invertible[of] ? 1 : 0) + (a->stated[of] ? 0 : 1)) << 32 | of;
}

struct ranked {
    uint64_t rank;
    uint32_t of, coef;
};
typedef VEC(struct ranked) ranked_terms;

static int
by_rank(const void *x, const void *y)
{
    uint64_t a = ((const struct ranked *)x)->rank, b = ((const struct ranked *)y)->rank;

    return a < b ? 1 : a > b ? -1 : 0;
}

/* row -= factor*other, both sorted by falling rank. */
static void
subtract(ranked_terms *row, const ranked_terms *other, uint32_t factor, ranked_terms *spare)
{
    size_t i = 0, k = 0;
    ranked_terms t;

    spare->n = 0;
    while (i < row->n || k < other->n) {
        if (k == other->n || (i < row->n && row->at[i].rank > other->at[k].rank)) {
            vec_push(spare, row->at[i]);
            i++;
            continue;
        }
        struct ranked x = other->at[k++];

        x.coef = gf_neg(gf_mul(x.coef, factor));
        if (i < row->n && row->at[i].rank == x.rank)
            x.coef = gf_add(x.coef, row->at[i++].coef);
        if (x.coef)
            vec_push(spare, x);
    }
    t = *row;
    *row = *spare;
    *spare = t;
}

/* A residue as a small signed whole number or fraction; false if it is none. */
static bool
small_number(uint32_t v, int *num, int *den)
{
    for (*den = 1; *den <= 12; ++*den) {
        uint32_t x = gf_mul(v, (uint32_t)*den);

        if (x <= 144 || x >= GF_P - 144) {
            *num = x <= 144 ? (int)x : -(int)(GF_P - x);
            return true;
        }
    }
    return false;
}

/* coef as plus or minus one modulus, or none of it */
static bool
as_modulus(const struct assign *a, uint32_t coef, double *sign, uint32_t *place)
{
    *sign = 1;
    *place = map_get(&a->ratio_of, coef);
    if (*place == MAP_NONE) {
        *sign = -1;
        *place = map_get(&a->ratio_of, gf_neg(coef));
    }
    return *place != MAP_NONE;
}

/* A weight in numbers and moduli; false where it is neither simple. */
static bool
spell_weight(const struct assign *a, uint32_t coef, causal_term *t)
{
    uint32_t place;
    int num, den;

    t->nmoduli = 0;
    if (small_number(coef, &num, &den)) {
        t->weight = (double)num / den;
        return true;
    }
    if (as_modulus(a, coef, &t->weight, &place)) {
        t->nmoduli = 1;
        t->modulus[0] = a->ratio.at[place].def;
        t->inverse[0] = place % 2;
        return true;
    }
    for (size_t i = 0; i < a->ratio.n && i < PRODUCTS_TRIED; i++)
        if (as_modulus(a, gf_mul(coef, a->ratio.at[i ^ 1].residue), &t->weight, &place)) {
            t->nmoduli = 2;
            t->modulus[0] = a->ratio.at[i].def;
            t->inverse[0] = i % 2;
            t->modulus[1] = a->ratio.at[place].def;
            t->inverse[1] = place % 2;
            return true;
        }
    return false;
}

/* Keeps what makes the leading term dependent, for the equations: its variable in terms of the others. */
static void
keep_relation(struct assign *a, const ranked_terms *row)
{
    causal_relation r = { row->at[0].of, (uint32_t)a->term.n, (uint32_t)row->n - 1 };
    uint32_t scale = gf_neg(gf_inv(row->at[0].coef));

    for (size_t i = 1; i < row->n; i++) {
        causal_term t = { .port = row->at[i].of };

        if (t.port >= a->s.nport || port_is_resistive(a->f, t.port) ||
            !spell_weight(a, gf_mul(row->at[i].coef, scale), &t)) {
            a->term.n = r.first;
            return;
        }
        vec_push(&a->term, t);
    }
    vec_push(&a->relation, r);
}

static void
print_relation(const struct assign *a, const ranked_terms *row, strbuf *out)
{
    uint32_t scale = gf_inv(row->at[row->n - 1].coef);
    size_t n = 0;
    int num, den, factors = 0;

    /* as declared: the terms stand in falling order of rank */
    for (size_t i = row->n; i-- > 0 && n < TERMS_PRINTED; n++) {
        uint32_t of = row->at[i].of;
        bool small = small_number(gf_mul(row->at[i].coef, scale), &num, &den);

        strbuf_puts(out, small && num < 0 ? (n ? " - " : "-") : n ? " + " : "");
        if (!small)
            strbuf_printf(out, "a%d*", ++factors);
        else if (abs(num) != 1 || den != 1)
            strbuf_printf(out, den != 1 ? "%d/%d*" : "%d*", abs(num), den);
        if (of >= a->s.nport)
            strbuf_printf(out, "%s(%s)", common_name(a, of - a->s.nport), a->f->junction.at[of - a->s.nport].name);
        else
            strbuf_printf(out, is_dependent(a, of) ? "d/dt %s(%s)" : "%s(%s)",
                          (is_storage(a, of) ? !port_has_momentum(a->f, of) : element_of(a, of)->type == EL_SE)
                              ? "effort"
                              : "flow",
                          port_name(a->f, of));
    }
    if (row->n > n)
        strbuf_printf(out, " + ... (%zu more)", row->n - n);
    strbuf_puts(out, " = 0");
    if (factors)
        strbuf_printf(out, ", where %s ratio%s of two-ports",
                      factors == 1 ? "a1 is made of the" : "a1, ... are made of the", "s");
}

static void
report_relation(struct assign *a, const ranked_terms *row)
{
    sources *src = a->f->sources;
    strbuf text = { 0 };
    size_t shown = 0;

    print_relation(a, row, &text);
    if (row->n == 1)
        diag_error(src, "causality-singular", element_of(a, row->at[0].of)->at,
                   "\"%s\" is given, but the bonds around it ask for %s", element_of(a, row->at[0].of)->name, text.at);
    else
        diag_error(src, "causality-singular", element_of(a, row->at[row->n - 1].of)->at,
                   "the bonds ask for %s, but all of these are given", text.at);
    for (size_t i = row->n - 1; i-- > 0 && shown < PATH_NOTES; shown++)
        diag_note(src, element_of(a, row->at[i].of)->at, "\"%s\" is in it", element_of(a, row->at[i].of)->name);
    if (row->n - 1 > shown)
        diag_note(src, SPAN_NONE, "and %zu more elements are in it", row->n - 1 - shown);
    diag_help(src, "Put a resistor or a storage into the loop, or leave one of the sources out.");
    strbuf_free(&text);
}

static void
report_undetermined(struct assign *a, const relation *r)
{
    const flat_model *f = a->f;
    size_t n = r->njunction;

    if (!n) {
        diag_error(f->sources, "causality-singular", SPAN_NONE,
                   "transformers or gyrators close a cycle in which an effort or a flow circulates undetermined");
        return;
    }
    for (size_t i = 0; i < n && i < PATH_NOTES; i++) {
        uint32_t j = a->found.junction.at[r->junction0 + i];
        const flat_junction *fj = &f->junction.at[j];

        if (!i)
            diag_error(f->sources, "causality-singular", fj->at, "nothing determines the %s of \"%s\"%s",
                       common_name(a, j), fj->name,
                       n > 1 ? ": it can change together with what follows, and no element notices" : "");
        else
            diag_note(f->sources, fj->at, "the %s of \"%s\" with it", common_name(a, j), fj->name);
    }
    if (n > PATH_NOTES)
        diag_note(f->sources, SPAN_NONE, "and %zu more junctions", n - PATH_NOTES);
}

/* The relations in echelon form, the leading term of each the one that depends on the rest. Returns how many terms were
 * made dependent; relations without any are errors. */
static size_t
resolve(struct assign *a, bool report)
{
    VEC(ranked_terms) rows = { 0 };
    ranked_terms spare = { 0 };
    map leading = { 0 };
    size_t changed = 0;

    for (size_t i = 0; i < a->found.of.n; i++) {
        const relation *r = &a->found.of.at[i];
        ranked_terms row = { 0 };
        uint32_t k, lead;

        for (uint32_t t = r->first; t < r->first + r->n; t++) {
            relation_term x = a->found.term.at[t];

            vec_push(&row, ((struct ranked){ rank_of(a, x.of), x.of, x.coef }));
        }
        if (row.n)
            qsort(row.at, row.n, sizeof *row.at, by_rank);
        while (row.n && (k = map_get(&leading, row.at[0].of)) != MAP_NONE)
            subtract(&row, &rows.at[k], gf_mul(row.at[0].coef, gf_inv(rows.at[k].at[0].coef)), &spare);
        lead = row.n ? row.at[0].of : 0;
        if (!row.n || (lead < a->s.nport && !is_storage(a, lead))) {
            if (report) {
                if (row.n)
                    report_relation(a, &row);
                else
                    report_undetermined(a, r);
            }
            vec_free(&row);
            continue;
        }
        if (report && is_settled(a, lead))
            report_relation(a, &row);
        map_set(&leading, lead, (uint32_t)rows.n);
        vec_push(&rows, row);
    }
    /* only now: ranks had to stay as they were */
    for (size_t i = 0; i < rows.n; i++) {
        const ranked_terms *row = &rows.at[i];
        uint32_t lead = row->at[0].of;

        if (row->at[0].rank >= RANK_SETTLED)
            continue;
        changed++;
        if (lead >= a->s.nport) {
            a->state_junction[lead - a->s.nport] = false;
            continue;
        }
        a->forced[lead] = true;
        keep_relation(a, row);
        a->set_by[lead] = row->n > 1 && row->at[1].of < a->s.nport ? row->at[1].of : END_NONE;
    }
    for (size_t i = 0; i < rows.n; i++)
        vec_free(&rows.at[i]);
    vec_free(&rows);
    vec_free(&spare);
    map_free(&leading);
    return changed;
}

/* Lets every one-way law give way; false if all did before. */
static bool
release_laws(struct assign *a)
{
    bool any = false;

    for (uint32_t p = 0; a->one_way && p < a->s.nport; p++)
        if (is_one_way(a, p) && !a->released[p])
            any = a->released[p] = true;
    return any;
}

/* All relations at once: every storage gives what it can, and nothing follows from what is left over at a junction, so
 * that no relation hides behind a stroke that another one made. Makes the leading storage of each dependent. */
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
        if (!strokes_try(s, a->order.at[i], integral(a, a->order.at[i])))
            strokes_try(s, a->order.at[i], opposite(integral(a, a->order.at[i])));
    for (uint32_t j = 0; j < s->njunction; j++)
        s->free_common[j] = mode == FINAL && a->state_junction[j];
    rankcheck(s, a->coef, a->one_way, &a->found);
    resolve(a, false);
}

/* Strokes and rank check until no relation is left. False: a contradiction or a singular model, reported if asked to.
 */
static bool
settle(struct assign *a, bool report, enum mode mode)
{
    for (int round = 1;; round++) {
        enum outcome o = run(a, report, mode);

        if (o == REPEAT) {
            /* what was found before a law gave way need not hold any more */
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
        /* an over-determined model has its sources in relations that later rounds find too: report once nothing else is
         * left */
        if (resolve(a, false))
            continue;
        if (release_laws(a)) {
            memset(a->forced, 0, a->s.nport * sizeof *a->forced);
            continue;
        }
        if (report)
            resolve(a, true);
        return false;
    }
}

static size_t
count_states(const struct assign *a)
{
    size_t n = 0;

    for (size_t i = 0; i < a->order.n; i++)
        n += a->s.at[a->order.at[i]] == integral(a, a->order.at[i]);
    for (size_t i = 0; i < a->candidate.n; i++)
        n += a->state_junction[a->candidate.at[i]];
    return n;
}

/* ---------------------------------------------------------------- junction states */

/* Returns whether there is a varying two-port at all. */
static bool
find_candidates(struct assign *a)
{
    bool *listed = bg_calloc(a->s.njunction, sizeof *listed), varies = false;

    for (size_t i = 0; i < a->f->element.n; i++) {
        const flat_element *el = &a->f->element.at[i];

        for (uint32_t p = el->port0; is_varying(a, i) && p < el->port0 + el->nports; p++) {
            uint32_t j = a->s.junction[p];

            varies = true;
            if (multiplying(a, el, p) == ST_WEAK && !listed[j]) {
                listed[j] = true;
                vec_push(&a->candidate, j);
            }
        }
    }
    free(listed);
    return varies;
}

typedef VEC(uint32_t) points;

/* The points acted on directly from a point: 2j the common variable of junction j, 2j + 1 what its strong end hands on.
 */
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

/* Marks what resistors, rates of dependent storages and open junctions act on. What stays unmarked is a function of
 * states and sources alone. */
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
        if (s->at[p] != ST_OPEN && (port_is_resistive(a->f, p) || is_dependent(a, p)))
            taint(&list, seen, 2 * s->junction[p] + (s->at[p] == ST_WEAK));
    for (size_t i = 0; i < list.n; i++) {
        uint32_t j = list.at[i] / 2, e = s->strong[j];

        if (list.at[i] % 2 && e != END_NONE && s->partner[e] == END_NONE &&
            (port_is_resistive(a->f, e) || is_dependent(a, e)))
            taint(&list, seen, 2 * j);
        acted_on(a, list.at[i], &next);
        for (size_t k = 0; k < next.n; k++)
            taint(&list, seen, next.at[k]);
    }
    vec_free(&next);
    vec_free(&list);
    return seen;
}

/* Strokes that follow from each other close no loop, but two-ports decided on their own may. Gives those in loops free:
 * the rank check sees what is open. Returns whether there were any. */
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
    /* points that no loop leads to, or that lead to none, go from either side */
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

        for (uint32_t k = p; is_varying(a, i) && k < p + a->f->element.at[i].nports; k++) {
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

/* Junction states take the place of states one for one: the common variable must be a function of storages and sources,
 * were it not for the two-ports that are to multiply, and the number of states is the one found when two-ports may
 * divide. A two-port that costs a state instead is one that gives way. */
static void
choose_junction_states(struct assign *a)
{
    enum { TRIES = 8 };
    size_t want;
    bool *changeable;
    enum outcome o;

    if (!find_candidates(a))
        return;
    if (!settle(a, false, ANY_DIRECTION)) {
        memset(a->forced, 0, a->s.nport * sizeof *a->forced);
        memset(a->may_divide, true, a->s.nport * sizeof *a->may_divide);
        return;
    }
    want = count_states(a);
    changeable = mark_changeable(a);
    memset(a->forced, 0, a->s.nport * sizeof *a->forced);
    while ((o = run(a, false, LOOKING)) == REPEAT)
        ;
    for (size_t i = 0; i < a->candidate.n; i++) {
        uint32_t j = a->candidate.at[i];

        a->state_junction[j] = o == RAN && a->s.strong[j] == END_NONE && !changeable[2 * j];
    }
    free(changeable);
    for (int tries = 0;; tries++) {
        bool settled = settle(a, false, FINAL), loops = settled && release_loops(a),
             right = settled && count_states(a) == want;
        size_t before = a->nreleased;

        memset(a->forced, 0, a->s.nport * sizeof *a->forced);
        if (right && !loops)
            break;
        if (tries < TRIES && loops)
            continue;
        if (tries < TRIES) {
            a->releasing = true;
            settle(a, false, FINAL);
            memset(a->forced, 0, a->s.nport * sizeof *a->forced);
            a->releasing = false;
            if (a->nreleased > before)
                continue;
        }
        /* nothing else to give up: as many states as possible, dividing where that takes it */
        memset(a->state_junction, 0, a->s.njunction * sizeof *a->state_junction);
        memset(a->may_divide, true, a->s.nport * sizeof *a->may_divide);
        break;
    }
}

/* ---------------------------------------------------------------- the result */

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

/* Strokes of what is open, for the picture: resistors by their law or strong, one after the other, then bonds. */
static void
draw(struct assign *a, causal *c)
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
        c->strong[j] = s->strong[j] == END_NONE ? UINT32_MAX : s->incidence[s->strong[j]];
        if (a->state_junction[j])
            vec_push(&c->junction_state, j);
    }
    for (uint32_t p = 0; p < s->nport; p++) {
        if (!is_storage(a, p))
            continue;
        c->state[p] = s->at[p] == integral(a, p);
        if (!c->state[p])
            vec_push(&c->dependent, p);
    }
    for (size_t i = 0; i < a->relation.n; i++) {
        causal_relation r = a->relation.at[i], kept = { r.port, (uint32_t)c->term.n, r.n };

        /* rounds that started over may have found the same again */
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
report_dependent(struct assign *a, const causal *c)
{
    sources *src = a->f->sources;

    if (!c->dependent.n)
        return;
    /* the same decisions once more, with an eye on why these few storages were refused */
    for (size_t i = 0; i < c->dependent.n && i < DEPENDENT_NOTES; i++)
        a->asked[c->dependent.at[i]] = true;
    run(a, false, FINAL);
    for (size_t i = 0; i < c->dependent.n && i < DEPENDENT_NOTES; i++) {
        uint32_t p = c->dependent.at[i], by = a->set_by[p];
        const flat_element *el = element_of(a, p);
        uint32_t j = a->f->port.at[p].junction;
        const char *cause = port_has_momentum(a->f, p) ? flow_name(a->f, j) : effort_name(a->f, j);

        if (by == END_NONE)
            by = strokes_origin(&a->s, p, LOOK_BACK);
        diag_info(src, "causality-derivative", el->at, "storage element \"%s\" gets derivative causality",
                  port_name(a->f, p));
        if (by == END_NONE || by == p)
            continue;
        if (by < a->s.nport)
            diag_note(src, element_of(a, by)->at, "its %s is already set by \"%s\"", cause, element_of(a, by)->name);
        else
            diag_note(src, root_span(a, by), "its %s is already set at \"%s\"", cause,
                      a->f->junction.at[a->s.junction[by]].name);
    }
    if (c->dependent.n > DEPENDENT_NOTES)
        diag_info(src, "causality-derivative", SPAN_NONE, "%zu more storage elements get derivative causality",
                  c->dependent.n - DEPENDENT_NOTES);
}

static void
report_dividing(struct assign *a)
{
    for (size_t i = 0; i < a->f->element.n; i++) {
        const flat_element *el = &a->f->element.at[i];
        uint32_t by, in = el->port0;

        while (is_varying(a, i) && in < el->port0 + el->nports &&
               a->s.at[in] != (int8_t)opposite(multiplying(a, el, in)))
            in += 2;
        if (!is_varying(a, i) || in >= el->port0 + el->nports)
            continue;
        by = strokes_origin(&a->s, in, LOOK_BACK);
        diag_info(a->f->sources, "causality-divides", el->at,
                  "\"%s\" divides by its modulus, which varies: where it is zero, the run stops", el->name);
        if (by != END_NONE && by < a->s.nport && element_of(a, by) != el)
            diag_note(a->f->sources, element_of(a, by)->at, "\"%s\" leaves it no other way", element_of(a, by)->name);
    }
}

static void
prepare(struct assign *a)
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
        enum element_type t = element_of(a, p)->type;

        if (t == EL_C || t == EL_I)
            a->preferred[p] = (int8_t)strength_of(&a->s, p, !port_has_momentum(a->f, p));
        a->one_way = a->one_way || is_one_way(a, p);
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
    prepare(&a);
    ok = check_cycles(&a);
    ok = check_lonely(&a) && ok;
    if (ok) {
        choose_junction_states(&a);
        ok = settle(&a, true, FINAL);
    }
    if (ok) {
        c = result(&a);
        report_dependent(&a, c);
        report_dividing(&a);
        draw(&a, c);
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

static char
mark(int8_t v)
{
    return v == ST_STRONG ? '+' : v == ST_WEAK ? '-' : '?';
}

void
causal_dump(const flat_model *f, const causal *c, FILE *out)
{
    fprintf(out, "ports (+ strong at the junction, - weak, ? open)\n");
    for (size_t p = 0; p < f->port.n; p++) {
        const flat_port *fp = &f->port.at[p];
        const flat_element *el = &f->element.at[fp->element];

        fprintf(out, "  %c %s:%s at %d:%s", mark(c->port[p]), element_type_name(el->type), el->name,
                f->junction.at[fp->junction].type, f->junction.at[fp->junction].name);
        if (el->type == EL_C || el->type == EL_I)
            fprintf(out, "%s", c->state[p] ? " state" : " dependent");
        if (c->port[p] == ST_OPEN)
            fprintf(out, " drawn %c", mark(c->drawn[p]));
        fputc('\n', out);
    }
    fprintf(out, "bonds (strength at either end)\n");
    for (size_t b = 0; b < f->bond.n; b++) {
        const flat_junction *from = &f->junction.at[f->bond.at[b].from], *to = &f->junction.at[f->bond.at[b].to];

        fprintf(out, "  %d:%s %c -> %c %d:%s\n", from->type, from->name, mark(c->bond_from[b]), mark(c->bond_to[b]),
                to->type, to->name);
    }
    for (size_t i = 0; i < c->junction_state.n; i++) {
        const flat_junction *j = &f->junction.at[c->junction_state.at[i]];

        fprintf(out, "state junction %d:%s\n", j->type, j->name);
    }
    for (size_t k = 0; k + 1 < c->component.n; k++) {
        fprintf(out, "open");
        for (uint32_t i = c->component.at[k]; i < c->component.at[k + 1]; i++)
            fprintf(out, " %s", f->junction.at[c->open_junction.at[i]].name);
        fputc('\n', out);
    }
}
