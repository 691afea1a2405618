/* subprocess.h - runs other programs (gnuplot, dot): text in, bytes out
 *
 * No shell is involved. The program's output is read through a pipe, so that it can be checked before it becomes a
 * file.
 */
#ifndef BG_SUBPROCESS_H
#define BG_SUBPROCESS_H

#include "base.h"

/* Runs a program (found along PATH) with the text as standard input and appends its standard output to *out. Returns
 * its exit status, 128 + N if signal N ended it, -1 if it could not be run (errno; ENOENT: not installed). */
int run_program(const char *const *argv, const char *input, size_t n, strbuf *out);

#endif
