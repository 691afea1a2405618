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
    kept_runs *as_given;   /* of the model as given, once a text without some elements is compared with them */
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

/* Of all experiments, in another text: path NULL, where the first lies. Free the array. */
recording *partition_recordings(const struct worker *d, const recording *like, const char *path, const char *text,
                                size_t length);
/* Sizes and runs of the models beside each other; what a threshold on activity takes out of the whole, and out of each
 * partition. */
enum partition_result partition_compare(struct worker *d);
/* A text without some elements, and what that costs against the model as given. text NULL: none of them goes. */
typedef struct smaller {
    char *text;
    size_t length;
    without cost;
} smaller;
/* r: of the text that they go from. False: a run failed. smaller_free *out in any case. */
bool partition_without(struct worker *d, const recording *r, const name_list *gone, smaller *out);
void smaller_free(smaller *x);

/* ---- partition_whole.c ---- */

/* What is inactive in the model as given, and not in its partition, goes too where no output misses it. x: the
 * conditioned model without what is inactive in the partitions; becomes the one without these too. */
bool partition_add_whole(struct worker *d, smaller *x);

#endif
