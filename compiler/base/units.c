/* units.c - see units.h
 *
 * udunits2 parses the text; dimension, scale and offset are taken from its result, of which nothing is kept. What it
 * reads in a way that users do not expect is refused (each case is in tests/unit/test_units.c):
 *   - exponents that are not integers (it takes m^0.5 for 5 and m^1/2 for m/2): texts that have one are taken apart
 *     here; numbers glued to a unit (m2.5)
 *   - dates, logarithms and shifted units written by hand (@, since, lg(re ...))
 *   - gal, ton, cal: different things in different trades
 *   - oz, mb, turns of a coil ([A.turn]: a turn is 2*pi here), and W/m^2.K, which divides by m^2 alone
 * Units that it lacks or reads otherwise are added: deg, rev, Nm, Wh, Ah, VA, nmi, mph, PS, cP, uM, dalton ... eV and u
 * have the values of 2019. `yr` and `year` remain the tropical year.
 *
 * threads  udunits2 keeps its error handler and its parser in globals: one thread at a time reads units
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <udunits2.h>

#include "units_inside.h"

enum { DEFINITIONS_ROOM = 4 << 20 }; /* more than the definitions and the readers of their files take */
enum { MOST_BRACKETS = 20, LONGEST_TEXT = 200, GREATEST_POWER = 99, GREATEST_DIMENSION = 30000 };
static const double EXACT = 1e-9; /* a written exponent this close to a fraction is this fraction */

struct unit_system {
    ut_system *ut;
    arena *arena;
    VEC(unit *) all;
    map by_text, by_dimension; /* hash -> index into all; verified */
    const unit *one;
    char why[LONGEST_TEXT + 200];
};

static unit *
unit_add(unit_system *u, const dimension *d, double scale, double offset, const char *text)
{
    unit *x = arena_alloc(u->arena, sizeof *x);

    *x = (unit){ .dim = *d, .scale = scale, .offset = offset, .text = text };
    x->si = x;
    vec_push(&u->all, x);
    return x;
}

static const unit *
si_unit(unit_system *u, const dimension *d)
{
    uint64_t key = bg_hash_bytes(d, sizeof *d, 1);
    uint32_t at;
    const unit *x;

    /* on a hash collision tries the next one */
    while ((at = map_get(&u->by_dimension, key)) != MAP_NONE && memcmp(&u->all.at[at]->dim, d, sizeof *d))
        key++;
    if (at != MAP_NONE)
        return u->all.at[at];
    x = unit_add(u, d, 1, 0, units_dimension_text(u->arena, d, true));
    map_set(&u->by_dimension, key, (uint32_t)u->all.n - 1);
    return x;
}

/* ---------------------------------------------------------------- the result of udunits2 */

struct unit_reading {
    dimension dim;
    double scale, offset;
    bool refused;
};

static int
base_index(const ut_unit *basic)
{
    const char *symbol = ut_get_symbol(basic, UT_ASCII);

    for (int i = 0; symbol && i < NBASE; i++)
        if (!strcmp(symbol, units_base[i]))
            return i;
    return -1; /* the radian */
}

static ut_status
visit_basic(const ut_unit *basic, void *arg)
{
    struct unit_reading *r = arg;
    int i = base_index(basic);

    if (i >= 0)
        r->dim.power[i] = WHOLE;
    return UT_SUCCESS;
}

static ut_status
visit_product(const ut_unit *product, int n, const ut_unit *const *basic, const int *power, void *arg)
{
    struct unit_reading *r = arg;

    (void)product;
    for (int k = 0; k < n; k++) {
        int i = base_index(basic[k]);

        if (i >= 0)
            r->dim.power[i] = (int16_t)(r->dim.power[i] + WHOLE * power[k]);
    }
    return UT_SUCCESS;
}

static const ut_visitor visitor;

static ut_status
visit_galilean(const ut_unit *x, double scale, const ut_unit *under, double offset, void *arg)
{
    struct unit_reading *r = arg;

    (void)x;
    if (ut_accept_visitor(under, &visitor, arg) != UT_SUCCESS)
        r->refused = true;
    /* value_under = scale*(value + offset) */
    r->offset += r->scale * scale * offset;
    r->scale *= scale;
    return UT_SUCCESS;
}

