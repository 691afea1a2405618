/* writeout_experiments.c - writes the experiments of a model that is written out part by part
 *
 * They are copied with the names of parts changed. An item that names several things at once (an array, a range of one,
 * a component) is written item by item, as the experiment expands it.
 */
#include <string.h>

#include "edit.h"
#include "writeout_inside.h"

/* The model as one experiment makes it. */
struct made {
    compilation c;
    struct writer w;
    bool *said;       /* [var] a `let` for it was written */
    bool there, kept; /* kept: everything that is kept was written */
};

static const char *
text_at(const struct writer *d, span at)
{
    return arena_strndup(d->a, d->text + at.begin, at.end - at.begin);
}

static void
rename_ref(struct writer *d, const ast_ref *r, edits *e)
{
    const char *name = text_at(d, r->at), *now = written_name(d->a, name);

    if (strcmp(name, now))
        edits_replace(e, r->at.begin, r->at.end, now, strlen(now));
}

/* ---------------------------------------------------------------- items that name several things */

static bool
names_one(const struct writer *d, const ast_ref *r)
{
    return text_variable(&d->names, text_at(d, r->at)) != VAR_NONE;
}

static bool
expr_names_one(const struct writer *d, const ast_expr *e)
{
    text_refs r = { 0 };
    bool one = true;

    textrefs_of(e, NULL, (text_ref){ 0 }, &r);
    for (size_t i = 0; i < r.n; i++) {
        ast_part room;
        ast_ref ref = ast_expr_ref(r.at[i].expr, &room);

        one &= names_one(d, &ref);
    }
    vec_free(&r);
    return one;
}

static bool
is_as_written(const struct writer *d, const ast_exp_item *item)
{
    bool one = item->kind != AST_EXP_KEEP;

    if (item->kind == AST_EXP_LET || item->kind == AST_EXP_OBSERVE)
        one &= names_one(d, &item->ref);
    for (int k = 0; item->kind == AST_EXP_RECORD && k < item->nexprs; k++)
        one &= expr_names_one(d, item->exprs[k]);
    return one;
}

/* ---------------------------------------------------------------- item by item */

static bool
lies_in(span at, span in)
{
    return span_known(at) && at.begin >= in.begin && at.end <= in.end;
}

/* Does this index, a number or a range of numbers in the text, include i? Anything else counts as included. */
static bool
is_index(const ast_index *x, double i)
{
    if (!x->to)
        return x->from->kind != AST_NUMBER || x->from->number.value == i;
    return (x->from->kind != AST_NUMBER || x->from->number.value <= i) &&
           (x->to->kind != AST_NUMBER || x->to->number.value >= i);
}

/* Does a reference name this variable? "m" and "m[1..2]" name m[2], "cell.k" names cell[3].k. */
static bool
names_variable(const ast_ref *r, const char *name)
{
    for (int k = 0; k < r->nparts; k++) {
        size_t n = strlen(r->part[k].name);

        if (strncmp(name, r->part[k].name, n))
            return false;
        name += n;
        for (int i = 0; *name == '[' || (i && *name == ','); i++) {
            char *end;
            double at = strtod(name + 1, &end);

            if (i < r->part[k].nindex && !is_index(&r->part[k].brackets->index[i], at))
                return false;
            name = *end == ']' ? end + 1 : end;
        }
        if (k + 1 < r->nparts && *name++ != '.')
            return false;
    }
    return *name == '\0';
}

bool
writer_observes(const struct writer *d, const char *name)
{
    for (size_t i = 0; i < d->file->ndecls; i++) {
        const ast_experiment *x = d->file->decl[i].kind == AST_DECL_EXPERIMENT ? d->file->decl[i].experiment : NULL;

        for (int k = 0; x && x->model == d->f->ast->name && k < x->nitems; k++)
            if (x->item[k].kind == AST_EXP_OBSERVE && names_variable(&x->item[k].ref, name))
                return true;
    }
    return false;
}

void
writer_count_lets(struct writer *d, const char *experiment)
{
    const flat_model *f = d->f;

    for (size_t i = 0; i < d->file->ndecls; i++) {
        const ast_experiment *x = d->file->decl[i].kind == AST_DECL_EXPERIMENT ? d->file->decl[i].experiment : NULL;

        for (int k = 0; x && !strcmp(x->name, experiment) && k < x->nitems; k++) {
            const ast_exp_item *item = &x->item[k];
            var_id one;

            if (item->kind != AST_EXP_LET || item->initial)
                continue;
            one = text_variable(&d->names, text_at(d, item->ref.at));
            if (one != VAR_NONE)
                d->lets[one]++;
            for (var_id v = 1; one == VAR_NONE && v < f->var.n; v++)
                d->lets[v] += d->given[v] && names_variable(&item->ref, d->given[v]);
        }
    }
}

