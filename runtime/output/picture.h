/* picture.h - pictures that another program draws, written whole or not at all */
#ifndef BG_PICTURE_H
#define BG_PICTURE_H

#include "base.h"

/* Runs the program (argv[0], found along PATH) on the text and writes what it draws to `path`, whose suffix tells the
 * form: .svg, .png or .pdf. missing: what to say where the program is not installed. False: *why (free it), and the
 * file is as it was. */
bool picture_draw(const char *const *argv, const strbuf *text, const char *path, const char *missing, char **why);

#endif
