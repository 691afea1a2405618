/* partition_inside.h - what the partition*.c files share; nobody else includes it */
#ifndef BG_PARTITION_INSIDE_H
#define BG_PARTITION_INSIDE_H

#include "partition.h"
#include "files.h"
#include "metrics.h"
#include "one_piece.h"
#include "partition_drawing.h"
#include "picture.h"
#include "portable.h"
#include "textrefs.h"
#include "writeout.h"

struct worker {
    const partition_options *o;
    partitioning *out;
    arena *a;
    recording *run;        /* [nruns] of the text at hand */
    char *written;         /* the text written out; NULL: it says each part once */
    char *text;            /* the text at hand, frozen or conditioned; NULL: neither */
    char *given;           /* the text with what --set gives said in it; NULL: nothing is given */
    signal_freeze *freeze; /* [nfreezes] */
    portable portable;     /* what lies in the folder beside the texts */
    bool failed;
};

/* ---- partition.c ---- */
void partition_run_failed(void *ctx, const sources *s);
enum partition_result partition_usage(struct worker *d, char *why);

/* ---- partition_write.c ---- */
enum partition_result partition_write_portable(struct worker *d, const char *name, const char *text, size_t length);
enum partition_result partition_write_folder(struct worker *d);
enum partition_result partition_run_folder(struct worker *d);

/* ---- partition_compare.c ---- */

/* Sizes and runs of the models beside each other; what a threshold on activity takes out of the whole, and out of each
 * partition. */
enum partition_result partition_compare(struct worker *d);

#endif
