/* folder.c - see folder.h */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile.h"
#include "covered.h"
#include "csv.h"
#include "files.h"
#include "sampled.h"

enum { NOT_WRITTEN = 4 };
#define SAME_TIME 1e-14 /* share of a run's length: switchings closer together than this count as one */

/* A file of the folder. */
struct member {
    char *name, *path;
    VEC(char *) experiment;
    VEC(uint32_t) waits;
    bool done;
};
struct folder {
    const folder_options *o;
    VEC(struct member) member;
    map by_name;
};

/* Is the file the whole model rather than a partition? */
static bool
is_whole_model(const char *name)
{
    return !strcmp(name, "conditioned.bg") || !strcmp(name, "reduced.bg");
}

static bool
is_partition(const char *name)
{
    return has_suffix(name, ".bg") && name[0] != '.' && !is_whole_model(name);
}

static bool
is_marked(const char *path)
{
    char line[sizeof FOLDER_MARK] = "";
    FILE *f = fopen(path, "r");
    bool marked = f && fread(line, 1, sizeof FOLDER_MARK - 1, f) == sizeof FOLDER_MARK - 1 &&
                  !strcmp(line, FOLDER_MARK);

    if (f)
        fclose(f);
    return marked;
}

bool
folder_clear(const char *path, char **other)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    bool fine = dir != NULL;

    *other = NULL;
    while (dir && fine && (e = readdir(dir)))
        if (is_partition(e->d_name)) {
            char *file = bg_format("%s/%s", path, e->d_name);

            if (!is_marked(file)) {
                *other = bg_strdup(e->d_name);
                fine = false;
            } else {
                fine = remove(file) == 0;
            }
            free(file);
        }
    if (dir)
        closedir(dir);
    return fine;
}

static int
by_name(const void *pa, const void *pb)
{
    const struct member *a = pa, *b = pb;

    return strcmp(a->name, b->name);
}

static bool
list_files(struct folder *d, char **why)
{
    DIR *dir = opendir(d->o->path);
    struct dirent *e;

    if (!dir) {
        *why = bg_format("%s: %s", d->o->path, strerror(errno));
        return false;
    }
    while ((e = readdir(dir))) {
        struct member m = { 0 };

        if (!is_partition(e->d_name))
            continue;
        m.name = bg_format("%.*s", (int)(strlen(e->d_name) - 3), e->d_name);
        m.path = bg_format("%s/%s", d->o->path, e->d_name);
        vec_push(&d->member, m);
    }
    closedir(dir);
    if (d->member.n == 0)
        *why = bg_format("%s: there is no model (.bg) in it", d->o->path);
    else
        qsort(d->member.at, d->member.n, sizeof *d->member.at, by_name);
    for (uint32_t i = 0; i < d->member.n; i++)
        map_set(&d->by_name, bg_hash_bytes(d->member.at[i].name, strlen(d->member.at[i].name), 0), i);
    return !*why;
}

/* The member whose run of the experiment writes the file of that name. */
static uint32_t
writer_of(const struct folder *d, const char *csv, const char *experiment)
{
    size_t n = strlen(csv), m = strlen(experiment) + 5;

    if (n <= m || strcmp(csv + n - 4, ".csv") || csv[n - m] != '_' || strncmp(csv + n - m + 1, experiment, m - 5))
        return MAP_NONE;
    return map_get(&d->by_name, bg_hash_bytes(csv, n - m, 0));
}

struct waiting {
    struct folder *d;
    struct member *m;
    const char *experiment;
};

static void
wait_for_table(void *ctx, const ast_expr *e)
{
    struct waiting *w = ctx;
    uint32_t k;

    if (e->kind == AST_CALL && e->call.nargs && e->call.arg[0]->kind == AST_STRING &&
        (k = writer_of(w->d, e->call.arg[0]->string, w->experiment)) != MAP_NONE)
        vec_push(&w->m->waits, k);
}

/* Finds the tables of other members that an experiment's formulas read. */
static void
find_tables(struct folder *d, struct member *m, const ast_experiment *x)
{
    for (int i = 0; i < x->nitems; i++)
        if (x->item[i].kind == AST_EXP_LET)
            ast_visit(x->item[i].a, wait_for_table, &(struct waiting){ d, m, x->name });
}

static bool
read_members(struct folder *d)
{
    bool fine = true;

    for (size_t i = 0; i < d->member.n && fine; i++) {
        struct member *m = &d->member.at[i];
        compilation c = { 0 };

        fine = compile_path(&c, m->path, STAGE_PARSE, NULL);
        if (!fine)
            d->o->failed(d->o->ctx, c.sources);
        for (size_t k = 0; fine && k < c.ast->ndecls; k++) {
            const ast_experiment *x = c.ast->decl[k].kind == AST_DECL_EXPERIMENT ? c.ast->decl[k].experiment : NULL;

            if (!x || (d->o->only && strcmp(d->o->only, x->name)))
                continue;
            vec_push(&m->experiment, bg_strdup(x->name));
            find_tables(d, m, x);
        }
        compile_free(&c);
    }
    return fine;
}

