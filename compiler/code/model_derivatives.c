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

static partials *
add_partials(bg_model *m, const var_id *by, size_t n, size_t noutputs, bool held)
{
    const partials_form *form = image_partials(m->image, m->maker, by, n, noutputs, held);
    partials *p;

    if (!form)
        return NULL;
    p = partials_new(form, &m->memory);
    partials_set_parameters(p, m->value, m->overridden);
    vec_push(&m->partials, p);
    return p;
}

partials *
model_partials(bg_model *m, const var_id *by, size_t n, size_t noutputs)
{
    return add_partials(m, by, n, noutputs, false);
}

partials *
model_partials_held(bg_model *m, const var_id *by, size_t n, size_t noutputs)
{
    return add_partials(m, by, n, noutputs, true);
}

size_t
model_nheld(const bg_model *m)
{
    return m->image->nheld;
}

bool
model_held_by(bg_model *m, const double *rows, double *held)
{
    return m->nets && nets_combine(m->nets, rows, held);
}

bool
model_held_share(bg_model *m, double *share)
{
    return m->nets && nets_share(m->nets, share);
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

size_t
model_nweights(const bg_model *m)
{
    return m->image->weight.n / 2;
}

struct model_pattern
model_weighed_pattern(bg_model *m)
{
    if (!m->weighed)
        m->weighed = model_partials(m, m->image->weight.at, m->image->weight.n, m->image->ndeclared);
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
    return image_curvature(m->image, m->maker, by, n, false);
}

curvature *
model_curvature_held(bg_model *m, const var_id *by, size_t n)
{
    return image_curvature(m->image, m->maker, by, n, true);
}

bool
model_curvature_at(bg_model *m, curvature *c, double t, const double *x)
{
    double *v = bg_calloc(m->image->nvars + 1, sizeof *v);
    bool fine = model_variables(m, t, x, v) && curvature_at(c, v, m->overridden);

    free(v);
    return fine;
}
