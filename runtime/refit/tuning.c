/* tuning.c - see tuning.h */
#include "tuning.h"

#include <math.h>
#include <stdlib.h>

#include "inst.h"
#include "compiled.h"

static const double ONE_POWER = 1e-7;  /* tolerance for two estimates of a power */
static const double ONE_SLOPE = 1e-12; /* relative: slopes at two states that differ by less belong to a linear law */
static const double ANY_VALUE = 1.37;  /* of the first variable at the second state; others are a whole number more */

/* The coefficient of a part for the present parameters; NAN: its law is not linear. */
static double
coefficient_now(bg_model *m, const network_part *q)
{
    const flat_model *f = model_flat(m);
    const flat_port *p = &f->port.at[q->port];
    const flat_law *law = port_law(f, q->port);
    var_id gives = q->gives_effort ? p->e : p->f,
           gets = q->storage        ? p->stored
                  : q->gives_effort ? p->f
                                    : p->e,
           left = law->out == Q_EFFORT ? p->e
                  : law->out == Q_FLOW ? p->f
                                       : p->stored;
    uint32_t k = inst_slot_of(f, law->def, left == gives ? gets : gives);
    double slope[2] = { 0, 0 };
    node d;

    if (k == NONE)
        return NAN;
    d = ex_derivative(((flat_model *)f)->pool, law->def.root, k);
    for (int look = 0; look < 2; look++) { /* at two states: the slope of a linear law is the same */
        VEC(double) slot = { 0 };

        for (uint32_t a = 0; a < law->def.n; a++) {
            var_id v = inst_slots(f, law->def)[a];
            enum var_kind kind = f->var.at[v].kind;

            vec_push(&slot, kind == VAR_LITERAL ? var_value(f, v)
                            : kind == VAR_PARAM ? model_parameter_value(m, v)
                                                : look * (ANY_VALUE + a));
        }
        slope[look] = ex_eval(f->pool, d, slot.at);
        vec_free(&slot);
    }
    if (!(fabs(slope[0] - slope[1]) <= ONE_SLOPE * fabs(slope[0])))
        return NAN;
    return left == gives ? 1 / slope[0] : slope[0];
}

/* The power of a parameter in a coefficient; NAN: it is not a power. */
static double
power_of_parameter(bg_model *m, const network_part *q, const char *name, double value)
{
    double now = coefficient_now(m, q), twice, thrice, power;

    model_set_parameter(m, name, 2 * value);
    twice = coefficient_now(m, q);
    model_set_parameter(m, name, 3 * value);
    thrice = coefficient_now(m, q);
    model_set_parameter(m, name, value);
    power = log(twice / now) / log(2.0);
    return isfinite(power) && fabs(log(thrice / now) / log(3.0) - power) <= ONE_POWER ? power : NAN;
}

/* Why a parameter is not moved; NULL: it may be moved, and its powers are added to *powers. */
static const char *
why_not_moved(bg_model *m, const network *k, const uint32_t *part_of, size_t number, const chosen *c, bool *reads,
              double *powers)
{
    const flat_model *f = model_flat(m);
    var_id v = c->by.at[number];
    double value = model_parameter_value(m, v);

    if (value == 0)
        return "it is zero";
    chosen_readers(m, v, reads);
    for (uint32_t e = 0; e < f->element.n; e++) {
        uint32_t part = part_of[f->element.at[e].port0];

        if (!reads[e])
            continue;
        if (f->element.at[e].type == EL_C || f->element.at[e].type == EL_I || f->element.at[e].type == EL_R) {
            if (part == NONE || k->part[part].whole)
                return "fields or dependent storage read it";
        } else {
            return "two-ports or sources read it";
        }
    }
    for (size_t i = 0; i < f->output.n; i++)
        if (chosen_output_reads(m, i, v))
            return "outputs read it";
    for (size_t i = 0; i < k->n; i++) {
        powers[i] = 0;
        if (k->part[i].port == NONE || !reads[f->port.at[k->part[i].port].element] || !isfinite(k->part[i].coefficient))
            continue;
        powers[i] = power_of_parameter(m, &k->part[i], c->name.at[number], value);
        if (isnan(powers[i]))
            return "the coefficients do not vary with a power of it";
    }
    return NULL;
}

const char *
tuning_nonlinear(bg_model *m, const network *k)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->part[i].port != NONE && !k->part[i].whole && isfinite(k->part[i].coefficient) &&
            isnan(coefficient_now(m, &k->part[i])))
            return port_name(model_flat(m), k->part[i].port);
    return NULL;
}

bool
tuning_of(bg_model *m, const network *k, const char *list, tuning_choice *t, char **why)
{
    const flat_model *f = model_flat(m);
    uint32_t *part_of = bg_malloc((f->port.n + 1) * sizeof *part_of);
    bool *reads = bg_calloc(f->element.n + 1, sizeof *reads), fine;
    double *powers = bg_calloc(k->n + 1, sizeof *powers);
    chosen all;

    *t = (tuning_choice){ .tuning.of = bg_calloc(k->n + 1, sizeof *t->tuning.of) };
    *why = NULL;
    for (uint32_t p = 0; p <= f->port.n; p++)
        part_of[p] = NONE;
    for (size_t i = 0; i < k->n; i++)
        if (k->part[i].port != NONE)
            part_of[k->part[i].port] = (uint32_t)i;
    fine = chosen_parameters(m, list, &all, why);
    for (size_t i = 0; i < all.by.n && fine; i++) {
        const char *stays = why_not_moved(m, k, part_of, i, &all, reads, powers);

        if (stays) {
            vec_push(&t->left, bg_format("%s: %s", all.name.at[i], stays));
            continue;
        }
        for (size_t j = 0; j < k->n; j++)
            if (powers[j] != 0)
                vec_push(&t->tuning.of[j], ((tuned){ t->tuning.nparameters, powers[j] }));
        vec_push(&t->parameter.by, all.by.at[i]);
        vec_push(&t->parameter.name, all.name.at[i]);
        vec_push(&t->start, model_parameter_value(m, all.by.at[i]));
        t->tuning.nparameters++;
    }
    chosen_free(&all);
    free(part_of);
    free(reads);
    free(powers);
    return fine;
}

void
tuning_choice_free(tuning_choice *t, const network *k)
{
    for (size_t i = 0; i < k->n && t->tuning.of; i++)
        vec_free(&t->tuning.of[i]);
    free(t->tuning.of);
    for (size_t i = 0; i < t->left.n; i++)
        free(t->left.at[i]);
    vec_free(&t->left);
    vec_free(&t->start);
    chosen_free(&t->parameter);
    *t = (tuning_choice){ 0 };
}
