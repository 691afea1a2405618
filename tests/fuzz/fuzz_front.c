/* fuzz_front.c - libFuzzer's entry: any bytes through parser, elaboration, causality and equations
 *
 * Beyond what the sanitizers see: a refusal comes with an error, an acceptance without one, and diagnostics and equations print.
 * The unit system is read once for many inputs, since that takes longer than all else.
 */
#include <stdio.h>
#include <stdlib.h>

#include "compile.h"

enum { LONGEST = 16384, INPUTS_A_UNIT_SYSTEM = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* udunits2's lexer keeps a copy of what it read when a unit does not parse */
const char *__lsan_default_suppressions(void) { return "leak:utlex\n"; }

static void must(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unit_system *units;
    static unsigned inputs;
    char *printed = NULL;
    size_t length = 0;
    compilation c = { 0 };

    if (size > LONGEST) return 0;
    if (inputs++ % INPUTS_A_UNIT_SYSTEM == 0) {
        units_free(units);
        units = units_new();
    }
    c.units = units;
    bool ok = compile_text(&c, "fuzz.bg", (const char *)data, size, STAGE_EQUATIONS, NULL);
    must(ok == (diag_errors(c.sources) == 0), ok ? "accepted with an error" : "refused without an error");
    FILE *out = open_memstream(&printed, &length);
    if (out) {
        diag_print(c.sources, out, true, false);
        if (ok) {
            flat_dump(c.flat, out);
            causal_dump(c.flat, c.causal, out);
            equations_dump(c.equations, out);
        }
        fclose(out);
        free(printed);
    }
    c.units = NULL;                                   /* the next input's too */
    compile_free(&c);
    return 0;
}
