/* cmd_check.c - bgc check: compiles up to the equations and prints counts and names */
#include <math.h>
#include <string.h>

#include "command.h"
#include "lint.h"
#include "parameters.h"
#include "passive.h"
#include "quote.h"
#include "report.h"
#include "zero_divisors.h"

static void
dump(loaded *l, const char *pass, FILE *out)
{
    char *text = NULL;
    size_t n = 0;
    FILE *into = open_memstream(&text, &n);
    strbuf clean = { 0 };

    if (!into)
        return;
    compile_dump(&l->c, pass, into);
    fclose(into);
    quote(&clean, QUOTE_LINES, text, n);
    fwrite(clean.at, 1, clean.n, out);
    strbuf_free(&clean);
    free(text);
}

/* Number of bonds in the text: a bond between two elements corresponds to two ports of an implicit junction. */
static size_t
count_bonds(const flat_model *f)
{
    size_t n = f->port.n + f->bond.n;

    for (size_t i = 0; i < f->junction.n; i++)
        n -= f->junction.at[i].implicit;
    return n;
}

/* What dependent storage i stores; NULL: that is a state, because its law is flat somewhere (equations.loose). */
static const char *
dependent_stored_name(const loaded *l, size_t i)
{
    const flat_port *p = &l->c.flat->port.at[l->c.causal->dependent.at[i]];

    return l->c.equations->var.at[p->stored].kind == DEF_STATE ? NULL : var_name(l->c.flat, p->stored);
}

static const char *
state_name(const loaded *l, size_t i)
{
    return var_name(l->c.flat, l->c.equations->state.at[i].var);
}

/* The elements of block i, those that own its unknowns, each once. */
static void
put_loop(const loaded *l, size_t i, strbuf *b)
{
    const eq_block *block = &l->c.equations->block.at[i];
    map seen = { 0 };
    const flat_model *f = l->c.flat;
    size_t n = 0;

    for (uint32_t k = 0; k < block->n; k++) {
        const flat_var *v = &f->var.at[l->c.equations->unknown.at[block->unknown0 + k]];
        const char *name = v->kind == VAR_PORT || v->kind == VAR_STORED
                               ? f->element.at[f->port.at[v->owner].element].name
                           : v->kind == VAR_COMMON ? f->junction.at[v->owner].name
                                                   : var_name(f, l->c.equations->unknown.at[block->unknown0 + k]);
        uint64_t key = name ? bg_hash_bytes(name, strlen(name), 0) : 0;

        if (!name || map_get(&seen, key) != MAP_NONE)
            continue;
        map_set(&seen, key, 1);
        if (n++ < 6)
            strbuf_printf(b, "%s%s", n > 1 ? ", " : "", name);
    }
    if (n > 6)
        strbuf_printf(b, " and %zu more", n - 6);
    map_free(&seen);
}

static const char *
plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static void
put_count(FILE *out, size_t n, const char *what)
{
    if (n)
        put_text(out, ", %zu %s%s", n, what, plural(n));
    else
        put_text(out, ", no %ss", what);
}

static void
report_check(const loaded *l, FILE *out)
{
    const flat_model *f = l->c.flat;
    size_t nblocks, ndependent = 0, told = 0;

    put_text(out, "%s: %zu element%s, %zu bond%s", f->name, f->element.n, plural(f->element.n), count_bonds(f),
             plural(count_bonds(f)));
    if (l->c.component) {
        fputs("; a component: its equations depend on what joins its ports\n", out);
        return;
    }
    nblocks = l->c.equations->block.n;
    for (size_t i = 0; i < l->c.causal->dependent.n; i++)
        ndependent += dependent_stored_name(l, i) != NULL;
    put_count(out, l->c.equations->state.n, "state");
    put_count(out, ndependent, "dependent state");
    put_count(out, equations_nloops(l->c.equations), "algebraic loop");
    fputc('\n', out);
    if (ndependent) {
        fputs("  dependent: ", out);
        for (size_t i = 0; i < l->c.causal->dependent.n && told < 12; i++) {
            const char *name = dependent_stored_name(l, i);

            if (name)
                put_text(out, "%s%s", told++ ? ", " : "", name);
        }
        if (ndependent > 12)
            put_text(out, " and %zu more", ndependent - 12);
        fputs(ndependent == 1 ? "; it follows from other states\n" : "; they follow from other states\n", out);
    }
    for (size_t i = 0; i < nblocks && i < 12; i++) {
        strbuf b = { 0 };

        put_loop(l, i, &b);
        if (b.n)
            put_text(out, "  solved together: %s\n", b.at);
        strbuf_free(&b);
    }
    if (nblocks > 12)
        put_text(out, "  and %zu more loops\n", nblocks - 12);
}

