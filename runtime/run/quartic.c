/* quartic.c - see quartic.h */
#include "quartic.h"

#include <math.h>
#include <string.h>

enum { DEGREE = 4 };

const double quartic_place[3] = { 0.17267316464601142810, 0.5, 0.82732683535398857190 }; /* (1 ∓ sqrt(3/7))/2 */

static double
binomial(int n, int k)
{
    double r = 1;

    for (int i = 1; i <= k; i++)
        r = r * (n - k + i) / i;
    return r;
}

/* Inverts the 5 by 5 table of Bernstein polynomials at the places (Gauss-Jordan with pivoting). */
static void
bernstein_table(double out[3][5])
{
    double a[5][10] = { { 0 } };
    const double s[5] = { 0, quartic_place[0], quartic_place[1], quartic_place[2], 1 };

    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++)
            a[i][j] = binomial(DEGREE, j) * pow(s[i], j) * pow(1 - s[i], DEGREE - j);
        a[i][5 + i] = 1;
    }
    for (int k = 0; k < 5; k++) {
        int p = k;
        double pivot;

        for (int i = k + 1; i < 5; i++)
            if (fabs(a[i][k]) > fabs(a[p][k]))
                p = i;
        for (int j = 0; j < 10; j++) {
            double swap = a[k][j];

            a[k][j] = a[p][j];
            a[p][j] = swap;
        }
        pivot = a[k][k];
        for (int j = 0; j < 10; j++)
            a[k][j] /= pivot;
        for (int i = 0; i < 5; i++) {
            double factor = a[i][k];

            for (int j = 0; i != k && j < 10; j++)
                a[i][j] -= factor * a[k][j];
        }
    }
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 5; j++)
            out[k][j] = a[k + 1][5 + j];
}

void
quartic_make_tables(quartic_tables *t)
{
    memset(t, 0, sizeof *t);
    bernstein_table(t->bernstein);
    for (int j = 0; j <= DEGREE; j++) /* B_i = sum over j >= i of (-1)^(j-i) C(4,j) C(j,i) s^j */
        for (int i = 0; i <= j; i++) {
            double share = ((j - i) % 2 ? -1 : 1) * binomial(DEGREE, j) * binomial(j, i);

            for (int k = 0; k < 5; k++)
                t->monomial[j][k] += share * (i == 0 ? k == 0 : i == DEGREE ? k == DEGREE : t->bernstein[i - 1][k]);
        }
}

void
quartic_bernstein(const quartic_tables *t, const double value[5], double out[5])
{
    out[0] = value[0];
    out[4] = value[4];
    for (int k = 0; k < 3; k++) {
        out[k + 1] = 0;
        for (int j = 0; j < 5; j++)
            out[k + 1] += t->bernstein[k][j] * value[j];
    }
}

void
quartic_monomial(const quartic_tables *t, const double value[5], double out[5])
{
    for (int j = 0; j < 5; j++) {
        out[j] = 0;
        for (int k = 0; k < 5; k++)
            out[j] += t->monomial[j][k] * value[k];
    }
}

double
quartic_value(const double c[5], double s)
{
    return (((c[4] * s + c[3]) * s + c[2]) * s + c[1]) * s + c[0];
}
double
quartic_integral(const double c[5], double s)
{
    return s * (c[0] + s * (c[1] / 2 + s * (c[2] / 3 + s * (c[3] / 4 + s * (c[4] / 5)))));
}

void
quartic_product_root(const quartic_tables *t, double root[5][5])
{
    double mass[5][5] = { { 0 } };

    for (int k = 0; k < 5; k++)
        for (int l = 0; l < 5; l++)
            for (int i = 0; i < 5; i++)
                for (int j = 0; j < 5; j++)
                    mass[k][l] += t->monomial[i][k] * t->monomial[j][l] / (i + j + 1);
    memset(root, 0, sizeof mass);
    for (int r = 0; r < 5; r++) /* Cholesky: mass = root' root */
        for (int k = r; k < 5; k++) {
            double sum = mass[r][k];

            for (int i = 0; i < r; i++)
                sum -= root[i][r] * root[i][k];
            root[r][k] = k == r ? sqrt(sum) : sum / root[r][r];
        }
}

void
quartic_halves(const double b[5], double left[5], double right[5])
{
    double work[5];

    memcpy(work, b, sizeof work);
    for (int k = 0; k < 5; k++) {
        left[k] = work[0];
        right[4 - k] = work[4 - k];
        for (int i = 0; i + 1 < 5 - k; i++)
            work[i] = 0.5 * (work[i] + work[i + 1]);
    }
}
