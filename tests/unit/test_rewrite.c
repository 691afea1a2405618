/* test_rewrite.c - elements taken out of source texts: what goes, what moves, what stays byte for byte
 *
 * Each case is elaborated before and after, and the graphs compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "elaborate.h"
#include "rewrite.h"

struct text {
    sources *s;
    names *n;
    arena *a;
    unit_system *u;
    pool *p;
    ast_file *ast;
    flat_model *flat;
};

static struct text
read_text(const char *source)
{
    struct text t = { sources_new(), names_new(), arena_new(), units_new(), pool_new(), NULL, NULL };
    elaborate_options o = { 0 };

    t.ast = parse_file(t.s, t.n, t.a, (uint32_t)sources_add_text(t.s, "case.bg", source, strlen(source)));
    for (size_t i = 0; i < t.ast->ndecls && !o.experiment; i++)
        if (t.ast->decl[i].kind == AST_DECL_EXPERIMENT)
            o.experiment = t.ast->decl[i].experiment->name;
    if (t.ast->ok)
        t.flat = elaborate(t.s, t.n, t.a, t.u, t.p, t.ast, &o);
    if (!t.flat)
        diag_print(t.s, stderr, false, DIAG_ALL);
    assert_non_null(t.flat);
    return t;
}

static void
free_text(struct text *t)
{
    flat_free(t->flat);
    pool_free(t->p);
    units_free(t->u);
    arena_free(t->a);
    names_free(t->n);
    sources_free(t->s);
}

/* Plans to take the listed elements (separated by blanks) out. */
static void
plan(struct text *t, const char *list, rewrite *r)
{
    const char *name[16];
    size_t n = 0;

    while (*list) {
        size_t len = strcspn(list, " ");

        name[n++] = names_intern(t->n, list, len);
        list += len;
        list += strspn(list, " ");
    }
    if (!rewrite_plan(&(rewrite_request){ .f = t->flat, .file = t->ast, .name = name, .n = n }, r))
        fprintf(stderr, "%s\n", r->error);
    assert_null(r->error);
}

static void
expect(const char *source, const char *list, const char *want)
{
    struct text t = read_text(source), after;
    rewrite r;
    strbuf out = { 0 };
    char *why;

    plan(&t, list, &r);
    edits_apply(&r.edits, source, strlen(source), &out);
    assert_string_equal(out.at, want);
    after = read_text(out.at);
    if (!rewrite_check(t.flat, &r, after.flat, &why))
        fprintf(stderr, "%s\n", why);
    assert_null(why);
    free_text(&after);
    strbuf_free(&out);
    rewrite_free(&r);
    free_text(&t);
}

/* Expects that `element` stays and that the reader's text begins like `reader`. */
static void
blocked(const char *source, const char *list, const char *element, const char *reader)
{
    struct text t = read_text(source);
    rewrite r;
    bool found = false;

    plan(&t, list, &r);
    for (size_t i = 0; i < r.blocked.n; i++)
        if (!strcmp(r.blocked.at[i].element, element)) {
            found = true;
            assert_true(span_known(r.blocked.at[i].reader));
            assert_memory_equal(source + r.blocked.at[i].reader.begin, reader, strlen(reader));
        }
    assert_true(found);
    rewrite_free(&r);
    free_text(&t);
}

static bool
did(const char *source, const char *list, enum rewrite_kind kind, const char *name)
{
    struct text t = read_text(source);
    rewrite r;
    bool found = false;

    plan(&t, list, &r);
    for (size_t i = 0; i < r.item.n; i++)
        found |= r.item.at[i].kind == kind && !strcmp(r.item.at[i].name, name);
    rewrite_free(&r);
    free_text(&t);
    return found;
}

static void
one_line(void **state)
{
    (void)state;
    expect("model m {\n"
           "    1:v;\n"
           "    // the mass\n"
           "    v -> I:mass = 2;   // kg\n"
           "    v -> R:damper = 3; // goes\n"
           "\n"
           "    v -> C:spring = 1/4;\n"
           "}\n",
           "damper",
           "model m {\n"
           "    1:v;\n"
           "    // the mass\n"
           "    v -> I:mass = 2;   // kg\n"
           "\n"
           "    v -> C:spring = 1/4;\n"
           "}\n");
    /* nothing asked: nothing done */
    expect("model m { 1:v -> I:mass = 2; }\r\n", "", "model m { 1:v -> I:mass = 2; }\r\n");
}

