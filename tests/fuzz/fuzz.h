/* fuzz.h - what the harnesses share
 *
 * A harness is a file with LLVMFuzzerTestOneInput: libFuzzer drives it in a build of clang (mutate.c beside it),
 * replay.c in every other build over the kept corpus. What it promises is in its head; `must` ends the program where a
 * promise is broken.
 */
#ifndef BG_FUZZ_H
#define BG_FUZZ_H

#include <stdint.h>

#include "compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 16384 }; /* bytes of an input that is looked at */

void must(bool holds, const char *what, const char *text);
/* Does the text import or read tables by a path that leads out of the working folder? Such inputs are left alone. */
bool leads_elsewhere(const uint8_t *data, size_t size);
/* Compiles a text in the way of the commands: its first experiment, if it has one. The unit system is read once for
 * many texts, which takes longer than all else. A refusal comes with an error, an acceptance without one. Free with
 * fuzz_free. */
bool fuzz_compile(compilation *c, const char *path, const void *text, size_t n, enum compile_stage upto);
/* The same with inputs and sources that can be moved. */
bool fuzz_compile_open(compilation *c, const char *path, const void *text, size_t n, enum compile_stage upto);
void fuzz_free(compilation *c);
/* The first experiment of a tree, or NULL. */
const char *first_experiment(const ast_file *f);
/* Prints all that can be said into nothing. */
void print_nowhere(const sources *s);

#endif