static ut_status
visit_timestamp(const ut_unit *x, const ut_unit *under, double origin, void *arg)
{
    (void)x, (void)under, (void)origin;
    ((struct unit_reading *)arg)->refused = true;
    return UT_SUCCESS;
}

static ut_status
visit_logarithmic(const ut_unit *x, double base, const ut_unit *reference, void *arg)
{
    (void)x, (void)base, (void)reference;
    ((struct unit_reading *)arg)->refused = true;
    return UT_SUCCESS;
}

static const ut_visitor visitor = { visit_basic, visit_product, visit_galilean, visit_timestamp, visit_logarithmic };

/* ---------------------------------------------------------------- the system */

/* Defines scale*text as a name (which takes prefixes as words) or a symbol (which takes prefixes like k). */
static void
define_unit(ut_system *ut, const char *name, double scale, const char *text, bool replace)
{
    ut_unit *x = ut_parse(ut, text, UT_ASCII);
    ut_unit *scaled = x ? ut_scale(scale, x) : NULL;

    if (replace)
        ut_unmap_symbol_to_unit(ut, name, UT_ASCII);
    if (scaled)
        ut_map_symbol_to_unit(name, UT_ASCII, scaled);
    ut_free(scaled);
    ut_free(x);
}

unit_system *
units_new(void)
{
    const double turn = 6.283185307179586476925286766559;
    ut_system *ut;
    unit_system *u;

    bg_need_room(DEFINITIONS_ROOM);
    ut_set_error_message_handler(ut_ignore);
    ut = ut_read_xml(NULL);
    if (!ut)
        return NULL;
    define_unit(ut, "deg", turn / 360, "radian", false);
    define_unit(ut, "rev", turn, "radian", false);
    define_unit(ut, "Nm", 1, "N.m", false);
    define_unit(ut, "Wh", 3600, "J", false);
    define_unit(ut, "Ah", 3600, "C", false);
    define_unit(ut, "VA", 1, "W", false);
    /* units that udunits2 reads as a prefix and another unit (nanomiles, milliphot-hours), or does not know */
    define_unit(ut, "nmi", 1852, "m", false);
    define_unit(ut, "mph", 0.44704, "m/s", false);
    define_unit(ut, "kph", 1, "km/h", false);
    define_unit(ut, "kmh", 1, "km/h", false);
    define_unit(ut, "PS", 735.49875, "W", false);
    define_unit(ut, "kp", 9.80665, "N", false);
    define_unit(ut, "Ns", 1, "N.s", false);
    define_unit(ut, "Nms", 1, "N.m.s", false);
    define_unit(ut, "cP", 1e-3, "Pa.s", false);
    define_unit(ut, "uM", 1e-3, "mol/m3", false);
    define_unit(ut, "mM", 1, "mol/m3", false);
    define_unit(ut, "dalton", 1.66053906660e-27, "kg", false);
    define_unit(ut, "u", 1.66053906660e-27, "kg", true);
    define_unit(ut, "eV", 1.602176634e-19, "J", true);

    u = bg_calloc(1, sizeof *u);
    u->ut = ut;
    u->arena = arena_new();
    u->one = si_unit(u, &(dimension){ 0 });
    return u;
}

void
units_free(unit_system *u)
{
    if (!u)
        return;
    ut_free_system(u->ut);
    arena_free(u->arena);
    vec_free(&u->all);
    map_free(&u->by_text);
    map_free(&u->by_dimension);
    free(u);
}

/* ---------------------------------------------------------------- reading */

