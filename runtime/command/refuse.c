/* refuse.c - see refuse.h */
#include "refuse.h"

#include <string.h>

enum { SAMPLES = 1 << WHEN_SAMPLES, STOPS = 1 << WHEN_STOPS, DELAYS = 16 };

#define PAST "its linear model depends on the present alone, and a delay reads the past"
#define FOLLOWS "its derivatives by parameters do not cover delays and ends of runs"

/* option: only with this option; text: only if the option's argument has this value */
static const struct refusal {
    const char *command;
    int option;
    const char *text;
    unsigned what;
    const char *why;
} refusals[] = {
    { "identify", -1, NULL, STOPS | DELAYS, FOLLOWS },
    { "sensitivity", -1, NULL, STOPS | DELAYS, FOLLOWS },
    { "linearize", -1, NULL, DELAYS, PAST },
    { "reduce", OPT_MODES, NULL, DELAYS, PAST },
    { "reduce", OPT_BAND, NULL, DELAYS, PAST },
    { "rank", OPT_BY, "frequency", STOPS, "it analyses the excitation from start to stop" },
    { "rank", OPT_BY, "frequency", SAMPLES, "there is no steady state between two samples" },
    { "rank", OPT_BY, "frequency", DELAYS, PAST },
};

static bool
applies(const request *q, const struct refusal *r)
{
    const char *text = r->option < 0 ? NULL : q->text[r->option];

    return !strcmp(q->command->name, r->command) && (r->option < 0 || (q->given & OPT(r->option))) &&
           (!r->text || (text && strstr(text, r->text)));
}

bool
refuse_events(const request *q, const flat_model *f)
{
    static const char *const word[] = { [WHEN_SAMPLES] = "every", [WHEN_STOPS] = "stop when" };

    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        const struct refusal *r = &refusals[k];
        const char *found = NULL, *option = r->option == OPT_MODES  ? " --modes"
                                            : r->option == OPT_BAND ? " --band"
                                                                    : "";
        span at = SPAN_NONE;

        if (!applies(q, r))
            continue;
        for (size_t w = 0; w < f->when.n && !found; w++)
            if (r->what & 1u << f->when.at[w].kind) {
                found = word[f->when.at[w].kind];
                at = f->when.at[w].at;
            }
        if (!found && (r->what & DELAYS) && f->delay.n) {
            found = "delay";
            at = f->delay.at[0].at;
        }
        if (!found)
            continue;
        diag_error(f->sources, "refused", at, "`bgc %s%s%s%s` does not take `%s`: %s", r->command, option,
                   !r->text              ? ""
                   : r->option == OPT_BY ? " --by "
                                         : " -m ",
                   r->text ? r->text : "", found, r->why);
        return true;
    }
    return false;
}
