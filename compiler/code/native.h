/* native.h - the present processor, and a linker for objects compiled for it
 *
 * Uses target machines and ORC of LLVM's C API (LLVM 19, builds on 14). codegen makes the objects.
 */
#ifndef BG_NATIVE_H
#define BG_NATIVE_H

#include "expr.h"
#include "llvm_library.h"

enum { QUICK, OPTIMISED, NMODULE }; /* quick to compile; quick to run */

/* The name under which generated code calls the function of a `linked` operation (expr.h): a name unknown to LLVM, so
 * that the call is not replaced. */
enum { NATIVE_NAME = 24 };
const char *native_callee(enum ex_op op, char name[NATIVE_NAME]);

typedef struct native {
    LLVMTargetMachineRef machine[NMODULE];
    LLVMTargetDataRef layout;
    char *triple;
} native;

/* False: *why (free() it) says why; native_free is still needed. */
bool native_find(native *n, char **why);
void native_free(native *n);
/* Converts LLVM's text of an error: NULL: there was none; else free() it. */
char *native_error(LLVMErrorRef e, const char *doing);

typedef struct linker {
    LLVMOrcLLJITRef jit; /* made with the first object */
    uint32_t names;      /* number of names given so far: names of functions and tables are unique in a linker */
} linker;

/* Room for such a name */
enum { LINKER_NAME = 64 };
/* A new one: bgc, the kind, a number; with the number of the process where others link the object too. */
void linker_name(linker *l, const char *kind, bool shared, char name[LINKER_NAME]);

/* Links an object and returns the address of a symbol in it. Takes over the object. 0: *why (free() it) says why. */
uintptr_t linker_add(linker *l, LLVMMemoryBufferRef object, const char *symbol, char **why);
void linker_free(linker *l); /* frees the functions too */

#endif
