/* rewrite.c - see rewrite.h */
#include <string.h>

#include "rewrite_inside.h"

uint32_t
rewrite_world(const struct plan *p)
{
    return (uint32_t)(p->part.n + p->value.n);
}

uint32_t
rewrite_value_entity(const struct plan *p, uint32_t v)
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

/* Elements that only `without` can take out or hold at zero. */
struct inner {
    VEC(const char *) drop, clamp;
};

/* Takes those out, once it is known what is removed from the text itself. */
static bool
take_without(struct plan *p, const flat_model *f, const ast_file *file, const struct inner *x)
{
    VEC(const char *) gone = { 0 };
    without_lost lost = { 0 };
    bool fine;

    for (size_t i = 0; i < p->part.n; i++)
        if (p->part.at[i].gone && p->part.at[i].kind != TEXT_BOND)
            vec_push(&gone, p->part.at[i].name);
    fine = without_plan(f, file, x->drop.at, x->drop.n, x->clamp.at, x->clamp.n, gone.at, gone.n, &lost, p->out);
    for (size_t i = 0; i < lost.list.n; i++)
        vec_push(&p->lost, lost.list.at[i]);
    if (lost.list.n) {
        rewrite_forget(p, lost.list.at, lost.list.n);
        rewrite_mark_live(p);
    }
    vec_free(&gone);
    vec_free(&lost.list);
    return fine;
}

/* own: the request without the elements in `inner`, which need `without` */
static bool
plan_request(const rewrite_request *own, const struct inner *inner, rewrite *r)
{
    const flat_model *f = own->f;
    struct plan p = { .s = f->sources,
                      .file = own->file,
                      .model = f->ast,
                      .text = source_text(f->sources, own->file->file),
                      .length = source_length(f->sources, own->file->file),
                      .out = r,
                      .change = own->change,
                      .nchanges = own->nchanges,
                      .bond = own->bond,
                      .nbonds = own->nbonds };
    bool fine = true;

    for (size_t i = 0; i < own->nbonds; i++)
        vec_push(&r->bond, own->bond[i]);
    p.request = bg_calloc(own->nbonds, sizeof *p.request);
    for (int i = 0; i < f->ast->nstmt; i++)
        rewrite_declare(&p, f->ast->stmt[i], false);
    rewrite_gather_bonds(&p);
    for (size_t i = 0; i < own->nchanges; i++) {
        uint32_t x = own->change[i].kind == REWRITE_CLAMP ? rewrite_find_part(&p, own->change[i].owner) : MAP_NONE;

        if (x != MAP_NONE)
            p.part.at[x].clamped = true;
        if (own->change[i].kind == REWRITE_LET || (own->change[i].kind == REWRITE_INITIAL && !own->change[i].owner)) {
            vec_push(&p.lost, own->change[i].at);
            rewrite_note(&p, own->change[i].kind, own->change[i].name, own->change[i].at);
            r->item.at[r->item.n - 1].owner = own->change[i].name;
        }
    }
    for (uint32_t j = 0; j < f->junction.n; j++)
        if (f->junction.at[j].thinned && rewrite_find_part(&p, f->junction.at[j].name) != MAP_NONE)
            p.part.at[rewrite_find_part(&p, f->junction.at[j].name)].thinned = true;
    rewrite_gather_readings(&p);
    rewrite_refuse_clamps(&p);
    rewrite_gather_replaced(&p);
    rewrite_sort_readings(&p);
    p.live = bg_calloc(rewrite_world(&p) + 1, sizeof *p.live);
    p.via = bg_calloc(rewrite_world(&p) + 1, sizeof *p.via);
    for (size_t i = 0; i < own->n && fine; i++) {
        uint32_t x = rewrite_find_part(&p, own->name[i]);

        if (x == MAP_NONE || p.part.at[x].kind == TEXT_JUNCTION || p.part.at[x].kind == TEXT_BOND) {
            r->error = bg_format("the text of model \"%s\" declares no element \"%s\"", f->ast->name, own->name[i]);
            fine = false;
        } else {
            p.part.at[x].wanted = (uint32_t)i;
        }
    }
    if (fine) {
        do {
            rewrite_cascade(&p);
            rewrite_mark_live(&p);
        } while (rewrite_keep_needed(&p));
        fine = take_without(&p, f, own->file, inner);
    }
    if (fine) {
        rewrite_make_edits(&p);
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
    cleanup_free(&p.clean);
    free(p.link_cut);
    free(p.request);
    free(p.live);
    free(p.via);
    return fine;
}

/* Prepares each clamp of an element of the text itself with its pieces: the element becomes an Sf on a 1-junction, an
 * Se on a 0-junction. Other clamps go to `inner`; other changes are copied. Returns the number in out. */
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
            span head = written->own->more->domain ? written->own->more->domain_at : ast_node_ref_at(written);
            rewrite_piece *piece = arena_new_array(a, rewrite_piece, 2);

            piece[0] = (rewrite_piece){ ast_type_at(written),
                                        f->junction.at[f->port.at[f->element.at[e].port0].junction].type ? "Sf"
                                                                                                         : "Se" };
            piece[1] = (rewrite_piece){ { head.file, head.end, ast_node_at(written).end }, " = 0" };
            x->at = ast_node_at(written);
            x->piece = piece;
            x->npieces = 2;
        }
    }
    map_free(&element_of);
    return count;
}

bool
rewrite_plan(const rewrite_request *q, rewrite *r)
{
    const flat_model *f = q->f;
    rewrite_request own = *q;
    struct inner inner = { 0 };
    arena *a;
    rewrite_change *change;
    const char **name;
    bool *is, fine;

    memset(r, 0, sizeof *r);
    if (f->ast->at.file != q->file->file) {
        r->error = bg_format("model \"%s\" stands in \"%s\", which is imported; only the file itself is changed",
                             f->ast->name, source_path(f->sources, f->ast->at.file));
        return false;
    }
    a = arena_new();
    change = arena_new_array(a, rewrite_change, q->nchanges + 1);
    name = arena_new_array(a, const char *, q->n + 1);
    is = arena_new_array(a, bool, q->n + 1);
    without_elements(f, q->name, q->n, is);
    own.n = 0;
    for (size_t i = 0; i < q->n; i++) {
        if (is[i])
            vec_push(&inner.drop, q->name[i]);
        else
            name[own.n++] = q->name[i];
    }
    own.name = name;
    own.nchanges = split_clamps(f, q->change, q->nchanges, a, change, &inner);
    own.change = change;
    fine = plan_request(&own, &inner, r);
    vec_free(&inner.drop);
    vec_free(&inner.clamp);
    arena_free(a);
    return fine;
}

span
rewrite_place(const flat_model *f, uint32_t origin, span at)
{
    for (; origin != NONE; origin = f->origin.at[origin].parent)
        if (f->origin.at[origin].model)
            at = ast_node_at(f->origin.at[origin].node);
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
