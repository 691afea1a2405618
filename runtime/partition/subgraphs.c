/* subgraphs.c - see subgraphs.h */
#include "subgraphs.h"

#include <string.h>

#include "metrics.h"
#include "joined.h"
#include "reads.h"

struct finder {
    const flat_model *f;
    const link_plan *p;
    arena *a;
    subgraphs *out;
    uint32_t *root;  /* [junction] sets of joined.h; the root is the junction declared first */
    uint8_t *walked; /* [var] 1: its definition is being walked, 2: of_var is known */
    uint32_t *seen;  /* [var] 1 + the reader that met it last */
    uint32_t reader; /* counts readers */
    uint32_t *of;    /* [var] home_of, extended to everything that is computed */
    const uint32_t *of_junction;
    uint32_t (*join)(uint32_t a, uint32_t b);
    const signal_freeze *freeze;
    size_t nfreezes;
    var_reads reads;
    VEC(var_id) work;
};

/* ---------------------------------------------------------------- connection by bonds */

static void
join_by_bonds(struct finder *d)
{
    const flat_model *f = d->f;

    d->root = joined_new(f->junction.n);
    for (size_t i = 0; i < d->p->link.n; i++)
        if (d->p->link.at[i].fate == LINK_STAYS)
            joined_join(d->root, d->p->link.at[i].end[0], d->p->link.at[i].end[1]);
    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *e = &f->element.at[i];

        /* the laws of a field relate all its ports */
        for (uint32_t k = 1; k < e->nports && !is_two_port(e); k++)
            joined_join(d->root, f->port.at[e->port0].junction, f->port.at[e->port0 + k].junction);
    }
}

static void
name_subgraphs(struct finder *d)
{
    const flat_model *f = d->f;
    subgraphs *s = d->out;

    s->of_junction = bg_malloc((f->junction.n + 1) * sizeof *s->of_junction);
    s->of_element = bg_malloc((f->element.n + 1) * sizeof *s->of_element);
    for (uint32_t j = 0; j < f->junction.n; j++) {
        uint32_t r = joined_first(d->root, j);

        if (r == j) {
            subgraph x = { .name = arena_format(d->a, "S%zu", s->subgraph.n + 1) };

            s->of_junction[j] = (uint32_t)s->subgraph.n;
            vec_push(&s->subgraph, x);
        }
        s->of_junction[j] = s->of_junction[r]; /* r < j: roots are declared first */
        vec_push(&s->subgraph.at[s->of_junction[j]].junction, j);
    }
    for (uint32_t i = 0; i < f->element.n; i++)
        s->of_element[i] = f->element.at[i].nports ? s->of_junction[f->port.at[f->element.at[i].port0].junction] : NONE;
    for (size_t i = 0; i < d->p->link.n; i++) {
        const link *x = &d->p->link.at[i];

        if (x->element != LINK_NONE && x->fate != LINK_STAYS)
            s->of_element[x->element] = x->fate == LINK_GOES ? NONE : s->of_junction[x->end[x->fate == LINK_TO_HEAD]];
    }
    for (uint32_t i = 0; i < f->element.n; i++)
        if (s->of_element[i] != NONE)
            vec_push(&s->subgraph.at[s->of_element[i]].element, i);
}

/* ---------------------------------------------------------------- ownership of variables */

/* The subgraph of a variable of an element, bond or junction; MANY_SUBGRAPHS for a computed variable, whose definition
 * has to be walked. */
static uint32_t
home_of(const struct finder *d, var_id v)
{
    const flat_model *f = d->f;
    const flat_var *x = &f->var.at[v];

    switch (x->kind) {
    case VAR_COMMON: return d->of_junction[x->owner];
    case VAR_PORT:
    case VAR_STORED:
        /* a two-port that is cut or becomes a source: its ports are gone, nothing that stays reads them; the junction
         * represents it */
        return d->of_junction[f->port.at[x->owner].junction];
    case VAR_BOND: return d->of_junction[f->bond.at[x->owner].from];
    case VAR_SIGNAL:
    case VAR_INTEGRAL:
    case VAR_RATE:
    case VAR_MODE: return MANY_SUBGRAPHS; /* a delayed value */
    default: return NONE;
    }
}

static uint32_t
both(uint32_t a, uint32_t b)
{
    return a == NONE || a == b ? b : b == NONE ? a : MANY_SUBGRAPHS;
}

