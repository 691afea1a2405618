/* passive.c - see passive.h */
#include "passive.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "parameters.h"
#include "written.h"

#define NEGATIVE 1e-10 /* relative to a matrix's greatest entry: smaller values are rounding */
#define SAID 1e-3      /* of the greatest input of a port: smaller ones are not named in the message */
enum { MOST_PORTS = 200, TOLD = 4 };
enum { FEW_SLOTS = 8 }; /* for so few slots derivatives are cached for each form of law */

/* The output of a port's law, and its inputs. */
static var_id
port_quantity(const flat_port *p, enum quantity q)
{
    return q == Q_EFFORT ? p->e : q == Q_FLOW ? p->f : p->stored;
}

static enum quantity
other(const flat_model *f, const flat_element *e, uint32_t port, enum quantity out)
{
    enum quantity stored = port_has_momentum(f, port) ? Q_MOMENTUM : Q_DISPLACEMENT,
                  conjugate = port_has_momentum(f, port) ? Q_FLOW : Q_EFFORT;

    if (e->type == EL_R)
        return out == Q_EFFORT ? Q_FLOW : Q_EFFORT;
    return out == stored ? conjugate : stored;
}

/* Derivatives of an expression by all its slots in one pass; NULL: take each separately, since it has conditions or few
 * slots. */
static node *
gradient(const flat_model *f, inst def)
{
    uint32_t *all;
    node *d;

    if (def.n <= FEW_SLOTS || pool_node(f->pool, def.root)->switching)
        return NULL;
    all = bg_malloc((def.n + 1) * sizeof *all);
    d = bg_malloc((def.n + 1) * sizeof *d);
    for (uint32_t k = 0; k < def.n; k++)
        all[k] = k;
    ex_gradient(f->pool, def.root, all, def.n, d);
    free(all);
    return d;
}

/* The slope of an expression by variable v if it depends on parameters only, else NAN. by: its gradient */
static double
slope(const flat_model *f, const double *value, inst def, const node *by, var_id v)
{
    double few[FEW_SLOTS], *slot = def.n <= FEW_SLOTS ? few : bg_malloc(def.n * sizeof *slot), result = 0;
    bool few_used[FEW_SLOTS], *used = def.n <= FEW_SLOTS ? few_used : bg_malloc(def.n * sizeof *used);

    for (uint32_t k = 0; k < def.n; k++)
        slot[k] = value[f->slot.at[def.first + k]];
    for (uint32_t k = 0; k < def.n && !isnan(result); k++) {
        node d;

        if (f->slot.at[def.first + k] != v)
            continue;
        d = by ? by[k] : ex_derivative(f->pool, def.root, k);
        ex_slots_used(f->pool, d, used, def.n);
        for (uint32_t j = 0; j < def.n; j++) {
            enum var_kind kind = f->var.at[f->slot.at[def.first + j]].kind;

            if (used[j] && kind != VAR_PARAM && kind != VAR_LITERAL)
                result = NAN;
        }
        if (!isnan(result))
            result += ex_eval(f->pool, d, slot);
    }
    if (slot != few)
        free(slot);
    if (used != few_used)
        free(used);
    return result;
}

/* The law as a matrix from inputs to outputs of the ports, so that the power taken (of storage: twice the energy) is
 * v'Mv; symmetric part, by columns. False: the law is not linear with parameter coefficients. */
static bool
law_matrix(const flat_model *f, const double *value, const flat_element *e, double *m)
{
    size_t n = e->nports;
    bool linear = true;

    for (size_t i = 0; i < n && linear; i++) {
        const flat_law *law = &f->law.at[e->law0 + i];
        node *all = law->kind == LAW_ASSIGN ? gradient(f, law->def) : NULL;

        for (size_t j = 0; j < n && linear; j++) {
            const flat_law *by = &f->law.at[e->law0 + j];
            double x = law->kind != LAW_ASSIGN || by->kind != LAW_ASSIGN
                           ? NAN
                           : slope(f, value, law->def, all,
                                   port_quantity(&f->port.at[by->port], other(f, e, by->port, by->out)));

            linear = isfinite(x);
            x *= f->port.at[law->port].sign / 2.0;
            m[j * n + i] += x;
            m[i * n + j] += x;
        }
        free(all);
    }
    return linear;
}

