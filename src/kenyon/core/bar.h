/* The threshold of an exact model in integers: what a response must exceed.
 *
 *     (2^12 T + B sqrt(n S - T^2)) / (2^12 n)
 *
 * T is the sum of the responses, S that of their squares over n units, B = 2^12 beta. The root and the division round down. */

#ifndef KENYON_BAR_H
#define KENYON_BAR_H

#include "numbers.h"

#define BAR_FRACTION 12

HELPER int64_t bar_of(int64_t total, int64_t squares, int64_t n_units, int64_t strength, int64_t lowest, int64_t highest)
{
    const int64_t deviation = (int64_t)root_of((uint64_t)(n_units * squares - total * total));
    const int64_t bar = divide(up(total, BAR_FRACTION) + strength * deviation, up(n_units, BAR_FRACTION));
    return clip64(bar, lowest, highest);
}

#endif
