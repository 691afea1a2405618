/* portable.c - see portable.h */
#include "portable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "edit.h"
#include "files.h"
#include "json.h"
#include "reading.h"

/* ---------------------------------------------------------------- overrides */

/* Is this the value that the `let` gives? Blanks are ignored. */
static bool
gives(const char *text, const ast_exp_item *item, const char *name)
{
    const char *s = text + item->ref.at.begin, *end = text + item->ref.at.end, *t = name;

    for (; s < end; s++) {
        if (*s == ' ' || *s == '\t')
            continue;
        if (*s != *t)
            return false;
        t++;
    }
    return !strcmp(t, item->initial ? "(0)" : "");
}

/* The unit of an override's number, as " [N/m]". */
static const char *
unit_given(const flat_model *f, const char *name, arena *a)
{
    size_t n = strlen(name);

    n -= n > 3 && !strcmp(name + n - 3, "(0)") ? 3 : 0;
    for (var_id v = 1; v < f->var.n; v++) {
        if (var_name(f, v) && var_unit(f, v) && !unit_is_number(var_unit(f, v)) && strlen(var_name(f, v)) == n &&
            !strncmp(var_name(f, v), name, n))
            return arena_format(a, " [%s]", unit_text(unit_dimension(var_unit(f, v))));
    }
    return "";
}

static void
override_experiment(const ast_experiment *x, const char *text, const recording *r, const flat_model *f, arena *a,
                    edits *e)
{
    for (size_t k = 0; k < r->nset; k++) {
        char digits[NUMBER_SIZE];
        const char *value = r->set[k].formula ? r->set[k].formula
                                              : arena_format(a, "%s%s", number_text(r->set[k].value, digits),
                                                             unit_given(f, r->set[k].name, a));
        const ast_exp_item *there = NULL;

        for (int i = x->inherited; i < x->nitems; i++)
            if (x->item[i].kind == AST_EXP_LET && gives(text, &x->item[i], r->set[k].name))
                there = &x->item[i];
        if (there) {
            edits_replace(e, there->a->at.begin, there->a->at.end, value, strlen(value));
        } else {
            const char *line = arena_format(a, "    let %s = %s;\n", r->set[k].name, value);

            edits_insert(e, x->at.end - 1, line, strlen(line));
        }
    }
}

char *
text_with_overrides(const recording *run, size_t nruns, const flat_model *f, size_t *length)
{
    compilation c = { 0 };
    edits e = { 0 };
    strbuf out = { 0 };
    arena *a;
    char *why = NULL;

    if (!run->nset)
        return NULL;
    a = arena_new();
    if (compile_text(&c, run->path, run->text, run->length, STAGE_PARSE, NULL))
        for (size_t i = 0; i < c.ast->ndecls; i++)
            for (size_t k = 0; c.ast->decl[i].kind == AST_DECL_EXPERIMENT && k < nruns; k++)
                if (!strcmp(c.ast->decl[i].experiment->name, run[k].experiment))
                    override_experiment(c.ast->decl[i].experiment, run->text, &run[k], f, a, &e);
    if (edits_seal(&e, run->length, &why))
        edits_apply(&e, run->text, run->length, &out);
    free(why);
    edits_free(&e);
    compile_free(&c);
    arena_free(a);
    *length = out.n;
    return out.at;
}

/* ---------------------------------------------------------------- files */

/* One text whose file references are being changed. */
struct placing {
    portable *p;
    const char *root;   /* the model on whose behalf files are read */
    const char *path;   /* of this text */
    const char *before; /* prefix of its references: "files/", or nothing in a copied file */
    bool (*kept)(void *ctx, const char *name);
    void *ctx;
    edits e;
    char *why;
};

static bool place_file(struct placing *of, const char *real, bool is_model, const char **name);

/* Full path of a file; free() it. NULL: there is none, or it may not be read. */
static char *
find_named_file(const struct placing *d, const char *name)
{
    const char *slash = strrchr(d->path, '/');
    char *beside = *name == '/' || !slash ? bg_strdup(name)
                                          : bg_format("%.*s%s", (int)(slash - d->path + 1), d->path, name),
         *real = NULL;
    bool fine = reading_find(d->root, beside, &real) == READING_FINE;

    free(beside);
    if (!fine) {
        free(real);
        real = NULL;
    }
    return real;
}

static void
refer(struct placing *d, span at, const char *name, bool is_model)
{
    char *real = d->why || (d->kept && !is_model && d->kept(d->ctx, name)) ? NULL : find_named_file(d, name);
    const char *now;

    if (real && place_file(d, real, is_model, &now)) {
        char *text = bg_format("\"%s%s\"", d->before, now);

        edits_replace(&d->e, at.begin, at.end, text, strlen(text));
        free(text);
    }
    free(real);
}

