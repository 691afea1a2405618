/* model.h - the compiled model: all that the runtime sees of the compiler
 *
 * units    t in s, x[i] in the SI unit of state i, powers in W
 * shapes   x, dx: model_nstates; powers: one an element, in the order of the flat model; outputs: the model's, then the
 *          experiment's recorded expressions; modes: model_nmodes
 * errors   evaluations return 0 (fine), 1 (recoverable: a block did not converge or something is not finite; a shorter
 *          step may help) or -1 (never will); model_explain says what and where
 * threads  one instance per thread; those of one image may run side by side. No globals
 */
#ifndef BG_MODEL_H
#define BG_MODEL_H

#include "expr.h"
#include "kinds.h"
#include "shown.h"
#include "source.h"

/* An instance of a compiled model: parameters, modes and work arrays. The compiled code is in an image, which
 * instances share. */
typedef struct bg_model bg_model;

/* Evaluators are compiled on first use: what is never asked for costs nothing. */
enum model_part {
    PART_RHS,
    PART_POWERS,
    PART_OUTPUTS,
    PART_CONDITIONS,
    PART_REINITS,
    PART_DELAYS,
    PART_CONSTRAINTS,
    PART_BONDS,
    PART_PORTS,
    PART_CLOCKS,
    PART_POLES,
    PART_NETS,
    PART_GATES,
    PART_JACOBIAN,
    PART_COUNT
};

/* Makes another instance of the same image with the parameters of m, and with modes and blocks as at the start. Free
 * it before the first instance, which model_new (compiled.h) returned. m must not be in use during the call. */
bg_model *model_another(const bg_model *m);
/* Between these calls no thread makes a part of the image, so that this one may read what the model was compiled from
 * (graph, templates) while instances are in use: making a part adds to it. */
void model_lock(const bg_model *m);
void model_unlock(const bg_model *m);
/* Resets modes, solutions of blocks and recorded sizes to those of an instance that has not run. Parameters are kept,
 * and so is the time if it is held. */
void model_forget(bg_model *m);
void model_free(bg_model *m);
/* Makes everything that runs, measures and messages may ask for. From then on only the texts (model_sources) and the
 * units are needed of what the model was compiled from; the rest may be freed, whatever instances there are. Requests
 * that need the rest are refused with a message: derivatives by parameters that were not asked for before, and second
 * derivatives. Code is not optimised any further. No other instance may be in use during the call. False with a
 * diagnostic: some code could not be made. */
bool model_close(bg_model *m);
/* Compiles a part before its first use. False with a diagnostic if that fails. */
bool model_need(bg_model *m, enum model_part part);
/* The same of all that every run with outputs asks for as it begins: where several threads are about to run instances
 * of one image, none then waits for what another one makes for itself alone. */
bool model_need_run(bg_model *m);

size_t model_nstates(const bg_model *m);
size_t model_nmodes(const bg_model *m);
size_t model_noutputs(const bg_model *m);
size_t model_nelements(const bg_model *m);
const char *model_name(const bg_model *m);
span model_place(const bg_model *m);     /* of its name */
span model_run_place(const bg_model *m); /* of the experiment that is run; without an experiment, of the model's name */
sources *model_sources(const bg_model *m);
const char *model_output_name(const bg_model *m, size_t i); /* of the text's outputs */

/* ---- variables of the flat model, by number: what they are, and which equation defines them ---- */
struct model_variable {
    const char *name;
    span at;
    const unit *unit, *display;
    const unit *shown; /* in which messages say it, NULL: SI */
    enum var_kind kind;
    enum var_role role;
    bool state;
    bool number;          /* a parameter given as a number, not computed from others */
    enum defined_by by;   /* of a state the equation of its rate */
    const char *equation; /* the element, junction, bond or variable that owns it; NULL: declared by the text itself, or
                             no owner */
    span equation_at;     /* where it stands */
    /* its name and place where something is wrong with its value: of a junction's variable those of the element whose
     * law gives it */
    const char *said;
    span said_at;
};
size_t model_nvariables(const bg_model *m);
struct model_variable model_variable(const bg_model *m, var_id v);
/* A line for each, for --dump variables. */
void model_print_variables(const bg_model *m, FILE *out);

