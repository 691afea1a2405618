/* scopes.c - names and what they denote, similar names, and texts for messages
 *
 * A name is looked up in one hash map, keyed by its scope; items of an array that are made one by one in another, keyed
 * by family and indexes. Items made at once are found by arithmetic.
 */
#include <string.h>

#include "elab.h"

enum { MOST_LISTED = 12 };

/* ---------------------------------------------------------------- families */

static uint64_t
family_hash(uint32_t id, bool is_part, const char *name)
{
    return bg_hash_mix((uint64_t)id << 1 | is_part, map_ptr_key(name));
}

static uint64_t
hash_of_family(const void *ctx, uint32_t k)
{
    const family f = family_of(ctx, k);

    return family_hash(f.scope, f.is_part, f.name);
}

static bool
is_family(const elab *el, uint32_t at, const scope *in, const char *name, bool is_part)
{
    const family f = family_of(el, at);

    return f.name == name && f.scope == in->id && f.is_part == is_part;
}

uint32_t
own_family(const elab *el, const scope *in, const char *name, bool is_part)
{
    uint64_t key = (uint64_t)in->id << 1 | is_part;
    uint32_t *last = &el->last_family[(map_ptr_key(name) >> 3 ^ key) % LAST_FAMILIES], at;

    if (*last && is_family(el, *last - 1, in, name, is_part))
        return *last - 1;
    for (size_t i = family_hash(in->id, is_part, name); (at = index_set_at(&el->families, i)) != MAP_NONE; i++)
        if (is_family(el, at, in, name, is_part)) {
            *last = at + 1;
            return at;
        }
    return NONE;
}

void
fetch_part(const elab *el, const scope *in, const char *name, enum fetch step)
{
#ifdef __GNUC__
    uint64_t hash = family_hash(in->id, true, name);
    uint32_t at;

    if (!el->families.cap)
        return;
    if (step == FETCH_PLACE) {
        __builtin_prefetch(&el->families.at[hash & (el->families.cap - 1)]);
        return;
    }
    at = index_set_at(&el->families, hash);
    if (at == MAP_NONE)
        return;
    if (at & FAMILY_PART)
        __builtin_prefetch(&el->part.at[at & ~FAMILY_PART]);
    else if (step == FETCH_FAMILY)
        __builtin_prefetch(&el->family.at[at]);
    else if (el->family.at[at].first < el->part.n)
        __builtin_prefetch(&el->part.at[el->family.at[at].first]);
#else
    (void)el, (void)in, (void)name, (void)step;
#endif
}

/* The first import, after `from` of them, that has a value of that name; NONE */
static uint32_t
imported(const elab *el, const module *m, const char *name, size_t *from)
{
    for (; *from < m->import.n; ++*from) {
        uint32_t at = own_family(el, el->module.at[m->import.at[*from]].scope, name, false);

        if (at != NONE)
            return at;
    }
    return NONE;
}

uint32_t
find_family(const elab *el, const scope *in, const char *name, bool is_part)
{
    size_t from = 0;
    uint32_t at;

    if (is_part)
        return own_family(el, in, name, true);
    for (; in; in = in->parent) {
        if (in->loop)
            continue;
        if ((at = own_family(el, in, name, false)) != NONE)
            return at;
        if (!in->parent)
            return imported(el, &el->module.at[in->module], name, &from);
    }
    return NONE;
}

bool
import_clash(elab *el, const scope *in, const char *name, span where)
{
    const module *m = &el->module.at[in->module];
    size_t from = 0;
    uint32_t first, second;

    for (; in; in = in->parent)
        if (!in->loop && own_family(el, in, name, false) != NONE)
            return false;
    first = imported(el, m, name, &from);
    from++;
    second = first == NONE ? NONE : imported(el, m, name, &from);
    if (second == NONE)
        return false;
    diag_error(el->s, "import-clash", where, "two imports declare \"%s\"", name);
    diag_note(el->s, family_at(el, first), "one is here");
    diag_note(el->s, family_at(el, second), "another is here");
    return true;
}

static uint64_t
array_item_key(uint32_t f, const int32_t *at)
{
    return bg_hash_mix(f, (uint64_t)(uint32_t)at[0] << 32 | (uint32_t)at[1]);
}

/* Made one by one. */
static uint32_t
find_item(const elab *el, uint32_t f, const int32_t *at)
{
    uint64_t key = array_item_key(f, at);
    const family *of = &el->family.at[f];
    const family_array *a = array_of(el, of);
    uint32_t k = (uint32_t)at[0] - (uint32_t)a->run_from;

    if (of->rank == 1 && k < a->run)
        return of->first + k * a->run_by;
    while ((k = map_get(&el->items, key)) != MAP_NONE) {
        if (el->item.at[k].family == f && el->item.at[k].at[0] == at[0] && el->item.at[k].at[1] == at[1])
            return el->item.at[k].index;
        key++;
    }
    return NONE;
}

