/* paths.c - resolves a path like front.spring[2].q through instances to a part or value, one or many */
#include <ctype.h>
#include <string.h>

#include "elab.h"

static const path_end nowhere = { PLACE_NONE, NONE, { 0, 0 }, { 0, 0 }, false, 0 };

static const char *
inside_of(elab *el, const scope *in)
{
    const char *name = in->prefix;
    size_t n = strlen(name);

    return n ? arena_format(el->a, "\"%.*s\" (%s) has", (int)n - 1, name, in->model ? in->model->name : "") : NULL;
}

static const char *
part_word(const part *p)
{
    return p->kind == DECLARED_BOND       ? "a bond"
           : p->kind == DECLARED_ELEMENT  ? "an element"
           : p->kind == DECLARED_INSTANCE ? "a component"
           : p->junction                  ? "a 1-junction"
                                          : "a 0-junction";
}

/* The path r with its name number k replaced. */
static const char *
path_with(elab *el, const ast_ref *r, int k, const char *name)
{
    span at = r->part[k].at, before = { r->at.file, r->at.begin, at.begin },
         behind = { r->at.file, at.begin + (uint32_t)strlen(r->part[k].name), r->at.end };

    if (!span_known(r->at) || r->nparts == 1)
        return name;
    return arena_format(el->a, "%s%s%s", before.begin < before.end ? whole_text_of(el, before) : "", name,
                        behind.begin < behind.end ? whole_text_of(el, behind) : "");
}

/* Lists existing names, if there are few: for a component its ports first. */
static void
help_names(elab *el, const scope *model, const char *wrong, bool is_part)
{
    const char *list = is_part ? parts_listed(el, model) : values_listed(el, model);
    const char *why;

    if (!is_part && unit_parse(el->u, wrong, &why))
        diag_help(el->s,
                  "Declare it: parameter %s = 2; If a unit is meant, it stands in brackets behind its number, 5 [%s].",
                  wrong, wrong);
    else if (list)
        diag_help(el->s, "%s", list);
}

/* Do the statements declare a part or value of that name? */
static bool
declares(ast_stmt *const *stmt, int n, const char *name)
{
    bool found = false;

    for (int k = 0; k < n && !found; k++) {
        const ast_stmt *s = stmt[k];

        if (s->kind == AST_STMT_VALUE)
            found = s->value.name == name;
        else if (s->kind == AST_STMT_FOR)
            found = declares(s->loop.body, s->loop.n, name);
        else if (s->kind == AST_STMT_IF)
            found = declares(s->cond.then, s->cond.nthen, name) || declares(s->cond.other, s->cond.nother, name);
        for (int i = 0; s->kind == AST_STMT_CHAIN && i < s->nnodes && !found; i++)
            found = ast_chain(s)[i].own->type && ast_node_name(&ast_chain(s)[i]) == name;
    }
    return found;
}

/* Reports a name that is declared where nothing is made, once for each such place. False: it is none. */
static bool
say_idle(elab *el, const scope *model, const ast_part *p)
{
    const idle_text *x = NULL;

    for (size_t k = 0; k < el->idle.n && !x; k++)
        if (scope_of_text(el->idle.at[k].in) == model && declares(el->idle.at[k].body, el->idle.at[k].n, p->name))
            x = &el->idle.at[k];
    if (!x || told_before(el, CAUSE_IDLE, map_ptr_key(x->stmt), 0))
        return x != NULL;
    if (x->stmt->kind == AST_STMT_FOR) {
        diag_error(el->s, "name-unknown", p->at, "there is no \"%s\": the loop that declares it makes no round",
                   p->name);
        diag_note(el->s, span_join(x->stmt->loop.from->at, x->stmt->loop.to->at), "its range is empty");
    } else {
        diag_error(el->s, "name-unknown", p->at, "there is no \"%s\": the `if` around its declaration leaves it out",
                   p->name);
        diag_note(el->s, x->stmt->cond.cond->at, "the condition is here");
    }
    return true;
}

