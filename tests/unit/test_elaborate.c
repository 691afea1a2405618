/* test_elaborate.c - the normal form of each construct, and what is said of each mistake */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "elaborate.h"

static unit_system *units;

struct run {
    sources *s;
    names *n;
    arena *a;
    pool *p;
    flat_model *f;
    char *dump; /* the flat model, or "" */
};

static struct run
elaborate_with(const char *path, const char *text, const elaborate_options *o)
{
    struct run r = { .s = sources_new(), .n = names_new(), .a = arena_new(), .p = pool_new() };
    int file = sources_add_text(r.s, path, text, strlen(text));
    ast_file *t = parse_file(r.s, r.n, r.a, (uint32_t)file);
    size_t size;
    FILE *out;

    r.f = elaborate(r.s, r.n, r.a, units, r.p, t, o);
    out = open_memstream(&r.dump, &size);
    if (r.f)
        flat_dump(r.f, out);
    fclose(out);
    return r;
}

static void
done(struct run *r)
{
    flat_free(r->f);
    pool_free(r->p);
    arena_free(r->a);
    names_free(r->n);
    sources_free(r->s);
    free(r->dump);
}

/* Everything that was said, as the modeller reads it. */
static void
print_said(const struct run *r)
{
    diag_print(r->s, stderr, false, DIAG_ALL);
}

/* The model's text between braces, `x` its experiment if it has one. */
static struct run
model(const char *body, const char *experiment)
{
    elaborate_options o = { .experiment = experiment ? "x" : NULL };
    char *text;
    struct run r;

    text = bg_format("model m {\n%s\n}\n%s", body, experiment ? experiment : "");
    r = elaborate_with("test.bg", text, &o);
    free(text);
    return r;
}

static void
has(const char *body, const char *experiment, const char *const *line)
{
    struct run r = model(body, experiment);

    if (!r.f) {
        print_said(&r);
        fail_msg("not elaborated:\n%s", body);
    }
    for (; *line; line++)
        if (!strstr(r.dump, *line))
            fail_msg("no line\n%s\nin\n%s", *line, r.dump);
    done(&r);
}
#define HAS(body, ...) has(body, NULL, (const char *const[]){ __VA_ARGS__, NULL })
#define HAS_IN(experiment, body, ...) has(body, experiment, (const char *const[]){ __VA_ARGS__, NULL })

static void
find_said(const struct run *r, const char *what, enum severity severity, const char *code, int line,
          const char *message)
{
    for (size_t k = 0; k < diag_count(r->s); k++) {
        const diagnostic *d = diag_at(r->s, k);
        int at = 0, column;

        if (strcmp(d->code, code) || d->severity != severity)
            continue;
        if (span_known(d->at))
            source_place(r->s, d->at.file, d->at.begin, &at, &column);
        if (at == line && strstr(d->message, message))
            return;
        for (size_t c = 0; at == line && c < d->nchild; c++)
            if (strstr(d->child[c].message, message))
                return;
    }
    print_said(r);
    fail_msg("not said: [%s] in line %d, \"%s\", of:\n%s", code, line, message, what);
}

/* The line counts from 1 at the first of the body. message: part of it, or of a note or help under it. */
static void
says(enum severity severity, const char *body, const char *experiment, const char *code, int line, const char *message)
{
    struct run r = model(body, experiment);

    if (severity == SEV_ERROR && r.f)
        fail_msg("elaborated in spite of [%s]:\n%s", code, body);
    if (severity != SEV_ERROR && !r.f) {
        print_said(&r);
        fail_msg("not elaborated:\n%s", body);
    }
    find_said(&r, body, severity, code, line + 1, message);
    done(&r);
}

struct mistake {
    const char *body, *code;
    int line;
    const char *message;
};

static void
all_are_said(const struct mistake *m, size_t n)
{
    for (size_t k = 0; k < n; k++)
        says(SEV_ERROR, m[k].body, NULL, m[k].code, m[k].line, m[k].message);
}
#define ALL_ARE_SAID(m) all_are_said((m), sizeof(m) / sizeof *(m))

/* A file of its own, with everything outside models. */
static void
file_says(const char *text, const char *experiment, const char *code, int line, const char *message)
{
    elaborate_options o = { .experiment = experiment };
    struct run r = elaborate_with("test.bg", text, &o);

    assert_null(r.f);
    find_said(&r, text, SEV_ERROR, code, line, message);
    done(&r);
}

/* ---------------------------------------------------------------- normal form */

static void
quarter_car(void **state)
{
    (void)state;
    static const char text[] = "function curb(t [s]) [m] = if t < 1 then 0 else if t < 1.5 then 0.4*(t - 1) - "
                               "0.1/pi*sin(4*pi*(t - 1)) else 0.2;\n"
                               "model car \"Quarter car\" {\n"
                               "  parameter m_s = 267 [kg] \"sprung mass\"; parameter b = 700 [N.s/m]; parameter k = "
                               "18742 [N/m]; parameter k3 = 2e5 [N/m^3];\n"
                               "  constant g = 9.81 [m/s^2];\n"
                               "  1:body; body -> I:mass = m_s; Se:gravity = -m_s*g -> body;\n"
                               "  0:tire -> body; tire -> 1:travel;\n"
                               "  travel -> C:spring { e = k*q + k3*q^3; } travel -> R:damper = b;\n"
                               "  Sf:ground = der(curb(time)) -> tire;\n"
                               "  output y [m] = integral(body.f);\n"
                               "}\n"
                               "experiment e of car { stop = 10 [s]; start from equilibrium; observe y within 1 [mm]; "
                               "keep ground; record spring.q, 2*mass.p; }\n";
    struct run r = elaborate_with("car.bg", text, &(elaborate_options){ .experiment = "e" });
    static const char *const line[] = { "1:body: -mass +gravity +tire\n",
                                        "0:tire: +ground -body -travel\n",
                                        "I:mass <- body linear\n    p = m_s*body.f\n",
                                        "Se:gravity -> body linear\n    e = -m_s*g\n",
                                        "    e = k*spring.q + k3*spring.q^3\n",
                                        "    e = b*travel.f\n",
                                        "Sf:ground -> tire linear keep\n    f = der(curb(time))\n",
                                        "signal curb(time) [m] = if time < 1",
                                        "rate der(curb(time)) [m/s]\n",
                                        "integral integral(body.f) [m] rate body.f from 0\n",
                                        "output y [m] = y\n",
                                        "  stop = 10\n  start from equilibrium\n  observe y within 0.001\n",
                                        "  record spring.q [m] = spring.q\n",
                                        "  record 2*mass.p = 2*mass.p\n" };

    if (!r.f)
        print_said(&r);
    assert_non_null(r.f);
    assert_int_equal(diag_count(r.s), 0);
    for (size_t k = 0; k < sizeof line / sizeof *line; k++)
        if (!strstr(r.dump, line[k]))
            fail_msg("no line\n%s\nin\n%s", line[k], r.dump);
    assert_string_equal(r.f->text, "Quarter car");
    assert_int_equal(r.f->var.at[0].kind, VAR_TIME);
    assert_int_equal(r.f->bond.n, 2);
    assert_int_equal(r.f->port.n, 5);
    done(&r);
}

