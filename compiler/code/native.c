/* native.c - see native.h */
#include "native.h"

#include <llvm-c/Core.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

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

bool codegen_owns_llvm;

static once_flag llvm_once = ONCE_FLAG_INIT;

static void
llvm_start(void)
{
    /* strength reduction takes half of the time that code for a loop takes and wins nothing: base + 8*i is an address
     * the processor adds itself. A version without the option ignores it. */
    const char *const argument[] = { "bgc", "-disable-lsr" };

    if (codegen_owns_llvm)
        LLVMParseCommandLineOptions(2, argument, NULL);
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
}

char *
native_error(LLVMErrorRef e, const char *doing)
{
    char *text, *said;

    if (!e)
        return NULL;
    text = LLVMGetErrorMessage(e);
    said = bg_format("LLVM, %s: %s", doing, text);
    LLVMDisposeErrorMessage(text);
    return said;
}

bool
native_find(native *n, char **why)
{
    static const LLVMCodeGenOptLevel level[NMODULE] = { LLVMCodeGenLevelNone, LLVMCodeGenLevelDefault };
    char *cpu, *features, *text = NULL;
    LLVMTargetRef target;

    call_once(&llvm_once, llvm_start);
    n->triple = LLVMGetDefaultTargetTriple();
    if (LLVMGetTargetFromTriple(n->triple, &target, &text)) {
        *why = bg_format("LLVM cannot generate code for %s: %s", n->triple, text);
        LLVMDisposeMessage(text);
        return false;
    }
    cpu = LLVMGetHostCPUName();
    features = LLVMGetHostCPUFeatures();
    /* the small model has the FastISel of level 0 load constants directly; calls far away go through stubs of the
     * linker */
    for (int i = 0; i < NMODULE; i++)
        n->machine[i] = LLVMCreateTargetMachine(target, n->triple, cpu, features, level[i], LLVMRelocPIC,
                                                LLVMCodeModelSmall);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    if (!n->machine[QUICK] || !n->machine[OPTIMISED]) {
        *why = bg_format("LLVM cannot generate code for %s", n->triple);
        return false;
    }
    n->layout = LLVMCreateTargetDataLayout(n->machine[QUICK]);
    return true;
}

void
native_free(native *n)
{
    if (n->layout)
        LLVMDisposeTargetData(n->layout);
    for (int i = 0; i < NMODULE; i++)
        if (n->machine[i])
            LLVMDisposeTargetMachine(n->machine[i]);
    if (n->triple)
        LLVMDisposeMessage(n->triple);
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
        pair[n].Name = LLVMOrcLLJITMangleAndIntern(jit, native_callee(op, name));
        pair[n].Sym.Address = callee_address(op);
        pair[n].Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
        n++;
    }
    e = LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit), LLVMOrcAbsoluteSymbols(pair, n));
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
    if ((why = native_error(LLVMOrcCreateLLJIT(&l->jit, NULL), "starting the linker"))) {
        l->jit = NULL;
        return why;
    }
    /* memcpy and the like, which the optimiser may call */
    why = native_error(
        LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(l->jit), NULL, NULL),
        "finding the functions of this process");
    if (why)
        return why;
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(l->jit), process);
    return define_callees(l->jit);
}

uintptr_t
linker_add(linker *l, LLVMMemoryBufferRef object, const char *symbol, char **why)
{
    LLVMOrcExecutorAddress at = 0;

    if ((*why = start_linker(l))) {
        LLVMDisposeMemoryBuffer(object);
        return 0;
    }
    if ((*why = native_error(LLVMOrcLLJITAddObjectFile(l->jit, LLVMOrcLLJITGetMainJITDylib(l->jit), object),
                             "linking")) ||
        (*why = native_error(LLVMOrcLLJITLookup(l->jit, &at, symbol), "linking")))
        return 0;
    return (uintptr_t)at;
}

void
linker_free(linker *l)
{
    if (l->jit)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(l->jit));
    *l = (linker){ 0 };
}