/* ---------------------------------------------------------------- one run */

/* Values right before and right after each switching of a run, in two rows each: time and outputs. */
struct sides {
    bg_model *model;
    double tiny; /* s; switchings closer together than this are one */
    VEC(double) time, output;
    double *modes; /* scratch */
};

static bool
start_sides(void *ctx, double t, const double *x)
{
    struct sides *s = ctx;

    (void)t, (void)x;
    s->time.n = s->output.n = 0;
    return true;
}

static bool
pass_piece(void *ctx, double t0, double t1, sim_dense *dense, void *of)
{
    (void)ctx, (void)t0, (void)t1, (void)dense, (void)of;
    return true;
}

static bool
keep_sides(void *ctx, double t, const double *before, const double *modes_before, const double *after)
{
    struct sides *s = ctx;
    size_t ny = model_noutputs(s->model), n = s->time.n, nmodes = model_nmodes(s->model);
    bool again = n && t - s->time.at[n - 1] <= s->tiny;
    double *modes = model_modes(s->model), *y = bg_calloc(2 * ny + 1, sizeof *y);
    bool fine = true;

    if (!again && nmodes) {
        memcpy(s->modes, modes, nmodes * sizeof *modes);
        memcpy(modes, modes_before, nmodes * sizeof *modes);
    }
    if (!again) {
        model_let_give(s->model, false);
        fine = model_outputs(s->model, t, before, y) == 0;
        model_let_give(s->model, true);
    }
    if (!again && nmodes)
        memcpy(modes, s->modes, nmodes * sizeof *modes);
    fine = fine && model_outputs(s->model, t, after, y + ny) == 0;
    if (fine && again && ny)
        memcpy(s->output.at + (n - 1) * ny, y + ny, ny * sizeof *y);
    for (size_t k = 0; fine && !again && k < 2; k++)
        vec_push(&s->time, t);
    for (size_t k = 0; fine && !again && k < 2 * ny; k++)
        vec_push(&s->output, y[k]);
    free(y);
    return true;
}

static bool
run_dense(const folder_options *o, compilation *c, sim_result *result, struct sides *sides)
{
    sim_follower follow = { .start = start_sides, .piece = pass_piece, .jump = keep_sides, .ctx = sides };
    sim_options so = { 0 };
    bool fine = sim_options_from_experiment(c->model, &so);

    if (fine) {
        so.points = o->points ? o->points : FOLDER_POINTS;
        so.outputs = so.parted = true;
        if (o->adjust)
            o->adjust(o->ctx, c->model, &so);
        so.follow = &follow;
        *sides = (struct sides){ .model = c->model,
                                 .tiny = SAME_TIME * (so.stop - so.start),
                                 .modes = bg_calloc(model_nmodes(c->model) + 1, sizeof(double)) };
        fine = covered_run(c->model, &so, result);
    }
    sim_options_free(&so);
    return fine;
}

/* Writes the table of a run. False: errno says why. */
static bool
write_part_table(const folder_options *o, const compilation *c, const sim_result *r, const struct sides *s,
                 const char *path, folder_run *out)
{
    sim_result at = { .points = s->time.n, .time = s->time.at, .output = s->output.at };
    columns cols, sides;
    outfile f;
    bool fine;

    columns_make(c->model, r, &cols);
    columns_make(c->model, &at, &sides);
    fine = outfile_open(&f, path);
    if (fine) {
        out->sampling = sampled_write(f.out, &cols, &sides, r->parted, r->nparted, o->points ? 0 : FOLDER_SAMPLING,
                                      &out->points);
        fine = outfile_commit(&f);
    }
    columns_free(&cols);
    columns_free(&sides);
    return fine;
}

static void
run_member(const folder_options *o, const struct member *m, const char *experiment, folder_run *out)
{
    compile_options co = { .experiment = experiment };
    compilation c = { 0 };
    sim_result result = { 0 };
    struct sides sides = { 0 };

    memset(out, 0, sizeof *out);
    out->sampling = NAN;
    snprintf(out->name, sizeof out->name, "%s", m->name);
    snprintf(out->experiment, sizeof out->experiment, "%s", experiment);
    if (!compile_path(&c, m->path, STAGE_MODEL, &co) || !run_dense(o, &c, &result, &sides)) {
        out->status = o->failed(o->ctx, c.sources);
    } else {
        char *path = bg_format("%s/%s_%s.csv", o->path, m->name, experiment);

        if (!write_part_table(o, &c, &result, &sides, path, out)) {
            fprintf(stderr, "bgc: %s: %s\n", path, file_error(errno));
            out->status = NOT_WRITTEN;
        }
        free(path);
        out->states = model_nstates(c.model);
        out->dependent = c.causal->dependent.n;
        out->loops = equations_nloops(c.equations);
        out->elements = c.flat->element.n;
        out->steps = result.steps;
        out->seconds = result.cpu_seconds;
    }
    vec_free(&sides.time);
    vec_free(&sides.output);
    free(sides.modes);
    sim_result_free(&result);
    compile_free(&c);
}