static void
elements(void **state)
{
    (void)state;
    HAS("1:v -> R:r = 3 [N.s/m];", "R:r <- v linear\n    e = 3 [N.s/m]*v.f\n", "port r.e [N]\n");
    HAS("0:n -> R:r = 3;", "R:r <- n linear\n    e = 3*r.f\n", "port r.f\n");
    HAS("1:v -> C:c = 1/8 [N/m];", "C:c <- v linear\n    q = c.e/8 [N/m]\n", "stored c.q [m]\n");
    HAS("0:n -> I:l = 10 [mH];", "I:l <- n linear\n    p = 10 [mH]*l.f\n", "stored l.p [V.s]\n");
    HAS("Se:s = 5 [V] -> 1:v; v -> Sf:t = -2;", "Se:s -> v linear\n    e = 5 [V]\n", "Sf:t <- v linear\n    f = -2\n");
    HAS("1:v -> C:c { e = 3*q + q^3; }", "C:c <- v\n    e = 3*c.q + c.q^3\n");
    HAS("1:v -> C:c { q = e; }", "    q = c.e\n");
    HAS("1:v -> I:c { p = f/sqrt(1 - f^2); }", "    p = ");
    HAS("1:v -> I:c { f = tanh(p); }", "    f = tanh(c.p)\n");
    HAS("0:n -> R:d { f = exp(e) - 1; }", "    f = exp(n.e) - 1\n");
    HAS("1:a -> TF:t = 1/210 -> 1:b;", "TF:t <- a -> b linear\n    modulus = 1/210\n", "port t.in.e\n",
        "port t.out.e\n", "1:a: -t\n", "1:b: +t\n");
    HAS("1:a -> 0:b; GY:g = 2 [ohm] -> a; b -> g;", "GY:g <- b -> a linear\n    modulus = 2 [ohm]\n", "port g.in.f");
    HAS("1:a -> MTF:t = cos(time/1 [s]) -> 1:b; MSe:s = time -> a; a -> MR:m = time; a -> MC:c { e = q; } a -> MI:i = "
        "1;",
        "MTF:t <- a -> b linear\n", "MSe:s -> a", "MR:m <- a", "MC:c <- a", "MI:i <- a");
}

static void
bonds(void **state)
{
    (void)state;
    HAS("1:a -> 1:b as n; 0:c -> 0:d;", "bond n.e\n", "bond c-d.f\n", "bond a -> b as n\n", "1:b: +a\n");
    HAS("Se:s = 1 -> R:r = 2;", "1:s-r (implicit): +s -r\n", "common s-r.f\n", "R:r <- s-r linear\n    e = 2*s-r.f\n");
    HAS("Se:s = 1 -> TF:t = 2 -> R:r = 3;", "1:s-t (implicit): +s -t\n", "1:t-r (implicit): +t -r\n");
    HAS("1:a -> R:r = 1 as n; 1:b -> 0:c as m; output p = n.power; output q = m.power; output e = m.e; output f = m.f; "
        "output g = n.e;",
        "signal p = r.e*a.f\n", "signal q = c.e*b.f\n", "signal e = c.e\n", "signal f = b.f\n", "signal g = r.e\n");
    HAS("Se:s = 1 -> R:r = 2 as n; output p = n.power; output into = s.power; output r_in = r.power;",
        "1:n (implicit): +s -r\n", "signal p = s.e*n.f\n", "signal into = -s.e*n.f\n", "signal r_in = r.e*n.f\n");
    HAS("R:r = x; parameter x = y; parameter y = 2; a -> r; 1:a;", "parameter x = y\n", "    e = x*a.f\n");
}

static void
values(void **state)
{
    (void)state;
    HAS("parameter p = 100 [bar]; parameter v [km/h] = 3.6 [km/h]; parameter T = 20 [degC]; parameter U = -20 [degC];",
        "parameter p [bar] = 10000000\n", "parameter v [km/h] = 1\n", "parameter T [degC] = 293.15\n",
        "parameter U [degC] = 253.1");
    HAS("input u = 5 [V]; input z = 0; signal s [V] = 2*u + time/1 [s]*1 [V];", "parameter u [V] = 5\n",
        "signal s [V] = ");
    HAS("signal x = integral(v.f, 2 [mm]); 1:v -> R:r = 1; signal y = der(x);", "integral x [m] rate v.f from 0.002\n",
        "signal y [m/s] = der(x)\n");
    HAS("parameter a = 3; signal d = der(a*2);", "signal d = 0\n");
    HAS("1:v -> R:r = 1; output a = der(v.f)*der(v.f); output b = der(2*v.f) + der(2*v.f);", "rate der(v.f)\n",
        "signal a = ");
    HAS("signal on = time > 1; signal off = if on then 0 else 1; signal both = if on and not (time > 2) then 1 else 0;",
        "signal on = if 1 < time then 1 else 0\n");
    HAS("1:v { f(0) = 30 [rpm]; } v -> C:c = 1 { q(0) = 1 [mrad]; } v -> I:i = 1 { p(0) = 2; } 0:n { e(0) = 3; } n -> "
        "v;",
        "initial v.f = 3.14159", "initial c.q = 0.001\n", "initial i.p = 2\n", "initial n.e = 3\n");
    HAS("parameter e = 3; 1:v -> R:r = e;", "    e = e*v.f\n");
}

