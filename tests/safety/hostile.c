/* hostile.c - models whose every text is an attack: no program starts but gnuplot and dot, no file appears but the one
 * named
 *
 *   bg_hostile BGC STARTS.so
 *
 * The texts are what the language lets through: titles, labels, names of files, heads of tables, words of other
 * languages as names. All commands run on them, in an empty folder, with starts.c preloaded. What comes out is read
 * back: JSON by cJSON, CSV cell by cell, pictures for what a browser would run; what goes to a terminal must not steer
 * it.
 */
#include "../child.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Commands of shells, gnuplot, Graphviz, TeX, browsers and spreadsheets; escapes of terminals; broken text. Each would
 * leave a file `created_*`. */
static const char *const attack[] = { "`touch created_a`",
                                      "$(touch created_b)",
                                      "; touch created_c;",
                                      "| touch created_d",
                                      "& touch created_e &",
                                      "!touch created_f",
                                      "'; system('touch created_g'); print '",
                                      "'.system('touch created_h').'",
                                      "\\\"; system(\\\"touch created_i\\\") #",
                                      "' `touch created_j` '",
                                      "'' `touch created_k` ''",
                                      "\\\\",
                                      "\\\\' `touch created_l`",
                                      "\\n!touch created_m",
                                      "EOD",
                                      "@created",
                                      "#",
                                      "$run",
                                      "${IFS}",
                                      "%s%n%d%100000d",
                                      "{/Symbol a}",
                                      "^_~",
                                      "\\\\N\\\\G\\\\E\\\\L",
                                      "]]><script>alert(1)</script>",
                                      "<script>alert(2)</script>",
                                      "</svg><script>x</script>",
                                      "<img src=/etc/passwd>",
                                      "</font>>, URL=x, image=y",
                                      "\\\" onload=\\\"alert(3)",
                                      "&lt;b&gt;&#x41;",
                                      "\\\"]; } digraph x { a [label=\\\"",
                                      "=cmd|' /C calc'!A0",
                                      "+1+cmd",
                                      "-2+3",
                                      "@SUM(A1)",
                                      "\t=1",
                                      "=HYPERLINK(\\\"http://x\\\")",
                                      "\\\\input{/etc/passwd}",
                                      "^^5cinput",
                                      "$$#_{}",
                                      "\xc2\x9b"
                                      "31mred",
                                      "\xc2\x90q",
                                      "\xc2\x9d"
                                      "0;title",
                                      "\xe2\x80\xae"
                                      "desrever",
                                      "\xe2\x80\x8b",
                                      "\xef\xbb\xbf",
                                      "\xe2\x80\xa8"
                                      "line",
                                      "\xff\xfe\x80",
                                      "\xc3",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xc0\xaf",
                                      "\xf0\x9f\x92\xa3",
                                      "e\xcc\x81",
                                      "\xef\xbc\x9d"
                                      "1+1" };
enum { NATTACKS = sizeof attack / sizeof *attack, LONG = 20000 };

static char *bgc, *gnuplot, *dot, *starts, *dir, *log_file;
static int failures, runs;

static void
fail(const char *command, const char *what, const char *detail)
{
    printf("FAILED: `%s`: %s%s%s\n", command, what, detail ? ": " : "", detail ? detail : "");
    failures++;
}

/* ---------------------------------------------------------------- the models */

struct buffer {
    char *at;
    size_t n;
};

static void
put(struct buffer *b, const char *s)
{
    size_t n = strlen(s);

    b->at = resize(b->at, b->n + n + 1);
    memcpy(b->at + b->n, s, n + 1);
    b->n += n;
}

static void
put_free(struct buffer *b, char *s)
{
    put(b, s);
    free(s);
}

/* The attack as it stands in the text, without what the language takes away from it. */
static char *
plain(const char *s)
{
    char *out = allocate(strlen(s) + 1);
    size_t n = 0;

    for (; *s; s++) {
        if (*s == '\\' && (s[1] == '"' || s[1] == '\\'))
            s++;
        out[n++] = *s;
    }
    return out;
}

static bool
is_file_name(const char *s)
{
    return *s && !strchr(s, '/') && *s != '\t';
}

