/* folder.h - runs the partitions in a folder, each after those that it needs, independent ones in parallel
 *
 * Each NAME.bg of the folder is a partition, except conditioned.bg and reduced.bg, which are whole models. A partition
 * waits for the tables NAME_EXPERIMENT.csv of other partitions that its experiments read. Its own run of each
 * experiment writes such a file: outputs and recorded signals, sampled at FOLDER_POINTS points or at the number asked
 * for (sampled.h). A file of that name that is there already is replaced only if its model is a part that `bgc
 * partition` wrote (FOLDER_MARK); otherwise nothing is run.
 */
#ifndef BG_FOLDER_H
#define BG_FOLDER_H

#include "simulate.h"

#define FOLDER_SAMPLING 1e-5 /* tolerated distance of a column from the spline through its points, of its range */
#define FOLDER_MARK "// partition "
enum { FOLDER_POINTS = 20001, FOLDER_NAME = 128 };

typedef struct folder_run {
    char name[FOLDER_NAME], experiment[FOLDER_NAME]; /* longer names are cut */
    size_t states, dependent, loops, elements;
    uint64_t steps;
    double seconds; /* of the integration */
    size_t points;
    double sampling; /* greatest distance of a column from the spline through its points, as a share of its range */
    int status;      /* 0, or the status of what failed (its messages were printed) */
} folder_run;
typedef VEC(folder_run) folder_runs;

typedef struct folder_options {
    const char *path;
    size_t points;    /* 0: as many as needed */
    const char *only; /* an experiment; NULL: all of them */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    int (*failed)(void *ctx, const sources *s);
    void *ctx; /* prints messages, returns a status */
} folder_options;

/* Removes the partitions written by an earlier run, recognized by FOLDER_MARK in their first line. False: the folder
 * holds another model, *other (free() it), or files cannot be removed (errno is set, *other is NULL). */
bool folder_clear(const char *path, char **other);

/* Runs are listed in the order in which they were made. False: *why (free() it) says what is wrong with the folder; or
 * a run failed (its status is not 0) and *why is NULL. */
bool folder_run_all(const folder_options *o, folder_runs *out, char **why);

#endif