static void
functions_are_written_out(void **state)
{
    (void)state;
    static const char text[] = "constant c = 2; function g(x) = c*x^2; function f(x, y) = g(x) + g(x)*y;\nmodel m { "
                               "signal s = f(time, 3) + f(time, 3); }";
    struct run r = elaborate_with("test.bg", text, NULL);

    if (!r.f)
        print_said(&r);
    assert_non_null(r.f);
    assert_non_null(strstr(r.dump, "parameter c = 2\n"));
    assert_non_null(strstr(r.dump, "time^2"));
    done(&r);
}

static void
nested_calls_stay_small(void **state)
{
    (void)state;
    strbuf b = { 0 };
    struct run r;

    strbuf_puts(&b, "function f0(x) = x + time_free;\nconstant time_free = 3;\n");
    for (int k = 1; k < 200; k++)
        strbuf_printf(&b, "function f%d(x) = sin(f%d(x)) + f%d(x);\n", k, k - 1, k - 1);
    strbuf_puts(&b, "model m { signal s = f199(time/1 [s]); }");
    r = elaborate_with("test.bg", b.at, NULL);
    if (!r.f)
        print_said(&r);
    assert_non_null(r.f);
    done(&r);
    strbuf_free(&b);
}

static void
experiments(void **state)
{
    (void)state;
    static const char body[] = "parameter k = 2; parameter n = 3*k; input u = 1 [V]; input w = 0 [V]; 1:v -> C:c = 1 { "
                               "q(0) = 1; } v -> R:r = n;\n"
                               "Se:s = u + w -> v; signal x = integral(v.f); output y [mC] = 1*x;";

    HAS_IN("experiment x of m { stop = 2*k*1 [s]; start = 1 [s]; rtol = 1e-9; atol = 1e-9; solver = bdf; window 1 [s] "
           ".. 2 [s]; observe y within 0.5 [mC]; record v.f; }",
           body, "  start = 1\n", "  stop = ", "  rtol = 1e-09\n", "  solver = bdf\n", "  window 1 .. 2\n",
           "  observe y within 0.0005\n", "  record v.f [A] = v.f\n");
    HAS_IN("experiment x of m { stop = 1; let k = 5; let u = if time < 1 [s] then 0 else 10 [V]; let w = 3 [V]; let "
           "c.q(0) = 2; let x(0) = 7; }",
           body, "parameter k = 5\n", "signal u [V] = if time < 1 [s] then 0 else 10 [V]\n", "parameter w [V] = 3",
           "initial c.q = 2\n", "from 7\n");
    HAS_IN("experiment x of m { stop = 1; let c.e(0) = 2; }", body, "initial c.e = 2\n");
}

static void
set_from_outside(void **state)
{
    (void)state;
    static const char text[] = "model m { parameter k = 2 [N/m]; input u = time_0; parameter time_0 = 1; 1:v -> C:c = "
                               "1/k { q(0) = 1; } signal x = integral(v.f); }\n"
                               "experiment e of m { stop = 1; let k = 5 [N/m]; let u = time; let c.q(0) = 2; }";
    const struct elaborate_override set[] = { { .name = "k", .value = 7 },
                                              { .name = "u", .value = 8 },
                                              { .name = "c.q(0)", .value = 9 },
                                              { .name = "x(0)", .value = 10 } };
    struct run r = elaborate_with("test.bg", text, &(elaborate_options){ .experiment = "e", .set = set, .nset = 4 });
    static const struct {
        const char *name, *message;
    } wrong[] = { { "kk", "no parameter or input is called \"kk\"" },
                  { "x", "\"x\" is a signal" },
                  { "c.p(0)", "it has q(0) or e(0)" },
                  { "d.q(0)", "is called \"d\"" },
                  { "k(0)", "has no initial value" },
                  { "", "is not a name" },
                  { "(0)", "" },
                  { ".(0)", "" },
                  { "c.", "" } };

    if (!r.f)
        print_said(&r);
    assert_non_null(r.f);
    assert_non_null(strstr(r.dump, "parameter k [N/m] = 7\n"));
    assert_non_null(strstr(r.dump, "parameter u = 8\n"));
    assert_non_null(strstr(r.dump, "initial c.q = 9\n"));
    assert_non_null(strstr(r.dump, "from 10\n"));
    done(&r);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const struct elaborate_override one = { .name = wrong[k].name, .value = 1 };

        r = elaborate_with("test.bg", text, &(elaborate_options){ .experiment = "e", .set = &one, .nset = 1 });
        assert_null(r.f);
        assert_int_equal(diag_count(r.s), 1);
        assert_non_null(strstr(diag_at(r.s, 0)->message, wrong[k].message));
        done(&r);
    }
}

/* ---------------------------------------------------------------- tables */

static char folder[] = "/tmp/test_elaborate_XXXXXX";

static void
put(const char *name, const char *text)
{
    char *path = bg_format("%s/%s", folder, name);
    FILE *f = fopen(path, "wb");

    fputs(text, f);
    fclose(f);
    free(path);
}

static struct run
with_table(const char *csv, const char *call)
{
    char *path = bg_format("%s/model.bg", folder),
         *text = bg_format("model m { parameter length = 1 [m];\nsignal s = %s;\n}", call);
    struct run r;

    put("t.csv", csv);
    r = elaborate_with(path, text, NULL);
    free(path);
    free(text);
    return r;
}

static void
tables(void **state)
{
    (void)state;
    struct run r = with_table("\xef\xbb\xbf"
                              "t [ms], \"torque [kN.m]\" ,b\r\n0,1,5\r\n\r\n10,2,6\r\n20,4,7",
                              "table(\"t.csv\", torque, time) + table(\"t.csv\", torque, time)");
    const ex_table *t;

    if (!r.f)
        print_said(&r);
    assert_non_null(r.f);
    t = pool_table(r.p, 0);
    assert_int_equal(t->n, 3);
    assert_true(t->x[1] == 0.01 && t->y[1] == 2000);
    done(&r);
    r = with_table("0,1\n1,2\n", "table(\"t.csv\", 2, time)");
    assert_non_null(r.f);
    assert_true(pool_table(r.p, 0)->y[0] == 1);
    done(&r);
}