/* Finds of_var of v and of everything that it reads, except through cycles. An explicit stack replaces recursion. */
static void
determine(struct finder *d, var_id v)
{
    uint32_t *of = d->of;

    vec_push(&d->work, v);
    while (d->work.n) {
        var_id x = d->work.at[d->work.n - 1];
        const var_id *slot = NULL;
        size_t n = 0;

        if (d->walked[x] == 2) {
            d->work.n--;
            continue;
        }
        of[x] = home_of(d, x);
        if (of[x] == MANY_SUBGRAPHS) {
            slot = reads_of(&d->reads, x, &n);
            of[x] = NONE;
        }
        if (!d->walked[x]) {
            d->walked[x] = 1;
            for (size_t k = 0; k < n; k++)
                if (!d->walked[slot[k]])
                    vec_push(&d->work, slot[k]);
            continue;
        }
        for (size_t k = 0; k < n; k++)
            of[x] = d->join(of[x], of[slot[k]]);
        d->walked[x] = 2;
        d->work.n--;
    }
}

/* Finds of_var of all variables. In a cycle (of integrals, or an algebraic one) each variable depends on what the
 * others read: repeats until nothing changes, which ends because of_var only rises, from none over one to many. */
static void
determine_all(struct finder *d)
{
    uint32_t *of = d->of;
    bool changed = true;

    for (var_id v = 0; v < d->f->var.n; v++)
        determine(d, v);
    while (changed) {
        changed = false;
        for (var_id v = 0; v < d->f->var.n; v++) {
            uint32_t sum = of[v];
            size_t n;
            const var_id *slot = reads_of(&d->reads, v, &n);

            if (home_of(d, v) != MANY_SUBGRAPHS)
                continue;
            for (size_t k = 0; k < n; k++)
                sum = d->join(sum, of[slot[k]]);
            changed |= sum != of[v];
            of[v] = sum;
        }
    }
}

/* Does the text give the variable a name that can be read and replaced? */
static bool
is_declared(const struct finder *d, var_id v)
{
    const flat_var *x = &d->f->var.at[v];

    for (const char *s = var_name(d->f, v); *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || strchr("_.[],", *s)))
            return false;
    return x->kind == VAR_SIGNAL || x->kind == VAR_INTEGRAL;
}

/* The variable that v only repeats, as long as that one has a name: an input of a component is the signal given to
 * it. */
static var_id
original(const struct finder *d, var_id v)
{
    const flat_model *f = d->f;

    for (uint32_t steps = 0; f->var.at[v].kind == VAR_SIGNAL && inst_known(var_def(f, v)) && steps < f->var.n;
         steps++) {
        inst def = var_def(f, v);
        var_id next = def.n == 1 && pool_node(f->pool, def.root)->op == EX_SLOT ? inst_slots(f, def)[0] : VAR_NONE;

        if (next == VAR_NONE || (home_of(d, next) == MANY_SUBGRAPHS && !is_declared(d, next)))
            break;
        v = next;
    }
    return v;
}

/* ---------------------------------------------------------------- signals */

static void
add_crossing(struct finder *d, var_id v, uint32_t to, crossing like)
{
    v = original(d, v);
    like.var = v;
    like.name = var_name(d->f, v);
    like.from = d->out->of_var[v];
    like.to = to;
    vec_push(&d->out->crossing, like);
}

/* Does the reader read a frozen variable among those that the signal is computed from? Then this signal does not cross,
 * but the variables that it is computed from do. An integral is not frozen by its argument. */
static bool
holds_frozen(const struct finder *d, var_id v, const char *reader)
{
    VEC(var_id) work = { 0 };
    map seen = { 0 };
    bool found = false;

    vec_push(&work, v);
    while (work.n && !found) {
        var_id x = work.at[--work.n];
        size_t n;
        const var_id *read = reads_of(&d->reads, x, &n);

        if (d->f->var.at[x].kind != VAR_SIGNAL && d->f->var.at[x].kind != VAR_RATE)
            n = 0;

        for (size_t k = 0; k < d->nfreezes; k++) {
            bool here = d->freeze[k].var == original(d, x) &&
                        (!d->freeze[k].reader || !strcmp(d->freeze[k].reader, reader));

            found |= here && x != v;
            if (here)
                n = 0; /* the signal itself is frozen */
        }
        for (size_t k = 0; k < n; k++)
            if (map_get(&seen, read[k]) == MAP_NONE) {
                map_set(&seen, read[k], 1);
                vec_push(&work, read[k]);
            }
    }
    map_free(&seen);
    vec_free(&work);
    return found;
}

