/* codegen.h - generates machine code for templates, through the LLVM C API (ORC LLJIT; LLVM 19, builds on 14)
 *
 * There are two shapes. A kernel is a loop over the members of a class: one template, whose slots are read at regular
 * positions or through int32 tables. A chunk is straight-line code of bounded size, for what is irregular. The order of
 * evaluation is data of the caller. Code is generated only for what is asked for. Both shapes read
 *   x  states, m  modes, p  parameter data, w  variables of this program, t  time
 * and write one of the spaces below. Indexes count doubles.
 *
 * Kernels and located chunks do not contain the places of their data, so that equal ones are compiled once: within a
 * generator, and with a code store in all generators that use it. Templates that read tables are not stored, because
 * their code contains the address of the table.
 */
#ifndef BG_CODEGEN_H
#define BG_CODEGEN_H

#include "code_store.h"
#include "expr.h"

/* Set it (before anything is compiled) if the program is bgc itself, so that LLVM options may be changed; those of a
 * host program are left alone. */
extern bool codegen_owns_llvm;
/* Loads LLVM in a thread while this one does something else, in a program that has no other thread; call codegen_loaded
 * before it ends. */
void codegen_load_ahead(void);
void codegen_loaded(void);

enum space { SP_TIME, SP_X, SP_W, SP_P, SP_M, SP_OUT }; /* SP_W and SP_OUT can be written */

/* A kernel writes o[obase + i] for i in [begin, end), where o is w or the caller's output array; it does not read what
 * the same call writes. base[k]: position of slot k for member 0 (negative if only members from begin on exist);
 * table[k]: positions (int32) of slot k by member, for slots with `table`. */
typedef void gen_kernel(double t, const double *x, const double *w, const double *p, const double *m, double *o,
                        const int64_t *base, const int32_t *const *table, int64_t obase, int64_t begin, int64_t end);
typedef void gen_chunk(double t, const double *x, double *w, const double *p, const double *m, double *o);
/* A located chunk: at[k] is the index of its k-th place in the space of that place. */
typedef void gen_located(double t, const double *x, double *w, const double *p, const double *m, double *o,
                         const int32_t *at);

struct gen_slot {
    enum space space;
    bool table;
    int32_t stride;
}; /* position base[k] + stride*i, or table[k][i] */

struct gen_ref {
    enum space space;
    uint32_t index;
};
/* One assignment of a chunk: to = root(slot...). Later assignments of the same chunk may read SP_W results of earlier
 * ones. */
struct gen_assign {
    node root;
    const struct gen_ref *slot;
    struct gen_ref to;
};

typedef struct gen gen;
/* Templates belong to pool p, whose tables must outlive the machine code, which reads them in place. One generator for
 * each thread. kept: a store in which code is looked up and kept; NULL: it is freed with the generator. */
gen *gen_new(pool *p, code_store *kept);
void gen_free(gen *g); /* also frees the machine code */
/* Adds a kernel for one template; returns its handle. optimise: vectorised for the present processor (takes about 3 ms
 * to compile; quick code takes 0.2 ms and has a quarter of the speed). */
uint32_t gen_add_kernel(gen *g, node root, const struct gen_slot *slot, uint32_t nslots, bool optimise);
/* Long chunks are divided into several functions; one call runs them all. optimise: takes 7 times as long to compile
 * and runs 4 times as fast. */
uint32_t gen_add_chunk(gen *g, const struct gen_assign *a, size_t n, bool optimise);
/* The same for a located chunk. Fills `at` with the places of its data, one entry for each place that the assignments
 * use, at most as many as they have slots and results. */
uint32_t gen_add_located(gen *g, const struct gen_assign *a, size_t n, bool optimise, int32_t *at);
/* Compiles everything added since the last call. False: *why (free() it) says why, and the generator cannot be used any
 * more. */
bool gen_finish(gen *g, char **why);
/* Ends the generation: addresses and their code are kept; the pool is no longer needed. */
void gen_close(gen *g);
gen_kernel *gen_kernel_at(const gen *g, uint32_t handle); /* NULL before gen_finish */
gen_chunk *gen_chunk_at(const gen *g, uint32_t handle);
gen_located *gen_located_at(const gen *g, uint32_t handle);
/* The IR of everything added since the last gen_finish, for --dump ir. */
char *gen_print_ir(const gen *g); /* free() it */

#endif