/* Tables with attacks as names and in their heads. */
static void
write_tables(void)
{
    for (int i = 0; i < NATTACKS; i++) {
        char *name = plain(attack[i]), *path = format("%s/%s.csv", dir, name);
        struct buffer b = { 0 };

        put(&b, "time,\"");
        for (const char *s = name; *s; s++)
            put_free(&b, *s == '"' ? format("\"\"") : format("%c", *s));
        put(&b, "\"\n0,1\n1,2\n");
        if (is_file_name(name) && !file_write(path, b.at, b.n))
            exit(2);
        free(name);
        free(path);
        free(b.at);
    }
}

static void
write_model(const char *name, bool smaller)
{
    struct buffer b = { 0 };
    char *path = format("%s/%s", dir, name);

    put(&b, "// \x1b[31m \x1b]0;title\x07 \x1b[2J `touch created_comment` $(touch created_comment)\nimport \"`touch "
            "created_import`.bg\";\nmodel digraph \"");
    for (int i = 0; i < NATTACKS; i++)
        put(&b, attack[i]);
    for (int i = 0; i < LONG; i++)
        put(&b, i % 7 ? "x" : "`'");
    put(&b, "\" {\n");
    for (int i = 0; i < NATTACKS; i++)
        put_free(&b, format("    parameter system%d = %d \"%s\";\n", i, i + 1, attack[i]));
    put(&b, "    0:node;\n    1:exit { f(0) = 1; }\n    exit -> I:graph = 1;\n    exit -> R:load = system0;\n    exit "
            "-> node as edge;\n"
            "    node -> R:shell = system1;\n    node -> C:quit = 1;\n    Se:exec = 1 -> exit;\n");
    if (!smaller)
        put(&b, "    exit -> R:strict = 1e-9;\n");
    for (int i = 0; i < NATTACKS; i++)
        put_free(&b, format("    output unset%d = exit.f + %d \"%s\";\n", i, i, attack[i]));
    put(&b, "}\nexperiment EOD of digraph {\n    stop = 1;\n    record -exit.f;\n    record exit.f // `touch "
            "created_c2` \x1b[31m\n        + graph.p;\n");
    for (int i = 0; i < NATTACKS; i++) {
        char *file = plain(attack[i]);

        if (is_file_name(file))
            put_free(&b, format("    record table(\"%s.csv\", \"%s\", time) + 0*exit.f;\n", attack[i], attack[i]));
        free(file);
    }
    put(&b, smaller ? "    observe unset0 within 1;\n\n\n}\n" : "    observe unset0 within 1;\n}\n");
    if (!file_write(path, b.at, b.n))
        exit(2);
    free(b.at);
    free(path);
}

/* A light oscillator on a heavy one: it falls into two partitions, which are written as files of their own. */
static void
write_apart(void)
{
    struct buffer b = { 0 };
    char *path = format("%s/apart.bg", dir);

    put(&b, "// `touch created_comment` \x1b[31m\nmodel system \"");
    for (int i = 0; i < NATTACKS; i++)
        put(&b, attack[i]);
    put(&b, "\" {\n    parameter exec = 0 \"`touch created_p`\";\n    1:quit -> I:graph = 100; quit -> C:load = "
            "1/4000; quit -> R:strict = 40;\n"
            "    Se:shell = 200*sin(6*time) + exec -> quit;\n    quit -> 0:node -> 1:edge -> I:digraph = 0.1; node -> "
            "1:print;\n"
            "    print -> C:set = 1/6; print -> R:EOD = 0.06;\n    output unset [mm] = integral(quit.f) \"=cmd|' /C "
            "calc'!A0\";\n"
            "    output plot [mm] = integral(edge.f) \"`touch created_o`\";\n}\nexperiment html of system { stop = 20; "
            "}\n");
    if (!file_write(path, b.at, b.n))
        exit(2);
    free(path);
    free(b.at);
}

