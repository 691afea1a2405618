/* strokes.h - causal strokes on a flat bond graph: implications, exact undo, reasons (used inside causality only)
 *
 * Everything that meets a junction is an *end*: port p is end p, bond b has the ends nport + 2b (from) and nport + 2b +
 * 1 (to). An end is strong if it determines the junction's common variable, else weak. The two ends of a bond or
 * two-port are partners:
 *   cross   both strong or both weak     0-1 bond, TF between a 0 and a 1, GY between two of a kind
 *   link    exactly one strong           0-0 and 1-1 bond, TF between two of a kind, GY between a 0 and a 1
 * Coefficients: a cross adds coef[e]*(common variable of the partner's junction) to the balance at e. A link has one
 * more variable y, adds coef[e]*y to the balance at either end, and implies coef[e]*common + coef[partner]*common' = 0,
 * since power is conserved. The rank check uses them as residues.
 */
#ifndef BG_STROKES_H
#define BG_STROKES_H

#include "causality.h"

#define END_NONE NONE

enum why {
    WHY_ROOT,    /* a source, a law, or a trial decision */
    WHY_PARTNER, /* the other end of the bond or two-port */
    WHY_STRONG,  /* another end at the junction is strong (`from`) */
    WHY_LAST     /* all others at the junction are weak */
};

/* How an implication failed: end `e` was to become strong (or weak) for some reason while `held` contradicts it. e ==
 * END_NONE: every end of `junction` is weak. */
typedef struct stroke_conflict {
    uint32_t junction, e, held, from;
    enum why why;
} stroke_conflict;

typedef struct strokes {
    const flat_model *f;
    uint32_t nport, nend, njunction;
    uint32_t *junction, *partner; /* [nend]; partner END_NONE: end of a one-port */
    bool *link;                   /* [nend] */
    uint32_t *row, *adjacent;     /* ends of junction j: adjacent[row[j] .. row[j+1]), in the order of flat.incidence */
    int8_t *sign;                 /* [nend] sign in the junction's balance */
    uint32_t *incidence;          /* [nend] index in flat.incidence */
    int8_t *at;                   /* [nend] enum strength */
    uint8_t *why;
    uint32_t *from;            /* [nend] */
    uint32_t *undecided, *mix; /* [njunction] number of open ends, and XOR of their ids */
    uint32_t *strong;          /* [njunction] end, END_NONE: none yet */
    bool *free_common;   /* [njunction] no end needs to be strong: its common variable is a state, or is tried as one */
    VEC(uint32_t) trail; /* decided ends; those from `head` on are still to be followed */
    size_t head;
    stroke_conflict conflict;
} strokes;

void strokes_init(strokes *s, const flat_model *f);
void strokes_free(strokes *s);
/* Removes all decisions and free_common. */
void strokes_reset(strokes *s);
/* Follows everything that is certain without any decision (a junction with a single end). False: a conflict. */
bool strokes_start(strokes *s);
/* Decides an end and follows the implications. False: see `conflict`; the decisions remain and have to be undone. */
bool strokes_decide(strokes *s, uint32_t e, enum strength v);
/* Like strokes_decide, but undone if it fails. */
bool strokes_try(strokes *s, uint32_t e, enum strength v);
void strokes_undo(strokes *s, size_t mark);
/* Makes the common variable of j a state: its open ends become weak. Undone if it fails. */
bool strokes_try_state(strokes *s, uint32_t j);

/* Strength of an end whose element gives effort (or flow) to its junction. */
static inline enum strength
strength_of(const strokes *s, uint32_t e, bool gives_effort)
{
    return (s->f->junction.at[s->junction[e]].type == 0) == gives_effort ? ST_STRONG : ST_WEAK;
}

static inline enum strength
opposite(enum strength v)
{
    return (enum strength) - (int)v;
}

/* The chains of reasons from a conflict back to the nearest decisions. */
typedef struct stroke_path {
    VEC(uint32_t) end;
} stroke_path;
/* Up to two nearest decisions (roots) behind the conflict, END_NONE if there is none, and the ends between them in
 * order: root[0] first, root[1] last. Visits at most `limit` ends. */
void strokes_explain(strokes *s, size_t limit, uint32_t root[2], stroke_path *path);
/* [nend] The nearest decision behind each end, END_NONE for open ends; free() it. */
uint32_t *strokes_origins(const strokes *s);
/* Calls visit(ctx, end) for every decision behind the conflict that is found among `limit` ends. */
void strokes_roots(strokes *s, void (*visit)(void *ctx, uint32_t end), void *ctx, size_t limit);

#endif