static const struct {
    const char *name, *why;
} ambiguous[] = {
    { "gal", "\"gal\" is an acceleration to some and a volume to others: write cm/s^2 or US_liquid_gallon" },
    { "ton", "\"ton\" has three sizes: write t (1000 kg), short_ton or long_ton" },
    { "tons", "\"tons\" has three sizes: write t (1000 kg), short_ton or long_ton" },
    { "cal", "\"cal\" has two sizes: write IT_calorie (4.1868 J) or thermochemical_calorie (4.184 J)" },
    { "calorie", "\"calorie\" has two sizes: write IT_calorie (4.1868 J) or thermochemical_calorie (4.184 J)" },
    { "kcal", "\"kcal\" has two sizes: write 1000 IT_calorie or 1000 thermochemical_calorie" },
    { "oz", "\"oz\" is a mass, a force and a volume: write avoirdupois_ounce, ounce_force or US_fluid_ounce" },
    { "mb", "\"mb\" is a millibarn and an area: write mbar for a pressure" },
    { "barg", "\"barg\" counts from the pressure of the atmosphere, and a unit has no reference: write bar, and the "
              "pressure above the atmosphere" },
    { "psig", "\"psig\" counts from the pressure of the atmosphere, and a unit has no reference: write psi, and the "
              "pressure above the atmosphere" },
    { "dB", "\"dB\" is the logarithm of a ratio, not a unit: write the ratio itself, 10^(x/20)" },
    { "since", "a unit has no date" },
    { "from", "a unit has no date" },
    { "after", "a unit has no date" },
    { "ref", "a unit has no date" },
};

static bool
is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '%' || c == '\'' || c == '"' || (unsigned char)c >= 0x80;
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The middle dot is a multiplication sign. */
static bool
middle_dot(const char *p)
{
    return (unsigned char)p[0] == 0xc2 && (unsigned char)p[1] == 0xb7;
}

/* An integer exponent at p that is not part of a fraction. Returns its end, or NULL. */
static const char *
exponent_end(const char *p)
{
    long value = 0;

    if (*p == '+' || *p == '-')
        p++;
    if (!is_digit(*p))
        return NULL;
    for (; is_digit(*p); p++)
        if ((value = 10 * value + (*p - '0')) > GREATEST_POWER)
            return NULL;
    if (*p == '.' && is_digit(p[1]))
        return NULL;
    if ((*p == 'e' || *p == 'E') && (is_digit(p[1]) || ((p[1] == '-' || p[1] == '+') && is_digit(p[2]))))
        return NULL;
    return p;
}

/* Is there a number after a slash? m^1/2 is read as half a metre and looks like a root. */
static bool
looks_like_fraction(const char *p)
{
    while (*p == ' ')
        p++;
    if (*p != '/')
        return false;
    for (p++; *p == ' '; p++)
        ;
    return is_digit(*p);
}

/* Is there a factor at p, multiplied by a point, a star or a blank? */
static bool
factor_follows(const char *text, const char *p)
{
    if (p[0] == '*' && (p[1] == '*' || (p > text && p[-1] == '*')))
        return false;
    if (*p != '.' && *p != '*' && *p != ' ' && !middle_dot(p))
        return false;
    if (*p == '.' && p > text && is_digit(p[-1]) && is_digit(p[1]))
        return false; /* a decimal point */
    p += middle_dot(p) ? 2 : 1;
    return is_letter(*p) || is_digit(*p) || *p == '(';
}

/* W/m^2.K divides by m^2 alone, which most writers do not intend. */
static const char *
behind_slash(unit_system *u, const char *text, const char *p)
{
    const char *slash = p;

    while (slash > text && *slash != '/')
        slash--;
    return arena_format(
        u->arena,
        "is \"%s\" divided or multiplied by what follows the slash? Write %.*s/(%s), or put it before the slash", text,
        (int)(slash - text), text, slash + 1);
}