/* Mistakes that quote the model in messages. */
static void
write_mistakes(void)
{
    struct buffer b = { 0 };
    char *path = format("%s/mistakes.bg", dir);

    put(&b, "model m {\n");
    for (int i = 0; i < NATTACKS; i++) {
        put_free(&b, format("    signal a%d = table(\"none %s.csv\", 2, time);\n", i, attack[i]));
        put_free(&b, format("    parameter p%d [%s] = 1;\n", i,
                            i % 2 ? "\xc2\x9b"
                                    "31m"
                                  : "`touch created_unit`"));
    }
    put(&b, "    1:v -> R:r = nothing;\n}\n");
    if (!file_write(path, b.at, b.n))
        exit(2);
    free(path);
    free(b.at);
}

static void
write_yaml(void)
{
    struct buffer b = { 0 };
    char *path = format("%s/names.yaml", dir);

    put(&b, "version: 0.2\nroot: \"`touch created_y`\"\nmodels:\n  \"`touch created_y`\":\n    components:\n");
    for (int i = 0; i < NATTACKS; i++) {
        char *name = plain(attack[i]);
        bool fine = true;

        for (const char *s = name; *s; s++)
            fine = fine && (unsigned char)*s < 0x80 && *s != '\'' && *s != ' ' && *s != '\t';
        if (fine)
            put_free(&b, format("      - '%s base/R 1'\n", name));
        free(name);
    }
    put(&b, "    netlist: []\n");
    if (!file_write(path, b.at, b.n))
        exit(2);
    free(path);
    free(b.at);
}

/* Names that a shell would run. No blanks: they stand on command lines here. */
#define DATA "`created_a`;$(touch${IFS}created_b).csv"
#define FORCES "`created_c`|$(touch${IFS}created_d).csv"
#define BAD_DATA "$(touch${IFS}created_e).csv"

/* What was measured: an output of the model; a force and what it moves, a mass of 2 kg on a spring and a damper; and
 * heads that are attacks. */
static void
write_data(void)
{
    struct buffer b = { 0 }, f = { 0 }, bad = { 0 };
    char *path = format("%s/" DATA, dir), *forces = format("%s/" FORCES, dir), *wrong = format("%s/" BAD_DATA, dir);
    double y = 0, v = 0, h = 0.02, u = 0;

    put(&b, "time,unset0\n");
    for (int i = 0; i <= 20; i++)
        put_free(&b, format("%g,%g\n", 0.05 * i, 1 / (1 + 0.05 * i)));
    put(&f, "time [s],u1 [N],y1 [m]\n");
    for (unsigned i = 0, random = 1; i < 400; i++) {
        double next = (double)((random = random * 1103515245 + 12345) >> 8 & 0xffff) / 65536 - 0.5,
               mean = (u + next) / 2;
        double rate = (mean - 0.5 * (v + 0) - 90 * (y + h / 2 * v)) / (2 + 0.25 * h + 90 * h * h / 4);

        put_free(&f, format("%.17g,%.17g,%.17g\n", h * i, u, y));
        y += h * (v + h / 2 * rate);
        v += h * rate;
        u = next;
    }
    put(&bad, "time");
    for (int i = 0; i < NATTACKS; i++) {
        char *name = plain(attack[i]);

        put(&bad, ",\"");
        for (const char *c = name; *c; c++)
            put_free(&bad, *c == '"' ? format("\"\"") : format("%c", *c));
        put(&bad, "\"");
        free(name);
    }
    put(&bad, "\n0");
    for (int i = 0; i < NATTACKS; i++)
        put_free(&bad, format(",%s", i % 2 ? "1" : "=1"));
    put(&bad, "\n");
    if (!file_write(path, b.at, b.n) || !file_write(forces, f.at, f.n) || !file_write(wrong, bad.at, bad.n))
        exit(2);
    free(path), free(forces), free(wrong);
    free(b.at), free(f.at), free(bad.at);
}

/* ---------------------------------------------------------------- what came out */

/* Nothing that a terminal obeys; line ends and tabs are fine. */
static const char *
steers(const char *s)
{
    for (const unsigned char *u = (const unsigned char *)s; *u; u++) {
        if ((*u < 0x20 && *u != '\n' && *u != '\t') || *u == 0x7f)
            return "a control character";
        if (*u == 0xc2 && u[1] >= 0x80 && u[1] < 0xa0)
            return "a C1 control character";
        if (*u == 0xe2 && u[1] == 0x80 && ((u[2] >= 0x8b && u[2] <= 0x8f) || (u[2] >= 0xa8 && u[2] <= 0xae)))
            return "a mark that turns the line around";
    }
    return NULL;
}