static void
shared_lines(void **state)
{
    (void)state;
    expect("model m {\n    1:v; v -> I:mass = 2; v -> R:damper = 3; // both\n    v -> C:spring = 1/4;\n}\n", "damper",
           "model m {\n    1:v; v -> I:mass = 2; // both\n    v -> C:spring = 1/4;\n}\n");
    expect("model m {\n    1:v -> I:mass = 2;\n    v -> R:a = 3; v -> R:b = 3; // both\n    v -> C:spring = 1/4;\n}\n",
           "a b", "model m {\n    1:v -> I:mass = 2;\n    v -> C:spring = 1/4;\n}\n");
    expect("model m {\n    1:v -> I:mass = 2;\n    v -> R:a = 3; v -> C:spring = 1/4; // spring\n}\n", "a",
           "model m {\n    1:v -> I:mass = 2;\n    v -> C:spring = 1/4; // spring\n}\n");
    expect("model m { 1:v -> I:mass = 2; v -> R:a = 3; v -> C:spring = 1/4; }", "a",
           "model m { 1:v -> I:mass = 2; v -> C:spring = 1/4; }");
}

static void
declaration_moves(void **state)
{
    (void)state;
    expect("model m {\n    1:body -> I:mass = 2;\n    body -> R:damper = 3;\n    body -> C:spring = 1/4;\n}\n", "mass",
           "model m {\n    1:body -> R:damper = 3;\n    body -> C:spring = 1/4;\n}\n");
    /* to the nearest behind, not to a line that goes itself */
    expect("model m {\n    1:body -> I:mass = 2;\n    body -> R:damper = 3;\n    body -> C:spring = 1/4;\n}\n",
           "mass damper", "model m {\n    1:body -> C:spring = 1/4;\n}\n");
    /* none behind: the first before */
    expect("model m {\n    body -> C:spring = 1/4;\n    body -> R:damper = 3;\n    1:body -> I:mass = 2;\n}\n", "mass",
           "model m {\n    1:body -> C:spring = 1/4;\n    body -> R:damper = 3;\n}\n");
    assert_true(did("model m {\n    1:body -> I:mass = 2;\n    body -> R:damper = 3;\n    body -> C:spring = 1/4;\n}\n",
                    "mass", REWRITE_MOVE, "body"));
}

/* A declaration with initial values ends its statement: it stays where it is. */
static void
initial_values_stay(void **state)
{
    (void)state;
    expect("model m {\n    Se:push = 1 -> 1:shaft { f(0) = 3; }\n    shaft -> I:mass = 2;\n    shaft -> R:damper = "
           "1;\n}\n",
           "push", "model m {\n    1:shaft { f(0) = 3; }\n    shaft -> I:mass = 2;\n    shaft -> R:damper = 1;\n}\n");
}

static void
chain_pieces(void **state)
{
    (void)state;
    /* the end of a chain goes, its bond stays */
    expect(
        "model m {\n    Se:push = 1 -> 1:v -> 0:s;\n    s -> C:spring = 1;\n    1:w -> I:mass = 1;\n    s -> w -> "
        "R:damper = 2;\n}\n",
        "damper",
        "model m {\n    Se:push = 1 -> 1:v -> 0:s;\n    s -> C:spring = 1;\n    1:w -> I:mass = 1;\n    s -> w;\n}\n");
    /* a law in a block ended the statement: a semicolon takes its place */
    expect(
        "model m {\n    Se:push = 1 -> 1:v -> 0:s;\n    s -> C:spring = 1;\n    1:w -> I:mass = 1;\n    s -> w -> "
        "R:damper { e = 2*f; }\n}\n",
        "damper",
        "model m {\n    Se:push = 1 -> 1:v -> 0:s;\n    s -> C:spring = 1;\n    1:w -> I:mass = 1;\n    s -> w;\n}\n");
    /* the head of a chain goes */
    expect("model m {\n    I:rotor = 1;\n    Se:push = 1 -> 1:v -> R:r = 1;\n    v -> rotor;\n    v -> C:c = 1;\n}\n",
           "push", "model m {\n    I:rotor = 1;\n    1:v -> R:r = 1;\n    v -> rotor;\n    v -> C:c = 1;\n}\n");
    /* an element declared on a line of its own */
    expect("model m {\n    1:v -> I:mass = 1;\n    R:damper = 3;\n    v -> C:c = 1;\n    v -> damper;\n}\n", "damper",
           "model m {\n    1:v -> I:mass = 1;\n    v -> C:c = 1;\n}\n");
}