/* Why udunits2 would misread the text; NULL: it may parse it. */
static const char *
refused_text(unit_system *u, const char *text)
{
    static const char fraction[] =
        "exponents of units are whole numbers of at most two digits, or fractions in the form of ^0.5 or ^(1/3)";
    const char *p = text;
    bool divided[MOST_BRACKETS] = { false }, ampere = false,
         turns = false; /* after a slash, at each depth of brackets */
    int depth = 0;

    while (*p) {
        if (*p == '(' && ++depth < MOST_BRACKETS)
            divided[depth] = false;
        if (*p == ')' && depth > 0)
            depth--;
        if (depth >= MOST_BRACKETS)
            return "the brackets of this unit nest too deeply";
        if (*p == '/')
            divided[depth] = !is_digit(p[1 + strspn(p + 1, " ")]); /* 1/2 m clearly means half a metre */
        else if (divided[depth] && factor_follows(text, p))
            return behind_slash(u, text, p);
        if (is_letter(*p) && !middle_dot(p)) {
            const char *begin = p;
            size_t len;

            while (*p && is_letter(*p) && !middle_dot(p))
                p++;
            len = (size_t)(p - begin);
            ampere |= len == 1 && *begin == 'A';
            turns |= (len == 4 && !memcmp(begin, "turn", 4)) || (len == 5 && !memcmp(begin, "turns", 5));
            if (ampere && turns)
                return "a turn is the angle 2*pi, and the turns of a coil are a pure number: write A";
            for (size_t i = 0; i < sizeof ambiguous / sizeof *ambiguous; i++)
                if (strlen(ambiguous[i].name) == len && !memcmp(ambiguous[i].name, begin, len))
                    return ambiguous[i].why;
            if (is_digit(*p) || ((*p == '-' || *p == '+') && is_digit(p[1]))) { /* m3, s-1 */
                p = exponent_end(p);
                if (!p || looks_like_fraction(p))
                    return fraction;
            }
        } else if (*p == '^' || (p[0] == '*' && p[1] == '*')) {
            bool half;

            for (p += *p == '^' ? 1 : 2; *p == ' '; p++)
                ;
            p = exponent_end(p);
            half = p && looks_like_fraction(p);
            if (!p || half)
                return fraction;
        } else if (is_digit(*p)) { /* a factor */
            char *end;

            (void)strtod(p, &end);
            if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
                return "a unit has no hexadecimal numbers";
            p = end;
            if (*p == '.' && is_digit(p[1]))
                return "a number in a unit has one decimal point";
        } else if (*p == '.' && is_digit(p[1])) {
            return "a decimal point has digits on both sides";
        } else if (*p == '@') {
            return "a unit cannot define an origin; write degC or degF";
        } else if (middle_dot(p)) {
            p += 2;
        } else if (strchr(" .*/()+-", *p)) {
            p++;
        } else {
            snprintf(u->why, sizeof u->why, "\"%c\" does not belong in a unit", *p);
            return u->why;
        }
    }
    return NULL;
}

static bool
is_known_unit(void *ctx, const char *text)
{
    const unit_system *u = ctx;
    ut_unit *x = ut_parse(u->ut, text, UT_UTF8);

    ut_free(x);
    return x != NULL;
}

static const char *
why_not(unit_system *u, const char *text)
{
    const char *meant = units_meant(u->arena, text, is_known_unit, u);

    if (meant)
        snprintf(u->why, sizeof u->why, "\"%s\" is not a unit; did you mean [%s]?", text, meant);
    else
        snprintf(u->why, sizeof u->why, "\"%s\" is not a unit", text);
    return u->why;
}

static const unit *
remember_unit(unit_system *u, const dimension *d, double scale, double offset, const char *text, uint64_t key)
{
    unit *made = unit_add(u, d, scale, offset, arena_strdup(u->arena, text));

    map_set(&u->by_text, key, (uint32_t)u->all.n - 1);
    made->si = si_unit(u, d);
    return made;
}

/* ---- texts with fractions as exponents: products, quotients, powers and brackets around units that udunits2 reads
 * ---- */

struct taker {
    unit_system *u;
    const char *p, *why;
    int depth;
};
struct taken {
    const unit *dim;
    double scale;
};

/* Does it contain an exponent that is not an integer: ^0.5, ^-1.5, ^(1/3)? */
static bool
has_fraction(const char *text)
{
    for (const char *p = text; (p = strpbrk(p, "^*")); p++) {
        const char *q = *p == '^' ? p + 1 : p[1] == '*' ? p + 2 : NULL;

        if (!q)
            continue;
        while (*q == ' ')
            q++;
        if (*q == '(')
            return true;
        q += *q == '-' || *q == '+';
        while (is_digit(*q))
            q++;
        if (*q == '.' && is_digit(q[1]))
            return true;
    }
    return false;
}

