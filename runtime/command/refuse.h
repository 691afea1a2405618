/* refuse.h - what of the language a command does not take, refused by name rather than read wrong */
#ifndef BG_REFUSE_H
#define BG_REFUSE_H

#include "command.h"

/* Says what of the model or its experiment the command of q does not take, with the reason. False: nothing. */
bool refuse_events(const request *q, const flat_model *f);

#endif
