/* code_store.c - see code_store.h */
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
    return bg_calloc(1, sizeof(code_store));
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

bool
code_store_full(const code_store *s)
{
    return s->index.list.n >= MOST_KEPT;
}

bool
code_store_is_busy(const code_store *s)
{
    return s->users > BUSY;
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
    native_free(&s->native);
    free(s);
}
