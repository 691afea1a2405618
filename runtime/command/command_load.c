/* command_load.c - loads a file: reads it, chooses the experiment, applies settings of the command line, compiles */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "command_inside.h"

/* Parses `value` or `value[unit]`; *is_number: false if it is not a number, which is allowed. */
static int
read_set_number(const request *q, loaded *l, unit_system **units, struct elaborate_override *o, const char *from,
                const char **unit_written, bool *is_number)
{
    const char *why = NULL;
    const unit *u;
    size_t n;
    char *end;

    o->value = strtod(from, &end);
    *is_number = end > from && isfinite(o->value);
    while (*end == ' ')
        end++;
    if (!*is_number || !*end)
        return STATUS_DONE;
    n = strlen(end);
    *is_number = *end == '[' && strchr(end, ']') == end + n - 1;
    if (!*is_number)
        return STATUS_DONE;
    if (!*units && !(*units = units_new())) {
        complain("the database of units (udunits2) cannot be read");
        return STATUS_FILE;
    }
    *unit_written = arena_strndup(l->arena, end + 1, n - 2);
    u = unit_parse(*units, *unit_written, &why);
    if (!u)
        return command_wrong(q, "--set %s: in %s, %s", o->name, end, why ? why : "nothing is a unit");
    o->value = unit_scale(u) * o->value + unit_offset(u);
    return STATUS_DONE;
}

/* --set NAME=NUMBER, NAME=NUMBER[unit] or NAME=FORMULA */
static int
read_set(const request *q, loaded *l, unit_system **units, const char *text)
{
    const char *equal = strchr(text, '='), *from, *unit_written = NULL;
    struct elaborate_override o = { .written = text };
    bool is_number;
    size_t n;
    int status;

    if (!equal || equal == text)
        return command_wrong(q, "--set is NAME=VALUE, not \"%s\"", text);
    n = (size_t)(equal - text);
    while (n > 1 && text[n - 1] == ' ')
        n--;
    o.name = arena_strndup(l->arena, text, n);
    for (from = equal + 1; *from == ' ';)
        from++;
    if (!*from)
        return command_wrong(q, "--set %s: a number or a formula is missing behind the =", o.name);
    if ((status = read_set_number(q, l, units, &o, from, &unit_written, &is_number)) != STATUS_DONE)
        return status;
    if (!is_number) {
        char *let = arena_format(l->arena, "let %s", text);

        /* k(0) alone is no name of a `let`, and settings are found by o.name: blanks in place of (0) keep all places */
        o.written_at = sizeof "let " - 1;
        if (n > 3 && !strcmp(o.name + n - 3, "(0)"))
            memset(let + o.written_at + n - 3, ' ', 3);
        o.formula = let;
    }
    vec_push(&l->set, o);
    vec_push(&l->set_unit, unit_written);
    return STATUS_DONE;
}

/* --input NAME=FILE.csv or NAME=FILE.csv:COLUMN */
static int
read_input(const request *q, loaded *l, const char *text)
{
    const char *equal = strchr(text, '='), *colon = strrchr(text, ':'), *name, *path, *column;
    struct elaborate_override o = { .said = "--input", .written = text, .written_at = NONE };
    bool number;

    if (!equal || equal == text || !equal[1])
        return command_wrong(q, "--input is NAME=FILE.csv or NAME=FILE.csv:COLUMN, not \"%s\"", text);
    if (colon && (colon < equal || strchr(colon, '/') || !colon[1]))
        colon = NULL;
    name = arena_strndup(l->arena, text, (size_t)(equal - text));
    path = colon ? arena_strndup(l->arena, equal + 1, (size_t)(colon - equal - 1)) : equal + 1;
    column = colon ? colon + 1 : name;
    if (strpbrk(path, "\"\\\n") || strpbrk(column, "\"\\\n"))
        return command_wrong(q, "--input %s: the names of file and column have no quotes and backslashes", name);
    if (!reading_allow_file(path))
        return complain_file(path);
    number = strspn(column, "0123456789") == strlen(column);
    o.name = name;
    o.formula = arena_format(l->arena, "let %s = table(\"%s\", %s%s%s, time)", name, path, number ? "" : "\"", column,
                             number ? "" : "\"");
    vec_push(&l->set, o);
    vec_push(&l->set_unit, NULL);
    return STATUS_DONE;
}