/* Lists the crossings of a reader in subgraph `to`. */
static void
gather_crossings(struct finder *d, const var_id *slot, size_t n, uint32_t to, crossing like)
{
    if (to == NONE)
        return;
    for (size_t k = n; k-- > 0;)
        vec_push(&d->work, slot[k]);
    while (d->work.n) {
        var_id v = d->work.at[--d->work.n];
        const var_id *read;
        size_t m;
        uint32_t by;

        if (d->seen[v] == d->reader)
            continue;
        d->seen[v] = d->reader;
        by = d->out->of_var[v];
        if (by == NONE || by == to)
            continue;
        if (by != MANY_SUBGRAPHS && (home_of(d, v) != MANY_SUBGRAPHS || is_declared(d, v)) &&
            !(d->nfreezes && holds_frozen(d, v, like.reader))) {
            add_crossing(d, v, to, like);
            continue;
        }
        read = reads_of(&d->reads, v, &m);
        for (size_t k = m; k-- > 0;)
            vec_push(&d->work, read[k]);
    }
}

static void
gather_inst(struct finder *d, inst i, uint32_t to, crossing like)
{
    if (inst_known(i))
        gather_crossings(d, inst_slots(d->f, i), i.n, to, like);
}

static void
find_signals(struct finder *d)
{
    const flat_model *f = d->f;

    for (size_t i = 0; i < d->p->link.n; i++) {
        const link *x = &d->p->link.at[i];
        uint32_t from = x->end[x->fate == LINK_TO_TAIL], to = x->end[x->fate == LINK_TO_HEAD];

        if (x->fate != LINK_TO_HEAD && x->fate != LINK_TO_TAIL)
            continue;
        if (d->out->of_junction[from] != d->out->of_junction[to])
            add_crossing(d, f->junction.at[from].common, d->out->of_junction[to],
                         (crossing){ .link = (uint32_t)i, .reader = x->name, .element = x->element });
    }
    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *e = &f->element.at[i];

        d->reader++;
        for (uint32_t k = 0; k < e->nlaws; k++)
            gather_inst(d, f->law.at[e->law0 + k].def, d->out->of_element[i],
                        (crossing){ .link = LINK_NONE, .reader = e->name, .element = i });
    }
    for (size_t w = 0; w < f->when.n; w++)
        for (uint32_t k = 0; k < f->when.at[w].nreinits; k++) {
            const flat_reinit *r = &f->reinit.at[f->when.at[w].reinit0 + k];
            crossing like = { .link = LINK_NONE, .reader = var_name(f, r->target), .element = LINK_NONE };
            uint32_t to = d->out->of_var[r->target];

            if (to == MANY_SUBGRAPHS)
                continue; /* every reader of it reads what it is computed from */
            d->reader++;
            gather_inst(d, f->when.at[w].condition, to, like);
            gather_inst(d, r->value, to, like);
        }
}

/* ---------------------------------------------------------------- order and loops of subgraphs */

static int
by_subgraph(const void *pa, const void *pb)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

    return a < b ? -1 : a > b;
}

static void
list_drives(struct finder *d)
{
    subgraphs *s = d->out;

    for (size_t i = 0; i < s->crossing.n; i++)
        vec_push(&s->subgraph.at[s->crossing.at[i].from].drives, s->crossing.at[i].to);
    for (size_t i = 0; i < s->subgraph.n; i++) {
        subgraph *x = &s->subgraph.at[i];
        size_t n = 0;

        if (x->drives.n)
            qsort(x->drives.at, x->drives.n, sizeof *x->drives.at, by_subgraph);
        for (size_t k = 0; k < x->drives.n; k++)
            if (k == 0 || x->drives.at[k] != x->drives.at[k - 1])
                x->drives.at[n++] = x->drives.at[k];
        x->drives.n = n;
    }
}

/* Strongly connected components of n vertices, with edges in compressed rows. number[v] is the component of v;
 * components are numbered so that no edge leads to a lower one. Returns their number. Tarjan (1972), with explicit
 * stacks instead of recursion. */
