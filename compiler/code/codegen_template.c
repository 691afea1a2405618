/* codegen_template.c - a template as LLVM instructions: numbers, calls, powers, conditions */
#include <string.h>

#include "codegen_inside.h"

static LLVMValueRef
number(gen *g, double v)
{
    return LLVMConstReal(g->type.real, v);
}

LLVMValueRef
gen_integer(gen *g, int64_t v)
{
    return LLVMConstInt(g->type.i64, (unsigned long long)v, 1);
}

LLVMValueRef
gen_position(gen *g, LLVMBuilderRef b, LLVMValueRef space, LLVMValueRef index)
{
    return LLVMBuildGEP2(b, g->type.real, space, &index, 1, "");
}

static bool
optimised(const gen *g)
{
    return g->now->optimise;
}

LLVMValueRef
gen_tagged(gen *g, LLVMValueRef access, LLVMValueRef tag)
{
    if (optimised(g))
        LLVMSetMetadata(access, g->type.tbaa, tag);
    return access;
}

LLVMValueRef
gen_load(gen *g, LLVMBuilderRef b, LLVMValueRef at)
{
    return gen_tagged(g, LLVMBuildLoad2(b, g->type.real, at, ""), g->type.tbaa_real);
}

void
gen_store_value(gen *g, LLVMValueRef v, LLVMValueRef at)
{
    gen_tagged(g, LLVMBuildStore(g->at, v, at), g->type.tbaa_real);
}

static LLVMValueRef
intrinsic(gen *g, LLVMBuilderRef b, const char *name, LLVMValueRef a)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->now->module, id, &g->type.real, 1);

    return LLVMBuildCall2(b, LLVMIntrinsicGetType(g->ctx, id, &g->type.real, 1), f, &a, 1, "");
}

static LLVMValueRef
call(gen *g, LLVMBuilderRef b, enum ex_op op, LLVMValueRef *arg)
{
    LLVMTypeRef type = ex_ops[op].one ? g->type.unary : ex_ops[op].two ? g->type.binary : g->type.lookup;
    LLVMValueRef *f = &g->now->callee[op];

    if (!*f) {
        LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
        char name[NATIVE_NAME];

        *f = LLVMAddFunction(g->now->module, native_callee(op, name), type);
        gen_add_attribute(g, *f, whole, "nounwind");
        gen_add_attribute(g, *f, whole, "willreturn");
#if LLVM_VERSION_MAJOR >= 16
        gen_add_attribute(g, *f, whole, "memory"); /* value 0: none */
#else
        gen_add_attribute(g, *f, whole, "readnone");
#endif
    }
    return LLVMBuildCall2(b, type, *f, arg, LLVMCountParamTypes(type), "");
}

/* In the order of the evaluator's power() */
static LLVMValueRef
integer_power(gen *g, LLVMBuilderRef b, LLVMValueRef x, int n)
{
    LLVMValueRef r = NULL;

    for (unsigned m = (unsigned)abs(n); m;) {
        if (m & 1)
            r = r ? LLVMBuildFMul(b, r, x, "") : x;
        if (m >>= 1)
            x = LLVMBuildFMul(b, x, x, "");
    }
    return n < 0 ? LLVMBuildFDiv(b, number(g, 1), r, "") : r;
}

static LLVMValueRef
absolute(gen *g, LLVMBuilderRef b, LLVMValueRef a)
{
    if (optimised(g))
        return intrinsic(g, b, "llvm.fabs", a);
    /* FastISel does not know llvm.fabs */
    a = LLVMBuildBitCast(b, a, g->type.i64, "");
    a = LLVMBuildAnd(b, a, LLVMConstInt(g->type.i64, UINT64_C(0x7fffffffffffffff), 0), "");
    return LLVMBuildBitCast(b, a, g->type.real, "");
}

/* m >= 0 with the sign of x */
static LLVMValueRef
with_sign(gen *g, LLVMBuilderRef b, LLVMValueRef m, LLVMValueRef x)
{
    LLVMValueRef bits = LLVMBuildAnd(b, LLVMBuildBitCast(b, x, g->type.i64, ""),
                                     LLVMConstInt(g->type.i64, UINT64_C(1) << 63, 0), "");

    bits = LLVMBuildOr(b, LLVMBuildBitCast(b, m, g->type.i64, ""), bits, "");
    return LLVMBuildBitCast(b, bits, g->type.real, "");
}

/* The exponents that ex_signed_power and ex_absolute_power treat by themselves; NULL: another */
static LLVMValueRef
signed_power(gen *g, LLVMBuilderRef b, enum ex_op op, LLVMValueRef x, double exponent)
{
    LLVMValueRef m = absolute(g, b, x), least = number(g, EX_LEAST_BASE);

    if (op == EX_SPOW) {
        if (exponent == 2)
            return LLVMBuildFMul(b, x, m, "");
        if (exponent == 0.5)
            return with_sign(g, b, intrinsic(g, b, "llvm.sqrt", m), x);
        return exponent == 1.5 ? LLVMBuildFMul(b, x, intrinsic(g, b, "llvm.sqrt", m), "") : NULL;
    }
    if (exponent == 1)
        return m;
    if (exponent == 0.5)
        return intrinsic(g, b, "llvm.sqrt", m);
    if (exponent != -0.5)
        return NULL;
    m = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, m, least, ""), least, m, "");
    return LLVMBuildFDiv(b, number(g, 1), intrinsic(g, b, "llvm.sqrt", m), "");
}