static void
put_lets(struct made *m, const ast_exp_item *item, strbuf *b)
{
    static const char letter[] = "efqp";
    const flat_model *f = m->c.flat;

    for (size_t i = 0; item->initial && i < f->initial.n; i++) {
        const flat_initial *x = &f->initial.at[i];
        const char *of = x->port != NONE ? writer_port(&m->w, x->port) : writer_junction(&m->w, x->junction);

        if (lies_in(x->at, item->ref.at))
            strbuf_printf(b, "let %s.%c(0) = %s; ", of, letter[x->q], writer_print(&m->w, x->def));
    }
    for (var_id v = 1; !item->initial && v < f->var.n; v++)
        if ((f->var.at[v].kind == VAR_PARAM || f->var.at[v].kind == VAR_SIGNAL) && m->w.given[v] && !m->said[v] &&
            names_variable(&item->ref, m->w.given[v])) {
            strbuf_printf(b, "let %s = %s; ", var_name(f, v), writer_print(&m->w, var_def(f, v)));
            m->said[v] = true;
        }
}

static void
put_observed(const struct made *m, const ast_exp_item *item, strbuf *b)
{
    const flat_model *f = m->c.flat;

    for (size_t i = 0; i < f->experiment.observe.n; i++) {
        const flat_observe *o = &f->experiment.observe.at[i];

        if (!lies_in(o->at, item->at))
            continue;
        strbuf_printf(b, "observe %s", writer_part(&m->w, f->output.at[o->output].name));
        if (inst_known(o->within))
            strbuf_printf(b, " within %s", writer_print(&m->w, o->within));
        strbuf_puts(b, "; ");
    }
}

static void
put_kept(const struct made *m, strbuf *b)
{
    const flat_model *f = m->c.flat;
    size_t n = 0;

    for (uint32_t i = 0; i < f->element.n; i++)
        if (f->element.at[i].keep)
            strbuf_printf(b, "%s %s", n++ ? "," : "keep", writer_part(&m->w, f->element.at[i].name));
    if (n)
        strbuf_puts(b, "; ");
}

static void
put_recorded(const struct made *m, const ast_exp_item *item, strbuf *b)
{
    const flat_model *f = m->c.flat;
    size_t n = 0;

    for (size_t i = 0; i < f->experiment.record.n; i++)
        if (lies_in(f->experiment.record.at[i].at, item->at))
            strbuf_printf(b, "%s %s", n++ ? "," : "record", writer_print(&m->w, f->experiment.record.at[i].def));
    if (n)
        strbuf_puts(b, "; ");
}

static void
make_experiment_model(struct writer *d, const ast_experiment *x, struct made *m)
{
    compile_options co = { .experiment = x->name };

    m->there = compile_text(&m->c, d->run->path, d->run->text, d->run->length, STAGE_GRAPH, &co);
    if (!m->there)
        return;
    m->w = (struct writer){ .run = d->run, .f = m->c.flat, .file = d->file, .text = d->text, .a = d->a };
    m->said = bg_calloc(m->c.flat->var.n + 1, sizeof *m->said);
    writer_begin(&m->w);
}

static void
made_free(struct made *m)
{
    if (m->there)
        writer_end(&m->w);
    free(m->said);
    compile_free(&m->c);
}

/* ---------------------------------------------------------------- an experiment */

/* The value that an experiment gives to a size of the model, as written; NULL: none. */
static const char *
size_given(const struct writer *d, const ast_experiment *x, const char *size)
{
    const char *out = NULL;

    for (int i = 0; i < x->nitems; i++) {
        const ast_exp_item *item = &x->item[i];

        if (item->kind == AST_EXP_LET && item->ref.nparts == 1 && item->ref.part[0].name == size)
            out = text_at(d, item->a->at);
    }
    return out;
}

/* Does the experiment give other sizes than the requested ones, which all agree? */
static bool
has_other_sizes(const struct writer *d, const ast_experiment *x)
{
    const ast_experiment *asked = NULL;
    const ast_model *model = d->f->ast;
    bool other = false;

    for (size_t i = 0; i < d->file->ndecls; i++) {
        const ast_experiment *y = d->file->decl[i].kind == AST_DECL_EXPERIMENT ? d->file->decl[i].experiment : NULL;

        for (size_t k = 0; y && k < d->nruns; k++) {
            if (!strcmp(d->run[k].experiment, x->name))
                return false;
            if (!strcmp(d->run[k].experiment, y->name))
                asked = y;
        }
    }
    for (int k = 0; asked && k < model->nsize && !other; k++) {
        const char *one = size_given(d, asked, model->size[k].name), *of_x = size_given(d, x, model->size[k].name);

        other = !one != !of_x || (one && strcmp(one, of_x));
    }
    return other;
}

