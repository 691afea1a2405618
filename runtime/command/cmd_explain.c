/* cmd_explain.c - bgc explain: explains a message and how to correct its cause; prints the page of messages */
#include <string.h>

#include "command.h"
#include "report.h"

static const char *const page[] = {
#include "messages.inc"
};
enum { NLINES = sizeof page / sizeof *page };

static bool
is_code(const char *line)
{
    return !strncmp(line, "### ", 4);
}

/* The next line, from i on, with which a message begins. */
static size_t
next_code(size_t i)
{
    while (i < NLINES && !is_code(page[i]))
        i++;
    return i;
}

static size_t
find_code(const char *code)
{
    size_t n = strlen(code), i = next_code(0);

    while (i < NLINES && (strncmp(page[i] + 4, code, n) || page[i][4 + n] != '\n'))
        i = next_code(i + 1);
    return i;
}

/* The lines after a code, without blank lines before the next code. */
static char *
explanation(size_t at)
{
    strbuf b = { 0 };

    for (size_t i = at + 1; i < NLINES && page[i][0] != '#'; i++)
        strbuf_puts(&b, page[i]);
    while (b.n && b.at[b.n - 1] == '\n')
        b.at[--b.n] = '\0';
    if (!b.at)
        return bg_strdup("");
    memmove(b.at, b.at + strspn(b.at, "\n"), b.n - strspn(b.at, "\n") + 1);
    return b.at;
}

static char *
code_at(size_t at)
{
    return bg_format("%.*s", (int)strcspn(page[at] + 4, "\n"), page[at] + 4);
}

static void
list_codes(json *j)
{
    table t = { .columns = 2, .left = 2, .tail = true };

    for (size_t i = next_code(0); i < NLINES; i = next_code(i + 1)) {
        char *code = code_at(i), *text = explanation(i);

        if (j) {
            json_open(j, '{');
            json_key_string(j, "code", code);
            json_key_string(j, "text", text);
            json_close(j, '}');
        } else {
            const char *stop = strstr(text, ". ");

            while (stop && stop > text && stop[-1] == '.') /* an ellipsis ends no sentence */
                stop = strstr(stop + 1, ". ");
            table_put(&t, "%s", code);
            table_put(&t, "%.*s", stop ? (int)(stop - text) : (int)strcspn(text, "\n"), text);
        }
        free(code);
        free(text);
    }
    if (!j)
        table_print(&t, stdout, "");
}

static int
no_such_code(const char *code)
{
    VEC(const char *) list = { 0 };
    const char *near;

    for (size_t i = next_code(0); i < NLINES; i = next_code(i + 1))
        vec_push(&list, code_at(i));
    near = nearest_name(code, list.at, list.n);
    if (near)
        complain("no message has the code \"%s\"; did you mean \"%s\"?", code, near);
    else
        complain("no message has the code \"%s\"; `bgc explain` lists them", code);
    for (size_t i = 0; i < list.n; i++)
        free((char *)list.at[i]);
    vec_free(&list);
    return STATUS_USAGE;
}

int
cmd_explain(const request *q)
{
    json j = { .out = stdout };

    for (size_t i = 0; i < q->file.n; i++)
        if (find_code(q->file.at[i]) == NLINES)
            return no_such_code(q->file.at[i]);
    if (q->json)
        json_open(&j, '[');
    if (!q->file.n)
        list_codes(q->json ? &j : NULL);
    for (size_t i = 0; i < q->file.n; i++) {
        char *text = explanation(find_code(q->file.at[i]));

        if (q->json) {
            json_open(&j, '{');
            json_key_string(&j, "code", q->file.at[i]);
            json_key_string(&j, "text", text);
            json_close(&j, '}');
        } else {
            printf("%s%s\n  %s\n", i ? "\n" : "", q->file.at[i], text);
        }
        free(text);
    }
    if (q->json)
        json_close(&j, ']');
    return STATUS_DONE;
}