static void
skip_blanks(struct taker *t)
{
    while (*t->p == ' ')
        t->p++;
}

/* Reads num/den at t->p: "2", "-0.5", "(1/3)". */
static bool
take_exponent(struct taker *t, int *num, int *den)
{
    char *end;
    double x;

    skip_blanks(t);
    if (*t->p == '(') {
        long a = strtol(t->p + 1, &end, 10), b;

        if (*end != '/' || !is_digit(end[1]))
            return false;
        b = strtol(end + 1, &end, 10);
        if (*end != ')' || labs(a) > GREATEST_POWER || b < 1 || b > GREATEST_POWER)
            return false;
        *num = (int)a, *den = (int)b;
        t->p = end + 1;
        return true;
    }
    if (!is_digit(*t->p) && !((*t->p == '-' || *t->p == '+') && is_digit(t->p[1])))
        return false;
    x = strtod(t->p, &end);
    if (!(fabs(x) <= GREATEST_POWER) || looks_like_fraction(end))
        return false;
    t->p = end;
    *den = WHOLE;
    *num = (int)lround(x * WHOLE);
    return fabs(x * WHOLE - *num) < EXACT * WHOLE;
}

static struct taken take_product(struct taker *t);

static struct taken
take_factor(struct taker *t)
{
    struct taken x = { NULL, 1 };
    const char *begin = t->p;
    int num = 1, den = 1;

    if (*t->p == '(' && ++t->depth < 20) {
        t->p++;
        x = take_product(t);
        t->depth--;
        if (x.dim && *t->p++ != ')') {
            t->why = "a bracket is not closed";
            x.dim = NULL;
        }
    } else if (is_digit(*t->p)) {
        char *end;

        x = (struct taken){ t->u->one, strtod(t->p, &end) };
        t->p = end;
    } else if (is_letter(*t->p)) {
        char *word;
        const unit *u;

        while (is_letter(*t->p))
            t->p++;
        while (is_digit(*t->p) || ((*t->p == '-' || *t->p == '+') && is_digit(t->p[1])))
            t->p++;
        word = arena_strndup(t->u->arena, begin, (size_t)(t->p - begin));
        u = unit_parse(t->u, word, &t->why);
        if (u)
            x = (struct taken){ u->si, u->scale };
    }
    skip_blanks(t);
    if (!x.dim || (*t->p != '^' && !(t->p[0] == '*' && t->p[1] == '*')))
        return x;
    t->p += *t->p == '^' ? 1 : 2;
    if (!take_exponent(t, &num, &den) || !(x.dim = unit_power(t->u, x.dim, num, den))) {
        t->why = "an exponent of a unit is a whole number, or a fraction with a denominator up to 6: ^0.5, ^(1/3)";
        x.dim = NULL;
    }
    x.scale = pow(x.scale, (double)num / den);
    skip_blanks(t);
    return x;
}

/* Reads factors joined by a point, a star, a blank, or a slash, which divides by the next factor alone. */
static struct taken
take_product(struct taker *t)
{
    struct taken x;

    skip_blanks(t);
    x = take_factor(t);
    while (x.dim && *t->p && *t->p != ')') {
        bool divides = *t->p == '/';
        struct taken y;

        if (strchr("./*", *t->p))
            t->p++;
        else if (middle_dot(t->p))
            t->p += 2;
        skip_blanks(t);
        y = take_factor(t);
        if (!y.dim)
            return y;
        x.dim = divides ? unit_divide(t->u, x.dim, y.dim) : unit_multiply(t->u, x.dim, y.dim);
        x.scale = divides ? x.scale / y.scale : x.scale * y.scale;
    }
    return x;
}

static const unit *
product_unit(unit_system *u, const char *text, uint64_t key, const char **why)
{
    struct taker t = { .u = u, .p = text };
    struct taken x = take_product(&t);

    if (!x.dim || *t.p || !isfinite(x.scale) || x.scale == 0) {
        *why = t.why ? t.why : why_not(u, text);
        return NULL;
    }
    while (map_get(&u->by_text, key) != MAP_NONE) /* parts of the text may have been stored meanwhile */
        key++;
    return remember_unit(u, &x.dim->dim, x.scale, 0, text, key);
}

