/* fuzz_front.c - libFuzzer's entry: any bytes through parser, elaboration, causality and equations
 *
 * Beyond what the sanitizers see, it checks that a refusal always comes with an error, that an acceptance comes without one, and that
 * the canonical layout of a text that parsed is itself a fixed point.
 */
#include "../../compiler/compile.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 16384 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_layout(const char *text, size_t n)
{
    strbuf once = { 0 }, twice = { 0 };
    for (int k = 0; k < 2; k++) {
        const char *from = k ? once.at : text;
        size_t length = k ? once.n : n;
        compilation c = { 0 };
        if (compile_text(&c, "fuzz.bg", from, length, STAGE_PARSE, NULL)) format_file(c.sources, c.ast, k ? &twice : &once);
        else if (k) abort();                          /* the layout of a right text is a right text */
        compile_free(&c);
        if (!once.at) break;
    }
    if (once.at && (once.n != twice.n || memcmp(once.at, twice.at, once.n) != 0)) abort();
    strbuf_free(&once);
    strbuf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST) return 0;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    compilation c = { 0 };
    bool ok = compile_text(&c, "fuzz.bg", text, size, STAGE_EQUATIONS, NULL);
    if (ok != (diag_errors(c.sources) == 0)) abort();
    bool parsed = c.ast && c.ast->ok;
    compile_free(&c);
    if (parsed) check_layout(text, size);
    free(text);
    return 0;
}