static uint32_t
strong_sets(uint32_t n, const uint32_t *first, const uint32_t *edge, uint32_t *number)
{
    uint32_t *index = bg_calloc(n + 1, sizeof *index), *low = bg_calloc(n + 1, sizeof *low),
             *next = bg_calloc(n + 1, sizeof *next);
    uint32_t *path = bg_calloc(n + 1, sizeof *path), *open = bg_calloc(n + 1, sizeof *open), npath, nopen = 0,
             count = 0, sets = 0;

    for (uint32_t v = 0; v < n; v++)
        number[v] = NONE;
    for (uint32_t start = 0; start < n; start++) {
        if (index[start])
            continue;
        npath = 0;
        path[npath++] = start;
        while (npath) {
            uint32_t v = path[npath - 1];

            if (!index[v]) {
                index[v] = low[v] = ++count;
                next[v] = first[v];
                open[nopen++] = v;
            }
            if (next[v] < first[v + 1]) {
                uint32_t w = edge[next[v]++];

                if (!index[w])
                    path[npath++] = w;
                else if (number[w] == NONE && index[w] < low[v])
                    low[v] = index[w];
                continue;
            }
            npath--;
            if (npath && low[v] < low[path[npath - 1]])
                low[path[npath - 1]] = low[v];
            if (low[v] == index[v]) {
                uint32_t w;

                do {
                    w = open[--nopen];
                    number[w] = sets;
                } while (w != v);
                sets++;
            }
        }
    }
    for (uint32_t v = 0; v < n; v++)
        number[v] = sets - 1 - number[v]; /* components are found in reverse order */
    free(index);
    free(low);
    free(next);
    free(path);
    free(open);
    return sets;
}

/* The crossings that count as edges, by number, in compressed rows: those of subgraph v are edge[first[v] ..
 * first[v+1]). */
struct edges {
    uint32_t *first, *edge;
};

typedef bool edge_test(const crossing *x);
static bool
is_any(const crossing *x)
{
    (void)x;
    return true;
}
static bool
is_conditioned(const crossing *x)
{
    return x->link != LINK_NONE;
}
static bool
is_forward(const crossing *x)
{
    return x->link != LINK_NONE || !x->closes;
}

static struct edges
edges_of(const subgraphs *s, edge_test *counts)
{
    size_t n = s->subgraph.n;
    struct edges e = { bg_calloc(n + 2, sizeof(uint32_t)), bg_calloc(s->crossing.n + 1, sizeof(uint32_t)) };

    for (size_t i = 0; i < s->crossing.n; i++)
        if (counts(&s->crossing.at[i]))
            e.first[s->crossing.at[i].from + 2]++;
    for (size_t v = 2; v < n + 2; v++)
        e.first[v] += e.first[v - 1];
    for (size_t i = 0; i < s->crossing.n; i++)
        if (counts(&s->crossing.at[i]))
            e.edge[e.first[s->crossing.at[i].from + 1]++] = s->crossing.at[i].to;
    return e;
}

static void
edges_free(struct edges *e)
{
    free(e->first);
    free(e->edge);
}

static uint32_t
sets_of(const subgraphs *s, edge_test *counts, uint32_t *number)
{
    struct edges e = edges_of(s, counts);
    uint32_t sets = strong_sets((uint32_t)s->subgraph.n, e.first, e.edge, number);

    edges_free(&e);
    return sets;
}

/* Marks the original signals that lead back, within a partition, to where conditioned links start: each closes a loop
 * with those links. */
static void
mark_returning(struct finder *d, const uint32_t *number)
{
    subgraphs *s = d->out;
    struct edges e = edges_of(s, is_conditioned);
    uint32_t *reached = bg_calloc(s->subgraph.n + 1, sizeof *reached),
             *work = bg_calloc(s->subgraph.n + 1, sizeof *work);
    uint32_t *first = bg_calloc(s->subgraph.n + 2, sizeof *first), *into = bg_calloc(s->crossing.n + 1, sizeof *into);

    for (size_t i = 0; i < s->crossing.n; i++)
        first[s->crossing.at[i].to + 2]++;
    for (size_t v = 2; v < s->subgraph.n + 2; v++)
        first[v] += first[v - 1];
    for (size_t i = 0; i < s->crossing.n; i++)
        into[first[s->crossing.at[i].to + 1]++] = (uint32_t)i;
    for (uint32_t v = 0; v < s->subgraph.n; v++) {
        bool any = false;
        uint32_t n = 0;

        for (uint32_t k = first[v]; k < first[v + 1]; k++)
            any |= s->crossing.at[into[k]].link == LINK_NONE && number[s->crossing.at[into[k]].from] == number[v];
        if (!any)
            continue;
        reached[v] = v + 1;
        work[n++] = v;
        while (n) {
            uint32_t x = work[--n];

            for (uint32_t k = e.first[x]; k < e.first[x + 1]; k++)
                if (reached[e.edge[k]] != v + 1 && number[e.edge[k]] == number[v]) {
                    reached[e.edge[k]] = v + 1;
                    work[n++] = e.edge[k];
                }
        }
        for (uint32_t k = first[v]; k < first[v + 1]; k++)
            s->crossing.at[into[k]].closes = s->crossing.at[into[k]].link == LINK_NONE &&
                                             reached[s->crossing.at[into[k]].from] == v + 1;
    }
    edges_free(&e);
    free(reached);
    free(work);
    free(first);
    free(into);
}

