/* memory.c - what the command does where memory is short
 *
 * Threads    OpenBLAS starts a thread for each processor when it is loaded, before main, and waits for them at exit; where a limit on memory kept some from
 *            starting it waits for ever. Nothing here has matrices that threads would help with. It asks how many processors there are: while libraries
 *            are loaded there is one. (Its environment variable would be read too early for us to set.)
 * C++        LLVM allocates by operator new and by its own wrappers; both would end the program by abort.
 */
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>

#include "command.h"

/* ---- threads ---- */

static cpu_set_t all_processors;
static int processors_known;

static void
one_processor(void)
{
    cpu_set_t one;
    int i = 0;

    if (sched_getaffinity(0, sizeof all_processors, &all_processors) != 0)
        return;
    while (i + 1 < CPU_SETSIZE && !CPU_ISSET(i, &all_processors))
        i++;
    CPU_ZERO(&one);
    CPU_SET(i, &one);
    processors_known = sched_setaffinity(0, sizeof one, &one) == 0;
}

/* Runs before the libraries' own constructors. */
__attribute__((section(".preinit_array"), used)) static void (*const before_libraries)(void) = one_processor;

/* ---- C++ ---- */

/* operator new in its four forms, under the names that the linker knows them by; these take the place of the library's. */
void *operator_new(size_t n) __asm__("_Znwm");
void *operator_new_array(size_t n) __asm__("_Znam");
void *operator_new_aligned(size_t n, size_t align) __asm__("_ZnwmSt11align_val_t");
void *operator_new_array_aligned(size_t n, size_t align) __asm__("_ZnamSt11align_val_t");

void *operator_new(size_t n) { return bg_malloc(n); }
void *operator_new_array(size_t n) { return bg_malloc(n); }

void *
operator_new_aligned(size_t n, size_t align)
{
    void *p = NULL;

    if (posix_memalign(&p, align < sizeof(void *) ? sizeof(void *) : align, n ? n : 1) != 0)
        bg_out_of_memory(n);
    return p;
}

void *operator_new_array_aligned(size_t n, size_t align) { return operator_new_aligned(n, align); }

/* llvm::install_bad_alloc_error_handler; absent where LLVM was built with exceptions */
typedef void bad_alloc_handler(void *ctx, const char *reason, bool crash_diagnostics);
void install_bad_alloc_handler(bad_alloc_handler *handler, void *ctx)
    __asm__("_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_") __attribute__((weak));

static void
no_memory_in_llvm(void *ctx, const char *reason, bool crash_diagnostics)
{
    (void)ctx, (void)reason, (void)crash_diagnostics;
    bg_out_of_memory(0);
}

void
prepare_memory(void)
{
    if (processors_known)
        sched_setaffinity(0, sizeof all_processors, &all_processors);
    if (install_bad_alloc_handler)
        install_bad_alloc_handler(no_memory_in_llvm, NULL);
}