static void
refer_to_table(void *ctx, const ast_expr *e)
{
    if (e->kind == AST_CALL && e->call.nargs && e->call.arg[0]->kind == AST_STRING)
        refer(ctx, e->call.arg[0]->at, e->call.arg[0]->string, false);
}

/* The text with its references changed; NULL: d->why says why not. */
static char *
placed(struct placing *d, const char *text, size_t n, size_t *length)
{
    compilation c = { 0 };
    strbuf out = { 0 };

    if (compile_text(&c, d->path, text, n, STAGE_PARSE, NULL)) {
        for (size_t i = 0; i < c.ast->ndecls; i++)
            if (c.ast->decl[i].kind == AST_DECL_IMPORT && c.ast->decl[i].import->is_file)
                refer(d, c.ast->decl[i].import->path_at, c.ast->decl[i].import->path, true);
        ast_visit_file(c.ast, refer_to_table, d);
    }
    if (!d->why && edits_seal(&d->e, n, &d->why))
        edits_apply(&d->e, text, n, &out);
    edits_free(&d->e);
    compile_free(&c);
    *length = out.n;
    if (!d->why && !out.at)
        strbuf_puts(&out, "");
    return out.at;
}

/* A free name in the subfolder: "tire.csv", or "2_tire.csv" where another file has that name. Letters that would have
 * to be quoted in a text are left out. */
static char *
free_file_name(const portable *p, const char *real)
{
    size_t last = strlen(real);
    char *base, *name, *to;
    bool taken = true;

    while (last && real[last - 1] != '/')
        last--;
    to = base = bg_strdup(real + last);
    for (const char *s = base; *s; s++)
        if (*s != '"' && *s != '\\' && (unsigned char)*s >= ' ')
            *to++ = *s;
    *to = '\0';
    name = bg_strdup(base);
    for (int i = 2; taken; i++) {
        taken = false;
        for (size_t k = 0; k < p->name.n; k++)
            taken |= !strcmp(p->name.at[k], name);
        if (taken) {
            free(name);
            name = bg_format("%d_%s", i, base);
        }
    }
    free(base);
    return name;
}

static bool
write_place(struct placing *d, const char *name, const char *text, size_t n)
{
    char *folder = bg_format("%s/%s", d->p->folder, PORTABLE_FILES), *to = bg_format("%s/%s", folder, name);
    bool fine = (mkdir(folder, 0777) == 0 || errno == EEXIST) && write_whole(to, text, n);

    if (!fine)
        d->why = bg_format("%s: %s", to, file_error(errno));
    free(folder);
    free(to);
    return fine;
}

static bool
copy(struct placing *of, const char *real, bool is_model, const char *name)
{
    sources *s = sources_new();
    int file = sources_read(s, real);
    bool fine = file >= 0;

    if (!fine) {
        of->why = bg_format("%s: %s", real, file_error(errno));
    } else if (!is_model) {
        fine = write_place(of, name, source_text(s, (uint32_t)file), source_length(s, (uint32_t)file));
    } else {
        struct placing d = { .p = of->p, .root = of->root, .path = real, .before = "" };
        size_t n;
        char *text = placed(&d, source_text(s, (uint32_t)file), source_length(s, (uint32_t)file), &n);

        fine = text && write_place(of, name, text, n);
        if (!text)
            of->why = d.why;
        free(text);
    }
    sources_free(s);
    return fine;
}

static bool
place_file(struct placing *of, const char *real, bool is_model, const char **name)
{
    uint64_t key = bg_hash_bytes(real, strlen(real), is_model);
    uint32_t k = map_get(&of->p->place, key);

    if (k == MAP_NONE) {
        char *fresh = free_file_name(of->p, real);

        k = (uint32_t)of->p->name.n;
        map_set(&of->p->place, key, k);
        vec_push(&of->p->name, fresh);
        if (!copy(of, real, is_model, of->p->name.at[k]))
            return false;
    }
    *name = of->p->name.at[k];
    return true;
}

char *
portable_text(portable *p, const char *root, const char *text, size_t length, bool (*kept)(void *ctx, const char *name),
              void *ctx, size_t *new_length, char **why)
{
    struct placing d = { .p = p, .root = root, .path = root, .before = PORTABLE_FILES "/", .kept = kept, .ctx = ctx };
    char *out = placed(&d, text, length, new_length);

    *why = d.why;
    return out;
}

void
portable_free(portable *p)
{
    for (size_t i = 0; i < p->name.n; i++)
        free(p->name.at[i]);
    vec_free(&p->name);
    map_free(&p->place);
}
