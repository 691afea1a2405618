/* circuits.h - random switched circuits: ideal diodes, switches at stated times, resistors, coils, capacitors, sources
 *
 * Chains, bridges, loops of capacitors, cutsets of coils; regular by construction (diodes and sources form no loop, no
 * node is left to diodes alone).
 */
#ifndef BG_CIRCUITS_H
#define BG_CIRCUITS_H

#include "base.h"

enum kind { RESISTOR, CAPACITOR, COIL, SOURCE, DIODE, SWITCH };
struct part {
    enum kind kind;
    int from, to;
    double value, omega, phase, at;
    bool flow;
}; /* nodes from 1; 0: ground; switch closes at `at` */

struct circuit {
    struct part part[64];
    int nparts, nnodes;
    uint64_t rng, form; /* form: how switches are told to close, 0 by time alone */
    strbuf text;
    bool named; /* values are parameters of the text */
};

void circuit_generate(struct circuit *c, uint64_t seed);
/* c->text, of a run that stops there. */
void circuit_write(struct circuit *c, bool named, double stop);
void circuit_free(struct circuit *c);

#endif
