/* sensitivity_command.h - what the parts of bgc sensitivity share */
#ifndef BG_SENSITIVITY_COMMAND_H
#define BG_SENSITIVITY_COMMAND_H

#include "command.h"

/* --at: derivatives of outputs at that time, reported. o: the experiment's run. A status of command.h. */
int derivatives_at(const request *q, loaded *l, const sim_options *o, const uint32_t *output, size_t noutputs);

#endif
