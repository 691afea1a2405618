/* cmd_manual.c - bgc man, bgc completion: manual pages and shell completion, made from the tables of commands and
 * options */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"

/* ---------------------------------------------------------------- manual pages */

/* Escapes text for roff: no line is read as a request, no minus as a hyphen. */
static void
put_roff(strbuf *b, const char *text)
{
    for (const char *s = text; *s; s++) {
        bool first = s == text || s[-1] == '\n';

        if (first && (*s == '.' || *s == '\''))
            strbuf_puts(b, "\\&");
        if (*s == '\\')
            strbuf_puts(b, "\\e");
        else if (*s == '-')
            strbuf_puts(b, "\\-");
        else
            strbuf_add(b, s, 1);
    }
}

/* Paragraphs; indented lines are copied as they are. */
static void
put_lines(strbuf *b, const char *text)
{
    bool set_in = false;

    while (*text) {
        size_t n = strcspn(text, "\n");
        char *line = bg_format("%.*s\n", (int)n, text);

        if ((*text == ' ') != set_in) {
            set_in = *text == ' ';
            strbuf_puts(b, set_in ? ".nf\n" : ".fi\n");
        }
        put_roff(b, line);
        free(line);
        text += n + (text[n] == '\n');
    }
    if (set_in)
        strbuf_puts(b, ".fi\n");
}

static void
put_section_head(strbuf *b, const char *name, const char *what)
{
    strbuf_printf(b, ".TH \"%s\" 1 \"\" \"bgc " BGC_VERSION "\" \"Bond graphs as text\"\n.SH NAME\n", name);
    put_roff(b, name);
    strbuf_puts(b, " \\- ");
    put_roff(b, what);
    strbuf_puts(b, "\n.SH SYNOPSIS\n");
}

static const char exit_status[] = ".SH EXIT STATUS\n0 done, 1 the model has errors (of diff: the models differ), 2 "
                                  "wrong usage, 3 the computation failed, 4 a file could not be read or written, 5 "
                                  "not enough memory.\n";

/* bgc-COMMAND(1) */
static void
put_page(strbuf *b, const struct command *c)
{
    char *name = bg_format("bgc-%s", c->name), *what = bg_format("%.*s", (int)strcspn(c->what, ":.\n"), c->what);

    put_section_head(b, name, what);
    strbuf_puts(b, ".B bgc ");
    put_roff(b, c->name);
    strbuf_puts(b, "\n[options] ");
    put_roff(b, c->operands);
    strbuf_puts(b, "\n.SH DESCRIPTION\n");
    put_lines(b, c->what);
    strbuf_puts(b, ".SH OPTIONS\n");
    for (int i = 0; i < OPT_COUNT; i++) {
        const struct option_row row = option_row_of(c, (enum option)i), *o = &row;

        if (i != OPT_HELP && !(c->options & OPT(i)))
            continue;
        strbuf_puts(b, ".TP\n.B ");
        if (o->letter)
            strbuf_printf(b, "\\-%c, ", o->letter);
        strbuf_puts(b, "\\-\\-");
        put_roff(b, o->name);
        if (o->argument) {
            strbuf_puts(b, " \\fI");
            put_roff(b, o->argument);
            strbuf_puts(b, "\\fR");
        }
        strbuf_puts(b, "\n");
        put_roff(b, o->what);
        strbuf_puts(b, "\n");
    }
    strbuf_puts(b, ".SH EXAMPLES\n");
    put_lines(b, c->examples);
    strbuf_puts(b, exit_status);
    strbuf_puts(b, ".SH SEE ALSO\n.BR bgc (1)\n");
    free(name);
    free(what);
}

/* bgc(1) */
static void
put_overview(strbuf *b)
{
    const struct command *c;

    put_section_head(b, "bgc", "bond graphs kept as text: checks, runs, ranks and reduces them");
    strbuf_puts(b, ".B bgc\n.I COMMAND\n[options] FILE...\n.SH COMMANDS\n");
    for (size_t i = 0; (c = command_at(i)) != NULL; i++) {
        char *what = bg_format("%.*s", (int)strcspn(c->what, ":.\n"), c->what);

        strbuf_puts(b, ".TP\n.BR bgc\\-");
        put_roff(b, c->name);
        strbuf_puts(b, " (1)\n");
        put_roff(b, what);
        strbuf_puts(b, "\n");
        free(what);
    }
    strbuf_puts(b, exit_status);
}

static int
write_page(const char *folder, const char *name, const strbuf *b)
{
    char *path = folder ? bg_format("%s/%s.1", folder, name) : bg_strdup("-");
    int status = write_whole(path, b->at, b->n) ? STATUS_DONE : complain_file(path);

    free(path);
    return status;
}

static int
write_all(const char *folder)
{
    const struct command *c;
    strbuf b = { 0 };
    int status;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return complain_file(folder);
    put_overview(&b);
    status = write_page(folder, "bgc", &b);
    strbuf_free(&b);
    for (size_t i = 0; (c = command_at(i)) != NULL && status == STATUS_DONE; i++) {
        char *name = bg_format("bgc-%s", c->name);
        strbuf page = { 0 };

        put_page(&page, c);
        status = write_page(folder, name, &page);
        strbuf_free(&page);
        free(name);
    }
    return status;
}

