/* test_hydraulic.c - random networks of restrictions without a store (networks.h)
 *
 * networks nodes joined to a tree with the tank, and some loops; in every second one turbulent restrictions alone, by
 *          four spellings; a pump of given pressure or of given flow
 */
#include "networks.h"

#include <math.h>

enum { MOST_NODES = 9, MOST_EDGES = 16, TURBULENT = SQUARE + 1 };

static const char *
make(struct network *n, uint64_t seed, double *size)
{
    numbers_start(n, seed);
    *size = 0;
    n->nodes = 3 + below(n, MOST_NODES - 2);
    n->flow = below(n, 2);
    n->pump = exp(uniform(n, -2, 4)) * (below(n, 4) ? 1 : -1);
    for (int i = 1; i < n->nodes; i++)
        n->edge[n->edges++] = (struct edge){ .from = below(n, i), .to = i };
    for (int more = below(n, n->nodes); more > 0 && n->edges < MOST_EDGES; more--) {
        int a = below(n, n->nodes), b = below(n, n->nodes);

        if (a != b)
            n->edge[n->edges++] = (struct edge){ .from = a, .to = b };
    }
    for (int e = 0; e < n->edges; e++) {
        n->edge[e].law = (enum law)below(n, seed % 2 ? TURBULENT : LAWS);
        n->edge[e].k = exp(uniform(n, -2, 2));
        if (below(n, 2)) {
            int from = n->edge[e].from;

            n->edge[e].from = n->edge[e].to;
            n->edge[e].to = from;
        }
    }
    return "stop = 1;";
}

int
main(int argc, char **argv)
{
    return networks_main(argc, argv, make);
}
