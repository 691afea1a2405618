/* llvm_library.c - see llvm_library.h */
#include "llvm_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "codegen.h"

struct llvm_called llvm;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;
static char *trouble;

/* A function of the library, NULL if it does not exist. POSIX allows the conversion of an object pointer; C does
 * not. */
static void
find(void *library, const char *name, void *function, size_t size)
{
    void *found = dlsym(library, name);

    if (!found && !trouble)
        trouble = bg_format("LLVM cannot be used: %s", dlerror());
    memcpy(function, &found, size);
}

static void
no_memory(void *ctx, const char *reason, bool crash_diagnostics)
{
    (void)ctx, (void)reason, (void)crash_diagnostics;
    bg_out_of_memory(0);
}

/* LLVM built with exceptions has no such handler and needs none. */
static void
watch_memory(void *library)
{
    void (*install)(void (*handler)(void *ctx, const char *reason, bool crash_diagnostics), void *ctx);
    void *found = dlsym(library, "_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");

    if (!found)
        return;
    memcpy(&install, &found, sizeof install);
    install(no_memory, NULL);
}

/* The inline functions of llvm-c/Target.h: initialise the target for which LLVM was built. */
static void
start_native(void *library)
{
#define TEXT(name) #name
#define NAME(name) TEXT(name)
    static const char *const part[] = { NAME(LLVM_NATIVE_TARGETINFO), NAME(LLVM_NATIVE_TARGET),
                                        NAME(LLVM_NATIVE_TARGETMC), NAME(LLVM_NATIVE_ASMPRINTER) };
#undef NAME
#undef TEXT
    void (*start)(void);

    for (size_t k = 0; k < sizeof part / sizeof *part && !trouble; k++) {
        find(library, part[k], &start, sizeof start);
        if (start)
            start();
    }
}

/* False: there is not enough memory; a later call may find more. (The caller, not this, ends or leaves the call of a
 * host program: the lock is held here.) */
static bool
load_library(void)
{
    /* Strength reduction takes half of the time that code for a loop takes and gains nothing: the processor computes
     * the address base + 8*i by itself. A version of LLVM without the option ignores it. */
    const char *const argument[] = { "bgc", "-disable-lsr" };
    void *library = dlopen(BGC_LLVM_NAME, RTLD_LAZY | RTLD_LOCAL);

    if (!library) /* not in the folders where libraries are searched */
        library = dlopen(BGC_LLVM_PATH, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();

        if (strstr(why, "failed to map segment")) /* the loader does not report a lack of memory */
            return false;
        trouble = bg_format("LLVM cannot be loaded: %s", why);
        return true;
    }
    if (!bg_has_room(LLVM_ROOM)) /* the library itself may have taken what was there */
        return false;
#define FIND(name) find(library, "LLVM" #name, &llvm.name, sizeof llvm.name);
    LLVM_CALLED(FIND)
#undef FIND
    if (codegen_owns_llvm && !trouble) {
        watch_memory(library);
        llvm.ParseCommandLineOptions(2, argument, NULL);
    }
    start_native(library);
    return true;
}

const char *
llvm_load(void)
{
    bool enough;

    pthread_mutex_lock(&lock);
    enough = loaded = loaded || load_library();
    pthread_mutex_unlock(&lock);
    if (!enough)
        bg_out_of_memory(0);
    return trouble;
}

/* ---------------------------------------------------------------- beside other work */

static pthread_t loader;
static bool loading;

static void *
load_beside(void *unused)
{
    llvm_load();
    return unused;
}

void
codegen_load_ahead(void)
{
    static bool joins_at_fork;

    /* a process made meanwhile would find the locks of the loader taken for ever */
    if (!joins_at_fork)
        joins_at_fork = pthread_atfork(codegen_loaded, NULL, NULL) == 0;
    if (joins_at_fork && !loading)
        loading = pthread_create(&loader, NULL, load_beside, NULL) == 0;
}

void
codegen_loaded(void)
{
    if (loading)
        pthread_join(loader, NULL);
    loading = false;
}
