/* jacobian.c - see jacobian.h */
#include <stdlib.h>
#include <string.h>
#include "jacobian.h"
#include "program.h"

struct entry {
    uint32_t row, column, next_in_row, next_in_column;
    bool dead, varies;
};
struct product {
    uint32_t to, a, b;
}; /* value[to] += value[a]*value[b] */

struct jacobian_form {
    routine *routine;
    uint32_t npartials;
    const uint32_t *from; /* [npartials] position of partial derivative i in the output, ordered by classes */
    size_t nentries;      /* partials, then fill */
    VEC(uint32_t)
    minus_one; /* diagonal entries of kept explicit variables: their rows are definition - variable = 0 */
    VEC(struct product) product;
    size_t n, nx;
    int64_t *column, *row;
    uint32_t *source; /* [nonzeros] entry, NONE: a stored zero */
    bool *varies;     /* [nonzeros] */
};

struct jacobian {
    const jacobian_form *form;
    evaluator *evaluator;
    double *partial; /* [npartials] output of the program */
    double *value;   /* [nentries] */
};

struct flags {
    bool *at;
    size_t n, cap;
};

struct builder {
    VEC(struct entry) entry;
    VEC(uint32_t) row_head, column_head, row_count, column_count;
    map at;
    map weight; /* parameter -> its column */
};

static uint64_t
key_of(uint32_t row, uint32_t column)
{
    return (uint64_t)row << 32 | column;
}

static uint32_t
add_entry(struct builder *b, uint32_t row, uint32_t column)
{
    struct entry x = { row, column, b->row_head.at[row], b->column_head.at[column], false, false };
    uint32_t i = (uint32_t)b->entry.n;

    vec_push(&b->entry, x);
    b->row_head.at[row] = b->column_head.at[column] = i;
    b->row_count.at[row]++;
    b->column_count.at[column]++;
    map_set(&b->at, key_of(row, column), i);
    return i;
}

static void
kill(struct builder *b, uint32_t i)
{
    struct entry *x = &b->entry.at[i];

    x->dead = true;
    b->row_count.at[x->row]--;
    b->column_count.at[x->column]--;
}

/* Adds variable z (its row and column) to the variables that read it. */
static void
eliminate_variable(jacobian_form *j, struct builder *b, uint32_t z)
{
    for (uint32_t u = b->column_head.at[z]; u != NONE; u = b->entry.at[u].next_in_column) {
        uint32_t row = b->entry.at[u].row;

        if (b->entry.at[u].dead || row == z)
            continue;
        for (uint32_t d = b->row_head.at[z]; d != NONE; d = b->entry.at[d].next_in_row) {
            uint32_t column = b->entry.at[d].column, to;

            if (b->entry.at[d].dead)
                continue;
            to = map_get(&b->at, key_of(row, column));
            if (to == MAP_NONE || b->entry.at[to].dead)
                to = add_entry(b, row, column);
            b->entry.at[to].varies |= b->entry.at[u].varies | b->entry.at[d].varies;
            vec_push(&j->product, ((struct product){ to, u, d }));
        }
        kill(b, u);
    }
    for (uint32_t d = b->row_head.at[z]; d != NONE; d = b->entry.at[d].next_in_row)
        if (!b->entry.at[d].dead)
            kill(b, d);
}

/* Depends on parameters and modes alone. */
static bool
follows_from_modes(const flat_model *f, inst i)
{
    for (uint32_t k = 0; k < i.n; k++) {
        enum var_kind kind = f->var.at[f->slot.at[i.first + k]].kind;

        if (kind != VAR_PARAM && kind != VAR_LITERAL && kind != VAR_MODE)
            return false;
    }
    return true;
}

static void
add_definition(equations *e, const program *rhs, layout l, inst def, uint32_t row, struct builder *b, uint32_t nx,
               target_list *target, uint32_t at)
{
    flat_model *f = e->f;

    for (uint32_t k = 0; k < def.n; k++) {
        var_id v = f->slot.at[def.first + k];
        bool state = e->var.at[v].kind == DEF_STATE, variable = !state && rhs->routine->w_position[v] != NONE;
        uint32_t weight = state || variable ? MAP_NONE : map_get(&b->weight, v);
        double value;
        node d;

        if (!state && !variable && weight == MAP_NONE)
            continue;
        d = ex_derivative(f->pool, def.root, k);
        if (ex_is_const(f->pool, d, &value) && value == 0)
            continue;
        inst part = inst_part(e->composer, d, inst_slots(f, def), def.n);
        uint32_t i = add_entry(b, row, state ? l.position[v] : variable ? nx + rhs->routine->w_position[v] : weight);

        b->entry.at[i].varies = !follows_from_modes(f, part);
        target_add(target, part, at);
    }
}

