/* causality_relations.c - which term of a relation found by the rank check becomes dependent */

#include "causality_inside.h"

bool
causality_is_dependent(const struct assign *a, uint32_t of)
{
    return of < a->s.nport && causality_is_storage(a, of) && a->s.at[of] != (int8_t)causality_integral(a, of);
}

#define RANK_SETTLED ((uint64_t)16 << 32)

/* Is it refused, or made dependent in an earlier round (which strokes may undo while other relations are left)? */
static bool
is_settled(const struct assign *a, uint32_t of)
{
    return causality_is_dependent(a, of) || (of < a->s.nport && a->forced[of]);
}

/* The order in which terms become dependent: a state junction first, then a storage port whose law is invertible,
 * without a stated value, declared last. Before all of these come storage ports that are settled: a relation that still
 * contains one after elimination tells nothing about the states yet. */
static uint64_t
rank_of(const struct assign *a, uint32_t of)
{
    if (is_settled(a, of))
        return RANK_SETTLED | of;
    if (of >= a->s.nport)
        return (uint64_t)8 << 32 | of;
    if (!causality_is_storage(a, of))
        return of;
    return (uint64_t)(4 + 2 * (a->invertible[of] ? 1 : 0) + (a->stated[of] ? 0 : 1)) << 32 | of;
}

static int
by_rank(const void *x, const void *y)
{
    uint64_t a = ((const struct ranked *)x)->rank, b = ((const struct ranked *)y)->rank;

    return a < b ? 1 : a > b ? -1 : 0;
}

/* row -= factor*other, both sorted by descending rank. */
static void
subtract_terms(ranked_terms *row, const ranked_terms *other, uint32_t factor, ranked_terms *spare)
{
    size_t i = 0, k = 0;
    ranked_terms t;

    spare->n = 0;
    while (i < row->n || k < other->n) {
        if (k == other->n || (i < row->n && row->at[i].rank > other->at[k].rank)) {
            vec_push(spare, row->at[i]);
            i++;
            continue;
        }
        struct ranked x = other->at[k++];

        x.coef = gf_neg(gf_mul(x.coef, factor));
        if (i < row->n && row->at[i].rank == x.rank)
            x.coef = gf_add(x.coef, row->at[i++].coef);
        if (x.coef)
            vec_push(spare, x);
    }
    t = *row;
    *row = *spare;
    *spare = t;
}

bool
causality_small_number(uint32_t v, int *num, int *den)
{
    for (*den = 1; *den <= 12; ++*den) {
        uint32_t x = gf_mul(v, (uint32_t)*den);

        if (x <= 144 || x >= GF_P - 144) {
            *num = x <= 144 ? (int)x : -(int)(GF_P - x);
            return true;
        }
    }
    return false;
}

/* Is coef plus or minus one modulus? */
static bool
as_modulus(const struct assign *a, uint32_t coef, double *sign, uint32_t *place)
{
    *sign = 1;
    *place = map_get(&a->ratio_of, coef);
    if (*place == MAP_NONE) {
        *sign = -1;
        *place = map_get(&a->ratio_of, gf_neg(coef));
    }
    return *place != MAP_NONE;
}

/* Writes a weight in numbers and moduli; false if it is neither. */
static bool
spell_weight(const struct assign *a, uint32_t coef, causal_term *t)
{
    uint32_t place;
    int num, den;

    t->nmoduli = 0;
    if (causality_small_number(coef, &num, &den)) {
        t->weight = (double)num / den;
        return true;
    }
    if (as_modulus(a, coef, &t->weight, &place)) {
        t->nmoduli = 1;
        t->modulus[0] = a->ratio.at[place].def;
        t->inverse[0] = place % 2;
        return true;
    }
    for (size_t i = 0; i < a->ratio.n && i < PRODUCTS_TRIED; i++)
        if (as_modulus(a, gf_mul(coef, a->ratio.at[i ^ 1].residue), &t->weight, &place)) {
            t->nmoduli = 2;
            t->modulus[0] = a->ratio.at[i].def;
            t->inverse[0] = i % 2;
            t->modulus[1] = a->ratio.at[place].def;
            t->inverse[1] = place % 2;
            return true;
        }
    return false;
}

/* Stores what the leading term depends on, for the equations: its variable in terms of the others. */
static void
keep_relation(struct assign *a, const ranked_terms *row)
{
    causal_relation r = { row->at[0].of, (uint32_t)a->term.n, (uint32_t)row->n - 1 };
    uint32_t scale = gf_neg(gf_inv(row->at[0].coef));

    for (size_t i = 1; i < row->n; i++) {
        causal_term t = { .port = row->at[i].of };

        if (t.port >= a->s.nport || port_is_resistive(a->f, t.port) ||
            !spell_weight(a, gf_mul(row->at[i].coef, scale), &t)) {
            a->term.n = r.first;
            return;
        }
        vec_push(&a->term, t);
    }
    vec_push(&a->relation, r);
}

size_t
causality_resolve(struct assign *a, bool report)
{
    VEC(ranked_terms) rows = { 0 };
    ranked_terms spare = { 0 };
    map leading = { 0 };
    size_t changed = 0;

    for (size_t i = 0; i < a->found.of.n; i++) {
        const relation *r = &a->found.of.at[i];
        ranked_terms row = { 0 };
        uint32_t k, lead;

        for (uint32_t t = r->first; t < r->first + r->n; t++) {
            relation_term x = a->found.term.at[t];

            vec_push(&row, ((struct ranked){ rank_of(a, x.of), x.of, x.coef }));
        }
        if (row.n)
            qsort(row.at, row.n, sizeof *row.at, by_rank);
        while (row.n && (k = map_get(&leading, row.at[0].of)) != MAP_NONE)
            subtract_terms(&row, &rows.at[k], gf_mul(row.at[0].coef, gf_inv(rows.at[k].at[0].coef)), &spare);
        lead = row.n ? row.at[0].of : 0;
        if (!row.n || (lead < a->s.nport && !causality_is_storage(a, lead))) {
            if (report) {
                if (row.n)
                    causality_report_relation(a, &row);
                else
                    causality_report_undetermined(a, r);
            }
            vec_free(&row);
            continue;
        }
        if (report && is_settled(a, lead))
            causality_report_relation(a, &row);
        map_set(&leading, lead, (uint32_t)rows.n);
        vec_push(&rows, row);
    }
    /* only now, because ranks must not change before */
    for (size_t i = 0; i < rows.n; i++) {
        const ranked_terms *row = &rows.at[i];
        uint32_t lead = row->at[0].of;

        if (row->at[0].rank >= RANK_SETTLED)
            continue;
        changed++;
        if (lead >= a->s.nport) {
            a->state_junction[lead - a->s.nport] = false;
            continue;
        }
        a->forced[lead] = true;
        keep_relation(a, row);
        a->set_by[lead] = row->n > 1 && row->at[1].of < a->s.nport ? row->at[1].of : END_NONE;
    }
    for (size_t i = 0; i < rows.n; i++)
        vec_free(&rows.at[i]);
    vec_free(&rows);
    vec_free(&spare);
    map_free(&leading);
    return changed;
}