/* Marks all crossings that close a loop: those that lead back, then those that still form a loop without them, then
 * conditioned links that form a loop by themselves. */
static void
mark_closing(struct finder *d, const uint32_t *number)
{
    subgraphs *s = d->out;
    uint32_t *forward = bg_calloc(s->subgraph.n + 1, sizeof *forward),
             *alone = bg_calloc(s->subgraph.n + 1, sizeof *alone);

    mark_returning(d, number);
    sets_of(s, is_forward, forward);
    sets_of(s, is_conditioned, alone);
    for (size_t i = 0; i < s->crossing.n; i++) {
        crossing *x = &s->crossing.at[i];

        x->closes |= x->link == LINK_NONE ? forward[x->from] == forward[x->to] : alone[x->from] == alone[x->to];
    }
    free(forward);
    free(alone);
}

static void
order_partitions(struct finder *d)
{
    subgraphs *s = d->out;
    uint32_t *number = bg_calloc(s->subgraph.n + 1, sizeof *number);
    uint32_t sets = sets_of(s, is_any, number), *loop_of;

    mark_closing(d, number);
    for (uint32_t k = 0; k < sets; k++) {
        partition x = { 0 };

        vec_push(&s->partition, x);
    }
    for (uint32_t i = 0; i < s->subgraph.n; i++) {
        s->subgraph.at[i].partition = number[i];
        vec_push(&s->partition.at[number[i]].subgraph, i);
    }
    loop_of = bg_malloc((sets + 1) * sizeof *loop_of);
    for (uint32_t k = 0; k < sets; k++) {
        signal_loop x = { .partition = k };

        loop_of[k] = NONE;
        if (s->partition.at[k].subgraph.n < 2)
            continue;
        loop_of[k] = (uint32_t)s->loop.n;
        for (size_t i = 0; i < s->partition.at[k].subgraph.n; i++)
            vec_push(&x.subgraph, s->partition.at[k].subgraph.at[i]);
        vec_push(&s->loop, x);
    }
    for (uint32_t i = 0; i < s->crossing.n; i++) {
        crossing *x = &s->crossing.at[i];
        uint32_t from = number[x->from], to = number[x->to];

        if (from != to) {
            s->partition.at[from].driving = true;
            s->partition.at[to].driven = true;
            vec_push(&s->partition.at[to].before, from);
        } else if (x->closes) {
            vec_push(&s->loop.at[loop_of[from]].crossing, i);
        }
    }
    for (uint32_t k = 0; k < sets; k++) {
        partition *x = &s->partition.at[k];
        size_t n = 0;

        if (x->before.n)
            qsort(x->before.at, x->before.n, sizeof *x->before.at, by_subgraph);
        for (size_t i = 0; i < x->before.n; i++)
            if (i == 0 || x->before.at[i] != x->before.at[i - 1])
                x->before.at[n++] = x->before.at[i];
        x->before.n = n;
    }
    free(loop_of);
    free(number);
}

static uint32_t
later(uint32_t a, uint32_t b)
{
    return a == NONE ? b : b == NONE || a > b ? a : b;
}

void
subgraphs_by_partition(const flat_model *f, const subgraphs *s, uint32_t *sole, uint32_t *last)
{
    uint32_t *of_junction = bg_malloc((f->junction.n + 1) * sizeof *of_junction);
    struct finder d = { .f = f, .of_junction = of_junction };

    for (uint32_t j = 0; j < f->junction.n; j++)
        of_junction[j] = s->subgraph.at[s->of_junction[j]].partition;
    reads_find(f, &d.reads);
    for (int pass = 0; pass < 2; pass++) {
        d.walked = bg_calloc(f->var.n + 1, sizeof *d.walked);
        d.of = pass ? last : sole;
        d.join = pass ? later : both;
        determine_all(&d);
        free(d.walked);
    }
    vec_free(&d.work);
    reads_free(&d.reads);
    free(of_junction);
}

