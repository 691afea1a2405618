/* rewrite.c - takes elements out of a model's source text, as edits */
#include <string.h>

#include "rewrite.h"
#include "rewrite_without.h"

enum part_kind { PART_ELEMENT, PART_TWO_PORT, PART_JUNCTION, PART_BOND };
enum { NOBODY = UINT32_MAX };

/* A name of the model's parts, where it is declared, and what is bonded to it. */
struct part {
    const char *name;
    enum part_kind kind;
    const ast_node *node; /* of the declaration; NULL: a bond */
    span at;
    uint32_t link0, nlinks; /* neighbours: link[link0 ...) */
    uint32_t degree;        /* neighbours still there */
    uint32_t wanted;        /* place in the list of what is to go, NOBODY if not in it */
    uint32_t end[2];        /* a bond's two parts */
    bool gone, fixed;       /* fixed: a port, or bonded within a loop: never goes by itself */
    bool clamped;
    span stored_read; /* who reads what it stores: SPAN_NONE: nobody */
    bool thinned;     /* an earlier `without` took a bond of it: the language itself cleans it up */
    bool held;        /* something that stays names it: it stays while a bond is left */
    bool at_rest,
        looked;       /* a junction: its effort (0) or flow (1) is zero; whether its first dead ends were looked for */
    uint32_t passed;  /* its links before this do not keep it */
    uint32_t sources; /* that came to act on it where bonds were */
    const char *turned; /* a two-port that is a source now: its text */
};

struct value {
    const ast_stmt *stmt;
    bool output, read, gone;
};

/* An expression of `reader` reads `target`. Readers and targets are parts (0 ...), then values, then the world (always
 * there). */
struct reading {
    uint32_t reader, target;
    span at;
};

/* A node of a chain. cut: 1 + the request for the arrow behind it, 0: none */
struct occurrence {
    uint32_t stmt, node, part, cut;
};

/* A bond to be dropped or made one-way: its ends, its name in the text (a part), and whether that cannot be done. */
struct request {
    uint32_t left, right, name;
    bool off;
};

struct plan {
    const sources *s;
    const ast_model *model;
    const ast_file *file;
    const char *text;
    size_t length;
    map part_of, value_of; /* interned name -> index */
    VEC(struct part) part;
    VEC(struct value) value;
    VEC(struct occurrence) occurrence; /* in order of the text */
    VEC(uint32_t) chain0;              /* [statement] its first occurrence; one more at the end */
    VEC(struct reading) reading;       /* sorted by reader once gathered */
    uint32_t *reads0;                  /* [entity + 1] */
    uint32_t *link;
    uint32_t *link_cut; /* [link] 1 + request, 0: none */
    const rewrite_bond *bond;
    size_t nbonds;
    struct request *request; /* [bond] */
    bool *live;              /* [entity] */
    uint32_t *via;           /* [entity] the reading that made it live */
    VEC(uint32_t) work;
    VEC(span) lost; /* statements that go with their line */
    const rewrite_change *change;
    size_t nchanges;
    VEC(span) replaced; /* bytes of the changes, in order of the text */
    rewrite *out;
};

static uint32_t
world(const struct plan *p)
{
    return (uint32_t)(p->part.n + p->value.n);
}
static uint32_t
value_entity(const struct plan *p, uint32_t v)
{
    return (uint32_t)p->part.n + v;
}

const char *
rewrite_kind_name(enum rewrite_kind k)
{
    static const char *const name[] = { [REWRITE_ELEMENT] = "drop",
                                        [REWRITE_JUNCTION] = "dangling",
                                        [REWRITE_TWO_PORT] = "dangling",
                                        [REWRITE_VALUE] = "parameter",
                                        [REWRITE_LET] = "let",
                                        [REWRITE_INITIAL] = "initial-value",
                                        [REWRITE_EXPECT] = "expect",
                                        [REWRITE_REFIT] = "refit",
                                        [REWRITE_MOVE] = "move-declaration",
                                        [REWRITE_CLAMP] = "clamp",
                                        [REWRITE_TERM_DELETE] = "term-delete",
                                        [REWRITE_BOND] = "dangling",
                                        [REWRITE_TERM_MEAN] = "term-mean",
                                        [REWRITE_WITHOUT] = "without",
                                        [REWRITE_DROP_BOND] = "drop-bond",
                                        [REWRITE_CONDITION] = "condition",
                                        [REWRITE_FOLD] = "fold" };
    return name[k];
}

/* ---------------------------------------------------------------- parts and bonds */

static bool
two_port_type(const char *type)
{
    return !strcmp(type, "TF") || !strcmp(type, "GY") || !strcmp(type, "MTF") || !strcmp(type, "MGY");
}

static enum part_kind
kind_of(const ast_node *n)
{
    if (!strcmp(n->type, "0") || !strcmp(n->type, "1"))
        return PART_JUNCTION;
    if (!two_port_type(n->type))
        return PART_ELEMENT;
    for (int i = 0; i < n->nitems; i++)
        if (n->item[i].kind == AST_LAW_PORT)
            return PART_ELEMENT; /* a field: it stands with fewer bonds too */
    return PART_TWO_PORT;
}

static uint32_t
find_part(const struct plan *p, const char *name)
{
    return map_get(&p->part_of, map_ptr_key(name));
}

static void
declare_part(struct plan *p, const char *name, enum part_kind kind, const ast_node *where, span at, bool fixed)
{
    struct part x = { .name = name,
                      .kind = kind,
                      .node = where,
                      .at = at,
                      .wanted = NOBODY,
                      .end = { NOBODY, NOBODY },
                      .fixed = fixed,
                      .stored_read = SPAN_NONE };

    if (find_part(p, name) != MAP_NONE)
        return;
    map_set(&p->part_of, map_ptr_key(name), (uint32_t)p->part.n);
    vec_push(&p->part, x);
}

