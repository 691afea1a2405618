/* cmd_test.c - bgc test: checks what experiments expect */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "columns.h"
#include "command.h"
#include "expectations.h"
#include "quote.h"
#include "report.h"

/* Result of one experiment. */
struct tested {
    const char *file; /* as it was given */
    char *experiment; /* NULL: the file itself could not be read or compiled */
    loaded *of;       /* its model */
    expectations e;
    char *error; /* why it did not run */
};

struct session {
    const request *q;
    VEC(struct tested) tested;
    size_t held, failed, errors;
    int status;
};

static bool
expects(const ast_experiment *x)
{
    for (int i = 0; i < x->nitems; i++)
        if (x->item[i].kind == AST_EXP_EXPECT)
            return true;
    return false;
}

static void
worse(struct session *s, int status)
{
    if (status > s->status)
        s->status = status;
}

static void
could_not(struct session *s, struct tested *t, const sources *of, int status)
{
    const char *said = of ? diag_first_error(of) : "";

    t->error = bg_strdup(*said ? said : "it could not be taken");
    s->errors++;
    worse(s, status);
}

static void
test_experiment(struct session *s, const char *path, const loaded *file, const ast_experiment *x)
{
    struct run_settings settings = { .q = s->q, .shown = -1 };
    expect_options o = { .adjust = adjust_run, .ctx = &settings };
    struct tested t = { .file = path, .experiment = bg_strdup(x->name), .of = bg_calloc(1, sizeof *t.of) };
    int status = load_experiment(s->q, file, x->name, STAGE_MODEL, t.of);

    if (status != STATUS_DONE) {
        could_not(s, &t, t.of->c.sources, status);
    } else {
        bool fine = expectations_run(&t.of->c, &o, &t.e);

        progress_done(&settings);
        print_diagnostics(s->q, t.of->c.sources);
        if (!fine)
            could_not(s, &t, t.of->c.sources, status_of(t.of->c.sources));
    }
    for (size_t i = 0; i < t.e.list.n && !t.error; i++) {
        s->held += t.e.list.at[i].holds;
        s->failed += !t.e.list.at[i].holds;
    }
    vec_push(&s->tested, t);
}

/* Tests the named experiments, or all, that expect something. */
static void
test_file(struct session *s, const char *path)
{
    request parsing = *s->q;
    loaded file;
    int status;
    size_t found = 0;

    parsing.text[OPT_EXPERIMENT] = NULL;
    status = load_model(&parsing, path, STAGE_PARSE, EXPERIMENT_OPTIONAL, &file);
    if (status != STATUS_DONE) {
        struct tested t = { .file = path };

        could_not(s, &t, file.c.sources, status);
        vec_push(&s->tested, t);
    }
    for (size_t i = 0; status == STATUS_DONE && i < file.c.ast->ndecls; i++) {
        const ast_experiment *x = file.c.ast->decl[i].kind == AST_DECL_EXPERIMENT ? file.c.ast->decl[i].experiment
                                                                                  : NULL;
        bool chosen = s->q->experiment.n == 0;

        for (size_t k = 0; x && k < s->q->experiment.n; k++)
            chosen |= !strcmp(s->q->experiment.at[k], x->name);
        if (!x || !chosen || !expects(x))
            continue;
        found++;
        test_experiment(s, path, &file, x);
    }
    if (status == STATUS_DONE && !found && !s->q->quiet)
        complain("%s: no experiment%s expects anything", path, s->q->experiment.n ? " of those named" : "");
    loaded_free(&file);
}

/* ---------------------------------------------------------------- text output */

static const unit *
shown_in(const struct tested *t, const expectation *x, const char **text)
{
    const flat_output *o = x->of->kind == AST_EXPECT_ACTIVITY ? NULL
                                                              : &t->of->c.flat->experiment.record.at[x->of->record];

    *text = o ? unit_shown(o->unit, o->display) : NULL;
    return o ? o->display : NULL;
}

static int
line_of_expectation(const struct tested *t, const expectation *x)
{
    int line, at;

    source_place(t->of->c.sources, x->of->at.file, x->of->at.begin, &line, &at);
    return line;
}

