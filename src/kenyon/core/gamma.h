/* The regularised upper incomplete gamma function,
 *
 *     Q(a, x) = 1 - x^a e^-x / Gamma(a) * sum over n of x^n / (a (a + 1) .. (a + n))                     for x < a + 1
 *     Q(a, x) = x^a e^-x / Gamma(a) / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ..    elsewhere
 *
 * (Abramowitz and Stegun 6.5.29 and 6.5.31; the fraction by Lentz's method.)
 */

#ifndef KENYON_GAMMA_H
#define KENYON_GAMMA_H

#include <math.h>

#include "numbers.h"

#define GAMMA_EPSILON 1e-15
#define GAMMA_TINY 1e-300
#define GAMMA_STEPS 100000

/* `log_gamma` is log Gamma(a), for a above 0 and x from 0 on. */
HELPER double upper_gamma(double a, double log_gamma, double x)
{
    if (!(x > 0)) {
        return 1;
    }
    const double front = exp(a * log(x) - x - log_gamma);
    if (x < a + 1) {
        double term = 1 / a, total = term;
        for (int n = 1; n < GAMMA_STEPS && term > total * GAMMA_EPSILON; n++) {
            term *= x / (a + n);
            total += term;
        }
        const double rest = 1 - front * total;
        return rest > 0 ? rest : 0;
    }
    double b = x + 1 - a, c = 1 / GAMMA_TINY, d = 1 / b, fraction = d;
    for (int n = 1; n < GAMMA_STEPS; n++) {
        const double factor = -n * (n - a);
        b += 2;
        d = factor * d + b;
        c = b + factor / c;
        d = 1 / (fabs(d) < GAMMA_TINY ? GAMMA_TINY : d);
        c = fabs(c) < GAMMA_TINY ? GAMMA_TINY : c;
        fraction *= d * c;
        if (fabs(d * c - 1) < GAMMA_EPSILON) {
            break;
        }
    }
    return front * fraction;
}

#endif
