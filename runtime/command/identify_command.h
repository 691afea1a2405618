/* identify_command.h - what the files of bgc identify share */
#ifndef BG_IDENTIFY_COMMAND_H
#define BG_IDENTIFY_COMMAND_H

#include "command.h"
#include "measured.h"

/* Reads a file of data; says what is wrong. measured_free it in any case. */
int read_data(const char *path, measured *m);
int identify_matrices(const request *q);

#endif
