/* rewrite_without_lists.c - the lists of names that `without` takes: read, ranges compressed, written anew */
#include <ctype.h>
#include <string.h>

#include "rewrite_without_inside.h"

static const double GREATEST_NUMBER = 1e8; /* in the index of a part: shorter lists are written out, part by part */

/* Is the text, n long, the name of a variable behind a part: ".e" or ".f"? */
static bool
is_variable(const char *name, size_t n)
{
    return n > 2 && name[n - 2] == '.' && (name[n - 1] == 'e' || name[n - 1] == 'f');
}

/* "drag[3]" -> "drag[", 3, "]"; "x[1,2].f" -> "x[1,", 2, "].f" */
static struct entry
split_name(struct taking *t, const char *name, uint32_t group)
{
    size_t n = strlen(name), end = is_variable(name, n) ? n - 2 : n, begin;
    struct entry x = { .group = group };

    begin = end = end ? end - 1 : 0;
    if (n && name[end] == ']')
        while (begin && isdigit((unsigned char)name[begin - 1]))
            begin--;
    if (begin < end && end - begin < 10) {
        x.numbered = true;
        x.number = (uint32_t)strtoul(name + begin, NULL, 10);
        x.head = names_intern(t->f->names, name, begin);
        x.tail = names_intern_z(t->f->names, name + end);
    } else {
        x.head = names_intern(t->f->names, name, n);
        x.tail = names_intern_z(t->f->names, "");
    }
    return x;
}

void
without_add_entry(struct taking *t, const char *name, uint32_t group)
{
    struct entry x = split_name(t, name, group);
    uint64_t key = bg_hash_mix(map_ptr_key(x.head), map_ptr_key(x.tail));
    uint32_t order = map_get(&t->heads, key);

    if (order == MAP_NONE) {
        order = (uint32_t)t->entry.n;
        map_set(&t->heads, key, order);
    }
    x.order = order;
    vec_push(&t->entry, x);
}

