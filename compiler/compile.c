/* compile.c - see compile.h */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "code_store.h"
#include "compile.h"
#include "verify_equations.h"
#include "verify_graph.h"
#include "verify_strokes.h"

compile_shared *
compile_shared_new(unit_system *units)
{
    compile_shared *s = bg_calloc(1, sizeof *s);

    s->lent = units != NULL;
    s->units = units ? units : units_new();
    s->code = code_store_new();
    return s;
}

void
compile_shared_free(compile_shared *s)
{
    if (!s)
        return;
    if (!s->lent)
        units_free(s->units);
    code_store_free(s->code);
    free(s);
}

static void
begin_compilation(compilation *c)
{
    if (!c->sources)
        c->sources = sources_new();
    if (!c->names)
        c->names = names_new();
    if (!c->arena)
        c->arena = arena_new();
}

/* ---------------------------------------------------------------- what the passes do */

static bool
read_text(compilation *c, const compile_options *o)
{
    (void)o;
    c->ast = parse_file(c->sources, c->names, c->arena, c->file);
    return c->ast->ok && !diag_errors(c->sources);
}

static void
dump_tree(const compilation *c, FILE *out)
{
    ast_dump(c->sources, c->ast, out);
}

static bool
find_units(compilation *c, const compile_options *o)
{
    if (!c->units && o && o->shared && o->shared->units) {
        c->units = o->shared->units;
        c->shared_units = true;
    }
    if (!c->units)
        c->units = units_new();
    if (!c->units)
        diag_error(c->sources, "units-missing", SPAN_NONE,
                   "the unit definitions of udunits2 cannot be read (package libudunits2-data)");
    return c->units != NULL;
}

static bool
flatten(compilation *c, const compile_options *o)
{
    elaborate_options eo = { .index = c->declared ? c->declared : &c->index };

    c->pool = pool_new();
    if (o) {
        eo.experiment = o->experiment;
        eo.bare = o->bare;
        eo.model = o->model;
        eo.set = o->set;
        eo.nset = o->nset;
        eo.weigh = o->weigh;
        eo.nweigh = o->nweigh;
        eo.taken = o->taken;
        eo.ntaken = o->ntaken;
        eo.unstated = o->unstated;
        eo.nunstated = o->nunstated;
        eo.open = o->open;
        eo.ports = o->ports;
        eo.expect = o->expect;
        eo.names_apart = o->names_apart;
    }
    c->flat = elaborate(c->sources, c->names, c->arena, c->units, c->pool, c->ast, &eo);
    return c->flat && !diag_errors(c->sources);
}

static char *
verify_flat(const compilation *c)
{
    return verify_graph(c->flat);
}

static void
dump_graph(const compilation *c, FILE *out)
{
    flat_dump(c->flat, out);
}

static bool
freeze_laws(compilation *c, const compile_options *o)
{
    c->equations = equations_prepare(c->flat);
    c->equations->code = o && o->shared ? o->shared->code : NULL;
    c->equations->removable = o && o->removable;
    return true;
}

static bool
assign_causality(compilation *c, const compile_options *o)
{
    flat_model *f = c->flat;
    enum law_way *way = bg_calloc(f->port.n + 1, sizeof *way);
    bool *varying = bg_calloc(f->element.n + 1, sizeof *varying),
         *invertible = bg_calloc(f->port.n + 1, sizeof *invertible);
    bool *stated = bg_calloc(f->port.n + 1, sizeof *stated);

    (void)o;
    equations_ways(c->equations, way, varying, invertible, stated);
    c->causal = causality(f, way, varying, invertible, stated);
    free(way);
    free(varying);
    free(invertible);
    free(stated);
    return c->causal != NULL;
}

static char *
verify_causality(const compilation *c)
{
    return verify_strokes(c->flat, c->causal);
}

static void
dump_causality(const compilation *c, FILE *out)
{
    causal_dump(c->flat, c->causal, out);
}

static bool
build_equations(compilation *c, const compile_options *o)
{
    (void)o;
    return equations_build(c->equations, c->causal);
}

static char *
verify_definitions(const compilation *c)
{
    return verify_equations(c->equations);
}

static void
dump_equations(const compilation *c, FILE *out)
{
    equations_dump(c->equations, out);
}

static bool
make_powers(compilation *c, const compile_options *o)
{
    (void)o;
    equations_powers(c->equations);
    return true;
}

static bool
make_model(compilation *c, const compile_options *o)
{
    c->model = model_new(c->flat, c->causal, c->equations, o && o->long_run);
    return c->model != NULL;
}

static void
dump_ir(const compilation *c, FILE *out)
{
    char *ir = model_ir(c->model);

    fputs(ir, out);
    free(ir);
}

static void
dump_variables(const compilation *c, FILE *out)
{
    model_print_variables(c->model, out);
}

static void
dump_c(const compilation *c, FILE *out)
{
    char *text = model_c(c->model);

    fputs(text, out);
    free(text);
}

/* ---------------------------------------------------------------- the passes */

enum { TREE = 1, UNITS = 2, GRAPH = 4, MODES = 8, STROKES = 16, EQUATIONS = 32, POWERS = 64, MODEL = 128 };

/* From a text to a compiled model, top to bottom. `stage` is the first stage that needs the pass; a pass whose result
 * already exists (compile_another has a tree) is skipped. */
