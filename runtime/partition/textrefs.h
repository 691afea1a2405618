/* textrefs.h - the references in a model's own text, each with its reader
 *
 * For a text in which each part is written once, without components, loops or conditional parts (such texts are written
 * out first). A law's own e, f, q, p and its ports do not count as references. The order is that of the text.
 */
#ifndef BG_TEXTREFS_H
#define BG_TEXTREFS_H

#include "flat.h"

enum text_reader { READS_PART, READS_VALUE, READS_JUMP, READS_EXPERIMENT };
typedef struct text_ref {
    const ast_expr *expr; /* an AST_REF */
    enum text_reader kind;
    /* interned: the part or value that reads; of a jump the first name of its target; of an experiment its name */
    const char *reader;
    const void *item; /* the ast_stmt of a jump, the ast_exp_item of an experiment; else NULL */
} text_ref;
typedef VEC(text_ref) text_refs;

/* References of the model and of its experiments. */
void textrefs_gather(const ast_model *m, const ast_file *file, text_refs *out);
/* References of one expression; all other fields are copied from `like`. n: the node whose law it is, or NULL. */
void textrefs_of(const ast_expr *e, const ast_node *n, text_ref like, text_refs *out);

/* Variables by the names that a text uses. */
typedef struct text_names {
    const flat_model *f;
    map value, element, junction, bond;
} text_names;
void text_names_make(const flat_model *f, text_names *out);
void text_names_free(text_names *t);
/* The variable that "x", "x.e", "x.f", "x.q" or "x.p" reads; VAR_NONE: none, or several (x.power). */
var_id text_variable(const text_names *t, const char *name);

#endif