/* The statement as written in the text, on one line, without `expect` and `;`. */
static char *
statement(const struct tested *t, const expectation *x)
{
    const char *text = source_text(t->of->c.sources, x->of->at.file) + x->of->at.begin;
    size_t n = x->of->at.end - x->of->at.begin - 1, from = strlen("expect");
    strbuf b = { 0 };

    while (n > from && strchr(" \t\r\n", text[n - 1]))
        n--;
    for (size_t i = from; i < n; i++) {
        bool blank = strchr(" \t\r\n", text[i]) != NULL;

        if (!blank && b.n && strchr(" \t\r\n", text[i - 1]))
            strbuf_printf(&b, " ");
        if (!blank)
            strbuf_add(&b, &text[i], 1);
    }
    return b.at;
}

/* The result as a sentence. free() it. */
static char *
result_text(const struct tested *t, const expectation *x)
{
    const char *text, *space;
    const unit *u = shown_in(t, x, &text);
    double scale = u ? unit_scale(u) : 1;
    strbuf b = { 0 };

    if (x->why)
        return bg_strdup(x->why);
    text = text ? text : "";
    space = *text ? " " : "";
    if (x->of->kind != AST_EXPECT_MODEL)
        strbuf_printf(&b, "%.9g%s%s, expected %.9g%s%s: ", to_display(u, x->value), space, text,
                      to_display(u, x->wanted), space, text);
    strbuf_printf(&b, "off by %.4g%s%s, %.4g%s%s allowed", x->off / scale, space, text, x->within / scale, space, text);
    if (!isnan(x->time))
        strbuf_printf(&b, ", at %.9g s", x->time);
    return b.at;
}

static void
put_rows(const struct tested *t, table *rows)
{
    for (size_t i = 0; i < t->e.list.n; i++) {
        const expectation *x = &t->e.list.at[i];
        char *text = statement(t, x), *why = result_text(t, x);

        table_put(rows, x->holds ? "ok" : "FAILED");
        table_put(rows, "%s:%d", t->file, line_of_expectation(t, x));
        table_put(rows, "%s", t->experiment);
        table_put(rows, "%s", text);
        table_put(rows, "%s", why);
        free(text);
        free(why);
    }
}

static void
report_tests(const struct session *s, FILE *out)
{
    table rows = { .columns = 5, .left = 5, .tail = true };
    size_t all = s->held + s->failed;

    for (size_t i = 0; i < s->tested.n; i++) {
        const struct tested *t = &s->tested.at[i];

        if (!t->error) {
            put_rows(t, &rows);
            continue;
        }
        table_put(&rows, "ERROR");
        table_put(&rows, "%s", t->file);
        table_put(&rows, "%s", t->experiment ? t->experiment : "");
        table_put(&rows, "%s", "");
        table_put(&rows, "%s", t->error);
    }
    table_print(&rows, out, "");
    put_text(out, "%zu of %zu hold", s->held, all);
    if (s->errors)
        put_text(out, "; %zu could not be run", s->errors);
    fputc('\n', out);
}

/* ---------------------------------------------------------------- output for other programs */

static void
put_json(json *j, const struct tested *t, const expectation *x)
{
    char *text = statement(t, x);

    json_open(j, '{');
    json_key(j, "expect"), json_string(j, text);
    json_key(j, "line"), json_count(j, (uint64_t)line_of_expectation(t, x));
    json_key(j, "holds"), json_bool(j, x->holds);
    json_key(j, "value"), json_number(j, x->of->kind == AST_EXPECT_MODEL || x->why ? NAN : x->value);
    json_key(j, "expected"), json_number(j, x->of->kind == AST_EXPECT_MODEL || x->why ? NAN : x->wanted);
    json_key(j, "off"), json_number(j, x->why ? NAN : x->off);
    json_key(j, "within"), json_number(j, x->within);
    json_key(j, "time"), json_number(j, x->time);
    json_key(j, "error"), json_string(j, x->why);
    json_close(j, '}');
    free(text);
}