static void
dangling(void **state)
{
    (void)state;
    /* no effort: a 1-junction on a 1-junction adds none to it, and its absence says so too; through a transformer as
     * well */
    expect("model m {\n    1:body -> I:mass = 1;\n    body -> 1:arm;\n    arm -> R:damper = 2;\n}\n", "damper",
           "model m {\n    1:body -> I:mass = 1;\n}\n");
    expect("model m {\n    1:body -> I:mass = 1;\n    body -> TF:lever = 3 -> 1:arm;\n    arm -> R:damper = 2;\n}\n",
           "damper", "model m {\n    1:body -> I:mass = 1;\n}\n");
    /* on a 0-junction it says that the effort there is zero. Without it the tire would be rigid between ground and body
     */
    expect("model m {\n    1:body -> I:mass = 1;\n    0:tire -> body;\n    Sf:ground = 1 -> tire;\n    tire -> "
           "1:travel;\n    travel -> R:damper = 2;\n}\n",
           "damper",
           "model m {\n    1:body -> I:mass = 1;\n    0:tire -> body;\n    Sf:ground = 1 -> tire;\n    tire -> "
           "1:travel;\n}\n");
    /* a motor without a load runs free, and so takes no current: through a gyrator, the other way round */
    expect("model m {\n    Se:u = 1 -> 1:armature;\n    armature -> R:Ra = 1;\n    armature -> GY:emf = 2 -> "
           "1:shaft;\n    shaft -> I:J = 1;\n}\n",
           "J",
           "model m {\n    Se:u = 1 -> 1:armature;\n    armature -> R:Ra = 1;\n    armature -> GY:emf = 2 -> "
           "1:shaft;\n}\n");
    expect("model m {\n    1:rotor -> I:J = 1;\n    rotor -> GY:pump = 2 -> 0:line;\n    line -> C:tank = 1;\n}\n",
           "tank", "model m {\n    1:rotor -> I:J = 1;\n}\n");
    /* a strut that passes no force on is no strut: its bonds to the bodies say it by their absence */
    expect("model m {\n    1:body -> I:m1 = 1;\n    1:wheel -> I:m2 = 1;\n    wheel -> 0:strut -> body;\n    strut -> "
           "1:travel;\n"
           "    travel -> C:spring = 1;\n    travel -> R:damper = 2;\n}\n",
           "spring damper", "model m {\n    1:body -> I:m1 = 1;\n    1:wheel -> I:m2 = 1;\n}\n");
    expect("model m {\n    1:body -> I:m1 = 1;\n    1:wheel -> I:m2 = 1;\n    wheel -> 0:strut -> TF:lever = 2 -> "
           "body;\n    strut -> 1:travel;\n"
           "    travel -> C:spring = 1;\n}\n",
           "spring", "model m {\n    1:body -> I:m1 = 1;\n    1:wheel -> I:m2 = 1;\n}\n");
    /* the same the other way round: a branch without current between two nodes of a circuit */
    expect("model m {\n    0:a -> C:c1 = 1;\n    0:b -> C:c2 = 1;\n    a -> 1:branch -> b;\n    branch -> 0:coil;\n    "
           "coil -> I:L = 1;\n    coil -> R:r = 2;\n}\n",
           "L r", "model m {\n    0:a -> C:c1 = 1;\n    0:b -> C:c2 = 1;\n}\n");
    /* where the strut was at rest before, the last element that kept it takes it along */
    expect("model m {\n    1:body -> I:m1 = 1;\n    1:wheel -> I:m2 = 1;\n    wheel -> 0:strut -> body;\n    strut -> "
           "1:travel;\n    strut -> R:leak = 2;\n}\n",
           "leak", "model m {\n    1:body -> I:m1 = 1;\n    1:wheel -> I:m2 = 1;\n}\n");
    /* what is read stays as it is: at rest */
    expect("model m {\n    1:body -> I:m1 = 1;\n    1:wheel -> I:m2 = 1;\n    wheel -> 0:strut -> body;\n    strut -> "
           "1:travel;\n"
           "    travel -> C:spring = 1;\n    output stroke = integral(travel.f);\n}\n",
           "spring",
           "model m {\n    1:body -> I:m1 = 1;\n    1:wheel -> I:m2 = 1;\n    wheel -> 0:strut -> body;\n    strut -> "
           "1:travel;\n"
           "    output stroke = integral(travel.f);\n}\n");
    expect("model m {\n    1:body -> I:mass = 1;\n    body -> TF:lever = 3 -> 1:arm;\n    arm -> R:damper = 2;\n    "
           "output turn = integral(arm.f);\n}\n",
           "damper",
           "model m {\n    1:body -> I:mass = 1;\n    body -> TF:lever = 3 -> 1:arm;\n    output turn = "
           "integral(arm.f);\n}\n");
    /* a junction that passes a bond through stays */
    expect("model m {\n    1:a -> I:ma = 1;\n    a -> 0:mid -> 1:b;\n    mid -> C:c = 1;\n    b -> I:mb = 1;\n}\n", "c",
           "model m {\n    1:a -> I:ma = 1;\n    a -> 0:mid -> 1:b;\n    b -> I:mb = 1;\n}\n");
}

