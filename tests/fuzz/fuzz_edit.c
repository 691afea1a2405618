/* fuzz_edit.c - any bytes as a model out of which elements are taken, and whose folds are done; what it was is compared
 * with what it became
 *
 * Which elements go is drawn from the text, so that an input is a model like any other. The new text parses, and its
 * graph is what the old one becomes when those parts are taken out.
 */
#include <stdlib.h>

#include "diff.h"
#include "fold.h"
#include "fuzz.h"
#include "rewrite.h"

static const ast_model *
model_of(const compilation *c)
{
    for (size_t i = 0; i < c->ast->ndecls; i++)
        if (c->ast->decl[i].kind == AST_DECL_MODEL && c->ast->decl[i].model->name == c->flat->name)
            return c->ast->decl[i].model;
    return NULL;
}

/* Applies a plan. What does not elaborate any more is no fault of the plan: the reduction puts back what it took. */
static void
apply(const compilation *c, const rewrite *r, const char *text, size_t n, bool exact)
{
    strbuf out = { 0 };
    compilation after = { 0 };
    char *why = NULL;
    diff d;

    edits_apply(&r->edits, text, n, &out);
    bool ok = fuzz_compile(&after, "fuzz.bg", out.at ? out.at : "", out.n, STAGE_GRAPH);

    must(after.ast && after.ast->ok, "the edited text does not parse", out.at);
    must(ok || !exact, "the folded text does not elaborate", out.at);
    if (ok) {
        must(rewrite_check(c->flat, r, after.flat, &why) || !exact, why, out.at);
        diff_make(c->flat, after.flat, &d);
        diff_free(&d);
    }
    free(why);
    strbuf_free(&out);
    fuzz_free(&after);
}

static void
take_out(const compilation *c, const char *text, size_t n)
{
    VEC(const char *) name = { 0 };
    uint64_t drawn = bg_hash_bytes(text, n, 0);
    rewrite r = { 0 };

    for (size_t i = 0; i < c->flat->element.n; i++)
        if (bg_hash_mix(drawn, i) % 3 == 0)
            vec_push(&name, names_intern_z(c->names, c->flat->element.at[i].name));
    if (name.n && model_of(c)) {
        if (rewrite_plan(&(rewrite_request){ .f = c->flat, .file = c->ast, .name = name.at, .n = name.n }, &r))
            apply(c, &r, text, n, false);
        rewrite_free(&r);
    }
    vec_free(&name);
}

static void
fold_all(const compilation *c, const char *text, size_t n)
{
    arena *a = arena_new();
    folds found = { 0 };
    VEC(const fold *) list = { 0 };
    rewrite r = { 0 };

    folds_find(c, a, &found);
    for (size_t i = 0; i < found.n; i++)
        vec_push(&list, &found.at[i]);
    if (list.n) {
        if (folds_plan(c, list.at, list.n, &r))
            apply(c, &r, text, n, false);
        rewrite_free(&r);
    }
    vec_free(&list);
    vec_free(&found);
    arena_free(a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    compilation c = { 0 };

    if (size > LONGEST || leads_elsewhere(data, size))
        return 0;
    if (fuzz_compile(&c, "fuzz.bg", data, size, STAGE_GRAPH) && c.flat) {
        take_out(&c, (const char *)data, size);
        fold_all(&c, (const char *)data, size);
    }
    fuzz_free(&c);
    return 0;
}
