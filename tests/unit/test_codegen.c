/* test_codegen.c - machine code against the evaluator, bit for bit, in both shapes; times of compiling and running */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "codegen.h"

enum { NSLOT = 6, NDATA = 400, MEMBERS = 37 };

static uint64_t seed = 7;

static uint32_t
rnd(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % n);
}

static double
rnd_real(void)
{
    return (rnd(2000001) - 1e6) / 4e5;
}

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t
add_table(pool *p)
{
    static const double x[] = { -2, -1, 0.5, 2 }, y[] = { 1, -1, 0.25, 3 };
    ex_table t = { .name = "\"curve.csv\", 2", .n = 4, .x = malloc(sizeof x), .y = malloc(sizeof y) };

    memcpy(t.x, x, sizeof x);
    memcpy(t.y, y, sizeof y);
    return pool_add_table(p, t);
}

static node
random_template(pool *p, uint32_t table, int operations)
{
    static const enum ex_op some[] = { EX_ADD, EX_SUB, EX_MUL, EX_DIV, EX_NEG };
    node have[64];
    int n = 0;

    for (uint32_t k = 0; k < NSLOT; k++)
        have[n++] = ex_slot(p, k);
    have[n++] = ex_const(p, 0.7);
    have[n++] = ex_const(p, (double)rnd(12) - 4);
    for (int i = 0; i < operations; i++, n++) {
        enum ex_op op = rnd(3) ? some[rnd(5)] : (enum ex_op)(EX_ADD + rnd(EX_NOPS - EX_ADD));
        node a = have[rnd((uint32_t)n)], b = have[n - 1 - (int)rnd(4)], c = have[rnd((uint32_t)n)];

        if (op >= EX_TABLE)
            have[n] = ex_table_node(p, op, table, a, rnd(2) ? NODE_NONE : b);
        else if (op == EX_POW && rnd(4))
            have[n] = ex_make(p, op, a, ex_const(p, (double)rnd(9) - 4), NODE_NONE);
        else
            have[n] = ex_make(p, op, a, b, c);
    }
    return have[n - 1];
}

/* The same bits, or both no number */
static bool
same(double x, double y)
{
    return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0;
}

struct data {
    double x[NDATA], w[NDATA], p[NDATA], m[NDATA], o[NDATA];
    int32_t index[NSLOT][MEMBERS];
};

static void
fill(struct data *d)
{
    for (int i = 0; i < NDATA; i++) {
        d->x[i] = rnd_real();
        d->w[i] = rnd(5) ? rnd_real() : 0;
        d->p[i] = rnd_real();
        d->m[i] = rnd(2);
        d->o[i] = 0;
    }
    for (int k = 0; k < NSLOT; k++)
        for (int i = 0; i < MEMBERS; i++)
            d->index[k][i] = (int32_t)rnd(NDATA);
}

static double
read_space(const struct data *d, double t, enum space s, int64_t at)
{
    return s == SP_TIME ? t
           : s == SP_X  ? d->x[at]
           : s == SP_W  ? d->w[at]
           : s == SP_P  ? d->p[at]
           : s == SP_M  ? d->m[at]
                        : d->o[at];
}

static void
finish(gen *g)
{
    char *why = NULL;

    if (!gen_finish(g, &why))
        fail_msg("%s", why);
}