/* ---- states ---- */
struct model_state {
    const char *name;
    span at;
    const unit *unit;
    const unit *display;
    const unit *shown;       /* the unit in which messages show it (written.h); NULL: SI */
    var_id var;              /* in the flat model */
    enum var_kind kind;      /* stored, common to a junction, or an integral of the text */
    uint32_t port, junction; /* whose it is; NONE: none */
    bool only_outputs;       /* an integral that no rate reads: it takes no part in an equilibrium */
    bool stated;             /* has a stated initial value */
    bool holds;              /* has no rate: events alone set it */
};
struct model_state model_state(const bg_model *m, size_t i);
/* Computes the initial states at t from the stated values, including those of dependent storage and junctions, and
 * sets the modes. False: diagnostics give the reason (a contradiction, or a law without a value there). */
bool model_initial(bg_model *m, double t, double *x);

/* Holds the time until it is released: everything is evaluated with the inputs of t, and with the modes that depend on
 * time as just after t. What moves then is a search for rest: ideal switches may take away momentum or charge (a mass
 * that hits an ideal stop), which a run refuses. */
void model_hold(bg_model *m, double t);
void model_let_go(bg_model *m);

/* ---- evaluation, with the modes as they are ---- */
int model_rhs(bg_model *m, double t, const double *x, double *dx);
int model_powers(bg_model *m, double t, const double *x, double *power);
/* The same in the order of the code, without a copy: the power of element i is at model_power_places(m)[i] (NULL: at
 * i). */
int model_powers_unordered(bg_model *m, double t, const double *x, double *power);
const uint32_t *model_power_places(bg_model *m);
int model_outputs(bg_model *m, double t, const double *x, double *y);
/* Tells the blocks that (t, x) is an accepted point: their iterations start there until the next call. Not needed for
 * a model without blocks. */
void model_accept(bg_model *m, double t, const double *x);
bool model_has_blocks(const bg_model *m); /* nonlinear ones */
/* Marks the states (fed[model_nstates]) read by laws that have an infinite slope somewhere, such as spow(e, 0.5) at 0.
 * There the Jacobian says that nothing moves, and has to be taken at a point nearby. False: there are none. */
bool model_root_states(bg_model *m, bool *fed);

/* Do the rates contain a function of states that may bend sharply, such as the exponential of a semiconductor
 * junction? */
bool model_bends(bg_model *m);
/* Is there such a function, or a quotient, that may vary by all of its range within a small change of the states
 * (bounds.h)? The run is from start to stop. The second call gives, for a step from t[0] to t[1] with the states and
 * rates at its ends, the part of the step, from its start, in which none of these functions varies unnoticed; 1: the
 * whole step. */
bool model_bends_over(bg_model *m, double start, double stop);
double model_clear(bg_model *m, const double t[2], const double *const x[2], const double *const f[2]);

/* ---- bonds: the power of each port (into its element), then of each bond between junctions (along its arrow); then
 * two values for each port of storage, in the order of ports: what is stored, and the derivative of the stored energy
 * by it (a spring's force, a mass's velocity) ---- */
size_t model_nbond_values(const bg_model *m);
int model_bond_values(bg_model *m, double t, const double *x, double *value);
/* Effort and flow of each port, in the order of the ports: 2*ports values. */
int model_port_values(bg_model *m, double t, const double *x, double *value);
/* Energy of a storage port at `stored`, counted from 0 for a law that is at rest at 0; NAN if its law reads more than
 * its own port and parameters. */
double model_stored_energy(bg_model *m, uint32_t port, double stored, double conjugate);
/* The energy that a storage port takes up between two points {stored, conjugate}; NAN if its law reads more than its
 * own port and parameters. */
double model_energy_taken(bg_model *m, uint32_t port, const double from[2], const double to[2]);
/* Second derivative of the stored energy by state i at x: 1/m of a mass, k of a spring. NAN if the state stores no
 * energy, or its law reads something that is not a state. */
double model_energy_curvature(bg_model *m, size_t i, const double *x);

