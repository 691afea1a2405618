/* fuzz_front.c - any bytes through parser, elaboration, causality, equations and what `check` warns of
 *
 * A refusal comes with an error, an acceptance without one; diagnostics, graph, causality and equations print.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "lint.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    compilation c = { 0 };
    FILE *out = fopen("/dev/null", "w");
    bool ok;

    if (size <= LONGEST && out && !leads_elsewhere(data, size)) {
        ok = fuzz_compile(&c, "fuzz.bg", data, size, STAGE_EQUATIONS);
        if (ok && c.flat) {
            lint_model(c.flat, c.ast);
            lint_values(c.sources, c.ast);
            must(diag_errors(c.sources) == 0, "a warning is an error", NULL);
        }
        print_nowhere(c.sources);
        if (ok) {
            flat_dump(c.flat, out);
            if (c.causal)
                causal_dump(c.flat, c.causal, out);
            if (c.equations)
                equations_dump(c.equations, out);
        }
        fuzz_free(&c);
    }
    if (out)
        fclose(out);
    return 0;
}
