/* storage.c - see storage.h */
#include "storage.h"

#include <math.h>

var_id
storage_conjugate(const flat_model *f, uint32_t port)
{
    return port_has_momentum(f, port) ? f->port.at[port].f : f->port.at[port].e;
}

double
storage_energy(const flat_model *f, const double *value, uint32_t port, double stored, double conjugate)
{
    /* Gauss's rule with five points, on 32 pieces: laws may have corners */
    static const double place[5] = { 0.04691007703066800360, 0.23076534494715845448, 0.5, 0.76923465505284154552, 0.95308992296933199640 };
    static const double weight[5] = { 0.11846344252809454376, 0.23931433524968323402, 0.28444444444444444444, 0.23931433524968323402,
                                      0.11846344252809454376 };
    enum { PIECES = 32 };
    const flat_law *law = port_law(f, port);
    var_id own = f->port.at[port].stored, other = storage_conjugate(f, port);
    bool reads_stored = true, reads_other = true;
    VEC(double) slot = { 0 };
    VEC(uint32_t) free_slot = { 0 };
    double sum = 0, end;

    for (uint32_t k = 0; k < law->def.n; k++) {
        var_id v = f->slot.at[law->def.first + k];

        vec_push(&slot, value[v]);
        if (f->var.at[v].kind == VAR_PARAM || f->var.at[v].kind == VAR_LITERAL)
            continue;
        reads_stored &= v == own;
        reads_other &= v == other;
        vec_push(&free_slot, k);
    }
    if (f->element.at[f->port.at[port].element].linear) {
        sum = stored * conjugate / 2;
    } else if (law->kind != LAW_ASSIGN || free_slot.n == 0 || (!reads_stored && !reads_other)) {
        sum = NAN;
    } else {
        end = reads_stored ? stored : conjugate;
        for (int i = 0; i < PIECES; i++)
            for (int k = 0; k < 5; k++) {
                for (size_t j = 0; j < free_slot.n; j++)
                    slot.at[free_slot.at[j]] = end * (i + place[k]) / PIECES;
                sum += weight[k] * ex_eval(f->pool, law->def.root, slot.at) * end / PIECES;
            }
        if (!reads_stored)               /* the co-energy's complement */
            sum = stored * conjugate - sum;
    }
    vec_free(&slot);
    vec_free(&free_slot);
    return sum;
}

double
storage_curvature(const flat_model *f, const double *value, const uint32_t *position, uint32_t port, const double *x)
{
    const double relative = 1e-6;        /* of the change by which the slope is taken */
    const flat_law *law = port_law(f, port);
    var_id own = f->port.at[port].stored, other = storage_conjugate(f, port);
    uint32_t moved = UINT32_MAX;         /* slot by which the law is differentiated */
    VEC(double) slot = { 0 };
    bool known = law->kind == LAW_ASSIGN;
    double step, right, slope = NAN;

    for (uint32_t k = 0; k < law->def.n; k++) {
        var_id v = f->slot.at[law->def.first + k];
        bool given = f->var.at[v].kind == VAR_PARAM || f->var.at[v].kind == VAR_LITERAL;

        known &= given || v == other || position[v] != UINT32_MAX;
        vec_push(&slot, given ? value[v] : v != other && position[v] != UINT32_MAX ? x[position[v]] : 0);
        if (v == own || v == other)
            moved = moved == UINT32_MAX ? k : UINT32_MAX - 1;
    }
    if (known && moved < UINT32_MAX - 1) {
        double at = slot.at[moved];

        step = at != 0 ? relative * fabs(at) : relative;
        slot.at[moved] = at + step;
        right = ex_eval(f->pool, law->def.root, slot.at);
        slot.at[moved] = at - step;
        slope = (right - ex_eval(f->pool, law->def.root, slot.at)) / (2 * step);
        if (f->slot.at[law->def.first + moved] == other)
            slope = 1 / slope;
    }
    vec_free(&slot);
    return isfinite(slope) ? slope : NAN;
}