static bool
is_number(const char *s)
{
    char *end;

    strtod(s, &end);
    return *s && !*end;
}

/* Every cell of a head and of the rows: numbers, or text that is not computed. */
static void
look_at_csv(const char *command, const char *s)
{
    while (*s) {
        struct buffer cell = { 0 };
        bool inside = *s == '"';

        put(&cell, "");
        s += inside;
        while (*s && (inside ? *s != '"' || s[1] == '"' : *s != ',' && *s != '\n')) {
            put_free(&cell, format("%c", *s));
            s += inside && *s == '"' ? 2 : 1;
        }
        s += inside && *s == '"';
        if (*s && *s != ',' && *s != '\n')
            fail(command, "a cell goes on behind its quote", cell.at);
        if (!is_number(cell.at) && strchr("=+-@\t\r", *cell.at) && *cell.at)
            fail(command, "a spreadsheet computes the cell", cell.at);
        s += *s != 0;
        free(cell.at);
    }
}

static void
look_at_picture(const char *command, const char *path)
{
    static const char *const bad[] = { "<script", "<img", "<image", "<foreignObject", "<a ", "]]>" };
    text t;

    if (!file_read(path, &t)) {
        fail(command, "there is no picture", path);
        return;
    }
    if (!strncmp(t.at, "<?xml", 5)) {
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            if (strstr(t.at, bad[i]))
                fail(command, "the picture has", bad[i]);
        if (steers(t.at))
            fail(command, "the picture has", steers(t.at));
        for (char *tag = strchr(t.at, '<'); tag; tag = strchr(tag + 1, '<'))
            if (memmem(tag, strcspn(tag, ">"), "onload", 6))
                fail(command, "the picture has an attribute onload", NULL);
        if (!strstr(t.at, "</svg>"))
            fail(command, "the picture is cut off", NULL);
    }
    free(t.at);
}

/* Outside of comments and strings a script has numbers, brackets and plain names only. */
static void
look_at_script(const char *command, const char *s)
{
    for (bool begin = true; *s; s++) {
        if (*s == '%') {
            if (begin && s[1] == '{')
                fail(command, "a comment of many lines begins", s);
            s += strcspn(s, "\n");
        } else if (*s == '\'' || *s == '"') {
            char end = *s++;

            while (*s && *s != '\n' && (*s != end || s[1] == end))
                s += *s == end ? 2 : 1;
            if (*s != end)
                fail(command, "a string does not end in its line", NULL);
        } else if (!isalnum((unsigned char)*s) && !strchr(" \t\r\n[](){}.,:;=+-*/_", *s)) {
            fail(command, "the script has outside of strings", s);
            return;
        }
        begin = *s == '\n';
        if (!*s)
            return;
    }
}

/* Where PATH leads for this program, links followed; free() it. */
static char *
program(const char *name)
{
    const char *list = getenv("PATH");

    while (list && *list) {
        size_t n = strcspn(list, ":");
        char *path = format("%.*s/%s", (int)n, list, name),
             *real = access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;

        free(path);
        if (real)
            return real;
        list += n + (list[n] == ':');
    }
    printf("there is no %s\n", name);
    exit(2);
}

static void
look_at_starts(const char *command)
{
    text t;

    if (access(log_file, F_OK) != 0) {
        fail(command, "nothing was traced", NULL);
        return;
    }
    if (!file_read(log_file, &t))
        exit(2);
    for (char *s = strtok(t.at, "\n"); s; s = strtok(NULL, "\n")) {
        if (strcmp(s, bgc) && strcmp(s, gnuplot) && strcmp(s, dot))
            fail(command, "a program started", s);
    }
    free(t.at);
    unlink(log_file);
}