static int
entry_order(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int
list_length(const struct group *g)
{
    return g->old ? g->old->without.n : g->node ? g->node->own->more->nwithout : 0;
}

static const ast_ref *
list_ref(const struct group *g, int k)
{
    return g->old ? &g->old->without.ref[k] : &g->node->own->more->without[k];
}

/* An entry of a list as it was; what held an element at zero that goes now is left out. */
static void
add_old_entry(struct taking *t, const char *name, uint32_t group)
{
    const struct group *g = &t->group.at[group];
    size_t n = strlen(name), first = strcspn(name, ".");

    if (first < n && !g->node) { /* of an instance that goes whole */
        uint32_t o = map_get(&t->instance_of, map_ptr_key(names_intern(t->f->names, name, first)));

        if (o != MAP_NONE && t->asked[o] != NONE)
            return;
    }
    if (is_variable(name, n)) {
        char *element = g->node ? bg_format("%s.%.*s", ast_node_name(g->node), (int)n - 2, name)
                                : bg_format("%.*s", (int)n - 2, name);
        uint32_t e = map_get(&t->element_of, map_ptr_key(names_intern_z(t->f->names, element)));

        free(element);
        if (e != MAP_NONE && t->wanted[e] != NONE)
            return;
    }
    without_add_entry(t, name, group);
}

/* Whether a part of the text's own names, with a plain range behind its last name (or the last before an e or f): its
 * items become entries. */
static bool
add_old(struct taking *t, const ast_ref *ref, uint32_t group)
{
    const ast_part *end = &ref->part[ref->nparts - 1];
    bool variable = ref->nparts > 1 && !end->nindex && (!strcmp(end->name, "e") || !strcmp(end->name, "f"));
    int n = variable && ref->part[ref->nparts - 2].nindex ? ref->nparts - 1 : ref->nparts;
    const ast_part *last = &ref->part[n - 1];
    const char *before, *name;
    double from, to;

    if (last->nindex != 1 || !last->brackets->index[0].to) {
        name = without_literal_name(t->f, ref, ref->nparts);
        if (name)
            add_old_entry(t, name, group);
        return name != NULL;
    }
    if (last->brackets->index[0].from->kind != AST_NUMBER || last->brackets->index[0].to->kind != AST_NUMBER)
        return false;
    from = last->brackets->index[0].from->number.value;
    to = last->brackets->index[0].to->number.value;
    before = n > 1 ? without_literal_name(t->f, ref, n - 1) : "";
    if (!before || !(from >= 0 && to >= from && to < GREATEST_NUMBER))
        return false;
    for (double i = from; i <= to; i++) {
        char *text = bg_format("%s%s%s[%.0f]%s%s", before, *before ? "." : "", last->name, i,
                               n < ref->nparts ? "." : "", n < ref->nparts ? end->name : "");

        add_old_entry(t, text, group);
        free(text);
    }
    return true;
}

static void
put_word(strbuf *b, const char *word)
{
    strbuf_printf(b, "%s%s", b->n ? ", " : "", word);
}

/* The entries first .. end of one group as a list, ranges compressed, behind the words kept as they are. */
static void
put_entries(const struct taking *t, size_t first, size_t end, strbuf *b)
{
    for (size_t k = first; k < end;) {
        const struct entry *x = &t->entry.at[k];
        size_t to = k;
        char *word;

        while (to + 1 < end && t->entry.at[to + 1].head == x->head && t->entry.at[to + 1].tail == x->tail &&
               x->numbered && t->entry.at[to + 1].number <= t->entry.at[to].number + 1)
            to++;
        if (!x->numbered)
            word = bg_strdup(x->head);
        else if (t->entry.at[to].number == x->number)
            word = bg_format("%s%u%s", x->head, x->number, x->tail);
        else
            word = bg_format("%s%u..%u%s", x->head, x->number, t->entry.at[to].number, x->tail);
        put_word(b, word);
        free(word);
        k = to + 1;
    }
}

static uint32_t
find_group(struct taking *t, const ast_node *instance)
{
    for (uint32_t k = 0; k < t->group.n; k++)
        if (t->group.at[k].node == instance)
            return k;
    vec_push(&t->group, ((struct group){ .node = instance }));
    return (uint32_t)t->group.n - 1;
}

uint32_t
without_group_of(struct taking *t, uint32_t e, const char **name)
{
    const flat_model *f = t->f;
    const flat_element *x = &f->element.at[e];
    uint32_t o = without_outermost(f, x->parent), g;
    const flat_origin *first = o == NONE ? NULL : &f->origin.at[o];

    *name = x->name;
    if (first && first->model && !strchr(first->name, '[') && without_stands_in_model(t, first->stmt)) {
        g = find_group(t, first->node);
        *name += strlen(first->name) + 1;
    } else {
        g = find_group(t, NULL);
        if (!t->group.at[g].after || without_top_statement(f, x)->at.begin > t->group.at[g].after->at.begin)
            t->group.at[g].after = without_top_statement(f, x);
    }
    t->group.at[g].used = true;
    return g;
}

uint32_t
without_group_of_instance(struct taking *t, uint32_t origin)
{
    const ast_stmt *made = t->f->origin.at[without_outermost(t->f, origin)].stmt;
    uint32_t g = find_group(t, NULL);

    if (!t->group.at[g].after || made->at.begin > t->group.at[g].after->at.begin)
        t->group.at[g].after = made;
    t->group.at[g].used = true;
    return g;
}

/* A name that a line of a loop declared which goes as a whole: no list may have it any more. */
static bool
names_dropped(const ast_ref *ref, const map *dropped)
{
    return map_get(dropped, map_ptr_key(ref->part[0].name)) != MAP_NONE;
}

static void
insert_statement(struct taking *t, const struct group *g, const char *list)
{
    const char *x = t->text;
    size_t line, at, end, after;
    strbuf b = { 0 };

    /* a statement of an if or loop around stands for it: the list goes behind the outermost */
    for (int k = 0; k < t->f->ast->nstmt; k++)
        if (t->f->ast->stmt[k]->at.begin <= g->after->at.begin && g->after->at.end <= t->f->ast->stmt[k]->at.end) {
            end = t->f->ast->stmt[k]->at.end;
            line = t->f->ast->stmt[k]->at.begin;
            goto found;
        }
    end = g->after->at.end;
    line = g->after->at.begin;
found:
    while (line > 0 && x[line - 1] != '\n')
        line--;
    for (at = line; x[at] == ' ' || x[at] == '\t'; at++)
        ;
    for (after = end; after < t->length && (x[after] == ' ' || x[after] == '\t'); after++)
        ;
    if (after + 1 < t->length && x[after] == '/' && x[after + 1] == '/')
        while (after < t->length && x[after] != '\n')
            after++;
    if (after < t->length && (x[after] == '\n' || x[after] == '\r')) {
        strbuf_puts(&b, "\n");
        strbuf_add(&b, x + line, at - line);
        end = after;
    } else {
        strbuf_puts(&b, " ");
    }
    strbuf_printf(&b, "without %s;", list);
    edits_insert(&t->r->edits, end, b.at, b.n);
    strbuf_free(&b);
}

void
without_take_over(struct taking *t, const map *dropped)
{
    for (uint32_t g = 0; g < t->group.n; g++) {
        struct group *x = &t->group.at[g];
        strbuf kept = { 0 };

        for (int k = 0; k < list_length(x); k++) {
            const ast_ref *ref = list_ref(x, k);

            if (names_dropped(ref, dropped) || (x->used && add_old(t, ref, g)))
                continue;
            put_word(&kept, arena_strndup(t->f->arena, t->text + ref->at.begin, ref->at.end - ref->at.begin));
        }
        x->used |= list_length(x) > 0;
        if (kept.n)
            vec_push(&t->entry, ((struct entry){ .head = arena_strdup(t->f->arena, kept.at), .tail = "", .group = g }));
        strbuf_free(&kept);
    }
}

void
without_write_lists(struct taking *t)
{
    size_t first = 0, end;

    if (t->entry.n)
        qsort(t->entry.at, t->entry.n, sizeof *t->entry.at, entry_order);
    for (first = 0; first < t->entry.n; first = end) {
        struct group *x = &t->group.at[t->entry.at[first].group];
        strbuf list = { 0 };

        for (end = first; end < t->entry.n && t->entry.at[end].group == t->entry.at[first].group; end++)
            ;
        put_entries(t, first, end, &list);
        if (list_length(x)) {
            const ast_ref *a = list_ref(x, 0), *z = list_ref(x, list_length(x) - 1);

            edits_replace(&t->r->edits, a->at.begin, z->at.end, list.at, list.n);
        } else if (x->node) {
            char *text = bg_format(" without %s", list.at);

            edits_insert(&t->r->edits, ast_node_at(x->node).end, text, strlen(text));
            free(text);
        } else {
            insert_statement(t, x, list.at);
        }
        x->used = false;
        strbuf_free(&list);
    }
    for (uint32_t g = 0; g < t->group.n; g++)
        if (t->group.at[g].used && t->group.at[g].old) {
            span at = t->group.at[g].old->at; /* nothing is left of it */

            vec_push(&t->lost->list, at);
            without_note(t, REWRITE_WITHOUT, arena_strndup(t->f->arena, t->text + at.begin, at.end - at.begin - 1), at);
        }
}

void
without_find_old_lists(struct taking *t, const map *dropped, bool wanted)
{
    const ast_model *m = t->f->ast;
    const ast_stmt *last = NULL;

    for (int k = 0; k < m->nstmt; k++) {
        if (m->stmt[k]->kind != AST_STMT_WITHOUT)
            continue;
        last = m->stmt[k];
        for (int i = 0; i < last->without.n; i++)
            if (names_dropped(&last->without.ref[i], dropped)) {
                vec_push(&t->group, ((struct group){ .old = last }));
                break;
            }
    }
    if (wanted && last) {
        for (uint32_t g = 0; g < t->group.n; g++)
            if (t->group.at[g].old == last)
                return;
        vec_push(&t->group, ((struct group){ .old = last }));
    }
}
