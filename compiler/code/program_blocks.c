/* program_blocks.c - the code of blocks: blocks of equal form share it, and each has the places of its own data */
#include <stdlib.h>
#include <string.h>

#include "lower.h"
#include "program_inside.h"

/* ---------------------------------------------------------------- forms */

static bool
is_unknown_of(const program *g, uint32_t block, var_id v)
{
    const eq_var *d = &g->e->var.at[v];

    return d->kind == DEF_BLOCK && d->index == block;
}

/* Two blocks are of one form where their residuals are the same over slots that are the same unknowns, or other
 * variables of the same kind that are equal to each other in the same places. Leaves that in s->key. */
static void
make_key(struct scheduler *s, uint32_t number)
{
    program *g = s->g;
    const flat_model *f = g->e->f;
    const planned_block *b = &g->block.at[number];
    const program_block *r = &g->routine->block.at[number];
    map seen = { 0 };

    s->key.n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        inst d = b->residual.at[i];

        vec_push(&s->key, d.root);
        vec_push(&s->key, d.n);
        for (uint32_t k = 0; k < d.n; k++) {
            var_id v = f->slot.at[d.first + k];
            uint32_t at;

            if (is_unknown_of(g, r->block, v)) {
                vec_push(&s->key, NONE);
                vec_push(&s->key, g->routine->w_position[v] - r->w0);
                continue;
            }
            at = map_get(&seen, v);
            if (at == MAP_NONE)
                map_set(&seen, v, at = (uint32_t)seen.n);
            vec_push(&s->key, (uint32_t)program_space_of(f, g->e, v) * 2 + program_is_parameter(f, v));
            vec_push(&s->key, at);
        }
    }
    map_free(&seen);
}

/* The form of s->key; *fresh: there was none. */
static uint32_t
find_form(struct scheduler *s, bool *fresh)
{
    size_t size = s->key.n * sizeof *s->key.at;
    uint64_t hash = bg_hash_bytes(s->key.at, size, 0);
    struct block_form form = { .nkey = s->key.n, .next = map_get(&s->form_index, hash) };
    uint32_t *key;

    for (uint32_t k = form.next; k != MAP_NONE; k = s->form.at[k].next)
        if (s->form.at[k].nkey == s->key.n && !memcmp(s->form.at[k].key, s->key.at, size)) {
            *fresh = false;
            return k;
        }
    form.key = key = arena_new_array(s->g->arena, uint32_t, s->key.n + 1);
    memcpy(key, s->key.at, size);
    *fresh = true;
    map_set(&s->form_index, hash, (uint32_t)s->form.n);
    vec_push(&s->form, form);
    vec_push(&s->g->routine->block_class, ((block_class){ 0 }));
    return (uint32_t)s->form.n - 1;
}

/* ---------------------------------------------------------------- code of a form */

/* Assignments of a chunk, and of which expression and template each is. */
struct pending {
    VEC(struct gen_assign) assign;
    VEC(uint32_t) canon, expression;
    size_t nodes;
};

static inst
expression_of(struct scheduler *s, uint32_t number, struct block_expression x)
{
    inst d = s->g->block.at[number].residual.at[x.residual];

    return x.derivative == NODE_NONE ? d : program_part_of(s->g, d, x.derivative);
}

static void
add_expression(struct scheduler *s, uint32_t number, struct block_form *form, struct pending *list,
               struct block_expression x, uint32_t to)
{
    inst def = expression_of(s, number, x);
    uint32_t canon = program_canon_of(s->g->planner, def);
    struct gen_assign a = program_straight(s, def, canon, (struct gen_ref){ SP_OUT, to });

    vec_push(&list->assign, a);
    vec_push(&list->canon, canon);
    vec_push(&list->expression, (uint32_t)form->expression.n);
    vec_push(&form->expression, x);
    list->nodes += ex_size(s->g->e->f->pool, a.root);
}

/* A place that was not named before comes from there. */
static void
add_place(struct block_form *form, map *place, struct gen_ref r, int32_t *at, struct place_source source)
{
    size_t before = place->n;

    lower_name_place(place, r, at);
    if (place->n > before)
        vec_push(&form->source, source);
}

/* Ends a chunk. Its places are numbered as its code numbers them (gen_add_located). */
static block_code
close_pending(struct scheduler *s, struct block_form *form, struct pending *list)
{
    program *g = s->g;
    const pool *p = g->e->f->pool;
    const struct planner *pl = g->planner;
    block_code code = { program_add_chunk(g, list->assign.at, list->assign.n), (uint32_t)form->source.n };
    size_t most = list->assign.n;
    map place = { 0 };
    VEC(bool) used = { 0 };
    int32_t *at;

    for (size_t i = 0; i < list->assign.n; i++)
        most += ex_slot_bound(p, list->assign.at[i].root);
    g->chunk.at[code.chunk].place = at = arena_new_array(g->arena, int32_t, most);
    for (size_t i = 0; i < list->assign.n; i++) {
        const struct gen_assign *a = &list->assign.at[i];
        const struct canon *c = &pl->canon.at[list->canon.at[i]];
        uint32_t bound = ex_slot_bound(p, a->root), expression = list->expression.at[i];

        used.n = 0;
        vec_resize(&used, bound);
        ex_slots_used(p, a->root, used.at, bound);
        for (uint32_t k = 0; k < bound; k++)
            if (used.at[k])
                add_place(form, &place, a->slot[k], at,
                          k < c->nv ? (struct place_source){ FROM_VARIABLE, expression, pl->vslots.at[c->v0 + k] }
                                    : (struct place_source){ FROM_PART, expression, pl->proots.at[c->p0 + k - c->nv] });
        add_place(form, &place, a->to, at, (struct place_source){ FROM_CODE, expression, a->to.index });
    }
    list->assign.n = list->canon.n = list->expression.n = list->nodes = 0;
    map_free(&place);
    vec_free(&used);
    return code;
}