const unit *
unit_parse(unit_system *u, const char *text, const char **why)
{
    size_t len;
    uint64_t key;
    uint32_t at;
    struct unit_reading r = { .scale = 1 };
    char copy[LONGEST_TEXT + 1];
    ut_unit *x;
    ut_status seen;
    const char *bad;

    while (isspace((unsigned char)*text))
        text++;
    len = strlen(text);
    while (len && isspace((unsigned char)text[len - 1]))
        len--;
    *why = NULL;
    if (!len || len > LONGEST_TEXT) {
        *why = len ? "no unit is that long" : "the brackets are empty; a pure number takes no unit";
        return NULL;
    }
    memcpy(copy, text, len);
    copy[len] = '\0';
    key = bg_hash_bytes(copy, len, 0);
    while ((at = map_get(&u->by_text, key)) != MAP_NONE && strcmp(u->all.at[at]->text, copy))
        key++;
    if (at != MAP_NONE)
        return u->all.at[at];

    if (has_fraction(copy))
        return product_unit(u, copy, key, why);
    bad = refused_text(u, copy);
    if (bad) {
        *why = bad;
        return NULL;
    }
    x = ut_parse(u->ut, copy, UT_UTF8);
    if (!x) {
        *why = why_not(u, copy);
        return NULL;
    }
    seen = ut_accept_visitor(x, &visitor, &r);
    ut_free(x);
    if (seen != UT_SUCCESS || r.refused) {
        *why = "dates and logarithmic units cannot be used in a model";
        return NULL;
    }
    if (!isfinite(r.scale) || !isfinite(r.offset) || r.scale == 0) {
        *why = why_not(u, copy);
        return NULL;
    }
    return remember_unit(u, &r.dim, r.scale, r.offset, copy, key);
}

/* ---------------------------------------------------------------- asking */

const char *
unit_text(const unit *x)
{
    return x->text;
}
const char *
unit_base_text(unit_system *u, const unit *x)
{
    return units_dimension_text(u->arena, &x->dim, false);
}
double
unit_scale(const unit *x)
{
    return x->scale;
}
double
unit_offset(const unit *x)
{
    return x->offset;
}
const unit *
unit_dimension(const unit *x)
{
    return x->si;
}
const unit *
unit_one(unit_system *u)
{
    return u->one;
}

bool
unit_is_number(const unit *x)
{
    static const dimension none;

    return !memcmp(&x->dim, &none, sizeof none);
}

bool
unit_is_whole(const unit *x)
{
    for (int i = 0; i < NBASE; i++)
        if (x->dim.power[i] % WHOLE)
            return false;
    return true;
}

/* ---------------------------------------------------------------- products and powers */

static int16_t
limited(long power)
{
    return (int16_t)(power > GREATEST_DIMENSION    ? GREATEST_DIMENSION
                     : power < -GREATEST_DIMENSION ? -GREATEST_DIMENSION
                                                   : power);
}

static const unit *
combine_units(unit_system *u, const unit *a, const unit *b, int sign)
{
    dimension d = { 0 };

    for (int i = 0; i < NBASE; i++)
        d.power[i] = limited((long)a->dim.power[i] + sign * b->dim.power[i]);
    return si_unit(u, &d);
}

const unit *
unit_multiply(unit_system *u, const unit *a, const unit *b)
{
    return combine_units(u, a, b, 1);
}
const unit *
unit_divide(unit_system *u, const unit *a, const unit *b)
{
    return combine_units(u, a, b, -1);
}

const unit *
unit_power(unit_system *u, const unit *a, int num, int den)
{
    dimension d = { 0 };

    for (int i = 0; i < NBASE; i++) {
        long long p = (long long)a->dim.power[i] * num;

        if (den == 0 || p % den || p / den > GREATEST_DIMENSION || p / den < -GREATEST_DIMENSION)
            return NULL;
        d.power[i] = (int16_t)(p / den);
    }
    return si_unit(u, &d);
}
