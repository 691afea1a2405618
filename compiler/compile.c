/* compile.c - see compile.h */
#include <errno.h>
#include <stdlib.h>
#include "codegen.h"
#include "compile.h"

compile_shared *
compile_shared_new(void)
{
    compile_shared *s = bg_calloc(1, sizeof *s);

    s->units = units_new();
    s->code = code_store_new();
    return s;
}

void
compile_shared_free(compile_shared *s)
{
    if (!s)
        return;
    units_free(s->units);
    code_store_free(s->code);
    free(s);
}

static void
begin(compilation *c)
{
    if (!c->sources)
        c->sources = sources_new();
    if (!c->names)
        c->names = names_new();
    if (!c->arena)
        c->arena = arena_new();
}

static bool
run_causality(compilation *c, const compile_options *o)
{
    flat_model *f = c->flat;
    enum law_way *way = bg_calloc(f->port.n + 1, sizeof *way);
    bool *varying = bg_calloc(f->element.n + 1, sizeof *varying),
         *invertible = bg_calloc(f->port.n + 1, sizeof *invertible);
    bool *stated = bg_calloc(f->port.n + 1, sizeof *stated);

    c->equations = equations_prepare(f);
    c->equations->code = o && o->shared ? o->shared->code : NULL;
    equations_ways(c->equations, way, varying, invertible, stated);
    c->causal = causality(f, way, varying, invertible, stated);
    free(way);
    free(varying);
    free(invertible);
    free(stated);
    return c->causal != NULL;
}

static bool
has_ports(const flat_model *f)
{
    for (int i = 0; i < f->ast->nstmt; i++)
        if (f->ast->stmt[i]->kind == AST_STMT_PORT)
            return true;
    return false;
}

/* The stages behind the parser. */
static bool
run_model(compilation *c, enum compile_stage upto, const compile_options *o)
{
    elaborate_options eo = { 0 };

    if (!c->units && o && o->shared && o->shared->units) {
        c->units = o->shared->units;
        c->shared_units = true;
    }
    if (!c->units)
        c->units = units_new();
    if (!c->units) {
        diag_error(c->sources, "units-missing", SPAN_NONE,
                   "the unit definitions of udunits2 cannot be read (package libudunits2-data)");
        return false;
    }
    c->pool = pool_new();
    eo.index = c->declared ? c->declared : &c->index;
    if (o) {
        eo.experiment = o->experiment;
        eo.model = o->model;
        eo.set = o->set;
        eo.nset = o->nset;
        eo.weigh = o->weigh;
        eo.nweigh = o->nweigh;
        eo.open = o->open;
        eo.ports = o->ports;
        eo.expect = o->expect;
    }
    c->flat = elaborate(c->sources, c->names, c->arena, c->units, c->pool, c->ast, &eo);
    if (!c->flat || diag_errors(c->sources))
        return false;
    if (upto == STAGE_GRAPH)
        return true;
    c->component = upto < STAGE_MODEL && !eo.experiment && has_ports(c->flat);
    if (c->component)
        return true;
    if (!run_causality(c, o))
        return false;
    if (upto == STAGE_CAUSALITY)
        return true;
    if (!equations_build(c->equations, c->causal))
        return false;
    if (upto == STAGE_EQUATIONS)
        return true;
    c->model = model_new(c->flat, c->causal, c->equations, o && o->long_run);
    return c->model != NULL;
}

static bool
run_stages(compilation *c, uint32_t file, enum compile_stage upto, const compile_options *o)
{
    c->ast = parse_file(c->sources, c->names, c->arena, file);
    if (!c->ast->ok || diag_errors(c->sources))
        return false;
    return upto == STAGE_PARSE || run_model(c, upto, o);
}

bool
compile_path(compilation *c, const char *path, enum compile_stage upto, const compile_options *o)
{
    int file;

    begin(c);
    file = sources_read(c->sources, path);
    if (file < 0) {
        c->unreadable = true;
        return false;
    }
    return run_stages(c, (uint32_t)file, upto, o);
}

bool
compile_text(compilation *c, const char *path, const char *text, size_t n, enum compile_stage upto,
             const compile_options *o)
{
    begin(c);
    return run_stages(c, (uint32_t)sources_add_text(c->sources, path, text, n), upto, o);
}

bool
compile_another(compilation *c, const compilation *of, enum compile_stage upto, const compile_options *o)
{
    uint32_t file = of->ast->file;

    /* places in the tree hold in the copy, where the file has the same number */
    if (file != 0)
        return compile_text(c, source_path(of->sources, file), source_text(of->sources, file),
                            source_length(of->sources, file), upto, o);
    c->lent = true;
    c->names = of->names;
    c->arena = of->arena;
    c->units = of->units;
    c->ast = of->ast;
    begin(c);
    sources_lend(c->sources, of->sources, file);
    /* the owner's: compile_another changes nothing else of it */
    c->declared = (elaborate_index *)(uintptr_t)&of->index;
    return run_model(c, upto, o);
}

void
compile_free(compilation *c)
{
    model_free(c->model);
    equations_free(c->equations);
    causal_free(c->causal);
    flat_free(c->flat);
    pool_free(c->pool);
    if (!c->lent) {
        if (!c->shared_units)
            units_free(c->units);
        arena_free(c->arena);
        names_free(c->names);
        elaborate_index_free(&c->index);
    }
    sources_free(c->sources);
    *c = (compilation){ 0 };
}