/* Removes the frozen crossings. A freeze without a reader removes the crossings that close a loop, or all where none
 * does. */
static void
apply_freezes(struct finder *d, const signal_freeze *freeze, size_t n)
{
    subgraphs *s = d->out;
    size_t left = 0;

    for (size_t k = 0; k < n; k++) {
        bool closing = false;

        for (size_t i = 0; i < s->crossing.n; i++)
            closing |= s->crossing.at[i].var == freeze[k].var && s->crossing.at[i].closes;
        for (size_t i = 0; i < s->crossing.n; i++) {
            crossing *x = &s->crossing.at[i];

            if (x->var == freeze[k].var && x->link == LINK_NONE && x->element != LINK_NONE &&
                (freeze[k].reader ? !strcmp(freeze[k].reader, x->reader) : x->closes || !closing))
                x->freeze = (uint32_t)k + 1;
        }
    }
    for (size_t i = 0; i < s->crossing.n; i++)
        if (s->crossing.at[i].freeze)
            vec_push(&s->frozen, s->crossing.at[i]);
        else
            s->crossing.at[left++] = s->crossing.at[i];
    s->crossing.n = left;
}

static void
forget_partitions(subgraphs *s)
{
    for (size_t i = 0; i < s->subgraph.n; i++)
        vec_free(&s->subgraph.at[i].drives);
    for (size_t i = 0; i < s->crossing.n; i++)
        s->crossing.at[i].closes = false;
    for (size_t i = 0; i < s->partition.n; i++) {
        vec_free(&s->partition.at[i].subgraph);
        vec_free(&s->partition.at[i].before);
    }
    for (size_t i = 0; i < s->loop.n; i++) {
        vec_free(&s->loop.at[i].subgraph);
        vec_free(&s->loop.at[i].crossing);
    }
    s->partition.n = s->loop.n = 0;
}

var_id
subgraphs_original(const flat_model *f, const subgraphs *s, var_id v)
{
    struct finder d = { .f = f, .of_junction = s->of_junction };

    return original(&d, v);
}

void
subgraphs_find(const flat_model *f, const link_plan *p, const signal_freeze *freeze, size_t nfreezes, arena *a,
               subgraphs *out)
{
    struct finder d = { .f = f, .p = p, .a = a, .out = out, .join = both, .freeze = freeze, .nfreezes = nfreezes };

    memset(out, 0, sizeof *out);
    d.walked = bg_calloc(f->var.n + 1, sizeof *d.walked);
    d.seen = bg_calloc(f->var.n + 1, sizeof *d.seen);
    out->of_var = bg_calloc(f->var.n + 1, sizeof *out->of_var);
    reads_find(f, &d.reads);
    join_by_bonds(&d);
    name_subgraphs(&d);
    d.of = out->of_var;
    d.of_junction = out->of_junction;
    determine_all(&d);
    find_signals(&d);
    list_drives(&d);
    order_partitions(&d);
    if (nfreezes) {
        apply_freezes(&d, freeze, nfreezes);
        forget_partitions(out);
        list_drives(&d);
        order_partitions(&d);
    }
    free(d.root);
    free(d.walked);
    free(d.seen);
    reads_free(&d.reads);
    vec_free(&d.work);
}

void
subgraphs_free(subgraphs *s)
{
    for (size_t i = 0; i < s->subgraph.n; i++) {
        vec_free(&s->subgraph.at[i].junction);
        vec_free(&s->subgraph.at[i].element);
        vec_free(&s->subgraph.at[i].drives);
    }
    for (size_t i = 0; i < s->partition.n; i++) {
        vec_free(&s->partition.at[i].subgraph);
        vec_free(&s->partition.at[i].before);
    }
    for (size_t i = 0; i < s->loop.n; i++) {
        vec_free(&s->loop.at[i].subgraph);
        vec_free(&s->loop.at[i].crossing);
    }
    vec_free(&s->subgraph);
    vec_free(&s->crossing);
    vec_free(&s->frozen);
    vec_free(&s->loop);
    vec_free(&s->partition);
    free(s->of_junction);
    free(s->of_element);
    free(s->of_var);
    memset(s, 0, sizeof *s);
}
