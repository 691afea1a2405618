/* picture.h - pictures drawn by another program, written completely or not at all */
#ifndef BG_PICTURE_H
#define BG_PICTURE_H

#include "base.h"

/* Runs the program (argv[0], found along PATH) on the text and writes its picture to `path`, in the format of the
 * suffix: .svg, .png or .pdf. missing: message if the program is not installed. False: *why (free() it), and the file
 * is unchanged. */
bool picture_draw(const char *const *argv, const strbuf *text, const char *path, const char *missing, char **why);

#endif