static void
values(void **state)
{
    (void)state;
    expect("model m {\n"
           "    parameter k = 2 [N/m];\n"
           "    parameter b = 3 [N.s/m];  // damping\n"
           "    parameter b_0 [N.s/m] = 2*b;\n"
           "    parameter spare = 1;\n"
           "    1:v -> I:mass = 1 [kg];\n"
           "    v -> C:spring = 1/k;\n"
           "    v -> R:damper = b_0;\n"
           "    output x [m] = integral(v.f);\n"
           "}\n"
           "experiment e of m {\n    stop = 1 [s];\n    let b = 4 [N.s/m];   // gone with b\n    let k = 3 [N/m];\n}\n",
           "damper",
           "model m {\n"
           "    parameter k = 2 [N/m];\n"
           "    parameter spare = 1;\n"
           "    1:v -> I:mass = 1 [kg];\n"
           "    v -> C:spring = 1/k;\n"
           "    output x [m] = integral(v.f);\n"
           "}\n"
           "experiment e of m {\n    stop = 1 [s];\n    let k = 3 [N/m];\n}\n");
    /* a signal that only what goes reads goes, and what it reads is free to go */
    expect("model m {\n    1:v -> I:mass = 1;\n    1:w -> I:other = 1;\n    v -> 0:s -> w;\n    s -> C:c = 1;\n    w "
           "-> R:r = 1;\n"
           "    signal drive = r.e*2;\n    MSe:push = drive -> v;\n}\n",
           "push r",
           "model m {\n    1:v -> I:mass = 1;\n    1:w -> I:other = 1;\n    v -> 0:s -> w;\n    s -> C:c = 1;\n}\n");
}

static void
initial_values_are_said(void **state)
{
    const char *source =
        "model m {\n    1:v -> I:mass = 1;\n    v -> R:r = 1;\n    v -> C:spring = 1 { q(0) = 1; }\n}\n"
        "experiment e of m {\n    stop = 1;\n    let spring.q(0) = 2;\n}\n";

    (void)state;
    assert_true(did(source, "spring", REWRITE_INITIAL, "spring"));
    assert_true(did(source, "spring", REWRITE_LET, "spring"));
    expect(source, "spring",
           "model m {\n    1:v -> I:mass = 1;\n    v -> R:r = 1;\n}\nexperiment e of m {\n    stop = 1;\n}\n");
}

