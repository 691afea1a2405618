/* yaml.h - a parser for the part of YAML used in model files of other programs
 *
 * Block mappings and sequences, plain and quoted scalars, lists in brackets on one line, comments, document marks.
 * Anchors, tags, block scalars and flow mappings that are not empty are reported with their line.
 */
#ifndef BG_YAML_H
#define BG_YAML_H

#include "source.h"

enum yaml_kind { YAML_EMPTY, YAML_SCALAR, YAML_LIST, YAML_MAP };
typedef struct yaml {
    enum yaml_kind kind;
    span at;          /* its key, or its text */
    const char *key;  /* in a map, else NULL */
    const char *text; /* YAML_SCALAR */
    struct yaml *child, *last, *next, *parent;
    size_t n; /* children */
} yaml;

/* Parses text number `file` of s; NULL after errors. All in the arena. */
const yaml *yaml_read(sources *s, arena *a, uint32_t file);
const yaml *yaml_find(const yaml *in, const char *key); /* NULL: no such key, or `in` is not a map */

#endif