uint32_t
family_item(const elab *el, uint32_t number, const int32_t *at, uint32_t *entry)
{
    const family *f;
    const family_array *a;
    uint32_t linear = 0;

    *entry = 0;
    if (number & FAMILY_PART)
        return number & ~FAMILY_PART;
    f = &el->family.at[number];
    a = array_of(el, f);
    if (!f->rank)
        return f->first;
    for (int k = 0; k < f->rank; k++) {
        if (at[k] < a->low[k] || at[k] > a->high[k])
            return NONE;
        linear = linear * (uint32_t)(a->high[k] - a->low[k] + 1) + (uint32_t)(at[k] - a->low[k]);
    }
    if (f->block && f->is_part)
        return f->first + linear;
    if (f->block) {
        *entry = linear;
        return f->first;
    }
    return find_item(el, number, (int32_t[]){ at[0], f->rank > 1 ? at[1] : 0 });
}

static span
span_of(const elab *el, bool is_part, uint32_t index)
{
    return is_part ? part_at(&el->part.at[index]) : el->value.at[index].at;
}

static void
enter_family(elab *el, const scope *in, const family *f)
{
    bool alone = f->is_part && !f->rank;

    index_set_add(&el->families, family_hash(in->id, f->is_part, f->name),
                  alone ? f->first | FAMILY_PART : (uint32_t)el->family.n, hash_of_family, el);
    if (!alone)
        vec_push(&el->family, *f);
}

/* Does the item continue the family's run? */
static bool
goes_on(const family *f, family_array *a, const int32_t *at, uint32_t index)
{
    if (f->rank != 1)
        return false;
    if (f->n == 0)
        a->run_from = at[0];
    else if (a->run == 1)
        a->run_by = index - f->first;
    return (uint32_t)at[0] - (uint32_t)a->run_from == a->run && f->first + a->run * a->run_by == index;
}

static void
enter_item(elab *el, uint32_t at, const int32_t *idx, uint32_t index)
{
    family *f = &el->family.at[at];
    family_array *a = &el->array.at[f->array];
    int32_t i[2] = { idx[0], f->rank > 1 ? idx[1] : 0 };
    uint64_t key = array_item_key(at, i);

    for (int k = 0; k < f->rank; k++) {
        if (i[k] < a->low[k])
            a->low[k] = i[k];
        if (i[k] > a->high[k])
            a->high[k] = i[k];
    }
    if (goes_on(f, a, i, index)) {
        f->n++;
        a->run++;
        return;
    }
    f->n++;
    while (map_get(&el->items, key) != MAP_NONE)
        key++;
    map_set(&el->items, key, (uint32_t)el->item.n);
    vec_push(&el->item, ((struct family_item){ at, { i[0], i[1] }, index }));
}

bool
enter_name(elab *el, const scope *in, bool is_part, const char *name, span where, uint8_t rank, const int32_t *idx,
           bool block, uint32_t index)
{
    uint32_t at = own_family(el, in, name, is_part), before, entry;
    family_array a = { 0 };
    family
        f = { .name = name, .scope = in->id, .is_part = is_part, .block = block, .rank = rank, .first = index, .n = 0 };

    if (at != NONE) {
        const family old = family_of(el, at);

        if (!block && !old.block && rank && old.rank == rank) {
            before = family_item(el, at, idx, &entry);
            if (before == NONE) {
                enter_item(el, at, idx, index);
                return true;
            }
            said_twice(el, where, full_name(el, in, name, rank, idx), span_of(el, is_part, before));
            map_set(&el->refused, scope_key(in, name), 1);
            return false;
        }
        said_twice(el, where, name, family_at(el, at));
        map_set(&el->refused, scope_key(in, name), 1);
        if (old.rank != rank && old.rank && rank)
            diag_help(el->s, "One has %d index%s, the other %d.", old.rank, old.rank > 1 ? "es" : "", rank);
        return false;
    }
    for (int k = 0; k < rank; k++) {
        a.low[k] = block ? 1 : idx[k];
        a.high[k] = idx[k];
    }
    if (rank) {
        a.at = where;
        f.array = (uint32_t)el->array.n;
        vec_push(&el->array, a);
    }
    if (block) {
        f.n = (uint32_t)idx[0];
        if (rank > 1)
            f.n *= (uint32_t)idx[1];
    } else if (!rank) {
        f.n = 1;
    }
    enter_family(el, in, &f);
    if (rank && !block)
        enter_item(el, (uint32_t)el->family.n - 1, idx, index);
    return true;
}

