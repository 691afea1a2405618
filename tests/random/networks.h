/* networks.h - random networks of conductors between nodes of effort, against a plain Newton's method
 *
 * What the tests of such networks share: numbers drawn, the reference, the text, each text run and its outputs held
 * against the reference, the command line.
 *
 * laws     ten spellings: linear, signed roots and squares, cubes and their inverse, exponentials, one-way with a leak;
 *          all of them rise
 * source   efforts e of sum of f(e_i - e_j) = supply at the nodes, by Newton's method with a line search, roots made
 *          smooth by a d that falls to 1e-14 of the supply; closed networks: one effort for all, by halving
 * usage    test_NAME [-v] [first seed [how many]], or -t SEED for what must come out and the text alone
 * checks   efforts of all nodes at both points of the run: 1e-6 of the greatest
 * prints   seed, text and what differs for each failure; exit status 1 if there was one
 */
#ifndef BG_TEST_NETWORKS_H
#define BG_TEST_NETWORKS_H

#include "base.h"

enum { MAX_NODES = 24, MAX_EDGES = 40 };
enum law { SIGN_ROOT, POWER, BRANCHES, SQUARE, LINEAR, CUBE, CUBE_ROOT, SOFT, EXPONENTIAL, VALVE, LAWS };

struct edge {
    int from, to;
    enum law law;
    double k, inertia;
};
struct node {
    double store, stiffening, start; /* e = q/store + stiffening*q^3; store 0: none */
};
/* Node 0: the surroundings, at zero; in a closed network a store like the others. The pump, of effort, is node 1, else
 * it feeds node 1. */
struct network {
    int nodes, edges;
    struct edge edge[MAX_EDGES];
    struct node node[MAX_NODES];
    bool flow, closed;
    double pump;
    uint64_t rng;
};

void numbers_start(struct network *n, uint64_t seed);
double uniform(struct network *n, double lo, double hi);
int below(struct network *n, int k);

/* The network of a seed; *size: least one that its efforts are compared by; what its experiment says. */
typedef const char *network_maker(struct network *n, uint64_t seed, double *size);

int networks_main(int argc, char **argv, network_maker *make);

#endif
