/* sensitivity_command.h - declarations shared by the files of bgc sensitivity */
#ifndef BG_SENSITIVITY_COMMAND_H
#define BG_SENSITIVITY_COMMAND_H

#include "command.h"

/* --at: reports derivatives of outputs at that time. o: the experiment's run. Returns a status of command.h. */
int derivatives_at(const request *q, loaded *l, const sim_options *o, const uint32_t *output, size_t noutputs);

#endif
