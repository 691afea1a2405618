/* folder.h - partitions in a folder: run one after the other, those that do not wait for each other side by side
 *
 * Each NAME.bg of the folder (but conditioned.bg and reduced.bg, the whole) is a partition. Its experiments' tables
 * NAME_EXPERIMENT.csv of others in the folder are what it waits for; its own run of each experiment is written to such
 * a file: outputs and recorded signals, sampled at FOLDER_POINTS points or as many as are asked for (sampled.h).
 */
#ifndef BG_FOLDER_H
#define BG_FOLDER_H

#include "simulate.h"

#define FOLDER_SAMPLING 1e-5
#define FOLDER_MARK "// partition "
enum { FOLDER_POINTS = 20001, FOLDER_NAME = 128 };

typedef struct folder_run {
    char name[FOLDER_NAME], experiment[FOLDER_NAME]; /* cut where they are longer */
    size_t states, dependent, loops, elements;
    uint64_t steps;
    double seconds; /* of the integration */
    size_t points;
    double sampling; /* greatest distance of a column from the spline through its points, as a share of its range */
    int status;      /* 0, or of what failed: its messages were printed */
} folder_run;
typedef VEC(folder_run) folder_runs;

typedef struct folder_options {
    const char *path;
    size_t points;    /* 0: as many as needed */
    const char *only; /* an experiment, NULL: all */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    int (*failed)(void *ctx, const sources *s);
    void *ctx; /* prints messages, returns a status */
} folder_options;

/* Takes away the partitions that were written before, which say so in their first line: FOLDER_MARK. False: another
 * model lies there, *other (free it), or it cannot be done (errno; *other NULL). */
bool folder_clear(const char *path, char **other);

/* In the order in which they ran. False: *why (free it) says what is wrong with the folder; or a run failed (its status
 * is not 0) and *why is NULL. */
bool folder_run_all(const folder_options *o, folder_runs *out, char **why);

#endif
