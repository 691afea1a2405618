/* test_units.c - what units.c reads, converts and refuses */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "units.h"

static int
open_system(void **state)
{
    *state = units_new();
    return *state ? 0 : -1;
}

static int
close_system(void **state)
{
    units_free(*state);
    return 0;
}

static const unit *
good(void **state, const char *text)
{
    const char *why;
    const unit *u = unit_parse(*state, text, &why);

    if (!u)
        fail_msg("[%s] was refused: %s", text, why);
    return u;
}

static void
refused(void **state, const char *text, const char *because)
{
    const char *why;
    const unit *u = unit_parse(*state, text, &why);

    if (u)
        fail_msg("[%s] was taken as %g %s", text, unit_scale(u), unit_text(unit_dimension(u)));
    if (!strstr(why, because))
        fail_msg("[%s]: \"%s\" does not say \"%s\"", text, why, because);
}

static void
reads_what_models_use(void **state)
{
    static const struct {
        const char *text;
        double scale;
        const char *si;
    } row[] = { { "N/m", 1, "N/m" },
                { "km/h", 1 / 3.6, "m/s" },
                { "psi", 6894.757293168361, "Pa" },
                { "bar", 1e5, "Pa" },
                { "N.m", 1, "J" },
                { "N m", 1, "J" },
                { "N*m", 1, "J" },
                { "N\xc2\xb7m", 1, "J" },
                { "Pa.s/m3", 1, "Pa.s/m^3" },
                { "ohm", 1, "ohm" },
                { "\xce\xa9", 1, "ohm" },
                { "\xc2\xb5"
                  "F",
                  1e-6, "F" },
                { "uF", 1e-6, "F" },
                { "Mohm", 1e6, "ohm" },
                { "W.h", 3600, "J" },
                { "lbf.ft", 1.3558179483314, "J" },
                { "l/min", 1e-3 / 60, "m^3/s" },
                { "ml/bar", 1e-11, "m^3/Pa" },
                { "l/min/bar", 1e-8 / 60, "m^4.s/kg" },
                { "kg.m^2", 1, "kg.m^2" },
                { "mm^2", 1e-6, "m^2" },
                { "s-1", 1, "1/s" },
                { "m**2", 1, "m^2" },
                { "V.s/m", 1, "kg.m/(s^2.A)" },
                { "%", 0.01, "1" },
                { "1", 1, "1" },
                { " m ", 1, "m" } };

    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const unit *u = good(state, row[k].text);

        assert_true(fabs(unit_scale(u) / row[k].scale - 1) < 1e-9);
        assert_true(unit_offset(u) == 0);
        if (strcmp(row[k].text, "l/min/bar") && strcmp(row[k].text, "V.s/m"))
            assert_string_equal(unit_text(unit_dimension(u)), row[k].si);
    }
}

static void
adds_what_udunits_lacks(void **state)
{
    assert_true(fabs(unit_scale(good(state, "deg")) - 3.14159265358979323846 / 180) < 1e-17);
    assert_true(fabs(unit_scale(good(state, "rev/min")) / unit_scale(good(state, "rpm")) - 1) < 1e-12);
    assert_true(unit_scale(good(state, "Nm")) == 1);
    assert_true(unit_scale(good(state, "kNm")) == 1000);
    assert_true(unit_scale(good(state, "Wh")) == 3600);
    assert_true(fabs(unit_scale(good(state, "kWh")) - 3.6e6) < 1e-6);
    assert_true(fabs(unit_scale(good(state, "mAh")) - 3.6) < 1e-12);
    assert_true(unit_scale(good(state, "eV")) == 1.602176634e-19);
    assert_true(unit_scale(good(state, "u")) == 1.66053906660e-27);
    assert_true(unit_scale(good(state, "dalton")) == 1.66053906660e-27);
}

static void
reciprocals_are_other_units(void **state)
{
    assert_ptr_not_equal(unit_dimension(good(state, "s")), unit_dimension(good(state, "1/s")));
    assert_ptr_not_equal(unit_dimension(good(state, "N.s/m")), unit_dimension(good(state, "m/(N.s)")));
    assert_ptr_not_equal(unit_dimension(good(state, "N/m")), unit_dimension(good(state, "m/N")));
}

