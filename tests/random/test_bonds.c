/* test_bonds.c - every bond and two-port of random graphs, dropped, made one-way and folded
 *
 * usage    test_bonds [first seed [how many]]
 * checks   for each bond between junctions and each two-port that says it may: the plan's text can be read, and its
 *          graph is what was meant. One-way bonds are closed again: beside the source that acts one way, the text is
 *          given another for the way back, written here from the definitions of bonds and two-ports. Both together say
 *          what the bond said, so that the rates must be the same numbers. Each fold alone must give the same rates
 *          too, where the states are the same.
 * allows   closed texts that do not compile: where both ways are given by signals, causality has less to go by
 */
#include "generate.h"
#include "bonds.h"
#include "fold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct tally {
    size_t graphs, bonds, two_ports, texts, closed, same, folds, folded_same, failures;
};

static void
fail(struct tally *t, const rgraph *g, const char *name, const char *text, const char *what)
{
    if (t->failures++ < 5)
        printf("seed %llu, %s: %s\n%s\n--- became\n%s\n", (unsigned long long)g->seed, name, what, g->text.at,
               text ? text : "");
}

/* The statement that closes a one-way bond, by what the source takes and the bond gives at the other end. */
static char *
way_back(const compilation *c, const bond_candidate *x, enum bond_way way)
{
    const flat_model *f = c->flat;
    const rewrite_bond *b = &x->change[way];
    bool forward = way == BOND_FORWARD, flow_shared, gyrates = false;
    const flat_element *e = x->element == UINT32_MAX ? NULL : &f->element.at[x->element];
    uint32_t at = !e ? (forward ? f->bond.at[x->bond].from : f->bond.at[x->bond].to)
                     : f->port.at[e->port0 + (forward ? 0 : 1)].junction;
    char *value, *s, give;

    flow_shared = f->junction.at[at].type == 1;
    give = flow_shared ? 'e' : 'f'; /* what the balance of that junction lacks */
    if (e) {
        const char *text = source_text(c->sources, 0) + e->node->own->linear->at.begin;
        int n = (int)(e->node->own->linear->at.end - e->node->own->linear->at.begin);
        char take = (gyrates = e->type == EL_GY) ? (give == 'e' ? 'f' : 'e') : give;
        /* e_in = n*e_out, f_out = n*f_in; e_in = r*f_out, e_out = r*f_in */
        bool times = gyrates ? give == 'e' : (give == 'e') == forward;

        value = times ? bg_format("(%.*s)*%s.%c", n, text, b->source, take)
                      : bg_format("%s.%c/(%.*s)", b->source, take, n, text);
    } else {
        value = bg_format("%s.%c", b->source, give);
    }
    s = forward ? bg_format("    %s -> MS%c:way_back = %s;\n", f->junction.at[at].name, give, value)
                : bg_format("    MS%c:way_back = %s -> %s;\n", give, value, f->junction.at[at].name);
    free(value);
    return s;
}

/* Rates at a point that the seed draws, for the states of a in b. 0: the same, 1: not to be told, 2: they differ. */
static int
compare_rates(compilation *a, compilation *b, uint64_t seed)
{
    size_t n = model_nstates(a->model);
    double *xa = bg_calloc(n + 1, sizeof *xa), *xb = bg_calloc(n + 1, sizeof *xb), *fa = bg_calloc(n + 1, sizeof *fa),
           *fb = bg_calloc(n + 1, sizeof *fb);
    uint32_t *of = bg_calloc(n + 1, sizeof *of);
    double worst = 0, scale = 1;
    int result = n == model_nstates(b->model) && model_nmodes(a->model) == 0 && !model_has_blocks(a->model) &&
                         !model_has_blocks(b->model)
                     ? 0
                     : 1;

    for (size_t i = 0; i < n && !result; i++) {
        of[i] = UINT32_MAX;
        for (size_t k = 0; k < n; k++)
            if (!strcmp(model_state(a->model, i).name, model_state(b->model, k).name))
                of[i] = (uint32_t)k;
        if (of[i] == UINT32_MAX)
            result = 1;
        else
            xa[i] = xb[of[i]] = rg_uniform(&seed, -1, 1);
    }
    if (!result && (model_rhs(a->model, 0.3, xa, fa) || model_rhs(b->model, 0.3, xb, fb)))
        result = 1;
    for (size_t i = 0; i < n && !result; i++)
        scale = fmax(scale, fabs(fa[i]));
    for (size_t i = 0; i < n && !result; i++)
        worst = fmax(worst, fabs(fa[i] - fb[of[i]]) / scale);
    free(xa);
    free(xb);
    free(fa);
    free(fb);
    free(of);
    return result ? result : worst <= 1e-7 ? 0 : 2;
}

static void
check_closed(struct tally *t, const rgraph *g, compilation *c, const bond_candidate *x, enum bond_way way,
             const strbuf *text)
{
    compilation closed = { 0 };
    strbuf b = { 0 };
    char *back = way_back(c, x, way);
    size_t at = c->flat->ast->at.end - 1;

    /* the model is the last of the text, and what was put into it stands before its end */
    at = text->n - (source_length(c->sources, 0) - at);
    strbuf_add(&b, text->at, at);
    strbuf_puts(&b, back);
    strbuf_puts(&b, text->at + at);
    t->closed++;
    if (!compile_text(&closed, "closed.bg", b.at, b.n, STAGE_MODEL, NULL)) {
        for (size_t i = 0; i < diag_count(closed.sources); i++) {
            const diagnostic *d = diag_at(closed.sources, i);

            if (d->severity == SEV_ERROR && strncmp(d->code, "causality-", 10) && strncmp(d->code, "derivative-", 11) &&
                strncmp(d->code, "block-", 6) && strncmp(d->code, "equation", 8)) {
                fail(t, g, x->name, b.at, d->message);
                break;
            }
        }
    } else {
        int same = compare_rates(c, &closed, g->seed);

        t->same += same == 0;
        if (same == 2)
            fail(t, g, x->name, b.at, "closed again, the rates are others");
    }
    compile_free(&closed);
    strbuf_free(&b);
    free(back);
}

