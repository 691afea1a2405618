/* fuzz_parse.c - any bytes as a model: the parser and the formatter hold what they promise
 *
 * Parsing never fails whatever the text. What parsed is laid out, and the result parses without an error to the same
 * tree, has the same comments in the same order, and is laid out as it stands. Diagnostics print.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static char *
tree_text(const sources *s, const ast_file *f)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    if (!out)
        abort();
    ast_dump(s, f, out);
    fclose(out);
    return text;
}

static void
same_comments(const sources *s, const ast_file *a, const ast_file *b, const strbuf *laid_out)
{
    must(a->ncomments == b->ncomments, "comments were lost", laid_out->at);
    for (size_t i = 0; i < a->ncomments; i++) {
        span x = a->comment[i], y = b->comment[i];

        must(x.end - x.begin == y.end - y.begin &&
                 !memcmp(source_text(s, x.file) + x.begin, source_text(s, y.file) + y.begin, x.end - x.begin),
             "a comment was changed", laid_out->at);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sources *s = sources_new();
    names *n = names_new();
    arena *a = arena_new();
    int file = sources_add_text(s, "input.bg", (const char *)data, size);
    ast_file *f = parse_file(s, n, a, (uint32_t)file);
    char *tree = tree_text(s, f);

    print_nowhere(s);
    must(f->ok == (diag_errors(s) == 0), "the tree and the messages disagree", NULL);
    if (f->ok) {
        strbuf once = { 0 }, twice = { 0 };
        ast_file *again;
        char *tree_again;

        format_file(s, f, &once);
        file = sources_add_text(s, "input.bg", once.at, once.n);
        again = parse_file(s, n, a, (uint32_t)file);
        must(again->ok, "the layout does not parse", once.at);
        tree_again = tree_text(s, again);
        must(!strcmp(tree, tree_again), "the layout has another tree", once.at);
        same_comments(s, f, again, &once);
        format_file(s, again, &twice);
        must(once.n == twice.n && (!once.n || !memcmp(once.at, twice.at, once.n)), "the layout is laid out anew",
             once.at);
        free(tree_again);
        strbuf_free(&once);
        strbuf_free(&twice);
    }
    free(tree);
    sources_free(s);
    names_free(n);
    arena_free(a);
    return 0;
}
