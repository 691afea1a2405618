/* cmd_graph.c - bgc graph: the bond graph as a drawing */
#include "command.h"
#include "graph.h"

int
cmd_graph(const request *q)
{
    const char *target = q->text[OPT_OUTPUT];
    loaded l;
    int status;

    if (!graph_form_known(target)) {
        complain("%s: a drawing's name ends in .svg, .png, .pdf or .dot", target);
        return STATUS_USAGE;
    }
    status = load_model(q, q->file.at[0], STAGE_CAUSALITY, EXPERIMENT_OPTIONAL, &l);

    if (status == STATUS_DONE) {
        char *why;

        print_diagnostics(q, l.c.sources);
        if (!graph_draw(l.c.flat, l.c.causal, target, &why)) {
            complain("%s", why);
            free(why);
            status = STATUS_FILE;
        }
    }
    loaded_free(&l);
    return status;
}