static void
kernels_equal_the_evaluator(void **state)
{
    enum { N = 60 };
    struct data *d = malloc(sizeof *d);
    size_t finite = 0;

    (void)state;
    for (int round = 0; round < 6; round++) {
        pool *p = pool_new();
        uint32_t table = add_table(p), handle[N];
        gen *g = gen_new(p, NULL);
        node root[N];
        struct gen_slot slot[N][NSLOT];

        for (int j = 0; j < N; j++) {
            root[j] = random_template(p, table, 3 + (int)rnd(25));
            for (int k = 0; k < NSLOT; k++) {
                static const int32_t stride[] = { 1, 1, 1, 0, 0, 2, 3, -1 };

                slot[j][k] = (struct gen_slot){ (enum space)rnd(SP_OUT), rnd(3) == 0, stride[rnd(8)] };
            }
            handle[j] = gen_add_kernel(g, root[j], slot[j], NSLOT, round % 2);
            if (j == N / 2)
                finish(g); /* two batches share one generator */
        }
        finish(g);
        for (int j = 0; j < N; j++) {
            int64_t base[NSLOT], begin = rnd(4), end = MEMBERS - rnd(4);
            const int32_t *tables[NSLOT];
            double t = rnd_real();

            fill(d);
            for (int k = 0; k < NSLOT; k++) {
                base[k] = slot[j][k].stride < 0                  ? 100
                          : slot[j][k].stride > 0 && rnd(3) == 0 ? -slot[j][k].stride * begin
                                                                 : rnd(100);
                tables[k] = d->index[k];
            }
            gen_kernel_at(g, handle[j])(t, d->x, d->w, d->p, d->m, d->o, base, tables, 5, begin, end);
            for (int64_t i = 0; i < MEMBERS; i++) {
                double v[NSLOT], want;

                if (i < begin || i >= end) {
                    assert_true(d->o[5 + i] == 0);
                    continue;
                }
                for (int k = 0; k < NSLOT; k++)
                    v[k] = read_space(d, t, slot[j][k].space,
                                      slot[j][k].table ? d->index[k][i] : base[k] + slot[j][k].stride * i);
                want = ex_eval(p, root[j], v);
                finite += isfinite(want) && want != 0;
                if (!same(d->o[5 + i], want))
                    fail_msg("round %d, kernel %d, member %d: %.17g, evaluated %.17g", round, j, (int)i, d->o[5 + i],
                             want);
            }
            gen_kernel_at(g, handle[j])(t, d->x, d->w, d->p, d->m, NULL, base, tables, 5, 3, 3);
        }
        gen_free(g);
        pool_free(p);
    }
    assert_true(finite > 2000);
    free(d);
}

static void
chunks_equal_the_evaluator(void **state)
{
    enum { N = 150 };
    struct data *d = malloc(sizeof *d), *e = malloc(sizeof *e);

    (void)state;
    for (int round = 0; round < 12; round++) {
        pool *p = pool_new();
        uint32_t table = add_table(p), handle;
        gen *g = gen_new(p, NULL);
        struct gen_assign a[N];
        struct gen_ref ref[N][NSLOT];
        double t = rnd_real();
        char *ir;

        for (int j = 0; j < N; j++) {
            for (int k = 0; k < NSLOT; k++)
                ref[j][k] = (struct gen_ref){ (enum space)rnd(SP_OUT), rnd(rnd(2) ? 30 : NDATA) };
            a[j] = (struct gen_assign){ random_template(p, table, 1 + (int)rnd(14)),
                                        ref[j],
                                        { rnd(3) ? SP_W : SP_OUT, rnd(rnd(2) ? 30 : NDATA) } };
        }
        handle = gen_add_chunk(g, a, round % 3 ? N : 5, round % 2);
        ir = gen_print_ir(g);
        assert_non_null(strstr(ir, "define"));
        free(ir);
        finish(g);
        fill(d);
        *e = *d;
        gen_chunk_at(g, handle)(t, d->x, d->w, d->p, d->m, d->o);
        for (int j = 0; j < (round % 3 ? N : 5); j++) {
            double v[NSLOT];

            for (int k = 0; k < NSLOT; k++)
                v[k] = read_space(e, t, ref[j][k].space, ref[j][k].index);
            (a[j].to.space == SP_W ? e->w : e->o)[a[j].to.index] = ex_eval(p, a[j].root, v);
        }
        for (int i = 0; i < NDATA; i++)
            if (!same(d->w[i], e->w[i]) || !same(d->o[i], e->o[i]))
                fail_msg("round %d, entry %d: w %.17g, o %.17g, evaluated %.17g, %.17g", round, i, d->w[i], d->o[i],
                         e->w[i], e->o[i]);
        gen_free(g);
        pool_free(p);
    }
    free(d);
    free(e);
}

/* The places of a chunk other than those it was made with: place i of a space is place (7 i) mod NDATA of it there. */
static struct gen_ref
moved(struct gen_ref r)
{
    return (struct gen_ref){ r.space, r.index * 7 % NDATA };
}

/* Chunks that are told their places: one function for two chunks, and in a store one for both generators, over pools
 * that number nodes otherwise. */
