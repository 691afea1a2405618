/* storage.c - see storage.h */
#include "storage.h"

#include <math.h>

var_id
storage_conjugate(const flat_model *f, uint32_t port)
{
    return port_has_momentum(f, port) ? f->port.at[port].f : f->port.at[port].e;
}

bool
storage_is_alone(const flat_model *f, uint32_t port)
{
    const flat_law *law = port_law(f, port);
    var_id own = f->port.at[port].stored, other = storage_conjugate(f, port);

    for (uint32_t k = 0; k < law->def.n; k++) {
        var_id v = f->slot.at[law->def.first + k];

        if (v != own && v != other && f->var.at[v].kind != VAR_PARAM && f->var.at[v].kind != VAR_LITERAL)
            return false;
    }
    return true;
}

/* A law over its own free slots, all of which have one value */
struct own_law {
    const flat_model *f;
    const flat_law *law;
    double *slot;
    const uint32_t *free_slot;
    size_t nfree;
};

static double
value_there(struct own_law *o, double x)
{
    for (size_t j = 0; j < o->nfree; j++)
        o->slot[o->free_slot[j]] = x;
    return ex_eval(o->f->pool, o->law->def.root, o->slot);
}

/* Gauss's rule with five points */
static double
panel(struct own_law *o, double from, double to)
{
    static const double place[5] = { 0.04691007703066800360, 0.23076534494715845448, 0.5, 0.76923465505284154552,
                                     0.95308992296933199640 };
    static const double weight[5] = { 0.11846344252809454376, 0.23931433524968323402, 0.28444444444444444444,
                                      0.23931433524968323402, 0.11846344252809454376 };
    double sum = 0;

    for (int k = 0; k < 5; k++)
        sum += weight[k] * value_there(o, from + place[k] * (to - from));
    return sum * (to - from);
}

/* Halved where the halves tell more: laws have corners, and poles at their ends. whole: over from..to. size: what the
 * integral is compared with */
static double
integral(struct own_law *o, double from, double to, double whole, double size, int depth)
{
    const double enough = 1e-14;
    double middle = from + (to - from) / 2, left = panel(o, from, middle), right = panel(o, middle, to);

    size = fmax(size, fabs(left) + fabs(right));
    if (depth == 0 || !(fabs(left + right - whole) > enough * size))
        return left + right;
    return integral(o, from, middle, left, size, depth - 1) + integral(o, middle, to, right, size, depth - 1);
}

double
storage_energy(const flat_model *f, const double *value, uint32_t port, const double from[2], const double to[2])
{
    enum { DEPTH = 44 }; /* down to where a double ends */
    const flat_law *law = port_law(f, port);
    var_id own = f->port.at[port].stored, other = storage_conjugate(f, port);
    bool reads_stored = true, reads_other = true;
    VEC(double) slot = { 0 };
    VEC(uint32_t) free_slot = { 0 };
    double sum = 0;

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
        sum = (to[0] * to[1] - from[0] * from[1]) / 2;
    } else if (law->kind != LAW_ASSIGN || free_slot.n == 0 || (!reads_stored && !reads_other)) {
        sum = NAN;
    } else {
        struct own_law o = { f, law, slot.at, free_slot.at, free_slot.n };
        double begin = reads_stored ? from[0] : from[1], end = reads_stored ? to[0] : to[1];

        sum = integral(&o, begin, end, panel(&o, begin, end), 0, DEPTH);
        if (!reads_stored) /* the co-energy's complement */
            sum = to[0] * to[1] - from[0] * from[1] - sum;
    }
    vec_free(&slot);
    vec_free(&free_slot);
    return sum;
}

double
storage_curvature(const flat_model *f, const double *value, const uint32_t *position, uint32_t port, const double *x)
{
    const double relative = 1e-6; /* of the change by which the slope is taken */
    const flat_law *law = port_law(f, port);
    var_id own = f->port.at[port].stored, other = storage_conjugate(f, port);
    uint32_t moved = UINT32_MAX; /* slot by which the law is differentiated */
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