static void
unknown_name(elab *el, const scope *in, const ast_ref *r, int k, bool is_part)
{
    const ast_part *p = &r->part[k];
    const scope *model = scope_of_text(in);
    const char *where, *near, *habit = !is_part && k == 0 && r->nparts == 1 ? habit_value(p->name) : NULL;

    where = inside_of(el, model);
    if (refused_before(el, in, p->name) || (k == 0 && refused_before(el, model, p->name)) ||
        (!is_part && k == 0 && is_told(el, CAUSE_ARGUMENT, map_ptr_key(model->model), map_ptr_key(p->name))))
        return;
    if (k == 0)
        map_set(&el->refused, scope_key(model, p->name), 1);
    if (k == 0 && say_idle(el, model, p))
        return;
    if (!is_part && k == 0 && r->nparts == 1 && is_function(el, in, p->name)) {
        diag_error(el->s, "name-unknown", p->at, "\"%s\" is a function, not a value", p->name);
        diag_help(el->s, "Write %s(...), with its arguments.", p->name);
        return;
    }
    if (where)
        diag_error(el->s, "name-unknown", p->at, "%s no %s called \"%s\"", where, is_part ? "part" : "value", p->name);
    else
        diag_error(el->s, "name-unknown", p->at,
                   is_part ? "no junction, element or bond is called \"%s\"" : "nothing is called \"%s\"", p->name);
    near = is_part ? nearest_part(el, in, p->name) : nearest_value(el, in, p->name);
    if (near && is_part)
        told_before(el, CAUSE_PART, map_ptr_key(model->model), map_ptr_key(near));
    if (!habit && is_part && k == 0)
        habit = habit_part(p->name);
    if (habit && !(near && strlen(p->name) > 1 && !strncmp(near, p->name, 1)))
        diag_help(el->s, "%s", habit);
    else if (near)
        diag_help(el->s, "Did you mean \"%s\"?", path_with(el, r, k, near));
    else if (is_part && find_value(el, in, p->name) != NONE)
        diag_note(el->s, el->value.at[find_value(el, in, p->name)].at, "this \"%s\" is a value", p->name);
    else if (!is_part && find_part(el, in, p->name) != NONE)
        diag_note(el->s, part_at(&el->part.at[find_part(el, in, p->name)]), "this \"%s\" is %s", p->name,
                  part_word(&el->part.at[find_part(el, in, p->name)]));
    else {
        help_names(el, model, p->name, is_part);
        if (is_part && r->nparts == 1)
            diag_help(el->s, "A new junction begins with its type: 0:%s has one effort, 1:%s one flow.", p->name,
                      p->name);
    }
}

static bool
out_of_range(elab *el, uint32_t number, const ast_part *p, int k, int32_t i, bool quiet)
{
    const family own = family_of(el, number), *f = &own;

    if (quiet || el->incomplete)
        return false;
    if (i <= 0 && array_of(el, f)->low[k] == 1) {
        diag_error(el->s, "index-range", p->at, "\"%s\" has no item %d; items count from 1, the last is %d", f->name, i,
                   array_of(el, f)->high[k]);
        diag_note(el->s, family_at(el, number), "declared here");
        diag_help(el->s, "Write %s[%d].", f->name, i == 0 ? 1 : array_of(el, f)->high[k]);
        return false;
    }
    if (!f->n)
        diag_error(el->s, "index-range", p->at, "\"%s\" has no item %d; it has none at all", f->name, i);
    else if (f->rank > 1)
        diag_error(el->s, "index-range", p->at, "index %d of \"%s\" is %d; it goes from %d to %d", k + 1, f->name, i,
                   array_of(el, f)->low[k], array_of(el, f)->high[k]);
    else
        diag_error(el->s, "index-range", p->at, "\"%s\" has no item %d; it goes from %d to %d", f->name, i,
                   array_of(el, f)->low[k], array_of(el, f)->high[k]);
    diag_note(el->s, family_at(el, number), "declared here");
    return false;
}

