/* fuzz.c - see fuzz.h */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { TEXTS_A_UNIT_SYSTEM = 2000 };

static unsigned alive; /* compilations, which refer to the units of the time they were made */

/* udunits2's lexer keeps a copy of what it read when a unit does not parse */
const char *__lsan_default_suppressions(void);
const char *
__lsan_default_suppressions(void)
{
    return "leak:utlex\n";
}

void
must(bool holds, const char *what, const char *text)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n%s\n", what, text ? text : "");
    abort();
}

bool
leads_elsewhere(const uint8_t *data, size_t size)
{
    return memmem(data, size, "\"/", 2) || memmem(data, size, "../", 3);
}

const char *
first_experiment(const ast_file *f)
{
    for (size_t i = 0; i < f->ndecls; i++)
        if (f->decl[i].kind == AST_DECL_EXPERIMENT)
            return f->decl[i].experiment->name;
    return NULL;
}

static bool
compile_with(compilation *c, const char *path, const void *text, size_t n, enum compile_stage upto, compile_options o)
{
    static unit_system *units;
    static unsigned texts;
    compilation first = { 0 };
    char *experiment = NULL;
    bool ok;

    if (alive++ == 0 && (!units || texts >= TEXTS_A_UNIT_SYSTEM)) {
        units_free(units);
        units = units_new();
        texts = 0;
    }
    texts++;
    if (compile_text(&first, path, text, n, STAGE_PARSE, NULL) && first_experiment(first.ast))
        o.experiment = experiment = bg_strdup(first_experiment(first.ast));
    compile_free(&first);
    c->units = units;
    ok = compile_text(c, path, text, n, upto, &o);
    must(ok == (diag_errors(c->sources) == 0), ok ? "accepted with an error" : "refused without an error", NULL);
    free(experiment);
    return ok;
}

bool
fuzz_compile(compilation *c, const char *path, const void *text, size_t n, enum compile_stage upto)
{
    return compile_with(c, path, text, n, upto, (compile_options){ 0 });
}

bool
fuzz_compile_open(compilation *c, const char *path, const void *text, size_t n, enum compile_stage upto)
{
    return compile_with(c, path, text, n, upto, (compile_options){ .open = true });
}

void
fuzz_free(compilation *c)
{
    alive--;
    c->units = NULL; /* the next text's too */
    compile_free(c);
}

void
print_nowhere(const sources *s)
{
    FILE *out = fopen("/dev/null", "w");

    if (!out)
        return;
    diag_print(s, out, true, DIAG_ALL);
    fclose(out);
}