/* ---- modes: frozen conditions of if, abs, sign, min, max, and pieces of tables ---- */
struct model_mode {
    enum mode_kind kind;
    span at;
    const char *text;
    const ex_table *table;
    size_t partner;       /* of MODE_SIGN its MODE_STICK, and the other way round */
    int side;             /* not 0: g is side times the argument of a sign(), whose MODE_STICK is the partner */
    bool corner;          /* only min, max and abs read it: nothing jumps when it switches */
    bool relay;           /* of MODE_SIGN: only relays (`if`) read it */
    bool apart;           /* no rate depends on it: conditions of events alone and outputs do */
    bool known;           /* depends on parameters and linearly on time alone: it switches at known times */
    double slope, offset; /* of g over time where known: g = offset + slope*t, */
    double by;            /* + by*(value of mode count), a known floor(); 0: without */
    uint32_t count;
    uint32_t form; /* the same in conditions of one form, with any variables and numbers: in those of equal laws */
};
struct model_mode model_mode(const bg_model *m, size_t k);
double *model_modes(bg_model *m); /* the frozen values; the runtime sets them between steps */
int model_conditions(bg_model *m, double t, const double *x, double *g);
/* The same for differences: what is rounding alone of a switch's condition is not set to zero. */
int model_conditions_raw(bg_model *m, double t, const double *x, double *g);
/* Conditions that are known before anything is solved for, and those among them that read others, in the order of
 * their levels (gates.h). Their differences g[ngates], whether the modes of switches are consistent or not. */
size_t model_ngates(const bg_model *m);
uint32_t model_gate(const bg_model *m, size_t i); /* its mode */
uint32_t model_gate_level(const bg_model *m, size_t i);
int model_gates(bg_model *m, double t, const double *x, double *g);
/* Conditions that compare one quantity each with a threshold, a parameter, where many compare the same one: as this is
 * known, only those next to it can change. */
struct model_threshold {
    uint32_t of; /* the quantity; NONE: a condition like others */
    bool above;  /* its difference is positive above the threshold */
    double at;
};
size_t model_nquantities(const bg_model *m);
struct model_threshold model_threshold(const bg_model *m, size_t k);
/* The difference of such a condition. */
static inline double
model_past(struct model_threshold t, double quantity)
{
    return t.above ? quantity - t.at : t.at - quantity;
}
/* As model_conditions, but those with a threshold are left out: their quantities. */
int model_conditions_apart(bg_model *m, double t, const double *x, double *g, double *quantity);
/* What rounding may leave of condition k where its terms cancel, from the greatest numbers in the same units. Slow. */
double model_condition_noise(bg_model *m, size_t k, double t, const double *x);
/* Did a block at that point have a solution that does not continue the one at the last accepted point? Such a solution
 * lies beyond a fold. */
bool model_left_branch(const bg_model *m);
/* Since model_follow_branch, did an evaluation of rates or conditions give a solution far from that one, or one that
 * does not continue it? */
bool model_leapt(const bg_model *m);
/* A step begins; what failed before it was got over. */
void model_follow_branch(bg_model *m);

/* ---- events of the text: `when condition { reinit ... }` ---- */
struct model_when {
    enum when_kind kind;
    span at;
    const char *text, *says;
    size_t first, n; /* its reinits: first .. first+n */
    double period, offset;
    bool begins; /* of samples, s; begins: the first is at the offset */
};
size_t model_nwhens(const bg_model *m);
size_t model_nreinits(const bg_model *m);
struct model_when model_when(const bg_model *m, size_t w);
/* The variables that the condition of `when` reads, directly or through other conditions. */
void model_when_reads(const bg_model *m, size_t when, const var_id **list, size_t *n);
size_t model_reinit_state(const bg_model *m, size_t r);   /* the state it sets */
bool model_reinit_remembers(const bg_model *m, size_t r); /* for `previous`: the text does not set it */
/* The random numbers that each sample of `when` draws: set model_modes()[mode] before asking for its reinits. */
struct model_draw {
    size_t mode, when;
    bool normal;
    double seed;
    span at;
};
size_t model_ndraws(const bg_model *m);
struct model_draw model_draw(const bg_model *m, size_t k);
/* Conditions (0: false), then the values of all reinits. */
int model_reinits(bg_model *m, double t, const double *x, double *value);