/* The place of a span; null if it has none. */
static void
put_place(json *j, const sources *s, span at)
{
    bool placed = span_known(at) && at.file < sources_count(s);
    int line = 0, col = 0, end_line = 0, end_col = 0;

    if (placed) {
        source_place(s, at.file, at.begin, &line, &col);
        source_place(s, at.file, at.end, &end_line, &end_col);
    }
    json_key(j, "file"), json_string(j, placed ? source_path(s, at.file) : NULL);
    json_key(j, "line"), json_number(j, placed ? line : NAN);
    json_key(j, "column"), json_number(j, placed ? col : NAN);
    json_key(j, "end_line"), json_number(j, placed ? end_line : NAN);
    json_key(j, "end_column"), json_number(j, placed ? end_col : NAN);
}

/* `notes` are texts only, as in earlier versions; `related` has their places. */
static void
put_children(json *j, const sources *s, const diagnostic *d)
{
    json_key(j, "notes");
    json_open(j, '[');
    for (size_t k = 0; k < d->nchild; k++)
        json_string(j, d->child[k].message);
    json_close(j, ']');
    json_key(j, "related");
    json_open(j, '[');
    for (size_t k = 0; k < d->nchild; k++) {
        json_open(j, '{');
        json_key_string(j, "kind", d->child[k].help ? "help" : "note");
        put_place(j, s, d->child[k].at);
        json_key_string(j, "message", d->child[k].message);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
put_diagnostics(json *j, const sources *s)
{
    static const char *const severity[] = { [SEV_ERROR] = "error", [SEV_WARNING] = "warning", [SEV_NOTE] = "note" };

    for (size_t i = 0; s && i < diag_count(s); i++) {
        const diagnostic *d = diag_at(s, i);

        json_open(j, '{');
        json_key_string(j, "severity", severity[d->severity]);
        put_place(j, s, d->at);
        json_key_string(j, "code", d->code);
        json_key_string(j, "message", d->message);
        put_children(j, s, d);
        json_close(j, '}');
    }
}

static const char *
name_of_model(const loaded *l)
{
    for (size_t i = 0; l->c.ast && i < l->c.ast->ndecls; i++)
        if (l->c.ast->decl[i].kind == AST_DECL_MODEL)
            return l->c.ast->decl[i].model->name;
    return NULL;
}

/* Writes up to the end of its diagnostics; the file's other models follow. */
static void
begin_json(json *j, const loaded *l, bool fine)
{
    const flat_model *f = l->c.flat;

    json_open(j, '{');
    json_key(j, "model"), json_string(j, f ? f->name : name_of_model(l));
    json_key_string(j, "file", l->path);
    if (fine) {
        json_key(j, "elements"), json_count(j, f->element.n);
        json_key(j, "bonds"), json_count(j, count_bonds(f));
        json_key(j, "states");
        json_open(j, '[');
        for (size_t i = 0; !l->c.component && i < l->c.equations->state.n; i++)
            json_string(j, state_name(l, i));
        json_close(j, ']');
        json_key(j, "dependent_states");
        json_open(j, '[');
        for (size_t i = 0; !l->c.component && i < l->c.causal->dependent.n; i++)
            if (dependent_stored_name(l, i))
                json_string(j, dependent_stored_name(l, i));
        json_close(j, ']');
        json_key(j, "algebraic_loops"), json_count(j, l->c.component ? 0 : equations_nloops(l->c.equations));
    }
    json_key(j, "diagnostics");
    json_open(j, '[');
    put_diagnostics(j, l->c.sources);
}

static void
end_json(json *j)
{
    json_close(j, ']');
    json_close(j, '}');
}

/* ---------------------------------------------------------------- warnings */

/* The warnings that a check gives. */
static const char *const warnings[] = { "element-idle", "junction-single", "port-unjoined", "unit-difference",
                                        "unit-hertz",   "unit-lost",       "value-unread",  "value-zero" };
enum { NWARNINGS = sizeof warnings / sizeof *warnings };

static size_t
find_warning(const char *code)
{
    size_t i = 0;

    while (i < NWARNINGS && strcmp(warnings[i], code))
        i++;
    return i;
}

/* -W none, -W all, -Wno-CODE, -WCODE; later options override earlier ones. */
static bool
is_unwanted(void *ctx, const char *code)
{
    const request *q = ctx;
    bool unwanted = false;

    for (size_t i = 0; i < q->warn.n; i++) {
        const char *w = q->warn.at[i];
        bool no = !strncmp(w, "no-", 3);

        if (!strcmp(w, "none") || !strcmp(w, "all"))
            unwanted = w[0] == 'n';
        else if (!strcmp(w + 3 * no, code))
            unwanted = no;
    }
    return unwanted;
}

static int
check_wanted(const request *q)
{
    for (size_t i = 0; i < q->warn.n; i++) {
        const char *w = q->warn.at[i], *code = w + 3 * !strncmp(w, "no-", 3), *near;

        if (!strcmp(w, "none") || !strcmp(w, "all") || find_warning(code) < NWARNINGS)
            continue;
        near = nearest_name(code, warnings, NWARNINGS);
        complain("there is no warning \"%s\"%s%s%s", code, near ? "; did you mean " : "", near ? near : "",
                 near ? "?" : "; `bgc explain` lists the messages");
        return STATUS_USAGE;
    }
    return STATUS_DONE;
}

struct checked {
    map models; /* names of models already reported */
    size_t warnings;
    json j; /* with --json, left open where diagnostics are written */
};

/* Warns of parts of a correct model that may not be what was meant. */
static void
warn(const request *q, const compilation *c, struct checked *done)
{
    lint_model(c->flat, c->ast);
    if (c->equations) {
        double *value = bg_calloc(c->flat->var.n + 1, sizeof *value);

        parameter_values(c->flat, value, NULL);
        zero_divisors_warn(c->equations, value);
        free(value);
    }
    diag_drop_warnings(c->sources, is_unwanted, (void *)q);
    done->warnings += diag_warnings(c->sources);
    print_diagnostics(q, c->sources);
}

static bool
is_another_model(struct checked *done, const char *name)
{
    uint64_t key = bg_hash_bytes(name, strlen(name), 0);

    if (map_get(&done->models, key) != MAP_NONE)
        return false;
    map_set(&done->models, key, 1);
    return true;
}

/* Checks one more experiment or model of the file. */
static int
check_more(const request *q, const loaded *l, const char *experiment, const char *model, struct checked *done,
           FILE *out)
{
    compile_options o = { .experiment = experiment, .model = model, .set = l->set.at, .nset = l->set.n };
    loaded more = *l;
    int status = STATUS_DONE;

    more.c = (compilation){ 0 };
    if (!compile_another(&more.c, &l->c, STAGE_EQUATIONS, &o))
        status = STATUS_MODEL;
    if (status != STATUS_DONE) {
        print_diagnostics(q, more.c.sources);
        if (q->json)
            put_diagnostics(&done->j, more.c.sources);
    } else if (is_another_model(done, more.c.flat->name)) {
        warn(q, &more.c, done);
        if (q->json)
            put_diagnostics(&done->j, more.c.sources);
        else
            report_check(&more, out);
    }
    compile_free(&more.c);
    return status;
}

/* Checks the file's other experiments and models, up to the first with errors. */
static int
check_others(const request *q, const loaded *l, struct checked *done, FILE *out)
{
    int status = STATUS_DONE;

    is_another_model(done, l->c.flat->name);
    for (size_t i = 0; i < l->others.n && status == STATUS_DONE; i++)
        status = check_more(q, l, l->others.at[i], NULL, done, out);
    for (size_t i = 0; i < l->c.ast->ndecls && status == STATUS_DONE && !q->text[OPT_EXPERIMENT]; i++) {
        const ast_decl *d = &l->c.ast->decl[i];

        if (d->kind == AST_DECL_MODEL &&
            map_get(&done->models, bg_hash_bytes(d->model->name, strlen(d->model->name), 0)) == MAP_NONE)
            status = check_more(q, l, NULL, d->model->name, done, out);
    }
    return status;
}

static int
check_one(const request *q, const char *path, const char *pass, enum compile_stage stage, FILE *out)
{
    struct checked done = { .j = { .out = out } };
    loaded l;
    int status = load_model(q, path, stage, EXPERIMENT_OPTIONAL, &l);

    if (status == STATUS_DONE && pass) {
        print_diagnostics(q, l.c.sources);
        if (l.c.component)
            complain("%s is a component: its %s depend on what joins its ports", l.c.flat->name, pass);
        else
            dump(&l, pass, out);
    } else if (status == STATUS_DONE) {
        passive_notes(l.c.flat);
        lint_values(l.c.sources, l.c.ast);
        warn(q, &l.c, &done);
        if (q->json)
            begin_json(&done.j, &l, true);
        else
            report_check(&l, out);
        status = check_others(q, &l, &done, out);
        if (q->json)
            end_json(&done.j);
        if (status == STATUS_DONE && done.warnings && q->given & OPT(OPT_WERROR))
            status = STATUS_MODEL;
    } else if (q->json && (status == STATUS_MODEL || status == STATUS_NUMBERS)) {
        begin_json(&done.j, &l, false);
        end_json(&done.j);
    }
    map_free(&done.models);
    loaded_free(&l);
    return status;
}

/* Finds the pass whose result is to be printed, and its stage. False: there is none of that name. */
static bool
find_dumped(const char *wanted, const char **pass, enum compile_stage *stage)
{
    strbuf all = { 0 };
    enum compile_stage of;

    for (size_t k = 0; (*pass = compile_dumped(k, stage)); k++) {
        if (!strcmp(wanted, *pass))
            break;
        strbuf_printf(&all, "%s%s", k == 0 ? "" : compile_dumped(k + 1, &of) ? ", " : " and ", *pass);
    }
    if (!*pass)
        complain("there is no stage \"%s\" to dump; there are %s", wanted, all.at);
    strbuf_free(&all);
    return *pass;
}

int
cmd_check(const request *q)
{
    const char *pass = NULL;
    enum compile_stage stage = STAGE_EQUATIONS;
    int status = STATUS_DONE;
    outfile out;

    if ((status = check_wanted(q)) != STATUS_DONE)
        return status;
    if (q->text[OPT_DUMP] && !find_dumped(q->text[OPT_DUMP], &pass, &stage))
        return STATUS_USAGE;
    if (!outfile_open(&out, q->text[OPT_OUTPUT]))
        return complain_file(q->text[OPT_OUTPUT]);
    for (size_t i = 0; i < q->file.n; i++) {
        int s = check_one(q, q->file.at[i], pass, stage, out.out);

        if (s > status)
            status = s;
    }
    if (!outfile_commit(&out))
        return complain_file(q->text[OPT_OUTPUT]);
    return status;
}
