/* draw.c - see draw.h */
#include "draw.h"

#include <math.h>

#define ROUNDS 10

void
draw_words(const uint32_t count[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c[4] = { count[0], count[1], count[2], count[3] }, k[2] = { key[0], key[1] };

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t a = UINT64_C(0xd2511f53) * c[0], b = UINT64_C(0xcd9e8d57) * c[2];
        uint32_t next[4] = { (uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k[1],
                             (uint32_t)a };

        for (int i = 0; i < 4; i++)
            c[i] = next[i];
        k[0] += UINT32_C(0x9e3779b9);
        k[1] += UINT32_C(0xbb67ae85);
    }
    for (int i = 0; i < 4; i++)
        out[i] = c[i];
}

/* 52 bits and a half, so the number is neither 0 nor 1 */
double
draw_uniform(int64_t seed, int64_t k)
{
    uint64_t s = (uint64_t)seed, n = (uint64_t)k;
    uint32_t out[4];

    draw_words((uint32_t[4]){ (uint32_t)n, (uint32_t)(n >> 32), 0, 0 },
               (uint32_t[2]){ (uint32_t)s, (uint32_t)(s >> 32) }, out);
    return ((double)(((uint64_t)out[1] << 32 | out[0]) >> 12) + 0.5) * 0x1p-52;
}

/* The last bit of the library's logarithm may differ between machines. So the logarithm of the mantissa, in [0.7,
 * 1.4], is computed by its series. */
static double
exact_logarithm(double x)
{
    static const double ln2 = 0.69314718055994530942, least = 0.70710678118654752440; /* sqrt(1/2) */
    int exponent;
    double m = frexp(x, &exponent), z, square, term, sum = 0;

    if (m < least) {
        m *= 2;
        exponent--;
    }
    z = (m - 1) / (m + 1);
    square = z * z;
    term = z;
    for (int k = 1; k < 60 && sum + term / k != sum; k += 2, term *= square)
        sum += term / k;
    return 2 * sum + exponent * ln2;
}

static double
ratio(const double a[8], const double b[8], double x)
{
    double above = a[7], below = b[7];

    for (int i = 6; i >= 0; i--) {
        above = above * x + a[i];
        below = below * x + b[i];
    }
    return above / below;
}

double
normal_quantile(double p)
{
    static const double near_a[8] = { 3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                      1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                      3.3430575583588128105e+4, 2.5090809287301226727e+3 },
                        near_b[8] = { 1,
                                      4.2313330701600911252e+1,
                                      6.8718700749205790830e+2,
                                      5.3941960214247511077e+3,
                                      2.1213794301586595867e+4,
                                      3.9307895800092710610e+4,
                                      2.8729085735721942674e+4,
                                      5.2264952788528545610e+3 },
                        middle_a[8] = { 1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                        3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                        2.27238449892691845833e-2, 7.74545014278341407640e-4 },
                        middle_b[8] = { 1,
                                        2.05319162663775882187e0,
                                        1.67638483018380384940e0,
                                        6.89767334985100004550e-1,
                                        1.48103976427480074590e-1,
                                        1.51986665636164571966e-2,
                                        5.47593808499534494600e-4,
                                        1.05075007164441684324e-9 },
                        far_a[8] = { 6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                     2.71155556874348757815e-5, 2.01033439929228813265e-7 },
                        far_b[8] = { 1,
                                     5.99832206555887937690e-1,
                                     1.36929880922735805310e-1,
                                     1.48753612908506148525e-2,
                                     7.86869131145613259100e-4,
                                     1.84631831751005468180e-5,
                                     1.42151175831644588870e-7,
                                     2.04426310338993978564e-15 };
    double q = p - 0.5, r, x;

    if (fabs(q) <= 0.425)
        return q * ratio(near_a, near_b, 0.180625 - q * q);
    r = sqrt(-exact_logarithm(q < 0 ? p : 1 - p));
    x = r <= 5 ? ratio(middle_a, middle_b, r - 1.6) : ratio(far_a, far_b, r - 5);
    return q < 0 ? -x : x;
}

double
draw_normal(int64_t seed, int64_t k)
{
    return normal_quantile(draw_uniform(seed, k));
}