/* Declares what a statement declares. Nesting is bounded by the parser. */
static void
declare(struct plan *p, const ast_stmt *s, bool nested)
{
    switch (s->kind) {
    case AST_STMT_CHAIN:
        for (int i = 0; i < s->chain.nnodes; i++)
            if (s->chain.node[i].type && s->chain.node[i].ref.nparts)
                declare_part(p, s->chain.node[i].ref.part[0].name, kind_of(&s->chain.node[i]), &s->chain.node[i],
                             s->chain.node[i].at, nested);
        if (s->chain.bond)
            declare_part(p, s->chain.bond, PART_BOND, NULL, s->chain.bond_at, true);
        break;
    case AST_STMT_PORT:
        for (int i = 0; i < s->port.n; i++)
            if (s->port.junction[i].type && s->port.junction[i].ref.nparts)
                declare_part(p, s->port.junction[i].ref.part[0].name, PART_JUNCTION, &s->port.junction[i],
                             s->port.junction[i].at, true);
        break;
    case AST_STMT_VALUE:
        if (map_get(&p->value_of, map_ptr_key(s->value.name)) == MAP_NONE) {
            struct value v = { .stmt = s, .output = nested || s->value.kind == AST_OUTPUT };

            map_set(&p->value_of, map_ptr_key(s->value.name), (uint32_t)p->value.n);
            vec_push(&p->value, v);
        } else { /* a signal, and `output NAME;` that shows it */
            struct value *v = &p->value.at[map_get(&p->value_of, map_ptr_key(s->value.name))];

            v->output |= s->value.kind == AST_OUTPUT;
            if (!v->stmt->value.value)
                v->stmt = s;
        }
        break;
    case AST_STMT_FOR:
        for (int i = 0; i < s->loop.n; i++)
            declare(p, s->loop.body[i], true);
        break;
    case AST_STMT_IF:
        for (int i = 0; i < s->cond.nthen; i++)
            declare(p, s->cond.then[i], true);
        for (int i = 0; i < s->cond.nother; i++)
            declare(p, s->cond.other[i], true);
        break;
    case AST_STMT_WITHOUT:
    case AST_STMT_WHEN: break;
    }
}

/* Two neighbours in a chain, and the request for their bond. */
struct pair {
    uint32_t end[2], cut;
};

/* Gathers the chains' nodes and, from them, who is bonded to whom, in compressed rows. */
static void
gather_bonds(struct plan *p)
{
    VEC(struct pair) pair = { 0 };
    map cut_of = { 0 };
    uint32_t total = 0;

    for (size_t i = 0; i < p->nbonds; i++) {
        p->request[i] = (struct request){ NOBODY, NOBODY, NOBODY, true };
        map_set(&cut_of, p->bond[i].arrow.begin, (uint32_t)i);
    }
    for (int i = 0; i < p->model->nstmt; i++) {
        const ast_stmt *s = p->model->stmt[i];
        uint32_t before = NOBODY;

        vec_push(&p->chain0, (uint32_t)p->occurrence.n);
        if (s->kind != AST_STMT_CHAIN)
            continue;
        for (int k = 0; k < s->chain.nnodes; k++) {
            const ast_node *n = &s->chain.node[k];
            struct occurrence o = { (uint32_t)i, (uint32_t)k,
                                    n->ref.nparts ? find_part(p, n->ref.part[0].name) : NOBODY, 0 };

            vec_push(&p->occurrence, o);
            if (k && before != NOBODY && o.part != NOBODY) {
                uint32_t cut = map_get(&cut_of, s->chain.arrow[k - 1].begin);

                vec_push(&pair, ((struct pair){ { before, o.part }, cut == MAP_NONE ? 0 : cut + 1 }));
                p->part.at[before].nlinks++;
                p->part.at[o.part].nlinks++;
                if (cut != MAP_NONE) {
                    p->occurrence.at[p->occurrence.n - 2].cut = cut + 1;
                    p->request[cut] = (struct request){ before, o.part, NOBODY, false };
                    if (s->chain.bond && k == s->chain.nnodes - 1)
                        p->request[cut].name = find_part(p, s->chain.bond);
                    if (p->bond[cut].two_port)
                        p->part.at[p->bond[cut].forward ? o.part : before].turned = p->bond[cut].text;
                }
                if (s->chain.bond && k == s->chain.nnodes - 1) {
                    struct part *bond = &p->part.at[find_part(p, s->chain.bond)];

                    bond->end[0] = before;
                    bond->end[1] = o.part;
                }
            }
            before = o.part;
        }
    }
    vec_push(&p->chain0, (uint32_t)p->occurrence.n);
    for (size_t i = 0; i < p->part.n; i++) {
        p->part.at[i].link0 = total;
        total += p->part.at[i].nlinks;
        p->part.at[i].nlinks = 0;
    }
    p->link = bg_calloc(total, sizeof *p->link);
    p->link_cut = bg_calloc(total, sizeof *p->link_cut);
    for (size_t i = 0; i < 2 * pair.n; i++) {
        const struct pair *y = &pair.at[i / 2];
        struct part *x = &p->part.at[y->end[i % 2]];

        p->link_cut[x->link0 + x->nlinks] = y->cut;
        p->link[x->link0 + x->nlinks++] = y->end[1 - i % 2];
    }
    vec_free(&pair);
    map_free(&cut_of);
}

static bool
is_cut(const struct plan *p, uint32_t link)
{
    return p->link_cut[link] && !p->request[p->link_cut[link] - 1].off;
}

/* ---------------------------------------------------------------- who reads whom */

static void
add_reading(struct plan *p, uint32_t reader, uint32_t target, span at)
{
    struct reading r = { reader, target, at };

    if (reader != target)
        vec_push(&p->reading, r);
}

/* owner: the node whose block this stands in, or NULL */
static void
read_ref(struct plan *p, uint32_t reader, const ast_ref *ref, const ast_node *owner)
{
    uint32_t x;

    if (!ref->nparts || ast_own_name(owner, ref->part[0].name))
        return;
    if (ref->nparts == 1) {
        if ((x = map_get(&p->value_of, map_ptr_key(ref->part[0].name))) != MAP_NONE)
            add_reading(p, reader, value_entity(p, x), ref->at);
    } else if ((x = find_part(p, ref->part[0].name)) != MAP_NONE) {
        const char *last = ref->part[ref->nparts - 1].name;

        add_reading(p, reader, x, ref->at);
        if ((!strcmp(last, "q") || !strcmp(last, "p")) && !span_known(p->part.at[x].stored_read))
            p->part.at[x].stored_read = ref->at;
    }
}

/* Whose expression is read, and of which node's block. */
struct reads {
    struct plan *p;
    uint32_t reader;
    const ast_node *owner;
};

static void
see_read(void *ctx, const ast_ref *ref)
{
    const struct reads *r = ctx;

    read_ref(r->p, r->reader, ref, r->owner);
}

static void
read_expr(struct plan *p, uint32_t reader, const ast_expr *e, const ast_node *owner)
{
    ast_each_ref(e, see_read, &(struct reads){ p, reader, owner });
}

