/* json.c - writes JSON as it goes */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "json.h"

const char *
number_text(double x, char buffer[NUMBER_SIZE])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, NUMBER_SIZE, "%.*g", digits, x);
        if (digits == 17 || strtod(buffer, NULL) == x)
            break;
    }
    return buffer;
}

/* What must stand before the next value. */
static void
lead(json *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->depth && j->some[j->depth - 1])
        fputc(',', j->out);
    if (j->depth)
        j->some[j->depth - 1] = true;
}

void
json_open(json *j, char bracket)
{
    lead(j);
    fputc(bracket, j->out);
    if (j->depth < JSON_DEPTH)
        j->some[j->depth] = false;
    j->depth++;
}

void
json_close(json *j, char bracket)
{
    fputc(bracket, j->out);
    if (--j->depth == 0)
        fputc('\n', j->out);
}

/* Length of the UTF-8 character at s; 0 if it is not one. */
static size_t
character(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static void
quoted(FILE *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    fputc('"', out);
    while (*s) {
        size_t n = character(s);

        if (n == 0) {
            fputs("\\ufffd", out);
            s++;
        } else if (n > 1) {
            fwrite(s, 1, n, out);
            s += n;
        } else {
            switch (*s) {
            case '"':  fputs("\\\"", out); break;
            case '\\': fputs("\\\\", out); break;
            case '\n': fputs("\\n", out); break;
            case '\t': fputs("\\t", out); break;
            default:
                if (*s < 0x20 || *s == 0x7f)
                    fprintf(out, "\\u%04x", *s);
                else
                    fputc(*s, out);
            }
            s++;
        }
    }
    fputc('"', out);
}

void
json_key(json *j, const char *key)
{
    lead(j);
    quoted(j->out, key);
    fputc(':', j->out);
    j->after_key = true;
}

void
json_string(json *j, const char *s)
{
    lead(j);
    if (s)
        quoted(j->out, s);
    else
        fputs("null", j->out);
}

void
json_number(json *j, double x)
{
    char buffer[NUMBER_SIZE];

    lead(j);
    fputs(isfinite(x) ? number_text(x, buffer) : "null", j->out);
}

void
json_count(json *j, uint64_t n)
{
    lead(j);
    fprintf(j->out, "%" PRIu64, n);
}

void
json_bool(json *j, bool b)
{
    lead(j);
    fputs(b ? "true" : "false", j->out);
}