static void
located_chunks_are_found_again(void **state)
{
    enum { N = 40 };
    struct data *d = malloc(sizeof *d), *e = malloc(sizeof *e);
    code_store *kept = code_store_new();

    (void)state;
    for (int round = 0; round < 8; round++) {
        gen_located *first = NULL;
        uint64_t begin = seed;
        size_t before = code_store_count(kept);

        for (int again = 0; again < 2; again++) {
            pool *p = pool_new();
            uint32_t table = add_table(p), handle[2];
            gen *g = gen_new(p, kept);
            struct gen_assign a[N], b[N];
            struct gen_ref ref[N][NSLOT], other[N][NSLOT];
            int32_t at[2][N * (NSLOT + 1)];
            bool tables = round % 4 == 3;
            double t = 0.25;

            for (int k = 0; k < again * 100; k++)
                ex_add(p, ex_slot(p, 5), ex_const(p, 1000 + k)); /* other numbers for all that follows */
            seed = begin;
            for (int j = 0; j < N; j++) {
                for (int k = 0; k < NSLOT; k++) {
                    ref[j][k] = (struct gen_ref){ (enum space)rnd(SP_OUT), rnd(NDATA) };
                    other[j][k] = moved(ref[j][k]);
                }
                a[j] = (struct gen_assign){ random_template(p, table, 1 + (int)rnd(9)),
                                            ref[j],
                                            { rnd(3) ? SP_W : SP_OUT, rnd(NDATA) } };
                if (!tables)
                    a[j].root = ex_add(p, ex_mul(p, ex_slot(p, 0), ex_const(p, j)),
                                       ex_make(p, EX_SIN, ex_slot(p, (uint32_t)j % NSLOT), NODE_NONE, NODE_NONE));
                b[j] = (struct gen_assign){ a[j].root, other[j], moved(a[j].to) };
            }
            handle[0] = gen_add_located(g, a, N, round % 2, at[0]);
            handle[1] = gen_add_located(g, b, N, round % 2, at[1]);
            assert_int_equal(handle[0], handle[1]);
            finish(g);
            if (again && !tables)
                assert_true(gen_located_at(g, handle[0]) == first);
            first = gen_located_at(g, handle[0]);
            for (int which = 0; which < 2; which++) {
                fill(d);
                *e = *d;
                first(t, d->x, d->w, d->p, d->m, d->o, at[which]);
                for (int j = 0; j < N; j++) {
                    const struct gen_assign *x = which ? &b[j] : &a[j];
                    double v[NSLOT];

                    for (int k = 0; k < NSLOT; k++)
                        v[k] = read_space(e, t, x->slot[k].space, x->slot[k].index);
                    (x->to.space == SP_W ? e->w : e->o)[x->to.index] = ex_eval(p, x->root, v);
                }
                for (int i = 0; i < NDATA; i++)
                    if (!same(d->w[i], e->w[i]) || !same(d->o[i], e->o[i]))
                        fail_msg("round %d, entry %d: w %.17g, o %.17g, evaluated %.17g, %.17g", round, i, d->w[i],
                                 d->o[i], e->w[i], e->o[i]);
            }
            gen_free(g);
            pool_free(p);
            if (!tables)
                assert_int_equal(code_store_count(kept), before + 1);
        }
    }
    code_store_free(kept);
    free(d);
    free(e);
}

/* The same law in models that number things otherwise; with another constant, stride or table it is another. */
static void
kernels_are_found_again(void **state)
{
    code_store *kept = code_store_new();
    gen_kernel *first = NULL;

    (void)state;
    for (int again = 0; again < 3; again++) {
        const struct gen_slot plain[] = { { SP_X, false, 1 }, { SP_W, true, 0 }, { SP_P, false, 1 } };
        const struct gen_slot strides[] = { { SP_X, false, 2 }, { SP_W, true, 0 }, { SP_P, false, 1 } };
        pool *p = pool_new();
        gen *g = gen_new(p, kept);
        uint32_t table = add_table(p), h[5];
        node law;

        for (int k = 0; k < again * 5; k++)
            ex_add(p, ex_slot(p, 2), ex_const(p, k + 0.5)); /* other numbers, in another order */
        law = ex_mul(p, ex_slot(p, 2),
                     ex_sub(p, ex_slot(p, 0), ex_make(p, EX_SIN, ex_slot(p, 1), NODE_NONE, NODE_NONE)));
        h[0] = gen_add_kernel(g, law, plain, 3, false);
        h[1] = gen_add_kernel(g, ex_add(p, law, ex_const(p, 2)), plain, 3, false);
        h[2] = gen_add_kernel(g, ex_add(p, law, ex_const(p, 3)), plain, 3, false);
        h[3] = gen_add_kernel(g, law, strides, 3, false);
        h[4] = gen_add_kernel(g, ex_table_node(p, EX_TABLE, table, law, NODE_NONE), plain, 3, false);
        assert_int_equal(gen_add_kernel(g, law, plain, 3, false), h[0]);
        assert_int_not_equal(gen_add_kernel(g, law, plain, 3, true), h[0]);
        finish(g);
        for (int i = 0; i < 5; i++)
            for (int k = 0; k < i; k++)
                assert_true(gen_kernel_at(g, h[i]) != gen_kernel_at(g, h[k]));
        if (again)
            assert_true(gen_kernel_at(g, h[0]) == first);
        first = gen_kernel_at(g, h[0]);
        gen_free(g);
        pool_free(p);
        assert_int_equal(code_store_count(kept), 5); /* not the one that reads a table */
    }
    code_store_free(kept);
}