uint32_t
find_value(const elab *el, const scope *in, const char *name)
{
    uint32_t at = find_family(el, in, name, false);

    return at == NONE ? NONE : family_of(el, at).first;
}

uint32_t
find_part(const elab *el, const scope *in, const char *name)
{
    uint32_t at = own_family(el, in, name, true);

    return at == NONE || !family_of(el, at).n ? NONE : family_of(el, at).first;
}

/* An index as text, without printf: models have millions. */
static void
put_index(strbuf *b, int32_t i)
{
    char digits[12];
    size_t n = sizeof digits;
    uint32_t left = i < 0 ? -(uint32_t)i : (uint32_t)i;

    do
        digits[--n] = (char)('0' + left % 10);
    while (left /= 10);
    if (i < 0)
        digits[--n] = '-';
    strbuf_add(b, digits + n, sizeof digits - n);
}

static const strbuf *
put_name(elab *el, const scope *in, const char *name, uint8_t rank, const int32_t *idx)
{
    strbuf *b = &el->name_room;

    b->n = 0;
    strbuf_puts(b, in->prefix);
    strbuf_puts(b, name);
    for (uint8_t k = 0; k < rank; k++) {
        strbuf_add(b, k ? "," : "[", 1);
        put_index(b, idx[k]);
    }
    if (rank)
        strbuf_add(b, "]", 1);
    return b;
}

const char *
full_name(elab *el, const scope *in, const char *name, uint8_t rank, const int32_t *idx)
{
    const strbuf *b;

    if (!rank && !in->prefix[0])
        return name;
    b = put_name(el, in, name, rank, idx);
    return names_intern(el->names, b->at, b->n);
}

const char *
part_name(elab *el, const scope *in, const char *name, uint8_t rank, const int32_t *idx)
{
    const strbuf *b;

    if (!el->opt->names_apart || (!rank && !in->prefix[0]))
        return full_name(el, in, name, rank, idx);
    b = put_name(el, in, name, rank, idx);
    return arena_strndup(el->a, b->at, b->n);
}

scope *
element_scope(const elab *el, uint32_t element)
{
    return el->part.at[el->element_part.at[element]].in;
}

bool
may_make_more(elab *el, uint64_t n, span at)
{
    if (n <= MOST_MADE && el->made + n <= MOST_MADE) {
        el->made += n;
        return true;
    }
    if (!el->made_too_much)
        diag_error(el->s, "model-size", at,
                   "this makes the model larger than %d parts, bonds, values and rounds of loops", MOST_MADE);
    el->made_too_much = true;
    el->incomplete = true;
    return false;
}

/* ---------------------------------------------------------------- similar names */

bool
refused_before(const elab *el, const scope *in, const char *name)
{
    return el->incomplete || map_get(&el->refused, scope_key(in, name)) != MAP_NONE;
}

static uint64_t
cause_key(enum cause c, uint64_t of, uint64_t what)
{
    return bg_hash_mix(bg_hash_mix(of, c), what);
}

bool
is_told(const elab *el, enum cause c, uint64_t of, uint64_t what)
{
    return map_get(&el->told, cause_key(c, of, what)) != MAP_NONE;
}

bool
told_before(elab *el, enum cause c, uint64_t of, uint64_t what)
{
    bool told = is_told(el, c, of, what);

    map_set(&el->told, cause_key(c, of, what), 1);
    return told;
}

bool
in_doubt(const elab *el, const value *v)
{
    return is_told(el, CAUSE_UNIT, map_ptr_key(v->stmt), 0);
}

const scope *
scope_of_text(const scope *s)
{
    while (s->loop)
        s = s->parent;
    return s;
}

bool
errors_are_many(const elab *el)
{
    return diag_errors(el->s) > SOURCES_MAX_ERRORS;
}

const char *
nearest_value(const elab *el, const scope *in, const char *wrong)
{
    const char **list, *near;
    size_t n = 0, known_names = 0;
    const scope *file = in;

    if (errors_are_many(el))
        return NULL;
    for (const scope *s = in; s; s = s->parent) {
        known_names += s->nknown;
        file = s;
    }
    list = bg_calloc(el->family.n + known_names + 1, sizeof *list);
    for (size_t k = 0; k < el->family.n; k++)
        if (!el->family.at[k].is_part && (el->family.at[k].scope == in->id || el->family.at[k].scope == file->id))
            list[n++] = el->family.at[k].name;
    for (const scope *s = in; s; s = s->parent)
        for (uint32_t k = 0; k < s->nknown; k++)
            list[n++] = s->known[k].name;
    list[n++] = "time";
    near = nearest_name(wrong, list, n);
    free(list);
    return near;
}