/* Is it a value that is declared as one number and given a vector? That is reported where it is declared. */
static bool
is_vector_undeclared(const elab *el, const family *f)
{
    const value *v = f->is_part ? NULL : &el->value.at[f->first];

    return v && v->expr && v->expr->kind == AST_MATRIX;
}

/* The items denoted by a name with its indexes. */
static bool
read_indexes(elab *el, scope *at, const ast_part *p, uint32_t number, bool quiet, path_end *x)
{
    const family own = family_of(el, number), *f = &own;

    x->one = true;
    if (!p->nindex) {
        for (int k = 0; k < f->rank; k++) {
            x->low[k] = array_of(el, f)->low[k];
            x->high[k] = array_of(el, f)->high[k];
        }
        x->one = f->rank == 0;
        return true;
    }
    if (p->nindex != f->rank) {
        if (quiet || (!f->rank && is_vector_undeclared(el, f)))
            return false;
        if (f->rank)
            diag_error(el->s, "index-count", p->brackets->at, "\"%s\" takes %d index%s; here %s %d", p->name, f->rank,
                       f->rank > 1 ? "es" : "", p->nindex > 1 ? "are" : "is", p->nindex);
        else
            diag_error(el->s, "index-count", p->brackets->at, "\"%s\" is no array; it takes no index", p->name);
        diag_note(el->s, family_at(el, number), "declared here");
        return false;
    }
    for (int k = 0; k < f->rank; k++) {
        const ast_index *i = &p->brackets->index[k];
        double ignored;

        if (quiet && !known_number(el, at, i->from, "", true, &ignored, NULL))
            return false;
        if (!known_index(el, at, i->from, "an index", &x->low[k]))
            return false;
        x->high[k] = x->low[k];
        if (i->to) {
            x->one = false;
            if (!known_index(el, at, i->to, "an index", &x->high[k]))
                return false;
        }
        if (x->low[k] < array_of(el, f)->low[k] || x->low[k] > array_of(el, f)->high[k] || !f->n)
            return out_of_range(el, number, p, k, x->low[k], quiet);
        if (x->high[k] > array_of(el, f)->high[k])
            return out_of_range(el, number, p, k, x->high[k], quiet);
        if (x->high[k] < x->low[k]) {
            if (!quiet)
                diag_error(el->s, "index-range", p->brackets->at, "the range %d..%d is empty", x->low[k], x->high[k]);
            return false;
        }
    }
    return true;
}

/* The scope inside an instance; NULL: it could not be made, or was taken out. */
static const scope *
inside_instance(elab *el, const part *p, span at, unsigned how)
{
    if (part_inside(p) && p->gone &&
        !(how & FOLLOW_GONE)) { /* an instance without a scope could not be made, as reported */
        if (!(how & FOLLOW_QUIET)) {
            diag_error(el->s, "part-gone", at, "\"%s\" was taken out", p->name);
            diag_note(el->s, part_gone_at(el, p), "here");
        }
        return NULL;
    }
    return part_inside(p);
}