/* Names in the folder, in any order; their number. */
static size_t
count_files(const char *named, bool *there)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    size_t n = 0;

    *there = false;
    while (d && (e = readdir(d)) != NULL) {
        n++;
        if (named && !strcmp(e->d_name, named))
            *there = true;
        if (!strncmp(e->d_name, "created_", 8))
            fail("a model", "created the file", e->d_name);
    }
    closedir(d);
    return n;
}

enum kind { LINES, CSV, JSON, SOURCE };

/* A table as a file: cell by cell. A script for MATLAB: what the model says stands in its comments and strings, which
 * end where they should. */
static void
look_at_export(const char *command, const char *named)
{
    char *path = format("%s/%s", dir, named);
    text t;

    if (!file_read(path, &t))
        exit(2);
    if (steers(t.at))
        fail(command, "the file has", steers(t.at));
    if (strstr(named, ".csv"))
        look_at_csv(command, t.at);
    else
        look_at_script(command, t.at);
    free(t.at);
    free(path);
}

/* `bgc` with these arguments; named: the file that may appear. */
static void
try(const char *arguments, int status, enum kind kind, const char *named)
{
    char *copy = format("%s %s", bgc, arguments);
    int n;
    char **argv = words(copy, &n);
    bool before, after;
    size_t had = count_files(named, &before), has;
    child_result r;

    runs++;
    if (!child_run(argv, dir, 300, false, &r))
        exit(2);
    if (r.status != status)
        fail(arguments, format("ends with status %d %s", r.status, r.why), r.err.at);
    if (child_sanitizer(&r))
        fail(arguments, "a sanitizer reports", r.err.at);
    look_at_starts(arguments);
    has = count_files(named, &after);
    if (has != had + (after && !before))
        fail(arguments, "other files appeared", NULL);
    if (named && !after)
        fail(arguments, "there is no file", named);
    if (steers(r.err.at))
        fail(arguments, "standard error has", steers(r.err.at));
    if (kind != SOURCE && steers(r.out.at))
        fail(arguments, "standard output has", steers(r.out.at));
    if (kind == CSV)
        look_at_csv(arguments, r.out.at);
    if (kind == JSON) {
        cJSON *j = cJSON_Parse(r.out.at);

        if (!j)
            fail(arguments, "this is no JSON", NULL);
        cJSON_Delete(j);
    }
    if (named && (strstr(named, ".csv") || strstr(named, ".m")))
        look_at_export(arguments, named);
    if (named && (strstr(named, ".svg") || strstr(named, ".png") || strstr(named, ".pdf"))) {
        char *path = format("%s/%s", dir, named);

        look_at_picture(arguments, path);
        free(path);
    }
    child_free(&r);
    free(argv);
    free(copy);
}

/* The colours that the program itself uses, taken out. */
static void
without_colours(char *s)
{
    char *to = s;

    while (*s) {
        size_t n = s[0] == '\x1b' && s[1] == '[' ? 2 + strspn(s + 2, "0123456789;") : 0;

        if (n && s[n] == 'm')
            s += n + 1;
        else if (*s == '\r')
            s++;
        else
            *to++ = *s++;
    }
    *to = '\0';
}

/* The same on a terminal, where source texts and colours come out too. */
static void
try_on_terminal(const char *arguments)
{
    char *copy = format("%s %s", bgc, arguments), *shown = format("%s", ""), block[4096];
    int n, terminal = posix_openpt(O_RDWR | O_NOCTTY), status;
    char **argv = words(copy, &n);
    size_t length = 0;
    ssize_t got;
    pid_t child;

    runs++;
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) {
        perror("a terminal");
        exit(2);
    }
    child = fork();
    if (child == 0) {
        int end = open(ptsname(terminal), O_RDWR | O_NOCTTY);

        setenv("TERM", "xterm", 1);
        unsetenv("NO_COLOR");
        dup2(end, STDOUT_FILENO);
        dup2(end, STDERR_FILENO);
        close(terminal);
        if (chdir(dir) == 0)
            execv(argv[0], argv);
        _exit(127);
    }
    /* reading ends with an error when the last one on the other side has gone */
    for (bool gone = false; !gone;) {
        struct pollfd p = { terminal, POLLIN, 0 };

        if (poll(&p, 1, 100) > 0 && (got = read(terminal, block, sizeof block)) > 0) {
            shown = resize(shown, length + (size_t)got + 1);
            memcpy(shown + length, block, (size_t)got);
            length += (size_t)got;
            shown[length] = '\0';
        } else {
            gone = waitpid(child, &status, p.revents & POLLHUP ? 0 : WNOHANG) == child;
        }
    }
    if (!length || !WIFEXITED(status) || WEXITSTATUS(status) > 2)
        fail(arguments, "it shows nothing on a terminal", NULL);
    without_colours(shown);
    if (steers(shown))
        fail(arguments, "on a terminal there is", steers(shown));
    look_at_starts(arguments);
    close(terminal);
    free(shown);
    free(argv);
    free(copy);
}