static void
add_diagonal(jacobian_form *j, struct builder *b, uint32_t z)
{
    uint32_t i = add_entry(b, z, z);

    vec_push(&j->minus_one, i);
}

/* Compressed columns over states and kept variables, with ascending rows (entries are first collected by row) and
 * all diagonal entries. */
static void
compress(jacobian_form *j, struct builder *b, const struct flags *gone, uint32_t nall)
{
    uint32_t *number = bg_malloc((nall + 1) * sizeof *number), kept = 0;
    int64_t *fill;
    VEC(uint32_t) diagonal = { 0 };

    for (uint32_t i = 0; i < nall; i++)
        number[i] = gone->at[i] ? NONE : kept++;
    j->n = kept;
    j->column = bg_calloc(kept + 1, sizeof *j->column);
    for (uint32_t i = 0; i < nall; i++) {
        uint32_t at = map_get(&b->at, key_of(i, i));

        if (!gone->at[i])
            vec_push(&diagonal, at != MAP_NONE && !b->entry.at[at].dead ? at : NONE);
    }
    for (size_t i = 0; i < b->entry.n; i++)
        if (!b->entry.at[i].dead)
            j->column[number[b->entry.at[i].column] + 1]++;
    for (uint32_t c = 0; c < kept; c++)
        j->column[c + 1] += diagonal.at[c] == NONE;
    for (uint32_t c = 0; c < kept; c++)
        j->column[c + 1] += j->column[c];
    j->row = bg_malloc(((size_t)j->column[kept] + 1) * sizeof *j->row);
    j->source = bg_malloc(((size_t)j->column[kept] + 1) * sizeof *j->source);
    j->varies = bg_calloc((size_t)j->column[kept] + 1, sizeof *j->varies);
    fill = bg_malloc((kept + 1) * sizeof *fill);
    memcpy(fill, j->column, (kept + 1) * sizeof *fill);
    for (uint32_t r = 0; r < nall; r++) {
        if (gone->at[r])
            continue;
        if (diagonal.at[number[r]] == NONE) {
            j->row[fill[number[r]]] = number[r];
            j->source[fill[number[r]]++] = NONE;
        }
        for (uint32_t i = b->row_head.at[r]; i != NONE; i = b->entry.at[i].next_in_row) {
            uint32_t c;

            if (b->entry.at[i].dead)
                continue;
            c = number[b->entry.at[i].column];
            j->row[fill[c]] = number[r];
            j->varies[fill[c]] = b->entry.at[i].varies;
            j->source[fill[c]++] = i;
        }
    }
    vec_free(&diagonal);
    free(fill);
    free(number);
}

