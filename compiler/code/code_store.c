/* code_store.c - see code_store.h */
#include <stdlib.h>

#include "codegen_inside.h"

/* Optimising costs some 2 ms a function and halves its run time. Some forty models were compiled and run by the time
 * so many generators have been made, so more can be expected. */
enum { BUSY = 200 };
/* At most so many functions are kept; later ones are freed with their generator. A reduction of a thousand elements
 * makes some hundred. */
enum { MOST_KEPT = 20000 };

code_store *
code_store_new(void)
{
    code_store *s = bg_calloc(1, sizeof *s);

    pthread_mutex_init(&s->lock, NULL);
    return s;
}

bool
code_store_ready(code_store *s, char **why)
{
    if (!s->found) {
        native_free(&s->native);
        s->found = native_find(&s->native, why);
    }
    return s->found;
}

void
code_store_share(code_store *s)
{
    if (!s->share)
        s->share = code_share_new();
}

/* Links an object of another process. */
static void
take_over(code_store *s, const struct code_parcel *p)
{
    LLVMMemoryBufferRef object = llvm.CreateMemoryBufferWithMemoryRangeCopy(p->object, p->size, p->symbol);
    char *why = NULL;
    const int64_t *address = (const int64_t *)linker_add(&s->linker, object, p->symbol, &why);

    for (size_t i = 0; address && i < p->n; i++)
        if (code_index_find(&s->index, &p->key[i]) == UINTPTR_MAX)
            code_index_add(&s->index, &p->key[i], (uintptr_t)address[i]);
    free(why); /* then it is compiled here */
}

uintptr_t
code_store_find(code_store *s, const code_key *key)
{
    uintptr_t found = code_index_find(&s->index, key);
    struct code_parcel p;

    if (found != UINTPTR_MAX || !s->share || !code_share_find(s->share, key, &p))
        return found;
    take_over(s, &p);
    free((void *)p.key);
    return code_index_find(&s->index, key);
}

bool
code_store_full(const code_store *s)
{
    return s->index.list.n >= MOST_KEPT;
}

bool
code_store_is_busy(code_store *s)
{
    bool busy;

    pthread_mutex_lock(&s->lock);
    busy = s->users > BUSY;
    pthread_mutex_unlock(&s->lock);
    return busy;
}

size_t
code_store_count(const code_store *s)
{
    return s->index.list.n;
}

void
code_store_free(code_store *s)
{
    if (!s)
        return;
    linker_free(&s->linker);
    code_index_free(&s->index);
    code_share_free(s->share);
    native_free(&s->native);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
