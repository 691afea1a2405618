/* guesses_inside.h - what the guesses*.c files share; nobody else includes it */
#ifndef BG_GUESSES_INSIDE_H
#define BG_GUESSES_INSIDE_H

#include "parse.h"

/* Pieces of the statement that a help may quote: its first word, the name behind it, what stands behind `=`, in
 * parentheses, before `=`. */
struct pieces {
    const char *word, *name, *value, *argument, *left;
};

enum { MODEL_TEXT = 1, EXPERIMENT_TEXT = 2, FILE_TEXT = 4, ANY_TEXT = 7 };

/* ---- guesses.c ---- */
struct pieces guess_pieces(const struct parse *p);          /* of the statement at hand, as far as its line goes */
int guess_place(const struct parse *p);                     /* MODEL_TEXT, ... */
bool guess_is_word_in(const char *words, const char *word); /* words: with a blank before and behind each */
/* One message for the whole line. {N}, {V}, {A}, {L}, {R} in help are pieces. Gives true. */
bool guess_say(struct parse *p, span at, const char *says, const char *help);

/* ---- guesses_statements.c: equations, circuits and declarations of other tools ---- */
bool guess_statement(struct parse *p, const struct expected *e);

/* ---- guesses_values.c: what stands in values elsewhere ---- */
bool guess_value(struct parse *p, const struct expected *e);

#endif
