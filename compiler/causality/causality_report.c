/* causality_report.c - messages about conflicts, cycles, relations and dependent storage */
#include <math.h>
#include <string.h>

#include "causality_inside.h"

/* ---------------------------------------------------------------- messages */

static span
place_of(const struct assign *a, uint32_t e)
{
    return e < a->s.nport ? a->f->port.at[e].at : a->f->bond.at[(e - a->s.nport) / 2].at;
}

static const char *
bond_name(const struct assign *a, uint32_t e)
{
    return e < a->s.nport ? port_bond_name(a->f, &a->f->port.at[e]) : a->f->bond.at[(e - a->s.nport) / 2].name;
}

/* The effect of the decision at end e as a clause: `source "u" sets the effort of "n"`. The caller frees it. */
static char *
describe_root(const struct assign *a, uint32_t e)
{
    uint32_t j = a->s.junction[e];
    const flat_junction *fj = &a->f->junction.at[j];

    if (e < a->s.nport) {
        const flat_element *el = causality_element_of(a, e);
        const char *what = el->type == EL_SE || el->type == EL_SF ? "source"
                           : el->type == EL_C || el->type == EL_I ? "storage"
                                                                  : "element";
        bool open = port_is_resistive(a->f, e), effort = el->type == EL_SE && !open ? true
                                                         : el->type == EL_SF && !open
                                                             ? false
                                                             : (fj->type == 0) == (a->s.at[e] == ST_STRONG);

        return bg_format("%s \"%s\" gives %s to \"%s\"", what, el->name, effort ? "effort" : "flow", fj->name);
    }
    return bg_format("nothing else is joined to \"%s\"", fj->name);
}

static span
root_span(const struct assign *a, uint32_t e)
{
    return e < a->s.nport ? element_at(causality_element_of(a, e)) : a->f->junction.at[a->s.junction[e]].at;
}

/* Lists the bonds and two-ports from one root to the other as notes; both ends of a bond count once. */
static void
note_path(const struct assign *a, const stroke_path *path)
{
    sources *src = a->f->sources;
    size_t shown = 0, hidden = 0;
    uint32_t last = END_NONE;

    for (size_t i = 0; i < path->end.n; i++) {
        uint32_t e = path->end.at[i], id = e < a->s.nport ? e : a->s.nport + (e - a->s.nport) / 2;
        const char *name = bond_name(a, e);
        const char *here = a->f->junction.at[a->s.junction[e]].name;

        if (id == last || a->s.partner[e] == END_NONE)
            continue;
        last = id;
        if (shown == PATH_NOTES) {
            hidden++;
            continue;
        }
        shown++;
        if (e < a->s.nport)
            diag_note(src, place_of(a, e), "through \"%s\" at \"%s\"", causality_element_of(a, e)->name, here);
        else
            diag_note(src, place_of(a, e), "through %s%s%s between \"%s\" and \"%s\"", name ? "bond \"" : "the bond",
                      name ? name : "", name ? "\"" : "", here, a->f->junction.at[a->s.junction[a->s.partner[e]]].name);
    }
    if (hidden)
        diag_note(src, SPAN_NONE, "and %zu more bonds between them", hidden);
}

void
causality_report_conflict(struct assign *a)
{
    sources *src = a->f->sources;
    const stroke_conflict c = a->s.conflict;
    const flat_junction *fj = &a->f->junction.at[c.junction];
    bool twice = c.e != END_NONE && a->s.strong[c.junction] != END_NONE;
    stroke_path path = { 0 };
    uint32_t root[2];

    strokes_explain(&a->s, NO_INDEX, root, &path);
    if (root[0] == END_NONE) {
        diag_error(src, "causality-conflict", fj->at, "nothing determines the %s of \"%s\"",
                   causality_common_name(a, c.junction), fj->name);
    } else if (root[1] == END_NONE) {
        char *what = describe_root(a, root[0]);

        diag_error(src, "causality-conflict", root_span(a, root[0]), "%s, which is impossible: %s the %s of \"%s\"",
                   what, twice ? "something else determines" : "nothing is left to determine",
                   causality_common_name(a, c.junction), fj->name);
        diag_note(src, fj->at, "\"%s\" is here", fj->name);
        free(what);
        note_path(a, &path);
    } else {
        const char *name[2];
        char *what[2];

        for (int i = 0; i < 2; i++) {
            name[i] = root[i] < a->s.nport ? causality_element_of(a, root[i])->name
                                           : a->f->junction.at[a->s.junction[root[i]]].name;
            what[i] = describe_root(a, root[i]);
        }
        diag_error(src, "causality-conflict", root_span(a, root[0]),
                   "\"%s\" and \"%s\" contradict each other: %s the %s of \"%s\"", name[0], name[1],
                   twice ? "both determine" : "with both given nothing is left to determine",
                   causality_common_name(a, c.junction), fj->name);
        diag_note(src, root_span(a, root[0]), "%s", what[0]);
        diag_note(src, root_span(a, root[1]), "%s", what[1]);
        note_path(a, &path);
        diag_help(src, "Put a resistor or a storage between the two, or leave one of them out.");
        free(what[0]);
        free(what[1]);
    }
    vec_free(&path.end);
}