/* A reference outside of expressions: its indexes, and the part or value itself. */
static void
read_name(struct plan *p, uint32_t reader, const ast_ref *ref, bool as_part)
{
    uint32_t x;

    read_ref(p, reader, ref, NULL);
    for (int i = 0; i < ref->nparts; i++)
        for (int k = 0; k < ref->part[i].nindex; k++) {
            read_expr(p, reader, ref->part[i].index[k].from, NULL);
            read_expr(p, reader, ref->part[i].index[k].to, NULL);
        }
    if (as_part && ref->nparts && (x = find_part(p, ref->part[0].name)) != MAP_NONE)
        add_reading(p, reader, x, ref->at);
}

static void
read_node(struct plan *p, const ast_node *n, bool nested)
{
    uint32_t part = n->ref.nparts ? find_part(p, n->ref.part[0].name) : NOBODY;
    uint32_t reader = nested || part == NOBODY ? world(p) : part;

    if (nested && part != NOBODY)
        add_reading(p, reader, part, n->at);
    read_expr(p, reader, n->linear, NULL);
    read_expr(p, reader, n->such_that, NULL);
    for (int i = 0; i < n->nitems; i++) {
        const ast_law_item *item = &n->item[i];

        read_expr(p, reader, item->right, item->kind == AST_LAW_INITIAL ? NULL : n);
        for (int k = 0; item->kind == AST_LAW_PORT && k < item->nports; k++)
            read_expr(p, reader, item->port[k].size, n);
    }
    for (int i = 0; i < n->nargs; i++)
        read_expr(p, reader, n->arg[i].value, NULL);
}

static void
read_stmt(struct plan *p, const ast_stmt *s, bool nested)
{
    uint32_t v;

    switch (s->kind) {
    case AST_STMT_CHAIN:
        for (int i = 0; i < s->chain.nnodes; i++)
            read_node(p, &s->chain.node[i], nested);
        break;
    case AST_STMT_PORT:
        for (int i = 0; i < s->port.n; i++)
            read_node(p, &s->port.junction[i], false);
        break;
    case AST_STMT_VALUE:
        v = map_get(&p->value_of, map_ptr_key(s->value.name));
        read_expr(p, value_entity(p, v), s->value.value, NULL);
        for (int i = 0; i < s->value.nsize; i++)
            read_expr(p, value_entity(p, v), s->value.size[i], NULL);
        break;
    case AST_STMT_FOR:
        read_expr(p, world(p), s->loop.from, NULL);
        read_expr(p, world(p), s->loop.to, NULL);
        for (int i = 0; i < s->loop.n; i++)
            read_stmt(p, s->loop.body[i], true);
        break;
    case AST_STMT_IF:
        read_expr(p, world(p), s->cond.cond, NULL);
        for (int i = 0; i < s->cond.nthen; i++)
            read_stmt(p, s->cond.then[i], true);
        for (int i = 0; i < s->cond.nother; i++)
            read_stmt(p, s->cond.other[i], true);
        break;
    case AST_STMT_WITHOUT:
        for (int i = 0; i < s->without.n; i++)
            read_name(p, world(p), &s->without.ref[i], true);
        break;
    case AST_STMT_WHEN:
        for (int i = 0; i < 3; i++) {
            const ast_expr *e = i == 0 ? s->when.cond : i == 1 ? s->when.period : s->when.offset;

            if (e)
                read_expr(p, world(p), e, NULL);
        }
        for (int i = 0; i < s->when.n; i++) {
            read_name(p, world(p), &s->when.reinit[i].target, false);
            read_expr(p, world(p), s->when.reinit[i].value, NULL);
        }
        break;
    }
}

/* What a `let` sets: a part's initial value or a value. NOBODY: something unknown here. */
static uint32_t
let_target(const struct plan *p, const ast_exp_item *item)
{
    uint32_t x;

    if (!item->ref.nparts)
        return NOBODY;
    if (item->ref.nparts > 1)
        x = find_part(p, item->ref.part[0].name);
    else if ((x = map_get(&p->value_of, map_ptr_key(item->ref.part[0].name))) != MAP_NONE)
        x = value_entity(p, x);
    return x == MAP_NONE ? NOBODY : x;
}

static bool
of_this_model(const struct plan *p, const ast_decl *d)
{
    return d->kind == AST_DECL_EXPERIMENT && d->experiment->model == p->model->name;
}

static void
read_experiment(struct plan *p, const ast_experiment *x)
{
    for (int i = 0; i < x->nitems; i++) {
        const ast_exp_item *item = &x->item[i];
        uint32_t target;

        switch (item->kind) {
        case AST_EXP_SET:
        case AST_EXP_WINDOW:
        case AST_EXP_STOP_WHEN:
            read_expr(p, world(p), item->a, NULL);
            read_expr(p, world(p), item->b, NULL);
            break;
        case AST_EXP_EQUILIBRIUM: break;
        case AST_EXP_LET:
            /* it does not read what it sets: it goes with that */
            target = let_target(p, item);
            read_expr(p, target == NOBODY ? world(p) : target, item->a, NULL);
            break;
        case AST_EXP_OBSERVE:
            read_name(p, world(p), &item->ref, false);
            read_expr(p, world(p), item->b, NULL);
            break;
        case AST_EXP_KEEP:
            for (int k = 0; k < item->nrefs; k++)
                read_name(p, world(p), &item->refs[k], true);
            break;
        case AST_EXP_EXPECT: break; /* nothing stays for it: it goes with what it reads */
        case AST_EXP_RECORD:
            for (int k = 0; k < item->nexprs; k++)
                read_expr(p, world(p), item->exprs[k], NULL);
            break;
        }
    }
}

