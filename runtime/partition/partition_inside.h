/* partition_inside.h - declarations shared by the files partition*.c; no other file includes it */
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
    recording *run;        /* [nruns] of the current text */
    char *written;         /* the text written out; NULL: each part already stands in it once */
    char *text;            /* the current text, with signals frozen or bonds conditioned; NULL: neither */
    char *given;           /* the text with the values of --set written into it; NULL: there are none */
    signal_freeze *freeze; /* [nfreezes] */
    kept_runs *as_given;   /* of the model as given; made for the first text without some elements */
    portable portable;     /* files copied into the folder beside the texts */
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

/* Recordings of all experiments for another text. path NULL: that of the first recording. free() the array. */
recording *partition_recordings(const struct worker *d, const recording *like, const char *path, const char *text,
                                size_t length);
/* Compares sizes and runs of the models; finds what a threshold on activity takes out of the whole and of each
 * partition. */
enum partition_result partition_compare(struct worker *d);
/* A text without some elements, and its errors against the model as given. text NULL: none of them can go. */
typedef struct smaller {
    char *text;
    size_t length;
    without cost;
} smaller;
/* r: recordings of the text from which the elements are taken. False: a run failed. Call smaller_free(out) in any
 * case. */
bool partition_without(struct worker *d, const recording *r, const name_list *gone, smaller *out);
void smaller_free(smaller *x);

/* ---- partition_whole.c ---- */

/* Takes out elements that are inactive in the whole model but active in their partition, where no output misses them.
 * x: the conditioned model without what is inactive in the partitions; these elements are taken out of it too. */
bool partition_add_whole(struct worker *d, smaller *x);

#endif
