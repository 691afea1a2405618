/* partition_drawing.c - see partition_drawing.h */
#include "partition_drawing.h"

#include "metrics.h"
#include "quote.h"

static const char *const colors[] = { "#cfe3f5", "#fbe0c8", "#cdeadf", "#f1d9e8", "#fbeec2", "#dcd6f0", "#d9d9d9" };

static const char *
color_of(const subgraphs *s, uint32_t number)
{
    return number == NONE ? "#ffffff" : colors[s->subgraph.at[number].partition % (sizeof colors / sizeof *colors)];
}

static void
put_node(strbuf *b, char kind, size_t i, const char *type, const char *name, const char *color)
{
    char *label = name ? bg_format("%s:%s", type, name) : bg_format("%s", type);

    strbuf_printf(b, "  %c%zu [fillcolor=\"%s\", label=", kind, i, color);
    quote_z(b, QUOTE_DOT, label);
    strbuf_puts(b, "];\n");
    free(label);
}

/* Draws a bond; a conditioned one is drawn along its signal, from the junction at which it is inactive. */
static void
put_link(strbuf *b, const char *from, const char *to, const char *name, const link *x, bool first, bool last)
{
    bool back = x->fate == LINK_TO_TAIL, goes = x->fate == LINK_GOES;

    strbuf_printf(b, "  %s -> %s [", back ? to : from, back ? from : to);
    if (x->fate == LINK_STAYS)
        strbuf_puts(b, "arrowhead=\"lvee\"");
    else
        strbuf_printf(b, "color=\"%s\", penwidth=4, arrowsize=0.7, arrowhead=\"%s\", arrowtail=\"%s\"",
                      goes ? "#b0b0b0" : "#404040", (back ? first : last) ? "normal" : "none",
                      goes && first ? "normal" : "none");
    if (name) {
        strbuf_puts(b, ", label=");
        quote_z(b, QUOTE_DOT, name);
    }
    strbuf_puts(b, "];\n");
}

static void
put_links(const flat_model *f, const link_plan *p, strbuf *b)
{
    for (size_t i = 0; i < p->link.n; i++) {
        const link *x = &p->link.at[i];
        char from[24], to[24], between[24];

        snprintf(from, sizeof from, "j%u", x->end[0]);
        snprintf(to, sizeof to, "j%u", x->end[1]);
        snprintf(between, sizeof between, "e%u", x->element);
        if (x->bond != LINK_NONE) {
            put_link(b, from, to, f->bond.at[x->bond].name, x, true, true);
        } else {
            put_link(b, from, between, NULL, x, true, false);
            put_link(b, between, to, NULL, x, false, true);
        }
    }
}

/* Each signal starts at the first junction of the subgraph that determines it. */
static void
put_signals(const subgraphs *s, strbuf *b)
{
    for (size_t i = 0; i < s->crossing.n; i++) {
        const crossing *x = &s->crossing.at[i];

        if (x->link != LINK_NONE || x->element == LINK_NONE || s->subgraph.at[x->from].junction.n == 0)
            continue;
        strbuf_printf(b, "  j%u -> e%u [style=dotted, arrowhead=\"vee\", color=\"%s\", label=",
                      s->subgraph.at[x->from].junction.at[0], x->element, x->closes ? "#c00000" : "#606060");
        quote_z(b, QUOTE_DOT, x->name);
        strbuf_puts(b, "];\n");
    }
}

void
partition_drawing(const flat_model *f, const link_plan *p, const subgraphs *s, strbuf *out)
{
    strbuf_puts(out, "digraph ");
    quote_z(out, QUOTE_DOT, f->name);
    strbuf_puts(out, " {\n  graph [layout=neato, model=subset, overlap=false, splines=line, outputorder=edgesfirst, "
                     "pad=0.3, sep=\"+6\"];\n"
                     "  node [shape=box, style=\"filled,rounded\", color=\"#ffffff\", fontname=\"Helvetica\","
                     " fontsize=11, margin=\"0.06,0.03\", width=0,"
                     " height=0];\n"
                     "  edge [dir=both, arrowtail=none, len=1.3, fontname=\"Helvetica\", fontsize=9, "
                     "fontcolor=\"#606060\"];\n");
    for (uint32_t i = 0; i < f->junction.n; i++)
        put_node(out, 'j', i, f->junction.at[i].type ? "1" : "0",
                 f->junction.at[i].implicit ? NULL : f->junction.at[i].name, color_of(s, s->of_junction[i]));
    for (uint32_t i = 0; i < f->element.n; i++) {
        char *type = bg_format("%s%s", f->element.at[i].modulated ? "M" : "", element_type_name(f->element.at[i].type));

        put_node(out, 'e', i, type, f->element.at[i].name, color_of(s, s->of_element[i]));
        free(type);
    }
    for (uint32_t i = 0; i < f->port.n; i++) {
        const flat_port *x = &f->port.at[i];

        if (!is_two_port(&f->element.at[x->element]))
            strbuf_printf(out, "  %c%u -> %c%u [arrowhead=\"lvee\"];\n", x->sign > 0 ? 'j' : 'e',
                          x->sign > 0 ? x->junction : x->element, x->sign > 0 ? 'e' : 'j',
                          x->sign > 0 ? x->element : x->junction);
    }
    put_links(f, p, out);
    put_signals(s, out);
    strbuf_puts(out, "}\n");
}
