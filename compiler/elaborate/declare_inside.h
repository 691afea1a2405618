/* declare_inside.h - declarations shared by the files declare*.c; no other file includes it */
#ifndef BG_DECLARE_INSIDE_H
#define BG_DECLARE_INSIDE_H

#include "elab.h"

/* ---- declare.c ---- */

/* Reads the brackets of a declaration: sizes of an array, or in a loop the indexes of one item. */
bool declare_read_brackets(elab *el, scope *in, ast_expr *const *e, int n, const char *what, int32_t *x);
void declare_value(elab *el, scope *in, const ast_stmt *s);

/* ---- declare_parts.c ---- */
const struct type_row *declare_find_type(const char *name);

/* Sizes of a model: its defaults, those that an instance gives, those set from outside. */
void declare_read_sizes(elab *el, scope *s, const ast_model *m, const ast_node *made);

/* Constants first, because sizes may read them wherever they stand. */
void declare_body(elab *el, scope *in, ast_stmt *const *stmt, int n);

#endif
