/* docs.c - keeps a document true: `bg_docs [-w] BGC FILE.md ROOT`
 *
 * Fenced blocks of FILE.md are tried in a directory of their own that shows ROOT's files (by links), so nothing is left
 * behind:
 *
 *   ```bg                a whole file: `bgc check` must accept it without errors or warnings
 *   ```bg fragment       the inside of a model: the same, wrapped in `model doc { }`
 *   ```bg error CODE     a whole file that must be refused (exit 1), with CODE among the diagnostics
 *   ```console           lines that begin with `$ ` are run, what follows must be their output (standard output and
 *                        error together). `...` stands for any text within a line, and alone on a line for any number
 *                        of lines.
 *
 * Commands of a console block are bgc and the few programs in `allowed`; there is no shell. Files written by one block
 * are there for the next. With -w the console blocks that do not agree are rewritten with what came out.
 */
#include "child.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const allowed[] = { "bgc", "diff", "cat", "head", "ls" };

struct doc {
    const char *file;
    char *bgc, *dir;
    bool write, changed;
    int failures, blocks;
    text out; /* the document as it should be */
};

static void
keep(struct doc *d, const char *s, size_t n)
{
    d->out.at = resize(d->out.at, d->out.n + n + 1);
    memcpy(d->out.at + d->out.n, s, n);
    d->out.n += n;
    d->out.at[d->out.n] = 0;
}

static void
check_block(struct doc *d, int line, const char *info, const char *body, size_t n)
{
    bool fragment = strcmp(info, "bg fragment") == 0;
    const char *code = strncmp(info, "bg error ", 9) == 0 ? info + 9 : NULL;
    char *path = format("%s/doc.bg", d->dir);
    char *whole = fragment ? format("model doc {\n%.*s}\n", (int)n, body) : format("%.*s", (int)n, body);
    char *argv[] = { d->bgc, "check", "doc.bg", NULL };
    child_result r;

    d->blocks++;
    if (!code && !fragment && strcmp(info, "bg") != 0) {
        printf("%s:%d: a block of kind `%s` is not known\n", d->file, line, info);
        d->failures++;
    } else if (!file_write(path, whole, strlen(whole)) || !child_run(argv, d->dir, 60, true, &r)) {
        d->failures++;
    } else {
        char *mark = code ? format("[%s]", code) : NULL;

        if (r.status != (code ? 1 : 0) || child_sanitizer(&r) || (mark && !strstr(r.out.at, mark)) ||
            (!code && (strstr(r.out.at, "error: ") || strstr(r.out.at, "warning: ")))) {
            printf("%s:%d: this block is not %s%s; bgc says (status %d%s):\n%s\n", d->file, line,
                   code ? "refused with " : "accepted", code ? code : "", r.status, r.why, r.out.at);
            d->failures++;
        }
        free(mark);
        child_free(&r);
    }
    unlink(path);
    free(path);
    free(whole);
}

/* Runs one command line and compares. What should stand in the document goes to d->out. */
static void
run_command(struct doc *d, int line, const char *command, size_t n, const char *want, size_t nwant)
{
    char *copy = format("%.*s", (int)n, command), *expected = format("%.*s", (int)nwant, want);
    int count;
    char **argv = words(copy, &count);
    bool fine = false;
    child_result r;

    d->blocks++;
    for (size_t i = 0; count && i < sizeof allowed / sizeof allowed[0]; i++)
        fine = fine || strcmp(argv[0], allowed[i]) == 0;
    if (!fine) {
        printf("%s:%d: `%s` is not among the commands a document may show\n", d->file, line, count ? argv[0] : "");
        d->failures++;
    } else {
        if (strcmp(argv[0], "bgc") == 0)
            argv[0] = d->bgc;
        if (!child_run(argv, d->dir, 120, true, &r) || r.status < 0 || child_sanitizer(&r)) {
            printf("%s:%d: `%.*s` %s\n%s", d->file, line, (int)n, command, r.why, r.out.at ? r.out.at : "");
            d->failures++;
        } else if (!lines_agree(expected, r.out.at)) {
            if (d->write) {
                d->changed = true;
                keep(d, r.out.at, r.out.n);
                if (r.out.n && r.out.at[r.out.n - 1] != '\n')
                    keep(d, "\n", 1);
                nwant = 0;
            } else {
                printf("%s:%d: the output of `%.*s` is not what the document shows\n", d->file, line, (int)n, command);
                show_difference("output", expected, r.out.at);
                d->failures++;
            }
        }
        child_free(&r);
    }
    keep(d, want, nwant);
    free(argv);
    free(copy);
    free(expected);
}

