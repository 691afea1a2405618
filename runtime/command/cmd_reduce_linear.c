/* cmd_reduce_linear.c - bgc reduce for linear models: by chosen eigenvalues, to a number of states */
#include <math.h>
#include <string.h>

#include "mode_reduction.h"
#include "reduce_command.h"
#include "report.h"

/* ---------------------------------------------------------------- passivity */

struct passive_word
passive_of(const loaded *l, const reduction *r, const char *experiment)
{
    struct passive_word w = { PASSIVITY_NOT_LOOKED_AT, NULL };

    compile_shared units = { .units = l->c.units };
    compile_options o = { .experiment = experiment,
                          .set = l->set.at,
                          .nset = l->set.n,
                          .shared = l->shared ? l->shared : &units };

    if (r->text)
        w.is = passive_model(l->path, r->text, r->length, &o, &w.why);
    return w;
}

void
passive_json(json *j, const struct passive_word *w)
{
    if (w->is == PASSIVITY_NOT_LOOKED_AT)
        return;
    json_key(j, "passive");
    if (w->is == MODEL_PASSIVITY_UNKNOWN)
        json_string(j, NULL), json_key(j, "passive_unknown"), json_string(j, w->why);
    else
        json_bool(j, w->is == MODEL_PASSIVE);
}

void
passive_put(const struct passive_word *w, FILE *out)
{
    if (w->is == MODEL_PASSIVITY_UNKNOWN)
        put_text(out, "  it is not known whether the reduced model is passive: %s\n", w->why);
    else if (w->is != PASSIVITY_NOT_LOOKED_AT)
        put_text(out, w->is == MODEL_PASSIVE
                          ? "  the reduced model is passive: without inputs its stored energy only falls\n"
                          : "  the reduced model is not passive: its stored energy can rise by itself\n");
}

/* ---------------------------------------------------------------- by eigenvalues */

void
lines_write_json(json *j, const reduction *r)
{
    json_key(j, "lines"), json_open(j, '[');
    for (size_t i = 0; i < r->line.n; i++) {
        const reduce_line *x = &r->line.at[i];

        json_open(j, '{');
        json_key(j, "output"), json_string(j, x->output);
        json_key(j, "input"), json_string(j, x->input);
        json_key(j, "factor"), json_number(j, x->factor);
        json_key(j, "direct"), json_number(j, x->direct);
        json_key(j, "end"), json_number(j, x->end);
        json_key(j, "step_error"), json_number(j, x->step);
        json_key(j, "response_error"), json_number(j, x->response);
        json_key(j, "step_error_before"), json_number(j, x->step_before);
        json_key(j, "response_error_before"), json_number(j, x->response_before);
        json_close(j, '}');
    }
    json_close(j, ']');
}

int
reduce_by_modes(const request *q, const char *target)
{
    request opened = *q;
    loaded l;
    int status;

    opened.open = true;
    status = load_model(&opened, q->file.at[0], STAGE_MODEL, EXPERIMENT_OPTIONAL, &l);
    if (status == STATUS_DONE && (q->given & OPT(OPT_VERIFY)) && !l.experiment) {
        complain("--verify runs an experiment, and %s has none", l.path);
        status = STATUS_USAGE;
    }
    if (status == STATUS_DONE) {
        compile_options o = { .experiment = l.experiment, .set = l.set.at, .nset = l.set.n };
        double *x = bg_calloc(model_nstates(l.c.model) + 1, sizeof *x), t;
        linearization p = { 0 };
        mode_choice keep = { 0 };
        strbuf notes = { 0 };
        reduction r = { 0 };
        char *why = NULL;

        if (!reduction_point(l.c.model, &t, x)) {
            status = status_of(l.c.sources);
        } else if (!linearize_at(l.c.model, t, x, &p)) {
            complain("%s cannot be linearized: %s", l.c.flat->name, p.why);
            status = STATUS_NUMBERS;
        } else if (!p.space.nu || !p.space.ny) {
            complain("%s has no %s: parts that no input drives or no output reads are taken out, so nothing would be "
                     "left; declare %s",
                     l.c.flat->name, p.space.nu ? "output" : "input and no source",
                     p.space.nu ? "an output that reads the quantity of interest" : "an input that drives it");
            status = STATUS_USAGE;
        } else if ((why = q->text[OPT_MODES] ? choose_modes(&p, q->text[OPT_MODES], &keep)
                                             : choose_band(&p, q->text[OPT_BAND], &keep))) {
            complain("%s", why);
            status = STATUS_USAGE;
        } else if (!reduce_to_modes(l.path, l.text, l.length, &o, &p, &keep, (q->given & OPT(OPT_DIRECT)) != 0, &r,
                                    &notes, &why)) {
            complain("%s cannot be reduced to these eigenvalues: %s", l.c.flat->name, why);
            status = STATUS_NUMBERS;
        } else {
            status = reduction_write(q, &l, &r, &l.experiment, 1, false, NULL, target);
            if (!q->quiet && !q->json && notes.n)
                fputs(notes.at, (q->given & OPT(OPT_DRY_RUN)) || (target && !strcmp(target, "-")) ? stderr : stdout);
        }
        print_diagnostics(q, l.c.sources);
        free(x);
        free(keep.keep);
        free(why);
        strbuf_free(&notes);
        reduction_free(&r);
        linearization_free(&p);
    }
    loaded_free(&l);
    return status;
}

