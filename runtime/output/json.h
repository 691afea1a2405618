/* json.h - writes JSON incrementally, so that long trajectories are never held as a tree
 *
 * Numbers have the fewest digits that read back equal; numbers that are not finite are null. Text is UTF-8; invalid
 * bytes become U+FFFD.
 */
#ifndef BG_JSON_H
#define BG_JSON_H

#include <stdio.h>
#include "base.h"

enum { JSON_DEPTH = 16 };
typedef struct json {
    FILE *out;
    int depth;
    bool some[JSON_DEPTH];
    bool after_key;
} json; /* { .out = file } */

void json_open(json *j, char bracket);  /* '{' or '[' */
void json_close(json *j, char bracket); /* '}' or ']'; the outermost ends the line */
void json_key(json *j, const char *key);
void json_string(json *j, const char *s); /* NULL: null */
void json_number(json *j, double x);
void json_key_number(json *j, const char *key, double x);
void json_key_string(json *j, const char *key, const char *s);
void json_count(json *j, uint64_t n);
void json_bool(json *j, bool b);

/* The fewest digits that read back equal. */
enum { NUMBER_SIZE = 32 };
const char *number_text(double x, char buffer[NUMBER_SIZE]);

#endif
