/* cmd_fmt.c - bgc fmt: the canonical layout of source texts */
#include <string.h>

#include "command.h"

static int
format_one(const request *q, const char *path)
{
    bool check = (q->given & OPT(OPT_CHECK)) != 0;
    const char *target = q->given & OPT(OPT_IN_PLACE) ? path : q->text[OPT_OUTPUT];
    loaded l;
    strbuf out = { 0 };
    int status = load_model(q, path, STAGE_PARSE, EXPERIMENT_NONE, &l);
    bool same;

    if (status != STATUS_DONE) {
        loaded_free(&l);
        return status;
    }
    print_diagnostics(q, l.c.sources);
    format_file(l.c.sources, l.c.ast, &out);
    same = out.n == l.length && (out.n == 0 || !memcmp(out.at, l.text, out.n));
    if (check) {
        if (!same) {
            printf("%s\n", l.path);
            status = STATUS_MODEL;
        }
    } else if (target == path) {
        if (!same && !file_replace(target, l.text, l.length, out.at ? out.at : "", out.n))
            status = complain_file(target);
    } else if (!write_whole(target ? target : "-", out.at ? out.at : "", out.n)) {
        status = complain_file(target);
    }
    strbuf_free(&out);
    loaded_free(&l);
    return status;
}

int
cmd_fmt(const request *q)
{
    int status = STATUS_DONE;

    if (q->text[OPT_OUTPUT] && q->file.n > 1) {
        complain("-o is one file for several; --in-place changes each");
        return STATUS_USAGE;
    }
    for (size_t i = 0; i < q->file.n; i++) {
        int s = format_one(q, q->file.at[i]);

        if (s > status)
            status = s;
    }
    return status;
}