/* Follows r from its name number k to its end, or (*list) to an array of components that the path goes on through. */
static path_end
walk_path(elab *el, const scope *in, scope *at, const ast_ref *r, int k, bool as_value, unsigned how, bool *list)
{
    bool quiet = how & FOLLOW_QUIET;

    for (; k < r->nparts; k++) {
        const ast_part *p = &r->part[k];
        bool is_value = as_value && k == r->nparts - 1;
        path_end x = nowhere;
        uint32_t first, entry;
        family f;

        if (!is_value)
            x.family = own_family(el, in, p->name, true);
        else
            x.family = k ? own_family(el, in, p->name, false) : find_family(el, in, p->name, false);
        if (x.family == NONE) {
            if (!quiet)
                unknown_name(el, in, r, k, !is_value);
            return nowhere;
        }
        f = family_of(el, x.family);
        if (!read_indexes(el, at, p, x.family, quiet, &x))
            return nowhere;
        x.kind = is_value ? PLACE_VALUE : PLACE_PART;
        x.used = k + 1;
        if (is_value || k == r->nparts - 1 || !f.n || el->part.at[f.first].kind != DECLARED_INSTANCE)
            return x;
        if (!x.one && list) {
            *list = true;
            return x;
        }
        if (!x.one) {
            if (quiet)
                return nowhere;
            diag_error(el->s, "index-missing", p->at, "\"%s\" is an array of components; an index says which one",
                       p->name);
            if (f.rank == 1 && !p->nindex)
                diag_help(el->s, "Write %s; the last is %s[%d]. What is read of each stands in a loop.",
                          path_with(el, r, k, arena_format(el->a, "%s[%d]", p->name, array_of(el, &f)->low[0])),
                          p->name, array_of(el, &f)->high[0]);
            return nowhere;
        }
        first = family_item(el, x.family, x.low, &entry);
        if (first == NONE) {
            out_of_range(el, x.family, p, 0, x.low[0], quiet);
            return nowhere;
        }
        in = inside_instance(el, &el->part.at[first], p->at, how);
        if (!in)
            return nowhere;
    }
    return nowhere;
}

path_end
follow(elab *el, const scope *in, scope *at, const ast_ref *r, bool as_value, unsigned how)
{
    return walk_path(el, in, at, r, 0, as_value, how, NULL);
}

struct spreading {
    elab *el;
    scope *at;
    const ast_ref *r;
    int next;
    bool as_value;
    bool (*see)(void *ctx, const path_end *p);
    void *ctx;
};

static bool spread(const struct spreading *s, const scope *in);

static bool
spread_item(void *ctx, uint32_t index, uint32_t entry)
{
    const struct spreading *s = ctx;
    const scope *inside = inside_instance(s->el, &s->el->part.at[index], s->r->part[s->next - 1].at, 0);

    (void)entry;
    return inside && spread(s, inside);
}

/* Recursion is as deep as components are nested. */
static bool
spread(const struct spreading *s, const scope *in)
{
    bool list = false;
    path_end x = walk_path(s->el, in, s->at, s->r, s->next, s->as_value, 0, &list);
    struct spreading further = *s;

    if (x.kind == PLACE_NONE)
        return false;
    if (!list)
        return s->see(s->ctx, &x);
    further.next = x.used;
    return each_item(s->el, &x, s->r->part[x.used - 1].at, false, spread_item, &further);
}

bool
each_place(elab *el, const scope *in, scope *at, const ast_ref *r, bool as_value,
           bool (*see)(void *ctx, const path_end *p), void *ctx)
{
    struct spreading s = { el, at, r, 0, as_value, see, ctx };

    return spread(&s, in);
}

/* `v.f[2]` means `v[2].f`: an index after a quantity belongs to the part. */
bool
index_of_quantity(elab *el, const ast_ref *r, ast_ref *moved)
{
    ast_part *of, *quantity;

    *moved = *r;
    if (r->nparts < 2 || !r->part[r->nparts - 1].nindex)
        return true;
    moved->part = arena_new_array(el->a, ast_part, (size_t)r->nparts);
    memcpy(moved->part, r->part, (size_t)r->nparts * sizeof *r->part);
    of = &moved->part[r->nparts - 2];
    quantity = of + 1;
    if (of->nindex) {
        diag_error(el->s, "index-twice", quantity->brackets->at,
                   "\"%s\" has an index already; \"%s\" takes none besides", of->name, quantity->name);
        diag_help(el->s, "Write %s[...].%s, with all indexes behind %s.", of->name, quantity->name, of->name);
        return false;
    }
    of->nindex = quantity->nindex;
    of->brackets = quantity->brackets;
    of->at = span_join(of->at, quantity->at);
    quantity->nindex = 0;
    return true;
}