/* Compiles x*k into the store and gives its value at 2; *made: not found in this process. */
static double
kept_product(code_store *kept, double k, bool *made)
{
    const struct gen_slot slot[] = { { SP_X, false, 1 } };
    const double x[1] = { 2 };
    const int64_t base[1] = { 0 };
    double out[1] = { 0 };
    size_t before = code_store_count(kept);
    pool *p = pool_new();
    gen *g = gen_new(p, kept);
    uint32_t h = gen_add_kernel(g, ex_mul(p, ex_slot(p, 0), ex_const(p, k)), slot, 1, false);

    *made = code_store_count(kept) == before;
    finish(g);
    gen_kernel_at(g, h)(0, x, NULL, NULL, NULL, out, base, NULL, 0, 0, 1);
    gen_free(g);
    pool_free(p);
    return out[0];
}

/* What a child process compiles, its parent and later children find. */
static void
kernels_of_other_processes(void **state)
{
    code_store *kept = code_store_new();
    bool made;

    (void)state;
    assert_true(kept_product(kept, 3, &made) == 6 && made);
    code_store_share(kept);
    for (int k = 1; k < 4; k++) {
        pid_t child = fork();
        int status;

        if (child == 0)
            _exit(kept_product(kept, 10 + k, &made) == 2 * (10 + k) && made &&
                          (k == 1 || (kept_product(kept, 9 + k, &made) == 2 * (9 + k) && !made))
                      ? 0
                      : 1);
        assert_true(child > 0 && waitpid(child, &status, 0) == child);
        assert_int_equal(status, 0);
    }
    assert_true(kept_product(kept, 12, &made) == 24 && !made);
    assert_true(kept_product(kept, 20, &made) == 40 && made);
    code_store_free(kept);
}

static void
nothing_added_and_errors(void **state)
{
    pool *p = pool_new();
    gen *g = gen_new(p, NULL);
    char *why = NULL, *ir = gen_print_ir(g);
    struct gen_slot slot = { SP_X, false, 1 };
    uint32_t h;

    (void)state;
    assert_string_equal(ir, "");
    free(ir);
    finish(g);
    gen_add_chunk(g, NULL, 0, false);
    finish(g);
    h = gen_add_kernel(g, ex_add(p, ex_slot(p, 0), ex_slot(p, 1)), &slot, 1, true);
    gen_add_chunk(g, NULL, 0, true);
    assert_false(gen_finish(g, &why));
    assert_non_null(strstr(why, "slots"));
    assert_true(gen_kernel_at(g, h) == NULL);
    free(why);
    gen_free(g);
    g = gen_new(p, NULL);
    gen_add_kernel(g, ex_slot(p, 0), &slot, 1, true);
    gen_free(g); /* never finished */
    pool_free(p);
}

/* ---------------------------------------------------------------- times */

/* (k + k3 e^2) e + c (v1 - v0), the strut of a chain */
static node
strut(pool *p)
{
    node e = ex_slot(p, 0), v0 = ex_slot(p, 1), v1 = ex_slot(p, 2), k = ex_slot(p, 3), k3 = ex_slot(p, 4),
         c = ex_slot(p, 5);

    return ex_add(p, ex_mul(p, ex_add(p, k, ex_mul(p, k3, ex_mul(p, e, e))), e), ex_mul(p, c, ex_sub(p, v1, v0)));
}

