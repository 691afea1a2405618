/* subprocess.h - other programs at work for this one (gnuplot, dot): text in, bytes out
 *
 * No shell takes part. What the program writes is read through a pipe, so that it can be looked at before it becomes a
 * file.
 */
#ifndef BG_SUBPROCESS_H
#define BG_SUBPROCESS_H

#include "base.h"

/* Runs a program (found along PATH) with the text on its standard input and adds its standard output to *out.
 * Returns its exit status, 128 + N when signal N ended it, -1 if it could not be run (errno; ENOENT: not installed). */
int run_program(const char *const *argv, const char *input, size_t n, strbuf *out);

#endif