static void
write_tests_json(const struct session *s, FILE *out)
{
    json j = { .out = out };

    json_open(&j, '{');
    json_key(&j, "passed"), json_count(&j, s->held);
    json_key(&j, "failed"), json_count(&j, s->failed);
    json_key(&j, "errors"), json_count(&j, s->errors);
    json_key(&j, "experiments");
    json_open(&j, '[');
    for (size_t i = 0; i < s->tested.n; i++) {
        const struct tested *t = &s->tested.at[i];

        json_open(&j, '{');
        json_key(&j, "file"), json_string(&j, t->file);
        json_key(&j, "experiment"), json_string(&j, t->experiment);
        json_key(&j, "error"), json_string(&j, t->error);
        json_key(&j, "expectations");
        json_open(&j, '[');
        for (size_t k = 0; k < t->e.list.n && !t->error; k++)
            put_json(&j, t, &t->e.list.at[k]);
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

static void
put_attribute(FILE *out, const char *name, const char *value)
{
    char *text = quoted(QUOTE_MARKUP, value);

    fprintf(out, " %s=\"%s\"", name, text);
    free(text);
}

static void
put_case(FILE *out, const struct tested *t, const expectation *x)
{
    char *text = statement(t, x), *why = result_text(t, x);

    fputs("    <testcase", out);
    put_attribute(out, "classname", t->experiment);
    put_attribute(out, "name", text);
    put_attribute(out, "file", t->file);
    fprintf(out, " line=\"%d\"", line_of_expectation(t, x));
    if (x->holds) {
        fputs("/>\n", out);
    } else {
        fputs(">\n      <failure", out);
        put_attribute(out, "message", why);
        fputs("/>\n    </testcase>\n", out);
    }
    free(text);
    free(why);
}

/* A suite for each experiment. An experiment that did not run is a case with an error. */
static int
write_junit(const struct session *s, const char *path)
{
    outfile f;

    if (!outfile_open(&f, path))
        return complain_file(path);
    fprintf(f.out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"bgc test\" tests=\"%zu\" failures=\"%zu\" "
            "errors=\"%zu\">\n",
            s->held + s->failed + s->errors, s->failed, s->errors);
    for (size_t i = 0; i < s->tested.n; i++) {
        const struct tested *t = &s->tested.at[i];
        size_t n = t->error ? 0 : t->e.list.n, failed = 0;
        char *name = bg_format("%s%s%s", t->file, t->experiment ? " " : "", t->experiment ? t->experiment : "");

        for (size_t k = 0; k < n; k++)
            failed += !t->e.list.at[k].holds;
        fputs("  <testsuite", f.out);
        put_attribute(f.out, "name", name);
        fprintf(f.out, " tests=\"%zu\" failures=\"%zu\" errors=\"%d\" time=\"%.3f\">\n", n + (t->error != NULL), failed,
                t->error != NULL, t->e.seconds);
        if (t->error) {
            fputs("    <testcase", f.out);
            put_attribute(f.out, "classname", t->experiment ? t->experiment : t->file);
            put_attribute(f.out, "name", "runs");
            put_attribute(f.out, "file", t->file);
            fputs(">\n      <error", f.out);
            put_attribute(f.out, "message", t->error);
            fputs("/>\n    </testcase>\n", f.out);
        }
        for (size_t k = 0; k < n; k++)
            put_case(f.out, t, &t->e.list.at[k]);
        fputs("  </testsuite>\n", f.out);
        free(name);
    }
    fputs("</testsuites>\n", f.out);
    return outfile_commit(&f) ? STATUS_DONE : complain_file(path);
}

int
cmd_test(const request *q)
{
    request testing = *q;
    struct session s = { .q = &testing };

    testing.expect = true;
    if (q->text[OPT_JUNIT] && !may_be_result(q->text[OPT_JUNIT]))
        return complain_file(q->text[OPT_JUNIT]);
    for (size_t i = 0; i < q->file.n; i++)
        test_file(&s, q->file.at[i]);
    if (s.tested.n == 0) {
        complain("nothing was tested; an experiment says what it expects: expect y at 2 [s] = 0.1 [m] within 1 [mm];");
        return STATUS_USAGE;
    }
    if (s.failed)
        worse(&s, STATUS_MODEL);
    if (q->json)
        write_tests_json(&s, stdout);
    else
        report_tests(&s, stdout);
    if (fflush(stdout) != 0)
        worse(&s, complain_file("-"));
    if (q->text[OPT_JUNIT])
        worse(&s, write_junit(&s, q->text[OPT_JUNIT]));
    for (size_t i = 0; i < s.tested.n; i++) {
        struct tested *t = &s.tested.at[i];

        expectations_free(&t->e);
        if (t->of)
            loaded_free(t->of);
        free(t->of);
        free(t->experiment);
        free(t->error);
    }
    vec_free(&s.tested);
    return s.status;
}
