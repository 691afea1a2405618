/* rank_frequency.h - bgc rank --by frequency: activity at the frequencies that an experiment drives the model with */
#ifndef BG_RANK_FREQUENCY_H
#define BG_RANK_FREQUENCY_H

#include "command.h"

/* threshold: the share of what is no source that stays. */
int rank_by_frequency(const request *q, double threshold);

#endif
