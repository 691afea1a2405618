/* lint.h - what is right by the rules of the language and hardly meant
 *
 * needs     a model as elaborated, before any later stage; the syntax tree of its file
 * reports   warnings: port-unjoined, junction-single, element-idle, unit-lost, each once a place of the text, and only
 *           where that is in the file itself (not in what it imports); value-unread
 */
#ifndef BG_LINT_H
#define BG_LINT_H

#include "flat.h"

void lint_model(const flat_model *f, const ast_file *file);
/* Values that nothing in the file reads, of all its models. */
void lint_values(sources *s, const ast_file *file);

#endif