jacobian_form *
jacobian_form_new(equations *e, const program *rhs, layout l, bool optimise, const var_id *weight, uint32_t nweights,
                  program_list *made)
{
    jacobian_form *j = bg_calloc(1, sizeof *j);
    const routine *r = rhs->routine;
    struct builder b = { 0 };
    target_list target = { 0 };
    struct flags gone = { 0 };
    program *g;
    uint32_t nx = (uint32_t)e->state.n, behind = nx + r->nw + nweights, nall = behind + r->ntargets - nx;

    j->nx = nx;
    vec_resize(&b.row_head, nall);
    vec_resize(&b.column_head, nall);
    vec_resize(&b.row_count, nall);
    vec_resize(&b.column_count, nall);
    vec_resize(&gone, nall);
    for (size_t i = 0; i < nall; i++)
        b.row_head.at[i] = b.column_head.at[i] = NONE;
    for (uint32_t i = 0; i < nweights; i++)
        map_set(&b.weight, weight[i], nx + r->nw + i);
    for (size_t i = 0; i < rhs->assign.n; i++) {
        const assign *a = &rhs->assign.at[i];
        bool rate = a->var == VAR_NONE && a->target < nx, further = a->var == VAR_NONE && !rate;
        var_id v = rate ? e->state.at[a->target].var : a->var;
        uint32_t row = rate ? l.position[v] : further ? behind + a->target - nx : nx + r->w_position[v];
        uint32_t at = further ? 0 : e->f->var.at[v].position;

        add_definition(e, rhs, l, a->def, row, &b, nx, &target, at);
    }
    for (size_t k = 0; k < rhs->block.n; k++)
        for (uint32_t i = 0; i < r->block.at[k].n; i++)
            add_definition(e, rhs, l, rhs->block.at[k].residual.at[i], nx + r->block.at[k].w0 + i, &b, nx, &target, i);
    j->npartials = (uint32_t)target.at.n;

    for (size_t i = 0; i < rhs->assign.n; i++)
        if (rhs->assign.at[i].var != VAR_NONE) {
            uint32_t z = nx + r->w_position[rhs->assign.at[i].var];
            size_t in = b.row_count.at[z], out = b.column_count.at[z];

            gone.at[z] = in * out <= in + out + 4;
            if (gone.at[z])
                eliminate_variable(j, &b, z);
            else
                add_diagonal(j, &b, z);
        }
    j->nentries = b.entry.n;
    compress(j, &b, &gone, nall);
    vec_free(&b.entry);
    vec_free(&b.row_head);
    vec_free(&b.column_head);
    vec_free(&b.row_count);
    vec_free(&b.column_count);
    vec_free(&gone);
    map_free(&b.at);
    map_free(&b.weight);

    g = program_plan_list(e, &target);
    vec_push(made, g);
    j->routine = program_give(g);
    j->from = j->routine->out_index;
    if (!program_code(g, l, optimise)) {
        jacobian_form_free(j);
        return NULL;
    }
    return j;
}

void
jacobian_form_free(jacobian_form *f)
{
    if (!f)
        return;
    routine_free(f->routine);
    vec_free(&f->product);
    vec_free(&f->minus_one);
    free(f->column);
    free(f->row);
    free(f->source);
    free(f->varies);
    free(f);
}

jacobian *
jacobian_new(const jacobian_form *f, block_memory *memory)
{
    jacobian *j = bg_calloc(1, sizeof *j);

    j->form = f;
    j->evaluator = evaluator_new(f->routine, memory);
    j->partial = bg_calloc(f->npartials + 1, sizeof *j->partial);
    j->value = bg_calloc(f->nentries + 1, sizeof *j->value);
    return j;
}

void
jacobian_free(jacobian *j)
{
    if (!j)
        return;
    evaluator_free(j->evaluator);
    free(j->partial);
    free(j->value);
    free(j);
}

void
jacobian_set_parameters(jacobian *j, const double *value)
{
    evaluator_set_parameters(j->evaluator, value);
}

bool
jacobian_follow_parameters(jacobian *j, const double *value, const var_id *changed, size_t n)
{
    return evaluator_follow_parameters(j->evaluator, value, changed, n);
}

struct model_pattern
jacobian_form_pattern(const jacobian_form *f)
{
    return (struct model_pattern){ f->n, f->nx, f->column, f->row, (size_t)f->column[f->n] };
}

void
jacobian_forget(jacobian *j)
{
    evaluator_forget(j->evaluator);
}

struct model_pattern
jacobian_pattern(const jacobian *j)
{
    return jacobian_form_pattern(j->form);
}

bool
jacobian_varies(const jacobian *j, int64_t nonzero)
{
    return j->form->varies[nonzero];
}

int
jacobian_evaluate(jacobian *j, double t, const double *x, const double *modes, double *value)
{
    const jacobian_form *f = j->form;
    size_t nonzeros = (size_t)f->column[f->n];
    int status = evaluator_run(j->evaluator, t, x, modes, j->partial);

    if (status)
        return status;
    for (size_t i = 0; i < f->npartials; i++)
        j->value[i] = j->partial[f->from[i]];
    for (size_t i = f->npartials; i < f->nentries; i++)
        j->value[i] = 0;
    for (size_t i = 0; i < f->minus_one.n; i++)
        j->value[f->minus_one.at[i]] = -1;
    for (size_t i = 0; i < f->product.n; i++) {
        const struct product *p = &f->product.at[i];

        j->value[p->to] += j->value[p->a] * j->value[p->b];
    }
    for (size_t i = 0; i < nonzeros; i++)
        value[i] = f->source[i] == NONE ? 0 : j->value[f->source[i]];
    return 0;
}