static void
table_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *csv, *call, *code;
        int line;
        const char *message;
    } row[] = {
        { "0,1\n1,2\n", "table(\"none.csv\", 2, time)", "table-unreadable", 2,
          "\"none.csv\" cannot be read: No such file" },
        { "0,1\n1,2\n", "table(\"t.csv\", 3, time)", "table-column", 2, "columns 1 to 2, no column 3" },
        { "0,1\n1,2\n", "table(\"t.csv\", 0, time)", "table-column", 2, "no column 0" },
        { "0,1\n1,2\n", "table(\"t.csv\", 1.5, time)", "table-column", 2, "no column 1.5" },
        { "0,1\n1,2\n", "table(\"t.csv\", y, time)", "table-column", 2, "no head" },
        { "t,torque\n0,1\n", "table(\"t.csv\", torqe, time)", "table-column", 2, "Did you mean \"torque\"" },
        { "t,a\n0,1\n1,2,3\n", "table(\"t.csv\", a, time)", "table-row", 3, "row 3 of \"t.csv\" has 3 columns" },
        { "t,a\n0,1\n1\n", "table(\"t.csv\", a, time)", "table-row", 3, "has 1 column," },
        { "t,a\n0,1\n1,x\n", "table(\"t.csv\", a, time)", "table-number", 3, "row 3, column 2 of \"t.csv\" is \"x\"" },
        { "t,a\n0,1\n1,\n", "table(\"t.csv\", a, time)", "table-number", 3, "is \"\"" },
        { "t,a\n0,1\n1,nan\n", "table(\"t.csv\", a, time)", "table-number", 3, "\"nan\"" },
        { "t,a\n0,1\n1,0x10\n", "table(\"t.csv\", a, time)", "table-number", 3, "\"0x10\"" },
        { "t,a\n0,1\n1,1e999\n", "table(\"t.csv\", a, time)", "table-number", 3, "\"1e999\"" },
        { "t,a\n0,1\n1,2\n1,3\n", "table(\"t.csv\", a, time)", "table-order", 4, "row 4" },
        { "t,a\n", "table(\"t.csv\", a, time)", "table-empty", 2, "no rows" },
        { "", "table(\"t.csv\", 1, time)", "table-empty", 2, "no rows" },
        { "t,a [zork]\n0,1\n", "table(\"t.csv\", a, time)", "table-unit", 1, "\"zork\" is not a unit" },
        { "t [m],a\n0,1\n", "table(\"t.csv\", a, time)", "unit-clash", 2, "first column" },
        { "0,1\n", "table(t, 2, time)", "table-call", 2, "in quotes" },
        { "0,1\n", "table(\"t.csv\", 1+1, time)", "table-call", 2, "is a column" },
        { "0,1\n", "table(\"t.csv\", 2)", "call-arguments", 2, "takes 3 arguments" },
    };

    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct run r = with_table(row[k].csv, row[k].call);

        assert_null(r.f);
        find_said(&r, row[k].call, SEV_ERROR, row[k].code, row[k].line, row[k].message);
        done(&r);
    }
    {
        struct run r = with_table("0,1\n", "table(\"\", 2, time)"); /* a folder */

        assert_null(r.f);
        find_said(&r, "folder", SEV_ERROR, "table-unreadable", 2, "directory");
        done(&r);
    }
}

/* ---------------------------------------------------------------- mistakes */

static void
names_mistakes(void **state)
{
    (void)state;
    static const struct mistake m[] = {
        { "parameter a = 1;\nparameter a = 2;", "name-twice", 2, "the first one is here" },
        { "1:v;\nv -> R:v = 1;", "name-twice", 2, "\"v\" is declared twice" },
        { "1:v -> 0:n as b;\nv -> R:b = 1;", "name-twice", 2, "declared twice" },
        { "parameter stiffness = 1;\nparameter b = stifness;", "name-unknown", 2, "Did you mean \"stiffness\"?" },
        { "1:body;\nsignal s = bodi.f;", "name-unknown", 2, "Did you mean \"body.f\"?" },
        { "1:body;\nbodi -> R:r = 1;", "name-unknown", 2, "Did you mean \"body\"?" },
        { "1:body;\nsignal s = body;", "name-part", 2, "Write which of its variables to read: body.f." },
        { "parameter k = 1;\nsignal s = k.f;", "name-value", 2, "values have no \".f\"" },
        { "1:v -> 0:n as b;\nb -> R:r = 1;", "bond-end", 2, "is a bond" },
        { "1:v -> Q:x = 1;", "type-unknown", 1, "called \"Q\"" },
        { "1:v -> R:x(k = 3) = 1;", "type-arguments", 1, "only components" },
        { "signal s = sine(time);", "name-unknown", 1, "no function is called \"sine\"" },
        { "signal s = log(3);", "name-unknown", 1, "ln for the natural" },
        { "signal s = sin(1, 2);", "call-arguments", 1, "sin takes 1 argument; here are 2" },
        { "signal s = der();", "call-arguments", 1, "der takes 1 argument" },
        { "signal s = integral(1, 2, 3);", "call-arguments", 1, "integral takes 1 or 2" },
        { "signal s = \"text\";", "text-value", 1, "not a value" },
    };

    ALL_ARE_SAID(m);
    file_says("function f(x) = y;\nmodel m { }", NULL, "name-unknown", 1, "\"y\"");
    file_says("function f(x, x) = x;\nmodel m { }", NULL, "name-twice", 1, "two arguments");
    file_says("function f(x) = time;\nmodel m { }", NULL, "function-time", 1, "pass it");
    file_says("function f(x) = der(x);\nmodel m { }", NULL, "function-state", 1, "signal");
    file_says("function f(x) = x;\nmodel m { signal s = f(1, 2); }", NULL, "call-arguments", 2,
              "f takes 1 argument; here are 2");
    file_says("function f(x) = g(x);\nfunction g(x) = f(x);\nmodel m { }", NULL, "function-cycle", 1, "f -> g -> f");
    file_says("function f(x) = x;\nfunction f(x) = x;\nmodel m { }", NULL, "name-twice", 2, "first one");
    file_says("constant c = 1;\nconstant c = 2;\nmodel m { }", NULL, "name-twice", 2, "first one");
    file_says("model m { }\nmodel m { }", NULL, "name-twice", 2, "first one");
    file_says("model R { }", NULL, "name-reserved", 1, "element type");
    file_says("// nothing\n", NULL, "model-missing", 1, "no model");
}