/* Does it stand in bytes that a change replaces? */
static bool
is_replaced(const struct plan *p, span at)
{
    size_t low = 0, high = p->replaced.n;

    while (low < high) { /* how many begin at or before it */
        size_t middle = low + (high - low) / 2;

        if (p->replaced.at[middle].begin <= at.begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low && at.end <= p->replaced.at[low - 1].end;
}

/* Sorts the readings by reader (counting) and notes which values were read at all; then those in replaced bytes are
 * forgotten. */
static void
gather_readings(struct plan *p)
{
    for (int i = 0; i < p->model->nstmt; i++)
        read_stmt(p, p->model->stmt[i], false);
    for (int i = 0; i < p->model->nsize; i++)
        read_expr(p, world(p), p->model->size[i].value, NULL);
    for (size_t i = 0; i < p->file->ndecls; i++)
        if (of_this_model(p, &p->file->decl[i]))
            read_experiment(p, p->file->decl[i].experiment);
}

static int
span_order(const void *pa, const void *pb)
{
    const span *a = pa, *b = pb;

    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* What stores what is read is not clamped. */
static void
refuse_clamps(struct plan *p)
{
    for (size_t i = 0; i < p->part.n; i++)
        if (p->part.at[i].clamped && span_known(p->part.at[i].stored_read)) {
            p->part.at[i].clamped = false;
            vec_push(&p->out->blocked,
                     ((rewrite_block){ p->part.at[i].name, p->part.at[i].stored_read, "what it stores is read" }));
        }
}

/* The bytes of the changes that are made. */
static void
gather_replaced(struct plan *p)
{
    for (size_t i = 0; i < p->nchanges; i++) {
        const rewrite_change *c = &p->change[i];
        uint32_t x = c->kind == REWRITE_CLAMP ? find_part(p, c->owner) : MAP_NONE;

        for (size_t k = 0; k < c->npieces && (x == MAP_NONE || p->part.at[x].clamped); k++)
            vec_push(&p->replaced, c->piece[k].at);
    }
    if (p->replaced.n)
        qsort(p->replaced.at, p->replaced.n, sizeof *p->replaced.at, span_order);
}

/* By reader; what the changes replace reads nothing any more. */
static void
sort_readings(struct plan *p)
{
    size_t n = world(p) + 1;
    struct reading *sorted;

    p->reads0 = bg_calloc(n + 2, sizeof *p->reads0);
    sorted = bg_calloc(p->reading.n, sizeof *sorted);
    for (size_t i = 0; i < p->reading.n; i++)
        p->reads0[p->reading.at[i].reader + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        p->reads0[i] += p->reads0[i - 1];
    for (size_t i = 0; i < p->reading.n; i++)
        sorted[p->reads0[p->reading.at[i].reader + 1]++] = p->reading.at[i];
    free(p->reading.at);
    p->reading.at = sorted;
    p->reading.cap = p->reading.n;
    for (size_t i = 0; i < p->reading.n; i++)
        if (sorted[i].target >= p->part.n)
            p->value.at[sorted[i].target - p->part.n].read = true;
    for (size_t i = 0; i < p->reading.n && p->replaced.n; i++)
        if (is_replaced(p, sorted[i].at))
            sorted[i].target = sorted[i].reader;
}

/* ---------------------------------------------------------------- what goes */

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

        if (is_cut(p, x->link0 + k))
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
    if (y->kind == PART_TWO_PORT && y->nlinks == 2 && !y->turned && !is_cut(p, y->link0) && !is_cut(p, y->link0 + 1)) {
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
        uint32_t j = is_cut(p, x->link0 + k) ? NOBODY : leads_to(p, i, k, &like);

        if (j != NOBODY && !like && !p->part.at[j].gone && p->part.at[j].degree == 1 && may_go(&p->part.at[j]))
            x->at_rest = true;
    }
    x->looked = true;
    for (; x->at_rest && x->passed < x->nlinks; x->passed++)
        if (!is_cut(p, x->link0 + x->passed) && !p->part.at[p->link[x->link0 + x->passed]].gone &&
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
        uint32_t j = p->part.at[p->link[x->link0 + k]].gone || is_cut(p, x->link0 + k) ? NOBODY
                                                                                       : leads_to(p, i, k, &like);

        if (j == NOBODY)
            continue;
        if (like)
            return true;
        put_at_rest(p, j);
    }
    return !x->degree || rests_alone(p, i);
}

/* Takes out what is wanted and then what dangles. */
static void
cascade(struct plan *p)
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

/* Marks all that what stays reads, directly or through what it reads. */
static void
mark_live(struct plan *p)
{
    uint32_t n = world(p) + 1;

    memset(p->live, 0, n * sizeof *p->live);
    p->work.n = 0;
    for (uint32_t i = 0; i < p->part.n; i++)
        if (!p->part.at[i].gone && p->part.at[i].kind != PART_BOND)
            make_live(p, i, NOBODY);
    for (uint32_t i = 0; i < p->value.n; i++)
        if (p->value.at[i].output || !p->value.at[i].read)
            make_live(p, value_entity(p, i), NOBODY);
    make_live(p, world(p), NOBODY);
    for (size_t i = 0; i < p->nbonds; i++)
        if (!p->request[i].off && p->bond[i].source)
            make_live(p, find_part(p, p->bond[i].driver), NOBODY);
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

        if (r->off || !(named || (last && b->source && p->part.at[find_part(p, b->driver)].gone)))
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

/* Keeps what something that stays needs. True if anything was kept: then what goes must be found again. */
static bool
keep_needed(struct plan *p)
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

/* ---------------------------------------------------------------- edits */

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Does a block open before `at`, with nothing but space between? */
static bool
opens_before(const char *t, size_t at)
{
    while (at > 0 && (is_blank(t[at - 1]) || t[at - 1] == '\r' || t[at - 1] == '\n'))
        at--;
    return at > 0 && t[at - 1] == '{';
}

/* Where the empty lines at `at`, the start of a line, end. */
static size_t
behind_empty_lines(const char *t, size_t length, size_t at)
{
    for (size_t k = at; k < length; k++) {
        if (t[k] == '\n')
            at = k + 1;
        else if (!is_blank(t[k]) && t[k] != '\r')
            break;
    }
    return at;
}

/* Where the text that ends before `at` ends, comments and empty lines left out. */
static size_t
text_before(const char *t, size_t at)
{
    for (;;) {
        size_t line = at, comment;

        while (at > 0 && strchr(" \t\r\f\v", t[at - 1]) && t[at - 1])
            at--;
        if (!at || t[at - 1] != '\n')
            return at;
        at--;
        for (line = at; line > 0 && t[line - 1] != '\n';)
            line--;
        for (comment = line; comment + 1 < at && (t[comment] != '/' || t[comment + 1] != '/');)
            comment++;
        if (comment + 1 < at)
            at = comment;
    }
}

/* What goes ends a list, 1:a, 1:b; whose rest stays: its last comma becomes the end. */
static void
end_list_before(edits *e, const char *t, const span *lost, size_t i)
{
    size_t at = text_before(t, lost[i].begin);

    while (i > 0 && lost[i - 1].end == at && t[at - 1] == ',')
        at = text_before(t, lost[--i].begin);
    if (at && t[at - 1] == ',')
        edits_replace(e, at - 1, at, ";", 1);
}

void
rewrite_delete_statements(edits *e, const char *t, size_t length, span *lost, size_t n)
{
    size_t taken = 0;   /* whole lines go up to here */
    bool first = false; /* and are the first of their block */

    if (n)
        qsort(lost, n, sizeof *lost, span_order);
    for (size_t i = 0, j; i < n; i = j) {
        size_t begin = lost[i].begin, end = lost[i].end, left = begin, right = end, after;
        bool alone_left, alone_right;

        if (t[lost[i].end - 1] == ';')
            end_list_before(e, t, lost, i);
        /* neighbours on the line that go too */
        for (j = i + 1; j < n; j++) {
            size_t k = end;

            while (k < length && is_blank(t[k]))
                k++;
            if (k != lost[j].begin)
                break;
            end = lost[j].end;
            if (t[end - 1] == ';')
                end_list_before(e, t, lost, j);
        }
        while (left > 0 && is_blank(t[left - 1]))
            left--;
        for (right = end; right < length && is_blank(t[right]);)
            right++;
        alone_left = left == 0 || t[left - 1] == '\n';
        after = right;
        if (after + 1 < length && t[after] == '/' && t[after + 1] == '/')
            while (after < length && t[after] != '\n')
                after++;
        if (after < length && t[after] == '\r')
            after++;
        alone_right = after == length || t[after] == '\n';
        if (alone_left && alone_right) {
            first = (first && left == taken) || opens_before(t, left);
            taken = after < length ? after + 1 : after;
            /* a block does not begin with an empty line because its first lines went */
            if (first)
                taken = behind_empty_lines(t, length, taken);
            edits_delete(e, left, taken);
        } else if (alone_left)
            edits_delete(e, begin, right);
        else
            edits_delete(e, left, end);
    }
}

static bool
gone_at(const struct plan *p, uint32_t o)
{
    uint32_t part = p->occurrence.at[o].part;

    return part != NOBODY && p->part.at[part].gone;
}

static const ast_node *
node_at(const struct plan *p, uint32_t o)
{
    return &p->model->stmt[p->occurrence.at[o].stmt]->chain.node[p->occurrence.at[o].node];
}

/* The bond that is cut between occurrence o and the one behind it, or NULL. */
static const rewrite_bond *
cut_behind(const struct plan *p, uint32_t o)
{
    uint32_t cut = p->occurrence.at[o].cut;

    return cut && !p->request[cut - 1].off ? &p->bond[cut - 1] : NULL;
}

/* The source that takes the place of a bond that is cut: it stands before or behind the rest of the chain. A two-port
 * turned source stands where it did. */
static bool
has_source(const rewrite_bond *b, bool forward)
{
    return b && b->source && !b->two_port && b->forward == forward;
}

/* Is occurrence o the last (first) of its piece? */
static bool
ends_piece(const struct plan *p, uint32_t o)
{
    return o + 1 == p->chain0.at[p->occurrence.at[o].stmt + 1] || gone_at(p, o + 1) || cut_behind(p, o);
}

static bool
begins_piece(const struct plan *p, uint32_t o)
{
    return o == p->chain0.at[p->occurrence.at[o].stmt] || gone_at(p, o - 1) || cut_behind(p, o - 1);
}

static bool
source_before(const struct plan *p, uint32_t o)
{
    return o > p->chain0.at[p->occurrence.at[o].stmt] && !gone_at(p, o - 1) && has_source(cut_behind(p, o - 1), true);
}

static bool
source_behind(const struct plan *p, uint32_t o)
{
    return o + 1 < p->chain0.at[p->occurrence.at[o].stmt + 1] && !gone_at(p, o + 1) &&
           has_source(cut_behind(p, o), false);
}

/* Does occurrence o stand in a piece that still says a bond? */
static bool
in_bond(const struct plan *p, uint32_t o)
{
    return !gone_at(p, o) && (!begins_piece(p, o) || !ends_piece(p, o) || source_before(p, o) || source_behind(p, o));
}

/* The rows of occurrences by part, in order of the text. */
struct rows {
    uint32_t *first, *at;
};

static struct rows
occurrence_rows(const struct plan *p)
{
    struct rows r = { bg_calloc(p->part.n + 2, sizeof(uint32_t)), bg_calloc(p->occurrence.n, sizeof(uint32_t)) };

    for (size_t i = 0; i < p->occurrence.n; i++)
        if (p->occurrence.at[i].part != NOBODY)
            r.first[p->occurrence.at[i].part + 2]++;
    for (size_t i = 2; i < p->part.n + 2; i++)
        r.first[i] += r.first[i - 1];
    for (size_t i = 0; i < p->occurrence.n; i++)
        if (p->occurrence.at[i].part != NOBODY)
            r.at[r.first[p->occurrence.at[i].part + 1]++] = (uint32_t)i;
    return r;
}

/* Where the declaration at occurrence o can move: the next place that keeps the name, else the first. NOBODY: nowhere.
 */
static uint32_t
new_home(const struct plan *p, const struct rows *r, uint32_t o)
{
    uint32_t part = p->occurrence.at[o].part, before = NOBODY;

    for (uint32_t k = r->first[part]; k < r->first[part + 1]; k++) {
        uint32_t i = r->at[k];

        if (i == o || !in_bond(p, i) || node_at(p, i)->type || node_at(p, i)->ref.nparts != 1 ||
            node_at(p, i)->ref.part[0].nindex)
            continue;
        if (i > o)
            return i;
        if (before == NOBODY)
            before = i;
    }
    return before;
}

static void
note(struct plan *p, enum rewrite_kind kind, const char *name, span at)
{
    rewrite_item x = { .kind = kind, .name = name, .at = at };

    vec_push(&p->out->item, x);
}

/* Is a lone node worth a statement of its own? A declaration that carries initial values (its block ends the statement)
 * or has nowhere to go. */
static bool
stays_alone(struct plan *p, const struct rows *r, uint32_t o)
{
    const ast_node *n = node_at(p, o);
    uint32_t home;

    if (!n->type)
        return false;
    if (n->has_block || p->part.at[p->occurrence.at[o].part].turned || (home = new_home(p, r, o)) == NOBODY)
        return true;
    if (n->at.end > n->ref.at.end && source_behind(p, home))
        return true; /* both would stand behind the name */
    /* `1:` goes before the name's new place, ` in heat` behind it */
    edits_insert(&p->out->edits, node_at(p, home)->at.begin, p->text + n->at.begin, n->ref.at.begin - n->at.begin);
    if (n->at.end > n->ref.at.end)
        edits_insert(&p->out->edits, node_at(p, home)->at.end, p->text + n->ref.at.end, n->at.end - n->ref.at.end);
    note(p, REWRITE_MOVE, n->ref.part[0].name, node_at(p, home)->at); /* the line that changes */
    return false;
}

static size_t
indentation(const struct plan *p, size_t at, size_t *begin)
{
    size_t end;

    while (at > 0 && p->text[at - 1] != '\n')
        at--;
    *begin = end = at;
    while (end < p->length && is_blank(p->text[end]))
        end++;
    return end - at;
}

/* Puts the piece [o, to) of a chain behind what was put before: the text is settled up to *at, *any: some piece was
 * put. */
static void
put_piece(struct plan *p, const ast_stmt *s, uint32_t o, uint32_t to, bool any, size_t *at)
{
    span piece = span_join(node_at(p, o)->at, node_at(p, to - 1)->at);
    strbuf gap = { 0 };

    if (any) {
        size_t line, n = indentation(p, s->at.begin, &line);

        strbuf_puts(&gap, p->text[*at - 1] == '}' ? "\n" : ";\n"); /* a block ends its statement */
        strbuf_add(&gap, p->text + line, n);
    }
    if (source_before(p, o))
        strbuf_printf(&gap, "%s -> ", cut_behind(p, o - 1)->text);
    if (gap.n)
        edits_replace(&p->out->edits, *at, piece.begin, gap.at, gap.n);
    else
        edits_delete(&p->out->edits, *at, piece.begin);
    *at = piece.end;
    strbuf_free(&gap);
}

/* Notes the bonds of one chain that are cut. */
static bool
note_cuts(struct plan *p, uint32_t first, uint32_t end)
{
    bool any = false;

    for (uint32_t o = first; o + 1 < end; o++) {
        const rewrite_bond *b = cut_behind(p, o);

        if (!b || gone_at(p, o) || gone_at(p, o + 1))
            continue;
        note(p, b->source ? REWRITE_CONDITION : REWRITE_DROP_BOND, b->label, b->arrow);
        p->out->item.at[p->out->item.n - 1].bond = p->occurrence.at[o].cut;
        any = true;
    }
    return any;
}

/* Takes the nodes that are gone and the bonds that are cut out of one chain. */
static void
edit_chain(struct plan *p, const struct rows *r, uint32_t stmt)
{
    const ast_stmt *s = p->model->stmt[stmt];
    uint32_t first = p->chain0.at[stmt], end = p->chain0.at[stmt + 1];
    bool touched = false, any = false, last_stays = false, ends_in_source = false;
    size_t at = s->at.begin, tail; /* the text is settled up to here */

    uint32_t mentioned = NOBODY;
    bool declared = false;

    for (uint32_t o = first; o < end; o++)
        if (gone_at(p, o)) {
            touched = true;
            declared |= node_at(p, o)->type != NULL;
            mentioned = mentioned == NOBODY ? o : mentioned;
        }
    if (touched && !declared)
        note(p, REWRITE_BOND, node_at(p, mentioned)->ref.part[0].name, node_at(p, mentioned)->at);
    if (!(note_cuts(p, first, end) || touched))
        return;
    for (uint32_t o = first; o < end;) {
        uint32_t to = o + 1;

        if (gone_at(p, o)) {
            o++;
            continue;
        }
        while (!ends_piece(p, to - 1))
            to++;
        if (to - o > 1 || source_before(p, o) || source_behind(p, o) || stays_alone(p, r, o)) {
            put_piece(p, s, o, to, any, &at);
            ends_in_source = source_behind(p, to - 1);
            if (ends_in_source) {
                strbuf source = { 0 };

                strbuf_printf(&source, " -> %s", cut_behind(p, to - 1)->text);
                edits_insert(&p->out->edits, at, source.at, source.n);
                strbuf_free(&source);
            }
            any = true;
            last_stays = to == end;
        }
        o = to;
    }
    if (!any) {
        vec_push(&p->lost, s->at);
        return;
    }
    if (last_stays && (!begins_piece(p, end - 1) || source_before(p, end - 1)))
        return; /* the last bond stays, and its name */
    if (!ends_in_source && p->text[at - 1] == '}') {
        edits_delete(&p->out->edits, at, s->at.end); /* a block ends its statement */
        return;
    }
    tail = s->chain.bond && !(ends_in_source && source_behind(p, end - 2)) ? s->chain.as_at.end
                                                                           : node_at(p, end - 1)->at.end;
    if (tail <= at)
        return;
    if (tail == s->at.end)
        edits_replace(&p->out->edits, at, tail, ";", 1); /* the block that went ended the statement */
    else
        edits_delete(&p->out->edits, at, tail);
}

/* Initial values that go with their part are said, never dropped silently. */
static void
note_initials(struct plan *p, const struct part *x)
{
    for (int i = 0; x->node && i < x->node->nitems; i++)
        if (x->node->item[i].kind == AST_LAW_INITIAL)
            note(p, REWRITE_INITIAL, x->name, x->node->item[i].at);
}

/* The changes inside what stays. */
static void
edit_changes(struct plan *p)
{
    for (size_t i = 0; i < p->nchanges; i++) {
        const rewrite_change *c = &p->change[i];
        uint32_t x = !c->owner || c->inner ? MAP_NONE
                     : c->of_value         ? map_get(&p->value_of, map_ptr_key(c->owner))
                                           : find_part(p, c->owner);

        if (!c->inner && (x == MAP_NONE || (c->kind == REWRITE_CLAMP && !p->part.at[x].clamped) ||
                          (c->of_value ? !p->live[value_entity(p, x)] : p->part.at[x].gone)))
            continue;
        note(p, c->kind, c->name, c->at);
        p->out->item.at[p->out->item.n - 1].owner = c->owner;
        p->out->item.at[p->out->item.n - 1].element = c->element;
        p->out->item.at[p->out->item.n - 1].nelements = c->nelements;
        for (size_t k = 0; k < c->npieces; k++) {
            span at = c->piece[k].at;
            const ast_node *n = c->of_value || c->inner ? NULL : p->part.at[x].node;
            const char *text = c->piece[k].text;

            /* the block that went ended the statement */
            if (c->kind == REWRITE_CLAMP && n->has_block && at.end == n->at.end && p->text[at.end - 1] == '}')
                text = " = 0;";
            edits_replace(&p->out->edits, at.begin, at.end, text, strlen(text));
        }
        if (c->kind == REWRITE_CLAMP)
            note_initials(p, &p->part.at[x]);
    }
}

/* Is it no more what it was: a part that went, was clamped or turned, a bond that was cut or lost an end? */
static bool
part_changed(const struct plan *p, uint32_t i)
{
    const struct part *x = &p->part.at[i];

    for (int k = 0; k < 2; k++)
        if (x->kind == PART_BOND && x->end[k] != NOBODY && p->part.at[x->end[k]].gone)
            return true;
    for (size_t k = 0; x->kind == PART_BOND && k < p->nbonds; k++)
        if (!p->request[k].off && p->request[k].name == i)
            return true;
    return x->gone || x->clamped || x->turned;
}

/* element: of an activity, a part without a quantity behind it */
struct expecting {
    const struct plan *p;
    const ast_ref *element;
    const char *gone;
};

static void
expects_gone(void *ctx, const ast_ref *r)
{
    struct expecting *w = ctx;
    bool of_part = r == w->element || r->nparts > 1;
    uint32_t part = of_part && r->nparts ? find_part(w->p, r->part[0].name) : MAP_NONE;
    uint32_t value = !of_part && r->nparts ? map_get(&w->p->value_of, map_ptr_key(r->part[0].name)) : MAP_NONE;

    if (value != MAP_NONE ? w->p->value.at[value].gone : part != MAP_NONE && part_changed(w->p, part))
        w->gone = r->part[0].name;
}

static void
make_edits(struct plan *p)
{
    struct rows r = occurrence_rows(p);

    for (size_t i = 0; i < p->part.n; i++) {
        const struct part *x = &p->part.at[i];

        if (x->turned && !x->gone)
            edits_replace(&p->out->edits, x->node->at.begin, x->node->at.end, x->turned, strlen(x->turned));
        if (!x->gone)
            continue;
        note(p,
             x->wanted != NOBODY        ? REWRITE_ELEMENT
             : x->kind == PART_TWO_PORT ? REWRITE_TWO_PORT
                                        : REWRITE_JUNCTION,
             x->name, x->at);
        note_initials(p, x);
    }
    for (int i = 0; i < p->model->nstmt; i++)
        if (p->model->stmt[i]->kind == AST_STMT_CHAIN)
            edit_chain(p, &r, (uint32_t)i);
    for (uint32_t i = 0; i < p->value.n; i++) {
        if (p->live[value_entity(p, i)])
            continue;
        p->value.at[i].gone = true;
        vec_push(&p->lost, p->value.at[i].stmt->at);
        note(p, REWRITE_VALUE, p->value.at[i].stmt->value.name, p->value.at[i].stmt->at);
    }
    for (size_t i = 0; i < p->file->ndecls; i++) {
        const ast_experiment *x = p->file->decl[i].kind == AST_DECL_EXPERIMENT ? p->file->decl[i].experiment : NULL;

        if (!x || !of_this_model(p, &p->file->decl[i]))
            continue;
        for (int k = x->inherited; k < x->nitems; k++) {
            struct expecting expecting = { p, x->item[k].expect ? &x->item[k].expect->element : NULL, NULL };
            uint32_t t = x->item[k].kind == AST_EXP_LET ? let_target(p, &x->item[k]) : NOBODY;

            if (x->item[k].kind == AST_EXP_EXPECT)
                ast_each_expected(&x->item[k], expects_gone, &expecting);
            if (expecting.gone) {
                vec_push(&p->lost, x->item[k].at);
                note(p, REWRITE_EXPECT, expecting.gone, x->item[k].at);
            }
            if (t == NOBODY ||
                (t < p->part.n ? !p->part.at[t].gone && !p->part.at[t].clamped : !p->value.at[t - p->part.n].gone))
                continue;
            vec_push(&p->lost, x->item[k].at);
            note(p, REWRITE_LET, x->item[k].ref.part[0].name, x->item[k].at);
        }
    }
    rewrite_delete_statements(&p->out->edits, p->text, p->length, p->lost.at, p->lost.n);
    edit_changes(p);
    free(r.first);
    free(r.at);
}

/* What only `without` can take out or hold at zero. */
struct inner {
    VEC(const char *) drop, clamp;
};

/* Takes that out, once it is known what goes from the text. */
static bool
take_without(struct plan *p, const flat_model *f, const ast_file *file, const struct inner *x)
{
    VEC(const char *) gone = { 0 };
    without_lost lost = { 0 };
    bool fine;

    for (size_t i = 0; i < p->part.n; i++)
        if (p->part.at[i].gone && p->part.at[i].kind != PART_BOND)
            vec_push(&gone, p->part.at[i].name);
    fine = without_plan(f, file, x->drop.at, x->drop.n, x->clamp.at, x->clamp.n, gone.at, gone.n, &lost, p->out);
    for (size_t i = 0; i < lost.list.n; i++)
        vec_push(&p->lost, lost.list.at[i]);
    vec_free(&gone);
    vec_free(&lost.list);
    return fine;
}

static bool
make_plan(const sources *s, const ast_file *file, const ast_model *model, const flat_model *f, const char *const *name,
          size_t n, const struct inner *inner, const rewrite_change *change, size_t nchanges, const rewrite_bond *bond,
          size_t nbonds, rewrite *r)
{
    struct plan p = { .s = s,
                      .file = file,
                      .model = model,
                      .text = source_text(s, file->file),
                      .length = source_length(s, file->file),
                      .out = r,
                      .change = change,
                      .nchanges = nchanges,
                      .bond = bond,
                      .nbonds = nbonds };
    bool fine = true;

    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < nbonds; i++)
        vec_push(&r->bond, bond[i]);
    p.request = bg_calloc(nbonds, sizeof *p.request);
    for (int i = 0; i < model->nstmt; i++)
        declare(&p, model->stmt[i], false);
    gather_bonds(&p);
    for (size_t i = 0; i < nchanges; i++) {
        uint32_t x = change[i].kind == REWRITE_CLAMP ? find_part(&p, change[i].owner) : MAP_NONE;

        if (x != MAP_NONE)
            p.part.at[x].clamped = true;
        if (change[i].kind == REWRITE_LET) {
            vec_push(&p.lost, change[i].at);
            note(&p, REWRITE_LET, change[i].name, change[i].at);
            r->item.at[r->item.n - 1].owner = change[i].name;
        }
    }
    for (uint32_t j = 0; f && j < f->junction.n; j++)
        if (f->junction.at[j].thinned && find_part(&p, f->junction.at[j].name) != MAP_NONE)
            p.part.at[find_part(&p, f->junction.at[j].name)].thinned = true;
    gather_readings(&p);
    refuse_clamps(&p);
    gather_replaced(&p);
    sort_readings(&p);
    p.live = bg_calloc(world(&p) + 1, sizeof *p.live);
    p.via = bg_calloc(world(&p) + 1, sizeof *p.via);
    for (size_t i = 0; i < n && fine; i++) {
        uint32_t x = find_part(&p, name[i]);

        if (x == MAP_NONE || p.part.at[x].kind == PART_JUNCTION || p.part.at[x].kind == PART_BOND) {
            r->error = bg_format("the text of model \"%s\" declares no element \"%s\"", model->name, name[i]);
            fine = false;
        } else {
            p.part.at[x].wanted = (uint32_t)i;
        }
    }
    if (fine) {
        do {
            cascade(&p);
            mark_live(&p);
        } while (keep_needed(&p));
        fine = !f || take_without(&p, f, file, inner);
    }
    if (fine) {
        make_edits(&p);
        fine = edits_seal(&r->edits, p.length, &r->error);
    }
    map_free(&p.part_of);
    map_free(&p.value_of);
    vec_free(&p.part);
    vec_free(&p.value);
    vec_free(&p.occurrence);
    vec_free(&p.chain0);
    vec_free(&p.reading);
    vec_free(&p.work);
    vec_free(&p.lost);
    vec_free(&p.replaced);
    free(p.reads0);
    free(p.link);
    free(p.link_cut);
    free(p.request);
    free(p.live);
    free(p.via);
    return fine;
}

bool
rewrite_plan(const sources *s, const ast_file *file, const ast_model *model, const char *const *name, size_t n,
             rewrite *r)
{
    return make_plan(s, file, model, NULL, name, n, NULL, NULL, 0, NULL, 0, r);
}

bool
rewrite_plan_changes(const sources *s, const ast_file *file, const ast_model *model, const char *const *name, size_t n,
                     const rewrite_change *change, size_t nchanges, rewrite *r)
{
    return make_plan(s, file, model, NULL, name, n, NULL, change, nchanges, NULL, 0, r);
}

/* Each clamp of an element that the text itself can change, with its pieces: Sf where the element is on a 1-junction,
 * Se on a 0. The others are left to `without`. Other changes as they are. Returns how many there are in out. */
static size_t
split_clamps(const flat_model *f, const rewrite_change *change, size_t n, arena *a, rewrite_change *out,
             struct inner *inner)
{
    map element_of = { 0 };
    const char **name = arena_new_array(a, const char *, n + 1);
    bool *is = arena_new_array(a, bool, n + 1);
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        name[i] = change[i].owner;
    without_elements(f, name, n, is);
    for (uint32_t e = 0; e < f->element.n; e++)
        map_set(&element_of, map_ptr_key(f->element.at[e].name), e);
    for (size_t i = 0; i < n; i++) {
        uint32_t e = change[i].kind == REWRITE_CLAMP ? map_get(&element_of, map_ptr_key(change[i].owner)) : MAP_NONE;
        rewrite_change *x = &out[count];

        if (e != MAP_NONE && is[i]) {
            vec_push(&inner->clamp, change[i].owner);
            continue;
        }
        *x = change[i];
        count++;
        if (e != MAP_NONE) {
            const ast_node *written = f->element.at[e].node;
            span head = written->domain ? written->domain_at : written->ref.at;
            rewrite_piece *piece = arena_new_array(a, rewrite_piece, 2);

            piece[0] = (rewrite_piece){ written->type_at,
                                        f->junction.at[f->port.at[f->element.at[e].port0].junction].type ? "Sf"
                                                                                                         : "Se" };
            piece[1] = (rewrite_piece){ { head.file, head.end, written->at.end }, " = 0" };
            x->at = written->at;
            x->piece = piece;
            x->npieces = 2;
        }
    }
    map_free(&element_of);
    return count;
}

bool
rewrite_plan_model(const flat_model *f, const ast_file *file, const char *const *name, size_t n,
                   const rewrite_change *change, size_t nchanges, rewrite *r)
{
    return rewrite_plan_bonds(f, file, name, n, change, nchanges, NULL, 0, r);
}

bool
rewrite_plan_bonds(const flat_model *f, const ast_file *file, const char *const *name, size_t n,
                   const rewrite_change *change, size_t nchanges, const rewrite_bond *bond, size_t nbonds, rewrite *r)
{
    VEC(const char *) own = { 0 };
    struct inner inner = { 0 };
    arena *a;
    rewrite_change *changes;
    bool *is, fine;

    memset(r, 0, sizeof *r);
    if (f->ast->at.file != file->file) {
        r->error = bg_format("model \"%s\" stands in \"%s\", which is imported; only the file itself is changed",
                             f->ast->name, source_path(f->sources, f->ast->at.file));
        return false;
    }
    a = arena_new();
    changes = arena_new_array(a, rewrite_change, nchanges + 1);
    is = arena_new_array(a, bool, n + 1);
    without_elements(f, name, n, is);
    for (size_t i = 0; i < n; i++) {
        if (is[i])
            vec_push(&inner.drop, name[i]);
        else
            vec_push(&own, name[i]);
    }
    nchanges = split_clamps(f, change, nchanges, a, changes, &inner);
    fine = make_plan(f->sources, file, f->ast, f, own.at, own.n, &inner, changes, nchanges, bond, nbonds, r);
    vec_free(&own);
    vec_free(&inner.drop);
    vec_free(&inner.clamp);
    arena_free(a);
    return fine;
}

span
rewrite_place(const flat_model *f, uint32_t origin, span at)
{
    for (; origin != UINT32_MAX; origin = f->origin.at[origin].parent)
        if (f->origin.at[origin].model)
            at = f->origin.at[origin].node->at;
    return at;
}

void
rewrite_free(rewrite *r)
{
    edits_free(&r->edits);
    vec_free(&r->item);
    vec_free(&r->blocked);
    vec_free(&r->bond);
    free(r->error);
    memset(r, 0, sizeof *r);
}