/* ---------------------------------------------------------------- side by side */

struct child {
    pid_t pid;
    int in;
    size_t member;
};

/* Each member runs in a process of its own, so that a crash takes no other member with it. */
static bool
start_member(const struct folder *d, size_t i, struct child *out)
{
    const struct member *m = &d->member.at[i];
    int pipes[2];

    if (pipe(pipes) != 0)
        return false;
    fflush(stdout);
    fflush(stderr);
    out->pid = fork();
    out->member = i;
    if (out->pid == 0) {
        close(pipes[0]);
        for (size_t k = 0; k < m->experiment.n; k++) {
            folder_run r;

            run_member(d->o, m, m->experiment.at[k], &r);
            (void)!write(pipes[1], &r, sizeof r);
        }
        fflush(stderr);
        _exit(0);
    }
    close(pipes[1]);
    out->in = pipes[0];
    if (out->pid < 0)
        close(pipes[0]);
    return out->pid > 0;
}

static bool
finish_folder(const struct folder *d, const struct child *x, folder_runs *out)
{
    size_t want = d->member.at[x->member].experiment.n, got = 0;
    bool fine = true;
    folder_run r;
    size_t n = 0;
    ssize_t k;

    while ((k = read(x->in, (char *)&r + n, sizeof r - n)) > 0 || (k < 0 && errno == EINTR)) {
        n += k > 0 ? (size_t)k : 0;
        if (n < sizeof r)
            continue;
        fine = fine && r.status == 0;
        vec_push(out, r);
        got++;
        n = 0;
    }
    close(x->in);
    while (waitpid(x->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return fine && got == want;
}

static bool
is_ready(const struct folder *d, const struct member *m)
{
    for (size_t i = 0; i < m->waits.n; i++)
        if (!d->member.at[m->waits.at[i]].done && &d->member.at[m->waits.at[i]] != m)
            return false;
    return true;
}

/* Starts all members that are ready, at most one for each processor; then those that waited for them. */
static bool
run_in_order(struct folder *d, folder_runs *out, char **why)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = processors > 0 ? (size_t)processors : 1, left = d->member.n;
    bool fine = true, *taken = bg_calloc(d->member.n + 1, sizeof *taken);
    struct child *child = bg_calloc(most, sizeof *child);

    while (left && fine) {
        size_t n = 0, taken_now = 0;

        for (size_t i = 0; i < d->member.n && n < most; i++) {
            if (taken[i] || !is_ready(d, &d->member.at[i]))
                continue;
            taken[i] = true;
            taken_now++;
            if (!start_member(d, i, &child[n])) {
                *why = bg_format("%s: %s", d->member.at[i].path, strerror(errno));
                fine = false;
                break;
            }
            n++;
        }
        for (size_t k = 0; k < n; k++) {
            fine = finish_folder(d, &child[k], out) && fine;
            d->member.at[child[k].member].done = true;
        }
        left -= taken_now;
        if (!taken_now) {
            *why = bg_format("%s: partitions wait for each other's tables in a circle", d->o->path);
            fine = false;
        }
    }
    free(taken);
    free(child);
    return fine;
}

/* Tables are written beside the models; one that is there already is written anew only if its model was written by
 * `bgc partition`, whose signals these are. Others may be measurements. */
static bool
may_write_tables(const struct folder *d, char **why)
{
    for (size_t i = 0; i < d->member.n && !*why; i++) {
        const struct member *m = &d->member.at[i];
        bool ours = is_marked(m->path);

        for (size_t k = 0; k < m->experiment.n && !ours && !*why; k++) {
            char *path = bg_format("%s/%s_%s.csv", d->o->path, m->name, m->experiment.at[k]);

            if (access(path, F_OK) == 0)
                *why = bg_format(
                    "%s exists, and %s.bg is no part that `bgc partition` wrote: nothing is run, since its "
                    "table would go there; move the file, or run the model alone with -o",
                    path, m->name);
            free(path);
        }
    }
    return !*why;
}

bool
folder_run_all(const folder_options *o, folder_runs *out, char **why)
{
    struct folder d = { .o = o };
    bool fine;

    *out = (folder_runs){ 0 };
    *why = NULL;
    fine = list_files(&d, why) && read_members(&d) && may_write_tables(&d, why) && run_in_order(&d, out, why);
    for (size_t i = 0; i < d.member.n; i++) {
        struct member *m = &d.member.at[i];

        free(m->name);
        free(m->path);
        for (size_t k = 0; k < m->experiment.n; k++)
            free(m->experiment.at[k]);
        vec_free(&m->experiment);
        vec_free(&m->waits);
    }
    vec_free(&d.member);
    map_free(&d.by_name);
    return fine;
}
