/* codegen.h - templates to machine code, through the LLVM C API (ORC LLJIT; LLVM 19, builds on 14)
 *
 * Two shapes. A kernel is a loop over the members of a class: one template, its slots read at affine positions or
 * through int32 tables. A chunk is straight-line code for what is irregular, of bounded size. The order of evaluation
 * is not code but the caller's data. No code is generated for what is not asked for. Both shapes read
 *   x  states, m  modes, p  parameter data, w  variables of this program, t  time
 * and write one of the spaces below. Indexes are in doubles.
 *
 * Kernels and located chunks do not contain where their data stand, so that what is equal is compiled once: within a
 * generator, and with a code store in all generators that use it. Templates that read tables are not kept: their code
 * contains where the table lies.
 */
#ifndef BG_CODEGEN_H
#define BG_CODEGEN_H

#include "code_store.h"
#include "expr.h"

/* The program is bgc itself, whose LLVM may be told what suits it; a host's options are left alone. Set before anything
 * is compiled. */
extern bool codegen_owns_llvm;

enum space { SP_TIME, SP_X, SP_W, SP_P, SP_M, SP_OUT }; /* SP_W and SP_OUT can be written */

/* Kernels write o[obase + i], i in [begin, end), o being w or the caller's output array; what one call writes it does
 * not read. base[k]: position of slot k for member 0 (negative where the members from begin on are inside); table[k]:
 * positions (int32) of slot k, for slots with `table`, indexed by member. */
typedef void gen_kernel(double t, const double *x, const double *w, const double *p, const double *m, double *o,
                        const int64_t *base, const int32_t *const *table, int64_t obase, int64_t begin, int64_t end);
typedef void gen_chunk(double t, const double *x, double *w, const double *p, const double *m, double *o);
/* A chunk that is told where its data stand: at[k], the index of its k-th place in that place's space. */
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
/* One assignment of a chunk: to = root(slot...). Earlier assignments' SP_W results may be read by later ones of the
 * same chunk. */
struct gen_assign {
    node root;
    const struct gen_ref *slot;
    struct gen_ref to;
};

typedef struct gen gen;
/* Templates are of pool p, whose tables must outlive the machine code: they are read where they lie. One generator per
 * thread. kept: where code is found and left; NULL: it goes with the generator. */
gen *gen_new(pool *p, code_store *kept);
void gen_free(gen *g); /* releases the machine code too */
/* Adds a kernel for one template; returns its handle. optimise: vectorised for the processor at hand
 * (about 3 ms to compile; quick code 0.2 ms, at a quarter of the speed). */
uint32_t gen_add_kernel(gen *g, node root, const struct gen_slot *slot, uint32_t nslots, bool optimise);
/* Long chunks are cut into functions; one call runs them all. optimise: 7 times as long to compile, 4 times as fast. */
uint32_t gen_add_chunk(gen *g, const struct gen_assign *a, size_t n, bool optimise);
/* The same for a chunk whose code contains no places. `at` is filled: where this one's data stand, one entry for each
 * place that the assignments name, at most the number of their slots and results. */
uint32_t gen_add_located(gen *g, const struct gen_assign *a, size_t n, bool optimise, int32_t *at);
/* Compiles all that was added since the last call. False: *why tells (malloc'ed), and the generator stays unusable. */
bool gen_finish(gen *g, char **why);
/* Nothing is added any more: addresses and their code are left, without the pool and what code was made with. */
void gen_close(gen *g);
gen_kernel *gen_kernel_at(const gen *g, uint32_t handle); /* NULL until finished */
gen_chunk *gen_chunk_at(const gen *g, uint32_t handle);
gen_located *gen_located_at(const gen *g, uint32_t handle);
/* IR of everything added and not yet finished, for --dump ir */
char *gen_print_ir(const gen *g); /* free() it */

#endif