/* ---- delays: what is delayed, by how long (s), and what it was before the start (NAN: what it is there). Modes have
 * the delayed values ---- */
struct model_delay {
    size_t mode;
    double by, before;
    span at;
    const char *text;
    bool feeds; /* what is delayed follows a delayed value at once */
};
size_t model_ndelays(const bg_model *m);
struct model_delay model_delay(const bg_model *m, size_t k);
int model_delayed(bg_model *m, double t, const double *x, double *value); /* what is delayed, now */
/* Called before anything is evaluated at t: `at` puts into the modes what depends on t. NULL: nothing does. */
void model_give(bg_model *m, void (*at)(void *ctx, double t, double *modes), void *ctx);
/* Stops these calls until they are allowed again: the modes stay as the caller set them, for instance to those just
 * before a jump. */
void model_let_give(bg_model *m, bool may);

/* ---- constraints: functions of the states that stay zero once they are (residual sources whose condition was
 * differentiated), those of one branch of a condition zero anyway while another holds ---- */
size_t model_nconstraints(const bg_model *m);
int model_constraints(bg_model *m, double t, const double *x, double *c);
span model_constraint_place(const bg_model *m, size_t k); /* of its source */
/* Moves x onto the constraints by the least change, each state weighted by the largest value that it had. 0, or 1 on
 * failure. */
int model_project(bg_model *m, double t, double *x);
/* Moves x as ideal switches do that have just closed or opened into the present modes: charges are shared, currents
 * stop. */
int model_kick(bg_model *m, double t, double *x);
bool model_projects(const bg_model *m); /* may there be something to project onto? */

/* ---- nets: ideal switches and what is solved together with them. Their modes are found by a search ---- */
enum nets_status { NETS_SAME, NETS_SWITCHED, NETS_NONE, NETS_REFUSED, NETS_FAILED };
/* The result of a search. jumped: x was changed by more than rounding. NONE: no combination of modes is consistent.
 * REFUSED: a state would have to jump that must not, by itself or because a source would have to give an impulse; the
 * place is that of an ideal switch. */
typedef struct nets_report {
    bool jumped;
    size_t state;
    double from, to;
    span at;
} nets_report;
bool model_has_nets(const bg_model *m);
bool model_has_limits(const bg_model *m);               /* does a law approach a limit in them (approach.h)? */
bool model_nets_curved(const bg_model *m);              /* is any of them not linear? */
bool model_net_mode(const bg_model *m, size_t k);       /* is it set by the search? */
void model_nets_join(const bg_model *m, uint32_t *set); /* joins modes that one net reads (joined.h) */
/* Sets the modes of all nets as just after t, and moves x where these require it (charge and momentum are conserved).
 * ahead: a time in s within which nothing else happens. farther: 1, or more if a contradiction was taken for rounding.
 * start: x are initial values, of which those that were not stated may be moved. */
enum nets_status model_search(bg_model *m, double t, double *x, double ahead, double farther, bool start,
                              nets_report *r);

/* ---- clocks: what the equations read of time alone and not linearly (clocks.h), with the modes as they are ---- */
size_t model_nclocks(bg_model *m);
int model_clocks(bg_model *m, double t, double *value);
span model_clock_place(bg_model *m, size_t k);
/* By mode: does its condition read a sine of states, which may go through many periods within a step? NULL: none does.
 */
const bool *model_waving(bg_model *m);
/* Do conditions, but no rates, read what may change strongly within a small range of states? */
bool model_hides(bg_model *m);
/* The run is from start to stop. The second call gives the longest step within from..to in which no clock strays from
 * a straight line (bounds.h); of the clocks that rates read, or (all) of every clock. INFINITY: nothing limits the
 * step; 0: that is not known over so long a time. *clock: the one that limits the step, or NO_INDEX. */
void model_clocks_over(bg_model *m, double start, double stop);
double model_clock_step(bg_model *m, double from, double to, bool all, size_t *clock);
/* Sets the modes that are known functions of time to their values at t. */
void model_modes_at(bg_model *m, double t);
/* The times at which what the rates read of time is greatest, and for how long. */
size_t model_clock_peaks(bg_model *m, double *time, double *width, size_t most);