/* ---------------------------------------------------------------- to a number of states */

static const double ROUNDING = 1e-12; /* relative to the norm: such an error counts as zero */

static double
error_share(const order_report *of, const yardstick_row *r)
{
    return r->why ? NAN : r->error.lower / of->yard.norm.lower;
}

void
order_write_json(json *j, const order_report *of)
{
    static const char *const key[] = { "balanced_truncation", "error" };

    json_key(j, "refit"), json_open(j, '{');
    json_key(j, "order"), json_count(j, of->states);
    json_key(j, "norm"), json_number(j, of->yard.norm.lower);
    for (size_t i = 0; i < of->yard.row.n && i < 2; i++)
        json_key(j, key[i]), json_number(j, error_share(of, &of->yard.row.at[i]));
    if (of->yard.row.n > 1) {
        const yardstick_row *r = &of->yard.row.at[1];
        double truncated = error_share(of, &of->yard.row.at[0]);

        json_key(j, "error_bound"), json_number(j, r->why ? NAN : r->error.upper / of->yard.norm.lower);
        json_key(j, "ratio"), json_number(j, truncated > ROUNDING ? error_share(of, r) / truncated : NAN);
        json_key(j, "passive"), json_string(j, yardstick_passive(&of->yard, r));
    }
    json_key(j, "frequencies"), json_count(j, of->frequencies);
    json_key(j, "tried"), json_count(j, of->tried);
    json_key(j, "fits"), json_count(j, of->fits);
    json_key(j, "exchanges"), json_count(j, of->exchanges);
    json_key(j, "numbers"), json_open(j, '[');
    for (size_t i = 0; i < of->number.n; i++) {
        json_open(j, '{');
        json_key(j, "name"), json_string(j, of->number.at[i].name);
        json_key(j, "from"), json_number(j, of->number.at[i].from);
        json_key(j, "to"), json_number(j, of->number.at[i].to);
        json_key(j, "line"), json_number(j, of->number.at[i].line);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "not_fitted"), json_open(j, '[');
    for (size_t i = 0; i < of->left.n; i++)
        json_string(j, of->left.at[i]);
    json_close(j, ']');
    json_close(j, '}');
}

void
order_put(const order_report *of, FILE *out)
{
    table t = { .columns = 4, .left = 1 };

    put_text(out, "looked at %zu sets of elements, %zu of them fitted at %zu frequencies; %zu exchanges were better\n",
             of->tried, of->fits, of->frequencies, of->exchanges);
    for (size_t i = 0; i < of->left.n; i++)
        put_text(out, "  not fitted: %s\n", of->left.at[i]);
    put_text(out, "H-infinity errors relative to the norm %.6g\n", of->yard.norm.lower);
    table_put(&t, "reduced by");
    table_put(&t, "states");
    table_put(&t, "error");
    table_put(&t, "passive");
    for (size_t i = 0; i < of->yard.row.n; i++) {
        const yardstick_row *r = &of->yard.row.at[i];

        table_put(&t, "%s", r->name);
        table_put(&t, "%zu", r->order);
        if (r->why)
            table_put(&t, "%s", r->why);
        else
            table_put(&t, "%.4e", error_share(of, r));
        table_put(&t, "%s", yardstick_passive(&of->yard, r));
    }
    table_print(&t, out, "  ");
}

int
reduce_by_order(const request *q, const char *target)
{
    loaded l;
    int status = load_model(q, q->file.at[0], STAGE_MODEL, EXPERIMENT_OPTIONAL, &l);

    if (status == STATUS_DONE) {
        struct run_settings settings = { .q = q, .default_rtol = BOUNDED_RTOL, .shown = -1 };
        order_options o = { .experiment = l.experiment,
                            .states = q->order,
                            .parameters = q->text[OPT_PARAMETERS],
                            .adjust = reduction_adjust,
                            .ctx = &settings };
        reduction r;
        order_report of;
        char *why = NULL;
        enum order_result result = reduce_to_order(l.path, l.text, l.length, &o, &r, &of, &why);

        print_diagnostics(q, l.c.sources);
        if (result == ORDER_DONE)
            status = reduction_write(q, &l, &r, &l.experiment, l.experiment ? 1 : 0, false, &of, target);
        else
            complain("%s cannot be reduced to %zu state%s: %s", l.path, q->order, q->order == 1 ? "" : "s", why);
        if (result != ORDER_DONE)
            status = result == ORDER_REFUSED ? STATUS_USAGE : STATUS_NUMBERS;
        free(why);
        order_report_free(&of);
        reduction_free(&r);
    }
    loaded_free(&l);
    return status;
}
