/* test_equilibria.c - random networks of stores started from equilibrium (networks.h)
 *
 * networks nodes joined to a tree and some loops; stores at most of them, linear or stiffening; inertias in some
 *          conductors; fed by a given effort or a given flow; or closed, where what is stored in all is kept
 * starts   from empty, from equal values, from random ones
 * source   all laws rise, so there is one place of rest, and every motion of what dissipates leads to it
 */
#include "networks.h"

#include <math.h>

enum start { EMPTY, EQUAL, ANY, STARTS };

static const char *
make(struct network *n, uint64_t seed, double *size)
{
    enum start start;
    bool one_law;

    numbers_start(n, seed);
    *size = 1e-3;
    n->nodes = 3 + below(n, below(n, 4) ? 8 : MAX_NODES - 3);
    n->closed = below(n, 8) == 0;
    n->flow = below(n, 2);
    n->pump = exp(uniform(n, -2, 3)) * (below(n, 4) ? 1 : -1);
    start = below(n, STARTS);
    one_law = below(n, 3) == 0;
    for (int i = 1; i < n->nodes; i++)
        n->edge[n->edges++] = (struct edge){ .from = below(n, 4) ? i - 1 : below(n, i), .to = i };
    for (int more = below(n, n->nodes); more > 0 && n->edges < MAX_EDGES; more--) {
        int a = below(n, n->nodes), b = below(n, n->nodes);

        if (a != b)
            n->edge[n->edges++] = (struct edge){ .from = a, .to = b };
    }
    for (int e = 0; e < n->edges; e++) {
        n->edge[e].law = one_law && e > 0 ? n->edge[0].law : (enum law)below(n, LAWS);
        n->edge[e].k = exp(uniform(n, -2, 2));
        if (below(n, 4) == 0)
            n->edge[e].inertia = exp(uniform(n, -2, 2));
        if (below(n, 2)) {
            int from = n->edge[e].from;

            n->edge[e].from = n->edge[e].to;
            n->edge[e].to = from;
        }
    }
    for (int i = 0; i < n->nodes; i++) {
        struct node *q = &n->node[i];

        if (!n->closed && (i == 0 || (i == 1 && !n->flow)))
            continue;
        if (n->closed || below(n, 5))
            q->store = exp(uniform(n, -2, 2));
        if (q->store > 0 && below(n, 4) == 0)
            q->stiffening = exp(uniform(n, -2, 0));
        q->start = start == EMPTY ? 0 : start == EQUAL ? 1 : uniform(n, -2, 5);
    }
    /* a node without a store that only inertias lead to has no flow of its own to give */
    for (int i = 0; i < n->nodes; i++) {
        bool inert = true;

        for (int e = 0; e < n->edges; e++)
            inert &= (n->edge[e].from != i && n->edge[e].to != i) || n->edge[e].inertia > 0;
        if (inert && n->node[i].store == 0 && (n->closed || i > (n->flow ? 0 : 1)))
            n->node[i].store = 1;
    }
    return "stop = 0.001; start from equilibrium;";
}

int
main(int argc, char **argv)
{
    return networks_main(argc, argv, make);
}