static const struct pass {
    const char *name;
    unsigned needs, gives;
    enum compile_stage stage;
    bool (*run)(compilation *c, const compile_options *o); /* false: errors were reported */
    /* NULL, or a description of what is wrong with its result (free() it) */
    char *(*verify)(const compilation *c);
    void (*dump)(const compilation *c, FILE *out);
} passes[] = {
    { "ast", 0, TREE, STAGE_PARSE, read_text, NULL, dump_tree },
    { "units", 0, UNITS, STAGE_GRAPH, find_units, NULL, NULL },
    { "graph", TREE | UNITS, GRAPH, STAGE_GRAPH, flatten, verify_flat, dump_graph },
    { "modes", GRAPH, MODES, STAGE_CAUSALITY, freeze_laws, verify_flat, NULL },
    { "causality", GRAPH | MODES, STROKES, STAGE_CAUSALITY, assign_causality, verify_causality, dump_causality },
    { "equations", GRAPH | MODES | STROKES, EQUATIONS, STAGE_EQUATIONS, build_equations, verify_definitions,
      dump_equations },
    { "powers", GRAPH | EQUATIONS, POWERS, STAGE_MODEL, make_powers, verify_definitions, NULL },
    { "ir", GRAPH | STROKES | EQUATIONS | POWERS, MODEL, STAGE_MODEL, make_model, NULL, dump_ir },
    /* the same model in another print */
    { "c", MODEL, 0, STAGE_MODEL, NULL, NULL, dump_c },
    { "variables", MODEL, 0, STAGE_MODEL, NULL, NULL, dump_variables },
};
enum { NPASSES = sizeof passes / sizeof *passes };

/* Are passes verified? Always in debug builds and with sanitizers, otherwise if the environment asks for it, as tests
 * do. */
static bool
verifies(void)
{
#ifdef BGC_VERIFY
    return true;
#else
    return getenv("BGC_VERIFY") != NULL;
#endif
}

static bool
is_sound(compilation *c, const struct pass *p)
{
    char *flaw = p->verify && verifies() ? p->verify(c) : NULL;

    if (!flaw)
        return true;
    diag_error(c->sources, "internal-pass", c->flat->at, "internal error: the pass \"%s\" left what is not sound: %s",
               p->name, flaw);
    free(flaw);
    return false;
}

static bool
graph_has_ports(const flat_model *f)
{
    for (int i = 0; i < f->ast->nstmt; i++)
        if (f->ast->stmt[i]->kind == AST_STMT_PORT)
            return true;
    return false;
}

static bool
run_passes(compilation *c, unsigned there, enum compile_stage upto, const compile_options *o)
{
    for (const struct pass *p = passes; p < passes + NPASSES && p->stage <= upto; p++) {
        if ((there & p->gives) == p->gives)
            continue;
        assert((there & p->needs) == p->needs);
        if (!p->run(c, o) || !is_sound(c, p))
            return false;
        there |= p->gives;
        if (p->gives == GRAPH) {
            c->component = upto < STAGE_MODEL && upto > STAGE_GRAPH && !(o && o->experiment) &&
                           graph_has_ports(c->flat);
            if (c->component)
                return true;
        }
    }
    return true;
}

const char *
compile_dumped(size_t k, enum compile_stage *stage)
{
    for (size_t i = 0; i < NPASSES; i++)
        if (passes[i].dump && k-- == 0) {
            *stage = passes[i].stage;
            return passes[i].name;
        }
    return NULL;
}

void
compile_dump(const compilation *c, const char *name, FILE *out)
{
    for (size_t i = 0; i < NPASSES; i++)
        if (passes[i].dump && !strcmp(passes[i].name, name))
            passes[i].dump(c, out);
}

/* ---------------------------------------------------------------- entry points */

bool
compile_path(compilation *c, const char *path, enum compile_stage upto, const compile_options *o)
{
    int file;

    begin_compilation(c);
    file = sources_read(c->sources, path);
    if (file < 0) {
        c->unreadable = true;
        return false;
    }
    c->file = (uint32_t)file;
    return run_passes(c, 0, upto, o);
}

bool
compile_go_on(compilation *c, enum compile_stage upto, const compile_options *o)
{
    return run_passes(c, TREE, upto, o);
}

bool
compile_text(compilation *c, const char *path, const char *text, size_t n, enum compile_stage upto,
             const compile_options *o)
{
    begin_compilation(c);
    c->file = (uint32_t)sources_add_text(c->sources, path, text, n);
    return run_passes(c, 0, upto, o);
}

bool
compile_another(compilation *c, const compilation *of, enum compile_stage upto, const compile_options *o)
{
    uint32_t file = of->ast->file;

    /* places in the tree are valid in the copy only if the file has the same number there */
    if (file != 0)
        return compile_text(c, source_path(of->sources, file), source_text(of->sources, file),
                            source_length(of->sources, file), upto, o);
    c->lent = true;
    c->names = of->names;
    c->units = of->units;
    c->ast = of->ast;
    begin_compilation(c);
    sources_lend(c->sources, of->sources, file);
    /* belongs to `of`: compile_another changes nothing else of it */
    c->declared = (elaborate_index *)(uintptr_t)&of->index;
    return run_passes(c, TREE | UNITS, upto, o);
}

/* Frees what the model was made from, and the tree. */
static void
free_stages(compilation *c)
{
    equations_free(c->equations);
    causal_free(c->causal);
    flat_free(c->flat);
    pool_free(c->pool);
    if (!c->lent) {
        names_free(c->names);
        elaborate_index_free(&c->index);
    }
    arena_free(c->arena);
}

bool
compile_close(compilation *c)
{
    compilation left = { .sources = c->sources,
                         .units = c->units,
                         .file = c->file,
                         .model = c->model,
                         .shared_units = c->shared_units,
                         .lent = c->lent };

    if (!model_close(c->model))
        return false;
    free_stages(c);
    *c = left;
    return true;
}

void
compile_free(compilation *c)
{
    model_free(c->model);
    free_stages(c);
    if (!c->lent && !c->shared_units)
        units_free(c->units);
    sources_free(c->sources);
    *c = (compilation){ 0 };
}
