/* cleanup.h - what dangles in a graph of parts when some are taken out, and goes too
 *
 * What a junction says without its last bonds: a 1-junction adds up efforts, a 0-junction flows, and no bond is zero of
 * these. So a dead end, a junction with one bond, passes that zero on. Where this leads to a junction that adds up the
 * same, the bond's absence says it too, and the dead end goes. Where it leads to one of the other kind, it holds that
 * one's common variable at zero, which only a junction at rest says, unless all else around that one adds up what is
 * zero: then again absence says it, and both go. A two-port goes with either of its bonds.
 *
 * Whoever has such a graph (the text as written, the flat model, `without`) fills in its parts and links; the rule is
 * here alone.
 *
 * cost     linear: each link is looked at a few times, once by each of its junctions while that waits to rest, and once
 *          where an element went from what it joins
 */
#ifndef BG_CLEANUP_H
#define BG_CLEANUP_H

#include "base.h"

enum cleanup_kind { CLEANUP_OTHER, CLEANUP_TWO_PORT, CLEANUP_JUNCTION };

typedef struct cleanup_part {
    uint32_t link0, nlinks; /* its links: cleanup.link[link0 ...) */
    uint8_t kind;           /* enum cleanup_kind */
    uint8_t least;          /* of what is no junction: with fewer links it goes */
    bool type;              /* of a junction: 1 or 0; of a two-port: it gyrates */
    bool fixed;             /* a junction that never goes by itself */
    bool held;              /* a junction that stays while it has a link */
    uint32_t sources;       /* that act on a junction beside its links: it does not rest */
    /* found by cleanup_run */
    bool gone;
    bool at_rest, looked; /* its effort (0) or flow (1) is zero; whether its first dead ends were looked for */
    uint32_t degree;      /* links still there, and sources */
    uint32_t passed;      /* its links before this do not keep it */
} cleanup_part;

/* to: the part at the other end, which has a link back; NONE: none. cut: it is not there, at either end. */
typedef struct cleanup_link {
    uint32_t to;
    bool cut;
} cleanup_link;

typedef struct cleanup {
    cleanup_part *part;
    size_t nparts;
    cleanup_link *link;
    VEC(uint32_t) work;
    VEC(uint32_t) bared; /* what lost an element */
} cleanup;

/* Parts and links are zero; fill them in. */
void cleanup_init(cleanup *c, size_t nparts, size_t nlinks);
void cleanup_free(cleanup *c);
/* Gives each part its row of links, by their numbers so far, and sets these to zero: they count again as links are put
 * in. */
void cleanup_rows(cleanup *c);
void cleanup_put(cleanup *c, uint32_t part, cleanup_link l);
/* Nothing is gone: parts have all links that are not cut. */
void cleanup_begin(cleanup *c);
/* Takes a part out. What it was linked to is looked at by cleanup_run. */
void cleanup_take(cleanup *c, uint32_t part);
/* What was taken out so far leaves nothing that dangles, or another sees to that. */
void cleanup_settle(cleanup *c);
/* The part lost something by other means. */
void cleanup_look(cleanup *c, uint32_t part);
/* Takes out what dangles, until nothing does. */
void cleanup_run(cleanup *c);

#endif