static void
console_block(struct doc *d, int line, const char *body, size_t n)
{
    const char *end = body + n;

    while (body < end) {
        size_t k = strcspn(body, "\n");
        const char *output = body + k + 1, *stop = output;
        int lines = 1;

        keep(d, body, k + 1);
        if (strncmp(body, "$ ", 2) != 0) {
            printf("%s:%d: a console block begins with `$ `\n", d->file, line);
            d->failures++;
            keep(d, output, (size_t)(end - output));
            return;
        }
        while (stop < end && strncmp(stop, "$ ", 2) != 0) {
            stop += strcspn(stop, "\n") + 1;
            lines++;
        }
        run_command(d, line, body + 2, k - 2, output, (size_t)(stop - output));
        body = stop;
        line += lines;
    }
}

static void
read_document(struct doc *d, const char *s)
{
    for (int line = 1; *s; line++) {
        size_t n = strcspn(s, "\n");
        size_t whole = n + (s[n] == '\n');
        char *info;
        const char *body, *close;

        keep(d, s, whole);
        if (strncmp(s, "```", 3) != 0) {
            s += whole;
            continue;
        }
        info = format("%.*s", (int)(n - 3), s + 3);
        body = s + whole;
        close = strncmp(body, "```", 3) == 0 ? body : strstr(body, "\n```");
        if (!close) {
            printf("%s:%d: this block is not closed\n", d->file, line);
            d->failures++;
            free(info);
            keep(d, body, strlen(body));
            return;
        }
        close += close != body || *close == '\n';
        if (strcmp(info, "console") == 0) {
            console_block(d, line + 1, body, (size_t)(close - body));
        } else {
            if (strncmp(info, "bg", 2) == 0)
                check_block(d, line + 1, info, body, (size_t)(close - body));
            keep(d, body, (size_t)(close - body));
        }
        for (const char *p = s; p < close; p++)
            line += *p == '\n';
        n = strcspn(close, "\n");
        keep(d, close, n + (close[n] == '\n'));
        s = close + n + (close[n] == '\n');
        free(info);
    }
}

/* Shows root's files in the working directory. */
static void
link_root(const char *root, const char *dir)
{
    DIR *d = opendir(root);
    struct dirent *e;

    if (!d) {
        perror(root);
        exit(2);
    }
    while ((e = readdir(d)) != NULL) {
        char *from, *to;

        if (e->d_name[0] == '.')
            continue;
        from = format("%s/%s", root, e->d_name);
        to = format("%s/%s", dir, e->d_name);
        if (symlink(from, to) != 0)
            perror(to);
        free(from);
        free(to);
    }
    closedir(d);
}

int
main(int argc, char **argv)
{
    bool write = argc > 1 && strcmp(argv[1], "-w") == 0;
    struct doc d = { .write = write };
    char *root;
    text t;

    if (argc != 4 + write) {
        fputs("usage: bg_docs [-w] BGC FILE.md ROOT\n", stderr);
        return 2;
    }
    d.file = argv[2 + write];
    d.bgc = realpath(argv[1 + write], NULL);
    root = realpath(argv[3 + write], NULL);
    if (!d.bgc || !root) {
        perror(d.bgc ? argv[3 + write] : argv[1 + write]);
        return 2;
    }
    if (!file_read(d.file, &t))
        return 2;
    d.dir = temp_directory();
    link_root(root, d.dir);
    read_document(&d, t.at);
    if (d.changed && !file_write(d.file, d.out.at, d.out.n))
        d.failures++;
    printf("%s: %d blocks, %d failures\n", d.file, d.blocks, d.failures);
    tree_remove(d.dir);
    free(d.dir);
    free(d.out.at);
    free(d.bgc);
    free(root);
    free(t.at);
    return d.failures ? 1 : 0;
}
