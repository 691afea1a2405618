/* rewrite_cascade.c - what goes: what was asked for, what then dangles, and what must stay because it is needed */
#include <string.h>

#include "rewrite_inside.h"

/* Takes a part out and looks at its neighbours. */
static void
take_out(struct plan *p, uint32_t i)
{
    struct part *x = &p->part.at[i];

    if (x->gone)
        return;
    x->gone = true;
    for (uint32_t k = 0; k < x->nlinks; k++) {
        uint32_t j = p->link[x->link0 + k];

        if (rewrite_is_cut(p, x->link0 + k))
            continue;
        p->part.at[j].degree--;
        if (!p->part.at[j].gone)
            vec_push(&p->work, j);
    }
}

/* Links of a junction.
 *
 * What a junction says without its last bonds: a 1-junction adds up efforts, a 0-junction flows, and no bond is zero of
 * these. So a dead end, a junction with one bond, passes that zero on. Where this leads to a junction that adds up the
 * same, the bond's absence says it too. Where it leads to one of the other kind, it holds that one's common variable at
 * zero, which only a junction at rest says, unless all else around that one adds up what is zero: then again absence
 * says it.
 */

/* The junction that link k of a junction leads to, straight or through one two-port; NOBODY: none. *like: it adds up
 * what this one's bond has zero of. */
static uint32_t
leads_to(const struct plan *p, uint32_t i, uint32_t k, bool *like)
{
    const struct part *x = &p->part.at[i], *y;
    uint32_t j = p->link[x->link0 + k];
    bool turned = false;

    y = &p->part.at[j];
    if (y->kind == PART_TWO_PORT && y->nlinks == 2 && !y->turned && !rewrite_is_cut(p, y->link0) &&
        !rewrite_is_cut(p, y->link0 + 1)) {
        turned = strstr(y->node->type, "GY") != NULL;
        j = p->link[y->link0 + (p->link[y->link0] == i)];
        y = &p->part.at[j];
    }
    if (y->kind != PART_JUNCTION)
        return NOBODY;
    *like = (x->node->type[0] == y->node->type[0]) != turned;
    return j;
}

static bool
may_go(const struct part *x)
{
    return x->kind == PART_JUNCTION && !x->fixed && !(x->held && x->degree);
}

static void
put_at_rest(struct plan *p, uint32_t i)
{
    if (p->part.at[i].at_rest || !may_go(&p->part.at[i]))
        return;
    p->part.at[i].at_rest = true;
    vec_push(&p->work, i);
}

/* Is junction i at rest, and nothing around it needs to be told? Each link is looked at once: what keeps a junction
 * keeps it until it goes. */
static bool
rests_alone(struct plan *p, uint32_t i)
{
    struct part *x = &p->part.at[i];
    bool like;

    if (x->sources)
        return false;
    for (uint32_t k = 0; k < x->nlinks && !x->looked; k++) {
        uint32_t j = rewrite_is_cut(p, x->link0 + k) ? NOBODY : leads_to(p, i, k, &like);

        if (j != NOBODY && !like && !p->part.at[j].gone && p->part.at[j].degree == 1 && may_go(&p->part.at[j]))
            x->at_rest = true;
    }
    x->looked = true;
    for (; x->at_rest && x->passed < x->nlinks; x->passed++)
        if (!rewrite_is_cut(p, x->link0 + x->passed) && !p->part.at[p->link[x->link0 + x->passed]].gone &&
            (leads_to(p, i, x->passed, &like) == NOBODY || like))
            return false;
    return x->at_rest;
}

/* Does part i, which lost a bond or rests, dangle? */
static bool
dangles(struct plan *p, uint32_t i)
{
    struct part *x = &p->part.at[i];
    bool like;

    if (x->kind == PART_TWO_PORT)
        return !x->fixed && !x->turned && x->degree < 2;
    if (!may_go(x))
        return false;
    for (uint32_t k = 0; k < x->nlinks && x->degree == 1; k++) {
        uint32_t j = p->part.at[p->link[x->link0 + k]].gone || rewrite_is_cut(p, x->link0 + k)
                         ? NOBODY
                         : leads_to(p, i, k, &like);

        if (j == NOBODY)
            continue;
        if (like)
            return true;
        put_at_rest(p, j);
    }
    return !x->degree || rests_alone(p, i);
}

void
rewrite_cascade(struct plan *p)
{
    p->work.n = 0;
    for (size_t i = 0; i < p->part.n; i++) {
        p->part.at[i].gone = p->part.at[i].at_rest = p->part.at[i].looked = false;
        p->part.at[i].degree = p->part.at[i].nlinks;
        p->part.at[i].passed = p->part.at[i].sources = 0;
    }
    for (size_t i = 0; i < p->nbonds; i++) {
        const struct request *r = &p->request[i];

        if (r->off)
            continue;
        p->part.at[r->left].degree--;
        p->part.at[r->right].degree--;
        if (p->bond[i].source && !p->bond[i].two_port) {
            struct part *x = &p->part.at[p->bond[i].forward ? r->right : r->left];

            x->sources++;
            x->degree++;
        }
        vec_push(&p->work, r->left);
        vec_push(&p->work, r->right);
    }
    for (size_t i = 0; i < p->part.n; i++)
        if (p->part.at[i].wanted != NOBODY)
            take_out(p, (uint32_t)i);
    while (p->work.n) {
        uint32_t i = p->work.at[--p->work.n];

        if (!p->part.at[i].gone && dangles(p, i))
            take_out(p, i);
    }
}

static void
make_live(struct plan *p, uint32_t entity, uint32_t via)
{
    if (p->live[entity])
        return;
    p->live[entity] = true;
    p->via[entity] = via;
    vec_push(&p->work, entity);
}