static void
readers_block(void **state)
{
    (void)state;
    blocked("model m {\n    1:v -> I:mass = 1;\n    v -> R:damper = 2;\n    output force = damper.e;\n}\n", "damper",
            "damper", "damper.e;");
    blocked("model m {\n    1:v -> I:mass = 1;\n    v -> R:damper = 2;\n    v -> C:c = 1;\n}\nexperiment e of m { stop "
            "= 1; record damper.e; }\n",
            "damper", "damper", "damper.e;");
    blocked("model m {\n    1:v -> I:mass = 1;\n    v -> R:damper = 2;\n    v -> C:c = 1;\n}\nexperiment e of m { stop "
            "= 1; keep damper; }\n",
            "damper", "damper", "damper;");
    /* through a signal, and through an element that therefore stays */
    blocked("model m {\n    1:v -> I:mass = 1;\n    v -> R:a = 2;\n    v -> R:b { e = a.e*f; }\n    signal s = b.e;\n  "
            "  output y = s;\n}\n",
            "a b", "a", "a.e*f");
    /* a junction that is read and would be left without a bond holds one of its elements, the more important */
    blocked("model m {\n    1:body -> I:mass = 1;\n    Se:push = 1 -> 1:travel;\n    travel -> R:r = 2;\n    travel -> "
            "C:c = 2;\n"
            "    output x = integral(travel.f);\n}\n",
            "r c push", "r", "travel.f");
    /* joined to a source directly */
    blocked("model m {\n    Se:u = 1 -> R:load = 2;\n    1:v -> I:m = 1;\n    v -> R:r = 1;\n}\n", "load", "load",
            "Se:u");
}

/* ---- models at random: whatever is taken out, the new text elaborates to the graph it must have ---- */

static uint32_t seed;

