/* textrefs.h - the references in a model's own text, each with who reads it
 *
 * Of a text that says each part once: no components, loops or conditional parts (those are written out first). A law's
 * own e, f, q, p and its ports are no references. Order of the text.
 */
#ifndef BG_TEXTREFS_H
#define BG_TEXTREFS_H

#include "flat.h"

enum text_reader { READS_PART, READS_VALUE, READS_JUMP, READS_EXPERIMENT };
typedef struct text_ref {
    const ast_ref *ref;
    enum text_reader kind;
    const char
        *reader;      /* interned: the part, the value; of a jump its target's first name; of an experiment its name */
    const void *item; /* the ast_stmt of a jump, the ast_exp_item of an experiment; else NULL */
} text_ref;
typedef VEC(text_ref) text_refs;

/* Of the model and of its experiments. */
void textrefs_gather(const ast_model *m, const ast_file *file, text_refs *out);
/* Those of one expression, with the rest as in `like`. n: whose law it is, or NULL. */
void textrefs_of(const ast_expr *e, const ast_node *n, text_ref like, text_refs *out);

/* Variables by what a text calls them. */
typedef struct text_names {
    const flat_model *f;
    map value, element, junction, bond;
} text_names;
void text_names_make(const flat_model *f, text_names *out);
void text_names_free(text_names *t);
/* The variable that "x", "x.e", "x.f", "x.q" or "x.p" reads; VAR_NONE: none, or several (x.power). */
var_id text_variable(const text_names *t, const char *name);

#endif