/* Does another experiment of the text inherit from this one? */
static bool
is_needed(const struct writer *d, const ast_experiment *x)
{
    for (size_t i = 0; i < d->file->ndecls; i++) {
        const ast_experiment *y = d->file->decl[i].kind == AST_DECL_EXPERIMENT ? d->file->decl[i].experiment : NULL;

        for (const ast_experiment *base = y ? y->from : NULL; base; base = base->from)
            if (base == x && !has_other_sizes(d, y))
                return true;
    }
    return false;
}

static void
rename_item(struct writer *d, const ast_exp_item *item, edits *e)
{
    text_refs refs = { 0 };

    if (item->kind == AST_EXP_LET || item->kind == AST_EXP_OBSERVE)
        rename_ref(d, &item->ref, e);
    for (int k = 0; k < item->nrefs; k++)
        rename_ref(d, &item->refs[k], e);
    textrefs_of(item->a, NULL, (text_ref){ 0 }, &refs);
    textrefs_of(item->b, NULL, (text_ref){ 0 }, &refs);
    for (int k = 0; k < item->nexprs; k++)
        textrefs_of(item->exprs[k], NULL, (text_ref){ 0 }, &refs);
    if (item->kind == AST_EXP_EXPECT) {
        rename_ref(d, &item->expect->element, e);
        textrefs_of(item->expect->time, NULL, (text_ref){ 0 }, &refs);
        textrefs_of(item->expect->value, NULL, (text_ref){ 0 }, &refs);
    }
    for (size_t k = 0; k < refs.n; k++) {
        ast_part room;
        ast_ref ref = ast_expr_ref(refs.at[k].expr, &room);

        rename_ref(d, &ref, e);
    }
    vec_free(&refs);
}

/* Writes an item as the experiment expands it; the first `keep` lists everything that is kept. */
static void
write_item(struct made *m, const ast_exp_item *item, edits *e)
{
    strbuf b = { 0 };

    if (item->kind == AST_EXP_LET)
        put_lets(m, item, &b);
    else if (item->kind == AST_EXP_OBSERVE)
        put_observed(m, item, &b);
    else if (item->kind == AST_EXP_RECORD)
        put_recorded(m, item, &b);
    else if (!m->kept)
        put_kept(m, &b);
    m->kept |= item->kind == AST_EXP_KEEP;
    while (b.n && b.at[b.n - 1] == ' ')
        b.n--;
    edits_replace(e, item->at.begin, item->at.end, b.at ? b.at : "", b.n);
    strbuf_free(&b);
}

void
writer_experiment(struct writer *d, const ast_experiment *x)
{
    const ast_model *model = d->f->ast;
    edits e = { 0 };
    strbuf all = { 0 };
    struct made m = { 0 };
    bool several = false, lets = false;
    char *why = NULL;

    if (has_other_sizes(d, x)) { /* the text has the sizes of the requested experiments */
        bool needed = is_needed(d, x);

        strbuf_printf(d->out,
                      needed ? "// of other sizes than it was: experiment %s\n"
                             : "// not of these sizes: experiment %s\n",
                      x->name);
        if (!needed)
            return;
    }

    for (int i = x->inherited; i < x->nitems; i++) {
        bool one = is_as_written(d, &x->item[i]);

        several |= !one;
        lets |= !one && x->item[i].kind == AST_EXP_LET; /* one entry of an array that is given as a whole */
    }
    if (several)
        make_experiment_model(d, x, &m);
    for (int i = x->inherited; i < x->nitems; i++) {
        const ast_exp_item *item = &x->item[i];
        bool size = false;

        for (int k = 0; k < model->nsize && item->kind == AST_EXP_LET && item->ref.nparts == 1; k++)
            size |= item->ref.part[0].name == model->size[k].name;
        if (size) { /* built in */
            edits_delete(&e, item->at.begin, item->at.end);
            continue;
        }
        if (m.there && (!is_as_written(d, item) || (lets && item->kind == AST_EXP_LET)))
            write_item(&m, item, &e);
        else
            rename_item(d, item, &e);
    }
    if (edits_seal(&e, strlen(d->text), &why))
        edits_apply(&e, d->text, strlen(d->text), &all);
    /* all edits lie in the experiment, whose distance from the end of the text does not change */
    if (all.n)
        strbuf_add(d->out, all.at + x->at.begin, all.n - x->at.begin - (strlen(d->text) - x->at.end));
    strbuf_puts(d->out, "\n");
    free(why);
    made_free(&m);
    strbuf_free(&all);
    edits_free(&e);
}