/* Position of a walk over all families. */
struct families_met {
    size_t record;
    uint32_t part;
};

/* The next family of a scope in the order of declaration, of values or of parts; false behind the last. */
static bool
next_family(const elab *el, const scope *in, bool parts, struct families_met *met, family *f)
{
    for (;;) {
        const family *record = met->record < el->family.n ? &el->family.at[met->record] : NULL;

        if (record && (record->is_part != parts || record->scope != in->id)) {
            met->record++;
        } else if (record && (!parts || record->first <= met->part)) {
            met->record++;
            *f = *record;
            return true;
        } else if (!parts || met->part == el->part.n) {
            return false;
        } else {
            const part *p = &el->part.at[met->part++];

            if (p->in->id == in->id && !(p->node && ast_node_nindex(p->node))) {
                *f = family_of(el, (uint32_t)(p - el->part.at) | FAMILY_PART);
                return true;
            }
        }
    }
}

const char *
nearest_part(const elab *el, const scope *in, const char *wrong)
{
    VEC(const char *) list = { 0 };
    struct families_met met = { 0 };
    const char *near;
    family f;

    if (errors_are_many(el))
        return NULL;
    while (next_family(el, in, true, &met, &f))
        vec_push(&list, f.name);
    near = nearest_name(wrong, list.at, list.n);
    vec_free(&list);
    return near;
}

/* "a, b and c" for the selected families of a scope; NULL: none, or too many. */
static const char *
names_listed(const elab *el, const scope *in, bool parts, bool (*wanted)(const elab *el, const family *f))
{
    const char *name[MOST_LISTED];
    size_t n = 0;
    strbuf b = { 0 };
    struct families_met met = { 0 };
    const char *text;
    family f;

    while (next_family(el, in, parts, &met, &f)) {
        if (wanted && !wanted(el, &f))
            continue;
        if (n == MOST_LISTED)
            return NULL;
        name[n++] = f.rank ? arena_format(el->a, "%s[...]", f.name) : f.name;
    }
    for (size_t k = 0; k < n; k++)
        strbuf_printf(&b, "%s%s", k == 0 ? "" : k + 1 == n ? " and " : ", ", name[k]);
    text = n ? arena_strdup(el->a, b.at) : NULL;
    strbuf_free(&b);
    return text;
}

static bool
family_is_port(const elab *el, const family *f)
{
    return f->n && el->part.at[f->first].port;
}

const char *
parts_listed(const elab *el, const scope *in)
{
    const char *ports = in->outer ? names_listed(el, in, true, family_is_port) : NULL, *all;

    if (errors_are_many(el))
        return NULL;
    all = names_listed(el, in, true, NULL);
    if (ports && all && strcmp(ports, all) != 0)
        return arena_format(el->a, "Bonds join its ports: %s. Its parts are %s.", ports, all);
    if (ports)
        return arena_format(el->a, "Bonds join its ports: %s.", ports);
    return all ? arena_format(el->a, in->outer ? "Its parts are %s." : "The parts of the model are %s.", all) : NULL;
}

const char *
values_listed(const elab *el, const scope *in)
{
    const char *all = errors_are_many(el) ? NULL : names_listed(el, in, false, NULL);

    return all ? arena_format(el->a, in->outer ? "Its values are %s." : "The values of the model are %s.", all) : NULL;
}

/* ---------------------------------------------------------------- text */

const char *
whole_text_of(elab *el, span at)
{
    return source_one_line(el->s, el->a, at);
}

const char *
text_of(elab *el, span at)
{
    return source_shortened(el->s, el->a, at);
}

const unit *
read_unit(elab *el, const ast_unit *written)
{
    const char *why;
    const unit *u;

    if (!written)
        return NULL;
    u = unit_parse(el->u, written->text, &why);
    if (!u)
        diag_error(el->s, "unit-unknown", written->at, "%s", why);
    return u;
}

inst
set_inst(elab *el, double x)
{
    return flat_inst(el->f, ex_const(el->pool, x), NULL, 0);
}

void
said_twice(elab *el, span at, const char *name, span before)
{
    diag_error(el->s, "name-twice", at, "\"%s\" is declared twice", name);
    diag_note(el->s, before, "the first one is here");
}
