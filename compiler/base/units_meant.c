/* units_meant.c - suggests the unit that was probably meant by a text that is none: other case, other names
 *
 * in       a text that udunits2 does not know
 * out      the same with its unknown words replaced, if the whole is then a unit
 */
#include <ctype.h>
#include <string.h>

#include "units_inside.h"

static const struct {
    const char *written, *meant;
} words[] = {
    { "n", "N" },
    { "nm", "N.m" },
    { "newtonmeter", "N.m" },
    { "kn", "kN" },
    { "pa", "Pa" },
    { "kpa", "kPa" },
    { "mpa", "MPa" },
    { "bara", "bar" },
    { "psia", "psi" },
    { "rpm", "rpm" },
    { "rps", "rev/s" },
    { "cps", "Hz" },
    { "gpm", "US_liquid_gallon/min" },
    { "lpm", "l/min" },
    { "slpm", "l/min" },
    { "cfm", "ft^3/min" },
    { "cmm", "m^3/min" },
    { "m", "m" },
    { "mtr", "m" },
    { "mtrs", "m" },
    { "kg", "kg" },
    { "kgs", "kg" },
    { "kilo", "kg" },
    { "kilos", "kg" },
    { "gr", "g" },
    { "gm", "g" },
    { "gms", "g" },
    { "lbs", "lb" },
    { "lbm", "lb" },
    { "kgk", "kg.K" },
    { "tr", "rev" },
    { "tonne", "t" },
    { "uf", "uF" },
    { "nf", "nF" },
    { "pf", "pF" },
    { "mf", "mF" },
    { "mh", "mH" },
    { "uh", "uH" },
    { "v", "V" },
    { "mv", "mV" },
    { "kv", "kV" },
    { "ma", "mA" },
    { "w", "W" },
    { "kw", "kW" },
    { "mw", "MW" },
    { "j", "J" },
    { "kj", "kJ" },
    { "hz", "Hz" },
    { "khz", "kHz" },
    { "mhz", "MHz" },
    { "ohms", "ohm" },
    { "kohms", "kohm" },
    { "mhos", "S" },
    { "mho", "S" },
    { "radians", "rad" },
    { "rads", "rad" },
    { "degs", "deg" },
    { "celsius", "degC" },
    { "centigrade", "degC" },
    { "degk", "K" },
    { "fahrenheit", "degF" },
    { "kelvins", "K" },
    { "secs", "s" },
    { "msec", "ms" },
    { "usec", "us" },
    { "mins", "min" },
    { "hrs", "h" },
    { "kmph", "km/h" },
    { "mps", "m/s" },
    { "fps", "ft/s" },
    { "ips", "in/s" },
    { "cst", "mm^2/s" },
    { "ltr", "l" },
    { "litres", "l" },
    { "liters", "l" },
    { "cum", "m^3" },
    { "pct", "%" },
    { "percent", "%" },
    { "ppm", "1e-6" },
    { "kwh", "kWh" },
    { "mol", "mol" },
    { "mols", "mol" },
    { "moles", "mol" },
    { "mm", "mm" },
    { "cm", "cm" },
    { "km", "km" },
    { "amps", "A" },
    { "amp", "A" },
    { "volts", "V" },
    { "watts", "W" },
    { "newtons", "N" },
    { "joules", "J" },
    { "tesla", "T" },
    { "gauss", "1e-4 T" },
    { "inches", "in" },
    { "feet", "ft" },
    { "s", "s" },
    { "ms", "ms" },
    { "us", "us" },
    { "k", "K" },
};

/* One word replaced by the suggested one, looked up in lower case. */
static const char *
meant_word(arena *a, const char *word, size_t n)
{
    char small[24];

    if (n >= sizeof small)
        return NULL;
    for (size_t i = 0; i <= n; i++)
        small[i] = i < n ? (char)tolower((unsigned char)word[i]) : '\0';
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (!strcmp(words[k].written, small))
            return words[k].meant;
    return arena_strdup(a, small);
}

const char *
units_meant(arena *a, const char *text, bool (*known)(void *ctx, const char *text), void *ctx)
{
    strbuf b = { 0 };
    const char *made = NULL;

    for (const char *s = text; *s;) {
        size_t n = 0;

        while (isalpha((unsigned char)s[n]) || s[n] == '_')
            n++;
        if (n) {
            const char *word = arena_strndup(a, s, n), *other = known(ctx, word) ? word : meant_word(a, s, n);
            bool product = other && strpbrk(other, "./ ^") && (s > text || s[n]);

            strbuf_printf(&b, product ? "(%s)" : "%s", other ? other : word);
            s += n;
        } else {
            strbuf_add(&b, s++, 1);
        }
    }
    if (b.n && strcmp(b.at, text) != 0 && known(ctx, b.at))
        made = arena_strdup(a, b.at);
    strbuf_free(&b);
    return made;
}