int
main(int argc, char **argv)
{
    static const char part[] = "model part \"`touch created_part`\" { port 0:p; p -> R:r = 1; }\n";
    const char *sanitizer = getenv("ASAN_OPTIONS");
    char *path, *options;

    if (argc != 3) {
        fputs("usage: bg_hostile BGC STARTS.so\n", stderr);
        return 2;
    }
    bgc = realpath(argv[1], NULL);
    starts = realpath(argv[2], NULL);
    if (!bgc || !starts) {
        perror(bgc ? argv[2] : argv[1]);
        return 2;
    }
    gnuplot = program("gnuplot");
    dot = program("dot");
    dir = temp_directory();
    log_file = format("%s.starts", dir);
    write_tables();
    write_model("h.bg", false);
    write_model("h2.bg", true);
    write_apart();
    write_mistakes();
    write_yaml();
    write_data();
    path = format("%s/`touch created_import`.bg", dir);
    if (!file_write(path, part, strlen(part)))
        return 2;
    free(path);
    options = format("verify_asan_link_order=0%s%s", sanitizer ? ":" : "", sanitizer ? sanitizer : "");
    setenv("ASAN_OPTIONS", options, 1);
    free(options);
    setenv("BG_STARTS", log_file, 1);
    setenv("LD_PRELOAD", starts, 1);

    try("check h.bg", 0, LINES, NULL);
    try("check h.bg --json", 0, JSON, NULL);
    try("check h.bg --dump ast", 0, LINES, NULL);
    try("check h.bg --dump graph", 0, LINES, NULL);
    try("check h.bg --dump causality", 0, LINES, NULL);
    try("check h.bg --dump equations", 0, LINES, NULL);
    try("check h.bg --dump variables", 0, LINES, NULL);
    try("check h.bg --dump ir -o h.ll", 0, LINES, "h.ll");
    try("check h.bg --dump c -o h.c", 0, LINES, "h.c");
    try("check mistakes.bg", 1, LINES, NULL);
    try("check mistakes.bg --json", 1, JSON, NULL);
    try("run h.bg --plot p.svg", 0, LINES, "p.svg");
    try("run h.bg --plot p.png", 0, LINES, "p.png");
    try("run h.bg --plot p.pdf", 0, LINES, "p.pdf");
    try("run h.bg --points 11", 0, CSV, NULL);
    try("run h.bg --points 11 --states -v", 0, CSV, NULL);
    try("run h.bg --points 11 --json", 0, JSON, NULL);
    try("graph h.bg", 0, LINES, NULL);
    try("graph h.bg -o g.dot", 0, LINES, "g.dot");
    try("graph h.bg -o g.svg", 0, LINES, "g.svg");
    try("graph h.bg -o g.png", 0, LINES, "g.png");
    try("graph h.bg -o g.pdf", 0, LINES, "g.pdf");
    try("rank h.bg", 0, LINES, NULL);
    try("rank h.bg -m activity,rms,kl --json", 0, JSON, NULL);
    try("rank h.bg -m junction,relative-energy", 0, LINES, NULL);
    try("reduce h.bg --threshold 99% --dry-run", 0, SOURCE, NULL);
    try("reduce h.bg --threshold 99% -o r.bg", 0, LINES, "r.bg");
    try("reduce h.bg --threshold 99% -o r.bg --json", 0, JSON, "r.bg");
    try("partition h.bg", 0, LINES, NULL);
    try("partition h.bg --json", 0, JSON, NULL);
    try("partition apart.bg -o parts", 0, LINES, "parts");
    try("run parts", 0, LINES, NULL);
    try("run parts --json", 0, JSON, NULL);
    try("partition h.bg --over system0=1:2:3 --plot curves.svg", 0, LINES, "curves.svg");
    try("linearize h.bg", 0, LINES, NULL);
    try("linearize h.bg --json", 0, JSON, NULL);
    try("linearize h.bg --tf exec:unset0", 0, LINES, NULL);
    try("linearize h.bg --symbolic", 0, LINES, NULL);
    try("linearize h.bg --latex -o m.tex", 0, LINES, "m.tex");
    try("linearize h.bg --bode b.svg", 0, LINES, "b.svg");
    try("linearize h.bg --step s.svg", 0, LINES, "s.svg");
    try("linearize h.bg --poles p2.svg", 0, LINES, "p2.svg");
    try("linearize h.bg --effects f.svg", 0, LINES, "f.svg");
    try("linearize h.bg --bode b.pdf", 0, LINES, "b.pdf");
    try("linearize h.bg --export l.csv", 0, LINES, "l.csv");
    try("linearize h.bg --export l.m", 0, LINES, "l.m");
    try("linearize h.bg --export l.npz", 0, LINES, "l.npz");
    try("linearize h.bg --truncate 1 --against h2.bg", 0, LINES, NULL);
    try("linearize h.bg --truncate 1 --against h2.bg --json", 0, JSON, NULL);
    try("reduce h.bg --modes 1 --dry-run", 0, SOURCE, NULL);
    try("rank h.bg --verify", 0, LINES, NULL);
    try("sensitivity h.bg --parameters system0,system1 --points 11", 0, LINES, NULL);
    try("sensitivity h.bg --parameters system0,system1 --points 11 --json", 0, JSON, NULL);
    try("identify h.bg --parameters system0 --dry-run --data " DATA, 0, SOURCE, NULL);
    try("identify h.bg --parameters system0 --json --data " DATA, 0, JSON, NULL);
    try("identify h.bg --parameters system0 -o fitted.bg --data " DATA, 0, LINES, "fitted.bg");
    try("identify h.bg --parameters system0 --data " BAD_DATA, 2, LINES, NULL);
    try("identify --mdk --data " FORCES, 0, LINES, NULL);
    try("identify --mdk --json --data " FORCES, 0, JSON, NULL);
    try("identify --mdk --step 0.1 --data " BAD_DATA, 2, LINES, NULL);
    try("diff h.bg h2.bg -e EOD", 1, LINES, NULL);
    try("diff h.bg h2.bg --json", 1, JSON, NULL);
    try("fmt h.bg", 0, SOURCE, NULL);
    try("fmt --check h.bg", 0, LINES, NULL);
    try("fmt --check h2.bg", 1, LINES, NULL);
    try("fmt --in-place h2.bg", 0, LINES, "h2.bg");
    try("import names.yaml", 1, LINES, NULL);
    try_on_terminal("fmt h.bg");
    try_on_terminal("reduce h.bg --threshold 99% --dry-run");
    try_on_terminal("reduce h.bg --threshold 99%");
    try_on_terminal("check mistakes.bg");
    try_on_terminal("rank h.bg");
    try_on_terminal("diff h.bg h2.bg");
    try_on_terminal("linearize h.bg");
    try_on_terminal("linearize h.bg --latex");
    try_on_terminal("sensitivity h.bg --parameters system0 --points 11");
    try_on_terminal("identify h.bg --parameters system0 --dry-run --data " DATA);
    try_on_terminal("identify h.bg --data " BAD_DATA);
    try_on_terminal("partition h.bg");
    try_on_terminal("run h.bg --points 3");
    try_on_terminal("check h.bg --dump ast");
    printf("%d commands, %d failures\n", runs, failures);
    unlink(log_file);
    tree_remove(dir);
    free(dir);
    free(log_file);
    free(bgc);
    free(gnuplot);
    free(dot);
    free(starts);
    return failures != 0;
}
