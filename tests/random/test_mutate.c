/* test_mutate.c - right models with one mistake: an error is reported, on its line, and nothing crashes
 *
 * usage    test_mutate [first seed [how many]]
 * prints   seed, mistake, text and diagnostics for each failure; exit status 1 if there was one
 */
#include "generate.h"
#include "compile.h"

#include <stdio.h>
#include <string.h>

enum { MAX_SHOWN = 8 };

/* The place of a diagnostic; noted places count too, as where "declared twice" says the first one was. */
static bool
on_line(const sources *s, span at, int line)
{
    int l, c;
    if (!line || !span_known(at))
        return false;
    source_place(s, at.file, at.begin, &l, &c);
    return l == line;
}
static bool
reported(const sources *s, const struct rg_mutation *m)
{
    for (size_t i = 0; i < diag_count(s); i++) {
        const diagnostic *d = diag_at(s, i);
        if (d->severity != SEV_ERROR)
            continue;
        if (!m->line || on_line(s, d->at, m->line) || on_line(s, d->at, m->other))
            return true;
        for (size_t k = 0; k < d->nchild; k++)
            if (on_line(s, d->child[k].at, m->line))
                return true;
    }
    return false;
}

int
main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
    size_t failures = 0, skipped = 0, errors = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        rgraph *g = rg_generate(seed, 0);
        struct rg_mutation m;
        char *text = rg_mutate(g->text.at, seed, &m);
        compilation c = { 0 };
        bool ok = compile_text(&c, "mutated.bg", text, strlen(text), STAGE_CAUSALITY, NULL);
        const char *what = NULL;
        if (!ok && !diag_errors(c.sources))
            what = "refused without an error";
        else if (ok && diag_errors(c.sources))
            what = "accepted with an error";
        else if (m.noise)
            errors += !ok;
        else if (ok)
            what = "accepted";
        else if (!reported(c.sources, &m)) {
            /* a random graph may be singular by itself; then a mistake that only causality can see may stand behind
             * that one */
            compilation clean = { 0 };
            if (compile_text(&clean, "right.bg", g->text.at, g->text.n, STAGE_CAUSALITY, NULL))
                what = "no error on the line of the mistake";
            else
                skipped++;
            compile_free(&clean);
        } else
            errors++;
        if (what && failures++ < MAX_SHOWN) {
            printf("seed %llu, %s (line %d): %s\n%s\n", (unsigned long long)seed, m.what, m.line, what, text);
            diag_print(c.sources, stdout, false, DIAG_ERRORS);
            puts("");
        }
        compile_free(&c);
        free(text);
        rg_free(g);
    }
    printf("%llu texts with a mistake: %zu refused, %zu behind another error, %zu failures\n",
           (unsigned long long)count, errors, skipped, failures);
    return failures != 0;
}
