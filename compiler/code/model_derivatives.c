/* model_derivatives.c - partial derivatives: the Jacobian, those by parameters and weights, second ones */
#include <stdlib.h>

#include "model_inside.h"

struct model_pattern
model_jacobian_pattern(bg_model *m)
{
    if (m->nets)
        return nets_pattern(m->nets);
    if (!model_need(m, PART_JACOBIAN))
        return (struct model_pattern){ 0, 0, NULL, NULL, 0 };
    return jacobian_pattern(m->jacobian);
}

int
model_jacobian(bg_model *m, double t, const double *x, double *value)
{
    int status;

    t = model_time_of(m, t);
    if (m->nets) {
        status = nets_jacobian(m->nets, t, x, value);
        return status ? status : model_all_finite(value, nets_pattern(m->nets).nonzeros) ? 0 : 1;
    }
    if (!model_need(m, PART_JACOBIAN))
        return -1;
    status = jacobian_evaluate(m->jacobian, t, x, m->modes, value);
    return status ? status : model_all_finite(value, jacobian_pattern(m->jacobian).nonzeros) ? 0 : 1;
}

partials *
model_partials(bg_model *m, const var_id *by, size_t n, size_t noutputs)
{
    partials *p = partials_new(m->e, (layout){ m->position }, &m->memory, m->long_run, by, n, noutputs,
                               (partials_beside){ 0 });

    if (p) {
        partials_set_parameters(p, m->value, m->overridden);
        vec_push(&m->partials, p);
    }
    return p;
}

partials *
model_partials_held(bg_model *m, const var_id *by, size_t n, size_t noutputs)
{
    struct targets row = { 0 };
    struct positions unused = { 0 };
    partials *p;

    for (size_t i = 0; i < m->e->row.n; i++)
        model_add_expansion(m->e, &m->e->row.at[i].r, &row, &unused);
    p = partials_new(m->e, (layout){ m->position }, &m->memory, m->long_run, by, n, noutputs,
                     (partials_beside){ m->e->held.at, m->e->held.n, row.at, row.n });
    if (p) {
        partials_set_parameters(p, m->value, m->overridden);
        vec_push(&m->partials, p);
    }
    vec_free(&row);
    vec_free(&unused);
    return p;
}

size_t
model_nheld(const bg_model *m)
{
    return m->e->held.n;
}

bool
model_held_by(bg_model *m, const double *rows, double *held)
{
    return m->nets && nets_combine(m->nets, rows, held);
}

int
model_partials_at(bg_model *m, partials *p, double t, const double *x, double *value)
{
    t = model_time_of(m, t);

    int status = m->nets ? nets_solve(m->nets, t, x) : 0;

    if (status == 0)
        status = partials_evaluate(p, t, x, m->modes, value);
    return status ? status : model_all_finite(value, partials_pattern(p).nonzeros) ? 0 : 1;
}

struct model_pattern
model_partials_pattern(const partials *p)
{
    return partials_pattern(p);
}

struct model_pattern
model_weighed_pattern(bg_model *m)
{
    if (!m->weighed) {
        VEC(var_id) weight = { 0 };

        for (size_t i = 0; i < m->f->weight.n; i++) {
            vec_push(&weight, m->f->weight.at[i].factor);
            vec_push(&weight, m->f->weight.at[i].offset);
        }
        m->weighed = model_partials(m, weight.at, weight.n, m->f->output.n);
        vec_free(&weight);
    }
    return m->weighed ? partials_pattern(m->weighed) : (struct model_pattern){ 0, 0, NULL, NULL, 0 };
}

int
model_weighed(bg_model *m, double t, const double *x, double *value)
{
    model_weighed_pattern(m);
    return m->weighed ? model_partials_at(m, m->weighed, t, x, value) : -1;
}

curvature *
model_curvature(bg_model *m, const var_id *by, size_t n)
{
    return curvature_new(m->e, m->position, by, n);
}

bool
model_curvature_at(bg_model *m, curvature *c, double t, const double *x)
{
    double *v = bg_calloc(m->f->var.n + 1, sizeof *v);
    bool fine = model_variables(m, t, x, v) && curvature_at(c, v, m->overridden);

    free(v);
    return fine;
}
