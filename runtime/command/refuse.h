/* refuse.h - reports parts of the language that a command does not support, instead of misreading them */
#ifndef BG_REFUSE_H
#define BG_REFUSE_H

#include "command.h"

/* Reports what in the model or its experiment the command of q does not support, and why. False: nothing. */
bool refuse_events(const request *q, const flat_model *f);

#endif