static void
order_mistakes(void **state)
{
    (void)state;
    static const struct mistake m[] = {
        { "parameter a = b;\nparameter b = c + 1;\nparameter c = a;", "value-cycle", 1, "a -> b -> c -> a" },
        { "parameter a = 2*a;", "value-cycle", 1, "a -> a" },
        { "signal s = time;\nparameter a = s;", "read-early", 2, "parameter \"a\" reads signal \"s\"" },
        { "parameter a = time;", "read-early", 1, "reads time" },
        { "1:v;\nparameter a = v.f;", "read-early", 2, "reads \"v.f\"" },
        { "input u = 1;\nparameter a = u;", "read-early", 2, "reads input \"u\"" },
        { "parameter p = 1;\nconstant a = p;", "read-early", 2, "it may read constants" },
        { "parameter a = integral(3);", "read-early", 1, "cannot contain integral" },
        { "1:v -> C:c = 1 { q(0) = time; }", "read-early", 1, "c.q(0) reads time" },
    };

    ALL_ARE_SAID(m);
    HAS("signal a = b; signal b = a;", "signal a = b\n", "signal b = a\n"); /* the equations' business */
}

static void
unit_mistakes(void **state)
{
    (void)state;
    static const struct mistake m[] = {
        { "parameter m_s = 1 [kg]; parameter k = 1 [N/m];\nsignal s = m_s + k;", "unit-clash", 2,
          "[kg] and [N/m] cannot be added" },
        { "parameter m_s = 1 [kg]; parameter k = 1 [N/m];\nsignal s = m_s - k;", "unit-clash", 2, "subtracted" },
        { "parameter m_s = 1 [kg]; parameter k = 1 [N/m];\nsignal s = if m_s < k then 1 else 2;", "unit-clash", 2,
          "\"m_s\" is in [kg]" },
        { "parameter m_s = 1 [kg]; parameter k = 1 [N/m];\nsignal s = if time < 1 then m_s else k;", "unit-clash", 2,
          "alternatives" },
        { "parameter m_s = 1 [kg]; parameter k = 1 [N/m];\nsignal s = max(m_s, k);", "unit-clash", 2, "[N/m]" },
        { "parameter m_s = 1 [kg];\nparameter k [N/m] = m_s;", "unit-clash", 2,
          "parameter \"k\" is in [N/m] (kg/s^2), but its value is in [kg]" },
        { "parameter t = 1 [s];\nparameter w [1/s] = t;", "unit-clash", 2, "[1/s]" },
        { "parameter p = 1 [bar];\nsignal s = if p > 100 then 1 else 0;", "unit-bare", 2, "declared in [bar]" },
        { "parameter p = 1 [bar];\nsignal s = 100 + p;", "unit-bare", 2, "bare number is in SI" },
        { "parameter l = 3;\nparameter p = 1 [bar];\nsignal s = p > l;", "unit-bare", 3, "declared in [bar]" },
        { "parameter x [mm] = 5;", "unit-bare", 1, "5 [mm]" },
        { "parameter x [degree] = 5;", "unit-bare", 1, "[degree]" },
        { "parameter x [degC] = 5;", "unit-bare", 1, "[degC]" },
        { "parameter T = 20 [degC];\nparameter U [K] = T + 5 [degC];", "unit-offset", 2, "[K]" },
        { "parameter U [K] = 2*5 [degC];", "unit-offset", 1, "[K]" },
        { "parameter U [K] = 1 [K] - 5 [degC];", "unit-offset", 1, "[K]" },
        { "parameter m_s = 1 [kg];\nsignal s = sin(m_s);", "unit-argument", 2, "\"m_s\" is in [kg]" },
        { "signal s = exp(time); parameter x = 1 [m];", "unit-argument", 1, "[s]" },
        { "signal s = time^0.123; parameter x = 1 [m];", "unit-exponent", 1, "[s] to the power 0.123" },
        { "parameter n = 2; parameter x = 1 [m];\nsignal s = time^n;", "unit-exponent", 2, "literal number" },
        { "signal s = 2^time; parameter x = 1 [m];", "unit-exponent", 1, "pure number" },
        { "parameter a = 1 [furlongs_];", "unit-unknown", 1, "is not a unit" },
        { "parameter a [m^1/2] = 1;", "unit-unknown", 1, "whole numbers" },
        { "parameter a [kg] = 1 [kg] + der(2);", "read-early", 1, "der" },
        { "signal a [m] = integral(time);", "unit-clash", 1, "[m]" },
        { "signal a = integral(time, 3 [m]);", "unit-clash", 1, "initial value of a" },
        { "signal s = 1 + (time > 2);", "condition-number", 1, "true or false" },
        { "signal s = if time then 1 else 0; parameter x = 1 [m];", "condition-number", 1, "a condition is needed" },
        { "signal s = 1e308 [km];", "number-range", 1, "too large" },
    };

    ALL_ARE_SAID(m);
    file_says("function f(x [m]) [m] = x;\nmodel m {\nsignal s = f(3 [kg]);\n}", NULL, "unit-clash", 3,
              "argument \"x\" of f is in [m]");
    file_says("function f(x [mm]) = x;\nmodel m {\nsignal s = f(3);\n}", NULL, "unit-bare", 3, "[mm]");
    file_says("function f(x [m]) [kg] =\nx;\nmodel m { }", NULL, "unit-clash", 2, "function \"f\" is in [kg]");
}

static void
units_that_fit(void **state)
{
    (void)state;
    static const char *const body[] = {
        "parameter w = 3 [rad/s]; signal s = sin(w*time) + cos(2*pi*time/1 [s]);",
        "parameter k [F] = 0.004*3/w; parameter w = 5500 [rad/s];",
        "parameter p = 3 [bar]; signal s = if p > 0 then p else 0;",
        "parameter p = 3 [bar]; signal s [bar] = p + 2 [psi] - 1 [Pa];",
        "parameter T = 20 [degC]; signal s = if T > 30 [degC] then T - 5 [K] else 0 [degC]; parameter U = min(T, 10 "
        "[degC]);",
        "parameter T = if 1 < 2 then 20 [degC] else -3 [degC];",
        "parameter A = 2 [m^2]; parameter l [m] = sqrt(A); parameter l2 [m] = A^0.5; parameter v [m^3] = A^(3/2); "
        "parameter i [1/m^2] = A^(-1);",
        "parameter d = 30 [degree]; signal s = sin(d) + sign(time) + atan2(time, 2 [s]);",
        "parameter k = 1 [kN/mm]; signal s [N] = k*2 [um];",
        "parameter h = 2 [W/degC]; signal s [W] = h*3 [K];",
        "parameter n = 3; signal s [m] = n*time;",
        "parameter f [Hz] = 50; signal s = sin(2*pi*f*time);",
        "signal on = time > 1; signal s = if on then 1 else 0; input closed = 0; signal q = if closed then 1 else 2;",
    };

    for (size_t k = 0; k < sizeof body / sizeof *body; k++)
        HAS(body[k], "model m\n");
    says(SEV_WARNING, "parameter w = 3 [rad/s];\nparameter f [Hz] = w;", NULL, "unit-hertz", 2, "2*pi");
    says(SEV_WARNING, "parameter w = 3 [rpm];\nparameter f [Hz] = w;", NULL, "unit-hertz", 2, "[rpm]");
}

