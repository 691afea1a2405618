/* lint.h - warnings about parts of a correct model that are probably mistakes
 *
 * needs     a model as elaborated, before any later stage; the syntax tree of its file
 * reports   warnings: port-unjoined, junction-single, element-idle, unit-lost, each once for a place in the text, and
 *           only in the file itself (not in imports); value-unread
 */
#ifndef BG_LINT_H
#define BG_LINT_H

#include "flat.h"

void lint_model(const flat_model *f, const ast_file *file);
/* Warns of values in any model of the file that nothing in it reads. */
void lint_values(sources *s, const ast_file *file);

#endif