static uint32_t
some(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

enum { MOST = 40 };
struct bond {
    int from, to;
    bool used;
};
struct part {
    char name[16], head[16], law[24];
    bool junction, declared;
};

/* The name at one of its places: with the declaration the first time. */
static void
put_part(strbuf *b, struct part *p)
{
    if (p->declared) {
        strbuf_puts(b, p->name);
    } else {
        p->declared = true;
        strbuf_printf(b, "%s%s%s", p->head, p->name, p->law);
    }
}

/* A tree of junctions with elements at them, some two-ports between; bonds gathered into chains as they come; several
 * statements a line, comments, parameters, signals that read parts. Returns how many elements, named e0 ... */
static int
random_model(strbuf *b)
{
    static const char *const types[] = { "R", "C", "I", "Se", "Sf" };
    struct part part[2 * MOST];
    struct bond bond[2 * MOST];
    int nj = 2 + (int)some(8), ne = 0, n = 0, nb = 0;

    for (int i = 0; i < nj; i++, n++) {
        int other = i ? (int)some((uint32_t)i) : 0;

        part[n] = (struct part){ .junction = true };
        snprintf(part[n].name, sizeof part[n].name, "j%d", i);
        snprintf(part[n].head, sizeof part[n].head, "%d:", (int)some(2));
        if (i)
            bond[nb++] = some(2) ? (struct bond){ other, i, false } : (struct bond){ i, other, false };
    }
    /* two-ports in the middle of some bonds */
    for (int k = 0, end = nb; k < end; k++) {
        if (some(3))
            continue;
        part[n] = (struct part){ 0 };
        snprintf(part[n].name, sizeof part[n].name, "t%d", k);
        snprintf(part[n].head, sizeof part[n].head, "%s:", some(2) ? "TF" : "GY");
        snprintf(part[n].law, sizeof part[n].law, " = 2");
        bond[nb++] = (struct bond){ n, bond[k].to, false };
        bond[k].to = n++;
    }
    for (int i = 0; i < nj; i++)
        for (int k = (int)some(4); k > 0 && ne < 16; k--, ne++, n++) {
            const char *type = types[some(5)];

            part[n] = (struct part){ 0 };
            snprintf(part[n].name, sizeof part[n].name, "e%d", ne);
            snprintf(part[n].head, sizeof part[n].head, "%s:", type);
            snprintf(part[n].law, sizeof part[n].law, some(2) ? " = p%d" : " = 1", ne);
            bond[nb++] = type[0] == 'S' && some(2) ? (struct bond){ n, i, false } : (struct bond){ i, n, false };
        }
    strbuf_puts(b, "model m {\n");
    for (int i = 0; i < ne; i++)
        strbuf_printf(b, "    parameter p%d = %d;%s", i, i + 1, some(4) ? "\n" : some(2) ? "  // number\n" : " ");
    strbuf_puts(b, "\n");
    for (int k = 0; k < nb; k++) {
        int from = (int)some((uint32_t)nb), at;

        while (bond[from].used)
            from = (from + 1) % nb;
        if (!some(4)) {
            if (!part[bond[from].from].declared)
                put_part(b, &part[bond[from].from]), strbuf_puts(b, ";\n");
        }
        bond[from].used = true;
        strbuf_puts(b, some(3) ? "    " : "\t");
        put_part(b, &part[bond[from].from]);
        strbuf_puts(b, some(5) ? " -> " : "->");
        put_part(b, &part[at = bond[from].to]);
        for (int i = 0; i < nb && some(3); i++)
            if (!bond[i].used && bond[i].from == at) {
                bond[i].used = true;
                k++;
                strbuf_puts(b, some(5) ? " -> " : "\n        -> ");
                put_part(b, &part[at = bond[i].to]);
                i = -1;
            }
        strbuf_puts(b, some(5) ? ";\n" : some(2) ? ";  // so\n" : "; ");
    }
    strbuf_puts(b, "\n");
    for (int i = 0; i < nj && ne; i++)
        if (!some(4))
            strbuf_printf(b, "    %s s%d = e%d.e + %d;\n", some(2) ? "signal" : "output", i, (int)some((uint32_t)ne),
                          i);
    strbuf_puts(b, "}\n");
    return ne;
}

#ifdef __SANITIZE_ADDRESS__
enum { MODELS = 60 };
#else
enum { MODELS = 200 };
#endif

static void
random_models(void **state)
{
    size_t nedits = 0, nblocked = 0;

    (void)state;
    for (uint32_t round = 0; round < MODELS; round++) {
        strbuf source = { 0 }, out = { 0 }, list = { 0 };
        struct text t, after;
        rewrite r;
        char *why;
        int ne;

        seed = round;
        ne = random_model(&source);
        for (int i = 0; i < ne; i++)
            if (!some(2))
                strbuf_printf(&list, "%se%d", list.n ? " " : "", i);
        t = read_text(source.at);
        plan(&t, list.at ? list.at : "", &r);
        edits_apply(&r.edits, source.at, source.n, &out);
        after = read_text(out.at);
        if (!rewrite_check(t.flat, &r, after.flat, &why))
            fprintf(stderr, "round %u: %s\nout: %s\n%s---\n%s", round, why, list.at ? list.at : "", source.at, out.at);
        assert_null(why);
        nedits += r.edits.list.n;
        nblocked += r.blocked.n;
        free_text(&after);
        rewrite_free(&r);
        free_text(&t);
        strbuf_free(&source);
        strbuf_free(&out);
        strbuf_free(&list);
    }
    assert_true(nedits > 2 * MODELS && nblocked > MODELS / 2); /* the models do have what this is about */
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(one_line),
                                        cmocka_unit_test(shared_lines),
                                        cmocka_unit_test(declaration_moves),
                                        cmocka_unit_test(initial_values_stay),
                                        cmocka_unit_test(chain_pieces),
                                        cmocka_unit_test(dangling),
                                        cmocka_unit_test(values),
                                        cmocka_unit_test(initial_values_are_said),
                                        cmocka_unit_test(readers_block),
                                        cmocka_unit_test(random_models) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