static void
bond_mistakes(void **state)
{
    (void)state;
    static const struct mistake m[] = {
        { "R:r = 1 -> 1:v;", "bond-arrow", 1, "Write v -> R:r." },
        { "C:c = 1 -> 1:v;", "bond-arrow", 1, "takes power" },
        { "I:i = 1 -> 1:v;", "bond-arrow", 1, "I:i" },
        { "Se:s = 1;", "bond-none", 1, "Se:s has no bond" },
        { "1:v;\nv -> R:r = 1 -> v;", "bond-many", 2, "R:r has 2 bonds; it takes one" },
        { "1:v;\nv -> TF:t = 1;", "bond-many", 2, "one in and one out" },
        { "1:v -> TF:t = 1; 1:w -> t;", "bond-arrow", 1, "both arrows point at TF:t" },
        { "TF:t = 1 -> 1:v; t -> 1:w;", "bond-arrow", 1, "away from" },
        { "TF:t = 1;", "bond-none", 1, "no bonds" },
        { "1:v;\nv -> v;", "bond-self", 2, "to itself" },
        { "1:v -> 0:n -> 1:w as x;", "bond-name", 1, "here are 2" },
    };

    ALL_ARE_SAID(m);
}

static void
bond_units(void **state)
{
    (void)state;
    static const struct mistake m[] = {
        { "1:v -> I:m = 2 [kg];\nv -> R:r = 3 [ohm];", "unit-clash", 2,
          "the bonds of R:r and I:m have incompatible units" },
        { "1:v -> I:m = 2 [kg];\nv -> R:r = 3 [ohm];", "unit-clash", 2, "effort in [N], flow in [m/s]" },
        { "parameter k = 3 [N/m];\n1:v -> I:m = 2 [kg]; v -> C:c = k;", "unit-clash", 2, "C:c" },
        { "1:v;\nv -> C:c = 3 [J/K];", "unit-bond", 2, "C:c is given in [J/K]" },
        { "1:v -> R:r = 3 [kg];", "unit-bond", 1, "R:r is given in [kg]" },
        { "1:v -> I:m = 2 [kg]; v -> TF:t = 2 [m] -> 1:w; w -> R:r = 2 [N.s/m];", "unit-clash", 1, "TF:t" },
        { "1:v -> GY:g = 2 [N/A] -> 1:w; v -> R:a = 2 [N.s/m]; w -> R:b = 3 [N.s/m];", "unit-clash", 1, "GY:g" },
        { "1:v -> I:m = 2 [kg];\noutput x [N] = v.f;", "unit-clash", 2, "[m/s]" },
        { "parameter k = 3 [N/m];\n1:v -> I:m = 2 [kg]; v -> C:c { e = k; }", "unit-clash", 2,
          "C:c requires effort in [N/m]" },
        { "1:v -> I:m = 2 [kg]; v -> C:c = 1 { q(0) = 1 [s]; }", "unit-clash", 1, "c.q(0)" },
        { "1:v -> I:m = 2 [kg];\nSe:s = 3 [V] -> v;", "unit-clash", 2, "Se:s" },
        { "1:v { f(0) = 1 [kg]; } v -> I:m = 2 [kg];", "unit-clash", 1, "v.f(0)" },
        { "1:v -> R:r = 3 [N.s/m];\nMSe:s = 2 [V]*cos(time/1 [s])  -> v;", "unit-clash", 2, "Se:s" },
    };

    ALL_ARE_SAID(m);
    /* one unit anywhere: in a general law, an argument, an initial value, a declared output */
    HAS("1:v -> R:d { e = 2 [N.s^2/m^2]*f*abs(f); } v -> C:c = 1;", "common v.f [m/s]\n", "stored c.q [m]\n");
    HAS("0:a -> C:c { e = 3 [J/mol]*ln(2 [1/mol]*q); q(0) = 1; }", "common a.e [J/mol]\n", "stored c.q [mol]\n");
    HAS("1:v -> C:c = 2 { q(0) = 1 [mm]; } v -> R:r = 1;", "common v.f [m/s]\n", "port r.e [N]\n");
    HAS("1:v -> R:r = 2; output x [l/min] = v.f; output p = r.e;", "port r.e [Pa]\n", "output p [Pa] = p\n");
    /* nothing is said where nothing has a unit, and a bare factor fits all */
    HAS("1:v -> R:r { e = f^3 + f; } v -> C:c { e = 3*q + q^3; }", "common v.f\n", "stored c.q\n");
    HAS("1:v -> I:m = 2 [kg]; v -> R:r { e = 3*f + 4*f^3; }", "port r.e [N]\n");
    HAS("parameter k = 3 [kN/m]; 1:v -> I:m = 2 [kg]; v -> C:c = 1/k; v -> R:r = 3 [N.s/m]; output p [W] = r.power;",
        "common v.f [m/s]\n", "stored c.q [m]\n", "stored m.p [N.s]\n", "port r.e [N]\n");
    HAS("parameter A = 20 [cm^2]; 0:p -> C:oil = 1 [ml/bar]; p -> TF:piston = 1/A -> 1:rod; rod -> I:m = 3 [kg];",
        "common p.e [Pa]\n", "common rod.f [m/s]\n");
    HAS("1:a -> GY:emf = 1.2 [N.m/A] -> 1:r; a -> R:w = 2 [ohm]; r -> I:j = 3 [kg.m^2]; r -> TF:gear = 1/210 -> 1:l; l "
        "-> R:b = 3;",
        "common r.f [1/s]\n", "common l.f\n");
    HAS("1:a -> 1:b as n; 0:c -> 0:d; a -> I:m = 2 [kg]; c -> I:l = 2 [H];", "bond n.e [N]\n", "bond c-d.f [A]\n");
}

