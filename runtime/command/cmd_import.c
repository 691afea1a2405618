/* cmd_import.c - bgc import: translates model files of BondGraphTools */
#include <errno.h>
#include <string.h>

#include "yaml_import.h"
#include "command.h"

/* Formats the text. If it does not parse, the translation has an error, and the text is shown as it is. */
static void
lay_out_text(strbuf *text)
{
    sources *s = sources_new();
    names *n = names_new();
    arena *a = arena_new();
    strbuf laid = { 0 };
    int file = sources_add_text(s, "translation", text->at, text->n);
    ast_file *ast = file < 0 ? NULL : parse_file(s, n, a, (uint32_t)file);

    if (ast && ast->ok) {
        format_file(s, ast, &laid);
        strbuf_free(text);
        *text = laid;
    }
    arena_free(a);
    names_free(n);
    sources_free(s);
}

int
cmd_import(const request *q)
{
    sources *s = sources_new();
    arena *a = arena_new();
    strbuf out = { 0 };
    const char *path = q->file.at[0], *target = q->text[OPT_OUTPUT];
    int file = sources_read(s, path), status = STATUS_DONE;

    if (file < 0) {
        status = complain_file(path);
    } else if (strlen(path) > 3 && !strcmp(path + strlen(path) - 3, ".bg")) {
        complain("%s is a model of bgc already; files of BondGraphTools, in YAML, are imported", path);
        status = STATUS_USAGE;
    } else {
        bool ok = yaml_import(s, a, (uint32_t)file, &out);

        print_diagnostics(q, s);
        if (!ok)
            status = STATUS_MODEL;
    }
    if (status == STATUS_DONE) {
        lay_out_text(&out);
        if (!write_whole(target ? target : "-", out.at, out.n))
            status = complain_file(target ? target : "-");
    }
    strbuf_free(&out);
    arena_free(a);
    sources_free(s);
    return status;
}
