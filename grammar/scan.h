/* scan.h - the tokens of a text, for programs that work on the text itself (formatter, editors)
 *
 * in       a text in sources; lexical errors are ignored
 * out      all tokens in order, including comments, without spaces
 */
#ifndef BG_SCAN_H
#define BG_SCAN_H

#include "source.h"

enum scan_kind {
    SCAN_NAME,
    SCAN_WORD,       /* reserved, except those of the next two kinds; `expect` and its `at` where they are keywords */
    SCAN_VALUE_WORD, /* time, pi */
    SCAN_CALL_WORD,  /* der, integral, table */
    SCAN_NUMBER,
    SCAN_STRING,
    SCAN_UNIT, /* with its brackets */
    SCAN_INDEX,
    SCAN_INDEX_END,
    SCAN_MATRIX,
    SCAN_MATRIX_END,
    SCAN_SIGN,   /* an operator or other punctuation */
    SCAN_COMMENT /* to the end of its line, without the newline */
};
typedef struct scan_token {
    enum scan_kind kind;
    span at;
} scan_token;
typedef struct scan_tokens {
    scan_token *at;
    size_t n, cap;
} scan_tokens;

void scan_text(const sources *s, uint32_t file, scan_tokens *out); /* vec_free(out) */
/* Is the word reserved, so that it cannot be a name? */
bool scan_reserved(const char *word, size_t n);

#endif
