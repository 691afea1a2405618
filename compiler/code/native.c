/* native.c - see native.h */
#include "native.h"

#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

/* ---------------------------------------------------------------- functions called */

const char *
native_callee(enum ex_op op, char name[NATIVE_NAME])
{
    snprintf(name, NATIVE_NAME, "bgc_%s", op == EX_POW ? "pow" : ex_ops[op].name);
    return name;
}

static uintptr_t
callee_address(enum ex_op op)
{
    if (ex_ops[op].one)
        return (uintptr_t)ex_ops[op].one;
    if (ex_ops[op].two)
        return (uintptr_t)ex_ops[op].two;
    return op == EX_TABLE ? (uintptr_t)ex_table_at : (uintptr_t)ex_table_slope;
}

/* ---------------------------------------------------------------- processor */

char *
native_error(LLVMErrorRef e, const char *doing)
{
    char *text, *said;

    if (!e)
        return NULL;
    text = llvm.GetErrorMessage(e);
    said = bg_format("LLVM, %s: %s", doing, text);
    llvm.DisposeErrorMessage(text);
    return said;
}

bool
native_find(native *n, char **why)
{
    static const LLVMCodeGenOptLevel level[NMODULE] = { LLVMCodeGenLevelNone, LLVMCodeGenLevelDefault };
    char *cpu, *features, *text = NULL;
    LLVMTargetRef target;
    const char *missing = llvm_load();

    if (missing) {
        *why = bg_strdup(missing);
        return false;
    }
    n->triple = llvm.GetDefaultTargetTriple();
    if (llvm.GetTargetFromTriple(n->triple, &target, &text)) {
        *why = bg_format("LLVM cannot generate code for %s: %s", n->triple, text);
        llvm.DisposeMessage(text);
        return false;
    }
    cpu = llvm.GetHostCPUName();
    features = llvm.GetHostCPUFeatures();
    /* With the small code model, FastISel at level 0 loads constants directly; far calls go through stubs of the
     * linker. */
    for (int i = 0; i < NMODULE; i++)
        n->machine[i] = llvm.CreateTargetMachine(target, n->triple, cpu, features, level[i], LLVMRelocPIC,
                                                 LLVMCodeModelSmall);
    llvm.DisposeMessage(cpu);
    llvm.DisposeMessage(features);
    if (!n->machine[QUICK] || !n->machine[OPTIMISED]) {
        *why = bg_format("LLVM cannot generate code for %s", n->triple);
        return false;
    }
    n->layout = llvm.CreateTargetDataLayout(n->machine[QUICK]);
    return true;
}

void
native_free(native *n)
{
    if (n->layout)
        llvm.DisposeTargetData(n->layout);
    for (int i = 0; i < NMODULE; i++)
        if (n->machine[i])
            llvm.DisposeTargetMachine(n->machine[i]);
    if (n->triple)
        llvm.DisposeMessage(n->triple);
    *n = (native){ 0 };
}

/* ---------------------------------------------------------------- linker */

static char *
define_callees(LLVMOrcLLJITRef jit)
{
    LLVMOrcCSymbolMapPairs pair = bg_calloc(EX_NOPS, sizeof *pair);
    LLVMErrorRef e;
    char name[NATIVE_NAME];
    size_t n = 0;

    for (enum ex_op op = 0; op < EX_NOPS; op++) {
        if (!ex_ops[op].linked)
            continue;
        pair[n].Name = llvm.OrcLLJITMangleAndIntern(jit, native_callee(op, name));
        pair[n].Sym.Address = callee_address(op);
        pair[n].Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
        n++;
    }
    e = llvm.OrcJITDylibDefine(llvm.OrcLLJITGetMainJITDylib(jit), llvm.OrcAbsoluteSymbols(pair, n));
    free(pair);
    return native_error(e, "defining functions");
}

static char *
start_linker(linker *l)
{
    LLVMOrcDefinitionGeneratorRef process;
    char *why;

    if (l->jit)
        return NULL;
    if ((why = native_error(llvm.OrcCreateLLJIT(&l->jit, NULL), "starting the linker"))) {
        l->jit = NULL;
        return why;
    }
    /* memcpy and similar calls that the optimiser may insert */
    why = native_error(llvm.OrcCreateDynamicLibrarySearchGeneratorForProcess(
                           &process, llvm.OrcLLJITGetGlobalPrefix(l->jit), NULL, NULL),
                       "finding the functions of this process");
    if (why)
        return why;
    llvm.OrcJITDylibAddGenerator(llvm.OrcLLJITGetMainJITDylib(l->jit), process);
    return define_callees(l->jit);
}

void
linker_name(linker *l, const char *kind, bool shared, char name[LINKER_NAME])
{
    int n = snprintf(name, LINKER_NAME, "bgc_%.20s_%u", kind, (unsigned)l->names++);

    if (shared)
        snprintf(name + n, LINKER_NAME - (size_t)n, "_%ld", (long)getpid());
}

uintptr_t
linker_add(linker *l, LLVMMemoryBufferRef object, const char *symbol, char **why)
{
    LLVMOrcExecutorAddress at = 0;

    if ((*why = start_linker(l))) {
        llvm.DisposeMemoryBuffer(object);
        return 0;
    }
    if ((*why = native_error(llvm.OrcLLJITAddObjectFile(l->jit, llvm.OrcLLJITGetMainJITDylib(l->jit), object),
                             "linking")) ||
        (*why = native_error(llvm.OrcLLJITLookup(l->jit, &at, symbol), "linking")))
        return 0;
    return (uintptr_t)at;
}

void
linker_free(linker *l)
{
    if (l->jit)
        llvm.ConsumeError(llvm.OrcDisposeLLJIT(l->jit));
    *l = (linker){ 0 };
}
