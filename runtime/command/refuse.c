/* refuse.c - see refuse.h */
#include "refuse.h"

#include <string.h>

enum { SAMPLES = 1 << WHEN_SAMPLES, ASSERTS = 1 << WHEN_ASSERTS, STOPS = 1 << WHEN_STOPS };

/* option: with it alone; text: where the option's argument has that */
static const struct refusal { const char *command; int option; const char *text; unsigned what; const char *why; } refusals[] = {
    { "partition", -1, NULL, SAMPLES | ASSERTS | STOPS, "a partition's text is made of bonds and signals alone" },
    { "identify", -1, NULL, SAMPLES | STOPS, "it follows derivatives by parameters, which samples and ends of runs are not part of" },
    { "sensitivity", -1, NULL, STOPS, "runs that end at different times cannot be compared" },
    { "reduce", -1, NULL, STOPS, "runs that end at different times cannot be compared" },
    { "diff", -1, NULL, STOPS, "runs that end at different times cannot be compared" },
    { "run", OPT_VERIFY, NULL, STOPS, "runs that end at different times cannot be compared" },
    { "rank", OPT_METRIC, "kl", STOPS, "its samples are spread over the whole run beforehand" },
};

static bool applies(const request *q, const struct refusal *r)
{
    const char *text = r->option < 0 ? NULL : q->text[r->option];

    return !strcmp(q->command->name, r->command) && (r->option < 0 || (q->given & OPT(r->option))) && (!r->text || (text && strstr(text, r->text)));
}

bool refuse_events(const request *q, const flat_model *f)
{
    static const char *const word[] = { [WHEN_SAMPLES] = "every", [WHEN_ASSERTS] = "assert", [WHEN_STOPS] = "stop when" };

    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        const struct refusal *r = &refusals[k];

        for (size_t w = 0; w < f->when.n && applies(q, r); w++) {
            if (!(r->what & 1u << f->when.at[w].kind))
                continue;
            diag_error(f->sources, "refused", f->when.at[w].at, "`bgc %s%s%s` does not take `%s`: %s", r->command,
                       r->option == OPT_VERIFY ? " --verify" : r->text ? " -m " : "", r->text ? r->text : "", word[f->when.at[w].kind], r->why);
            return true;
        }
    }
    return false;
}