static void
time_kernel(gen *g, uint32_t h, const char *what, int64_t n)
{
    double *x = calloc(3 * (size_t)n, sizeof *x), *w = calloc((size_t)n, sizeof *w),
           *p = calloc(3 * (size_t)n, sizeof *p), best = 1e9;
    int32_t *index = calloc((size_t)n, sizeof *index);
    const int64_t base[] = { 0, n, n + 1, 0, n, 2 * n };
    const int32_t *tables[] = { index, index, index, index, index, index };
    int repeat = (int)(4000000 / n);

    for (int64_t i = 0; i < n; i++) {
        x[i] = x[n + i] = 0.001 * (double)i;
        index[i] = (int32_t)(n + i - (i > 0));
        p[i] = p[n + i] = p[2 * n + i] = 1.5;
    }
    for (int s = 0; s < 5; s++) {
        double t0 = now();

        for (int r = 0; r < repeat; r++)
            gen_kernel_at(g, h)(r, x, w, p, x, w, base, tables, 0, 0, n);
        if (now() - t0 < best)
            best = now() - t0;
    }
    print_message("%-28s %7ld members: %.3f ns each\n", what, (long)n, best / repeat / (double)n * 1e9);
    free(x);
    free(w);
    free(p);
    free(index);
}

static void
times(void **state)
{
    enum { N = 20000, SMALL = 20, CLASSES = 6 };
    const struct gen_slot x1 = { SP_X, false, 1 }, xt = { SP_X, true, 0 }, p1 = { SP_P, false, 1 };
    const struct gen_slot affine[] = { x1, x1, x1, p1, p1, p1 }, tabled[] = { x1, xt, xt, p1, p1, p1 };
    pool *p = pool_new();
    node n = strut(p), other[CLASSES];
    struct gen_assign *a = malloc(N * sizeof *a);
    struct gen_ref(*ref)[NSLOT] = malloc(N * sizeof *ref);
    double t0 = now(), t1, t2, t3, *x = calloc(2 * N, sizeof *x), *w = calloc(N, sizeof *w);
    gen *g = gen_new(p, NULL);
    uint32_t h1, h2, h3, c;

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t k = 0; k < NSLOT; k++)
            ref[i][k] = (struct gen_ref){ k < 3 ? SP_X : SP_P, i + k };
        if (i)
            ref[i][1] = (struct gen_ref){ SP_W, i - 1 };
        a[i] = (struct gen_assign){ n, ref[i], { SP_W, i } };
    }
    /* cold: a handful of kernels and a small chunk, all optimised */
    for (int j = 0; j < CLASSES; j++) {
        other[j] = ex_add(p, n, ex_mul(p, ex_const(p, j + 2), ex_slot(p, (uint32_t)j % 3)));
        gen_add_kernel(g, other[j], j % 2 ? affine : tabled, NSLOT, true);
    }
    gen_add_chunk(g, a, SMALL, true);
    finish(g);
    t1 = now();
    h1 = gen_add_kernel(g, n, affine, NSLOT, true);
    h2 = gen_add_kernel(g, n, tabled, NSLOT, true);
    h3 = gen_add_kernel(g, n, affine, NSLOT, false);
    finish(g);
    t2 = now();
    c = gen_add_chunk(g, a, N, false);
    finish(g);
    t3 = now();
    print_message("%d kernels and a chunk of %d, optimised, from cold: %.1f ms\n", CLASSES, SMALL, 1e3 * (t1 - t0));
    print_message("2 kernels optimised and 1 quick: %.1f ms; quick chunk of %d: %.0f ms\n", 1e3 * (t2 - t1), N,
                  1e3 * (t3 - t2));
    time_kernel(g, h1, "affine", 1000);
    time_kernel(g, h1, "affine", 100000);
    time_kernel(g, h2, "through tables", 1000);
    time_kernel(g, h2, "through tables", 100000);
    time_kernel(g, h3, "affine, level 0", 100000);
    t0 = now();
    for (int r = 0; r < 100; r++)
        gen_chunk_at(g, c)(r, x, w, x, x, w);
    print_message("chunk: %.3f ns an assignment\n", (now() - t0) / 100 / N * 1e9);
    gen_free(g);
    pool_free(p);
    free(a);
    free(ref);
    free(x);
    free(w);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times), /* first: from cold */
        cmocka_unit_test(kernels_equal_the_evaluator),
        cmocka_unit_test(chunks_equal_the_evaluator),
        cmocka_unit_test(located_chunks_are_found_again),
        cmocka_unit_test(kernels_are_found_again),
        cmocka_unit_test(kernels_of_other_processes),
        cmocka_unit_test(nothing_added_and_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