static int
read_overrides(const request *q, loaded *l)
{
    unit_system *units = NULL;
    int status = STATUS_DONE;

    for (size_t i = 0; i < q->set.n && status == STATUS_DONE; i++)
        status = read_set(q, l, &units, q->set.at[i]);
    for (size_t i = 0; i < q->input.n && status == STATUS_DONE; i++)
        status = read_input(q, l, q->input.at[i]);
    units_free(units);
    return status;
}

/* Checks that a unit given with --set has the parameter's dimension. */
static int
check_override_units(const request *q, const loaded *l)
{
    const flat_model *f = l->c.flat;
    map wanted = { 0 };
    int status = STATUS_DONE;

    for (uint32_t i = 0; i < l->set.n; i++)
        if (l->set_unit.at[i])
            map_set(&wanted, bg_hash_bytes(l->set.at[i].name, strlen(l->set.at[i].name), 0), i);
    for (size_t k = 0; wanted.n && k < f->var.n && status == STATUS_DONE; k++) {
        const flat_var *v = &f->var.at[k];
        const unit *u;
        const char *why;
        uint32_t i;

        if (!var_name(f, k) || !var_unit(f, k) || (v->kind != VAR_PARAM && v->kind != VAR_SIGNAL))
            continue;
        if ((i = map_get(&wanted, bg_hash_bytes(var_name(f, k), strlen(var_name(f, k)), 0))) == MAP_NONE)
            continue;
        u = unit_parse(l->c.units, l->set_unit.at[i], &why);
        if (u && unit_dimension(u) != unit_dimension(var_unit(f, k)))
            status = command_wrong(q, "--set %s: [%s] does not fit, it is in [%s]", var_name(f, k), l->set_unit.at[i],
                                   unit_text(var_display(f, k) ? var_display(f, k) : var_unit(f, k)));
    }
    map_free(&wanted);
    return status;
}

static int
choose_experiment(const request *q, enum experiment_choice choice, loaded *l, const ast_file *file)
{
    const char *wanted = q->text[OPT_EXPERIMENT], *near;
    VEC(const char *) name = { 0 };
    strbuf list = { 0 };
    int status = STATUS_DONE;

    for (size_t i = 0; i < file->ndecls; i++)
        if (file->decl[i].kind == AST_DECL_EXPERIMENT)
            vec_push(&name, file->decl[i].experiment->name);
    for (size_t i = 0; i < name.n; i++)
        strbuf_printf(&list, "%s%s", i == 0 ? "" : i + 1 == name.n ? " and " : ", ", name.at[i]);
    if (wanted) {
        for (size_t i = 0; i < name.n && !l->experiment; i++)
            if (!strcmp(name.at[i], wanted))
                l->experiment = arena_strdup(l->arena, wanted);
        if (!l->experiment) {
            near = nearest_name(wanted, name.at, name.n);
            if (name.n == 0)
                complain("%s has no experiment \"%s\", and no other", l->path, wanted);
            else
                complain("%s has no experiment \"%s\"%s%s%s; it has %s", l->path, wanted, near ? " (did you mean " : "",
                         near ? near : "", near ? "?)" : "", list.at);
            status = STATUS_USAGE;
        }
    } else if (choice == EXPERIMENT_NEEDED && name.n == 0 && !(q->given & OPT(OPT_STOP))) {
        complain("%s has no experiment to run; one says at least when to stop: experiment NAME of MODEL { stop = 10 "
                 "[s]; }%s",
                 l->path, q->command->options & OPT(OPT_STOP) ? "; or give --stop 10" : "");
        status = STATUS_USAGE;
    } else if (choice == EXPERIMENT_NEEDED && name.n > 1) {
        complain("%s has several experiments, name one with -e: %s; for example bgc %s %s -e %s%s", l->path, list.at,
                 q->command->name, l->path, name.at[0],
                 q->command->options & OPT(OPT_ALL) ? ", or all of them together with --all" : "");
        status = STATUS_USAGE;
    } else if (name.n && choice != EXPERIMENT_NONE) {
        l->experiment = arena_strdup(l->arena, name.at[0]);
        for (size_t i = 1; i < name.n; i++)
            vec_push(&l->others, arena_strdup(l->arena, name.at[i]));
    }
    vec_free(&name);
    strbuf_free(&list);
    return status;
}