static void
check_way(struct tally *t, const rgraph *g, compilation *c, const flat_model *before, const bond_candidate *x,
          enum bond_way way)
{
    bool by_name = way == BOND_DROP && x->element != UINT32_MAX;
    compilation after = { 0 };
    rewrite r;
    strbuf text = { 0 };
    char *why = NULL;

    if (!rewrite_plan(&(rewrite_request){ .f = c->flat,
                                          .file = c->ast,
                                          .name = &x->name,
                                          .n = by_name,
                                          .bond = &x->change[way],
                                          .nbonds = !by_name },
                      &r)) {
        fail(t, g, x->name, NULL, r.error);
    } else if (r.edits.list.n) {
        edits_apply(&r.edits, g->text.at, g->text.n, &text);
        if (!text.at)
            strbuf_puts(&text, "");
        t->texts++;
        if (!compile_text(&after, "random.bg", text.at, text.n, STAGE_GRAPH, NULL))
            fail(t, g, x->name, text.at, diag_first_error(after.sources));
        else if (!rewrite_check(before, &r, after.flat, &why))
            fail(t, g, x->name, text.at, why);
        else if (way != BOND_DROP)
            check_closed(t, g, c, x, way, &text);
    }
    compile_free(&after);
    rewrite_free(&r);
    strbuf_free(&text);
    free(why);
}

static void
check_fold(struct tally *t, const rgraph *g, compilation *c, compilation *before, const fold *x)
{
    compilation after = { 0 }, model = { 0 };
    rewrite r;
    strbuf text = { 0 };
    char *why = NULL;

    t->folds++;
    if (!folds_plan(before, &x, 1, &r)) {
        fail(t, g, x->name, NULL, r.error);
    } else {
        edits_apply(&r.edits, g->text.at, g->text.n, &text);
        if (!text.at)
            strbuf_puts(&text, "");
        if (!compile_text(&after, "random.bg", text.at, text.n, STAGE_GRAPH, NULL)) {
            /* a junction that was bonded to another twice */
            if (!strstr(diag_first_error(after.sources), "to itself"))
                fail(t, g, x->name, text.at, diag_first_error(after.sources));
        } else if (!rewrite_check(before->flat, &r, after.flat, &why)) {
            fail(t, g, x->name, text.at, why);
        } else if (!compile_text(&model, "random.bg", text.at, text.n, STAGE_MODEL, NULL)) {
            fail(t, g, x->name, text.at, diag_first_error(model.sources));
        } else {
            int same = compare_rates(c, &model, g->seed);

            t->folded_same += same == 0;
            if (same == 2)
                fail(t, g, x->name, text.at, "folded, the rates are others");
        }
    }
    compile_free(&after);
    compile_free(&model);
    rewrite_free(&r);
    strbuf_free(&text);
    free(why);
}

static void
check_graph(struct tally *t, uint64_t seed)
{
    rgraph *g = rg_generate(seed, 0);
    compilation c = { 0 }, before = { 0 }; /* later stages change laws */
    arena *a = arena_new();
    bond_candidates list = { 0 };
    folds fit = { 0 };

    if (compile_text(&c, "random.bg", g->text.at, g->text.n, STAGE_MODEL, NULL) &&
        compile_text(&before, "random.bg", g->text.at, g->text.n, STAGE_GRAPH, NULL)) {
        t->graphs++;
        bonds_find(&c, NULL, a, &list);
        for (size_t i = 0; i < list.n; i++) {
            const bond_candidate *x = &list.at[i];

            if (x->element != UINT32_MAX && !is_two_port(&c.flat->element.at[x->element]))
                continue;
            t->bonds += x->element == UINT32_MAX;
            t->two_ports += x->element != UINT32_MAX;
            for (int way = 0; way < BOND_WAYS; way++)
                if (x->may[way])
                    check_way(t, g, &c, before.flat, x, (enum bond_way)way);
        }
        folds_find(&before, a, &fit);
        for (size_t i = 0; i < fit.n; i++)
            check_fold(t, g, &c, &before, &fit.at[i]);
    }
    vec_free(&list);
    vec_free(&fit);
    arena_free(a);
    compile_free(&before);
    compile_free(&c);
    rg_free(g);
}

int
main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
    struct tally t = { 0 };

    for (uint64_t seed = first; seed < first + count; seed++)
        check_graph(&t, seed);
    printf("%zu graphs with %zu bonds between junctions and %zu two-ports: %zu texts, %zu of them closed again, %zu "
           "with the same rates; %zu folds, %zu with the same rates; %zu failures\n",
           t.graphs, t.bonds, t.two_ports, t.texts, t.closed, t.same, t.folds, t.folded_same, t.failures);
    return t.failures || !t.same ? 1 : 0;
}