bool
each_item(elab *el, const path_end *p, span at, bool quiet, bool (*see)(void *ctx, uint32_t index, uint32_t entry),
          void *ctx)
{
    const family f = family_of(el, p->family);
    int32_t low1 = f.rank > 1 ? p->low[1] : 0, high1 = f.rank > 1 ? p->high[1] : 0,
            high0 = f.rank ? p->high[0] : p->low[0];

    if (!f.n)
        return true;
    for (int32_t i = p->low[0]; i <= high0; i++) {
        for (int32_t j = low1; j <= high1; j++) {
            uint32_t entry, index = family_item(el, p->family, (int32_t[]){ i, j }, &entry);

            if (index == NONE) {
                if (!quiet) {
                    diag_error(el->s, "index-range", at, f.rank > 1 ? "there is no %s[%d,%d]" : "there is no %s[%d]",
                               f.name, i, j);
                    diag_note(el->s, family_at(el, p->family), "others are declared here");
                }
                return false;
            }
            if (!see(ctx, index, entry))
                return false;
        }
    }
    return true;
}

bool
takes_no_index(elab *el, const ast_part *p, const char *what)
{
    if (p->nindex)
        diag_error(el->s, "index-count", p->brackets->at, "\"%s\" is %s; it takes no index", p->name, what);
    return !p->nindex;
}

uint32_t
single_item(elab *el, const path_end *p, span at, uint32_t *entry)
{
    const family f = family_of(el, p->family);
    uint32_t index;

    if (!p->one) {
        bool range = span_known(at) && strstr(text_of(el, at), "..");

        if (range)
            diag_error(el->s, "index-missing", at, "\"%s\" are several, and one is needed here", text_of(el, at));
        else
            diag_error(el->s, "index-missing", at, "\"%s\" is an array; an index says which one", f.name);
        diag_note(el->s, family_at(el, p->family), "declared here");
        if (range)
            diag_help(el->s, "A loop takes one after the other: for k in 1..3 { ... %s[k] ... }", f.name);
        return NONE;
    }
    index = family_item(el, p->family, p->low, entry);
    if (index == NONE) {
        if (f.rank > 1)
            diag_error(el->s, "index-range", at, "there is no %s[%d,%d]", f.name, p->low[0], p->low[1]);
        else
            diag_error(el->s, "index-range", at, "there is no %s[%d]", f.name, p->low[0]);
        diag_note(el->s, family_at(el, p->family), "others are declared here");
    }
    return index;
}

ast_ref
text_ref(elab *el, const char *text, size_t n, span at, bool *fine)
{
    VEC(ast_part) parts = { 0 };
    ast_ref r = { .at = at };
    size_t i = 0;

    *fine = true;
    do {
        ast_part p = { .at = at };
        size_t begin = i;

        while (i < n && (isalnum((unsigned char)text[i]) || text[i] == '_'))
            i++;
        p.name = names_intern(el->names, text + begin, i - begin);
        *fine &= i > begin;
        if (i < n && text[i] == '[') {
            ast_brackets *b = arena_alloc(el->a, sizeof *b);

            b->at = at;
            p.brackets = b;
            do {
                ast_expr *e = arena_alloc(el->a, sizeof *e);
                double x = 0;

                begin = ++i;
                while (i < n && isdigit((unsigned char)text[i]) && i - begin < 9)
                    x = 10 * x + (text[i++] - '0');
                *fine &= i > begin && p.nindex < 2;
                e->kind = AST_NUMBER;
                e->at = at;
                e->number.value = x;
                if (p.nindex < 2)
                    b->index[p.nindex++].from = e;
            } while (i < n && text[i] == ',');
            *fine &= i < n && text[i] == ']';
            i++;
        }
        vec_push(&parts, p);
    } while (i < n && text[i++] == '.');
    *fine &= i >= n && (n == 0 || text[n - 1] != '.');
    r.nparts = (int)parts.n;
    r.part = arena_new_array(el->a, ast_part, parts.n);
    memcpy(r.part, parts.at, parts.n * sizeof *parts.at);
    vec_free(&parts);
    return r;
}