/* a < b ? a : b, the operands compared given in turn; a itself when it is no number */
static LLVMValueRef
lesser(LLVMBuilderRef b, LLVMValueRef low, LLVMValueRef high, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef r = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, low, high, ""), x, y, "");

    return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealUNO, x, x, ""), x, r, "");
}

static LLVMBuilderRef
builder_of(const gen *g, node n)
{
    return g->site.at[n].fixed ? g->before : g->at;
}

static LLVMValueRef
value_of(gen *g, node n)
{
    struct site *s = &g->site.at[n];

    if (!s->value)
        s->value = LLVMBuildSelect(builder_of(g, n), s->flag, number(g, 1), number(g, 0), "");
    return s->value;
}

static LLVMValueRef
flag_of(gen *g, node n)
{
    struct site *s = &g->site.at[n];

    if (!s->flag)
        s->flag = LLVMBuildFCmp(builder_of(g, n), LLVMRealUNE, s->value, number(g, 0), "");
    return s->flag;
}

/* A condition: its flag. NULL when the operation is none. */
static LLVMValueRef
condition(gen *g, LLVMBuilderRef b, const ex_node *e)
{
    switch (e->op) {
    case EX_LT: return LLVMBuildFCmp(b, LLVMRealOLT, value_of(g, e->a), value_of(g, e->b), "");
    case EX_LE: return LLVMBuildFCmp(b, LLVMRealOLE, value_of(g, e->a), value_of(g, e->b), "");
    case EX_EQ: return LLVMBuildFCmp(b, LLVMRealOEQ, value_of(g, e->a), value_of(g, e->b), "");
    case EX_NE: return LLVMBuildFCmp(b, LLVMRealUNE, value_of(g, e->a), value_of(g, e->b), "");
    case EX_AND: return LLVMBuildAnd(b, flag_of(g, e->a), flag_of(g, e->b), "");
    case EX_OR: return LLVMBuildOr(b, flag_of(g, e->a), flag_of(g, e->b), "");
    case EX_NOT: return LLVMBuildNot(b, flag_of(g, e->a), "");
    default: return NULL;
    }
}

static LLVMValueRef
operation(gen *g, LLVMBuilderRef b, const ex_node *e)
{
    int m = e->b == NODE_NONE ? 1 : e->c == NODE_NONE ? 2 : 3, n;
    LLVMValueRef x, y, arg[3];
    double c;

    if (e->op == EX_SELECT)
        return LLVMBuildSelect(b, flag_of(g, e->a), value_of(g, e->b), value_of(g, e->c), "");
    x = value_of(g, e->a);
    y = m > 1 ? value_of(g, e->b) : NULL;
    switch (e->op) {
    case EX_ADD: return LLVMBuildFAdd(b, x, y, "");
    case EX_SUB: return LLVMBuildFSub(b, x, y, "");
    case EX_MUL: return LLVMBuildFMul(b, x, y, "");
    case EX_DIV: return LLVMBuildFDiv(b, x, y, "");
    case EX_NEG: return LLVMBuildFNeg(b, x, "");
    case EX_SQRT: return intrinsic(g, b, "llvm.sqrt", x);
    case EX_FLOOR: return intrinsic(g, b, "llvm.floor", x);
    case EX_CEIL: return intrinsic(g, b, "llvm.ceil", x);
    case EX_ABS: return absolute(g, b, x);
    case EX_MIN: return lesser(b, x, y, x, y);
    case EX_MAX: return lesser(b, y, x, x, y);
    case EX_SIGN:
        y = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, x, number(g, 0), ""), number(g, -1), x, "");
        return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOGT, x, number(g, 0), ""), number(g, 1), y, "");
    case EX_POW:
        if (ex_is_const(g->p, e->b, &c) && ex_integer_power(c, &n))
            return integer_power(g, b, x, n);
        break;
    case EX_SPOW:
    case EX_APOW:
        if (ex_is_const(g->p, e->b, &c) && (arg[0] = signed_power(g, b, e->op, x, c)))
            return arg[0];
        break;
    case EX_TABLE:
    case EX_TABLE_SLOPE:
        arg[0] = gen_integer(g, (int64_t)(uintptr_t)pool_table(g->p, e->table));
        arg[1] = m > 1 ? y : number(g, -1);
        arg[2] = x;
        return call(g, b, e->op, arg);
    default: break;
    }
    arg[0] = x;
    arg[1] = y;
    return call(g, b, e->op, arg);
}

LLVMValueRef
gen_emit(gen *g, node root)
{
    size_t count;
    const node *tape = ex_tape(g->p, root, &count);

    if (g->site.n <= root)
        vec_resize(&g->site, pool_count(g->p));
    for (size_t i = 0; i < count; i++) {
        const ex_node *e = pool_node(g->p, tape[i]);
        struct site *s = &g->site.at[tape[i]];

        *s = (struct site){ .fixed = true };
        if (e->op == EX_CONST) {
            s->value = number(g, e->value);
        } else if (e->op == EX_SLOT) {
            s->value = g->slot.at[e->a];
            s->fixed = g->fixed.at[e->a];
        } else {
            s->fixed = g->site.at[e->a].fixed && (e->b == NODE_NONE || g->site.at[e->b].fixed) &&
                       (e->c == NODE_NONE || g->site.at[e->c].fixed);
            s->flag = condition(g, builder_of(g, tape[i]), e);
            if (!s->flag)
                s->value = operation(g, builder_of(g, tape[i]), e);
        }
    }
    return value_of(g, root);
}
