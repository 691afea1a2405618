/* fuzz_yaml.c - any bytes as a YAML model file of BondGraphTools
 *
 * What is translated parses, and its layout is stable; what is not says why.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "yaml_import.h"

static void
parses(const strbuf *text)
{
    sources *s = sources_new();
    names *n = names_new();
    arena *a = arena_new();
    int file = sources_add_text(s, "translation", text->at ? text->at : "", text->n);
    ast_file *tree = parse_file(s, n, a, (uint32_t)file);
    strbuf laid = { 0 };

    must(tree->ok, "the translation does not parse", text->at);
    format_file(s, tree, &laid);
    strbuf_free(&laid);
    arena_free(a);
    names_free(n);
    sources_free(s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sources *s = sources_new();
    arena *a = arena_new();
    strbuf out = { 0 };
    int file;

    if (size <= LONGEST && (file = sources_add_text(s, "fuzz.yaml", (const char *)data, size)) >= 0) {
        bool ok = yaml_import(s, a, (uint32_t)file, &out);

        must(ok == (diag_errors(s) == 0), ok ? "translated with an error" : "refused without an error", NULL);
        if (ok)
            parses(&out);
        print_nowhere(s);
    }
    strbuf_free(&out);
    arena_free(a);
    sources_free(s);
    return 0;
}
