/* rank_frequency.h - bgc rank --by frequency: activity at the frequencies at which an experiment drives the model */
#ifndef BG_RANK_FREQUENCY_H
#define BG_RANK_FREQUENCY_H

#include "command.h"

/* threshold: the share of the activity without sources that stays. */
int rank_by_frequency(const request *q, double threshold);

#endif