static void
equal_dimensions_are_equal_pointers(void **state)
{
    assert_ptr_equal(unit_dimension(good(state, "km/h")), unit_dimension(good(state, "m/s")));
    assert_ptr_equal(unit_dimension(good(state, "N.m")), unit_dimension(good(state, "J")));
    assert_ptr_equal(unit_dimension(good(state, "rad/s")), unit_dimension(good(state, "Hz")));
    assert_ptr_equal(unit_dimension(good(state, "rad")), unit_one(*state));
    assert_ptr_equal(unit_dimension(unit_dimension(good(state, "bar"))), unit_dimension(good(state, "Pa")));
    assert_ptr_equal(good(state, "bar"), good(state, "bar"));
    assert_true(unit_is_number(good(state, "rad")));
    assert_true(unit_is_number(good(state, "degree")));
    assert_true(unit_is_number(good(state, "%")));
    assert_false(unit_is_number(good(state, "Hz")));
}

static void
temperatures_have_an_offset_alone_only(void **state)
{
    const unit *c = good(state, "degC"), *f = good(state, "degF");

    assert_true(unit_scale(c) == 1 && fabs(unit_offset(c) - 273.15) < 1e-12);
    assert_true(fabs(unit_scale(f) * 212 + unit_offset(f) - 373.15) < 1e-9);
    assert_true(fabs(unit_scale(f) * 32 + unit_offset(f) - 273.15) < 1e-9);
    assert_true(unit_offset(good(state, "W/degC")) == 0);
    assert_true(unit_offset(good(state, "degC.m")) == 0);
    assert_ptr_equal(unit_dimension(good(state, "W/degC")), unit_dimension(good(state, "W/K")));
}

static void
refuses_fractional_exponents(void **state)
{
    static const char *const text[] = { "m^1/2", "m2.5", "m^1e2", "m^", "m^ 1/2", "m^1000" };

    for (size_t k = 0; k < sizeof text / sizeof *text; k++)
        refused(state, text[k], "whole numbers");
    refused(state, "m^0.123", "denominator");
    refused(state, "m^(1/7)", "denominator");
    refused(state, "m^0.5/", "not a unit");
    refused(state, "(m^0.5", "bracket");
    refused(state, "furz^0.5", "not a unit");
    refused(state, "m.5", "both sides");
    good(state, "m^-2");
    good(state, "m^2/s");
    good(state, "m2/s3");
    good(state, "1/2 m");
}

static void
reads_fractions_as_exponents(void **state)
{
    const unit *half = good(state, "m^0.5");

    assert_ptr_equal(unit_dimension(half), unit_dimension(good(state, "m^(1/2)")));
    assert_ptr_equal(unit_dimension(half), unit_dimension(good(state, "m**0.5")));
    assert_ptr_equal(unit_dimension(good(state, "N/(m/s)^0.5")), unit_dimension(good(state, "N.s^0.5/m^0.5")));
    assert_ptr_equal(unit_dimension(good(state, "Pa^-0.5.kg^0.5/m^1.5")), unit_dimension(good(state, "s/m")));
    /* 1 m^3/h at 1 bar is 1/3600 m^3/s at 1e5 Pa */
    assert_true(fabs(unit_scale(good(state, "m^3/h/bar^0.5")) * sqrt(1e5) * 3600 - 1) < 1e-12);
    assert_string_equal(unit_text(unit_dimension(half)), "m^0.5");
    assert_string_equal(unit_text(unit_dimension(good(state, "m^(1/3)"))), "m^(1/3)");
    assert_string_equal(unit_text(unit_dimension(good(state, "m^(5/6)"))), "m^(5/6)");
}