int
cmd_man(const request *q)
{
    const struct command *c;
    strbuf b = { 0 };
    int status;

    if (q->text[OPT_OUTPUT])
        return write_all(q->text[OPT_OUTPUT]);
    if (!q->file.n) {
        put_overview(&b);
    } else if ((c = command_named(q->file.at[0])) != NULL) {
        put_page(&b, c);
    } else {
        return STATUS_USAGE;
    }
    status = write_page(NULL, NULL, &b);
    strbuf_free(&b);
    return status;
}

/* ---------------------------------------------------------------- completion */

static void
bash_completion(strbuf *b)
{
    const struct command *c;

    strbuf_puts(b, "# completion of bgc for bash, written by `bgc completion bash`\n_bgc() {\n"
                   "    local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
                   "    COMPREPLY=()\n"
                   "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; (c = command_at(i)) != NULL; i++)
        strbuf_printf(b, "%s%s", i ? " " : "", c->name);
    strbuf_puts(b, " --version\" -- \"$cur\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; (c = command_at(i)) != NULL; i++) {
        strbuf_printf(b, "    %s) words=\"", c->name);
        for (int o = 0; o < OPT_COUNT; o++)
            if (o == OPT_HELP || c->options & OPT(o))
                strbuf_printf(b, "%s--%s", o == OPT_HELP ? "" : " ", option_row_of(c, (enum option)o).name);
        strbuf_puts(b, "\" ;;\n");
    }
    strbuf_puts(
        b, "    esac\n"
           "    case $cur in\n"
           "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
           "    *)\n"
           "        case ${COMP_WORDS[1]} in\n"
           "        explain) COMPREPLY=($(compgen -W \"$(bgc explain 2>/dev/null | sed 's/ .*//')\" -- \"$cur\")) ;;\n"
           "        man) COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; (c = command_at(i)) != NULL; i++)
        strbuf_printf(b, "%s%s", i ? " " : "", c->name);
    strbuf_puts(b, "\" -- \"$cur\")) ;;\n"
                   "        completion) COMPREPLY=($(compgen -W \"bash zsh\" -- \"$cur\")) ;;\n"
                   "        *) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
                   "        esac\n"
                   "        ;;\n"
                   "    esac\n}\ncomplete -o filenames -F _bgc bgc\n");
}

/* Escapes text within '...[...]' of _arguments and 'name:...' of _describe. */
static void
put_zsh(strbuf *b, const char *text)
{
    for (const char *s = text; *s && *s != '\n'; s++) {
        if (*s == '\'')
            strbuf_puts(b, "'\\''");
        else if (strchr("[]:\\", *s))
            strbuf_printf(b, "\\%c", *s);
        else
            strbuf_add(b, s, 1);
    }
}

/* Completion of an option's argument: files, folders, or nothing. */
static const char *
zsh_argument(const char *argument)
{
    return strstr(argument, "DIR")    ? ":_files -/"
           : strstr(argument, "FILE") ? ":_files"
           : strstr(argument, "OUT")  ? ":_files"
                                      : ": ";
}

static void
zsh_completion(strbuf *b)
{
    const struct command *c;

    strbuf_puts(b, "#compdef bgc\n# completion of bgc for zsh, written by `bgc completion zsh`\n"
                   "local -a commands\ncommands=(\n");
    for (size_t i = 0; (c = command_at(i)) != NULL; i++) {
        char *what = bg_format("%.*s", (int)strcspn(c->what, ":.\n"), c->what);

        strbuf_printf(b, "    '%s:", c->name);
        put_zsh(b, what);
        strbuf_puts(b, "'\n");
        free(what);
    }
    strbuf_puts(b, ")\nif (( CURRENT == 2 )); then\n    _describe command commands\n    return\nfi\n"
                   "local command=$words[2]\nshift words\n(( CURRENT-- ))\ncase $command in\n");
    for (size_t i = 0; (c = command_at(i)) != NULL; i++) {
        strbuf_printf(b, "%s) _arguments \\\n", c->name);
        for (int k = 0; k < OPT_COUNT; k++) {
            const struct option_row row = option_row_of(c, (enum option)k), *o = &row;

            if (k != OPT_HELP && !(c->options & OPT(k)))
                continue;
            for (int shape = !o->letter; shape < 2; shape++) {
                strbuf_puts(b, "    '*");
                if (shape)
                    strbuf_printf(b, "--%s%s", o->name, o->argument ? "=" : "");
                else
                    strbuf_printf(b, "-%c%s", o->letter, o->argument ? "+" : "");
                strbuf_puts(b, "[");
                put_zsh(b, o->what);
                strbuf_puts(b, "]");
                if (o->argument) {
                    strbuf_puts(b, ":");
                    put_zsh(b, o->argument);
                    strbuf_puts(b, zsh_argument(o->argument));
                }
                strbuf_puts(b, "' \\\n");
            }
        }
        strbuf_puts(b, "    '*:file:_files' ;;\n");
    }
    strbuf_puts(b, "esac\n");
}

int
cmd_completion(const request *q)
{
    const char *to = q->text[OPT_OUTPUT] ? q->text[OPT_OUTPUT] : "-";
    strbuf b = { 0 };
    int status;

    if (!strcmp(q->file.at[0], "bash")) {
        bash_completion(&b);
    } else if (!strcmp(q->file.at[0], "zsh")) {
        zsh_completion(&b);
    } else {
        complain("there is completion for bash and zsh, not for \"%s\"", q->file.at[0]);
        return STATUS_USAGE;
    }
    status = write_whole(to, b.at, b.n) ? STATUS_DONE : complain_file(to);
    strbuf_free(&b);
    return status;
}
