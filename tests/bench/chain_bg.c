/* chain_bg.c - models of any size for measuring: regular chains, and irregular networks
 *
 * usage: chain_bg chain N [literal]        N masses between springs and dampers, a driven wall; every element with
 * parameters of its own
 *        chain_bg regular N                N masses and springs in arrays, joined in loops
 *        chain_bg irregular N [seed]       N masses in a random tree with random further springs, arrows and laws;
 *        statements in random order chain_bg circuit N [seed]         N nodes with capacitors, coils, resistors and
 *        levers at random, resistive corners among them
 *
 * The chain: extension e_i and velocity v_i, F_i = k e_i + k3 e_i^3 + c d_i, d_i = v_i - v_(i-1) = e_i', m v_i' =
 * F_(i+1) - F_i, the wall moves with 0.3 sin 3t, e_0(0) = 0, e_i(0) = 0.1 (sin 0.7i - sin 0.7(i-1)).
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static uint64_t
draw(void)
{
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static long
below(long n)
{
    return (long)(draw() % (uint64_t)n);
}
static double
between(double a, double b)
{
    return a + (b - a) * (double)(draw() >> 11) * 0x1p-53;
}

/* ---- lines gathered, then put in random order ---- */
static char **line;
static long lines, room;
static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void
say(const char *fmt, ...)
{
    char s[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s, sizeof s, fmt, ap);
    va_end(ap);
    if (lines == room) {
        room = room ? 2 * room : 1024;
        line = realloc(line, (size_t)room * sizeof *line);
        if (!line)
            exit(3);
    }
    line[lines] = strdup(s);
    if (!line[lines++])
        exit(3);
}
static void
flush(void)
{
    for (long k = lines; k > 1; k--) {
        long q = below(k);
        char *t = line[k - 1];
        line[k - 1] = line[q];
        line[q] = t;
    }
    for (long k = 0; k < lines; k++) {
        printf("    %s\n", line[k]);
        free(line[k]);
    }
    free(line);
}
static const char *const tail = "}\n\nexperiment run of %s {\n    stop = %g;\n    rtol = 1e-6;\n    atol = 1e-9;\n}\n";

static void
chain(long n, int literal)
{
    printf("// %ld masses between nonlinear springs and dampers\nmodel chain {\n", n);
    for (long i = 0; i < n; i++) {
        double e = i ? 0.1 * (sin(0.7 * (double)i) - sin(0.7 * (double)(i - 1))) : 0;
        if (!literal)
            printf("    parameter k_%ld = 100;\n    parameter k3_%ld = 10;\n    parameter c_%ld = 0.5;\n    parameter "
                   "m_%ld = 1;\n",
                   i, i, i, i);
        printf("    1:v_%ld -> 0:strut_%ld;\n", i, i);
        if (i)
            printf("    strut_%ld -> v_%ld;\n", i, i - 1);
        else
            printf("    strut_0 -> Sf:wall = 0.3*sin(3*time);\n");
        printf("    strut_%ld -> 1:d_%ld;\n", i, i);
        if (literal) {
            printf("    d_%ld -> C:spring_%ld { e = 100*q + 10*q^3; q(0) = %.17g; }\n    d_%ld -> R:damper_%ld = "
                   "0.5;\n    v_%ld -> I:mass_%ld = 1;\n",
                   i, i, e, i, i, i, i);
        } else {
            printf("    d_%ld -> C:spring_%ld { e = k_%ld*q + k3_%ld*q^3; q(0) = %.17g; }\n", i, i, i, i, e);
            printf("    d_%ld -> R:damper_%ld = c_%ld;\n    v_%ld -> I:mass_%ld = m_%ld;\n", i, i, i, i, i, i);
        }
    }
    printf("    output v0 = v_0.f;\n    output e0 = spring_0.q;\n    output vN = v_%ld.f;\n    output eN = "
           "spring_%ld.q;\n",
           n - 1, n - 1);
    printf(tail, "chain", 10.0);
}

static void
regular(long n)
{
    printf("// %ld masses and springs in arrays\nmodel regular {\n", n);
    printf("    1:v[%ld];\n    0:s[%ld];\n    I:mass[%ld] = 1;\n    C:spring[%ld] = 0.01;\n", n, n, n, n);
    printf(
        "    for i in 1..%ld {\n        v[i] -> mass[i];\n        v[i] -> s[i];\n        s[i] -> spring[i];\n    }\n",
        n);
    printf("    for i in 1..%ld { s[i] -> v[i+1]; }\n    s[%ld] -> Sf:wall = 0;\n", n - 1, n);
    printf("    output first = v[1].f;\n");
    printf(tail, "regular", 1.0);
}