/* Reports results that cannot be written before the work is done; they are checked again when written. Folders are
 * checked by the command. */
static int
check_results(const request *q)
{
    const char *const path[] = { q->text[OPT_OUTPUT] ? q->text[OPT_OUTPUT] : "-", q->text[OPT_PLOT] };

    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        if (!path[i] || may_be_result(path[i]) || errno == EISDIR ||
            (errno == ENOENT && q->command->run == cmd_partition))
            continue;
        if (errno != FILE_IS_READ)
            return complain_file(path[i]);
        return command_wrong(q, "the result would replace \"%s\", which %s reads",
                             strcmp(path[i], "-") ? path[i] : "standard output", q->file.at[0]);
    }
    return STATUS_DONE;
}

/* Continues from the parsed file: chooses the experiment and compiles its model. */
static int
load_rest(const request *q, enum compile_stage upto, enum experiment_choice choice, loaded *l)
{
    compile_options o = { 0 };
    int status;

    if ((status = choose_experiment(q, choice, l, l->c.ast)) != STATUS_DONE || upto == STAGE_PARSE)
        return status;
    o.experiment = l->experiment;
    o.set = l->set.at;
    o.nset = l->set.n;
    o.open = q->open;
    o.ports = q->ports;
    o.expect = q->expect;
    o.names_apart = q->command->run == cmd_check;
    if (!compile_go_on(&l->c, upto, &o)) {
        status = status_of(l->c.sources);
        print_diagnostics(q, l->c.sources);
        return status;
    }
    if (refuse_events(q, l->c.flat)) {
        print_diagnostics(q, l->c.sources);
        return STATUS_MODEL;
    }
    status = check_override_units(q, l);
    return status == STATUS_DONE ? check_results(q) : status;
}

int
load_model(const request *q, const char *path, enum compile_stage upto, enum experiment_choice choice, loaded *l)
{
    int status;

    memset(l, 0, sizeof *l);
    l->arena = arena_new();
    l->path = !strcmp(path, "-") ? "<stdin>" : path;
    if ((status = read_overrides(q, l)) != STATUS_DONE)
        return status;
    if (!compile_path(&l->c, path, STAGE_PARSE, NULL)) {
        if (l->c.unreadable)
            return complain_file(path);
        print_diagnostics(q, l->c.sources);
        return STATUS_MODEL;
    }
    elaborate_note_named(l->c.sources, l->c.ast);
    l->length = source_length(l->c.sources, l->c.ast->file);
    l->text = source_text(l->c.sources, l->c.ast->file);
    return load_rest(q, upto, choice, l);
}

int
load_experiment(const request *q, const loaded *file, const char *experiment, enum compile_stage upto, loaded *l)
{
    request one = *q;
    int status;

    memset(l, 0, sizeof *l);
    one.text[OPT_EXPERIMENT] = experiment;
    l->arena = arena_new();
    l->path = file->path;
    if ((status = read_overrides(q, l)) != STATUS_DONE)
        return status;
    if (!compile_text(&l->c, l->path, file->text, file->length, STAGE_PARSE, NULL)) {
        print_diagnostics(q, l->c.sources);
        return STATUS_MODEL;
    }
    l->length = file->length;
    l->text = source_text(l->c.sources, l->c.ast->file);
    return load_rest(&one, upto, EXPERIMENT_NEEDED, l);
}

void
loaded_free(loaded *l)
{
    compile_shared_free(l->shared);
    compile_free(&l->c);
    vec_free(&l->set);
    vec_free(&l->set_unit);
    vec_free(&l->others);
    arena_free(l->arena);
    memset(l, 0, sizeof *l);
}
