/* cleanup.h - the rule for what dangles in a graph when parts are taken out, and is removed too
 *
 * A 1-junction sums efforts and a 0-junction flows; a junction with no other bonds states that this sum, the variable
 * of its last bond, is zero. So a dead end (a junction with one bond) passes that zero on. If this leads to a junction
 * that sums the same variable, leaving the bond out has the same effect, and the dead end is removed. If it leads to a
 * junction of the other kind, it holds that junction's common variable at zero, which must stay, unless everything else
 * around that junction sums a zero variable: then leaving the bond out has the same effect again, and both are removed.
 * A two-port is removed with either of its bonds.
 *
 * Each user of the rule (the text as written, the flat model, `without`) fills in its parts and links; the rule stands
 * here alone.
 *
 * cost     linear: each link is visited a few times, once by each of its junctions while that waits to be at rest, and
 *          once where an element was removed
 */
#ifndef BG_CLEANUP_H
#define BG_CLEANUP_H

#include "base.h"

enum cleanup_kind { CLEANUP_OTHER, CLEANUP_TWO_PORT, CLEANUP_JUNCTION };

typedef struct cleanup_part {
    uint32_t link0, nlinks; /* its links: cleanup.link[link0 ...) */
    uint8_t kind;           /* enum cleanup_kind */
    uint8_t least;          /* of other parts than junctions: with fewer links it is removed */
    bool type;              /* of a junction: 1 or 0; of a two-port: it is a gyrator */
    bool fixed;             /* a junction that clean-up never removes */
    bool held;              /* a junction that stays as long as it has a link */
    uint32_t sources;       /* number of sources at a junction besides its links: with one it is not at rest */
    /* results of cleanup_run */
    bool gone;
    bool at_rest, looked; /* its effort (0-junction) or flow (1-junction) is zero; its first dead ends were searched */
    uint32_t degree;      /* number of remaining links, and sources */
    uint32_t passed;      /* the links before this one do not keep it */
} cleanup_part;

/* to: the part at the other end, which has a link back; NONE: none. cut: removed at both ends. */
typedef struct cleanup_link {
    uint32_t to;
    bool cut;
} cleanup_link;

typedef struct cleanup {
    cleanup_part *part;
    size_t nparts;
    cleanup_link *link;
    VEC(uint32_t) work;
    VEC(uint32_t) bared; /* parts that lost an element */
} cleanup;

/* Makes parts and links filled with zeros; fill them in. */
void cleanup_init(cleanup *c, size_t nparts, size_t nlinks);
void cleanup_free(cleanup *c);
/* Gives each part its row of links, according to the numbers so far, and sets these to zero: they are counted again as
 * links are added. */
void cleanup_rows(cleanup *c);
void cleanup_put(cleanup *c, uint32_t part, cleanup_link l);
/* Starts with nothing removed: parts have all links that are not cut. */
void cleanup_begin(cleanup *c);
/* Removes a part. cleanup_run checks the parts to which it was linked. */
void cleanup_take(cleanup *c, uint32_t part);
/* Declares that what was removed so far leaves nothing dangling, or that the caller handles it. */
void cleanup_settle(cleanup *c);
/* Marks a part that lost something by other means. */
void cleanup_look(cleanup *c, uint32_t part);
/* Removes what dangles, until nothing does. */
void cleanup_run(cleanup *c);

#endif
