/* strokes.h - causal strokes on a flat bond graph: implications, exact undo, reasons (inside causality only)
 *
 * Everything that meets a junction is an *end*: port p is end p, bond b has the ends nport + 2b (from) and nport + 2b +
 * 1 (to). An end is strong when it brings the junction's common variable, else weak. The two ends of a bond or two-port
 * are partners:
 *   cross   both strong or both weak     0-1 bond, TF between a 0 and a 1, GY between two of a kind
 *   link    exactly one strong           0-0 and 1-1 bond, TF between two of a kind, GY between a 0 and a 1
 * Coefficients: a cross adds coef[e]*(common of the partner's junction) to the balance at e; a link has one more
 * variable y, adds coef[e]*y at either end and says coef[e]*common + coef[partner]*common' = 0: power is conserved. The
 * rank check has them as residues.
 */
#ifndef BG_STROKES_H
#define BG_STROKES_H

#include "causality.h"

#define END_NONE NONE

enum why {
    WHY_ROOT,    /* a source, a law, an attempt */
    WHY_PARTNER, /* the other end of the bond or two-port */
    WHY_STRONG,  /* another end at the junction is strong (`from`) */
    WHY_LAST     /* all others at the junction are weak */
};

/* How an implication failed: end `e` was to become strong (or weak) for a reason while `held` stands against it;
 * e == END_NONE: every end of `junction` is weak. */
typedef struct stroke_conflict {
    uint32_t junction, e, held, from;
    enum why why;
} stroke_conflict;

typedef struct strokes {
    const flat_model *f;
    uint32_t nport, nend, njunction;
    uint32_t *junction, *partner; /* [nend]; partner END_NONE: a one-port's */
    bool *link;                   /* [nend] */
    uint32_t *row, *adjacent;     /* ends of junction j: adjacent[row[j] .. row[j+1]), in the order of flat.incidence */
    int8_t *sign;                 /* [nend] in the junction's balance */
    uint32_t *incidence;          /* [nend] its position in flat.incidence */
    int8_t *at;                   /* [nend] enum strength */
    uint8_t *why;
    uint32_t *from;            /* [nend] */
    uint32_t *undecided, *mix; /* [njunction] number of open ends, XOR of their ids */
    uint32_t *strong;          /* [njunction] end, END_NONE: none yet */
    bool *
        free_common; /* [njunction] no end needs to be strong: its common variable is a state, or is looked at as one */
    VEC(uint32_t) trail; /* decided ends; what is behind `head` is still to be followed */
    size_t head;
    stroke_conflict conflict;
} strokes;

void strokes_init(strokes *s, const flat_model *f);
void strokes_free(strokes *s);
/* Forgets all decisions and free_common. */
void strokes_reset(strokes *s);
/* Follows what is certain without any decision (a junction with a single end). False: a conflict. */
bool strokes_start(strokes *s);
/* Decides an end and all that follows. False: `conflict` tells, and the state is as it was found: undo. */
bool strokes_decide(strokes *s, uint32_t e, enum strength v);
/* As strokes_decide, but undone where it fails. */
bool strokes_try(strokes *s, uint32_t e, enum strength v);
void strokes_undo(strokes *s, size_t mark);
/* Makes the common variable of j a state: its open ends become weak. Undone where it fails. */
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

/* The paths of reasons from a conflict back to the nearest decisions. */
typedef struct stroke_path {
    VEC(uint32_t) end;
} stroke_path;
/* Up to two nearest roots (ends) behind the conflict, END_NONE where there is none, and the ends between them in order:
 * root[0] first, root[1] last. Looks at `limit` ends at most. */
void strokes_explain(strokes *s, size_t limit, uint32_t root[2], stroke_path *path);
/* [nend] The decision nearest behind each end, END_NONE of one that is open; free() it. */
uint32_t *strokes_origins(const strokes *s);
/* Calls visit(ctx, end) for every decision behind the conflict that is found among `limit` ends. */
void strokes_roots(strokes *s, void (*visit)(void *ctx, uint32_t end), void *ctx, size_t limit);

#endif
