/* model_energy.c - energies of storage and their second derivatives */
#include <math.h>

#include "model_inside.h"

/* Values from which energies of storage are computed, at x (NULL: without a point) */
static storage_at
storage_of(bg_model *m, const double *x)
{
    const storage_program *g = image_storage_of(m->image, m->maker);

    if (!m->storage_number) {
        m->storage_number = bg_calloc(storage_numbers(g), sizeof *m->storage_number);
        m->storage_room = bg_calloc(g->book.room + 1, sizeof *m->storage_room);
    }
    return (storage_at){ g, m->value, x, m->modes, m->storage_number, m->storage_room };
}

double
model_stored_energy(bg_model *m, uint32_t port, double stored, double conjugate)
{
    const storage_at s = storage_of(m, NULL);

    return storage_energy(&s, &s.g->law.at[s.g->of_port[port]], (double[]){ 0, 0 }, (double[]){ stored, conjugate });
}

double
model_energy_taken(bg_model *m, uint32_t port, const double from[2], const double to[2])
{
    const storage_at s = storage_of(m, NULL);
    const struct storage_law *law = &s.g->law.at[s.g->of_port[port]];

    return law->alone ? storage_energy(&s, law, from, to) : NAN;
}

double
model_energy_curvature(bg_model *m, size_t state, const double *x)
{
    uint32_t port = m->image->state_port[state];
    storage_at s;

    if (port == NONE)
        return NAN;
    s = storage_of(m, x);
    return storage_curvature(&s, &s.g->law.at[s.g->of_port[port]]);
}
