/* native.h - the processor at hand and a linker for objects made for it
 *
 * Of LLVM's C API: target machines and ORC (LLVM 19, builds on 14). Used by codegen, which makes the objects.
 */
#ifndef BG_NATIVE_H
#define BG_NATIVE_H

#include "expr.h"
#include "llvm_library.h"

enum { QUICK, OPTIMISED, NMODULE }; /* compiled fast; fast */

/* The name by which generated code calls the function of an operation that is `linked` (expr.h): one that LLVM does
 * not know, so that it calls this function and no other. */
enum { NATIVE_NAME = 24 };
const char *native_callee(enum ex_op op, char name[NATIVE_NAME]);

typedef struct native {
    LLVMTargetMachineRef machine[NMODULE];
    LLVMTargetDataRef layout;
    char *triple;
} native;

/* False: *why tells (malloc'ed); native_free is still due. */
bool native_find(native *n, char **why);
void native_free(native *n);
/* Takes LLVM's text of an error: NULL when there was none; else malloc'ed. */
char *native_error(LLVMErrorRef e, const char *doing);

typedef struct linker {
    LLVMOrcLLJITRef jit; /* made by the first object */
    uint32_t names;      /* given so far: names of functions and tables are unique in a linker */
} linker;

/* Links an object and finds a symbol of it. Takes the object. Zero: *why tells (malloc'ed). */
uintptr_t linker_add(linker *l, LLVMMemoryBufferRef object, const char *symbol, char **why);
void linker_free(linker *l); /* the functions go too */

#endif
