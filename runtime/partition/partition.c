/* partition.c - see partition.h */
#include "partition.h"

#include <string.h>

#include "one_piece.h"

static bool
compile_run(const partition_options *o, enum compile_stage upto, compilation *c)
{
    const recording *r = &o->run[0];
    compile_options co = { .experiment = r->experiment, .set = r->set, .nset = r->nset };

    if (compile_text(c, r->path, r->text, r->length, upto, &co))
        return true;
    o->failed(o->ctx, c->sources);
    return false;
}

enum partition_result
partition_find(const partition_options *o, partitioning *out)
{
    memset(out, 0, sizeof *out);
    out->arena = arena_new();
    if (!compile_run(o, STAGE_GRAPH, &out->graph) || !compile_run(o, STAGE_CAUSALITY, &out->causal))
        return PARTITION_FAILED;
    switch (local_measure(out->graph.flat, o->run, o->nruns, o->failed, o->ctx, &out->local, &out->other)) {
    case LOCAL_DONE:
        break;
    case LOCAL_FAILED:
        return PARTITION_FAILED;
    case LOCAL_OTHER_GRAPH:
        return PARTITION_OTHER_GRAPH;
    }
    plan_make(out->causal.flat, out->causal.causal, &out->local, o->limit, out->arena, &out->plan);
    subgraphs_find(out->graph.flat, &out->plan, out->arena, &out->subgraphs);
    out->one_piece = one_piece(out->graph.flat, &out->plan, &out->subgraphs, out->arena);
    return PARTITION_DONE;
}

partition_report
partition_report_of(const partitioning *p)
{
    return (partition_report){ .model = p->graph.flat->name, .f = p->graph.flat, .local = &p->local, .plan = &p->plan, .subgraphs = &p->subgraphs,
                                .one_piece = p->one_piece };
}

void
partitioning_free(partitioning *p)
{
    subgraphs_free(&p->subgraphs);
    plan_free(&p->plan);
    local_free(&p->local);
    compile_free(&p->graph);
    compile_free(&p->causal);
    arena_free(p->arena);
    memset(p, 0, sizeof *p);
}