/* ---------------------------------------------------------------- cycles of bonds of one kind */

static uint32_t
set_root(uint32_t *up, uint32_t j)
{
    while (up[j] != j)
        j = up[j] = up[up[j]];
    return j;
}

/* Reports the bonds of one kind between the ends of bond `closing`, breadth-first over the forest of those in
 * `tree`. */
static void
report_cycle(struct assign *a, uint32_t closing, const bool *tree)
{
    const flat_model *f = a->f;
    const strokes *s = &a->s;
    const flat_bond *b = &f->bond.at[closing];
    uint32_t *came = bg_malloc(s->njunction * sizeof *came);
    VEC(uint32_t) queue = { 0 };
    size_t notes = 0;

    memset(came, 0xff, s->njunction * sizeof *came);
    vec_push(&queue, b->from);
    for (size_t i = 0; i < queue.n && b->from != b->to && came[b->to] == END_NONE; i++) {
        uint32_t j = queue.at[i];

        for (uint32_t k = s->row[j]; k < s->row[j + 1]; k++) {
            uint32_t e = s->adjacent[k], other;

            if (e < s->nport || !tree[(e - s->nport) / 2])
                continue;
            other = s->junction[s->partner[e]];
            if (other == b->from || came[other] != END_NONE)
                continue;
            came[other] = s->partner[e];
            vec_push(&queue, other);
        }
    }
    diag_error(f->sources, "causality-cycle", b->at,
               "bonds between %c-junctions close a cycle through \"%s\": the %s that circulates in it is undetermined",
               f->junction.at[b->from].type ? '1' : '0', f->junction.at[b->from].name,
               f->junction.at[b->from].type ? "effort" : "flow");
    for (uint32_t j = b->to; j != b->from && came[j] != END_NONE; j = s->junction[s->partner[came[j]]]) {
        if (notes++ < PATH_NOTES)
            diag_note(f->sources, place_of(a, came[j]), "the cycle goes on from \"%s\" to \"%s\"",
                      f->junction.at[j].name, f->junction.at[s->junction[s->partner[came[j]]]].name);
    }
    if (notes > PATH_NOTES)
        diag_note(f->sources, SPAN_NONE, "and through %zu more bonds", notes - PATH_NOTES);
    diag_help(f->sources, "Delete one bond of the cycle: its relation follows from the others.");
    vec_free(&queue);
    free(came);
}

bool
causality_check_cycles(struct assign *a)
{
    const flat_model *f = a->f;
    uint32_t *up = bg_malloc(a->s.njunction * sizeof *up);
    bool *tree = bg_calloc(f->bond.n, sizeof *tree), ok = true;
    VEC(uint32_t) closing = { 0 };

    for (uint32_t j = 0; j < a->s.njunction; j++)
        up[j] = j;
    for (uint32_t b = 0; b < f->bond.n; b++) {
        uint32_t from = f->bond.at[b].from, to = f->bond.at[b].to, x, y;

        if (f->junction.at[from].type != f->junction.at[to].type)
            continue;
        x = set_root(up, from);
        y = set_root(up, to);
        if (x == y) {
            vec_push(&closing, b);
            continue;
        }
        up[x] = y;
        tree[b] = true;
    }
    for (size_t i = 0; i < closing.n && i < SOURCES_MAX_ERRORS; i++)
        report_cycle(a, closing.at[i], tree);
    ok = closing.n == 0;
    vec_free(&closing);
    free(tree);
    free(up);
    return ok;
}

