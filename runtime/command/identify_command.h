/* identify_command.h - declarations shared by the files of bgc identify */
#ifndef BG_IDENTIFY_COMMAND_H
#define BG_IDENTIFY_COMMAND_H

#include "command.h"
#include "measured.h"

/* Reads a file of data; reports errors. Call measured_free in any case. */
int read_data(const char *path, measured *m);
int identify_matrices(const request *q);

#endif