void
rewrite_mark_live(struct plan *p)
{
    uint32_t n = rewrite_world(p) + 1;

    memset(p->live, 0, n * sizeof *p->live);
    p->work.n = 0;
    for (uint32_t i = 0; i < p->part.n; i++)
        if (!p->part.at[i].gone && p->part.at[i].kind != PART_BOND)
            make_live(p, i, NOBODY);
    for (uint32_t i = 0; i < p->value.n; i++)
        if (p->value.at[i].output || !p->value.at[i].read)
            make_live(p, rewrite_value_entity(p, i), NOBODY);
    make_live(p, rewrite_world(p), NOBODY);
    for (size_t i = 0; i < p->nbonds; i++)
        if (!p->request[i].off && p->bond[i].source)
            make_live(p, rewrite_find_part(p, p->bond[i].driver), NOBODY);
    while (p->work.n) {
        uint32_t i = p->work.at[--p->work.n];

        for (uint32_t k = p->reads0[i]; k < p->reads0[i + 1]; k++)
            make_live(p, p->reading.at[k].target, k);
        if (i < p->part.n && p->part.at[i].kind == PART_BOND)
            for (int k = 0; k < 2; k++)
                if (p->part.at[i].end[k] != NOBODY)
                    make_live(p, p->part.at[i].end[k], p->via[i]);
    }
}

/* The element to be kept so that part i stays: itself, or of the nearest that went around it the one that comes first
 * in the list. */
static uint32_t
holder(struct plan *p, uint32_t i, map *seen)
{
    uint32_t best = NOBODY;

    if (p->part.at[i].wanted != NOBODY)
        return i;
    p->work.n = 0;
    vec_push(&p->work, i);
    map_set(seen, i, 0);
    for (size_t from = 0; from < p->work.n && best == NOBODY;) {
        size_t to = p->work.n;

        for (; from < to; from++) {
            const struct part *x = &p->part.at[p->work.at[from]];

            for (uint32_t k = 0; k < x->nlinks; k++) {
                uint32_t j = p->link[x->link0 + k];
                const struct part *y = &p->part.at[j];

                if (!y->gone || map_get(seen, j) != MAP_NONE)
                    continue;
                map_set(seen, j, 0);
                if (y->wanted == NOBODY)
                    vec_push(&p->work, j);
                else if (best == NOBODY || y->wanted < p->part.at[best].wanted)
                    best = j;
            }
        }
    }
    return best;
}

static void
block(struct plan *p, uint32_t element, span reader, const char *why)
{
    rewrite_block b = { p->part.at[element].name, reader, why };

    if (p->part.at[element].wanted == NOBODY)
        return;
    p->part.at[element].wanted = NOBODY;
    vec_push(&p->out->blocked, b);
}

/* What dangles but is named stays where it hangs, which is as true: a junction, and both sides of a two-port. True if
 * that is new. */
static bool
hold(struct plan *p, uint32_t i)
{
    struct part *x = &p->part.at[i];
    bool any = false;

    if (x->wanted != NOBODY || x->thinned)
        return false;
    if (x->kind == PART_JUNCTION) {
        any = !x->held;
        x->held = true;
    }
    for (uint32_t k = 0; x->kind == PART_TWO_PORT && k < x->nlinks; k++) {
        struct part *y = &p->part.at[p->link[x->link0 + k]];

        if (y->kind != PART_JUNCTION || y->held || y->thinned)
            continue;
        y->held = any = true;
    }
    return any;
}

/* Keeps bonds whose name is read, and, last, those whose source would read a junction that goes. */
static bool
keep_bonds(struct plan *p, bool last)
{
    bool any = false;

    for (size_t i = 0; i < p->nbonds; i++) {
        const rewrite_bond *b = &p->bond[i];
        struct request *r = &p->request[i];
        bool named = r->name != NOBODY && p->live[r->name];

        if (r->off || !(named || (last && b->source && p->part.at[rewrite_find_part(p, b->driver)].gone)))
            continue;
        r->off = any = true;
        if (b->two_port)
            p->part.at[b->forward ? r->right : r->left].turned = NULL;
        vec_push(&p->out->blocked,
                 ((rewrite_block){ b->label,
                                   named && p->via[r->name] != NOBODY ? p->reading.at[p->via[r->name]].at : b->arrow,
                                   named ? "it is read" : "nothing is left that its source could read" }));
    }
    return any;
}

bool
rewrite_keep_needed(struct plan *p)
{
    VEC(struct {
        uint32_t element;
        span reader;
        const char *why;
    })
    found = { 0 };
    map seen = { 0 }; /* shared: each region that went is searched once a round */
    bool any, held = false;

    for (uint32_t i = 0; i < p->part.n; i++) {
        const struct part *x = &p->part.at[i];
        bool stranded = (x->kind == PART_ELEMENT || x->turned) && !x->gone && x->nlinks && !x->degree;
        uint32_t e;

        if (!(x->gone && p->live[i]) && !stranded)
            continue;
        if (hold(p, i)) {
            held = true;
            continue;
        }
        e = holder(p, i, &seen);
        if (e == NOBODY)
            continue;
        vec_resize(&found, found.n + 1);
        found.at[found.n - 1].element = e;
        if (stranded) {
            found.at[found.n - 1].reader = x->at;
            found.at[found.n - 1].why = "an element bonded to it stays";
        } else {
            found.at[found.n - 1].reader = p->via[i] == NOBODY ? x->at : p->reading.at[p->via[i]].at;
            found.at[found.n - 1].why = "it is read";
        }
    }
    any = held || found.n > 0;
    map_free(&seen);
    for (size_t i = 0; i < found.n; i++)
        block(p, found.at[i].element, found.at[i].reader, found.at[i].why);
    vec_free(&found);
    return keep_bonds(p, !any) || any;
}
