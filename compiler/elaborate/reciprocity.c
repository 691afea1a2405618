/* reciprocity.c - checks that a storage field cannot create energy
 *
 * Laws given one by one must be derivatives of one function: the derivative of each by another's argument equals that
 * of the other by its own (Maxwell). They are compared by value, at several points and with the present parameters, so
 * that the result does not depend on how they are written.
 *
 * reports   field-reciprocity, with both slopes
 */
#include <math.h>
#include <string.h>

#include "elab.h"
#include "parameters.h"

enum { POINTS = 5 }; /* at which slopes are compared */
/* Variables are there from 0.4 to 1.4 times a size: not near zero, where many laws have a corner. */
static const double SMALLEST_VALUE = 0.4;
static const double SAME_SLOPE = 1e-9; /* relative: slopes that differ by less are equal except for rounding */

/* The variable on which a port's law depends. */
static var_id
argument_of(const flat_port *p, const flat_law *law)
{
    return law->out == Q_DISPLACEMENT ? p->e : law->out == Q_MOMENTUM ? p->f : p->stored;
}

/* Sign of a law in the function of which all are derivatives: stored energy by the stored quantity, minus output times
 * stored quantity where a law is inverted. */
static int
turn_of_law(const flat_port *p, const flat_law *law)
{
    return law->out == Q_DISPLACEMENT || law->out == Q_MOMENTUM ? -p->sign : p->sign;
}

static const char *
slot_text(void *ctx, uint32_t k)
{
    const void *const *pair = ctx;
    const flat_model *f = pair[0];
    const inst *i = pair[1];

    return var_name(f, inst_slots(f, *i)[k]);
}

static char *
derivative_text(const flat_model *f, inst law, node d)
{
    const void *pair[2] = { f, &law };
    strbuf b = { 0 };

    ex_print(f->pool, d, slot_text, pair, &b);
    return b.at;
}

static node
slope_by(const flat_model *f, inst law, var_id v)
{
    for (uint32_t k = 0; k < law.n; k++)
        if (inst_slots(f, law)[k] == v)
            return ex_derivative(f->pool, law.root, k);
    return ex_const(f->pool, 0);
}

/* A trial value for a variable that is no parameter, the same wherever it occurs. */
static double
trial(var_id v, int point)
{
    static const double size[POINTS] = { 1, 1e-3, 30, 1e-6, 1 };
    uint64_t h = (v + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(point + 1) * UINT64_C(0xbf58476d1ce4e5b9);

    h ^= h >> 29;
    h *= UINT64_C(0x94d049bb133111eb);
    h ^= h >> 32;
    return size[point] * (SMALLEST_VALUE + (double)(h >> 11) * 0x1p-53);
}

static double
slope_at(const flat_model *f, inst law, node d, const double *number, int point)
{
    VEC(double) slot = { 0 };
    double x;

    for (uint32_t k = 0; k < law.n; k++) {
        var_id v = inst_slots(f, law)[k];
        enum var_kind kind = f->var.at[v].kind;

        vec_push(&slot, kind == VAR_PARAM || kind == VAR_LITERAL ? number[v] : trial(v, point));
    }
    x = ex_eval(f->pool, d, slot.at);
    vec_free(&slot);
    return x;
}

/* Equal as expressions, or at every point where both are defined. */
static bool
same_slopes(const flat_model *f, inst a, node da, int ta, inst b, node db, int tb, const double *number)
{
    for (int point = 0; point < 5; point++) {
        double x = ta * slope_at(f, a, da, number, point), y = tb * slope_at(f, b, db, number, point);

        if (isfinite(x) && isfinite(y) && fabs(x - y) > SAME_SLOPE * fmax(fabs(x), fabs(y)))
            return false;
    }
    return true;
}

static void
report_reciprocity(elab *el, const flat_element *x, uint32_t a, uint32_t b, node da, node db)
{
    const flat_model *f = el->f;
    const flat_law *la = port_law(f, a), *lb = port_law(f, b);
    const flat_port *pa = &f->port.at[a], *pb = &f->port.at[b];
    char *ta = derivative_text(f, la->def, da), *tb = derivative_text(f, lb->def, db);
    const char *na = var_name(f, argument_of(pa, la)), *nb = var_name(f, argument_of(pb, lb));
    bool opposite = turn_of_law(pa, la) != turn_of_law(pb, lb);

    diag_error(el->s, "field-reciprocity", element_at(x),
               "%s:%s could create energy: its laws are not the derivatives of one energy", element_type_name(x->type),
               x->name);
    diag_note(el->s, la->at, "the derivative of %s.%s by %s is %s", port_name(f, a), quantity_letter(la->out), nb, ta);
    diag_note(el->s, lb->at, "the derivative of %s.%s by %s is %s%s", port_name(f, b), quantity_letter(lb->out), na, tb,
              opposite ? ", which should be the negative of the first" : "");
    diag_help(el->s, "Write energy = ... and leave the laws to follow.");
    free(ta);
    free(tb);
}

static bool
check_storage(elab *el, const flat_element *x, const double *number)
{
    const flat_model *f = el->f;

    for (uint32_t a = x->port0; a < x->port0 + x->nports; a++) {
        const flat_law *la = port_law(f, a);

        for (uint32_t b = x->port0; b < a; b++) {
            const flat_law *lb = port_law(f, b);
            const flat_port *pa = &f->port.at[a], *pb = &f->port.at[b];
            node da = slope_by(f, la->def, argument_of(pb, lb)), db = slope_by(f, lb->def, argument_of(pa, la));

            if (same_slopes(f, la->def, da, turn_of_law(pa, la), lb->def, db, turn_of_law(pb, lb), number))
                continue;
            report_reciprocity(el, x, b, a, db, da);
            return false;
        }
    }
    return true;
}

/* Reports a law that reads the output of another port's law, which would make it ambiguous. */
static bool
check_arguments(elab *el, const flat_element *x)
{
    const flat_model *f = el->f;
    bool ok = true;

    for (uint32_t a = x->port0; a < x->port0 + x->nports && ok; a++) {
        const flat_law *la = port_law(f, a);

        for (uint32_t b = x->port0; b < x->port0 + x->nports && ok; b++) {
            const flat_port *pb = &f->port.at[b];
            const flat_law *lb = port_law(f, b);
            var_id given = lb->out == Q_EFFORT ? pb->e : lb->out == Q_FLOW ? pb->f : pb->stored;

            for (uint32_t k = 0; a != b && k < la->def.n; k++)
                ok = ok && inst_slots(f, la->def)[k] != given;
            if (!ok) {
                diag_error(el->s, "law-quantity", la->at,
                           "the law of %s reads \"%s\", for which another port has a law", port_name(f, a),
                           var_name(f, given));
                diag_note(el->s, lb->at, "that law is here");
                diag_help(el->s, "Write both over the same quantities, or write energy = ....");
            }
        }
    }
    return ok;
}

void
check_fields(elab *el)
{
    double *number = NULL;

    for (size_t k = 0; k < el->field.n; k++) {
        const flat_element *x = &el->f->element.at[el->field.at[k].element];

        /* derived from an energy: always reciprocal */
        if (!el->field.at[k].made || el->field.at[k].by_energy || (x->type != EL_C && x->type != EL_I) ||
            x->nlaws != x->nports || !x->nlaws)
            continue;
        if (!check_arguments(el, x))
            continue;
        if (!number) {
            number = bg_calloc(el->f->var.n + 1, sizeof *number);
            parameter_values(el->f, number, NULL);
        }
        check_storage(el, x, number);
    }
    free(number);
}