bool
causality_check_lonely(struct assign *a)
{
    bool ok = true;

    for (uint32_t j = 0; j < a->s.njunction; j++)
        if (a->s.row[j] == a->s.row[j + 1]) {
            diag_error(a->f->sources, "causality-singular", a->f->junction.at[j].at,
                       "nothing determines the %s of \"%s\": nothing is joined to it", causality_common_name(a, j),
                       a->f->junction.at[j].name);
            diag_help(a->f->sources, "Join it to something, or take it out.");
            ok = false;
        }
    return ok;
}

static void
print_relation(const struct assign *a, const ranked_terms *row, strbuf *out)
{
    uint32_t scale = gf_inv(row->at[row->n - 1].coef);
    size_t n = 0;
    int num, den, factors = 0;

    /* in order of declaration: terms are stored by descending rank */
    for (size_t i = row->n; i-- > 0 && n < TERMS_PRINTED; n++) {
        uint32_t of = row->at[i].of;
        bool small = causality_small_number(gf_mul(row->at[i].coef, scale), &num, &den);

        strbuf_puts(out, small && num < 0 ? (n ? " - " : "-") : n ? " + " : "");
        if (!small)
            strbuf_printf(out, "a%d*", ++factors);
        else if (abs(num) != 1 || den != 1)
            strbuf_printf(out, den != 1 ? "%d/%d*" : "%d*", abs(num), den);
        if (of >= a->s.nport)
            strbuf_printf(out, "%s(%s)", causality_common_name(a, of - a->s.nport),
                          a->f->junction.at[of - a->s.nport].name);
        else
            strbuf_printf(out, causality_is_dependent(a, of) ? "d/dt %s(%s)" : "%s(%s)",
                          (causality_is_storage(a, of) ? !port_has_momentum(a->f, of)
                                                       : causality_element_of(a, of)->type == EL_SE)
                              ? "effort"
                              : "flow",
                          port_name(a->f, of));
    }
    if (row->n > n)
        strbuf_printf(out, " + ... (%zu more)", row->n - n);
    strbuf_puts(out, " = 0");
    if (factors)
        strbuf_printf(out, ", where %s ratio%s of two-ports",
                      factors == 1 ? "a1 is made of the" : "a1, ... are made of the", "s");
}

void
causality_report_relation(struct assign *a, const ranked_terms *row)
{
    sources *src = a->f->sources;
    strbuf text = { 0 };
    size_t shown = 0;

    print_relation(a, row, &text);
    if (row->n == 1)
        diag_error(src, "causality-singular", element_at(causality_element_of(a, row->at[0].of)),
                   "\"%s\" is given, but the bonds around it require %s", causality_element_of(a, row->at[0].of)->name,
                   text.at);
    else
        diag_error(src, "causality-singular", element_at(causality_element_of(a, row->at[row->n - 1].of)),
                   "the bonds require %s, but all of these are given", text.at);
    for (size_t i = row->n - 1; i-- > 0 && shown < PATH_NOTES; shown++)
        diag_note(src, element_at(causality_element_of(a, row->at[i].of)), "\"%s\" is in it",
                  causality_element_of(a, row->at[i].of)->name);
    if (row->n - 1 > shown)
        diag_note(src, SPAN_NONE, "and %zu more elements are involved", row->n - 1 - shown);
    diag_help(src, "Put a resistor or a storage into the loop, or leave one of the sources out.");
    strbuf_free(&text);
}

void
causality_report_undetermined(struct assign *a, const relation *r)
{
    const flat_model *f = a->f;
    size_t n = r->njunction;

    if (!n) {
        diag_error(f->sources, "causality-singular", SPAN_NONE,
                   "transformers or gyrators close a cycle in which an effort or a flow is undetermined");
        return;
    }
    for (size_t i = 0; i < n && i < PATH_NOTES; i++) {
        uint32_t j = a->found.junction.at[r->junction0 + i];
        const flat_junction *fj = &f->junction.at[j];

        if (!i)
            diag_error(f->sources, "causality-singular", fj->at, "nothing determines the %s of \"%s\"%s",
                       causality_common_name(a, j), fj->name,
                       n > 1 ? ": it can change together with the following ones without any effect on an element"
                             : "");
        else
            diag_note(f->sources, fj->at, "the %s of \"%s\" with it", causality_common_name(a, j), fj->name);
    }
    if (n > PATH_NOTES)
        diag_note(f->sources, SPAN_NONE, "and %zu more junctions", n - PATH_NOTES);
}

