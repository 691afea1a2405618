/* chosen.c - see chosen.h */
#include "chosen.h"

#include <string.h>

#include "model_graph.h"

/* Length up to the next comma outside brackets. */
static size_t
item_length(const char *list)
{
    size_t n = 0;

    for (int depth = 0; list[n] && (depth > 0 || list[n] != ','); n++)
        depth += (list[n] == '[') - (list[n] == ']');
    return n;
}

bool
chosen_parameters(const bg_model *m, const char *list, chosen *c, char **why)
{
    size_t nvars = model_nvariables(m);

    memset(c, 0, sizeof *c);
    *why = NULL;
    for (var_id v = 0; v < nvars && !list; v++)
        if (model_variable(m, v).number) {
            vec_push(&c->by, v);
            vec_push(&c->name, model_variable(m, v).name);
        }
    while (list && *list) {
        size_t n = item_length(list);
        char *name = bg_format("%.*s", (int)n, list);
        var_id v = model_parameter(m, name);
        bool twice = false;

        for (size_t i = 0; i < c->by.n; i++)
            twice |= c->by.at[i] == v;
        if (v == VAR_NONE) {
            VEC(const char *) known = { 0 };
            char *instead;

            for (var_id k = 0; k < nvars; k++)
                if (model_variable(m, k).number)
                    vec_push(&known, model_variable(m, k).name);
            instead = names_instead(name, known.at, known.n);
            *why = bg_format("%s has no parameter \"%s\"%s", model_name(m), name, instead);
            free(instead);
            vec_free(&known);
        } else if (!model_variable(m, v).number) {
            *why = bg_format("\"%s\" is not given as a number: vary the parameters that it is computed from", name);
        } else if (twice) {
            *why = bg_format("\"%s\" is named twice", name);
        } else {
            vec_push(&c->by, v);
            vec_push(&c->name, model_variable(m, v).name);
        }
        free(name);
        if (*why)
            return false;
        list += n + (list[n] == ',');
    }
    if (c->by.n == 0) {
        *why = bg_format("%s has no parameters that are given as numbers", model_name(m));
        return false;
    }
    return true;
}

/* Does a reinit or a sample set the state? */
static bool
jumps(const bg_model *m, size_t state)
{
    for (size_t r = 0; r < model_nreinits(m); r++)
        if (model_reinit_state(m, r) == state && !model_reinit_remembers(m, r))
            return true;
    return false;
}

/* Parses "spring.q(0)" or "mass.p(+)", of n letters. */
static bool
choose_state(const bg_model *m, const char *text, size_t n, chosen *c, char **why)
{
    bool jump = text[n - 2] == '+';
    size_t state = NO_INDEX;
    VEC(const char *) known = { 0 };

    for (size_t i = 0; i < model_nstates(m); i++) {
        const char *name = model_state(m, i).name;

        if (jump && !jumps(m, i))
            continue;
        vec_push(&known, name);
        if (strlen(name) == n - 3 && !strncmp(name, text, n - 3))
            state = i;
    }
    if (state != NO_INDEX) {
        if (jump)
            vec_push(&c->jump, state);
        else
            vec_push(&c->initial, state);
    } else {
        char *name = bg_format("%.*s", (int)(n - 3), text);
        char *instead = names_instead(name, known.at, known.n);

        *why = bg_format("%s has no state \"%s\"%s%s", model_name(m), name, jump ? " that is set by events" : "",
                         instead);
        free(instead);
        free(name);
    }
    vec_free(&known);
    return state != NO_INDEX;
}

bool
chosen_everything(const bg_model *m, const char *list, bool initial, chosen *c, char **why)
{
    strbuf rest = { 0 };
    bool fine = true;

    memset(c, 0, sizeof *c);
    *why = NULL;
    for (size_t i = 0; i < model_nstates(m) && !list; i++) {
        if (initial && !model_state(m, i).holds)
            vec_push(&c->initial, i);
        if (jumps(m, i))
            vec_push(&c->jump, i);
    }
    for (const char *at = list; at && *at && fine;) {
        size_t n = item_length(at);

        if (n > 3 && (!strncmp(at + n - 3, "(0)", 3) || !strncmp(at + n - 3, "(+)", 3)))
            fine = choose_state(m, at, n, c, why);
        else
            strbuf_printf(&rest, "%s%.*s", rest.n ? "," : "", (int)n, at);
        at += n + (at[n] == ',');
    }
    if (fine && (rest.n || c->initial.n + c->jump.n == 0 || !list)) {
        chosen more;

        fine = chosen_parameters(m, rest.n ? rest.at : NULL, &more, why);
        if (!fine && !list && c->initial.n + c->jump.n) { /* none of them is a number */
            free(*why);
            *why = NULL;
            fine = true;
        }
        c->by.at = more.by.at, c->by.n = more.by.n, c->by.cap = more.by.cap;
        c->name.at = more.name.at, c->name.n = more.name.n, c->name.cap = more.name.cap;
    }
    strbuf_free(&rest);
    return fine;
}

void
chosen_free(chosen *c)
{
    vec_free(&c->initial);
    vec_free(&c->jump);
    vec_free(&c->by);
    vec_free(&c->name);
}

/* Does one of reads->read[from .. to) read v, through parameters and signals too? seen: [variables] results so far, 1:
 * no, 2: yes. */
static bool
reads_it(const model_reads *reads, uint32_t from, uint32_t to, var_id v, uint8_t *seen, int depth)
{
    for (uint32_t k = from; k < to; k++) {
        var_id w = reads->read[k];

        if (w == v)
            return true;
        if (!seen[w]) {
            seen[w] = 1;
            if (depth < 1000 && reads_it(reads, reads->of_variable[w], reads->of_variable[w + 1], v, seen, depth + 1))
                seen[w] = 2;
        }
        if (seen[w] == 2)
            return true;
    }
    return false;
}

void
chosen_readers(const bg_model *m, var_id v, bool *reads)
{
    const model_reads *r = model_reads_of(m);
    uint8_t *seen = bg_calloc(model_nvariables(m) + 1, 1);

    for (size_t e = 0; e < model_nelements(m); e++)
        reads[e] = reads_it(r, r->of_element[e], r->of_element[e + 1], v, seen, 0);
    free(seen);
}

bool
chosen_output_reads(const bg_model *m, size_t k, var_id v)
{
    const model_reads *r = model_reads_of(m);
    uint8_t *seen = bg_calloc(model_nvariables(m) + 1, 1);
    bool reads = reads_it(r, r->of_output[k], r->of_output[k + 1], v, seen, 0);

    free(seen);
    return reads;
}