/* Pattern of the partial derivatives: residuals are gone through in order, so that rows ascend in each column. */
static void
make_class_pattern(program *g, const planned_block *b, const program_block *r, block_class *c)
{
    const flat_model *f = g->e->f;
    int64_t *fill = bg_malloc((r->n + 1) * sizeof *fill);

    c->column_start = arena_new_array(g->routine->arena, int64_t, r->n + 1);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < r->n; i++) {
            inst d = b->residual.at[i];

            for (uint32_t k = 0; k < d.n; k++) {
                var_id v = f->slot.at[d.first + k];

                if (!is_unknown_of(g, r->block, v))
                    continue;
                if (pass == 0)
                    c->column_start[g->routine->w_position[v] - r->w0 + 1]++;
                else
                    c->row[fill[g->routine->w_position[v] - r->w0]++] = i;
            }
        }
        if (pass == 0) {
            for (uint32_t j = 0; j < r->n; j++)
                c->column_start[j + 1] += c->column_start[j];
            memcpy(fill, c->column_start, (r->n + 1) * sizeof *fill);
            c->row = arena_new_array(g->routine->arena, int64_t, (size_t)c->column_start[r->n] + 1);
        }
    }
    free(fill);
}

static void
code_form(struct scheduler *s, uint32_t number, struct block_form *form, block_class *c)
{
    program *g = s->g;
    const planned_block *b = &g->block.at[number];
    const program_block *r = &g->routine->block.at[number];
    flat_model *f = g->e->f;
    struct pending list = { 0 };
    uint32_t *next = bg_calloc(r->n + 1, sizeof *next);

    for (uint32_t i = 0; i < r->n; i++) {
        add_expression(s, number, form, &list, (struct block_expression){ i, NODE_NONE }, i);
        if (list.nodes >= CHUNK_NODES || i + 1 == r->n)
            vec_push(&c->residual, close_pending(s, form, &list));
    }
    make_class_pattern(g, b, r, c);
    for (uint32_t i = 0; i < r->n; i++) {
        inst d = b->residual.at[i];

        for (uint32_t k = 0; k < d.n; k++) {
            var_id v = f->slot.at[d.first + k];
            uint32_t j;

            if (!is_unknown_of(g, r->block, v))
                continue;
            j = g->routine->w_position[v] - r->w0;
            add_expression(s, number, form, &list, (struct block_expression){ i, ex_derivative(f->pool, d.root, k) },
                           (uint32_t)c->column_start[j] + next[j]++);
            if (list.nodes >= CHUNK_NODES)
                vec_push(&c->partial, close_pending(s, form, &list));
        }
    }
    if (list.assign.n)
        vec_push(&c->partial, close_pending(s, form, &list));
    c->nplaces = (uint32_t)form->source.n;
    vec_free(&list.assign);
    vec_free(&list.canon);
    vec_free(&list.expression);
    free(next);
}

/* ---------------------------------------------------------------- blocks */

static int32_t *
places_of(struct scheduler *s, uint32_t number, const struct block_form *form)
{
    program *g = s->g;
    int32_t *at = arena_new_array(g->routine->arena, int32_t, form->source.n + 1);

    s->expression.n = 0;
    for (size_t i = 0; i < form->expression.n; i++)
        vec_push(&s->expression, expression_of(s, number, form->expression.at[i]));
    for (size_t i = 0; i < form->source.n; i++) {
        const struct place_source *x = &form->source.at[i];
        inst d = s->expression.at[x->expression];

        at[i] = (int32_t)(x->kind == FROM_CODE       ? x->at
                          : x->kind == FROM_VARIABLE ? program_ref_of(s, g->e->f->slot.at[d.first + x->at]).index
                                                     : program_share_parameter(g, program_part_of(g, d, x->at)));
    }
    return at;
}

void
program_code_block(struct scheduler *s, uint32_t number)
{
    program_block *b = &s->g->routine->block.at[number];
    block_class *c;
    bool fresh;

    make_key(s, number);
    b->class_ = find_form(s, &fresh);
    c = &s->g->routine->block_class.at[b->class_];
    if (fresh)
        code_form(s, number, &s->form.at[b->class_], c);
    b->column_start = c->column_start;
    b->row = c->row;
    b->place = places_of(s, number, &s->form.at[b->class_]);
}

void
program_blocks_done(struct scheduler *s)
{
    for (size_t i = 0; i < s->form.n; i++) {
        vec_free(&s->form.at[i].expression);
        vec_free(&s->form.at[i].source);
    }
    vec_free(&s->form);
    vec_free(&s->key);
    vec_free(&s->expression);
    map_free(&s->form_index);
}
