/* graph.c - the bond graph as a drawing */
#include <errno.h>
#include <string.h>

#include "files.h"
#include "graph.h"
#include "picture.h"
#include "quote.h"

/* The end of an edge that has the causal stroke: where the effort acts. */
enum stroke { STROKE_NONE, STROKE_FROM, STROKE_TO };

static void
put_edge(strbuf *b, const char *from, const char *to, const char *name, enum stroke stroke)
{
    strbuf_printf(b, "  %s -> %s [arrowhead=\"%slvee\"", from, to, stroke == STROKE_TO ? "tee" : "");
    if (stroke == STROKE_FROM)
        strbuf_puts(b, ", arrowtail=\"tee\"");
    if (name) {
        strbuf_puts(b, ", label=");
        quote_z(b, QUOTE_DOT, name);
    }
    strbuf_puts(b, "];\n");
}

/* Does the effort act on the junction through an incidence of this strength? The strong bond of a 0-junction brings its
 * effort, that of a 1-junction its flow. */
static bool
acts_on_junction(const flat_model *f, uint32_t junction, int strength)
{
    return (f->junction.at[junction].type == 0) == (strength == ST_STRONG);
}

static enum stroke
port_stroke(const flat_model *f, const causal *c, uint32_t p)
{
    const flat_port *x = &f->port.at[p];
    int strength = c ? c->drawn[p] : ST_OPEN;

    if (strength == ST_OPEN)
        return STROKE_NONE;
    /* sign +1: the arrow goes from the junction to the element */
    return acts_on_junction(f, x->junction, strength) == (x->sign > 0) ? STROKE_FROM : STROKE_TO;
}

static enum stroke
bond_stroke(const flat_model *f, const causal *c, uint32_t i)
{
    const flat_bond *x = &f->bond.at[i];

    if (c && c->bond_from[i] != ST_OPEN)
        return acts_on_junction(f, x->from, c->bond_from[i]) ? STROKE_FROM : STROKE_TO;
    if (c && c->bond_to[i] != ST_OPEN)
        return acts_on_junction(f, x->to, c->bond_to[i]) ? STROKE_TO : STROKE_FROM;
    return STROKE_NONE;
}

void
graph_print(const flat_model *f, const causal *c, strbuf *out)
{
    strbuf_puts(out, "digraph ");
    quote_z(out, QUOTE_DOT, f->name);
    strbuf_puts(
        out, " {\n"
             "  graph [layout=neato, model=subset, overlap=false, splines=line, outputorder=edgesfirst, pad=0.3, "
             "sep=\"+6\"];\n"
             "  node [shape=plaintext, fontname=\"Helvetica\", fontsize=12, margin=\"0.06,0.04\", width=0, height=0];\n"
             "  edge [dir=both, arrowtail=none, arrowsize=0.8, len=1.3, fontname=\"Helvetica\", fontsize=9, "
             "fontcolor=\"#606060\"];\n");
    for (size_t i = 0; i < f->junction.n; i++) {
        const flat_junction *j = &f->junction.at[i];

        strbuf_printf(out, "  j%zu [label=<<b>%d</b>", i, j->type);
        if (!j->implicit) {
            strbuf_puts(out, "<br/><font point-size=\"9\" color=\"#606060\">");
            quote_z(out, QUOTE_MARKUP, j->name);
            strbuf_puts(out, "</font>");
        }
        strbuf_puts(out, ">];\n");
    }
    for (size_t i = 0; i < f->element.n; i++) {
        const flat_element *e = &f->element.at[i];

        strbuf_printf(out, "  e%zu [label=<%s%s<br/><font point-size=\"9\">", i, e->modulated ? "M" : "",
                      element_type_name(e->type));
        quote_z(out, QUOTE_MARKUP, e->name);
        strbuf_puts(out, "</font>>];\n");
    }
    for (uint32_t i = 0; i < f->port.n; i++) {
        const flat_port *p = &f->port.at[i];
        char junction[24], element[24];

        snprintf(junction, sizeof junction, "j%u", p->junction);
        snprintf(element, sizeof element, "e%u", p->element);
        put_edge(out, p->sign > 0 ? junction : element, p->sign > 0 ? element : junction, port_bond_name(f, p),
                 port_stroke(f, c, i));
    }
    for (uint32_t i = 0; i < f->bond.n; i++) {
        char from[24], to[24];

        snprintf(from, sizeof from, "j%u", f->bond.at[i].from);
        snprintf(to, sizeof to, "j%u", f->bond.at[i].to);
        put_edge(out, from, to, f->bond.at[i].name, bond_stroke(f, c, i));
    }
    strbuf_puts(out, "}\n");
}

/* The name of the suffix in `dot -T`; NULL for the text itself. False: unknown suffix. */
static bool
form_of(const char *path, const char **form)
{
    static const char *const forms[] = { "svg", "png", "pdf" };
    const char *dot = path ? strrchr(path, '.') : NULL;

    *form = NULL;
    if (!path || !strcmp(path, "-"))
        return true;
    for (size_t i = 0; dot && i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(dot + 1, forms[i]))
            *form = forms[i];
    return *form || has_suffix(path, ".dot") || has_suffix(path, ".gv");
}

bool
graph_form_known(const char *path)
{
    const char *form;

    return form_of(path, &form);
}

bool
graph_draw(const flat_model *f, const causal *c, const char *path, char **why)
{
    strbuf text = { 0 };
    const char *form;
    bool fine = false;

    *why = NULL;
    if (!form_of(path, &form)) {
        *why = bg_format("%s: a drawing's name ends in .svg, .png, .pdf or .dot", path);
        return false;
    }
    graph_print(f, c, &text);
    if (!form) {
        fine = write_whole(path, text.at, text.n);
        if (!fine)
            *why = bg_format("%s: %s", path ? path : "standard output", file_error(errno));
    } else {
        char option[8];
        const char *argv[] = { "dot", option, NULL };

        snprintf(option, sizeof option, "-T%s", form);
        fine = picture_draw(argv, &text, path,
                            "drawing needs Graphviz: its program \"dot\" is not installed; a .dot file does without",
                            why);
    }
    strbuf_free(&text);
    return fine;
}
