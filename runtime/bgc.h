/* bgc.h - the public interface of libbgc: bond graphs kept as text, compiled and simulated
 *
 *     bgc_model *m = bgc_open("quarter_car.bg", "smooth_curb");
 *     bgc_run *r = bgc_simulate(m, &(bgc_run_options){ .points = 501 });
 *     if (!r)
 *         for (size_t i = 0; i < bgc_diagnostic_count(m); i++)
 *             puts(bgc_diagnostic_at(m, i).message);
 *     else
 *         printf("%g\n", bgc_run_value(r, 500, bgc_output_find(m, "y_s")));
 *     bgc_run_free(r);
 *     bgc_free(m);
 *
 * units      SI everywhere
 * errors     NULL or false; the model's diagnostics say why
 * ownership  texts and arrays belong to the handle they come from and live as long as it (diagnostics: until the next
 *            call that runs)
 * threads    one handle per thread; no globals
 * memory     a call that runs out of it fails; the model it was for is of no use then (bgc_ok is false, its one
 *            diagnostic has the code "no-memory"), and what it held is not given back. Some libraries (LLVM, udunits2,
 *            SUNDIALS) end the program or crash when they get none. So a call asks for the room that their work takes
 *            before it begins; what other threads take meanwhile, and the loading of LLVM itself, is not covered
 * the host   keeps its LLVM options and the threads of its BLAS
 */
#ifndef BGC_H
#define BGC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bgc_model bgc_model;
typedef struct bgc_run bgc_run;

/* Reads and compiles a file, or a text of n bytes that messages call `name`. experiment: its name; NULL: the file's
 * only or first one, or none. NULL only where there is no memory for a handle: bgc_ok tells
 * whether it compiled. */
bgc_model *bgc_open(const char *path, const char *experiment);
bgc_model *bgc_open_text(const char *name, const char *text, size_t n, const char *experiment);
bool bgc_ok(const bgc_model *m);
/* Makes everything that runs and evaluations need, and frees what the model was compiled from: a third of the memory of
 * a model of some thousand elements. The generated code takes about 0.7 MB, so that a model of up to a few hundred
 * elements becomes larger. All functions below still work. False: nothing has changed. */
bool bgc_let_go_of_source(bgc_model *m);
void bgc_free(bgc_model *m); /* NULL is fine */

/* ---- diagnostics ---- */
enum bgc_severity { BGC_ERROR, BGC_WARNING, BGC_NOTE, BGC_HELP };
typedef struct bgc_diagnostic {
    enum bgc_severity severity;
    const char *code, *message;             /* code: a stable slug */
    const char *file;                       /* NULL: refers to no place */
    int line, column, end_line, end_column; /* from 1; columns in bytes */
} bgc_diagnostic;
size_t bgc_diagnostic_count(const bgc_model *m);
bgc_diagnostic bgc_diagnostic_at(const bgc_model *m, size_t i);
/* What belongs to diagnostic i: notes (BGC_NOTE), each with its own place, and suggestions (BGC_HELP), with its
 * code. */
size_t bgc_note_count(const bgc_model *m, size_t i);
bgc_diagnostic bgc_note_at(const bgc_model *m, size_t i, size_t k);

/* ---- parts of the model; 0 and NULL unless bgc_ok ---- */
const char *bgc_model_name(const bgc_model *m);
const char *bgc_experiment_name(const bgc_model *m); /* NULL: none */
size_t bgc_state_count(const bgc_model *m);
const char *bgc_state_name(const bgc_model *m, size_t i);
size_t bgc_output_count(const bgc_model *m); /* recorded expressions too */
const char *bgc_output_name(const bgc_model *m, size_t i);
size_t bgc_output_find(const bgc_model *m, const char *name); /* SIZE_MAX if there is none */
size_t bgc_element_count(const bgc_model *m);
const char *bgc_element_name(const bgc_model *m, size_t i);
/* Sets a declared parameter, and what is computed from it, for later runs. False: the model has none of that name. */
bool bgc_set(bgc_model *m, const char *parameter, double value);
/* The same by number, for frequent use; SIZE_MAX: there is none of that name. */
size_t bgc_parameter_find(const bgc_model *m, const char *name);
bool bgc_set_at(bgc_model *m, size_t parameter, double value);

/* ---- evaluation ---- */
bool bgc_initial(bgc_model *m, double t, double *x); /* x: bgc_state_count */
bool bgc_rates(bgc_model *m, double t, const double *x, double *dx);
bool bgc_outputs(bgc_model *m, double t, const double *x, double *y);

/* ---- simulation of the experiment ---- */
typedef struct bgc_run_options {
    size_t points;     /* uniform over the run, both ends included; 0: 501 */
    double rtol, atol; /* 0: the experiment's, else the integrator's own */
    bool activity;     /* integrate |P| of each element */
} bgc_run_options;
/* o may be NULL. Earlier runs have no effect on it. */
bgc_run *bgc_simulate(bgc_model *m, const bgc_run_options *o);
size_t bgc_run_points(const bgc_run *r);
double bgc_run_time(const bgc_run *r, size_t point);
double bgc_run_value(const bgc_run *r, size_t point, size_t output); /* NAN outside */
double bgc_run_state(const bgc_run *r, size_t point, size_t state);
double bgc_run_activity(const bgc_run *r, size_t element); /* J; NAN unless asked for */
uint64_t bgc_run_steps(const bgc_run *r);
void bgc_run_free(bgc_run *r); /* call before bgc_free; NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