static void
law_mistakes(void **state)
{
    (void)state;
    static const struct mistake m[] = {
        { "1:v -> R:r;", "law-missing", 1, "R:r has no law" },
        { "1:v -> C:r { }", "law-missing", 1, "q and e" },
        { "Se:s -> 1:v;", "law-missing", 1, "Se:s has no value" },
        { "1:v -> TF:t -> 1:w;", "law-missing", 1, "has no ratio" },
        { "1:v -> C:c { f = 2; }", "law-quantity", 1, "a law of C relates q and e" },
        { "1:v -> R:r { q = 2; }", "law-quantity", 1, "a law of R relates e and f" },
        { "1:v -> I:i { e = 2; }", "law-quantity", 1, "a law of I relates p and f" },
        { "1:v -> C:c { z = 2; }", "law-quantity", 1, "\"z\"" },
        { "1:v -> R:r { e = q; }", "law-quantity", 1, "R:r has no displacement q" },
        { "1:v -> C:c { e = p; }", "law-quantity", 1, "no momentum p" },
        { "1:v -> C:c { e = q + f; }", "law-quantity", 1, "relates q and e" },
        { "1:v -> R:r { e = f + e; }", "law-circular", 1, "both sides" },
        { "1:v -> R:r = 1 { e = f; }", "law-twice", 1, "two laws" },
        { "1:v -> R:r { e = f; e = 2*f; }", "law-twice", 1, "two laws" },
        { "Se:s { e = 3; } s -> 1:v;", "law-block", 1, "Write Se:s = 3." },
        { "1:v -> R:r such that r.e;", "law-residual", 1, "sources" },
        { "1:v = 3;", "law-junction", 1, "no law" },
        { "1:v { e = 3; }", "law-junction", 1, "no law" },
        { "1:v -> C:c = 1 { p(0) = 1; }", "initial-quantity", 1, "q(0) or e(0)" },
        { "1:v -> R:r = 1 { f(0) = 1; }", "initial-quantity", 1, "Only C, I and junctions" },
        { "1:v { e(0) = 1; }", "initial-quantity", 1, "A 1-junction has f(0)" },
        { "0:v { f(0) = 1; }", "initial-quantity", 1, "A 0-junction has e(0)" },
        { "1:v -> C:c = 1 { q(0) = 1; e(0) = 2; }", "initial-twice", 1, "two initial values" },
        { "1:v;\nsignal s = v.e;", "name-quantity", 2, "read that of an element on it" },
        { "0:v;\nsignal s = v.f;", "name-quantity", 2, "v.e" },
        { "1:v -> R:r = 1;\nsignal s = r.q;", "name-quantity", 2, "r.e, r.f and r.power" },
        { "1:v -> C:c = 1;\nsignal s = c.p;", "name-quantity", 2, "a C stores is q" },
        { "1:v -> TF:t = 1 -> 1:w;\nsignal s = t.e;", "name-quantity", 2, "two-port" },
        { "1:v -> R:r = 1 as b;\nsignal s = b.q;", "name-quantity", 2, "b.power" },
        { "1:v -> R:r = 1;\nsignal s = r.e.f;", "name-quantity", 2, "no parts" },
    };

    ALL_ARE_SAID(m);
    says(SEV_NOTE, "1:v -> TF:t = cos(time/1 [s]) -> 1:w;", NULL, "modulated-spelling", 1, "write MTF:t");
    says(SEV_NOTE, "1:v -> R:r = 2*v.f;", NULL, "modulated-spelling", 1, "MR:r");
    says(SEV_NOTE, "parameter f = 1;\n1:v -> R:r { e = 3*f; }", NULL, "name-shadow", 2, "element's own");
}

static void
experiment_mistakes(void **state)
{
    (void)state;
    static const struct mistake m[] = {
        { "experiment x of m { }", "experiment-stop", 1, "stop = 10 [s]" },
        { "experiment x of m { stop = 1; stop = 2; }", "experiment-twice", 1, "set twice" },
        { "experiment x of m { stop = 1 [m]; }", "unit-clash", 1, "\"stop\" is in [s]" },
        { "experiment x of m { stop = 1; rtol = 1 [m]; }", "unit-clash", 1, "rtol" },
        { "experiment x of m { stop = time; }", "read-early", 1, "reads time" },
        { "experiment x of m { stop = 1; stpo = 2; }", "experiment-setting", 1, "Did you mean \"stop\"" },
        { "experiment x of m { stop = 1; solver = bfd; }", "experiment-solver", 1, "Did you mean \"bdf\"" },
        { "experiment x of m { stop = 1; let kk = 2; }", "name-unknown", 1, "called \"kk\"" },
        { "experiment x of m { stop = 1; let k = 2; let k = 3; }", "let-twice", 1, "twice" },
        { "experiment x of m { stop = 1; let k = 2 [m]; }", "unit-clash", 1, "[N/m]" },
        { "experiment x of m { stop = 1; let k = time*1 [N/m/s]; }", "read-early", 1, "reads time" },
        { "experiment x of m { stop = 1; let u = v.f; }", "read-early", 1, "reads \"v.f\"" },
        { "experiment x of m { stop = 1; let s = 2; }", "let-target", 1, "a signal" },
        { "experiment x of m { stop = 1; let g = 2; }", "let-target", 1, "a constant" },
        { "experiment x of m { stop = 1; let s(0) = 2; }", "let-target", 1, "integral" },
        { "experiment x of m { stop = 1; let c.p(0) = 2; }", "initial-quantity", 1, "it has q(0) or e(0)" },
        { "experiment x of m { stop = 1; let c.q(0) = 2; let c.e(0) = 3; }", "let-twice", 1, "given twice" },
        { "experiment x of m { stop = 1; let d.q(0) = 2; }", "name-unknown", 1, "called \"d\"" },
        { "experiment x of m { stop = 1; observe yy; }", "observe-output", 1, "no output \"yy\"" },
        { "experiment x of m { stop = 1; observe s; }", "observe-output", 1, "not as an output" },
        { "experiment x of m { stop = 1; observe y within 1; }", "unit-bare", 1, "[mm]" },
        { "experiment x of m { stop = 1; observe y within 1 [kg]; }", "unit-clash", 1, "tolerance of \"y\"" },
        { "experiment x of m { stop = 1; observe T within 1 [degC]; }", "unit-offset", 1, "difference" },
        { "experiment x of m { stop = 1; observe y; observe y; }", "experiment-twice", 1, "observed twice" },
        { "experiment x of m { stop = 1; keep cc; }", "name-unknown", 1, "no element" },
        { "experiment x of m { stop = 1; keep v; }", "keep-element", 1, "is a junction" },
        { "experiment x of m { stop = 1; record v.e; }", "name-quantity", 1, "1-junction" },
        { "experiment x of m { stop = 1; window 1 [m] .. 2; }", "unit-clash", 1, "window" },
        { "experiment x of m { stop = 1; start from equilibrium; start from equilibrium; }", "experiment-twice", 1,
          "twice" },
    };

    for (size_t k = 0; k < sizeof m / sizeof *m; k++)
        says(SEV_ERROR,
             "parameter k = 2 [N/m]; constant g = 9; input u = 1; 1:v -> C:c = 1/k; signal s = 2*u; output y [mm] = "
             "integral(v.f); output T [degC] = s*1 [K];",
             m[k].body, m[k].code, m[k].line + 2, m[k].message);
    says(SEV_ERROR, "input u [V];", "experiment x of m { stop = 1; }", "input-unset", 1, "let u =");
    file_says("model m { }\nexperiment x of mm { stop = 1; }", NULL, "experiment-model", 2, "Did you mean \"m\"");
    file_says("model m { }\nexperiment x of m { stop = 1; }\nexperiment x of m { stop = 1; }", NULL, "name-twice", 3,
              "first one");
    file_says("model m { }\nexperiment smooth of m { stop = 1; }", "smoth", "experiment-unknown", 0,
              "Did you mean \"smooth\"");
    HAS_IN("experiment x of m { stop = 1; observe T within 0.5 [K]; }", "output T [degC] = 3*time; output y = 2;",
           "observe T within 0.5\n");
}