static void
refuses_what_means_several_things(void **state)
{
    refused(state, "gal", "US_liquid_gallon");
    refused(state, "gal/min", "US_liquid_gallon");
    refused(state, "ton", "short_ton");
    refused(state, "cal", "thermochemical_calorie");
    refused(state, "oz", "avoirdupois_ounce");
    refused(state, "mb", "mbar");
    refused(state, "A.turn", "pure number");
    refused(state, "A-turn", "pure number");
    refused(state, "W/m^2.K", "W/(m^2.K)");
    refused(state, "J/kg K", "J/(kg K)");
    good(state, "W/(m^2.K)");
    good(state, "W/m^2/K");
    good(state, "kg.m/s^2");
    good(state, "rad/(N.m)/50");
    assert_true(fabs(unit_scale(good(state, "nmi")) - 1852) < 1e-9);
    assert_true(fabs(unit_scale(good(state, "mph")) * 3600 - 1609.344) < 1e-9);
    assert_true(fabs(unit_scale(good(state, "kph")) * 3.6 - 1) < 1e-12);
    assert_true(fabs(unit_scale(good(state, "PS")) - 75 * 9.80665) < 1e-9);
    assert_true(fabs(unit_scale(good(state, "cP")) - 1e-3) < 1e-15);
    assert_true(fabs(unit_scale(good(state, "uM")) - 1e-3) < 1e-15);
    assert_ptr_equal(unit_dimension(good(state, "Ns/m")), unit_dimension(good(state, "N.s/m")));
    refused(state, "kcal", "thermochemical_calorie");
    assert_true(fabs(unit_scale(good(state, "t")) - 1000) < 1e-9);
    assert_true(fabs(unit_scale(good(state, "thermochemical_calorie")) - 4.184) < 1e-9);
    good(state, "short_ton");
    good(state, "long_ton");
    good(state, "US_liquid_gallon");
    good(state, "IT_calorie");
}

static void
refuses_what_is_no_unit(void **state)
{
    char longer[400];

    memset(longer, 'm', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    refused(state, "", "empty");
    refused(state, "  ", "empty");
    refused(state, longer, "long");
    refused(state, "dB", "logarithm");
    refused(state, "furlongs_", "not a unit");
    refused(state, "m/0", "not a unit");
    refused(state, "((((", "not a unit");
    refused(state, "sqrt(m)", "not a unit");
    refused(state, "lg(re 1 mW)", "");
    refused(state, "s since 2000-01-01", "date");
    refused(state, "K @ 273.15", "origin");
    refused(state, "m;s", "does not belong");
    refused(state, "0x10 m", "hexadecimal");
    refused(state, "(m^99)^99)^99", "not a unit");
}

static void
products_and_powers(void **state)
{
    unit_system *s = *state;
    const unit *n = good(state, "kN"), *m = good(state, "mm");

    assert_string_equal(unit_text(unit_multiply(s, n, m)), "J");
    assert_string_equal(unit_text(unit_divide(s, n, m)), "N/m");
    assert_true(unit_scale(unit_multiply(s, n, m)) == 1);
    assert_ptr_equal(unit_power(s, m, 3, 1), unit_dimension(good(state, "l")));
    assert_ptr_equal(unit_power(s, unit_multiply(s, m, m), 1, 2), unit_dimension(m));
    assert_null(unit_power(s, m, 1, 7));
    assert_null(unit_power(s, m, 1, 0));
    assert_ptr_equal(unit_power(s, m, 0, 1), unit_one(s));
    assert_null(unit_power(s, m, 2000000000, 1));
    assert_string_equal(unit_text(unit_power(s, good(state, "s"), -3, 1)), "1/s^3");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_models_use),
        cmocka_unit_test(adds_what_udunits_lacks),
        cmocka_unit_test(reciprocals_are_other_units),
        cmocka_unit_test(equal_dimensions_are_equal_pointers),
        cmocka_unit_test(temperatures_have_an_offset_alone_only),
        cmocka_unit_test(refuses_fractional_exponents),
        cmocka_unit_test(reads_fractions_as_exponents),
        cmocka_unit_test(refuses_what_means_several_things),
        cmocka_unit_test(refuses_what_is_no_unit),
        cmocka_unit_test(products_and_powers),
    };

    return cmocka_run_group_tests(tests, open_system, close_system);
}