/* Ports have different units: scales rows and columns by the roots of their greatest entries. */
static void
balance_units(double *m, double *scale, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double most = 0;

        for (size_t j = 0; j < n; j++)
            most = fmax(most, fabs(m[j * n + i]));
        scale[i] = most > 0 ? 1 / sqrt(m[i * n + i] != 0 ? fabs(m[i * n + i]) : most) : 1;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            m[j * n + i] *= scale[i] * scale[j];
}

static void
say_one(const flat_model *f, const flat_element *e, double slope_there)
{
    const flat_law *law = &f->law.at[e->law0];
    const char *of = law->out == Q_EFFORT     ? "effort"
                     : law->out == Q_FLOW     ? "flow"
                     : law->out == Q_MOMENTUM ? "momentum"
                                              : "displacement";
    enum quantity in = other(f, e, law->port, law->out);
    const char *by = in == Q_EFFORT ? "effort" : in == Q_FLOW ? "flow" : in == Q_MOMENTUM ? "momentum" : "displacement";

    if (e->type == EL_R)
        diag_info(f->sources, "passive-resistor", element_at(e),
                  "\"%s\" gives power though it is a resistor: its %s is %.4g times its %s (SI)", e->name, of,
                  slope_there, by);
    else
        diag_info(f->sources, "passive-storage", element_at(e),
                  "\"%s\" is unstable by itself: its %s is %.4g times its %s (SI), so its energy falls as it fills",
                  e->name, of, slope_there, by);
}

/* v: inputs of the ports, in SI, for which it gives `power`. */
static void
say_many(const flat_model *f, const flat_element *e, const double *v, double power)
{
    size_t told = 0;
    strbuf text = { 0 };

    for (uint32_t i = 0; i < e->nports; i++) {
        const flat_law *law = &f->law.at[e->law0 + i];
        enum quantity q;

        if (fabs(v[i]) < SAID || told++ >= TOLD)
            continue;
        q = other(f, e, law->port, law->out);
        strbuf_printf(&text, "%s%s.%s = %s", text.n ? ", " : "", port_name(f, law->port), quantity_letter(q),
                      variable_shown(f, port_quantity(&f->port.at[law->port], q), v[i]).text);
    }
    if (told > TOLD)
        strbuf_puts(&text, ", ...");
    if (e->type == EL_R)
        diag_info(f->sources, "passive-resistor", element_at(e),
                  "\"%s\" can give power though it is a resistor: with %s it gives %.4g W", e->name, text.at, power);
    else
        diag_info(f->sources, "passive-storage", element_at(e),
                  "\"%s\" is unstable by itself: with %s its energy is %.4g J below that at rest", e->name, text.at,
                  power / 2);
    strbuf_free(&text);
}

static void
find_active(const flat_model *f, const double *value, const flat_element *e)
{
    size_t n = e->nports;
    double one = 0, *m, *scale, *lambda;

    if (n == 1) {
        if (law_matrix(f, value, e, &one) && one < 0)
            say_one(f, e, one * f->port.at[e->port0].sign);
        return;
    }
    m = bg_calloc(n * n + 1, sizeof *m);
    scale = bg_calloc(n + 1, sizeof *scale);
    lambda = bg_calloc(n + 1, sizeof *lambda);
    if (law_matrix(f, value, e, m)) {
        balance_units(m, scale, n);
        if (LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)n, m, (lapack_int)n, lambda) == 0 &&
            lambda[0] < -NEGATIVE * fabs(lambda[n - 1])) {
            double most = 0;

            for (size_t i = 0; i < n; i++) {
                m[i] *= scale[i];
                most = fabs(m[i]) > fabs(most) ? m[i] : most;
            }
            for (size_t i = 0; i < n; i++)
                m[i] /= most;
            say_many(f, e, m, -lambda[0] / (most * most));
        }
    }
    free(m);
    free(scale);
    free(lambda);
}

void
passive_notes(const flat_model *f)
{
    double *value = bg_calloc(f->var.n + 1, sizeof *value);

    parameter_values(f, value, NULL);
    for (size_t i = 0; i < f->element.n; i++) {
        const flat_element *e = &f->element.at[i];
        bool pseudo = false;

        for (uint32_t p = e->port0; p < e->port0 + e->nports; p++) {
            const flat_domain *d = junction_domain(f, f->port.at[p].junction);

            pseudo |= d && d->power != NODE_NONE;
        }
        if (!pseudo && (e->type == EL_R || e->type == EL_C || e->type == EL_I) && e->nports > 0 &&
            e->nports <= MOST_PORTS && e->nlaws == e->nports)
            find_active(f, value, e);
    }
    free(value);
}
