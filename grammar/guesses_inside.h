/* guesses_inside.h - declarations shared by the files guesses*.c; no other file includes it */
#ifndef BG_GUESSES_INSIDE_H
#define BG_GUESSES_INSIDE_H

#include "parse.h"

/* Parts of the statement that a suggestion may quote: its first word, the name after it, the text after `=`, in
 * parentheses, before `=`. */
struct pieces {
    const char *word, *name, *value, *argument, *left;
};

enum { MODEL_TEXT = 1, EXPERIMENT_TEXT = 2, FILE_TEXT = 4, ANY_TEXT = 7 };

/* ---- guesses.c ---- */
struct pieces guess_pieces(const struct parse *p);          /* of the current statement, up to the end of its line */
int guess_place(const struct parse *p);                     /* MODEL_TEXT, ... */
bool guess_is_word_in(const char *words, const char *word); /* words: with a blank before and after each */
/* One message for the whole line. {N}, {V}, {A}, {L}, {R} in help are replaced by parts of the statement. Returns
 * true. */
bool guess_say(struct parse *p, span at, const char *says, const char *help);

/* ---- guesses_statements.c: equations, circuits and declarations of other languages ---- */
bool guess_statement(struct parse *p, const struct expected *e);

/* ---- guesses_values.c: values of other languages ---- */
bool guess_value(struct parse *p, const struct expected *e);

#endif
