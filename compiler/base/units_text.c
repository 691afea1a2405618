/* units_text.c - dimensions as text: by the names that engineers use, or in base units */
#include <string.h>

#include "units_inside.h"

const char *const units_base[NBASE] = { "kg", "m", "s", "A", "K", "mol", "cd" };

/* Dimensions with a name in engineering; others are written in base units. The first row of a dimension is used. */
static const struct {
    const char *text;
    int8_t power[NBASE];
} known_dimension[] = {
    /*            kg  m  s  A  K mol cd */
    { "1", { 0, 0, 0, 0, 0, 0, 0 } },       { "N", { 1, 1, -2, 0, 0, 0, 0 } },
    { "Pa", { 1, -1, -2, 0, 0, 0, 0 } },    { "J", { 1, 2, -2, 0, 0, 0, 0 } },
    { "W", { 1, 2, -3, 0, 0, 0, 0 } },      { "C", { 0, 0, 1, 1, 0, 0, 0 } },
    { "V", { 1, 2, -3, -1, 0, 0, 0 } },     { "F", { -1, -2, 4, 2, 0, 0, 0 } },
    { "ohm", { 1, 2, -3, -2, 0, 0, 0 } },   { "S", { -1, -2, 3, 2, 0, 0, 0 } },
    { "V.s", { 1, 2, -2, -1, 0, 0, 0 } },   { "T", { 1, 0, -2, -1, 0, 0, 0 } },
    { "H", { 1, 2, -2, -2, 0, 0, 0 } },     { "N/m", { 1, 0, -2, 0, 0, 0, 0 } },
    { "m/N", { -1, 0, 2, 0, 0, 0, 0 } },    { "N.s/m", { 1, 0, -1, 0, 0, 0, 0 } },
    { "N.s", { 1, 1, -1, 0, 0, 0, 0 } },    { "N.m.s", { 1, 2, -1, 0, 0, 0, 0 } },
    { "J/K", { 1, 2, -2, 0, -1, 0, 0 } },   { "W/K", { 1, 2, -3, 0, -1, 0, 0 } },
    { "K/W", { -1, -2, 3, 0, 1, 0, 0 } },   { "J/mol", { 1, 2, -2, 0, 0, -1, 0 } },
    { "Pa.s", { 1, -1, -1, 0, 0, 0, 0 } },  { "Pa.s/m^3", { 1, -4, -1, 0, 0, 0, 0 } },
    { "m^3/Pa", { -1, 4, 2, 0, 0, 0, 0 } }, { "N/m^3", { 1, -2, -2, 0, 0, 0, 0 } },
    { "N/A", { 1, 1, -2, -1, 0, 0, 0 } },
};

static void
add_power(strbuf *b, const char *base, int power)
{
    if (b->n)
        strbuf_puts(b, ".");
    strbuf_puts(b, base);
    if (power % WHOLE && power * 20 % WHOLE == 0) { /* a short decimal fraction */
        strbuf_printf(b, "^%g", (double)power / WHOLE);
    } else if (power % WHOLE) {
        int common = WHOLE;

        while (power % common || WHOLE % common)
            common--;
        strbuf_printf(b, "^(%d/%d)", power / common, WHOLE / common);
    } else if (power != WHOLE) {
        strbuf_printf(b, "^%d", power / WHOLE);
    }
}

const char *
units_dimension_text(arena *a, const dimension *d, bool named)
{
    strbuf up = { 0 }, down = { 0 };
    const char *text;
    int ndown = 0;

    for (size_t k = 0; k < (named ? sizeof known_dimension / sizeof *known_dimension : 1); k++) {
        bool same = true;

        for (int i = 0; i < NBASE; i++)
            same = same && known_dimension[k].power[i] * WHOLE == d->power[i];
        if (same)
            return known_dimension[k].text;
    }
    for (int i = 0; i < NBASE; i++) {
        if (d->power[i] > 0)
            add_power(&up, units_base[i], d->power[i]);
        if (d->power[i] < 0) {
            add_power(&down, units_base[i], -d->power[i]);
            ndown++;
        }
    }
    text = !ndown      ? arena_strdup(a, up.at)
           : ndown > 1 ? arena_format(a, "%s/(%s)", up.n ? up.at : "1", down.at)
                       : arena_format(a, "%s/%s", up.n ? up.at : "1", down.at);
    strbuf_free(&up);
    strbuf_free(&down);
    return text;
}