/* spring and damper between masses a and b, either way round, now and then through a lever */
static void
strut(long k, long a, long b)
{
    if (below(2)) {
        long t = a;
        a = b;
        b = t;
    }
    say("0:s%ld;", k);
    say("v%ld -> s%ld;", a, k);
    if (below(20) == 0)
        say("s%ld -> TF:lever%ld = %.4g -> v%ld;", k, k, between(0.5, 2), b);
    else
        say("s%ld -> v%ld;", k, b);
    say("s%ld -> 1:d%ld;", k, k);
    double stiff = pow(10, between(1, 2.5));
    switch (below(3)) {
    case 0: say("d%ld -> C:c%ld = 1/%.4g;", k, k, stiff); break;
    case 1: say("d%ld -> C:c%ld { e = %.4g*q + %.4g*q^3; }", k, k, stiff, stiff * between(0.05, 0.5)); break;
    default: say("d%ld -> C:c%ld { e = %.4g*sinh(q); }", k, k, stiff); break;
    }
    switch (below(3)) {
    case 0: say("d%ld -> R:r%ld = %.4g;", k, k, between(0.1, 1)); break;
    case 1: say("d%ld -> R:r%ld { e = %.4g*f + %.4g*f^3; }", k, k, between(0.1, 1), between(0.01, 0.1)); break;
    default: break;
    }
}
static void
irregular(long n)
{
    long k = 0;
    printf("// %ld masses in a random network\nmodel irregular {\n", n);
    for (long i = 0; i < n; i++) {
        say("1:v%ld;", i);
        say("v%ld -> I:m%ld = %.4g;", i, i, between(0.5, 2));
        if (below(4) == 0)
            say("v%ld -> R:drag%ld = %.4g;", i, i, between(0.01, 0.2));
        if (i)
            strut(k++, i, i > 12 ? i - 1 - below(12) : below(i));
        if (i > 20 && below(5) == 0)
            strut(k++, i, i - 2 - below(18));
    }
    say("Se:push = sin(3*time) -> v0;");
    say("v%ld -> C:anchor = 1/50.0;", n / 2);
    flush();
    printf("    output first = v0.f;\n    output last = v%ld.f;\n", n - 1);
    printf(tail, "irregular", 2.0);
}
static void
circuit(long n)
{
    printf("// %ld nodes of a random network\nmodel circuit {\n", n);
    for (long i = 0; i < n; i++) {
        say("0:n%ld;", i);
        if (below(10) < 7)
            say("n%ld -> C:c%ld = %.4g;", i, i, between(0.1, 1));
        say("n%ld -> R:leak%ld = %.4g;", i, i, between(5, 50));
        if (!i)
            continue;
        long j = i > 12 ? i - 1 - below(12) : below(i);
        say(below(2) ? "n%ld -> 1:b%ld;" : "1:b%2$ld -> n%1$ld;", i, i);
        say(below(2) ? "b%ld -> n%ld;" : "n%2$ld -> b%1$ld;", i, j);
        if (below(2))
            say("b%ld -> I:l%ld = %.4g;", i, i, between(0.1, 1));
        say("b%ld -> R:r%ld = %.4g;", i, i, between(0.5, 5));
    }
    say("Sf:feed = sin(3*time) -> n0;");
    flush();
    printf("    output first = n0.e;\n    output last = n%ld.e;\n", n - 1);
    printf(tail, "circuit", 2.0);
}

int
main(int argc, char **argv)
{
    long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    if (n < 1) {
        fprintf(stderr, "usage: chain_bg chain|regular|irregular|circuit N [literal|seed]\n");
        return 2;
    }
    state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (!strcmp(argv[1], "chain"))
        chain(n, argc > 3 && !strcmp(argv[3], "literal"));
    else if (!strcmp(argv[1], "regular"))
        regular(n);
    else if (!strcmp(argv[1], "irregular"))
        irregular(n);
    else if (!strcmp(argv[1], "circuit"))
        circuit(n);
    else
        return 2;
    return 0;
}