void
causality_report_dependent(struct assign *a, const causal *c)
{
    sources *src = a->f->sources;
    uint32_t *origin;

    if (!c->dependent.n)
        return;
    /* makes the same decisions again, to explain why these few storage elements were refused */
    for (size_t i = 0; i < c->dependent.n && i < DEPENDENT_NOTES; i++)
        a->asked[c->dependent.at[i]] = true;
    causality_run(a, false, FINAL);
    origin = strokes_origins(&a->s);
    for (size_t i = 0; i < c->dependent.n && i < DEPENDENT_NOTES; i++) {
        uint32_t p = c->dependent.at[i], by = a->set_by[p];
        const flat_element *el = causality_element_of(a, p);
        uint32_t j = a->f->port.at[p].junction;
        const char *cause = port_has_momentum(a->f, p) ? flow_name(a->f, j) : effort_name(a->f, j);

        if (by == END_NONE)
            by = origin[p];
        diag_info(src, "causality-derivative", element_at(el), "storage element \"%s\" gets derivative causality",
                  port_name(a->f, p));
        if (by == END_NONE || by == p)
            continue;
        if (by < a->s.nport)
            diag_note(src, element_at(causality_element_of(a, by)), "its %s is already set by \"%s\"", cause,
                      causality_element_of(a, by)->name);
        else
            diag_note(src, root_span(a, by), "its %s is already set at \"%s\"", cause,
                      a->f->junction.at[a->s.junction[by]].name);
    }
    free(origin);
    if (c->dependent.n > DEPENDENT_NOTES)
        diag_info(src, "causality-derivative", SPAN_NONE, "%zu more storage elements get derivative causality",
                  c->dependent.n - DEPENDENT_NOTES);
}

void
causality_report_dividing(struct assign *a)
{
    uint32_t *origin = NULL;

    for (size_t i = 0; i < a->f->element.n; i++) {
        const flat_element *el = &a->f->element.at[i];
        uint32_t by, in = el->port0;

        while (causality_is_varying(a, i) && in < el->port0 + el->nports &&
               a->s.at[in] != (int8_t)opposite(causality_multiplying(a, el, in)))
            in += 2;
        if (!causality_is_varying(a, i) || in >= el->port0 + el->nports)
            continue;
        if (!origin)
            origin = strokes_origins(&a->s);
        by = origin[in];
        diag_info(a->f->sources, "causality-divides", element_at(el),
                  "\"%s\" divides by its modulus, which varies: where it is zero, the run stops", el->name);
        if (by != END_NONE && by < a->s.nport && causality_element_of(a, by) != el)
            diag_note(a->f->sources, element_at(causality_element_of(a, by)), "\"%s\" leaves no other causality",
                      causality_element_of(a, by)->name);
    }
    free(origin);
}

static char
mark(int8_t v)
{
    return v == ST_STRONG ? '+' : v == ST_WEAK ? '-' : '?';
}

void
causal_dump(const flat_model *f, const causal *c, FILE *out)
{
    fprintf(out, "ports (+ strong at the junction, - weak, ? open)\n");
    for (size_t p = 0; p < f->port.n; p++) {
        const flat_port *fp = &f->port.at[p];
        const flat_element *el = &f->element.at[fp->element];

        fprintf(out, "  %c %s:%s at %d:%s", mark(c->port[p]), element_type_name(el->type), el->name,
                f->junction.at[fp->junction].type, f->junction.at[fp->junction].name);
        if (el->type == EL_C || el->type == EL_I)
            fprintf(out, "%s", c->state[p] ? " state" : " dependent");
        if (c->port[p] == ST_OPEN)
            fprintf(out, " drawn %c", mark(c->drawn[p]));
        fputc('\n', out);
    }
    fprintf(out, "bonds (strength at either end)\n");
    for (size_t b = 0; b < f->bond.n; b++) {
        const flat_junction *from = &f->junction.at[f->bond.at[b].from], *to = &f->junction.at[f->bond.at[b].to];

        fprintf(out, "  %d:%s %c -> %c %d:%s\n", from->type, from->name, mark(c->bond_from[b]), mark(c->bond_to[b]),
                to->type, to->name);
    }
    for (size_t i = 0; i < c->junction_state.n; i++) {
        const flat_junction *j = &f->junction.at[c->junction_state.at[i]];

        fprintf(out, "state junction %d:%s\n", j->type, j->name);
    }
    for (size_t k = 0; k + 1 < c->component.n; k++) {
        fprintf(out, "open");
        for (uint32_t i = c->component.at[k]; i < c->component.at[k + 1]; i++)
            fprintf(out, " %s", f->junction.at[c->open_junction.at[i]].name);
        fputc('\n', out);
    }
}
