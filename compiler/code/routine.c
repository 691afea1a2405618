/* routine.c - see routine.h */
#include "routine.h"

#include <stdlib.h>

routine *
routine_new(size_t nvars)
{
    routine *r = bg_calloc(1, sizeof *r);

    r->arena = arena_new();
    r->nvars = nvars;
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

/* The code's owner has released it, and so has the routine. */
static void
let_go_of_code(machine_code *code)
{
    if (!code || --code->users)
        return;
    gen_free(code->gen);
    free(code->item);
    free(code->located);
    free(code);
}

void
routine_free(routine *r)
{
    if (!r)
        return;
    let_go_of_code(r->code);
    for (size_t i = 0; i < r->block_class.n; i++) {
        vec_free(&r->block_class.at[i].residual);
        vec_free(&r->block_class.at[i].partial);
    }
    vec_free(&r->block_class);
    vec_free(&r->block);
    vec_free(&r->parameter);
    formula_book_free(&r->book);
    readers_free(&r->by_parameter);
    free(r->w_position);
    free(r->out_index);
    arena_free(r->arena);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

void
routine_exchange(routine *r, machine_code *code)
{
    machine_code *before;

    pthread_mutex_lock(&r->lock);
    before = r->code;
    code->users = 1;
    r->code = code;
    let_go_of_code(before);
    pthread_mutex_unlock(&r->lock);
}

machine_code *
routine_take(routine *r)
{
    machine_code *code;

    pthread_mutex_lock(&r->lock);
    code = r->code;
    code->users++;
    pthread_mutex_unlock(&r->lock);
    return code;
}

void
routine_give_back(routine *r, machine_code *code)
{
    pthread_mutex_lock(&r->lock);
    let_go_of_code(code);
    pthread_mutex_unlock(&r->lock);
}
