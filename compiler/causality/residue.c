/* residue.c - expressions of the model as numbers modulo 2^31-1 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "residue.h"

uint32_t
gf_power(uint32_t a, uint64_t n)
{
    uint32_t r = 1;

    for (; n; n >>= 1) {
        if (n & 1)
            r = gf_mul(r, a);
        a = gf_mul(a, a);
    }
    return r;
}

static uint32_t
drawn(uint64_t key, uint64_t key2)
{
    /* a fixed seed: a model is judged the same way in every run */
    return (uint32_t)(bg_hash_mix(bg_hash_mix(0x5bd1e9955bd1e995u, key), key2) % (GF_P - 2)) + 1;
}

/* A number as the decimal fraction that was written, so that 0.1*10 is exactly 1. */
static uint32_t
of_number(double v)
{
    char text[40];
    int exponent = 0;
    uint32_t r = 0;
    bool negative = v < 0, fraction = false;

    if (!isfinite(v))
        return drawn(1, 0);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, fabs(v));
        if (strtod(text, NULL) == fabs(v))
            break;
    }
    for (const char *c = text; *c; c++) {
        if (*c == 'e') {
            exponent += (int)strtol(c + 1, NULL, 10);
            break;
        }
        if (*c < '0' || *c > '9') {
            fraction = true;
            continue;
        }
        r = gf_add(gf_mul(r, 10), (uint32_t)(*c - '0'));
        exponent -= fraction;
    }
    r = gf_mul(r, gf_power(exponent < 0 ? gf_inv(10) : 10, (uint64_t)abs(exponent)));
    return negative ? gf_neg(r) : r;
}

void
residues_init(residues *r, flat_model *f)
{
    memset(r, 0, sizeof *r);
    r->f = f;
}

void
residues_free(residues *r)
{
    map_free(&r->of_var);
    vec_free(&r->value);
}

static uint32_t
known(const residues *r, var_id v)
{
    uint32_t at = map_get(&r->of_var, v);

    return at == MAP_NONE ? NONE : r->value.at[at];
}

static void
set_known(residues *r, var_id v, uint32_t value)
{
    map_set(&r->of_var, v, (uint32_t)r->value.n);
    vec_push(&r->value, value);
}

/* One operation. */
static uint32_t
residue_operation(const ex_node *n, uint32_t a, uint32_t b, uint32_t c)
{

    switch ((enum ex_op)n->op) {
    case EX_CONST: return of_number(n->value);
    case EX_ADD: return gf_add(a, b);
    case EX_SUB: return gf_sub(a, b);
    case EX_MUL: return gf_mul(a, b);
    case EX_NEG: return gf_neg(a);
    case EX_DIV:
        if (b)
            return gf_mul(a, gf_inv(b));
        break;
    default: break;
    }
    return drawn((uint64_t)n->op << 32 | n->table, bg_hash_mix((uint64_t)a << 32 | b, c));
}

/* Evaluates the template over residues of its slots, all of which are known. */
static uint32_t
evaluate_residues(residues *r, inst i)
{
    size_t n;
    const node *tape = ex_tape(r->f->pool, i.root, &n);
    map at = { 0 };
    uint32_t *value = bg_malloc(n * sizeof *value), result;

    for (size_t k = 0; k < n; k++) {
        const ex_node *x = pool_node(r->f->pool, tape[k]);
        double power;

        map_set(&at, tape[k], (uint32_t)k);
        if (x->op == EX_SLOT) {
            value[k] = x->a < i.n ? known(r, inst_slots(r->f, i)[x->a]) : drawn(2, x->a);
            continue;
        }
        uint32_t a = x->a == NODE_NONE ? 0 : value[map_get(&at, x->a)];
        uint32_t b = x->b == NODE_NONE ? 0 : value[map_get(&at, x->b)];
        uint32_t c = x->c == NODE_NONE ? 0 : value[map_get(&at, x->c)];

        if (x->op == EX_POW && ex_is_const(r->f->pool, x->b, &power) && power == rint(power) && fabs(power) < 64 &&
            (a || power > 0))
            value[k] = power < 0 ? gf_inv(gf_power(a, (uint64_t)-power)) : gf_power(a, (uint64_t)power);
        else
            value[k] = residue_operation(x, a, b, c);
    }
    result = value[n - 1];
    free(value);
    map_free(&at);
    return result;
}

/* Parameters computed from parameters are expanded. Every other parameter gets a residue of its own, whatever its
 * value: another run may set it. */
static bool
is_opened(const flat_model *f, var_id v)
{
    inst def = var_def(f, v);

    if (f->var.at[v].kind == VAR_PARAM && inst_known(def))
        for (uint32_t k = 0; k < def.n; k++)
            if (f->var.at[inst_slots(f, def)[k]].kind == VAR_PARAM)
                return true;
    return false;
}

uint32_t
residue_of(residues *r, inst i)
{
    VEC(struct {
        inst i;
        var_id v;
        uint32_t next;
    })
    open = { 0 };
    uint32_t result = 0;

    if (!inst_known(i))
        return drawn(3, 0);
    vec_reserve(&open, 8);
    open.at[open.n].i = i;
    open.at[open.n].v = VAR_NONE;
    open.at[open.n++].next = 0;
    while (open.n) {
        size_t top = open.n - 1;

        if (open.at[top].next < open.at[top].i.n) {
            var_id v = inst_slots(r->f, open.at[top].i)[open.at[top].next++];
            const flat_var *var = &r->f->var.at[v];

            if (known(r, v) != NONE)
                continue;
            if (!is_opened(r->f, v)) {
                set_known(r, v, var->kind == VAR_LITERAL ? of_number(var_value(r->f, v)) : drawn(4, v));
                continue;
            }
            set_known(r, v, drawn(4, v)); /* used if a definition refers to itself */
            vec_reserve(&open, open.n + 1);
            open.at[open.n].i = var_def(r->f, v);
            open.at[open.n].v = v;
            open.at[open.n++].next = 0;
            continue;
        }
        result = evaluate_residues(r, open.at[top].i);
        if (open.at[top].v != VAR_NONE)
            set_known(r, open.at[top].v, result);
        open.n--;
    }
    vec_free(&open);
    return result;
}