/* ---- poles: what the rates and powers divide by and may be zero (poles.h), with the modes as they are ---- */
/* var: the variable whose definition divides, or NULL; text: the divisor. Without a text: the determinant of the
 * equations that var, and perhaps others, are solved from. */
struct model_pole {
    span at;
    const char *var;
    const unit *unit; /* of var, where it is known */
    const char *text;
    bool stands_in; /* var stands for an operation of a law, as an exponential, which grows by decades anywhere */
};
size_t model_npoles(bg_model *m);
int model_poles(bg_model *m, double t, const double *x, double *value);
struct model_pole model_pole(bg_model *m, size_t k);

/* ---- what rates need of equations that are solved together and that no determinant is looked at of: unknowns of
 * nonlinear ones, and of nets of switches whose coefficients move. They may pass through infinity. ---- */
size_t model_nsolved(bg_model *m); /* of nets after their first solution */
/* Their values at the last evaluation of the rates (model_rhs, model_accept). */
void model_solved(const bg_model *m, double *value);
struct model_pole model_solved_pole(const bg_model *m, size_t k);

/* ---- which solution a run sets out from, where nonlinear equations that are solved together have several ---- */
struct model_choice; /* blocks in the order of evaluation at (t, x); their solutions are searched one after the other */
struct model_solutions {
    size_t n, unknowns;
    const double *other; /* [n * unknowns] besides the one that the evaluation finds, with the present modes */
};
/* True the first time, and once more after the model was told to forget. */
bool model_chooses(bg_model *m);
/* all: also of blocks that follow the solution they had */
struct model_choice *model_choice_new(bg_model *m, double t, const double *x, bool all);
void model_choice_free(struct model_choice *c);
/* Goes to the next block with several solutions. False: there is none. */
bool model_choice_next(struct model_choice *c, struct model_solutions *s);
/* From now on its solution is searched from z; NULL: from the previous start. */
void model_choose(struct model_choice *c, const double *z);
/* Powers of all elements and its solution z, with the present choice and modes. False: there is no solution. */
bool model_chosen(struct model_choice *c, double *power, double *z);
var_id model_choice_unknown(const struct model_choice *c, size_t i);
/* The same of nets of ideal switches, see net.h. */
size_t model_nnets(const bg_model *m);
span model_net_place(const bg_model *m, size_t net);
size_t model_net_others(bg_model *m, size_t net, double t, const double *x, double ahead, size_t most, double **others,
                        size_t *tried);
/* Sets its modes to those of one of them, and starts from its unknowns from now on. */
void model_net_take(bg_model *m, size_t net, const double *others, size_t one);
bool model_nets_hold(bg_model *m, double t, const double *x, double ahead);

/* ---- Jacobian: rates and kept algebraic variables, augmented ----
 * Rows and columns 0..nx-1 are states, nx..n-1 kept variables z. With J = [f_x f_z; g_x g_z] the integrator's matrix is
 * [I - gamma*f_x, -gamma*f_z; g_x, g_z], solved with right side (r, 0). Compressed columns, rows ascending, the whole
 * diagonal stored. */
struct model_pattern {
    size_t n, nx;
    const int64_t *column;
    const int64_t *row;
    size_t nonzeros;
};
struct model_pattern model_jacobian_pattern(bg_model *m);
int model_jacobian(bg_model *m, double t, const double *x, double *value);

/* ---- the same by parameters too, and of outputs: see partials.h for the shape. by: n parameters of the flat model
 * (VAR_PARAM; model_parameter finds one by name), moved with what is computed from them. noutputs: of the first
 * outputs. Owned by the model, and follows model_set_parameter. NULL: its code failed, with a diagnostic ---- */
typedef struct partials partials;
partials *model_partials(bg_model *m, const var_id *by, size_t n, size_t noutputs);
struct model_pattern model_partials_pattern(const partials *p);
int model_partials_at(bg_model *m, partials *p, double t, const double *x, double *value);

/* With ideal switches: columns of what they determine (model_nheld) behind those of by, and three rows for each behind
 * those of outputs. What they determine follows the rest so that model_held_by of all rows stays zero, with the modes
 * as they are. False: not determined there (after model_partials_at). */
