/* codegen_inside.h - modules under construction, shared by the files codegen*.c; no other file includes it */
#ifndef BG_CODEGEN_INSIDE_H
#define BG_CODEGEN_INSIDE_H

#include <pthread.h>

#include "code_key.h"
#include "code_share.h"
#include "codegen.h"
#include "lower.h"
#include "native.h"

/* Addresses of stored functions, by what they compute. The lock is held by whoever adds functions to a generator that
 * uses the store, or compiles them. */
struct code_store {
    pthread_mutex_t lock;
    native native;
    linker linker;
    code_index index;
    code_share *share; /* with other processes; NULL: there are none */
    bool found;        /* the processor is known */
    size_t users;      /* number of generators so far */
};

/* Destination of functions: the generator, or the store. */
enum { OWN, KEPT, NPLACES };

/* Parameters of both shapes; the spaces are in the order of enum space. */
enum {
    ARG_T,
    ARG_X,
    ARG_W,
    ARG_P,
    ARG_M,
    ARG_O,
    CHUNK_ARGS,
    ARG_BASE = CHUNK_ARGS,
    ARG_TABLE,
    ARG_OBASE,
    ARG_BEGIN,
    ARG_END,
    KERNEL_ARGS,
    ARG_AT = CHUNK_ARGS,
    LOCATED_ARGS
};

/* A module under construction */
struct unit {
    LLVMModuleRef module;
    bool optimise;
    linker *linker;
    VEC(LLVMValueRef) entry;      /* functions to look up after linking */
    VEC(uint32_t) handle;         /* whose */
    LLVMValueRef callee[EX_NOPS]; /* declared so far */
};

struct types {
    LLVMTypeRef real, real_ptr, i1, i32, i32_ptr, i64, i64_ptr, none, unary, binary, lookup, kernel, chunk, located;
    LLVMValueRef tbaa_real, tbaa_i32;
    unsigned tbaa, loop;
};

/* A function to be stored after it is compiled. */
struct leaving {
    code_key key;
    uint32_t handle;
};

struct gen {
    pool *p;
    code_store *kept;     /* NULL: none */
    const native *native; /* that of the store, or its own */
    native own_native;
    linker linker;    /* for functions that are not stored */
    code_index index; /* functions added: handles */
    VEC(struct leaving) leaving;
    LLVMContextRef ctx; /* NULL between gen_finish and the next addition */
    struct types type;
    struct unit unit[NPLACES][NMODULE];
    LLVMBuilderRef before, at; /* before the loop, and inside it; the same one in chunks */
    struct unit *now;          /* the unit to which functions are added */
    lowering lower;
    LLVMValueRef function; /* under construction; for a kernel its member and basic blocks */
    LLVMValueRef member;
    LLVMBasicBlockRef block_before, block_loop, block_done;
    bool located;
    VEC(uintptr_t) address; /* by handle; 0 until compiled */
    key_maker keys;
    char *error; /* the first one; gen_finish reports it */
};

/* ---- codegen.c ---- */
void gen_set_error(gen *g, char *text);
void gen_lock(const gen *g); /* its store, if it has one */
void gen_unlock(const gen *g);

/* ---- code_store.c ---- */

/* The address of a function in the store, or made by another process that shares it; UINTPTR_MAX: it is not there. */
uintptr_t code_store_find(code_store *s, const code_key *key);

/* ---- codegen_module.c ---- */

/* Metadata for the branch of a loop: vectors as wide as the processor has, without interleaving. More makes code larger
 * without making it faster, since it waits for memory, and takes longer to compile. */
LLVMValueRef gen_loop_tag(gen *g);
void gen_open_unit(gen *g, bool optimise, bool kept);
void gen_close_units(gen *g);
void gen_add_attribute(gen *g, LLVMValueRef f, LLVMAttributeIndex at, const char *name);

/* A new function without code. */
LLVMValueRef gen_add_function(gen *g, LLVMTypeRef type, const char *kind);
uint32_t gen_add_handle(gen *g, code_value function); /* NULL: there is none */

/* ---- codegen_llvm.c ---- */
extern const backend gen_llvm;

#endif
