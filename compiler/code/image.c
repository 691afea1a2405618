/* image.c - see image.h; maker.c makes one */
#include "image.h"

#include <stdlib.h>

static void
graph_free(void *part)
{
    image_graph *g = part;

    free(g->graph.element);
    free(g->graph.port);
    free(g->graph.bond);
    free(g->graph.junction);
    free(g->graph.incidence);
    free(g->graph.instance);
    free(g->graph.output);
    free(g->graph.opening);
    free(g->graph.dependent);
    formula_book_free(&g->book);
    vec_free(&g->ratio);
    arena_free(g->arena);
    free(g);
}

static void
image_reads_free(void *part)
{
    model_reads *r = part;

    free(r->read);
    free(r->of_element);
    free(r->of_output);
    free(r->of_variable);
    free(r);
}

static void
variables_free(void *part)
{
    image_variables *v = part;

    free(v->at);
    arena_free(v->names);
    free(v);
}

static void
states_free(void *part)
{
    image_states *s = part;

    free(s->at);
    arena_free(s->names);
    free(s);
}

static void
unknowns_free(void *part)
{
    image_unknowns *u = part;

    free(u->at);
    arena_free(u->names);
    free(u);
}

static void
parameters_free(void *part)
{
    image_parameters *p = part;

    map_free(&p->index);
    vec_free(&p->list);
    arena_free(p->names);
    free(p);
}

static void
clocks_free(void *part)
{
    image_clocks *c = part;

    free(c->at);
    free(c->waving);
    bounds_form_free(c->bounds);
    bounds_form_free(c->bending);
    free(c);
}

static void
image_roots_free(void *part)
{
    image_roots *r = part;

    free(r->fed);
    free(r);
}

static void
later_free(enum image_later what, void *part)
{
    switch (what) {
    case LATER_VARIABLES: variables_free(part); break;
    case LATER_STATES: states_free(part); break;
    case LATER_UNKNOWNS: unknowns_free(part); break;
    case LATER_PARAMETERS: parameters_free(part); break;
    case LATER_GRAPH: graph_free(part); break;
    case LATER_READS: image_reads_free(part); break;
    case LATER_EXPRESSIONS: expression_program_free(part); break;
    case LATER_POLES: expression_poles_free(part); break;
    case LATER_CLOCKS: clocks_free(part); break;
    case LATER_ROOTS: image_roots_free(part); break;
    case LATER_PROJECTION: projection_free(part); break;
    case LATER_INITIAL: initial_program_free(part); break;
    case LATER_STORAGE: storage_program_free(part); break;
    case LATER_NUMBERS: interpret_program_free(part); break;
    case LATER_JACOBIAN:
    case LATER_NET_PARTIALS: jacobian_form_free(part); break;
    case LATER_COUNT: break;
    }
}

void
image_free(image *m)
{
    for (int k = 0; k < PART_COUNT; k++)
        routine_free(atomic_load(&m->part[k]));
    for (enum image_later k = 0; k < LATER_COUNT; k++)
        if (atomic_load(&m->later[k]))
            later_free(k, atomic_load(&m->later[k]));
    for (size_t k = 0; k < m->partials.n; k++)
        partials_form_free(m->partials.at[k]);
    vec_free(&m->partials);
    for (size_t k = 0; k < m->conditions.n; k++)
        condition_program_free(m->conditions.at[k]);
    vec_free(&m->conditions);
    parameter_program_free(m->parameters);
    net_form_free(m->nets);
    arena_free(m->arena);
    vec_free(&m->weight);
    vec_free(&m->when);
    vec_free(&m->reinit);
    vec_free(&m->draw);
    vec_free(&m->delay);
    vec_free(&m->window);
    readers_free(&m->line_readers);
    vec_free(&m->line);
    vec_free(&m->gate);
    vec_free(&m->others);
    vec_free(&m->gate_level);
    free(m->constraint_at);
    free(m->mode);
    free(m->element);
    free(m->output);
    free(m->position);
    free(m->state_port);
    free(m->stated);
    free(m->unknown);
    free(m->block);
    tables_release(m->tables); /* machine code read them */
    free(m);
}