/* ---------------------------------------------------------------- size */

static void
grows_with_the_text(void **state)
{
    (void)state;
    strbuf b = { 0 };
    struct run r;

    strbuf_puts(&b, "model m {\nparameter k = 100 [N/m];\n1:v0;\n");
    for (int k = 1; k <= 10000; k++)
        strbuf_printf(&b,
                      "parameter m%d = %d [kg];\n1:v%d -> I:mass%d = m%d;\nv%d -> 0:link%d -> v%d;\nlink%d -> "
                      "C:spring%d { e = k*q; }\nv%d -> R:drag%d = %d.5;\n"
                      "signal s%d = s%d + v%d.f;\n",
                      k, k, k, k, k, k - 1, k, k, k, k, k, k, k, k, k == 10000 ? k : k + 1, k);
    strbuf_puts(&b, "}");
    r = elaborate_with("test.bg", b.at, NULL);
    if (!r.f)
        print_said(&r);
    assert_non_null(r.f);
    assert_int_equal(r.f->element.n, 30000);
    assert_int_equal(r.f->bond.n, 20000);
    /* one template a kind of law, not one an element */
    assert_true(pool_count(r.p) < 20100);
    /* neighbours are near */
    for (size_t k = 0; k < r.f->port.n; k++) {
        uint32_t a = r.f->var.at[r.f->port.at[k].e].position, c = r.f->var.at[r.f->port.at[k].f].position;

        assert_true((a > c ? a - c : c - a) < 100);
    }
    done(&r);
    strbuf_free(&b);
}

static void
deep_texts(void **state)
{
    (void)state;
    strbuf b = { 0 };
    struct run r;

    /* each parameter reads the next, and each function calls the next */
    for (int k = 0; k < 20000; k++)
        strbuf_printf(&b, "function f%d(x) = f%d(x);\n", k, k + 1);
    strbuf_puts(&b, "function f20000(x) = x + 3;\nmodel m {\n");
    for (int k = 0; k < 20000; k++)
        strbuf_printf(&b, "parameter p%d = p%d + 1;\n", k, k + 1);
    strbuf_puts(&b, "parameter p20000 = 1;\nsignal s = f0(time/1 [s]);\nsignal sum = 0");
    for (int k = 0; k < 1500; k++)
        strbuf_printf(&b, " + p%d", k);
    strbuf_puts(&b, ";\nsignal steps = ");
    for (int k = 0; k < 1000; k++)
        strbuf_printf(&b, "if time < %d then p%d else ", k, k);
    strbuf_puts(&b, "0;\n}");
    r = elaborate_with("test.bg", b.at, NULL);
    if (!r.f)
        print_said(&r);
    assert_non_null(r.f);
    done(&r);
    b.n = 0;
    for (int k = 0; k < 5000; k++)
        strbuf_printf(&b, "function f%d(x) = f%d(x) + f%d(x + %d.5);\n", k, k + 1, k + 1, k);
    strbuf_puts(&b, "function f5000(x) = x;\nmodel m { signal s = f0(time); }");
    r = elaborate_with("test.bg", b.at, NULL);
    assert_null(r.f);
    assert_string_equal(diag_at(r.s, 0)->code, "function-size");
    done(&r);
    strbuf_free(&b);
}

/* ---------------------------------------------------------------- all */

static int
begin(void **state)
{
    (void)state;
    units = units_new();
    return units && mkdtemp(folder) ? 0 : -1;
}

static int
end(void **state)
{
    char *path = bg_format("%s/t.csv", folder);

    (void)state;
    unlink(path);
    rmdir(folder);
    free(path);
    units_free(units);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quarter_car),
        cmocka_unit_test(elements),
        cmocka_unit_test(bonds),
        cmocka_unit_test(values),
        cmocka_unit_test(functions_are_written_out),
        cmocka_unit_test(nested_calls_stay_small),
        cmocka_unit_test(experiments),
        cmocka_unit_test(set_from_outside),
        cmocka_unit_test(tables),
        cmocka_unit_test(table_mistakes),
        cmocka_unit_test(names_mistakes),
        cmocka_unit_test(order_mistakes),
        cmocka_unit_test(unit_mistakes),
        cmocka_unit_test(units_that_fit),
        cmocka_unit_test(bond_mistakes),
        cmocka_unit_test(bond_units),
        cmocka_unit_test(law_mistakes),
        cmocka_unit_test(experiment_mistakes),
        cmocka_unit_test(grows_with_the_text),
        cmocka_unit_test(deep_texts),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
