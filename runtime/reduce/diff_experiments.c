/* diff_experiments.c - the differences of the experiments of two files
 *
 * Items that an experiment can have only once (a setting, a `let`, an observed output) are matched by what they refer
 * to, all others by their whole text. Blanks and comments are ignored.
 */
#include <string.h>

#include "diff.h"

/* The text of a span without comments and the semicolon. tight: without blanks; otherwise a run of blanks becomes one.
 * Quoted text is kept as it is. */
static char *
squeezed(const sources *s, span at, bool tight)
{
    const char *text = source_text(s, at.file);
    bool quoted = false, blank = false;
    strbuf b = { 0 };

    for (uint32_t i = at.begin; i < at.end; i++) {
        if (!quoted && text[i] == '/' && text[i + 1] == '/')
            while (i + 1 < at.end && text[i] != '\n')
                i++;
        if (!quoted && strchr(" \t\r\n", text[i])) {
            blank = true;
            continue;
        }
        if (text[i] == '"' && text[i - 1] != '\\')
            quoted = !quoted;
        if (blank && b.n && !tight)
            strbuf_puts(&b, " ");
        blank = false;
        strbuf_add(&b, text + i, 1);
    }
    while (b.n && (b.at[b.n - 1] == ';' || b.at[b.n - 1] == ' '))
        b.at[--b.n] = '\0';
    return b.at ? b.at : bg_strdup("");
}

static uint64_t
item_key(const sources *s, const ast_exp_item *x)
{
    bool once = x->kind == AST_EXP_SET || x->kind == AST_EXP_LET || x->kind == AST_EXP_OBSERVE;
    char *text = squeezed(s, once ? x->ref.at : x->at, true);
    uint64_t key = bg_hash_bytes(text, strlen(text), 16 * (uint64_t)x->kind + x->initial);

    free(text);
    return key;
}

static map
items_by_key(const sources *s, const ast_experiment *e)
{
    map m = { 0 };

    for (int i = 0; i < e->nitems; i++)
        map_set(&m, item_key(s, &e->item[i]), (uint32_t)i);
    return m;
}

static void
add_difference(strbuf *b, const char *before, const char *text)
{
    strbuf_printf(b, "%s%s%s", b->n ? "; " : "", before, text);
}

/* NULL where the two agree. */
static char *
compare_experiments(const sources *sa, const ast_experiment *a, const sources *sb, const ast_experiment *b)
{
    map of_a = items_by_key(sa, a), of_b = items_by_key(sb, b);
    strbuf out = { 0 };

    if (a->model && b->model && strcmp(a->model, b->model))
        strbuf_printf(&out, "of %s -> of %s", a->model, b->model);
    for (int i = 0; i < a->nitems; i++) {
        uint32_t k = map_get(&of_b, item_key(sa, &a->item[i]));
        char *x = squeezed(sa, a->item[i].at, true), *shown = squeezed(sa, a->item[i].at, false);

        if (k == MAP_NONE) {
            add_difference(&out, "- ", shown);
        } else {
            char *y = squeezed(sb, b->item[k].at, true), *other = squeezed(sb, b->item[k].at, false);

            if (strcmp(x, y)) {
                add_difference(&out, shown, " -> ");
                strbuf_puts(&out, other);
            }
            free(y);
            free(other);
        }
        free(x);
        free(shown);
    }
    for (int i = 0; i < b->nitems; i++)
        if (map_get(&of_a, item_key(sb, &b->item[i])) == MAP_NONE) {
            char *shown = squeezed(sb, b->item[i].at, false);

            add_difference(&out, "+ ", shown);
            free(shown);
        }
    map_free(&of_a);
    map_free(&of_b);
    return out.at;
}

static map
experiments_by_name(const ast_file *f)
{
    map m = { 0 };

    for (uint32_t i = 0; i < f->ndecls; i++)
        if (f->decl[i].kind == AST_DECL_EXPERIMENT) {
            const char *name = f->decl[i].experiment->name;

            map_set(&m, bg_hash_bytes(name, strlen(name), 0), i);
        }
    return m;
}

void
diff_experiments(const sources *sa, const ast_file *a, const sources *sb, const ast_file *b, diff *out)
{
    map of_a = experiments_by_name(a), of_b = experiments_by_name(b);

    for (size_t i = 0; i < a->ndecls; i++) {
        const ast_experiment *x = a->decl[i].kind == AST_DECL_EXPERIMENT ? a->decl[i].experiment : NULL;
        uint32_t k = x ? map_get(&of_b, bg_hash_bytes(x->name, strlen(x->name), 0)) : MAP_NONE;
        char *change;

        if (x && k == MAP_NONE)
            vec_push(&out->removed, ((diff_entry){ DIFF_EXPERIMENT, bg_strdup(x->name), NULL }));
        else if (x && (change = compare_experiments(sa, x, sb, b->decl[k].experiment)) != NULL)
            vec_push(&out->changed, ((diff_entry){ DIFF_EXPERIMENT, bg_strdup(x->name), change }));
    }
    for (size_t i = 0; i < b->ndecls; i++) {
        const ast_experiment *x = b->decl[i].kind == AST_DECL_EXPERIMENT ? b->decl[i].experiment : NULL;

        if (x && map_get(&of_a, bg_hash_bytes(x->name, strlen(x->name), 0)) == MAP_NONE)
            vec_push(&out->added, ((diff_entry){ DIFF_EXPERIMENT, bg_strdup(x->name), NULL }));
    }
    map_free(&of_a);
    map_free(&of_b);
}
