/* json.c - writes JSON as it goes */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "json.h"
#include "quote.h"

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

/* Writes what must precede the next value. */
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

static void
put_quoted(FILE *out, const char *text)
{
    char *s = quoted(QUOTE_JSON, text);

    fputs(s, out);
    free(s);
}

void
json_key(json *j, const char *key)
{
    lead(j);
    put_quoted(j->out, key);
    fputc(':', j->out);
    j->after_key = true;
}

void
json_string(json *j, const char *s)
{
    lead(j);
    if (s)
        put_quoted(j->out, s);
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

void
json_key_number(json *j, const char *key, double x)
{
    json_key(j, key);
    json_number(j, x);
}

void
json_key_string(json *j, const char *key, const char *s)
{
    json_key(j, key);
    json_string(j, s);
}
