/* storage.c - see storage.h */
#include "storage.h"

#include <math.h>
#include <string.h>

#include "equations.h"

#define SAME_INTEGRAL 1e-14 /* of the magnitude: halves of an interval that give no more accurate value */
#define DIFFERENCE 1e-6     /* step of a difference quotient, relative to the variable, or to 1 where that is zero */

var_id
storage_conjugate(const flat_model *f, uint32_t port)
{
    return port_has_momentum(f, port) ? f->port.at[port].f : f->port.at[port].e;
}

/* ---------------------------------------------------------------- making */

struct making {
    storage_program *g;
    const equations *e;
    const uint32_t *position;
    map number; /* variable -> number */
    VEC(uint32_t) slot;
};

static struct storage_read
read_of(const struct making *w, var_id v)
{
    enum var_kind kind = w->e->f->var.at[v].kind;

    if (kind == VAR_PARAM || kind == VAR_LITERAL)
        return (struct storage_read){ READ_PARAMETER, v };
    if (kind == VAR_MODE)
        return (struct storage_read){ READ_MODE, w->position[v] };
    if (w->e->var.at[v].kind == DEF_STATE)
        return (struct storage_read){ READ_STATE, w->position[v] };
    return (struct storage_read){ READ_ELSE, v };
}

static uint32_t
storage_number(struct making *w, var_id v)
{
    uint32_t k = map_get(&w->number, v);

    if (k == MAP_NONE) {
        k = STORAGE_READ + (uint32_t)w->g->read.n;
        vec_push(&w->g->read, read_of(w, v));
        map_set(&w->number, v, k);
    }
    return k;
}

static void
add_storage_law(struct making *w, uint32_t port)
{
    const flat_model *f = w->e->f;
    const flat_law *law = port_law(f, port);
    var_id own = f->port.at[port].stored, other = storage_conjugate(f, port);
    struct storage_law x = { .linear = f->element.at[f->port.at[port].element].linear,
                             .assigned = law->kind == LAW_ASSIGN,
                             .alone = true,
                             .stored = true,
                             .other = true,
                             .moved = NONE,
                             .own = w->e->var.at[own].kind == DEF_STATE ? w->position[own] : NONE };
    size_t occurs = 0;

    w->slot.n = 0;
    for (uint32_t k = 0; k < law->def.n; k++) {
        var_id v = inst_slots(f, law->def)[k];

        if (v == own || v == other) {
            x.moved = v == own ? STORAGE_OWN : STORAGE_OTHER;
            occurs++;
            vec_push(&w->slot, x.moved);
        } else {
            vec_push(&w->slot, storage_number(w, v));
            if (w->g->read.at[w->slot.at[k] - STORAGE_READ].from == READ_PARAMETER)
                continue;
            x.alone = false;
        }
        x.stored &= v == own;
        x.other &= v == other;
    }
    if (occurs != 1)
        x.moved = NONE;
    x.law = formula_write(&w->g->book, f->pool, law->def.root, w->slot.at, law->def.n);
    vec_push(&w->g->law, x);
}

storage_program *
storage_program_new(const equations *e, const uint32_t *position)
{
    const flat_model *f = e->f;
    storage_program *g = bg_calloc(1, sizeof *g);
    struct making w = { .g = g, .e = e, .position = position };

    g->of_port = bg_malloc((f->port.n + 1) * sizeof *g->of_port);
    memset(g->of_port, 0xff, (f->port.n + 1) * sizeof *g->of_port);
    for (uint32_t p = 0; p < f->port.n; p++)
        if (f->port.at[p].stored != VAR_NONE) {
            g->of_port[p] = (uint32_t)g->law.n;
            add_storage_law(&w, p);
        }
    formula_close(&g->book);
    vec_free(&w.slot);
    map_free(&w.number);
    return g;
}

void
storage_program_free(storage_program *g)
{
    if (!g)
        return;
    formula_book_free(&g->book);
    vec_free(&g->read);
    vec_free(&g->law);
    free(g->of_port);
    free(g);
}

size_t
storage_numbers(const storage_program *g)
{
    return STORAGE_READ + g->read.n;
}

/* ---------------------------------------------------------------- energies */

/* Collects what the law reads besides its own port. False: it reads a variable that is not a state. */
static bool
take_numbers(const storage_at *s, const struct storage_law *law)
{
    const uint32_t *reads = formula_reads(&s->g->book, &law->law);
    bool known = true;

    for (uint32_t k = 0; k < law->law.n; k++) {
        const struct storage_read *r = reads[k] < STORAGE_READ ? NULL : &s->g->read.at[reads[k] - STORAGE_READ];

        if (!r)
            continue;
        known &= r->from != READ_ELSE;
        s->number[reads[k]] = r->from == READ_PARAMETER       ? s->value[r->at]
                              : r->from == READ_STATE && s->x ? s->x[r->at]
                              : r->from == READ_MODE          ? s->modes[r->at]
                                                              : 0;
    }
    return known;
}

/* A law as a function of one of its variables, the others constant. */
struct own_law {
    const storage_at *s;
    formula law;
    double *number;
};

static double
value_there(struct own_law *o, double x)
{
    *o->number = x;
    return formula_value(&o->s->g->book, o->law, o->s->number, o->s->room);
}

/* Gauss's rule with five points. */
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

/* Halves the interval if the halves give a more accurate value, since laws have corners, and poles at their ends.
 * whole: over from..to. size: the magnitude for the tolerance */
static double
integral(struct own_law *o, double from, double to, double whole, double size, int depth)
{
    double middle = from + (to - from) / 2, left = panel(o, from, middle), right = panel(o, middle, to);

    size = fmax(size, fabs(left) + fabs(right));
    if (depth == 0 || !(fabs(left + right - whole) > SAME_INTEGRAL * size))
        return left + right;
    return integral(o, from, middle, left, size, depth - 1) + integral(o, middle, to, right, size, depth - 1);
}

double
storage_energy(const storage_at *s, const struct storage_law *law, const double from[2], const double to[2])
{
    enum { DEPTH = 44 }; /* down to the resolution of a double */
    struct own_law o = { s, law->law, &s->number[law->stored ? STORAGE_OWN : STORAGE_OTHER] };
    double begin = law->stored ? from[0] : from[1], end = law->stored ? to[0] : to[1], sum;

    if (law->linear)
        return (to[0] * to[1] - from[0] * from[1]) / 2;
    if (!law->assigned || law->stored == law->other)
        return NAN;
    take_numbers(s, law);
    sum = integral(&o, begin, end, panel(&o, begin, end), 0, DEPTH);
    return law->stored ? sum : to[0] * to[1] - from[0] * from[1] - sum; /* the co-energy's complement */
}

double
storage_curvature(const storage_at *s, const struct storage_law *law)
{
    struct own_law o = { s, law->law, &s->number[law->moved == STORAGE_OWN ? STORAGE_OWN : STORAGE_OTHER] };
    double at, step, right, slope;

    if (!take_numbers(s, law) || !law->assigned || law->moved == NONE ||
        (law->moved == STORAGE_OWN && law->own == NONE))
        return NAN;
    at = law->moved == STORAGE_OWN ? s->x[law->own] : 0;
    step = at != 0 ? DIFFERENCE * fabs(at) : DIFFERENCE;
    right = value_there(&o, at + step);
    slope = (right - value_there(&o, at - step)) / (2 * step);
    if (law->moved == STORAGE_OTHER)
        slope = 1 / slope;
    return isfinite(slope) ? slope : NAN;
}