partials *model_partials_held(bg_model *m, const var_id *by, size_t n, size_t noutputs);
size_t model_nheld(const bg_model *m);
bool model_held_by(bg_model *m, const double *rows, double *held);
/* Of ideal switches in parallel conditions determine a sum alone, which is shared evenly: what times the changes of the
 * unknowns is to be added to model_held_by so that it is zero for the even share alone [held][held], by columns. */
bool model_held_share(bg_model *m, double *share);

/* ---- the same by what flat.weight asks for, each factor and offset in turn, and of the outputs of the text ---- */
struct model_pattern model_weighed_pattern(bg_model *m); /* n 0: its code failed, with a diagnostic */
int model_weighed(bg_model *m, double t, const double *x, double *value);
size_t model_nweights(const bg_model *m); /* operands that are weighed */

/* ---- numbers of all variables of the flat model at a point; false where one is not finite, or a block has no solution
 * ---- */
bool model_variables(bg_model *m, double t, const double *x, double *v);

/* ---- how the linear model moves with states and parameters: curvature.h. Owned by the caller (curvature_free), and
 * goes before the model ---- */
struct curvature *model_curvature(bg_model *m, const var_id *by, size_t n);
/* With what ideal switches determine beside the states, and its conditions beside the rates. */
struct curvature *model_curvature_held(bg_model *m, const var_id *by, size_t n);
bool model_curvature_at(bg_model *m, struct curvature *c, double t, const double *x);

/* ---- parameters ---- */
/* Sets a parameter that model_parameter found (SI) and what is computed from it, at the cost of what reads these. */
void model_set(bg_model *m, var_id v, double value);
/* The same by name. False if the name is not one. */
bool model_set_parameter(bg_model *m, const char *name, double value);
/* The parameter, constant or constant input of that name in the flat model (VAR_NONE: there is none), and its value. */
var_id model_parameter(const bg_model *m, const char *name);
bool model_is_parameter(const bg_model *m, var_id v);
double model_parameter_value(const bg_model *m, var_id v);

/* ---- what the experiment sets, by the parameters as they are ---- */
struct model_setting {
    bool there;
    double value;
};
struct model_experiment {
    const char *name;   /* NULL: there is none */
    const char *solver; /* "auto", "explicit", "bdf", "variational"; NULL */
    bool equilibrium;
    struct model_setting start, stop, rtol, atol, max_step, max_time;
    size_t nwindows;
};
struct model_experiment model_experiment(const bg_model *m);
void model_window(const bg_model *m, size_t k, double *from, double *to);

/* ---- elements taken out, where the model was compiled for that (compile_options.removable) ---- */
/* Takes the element out: it adds nothing to its junction; or (rests) the common variable of its junction is zero. Its
 * state stays as it is. False: this would take other equations, and nothing is changed. */
bool model_take_out(bg_model *m, size_t element, bool rests);
/* How that is done: the parameter that is the element's factor (VAR_NONE: there is none), what is zero without the
 * element, and the place of its state (NONE: it has none). */
struct model_removal {
    var_id factor;
    bool rests;
    uint32_t state;
};
struct model_removal model_removal(const bg_model *m, size_t element);

/* ---- when it fails ---- */
/* Looks through the equations at (t, x) for the first value that is not finite although everything it reads is, or for
 * the block with the largest scaled residual. Returns its place, and a sentence in *text (free it): `"damper_s":
 * division by zero in ...`. SPAN_NONE if all is well. */
span model_explain(bg_model *m, double t, const double *x, char **text);

/* The same for output k, which has no finite value at (t, x): the first operation among all it reads without a finite
 * value. NULL: none is found. free() it. */
char *model_explain_output(bg_model *m, size_t k, double t, const double *x);

/* A sentence of counts for -v: classes, kernels, chunks, blocks, instructions, compile time. free() it. */
char *model_statistics(const bg_model *m);
/* CPU time spent on compiling so far, in s: parts are compiled on first use, and again, optimised, when they run long.
 */
double model_compile_seconds(const bg_model *m);

#endif
