/* first_unbearable(samples, limit, absent): row * width + column of the first such value, or -1. */

#include "../check.h"

static int64_t entry_first_unbearable(const kn_value *v)
{
    const int64_t n = v[0].shape[0], width = v[0].shape[1];
    const int64_t row = v[0].strides[0] / v[0].itemsize, step = v[0].strides[1] / v[0].itemsize;
    const int absent = v[2].integer != 0;
    if (v[0].type == 'f') {
        float limit = (float)v[1].number;
        limit = limit > v[1].number ? nextafterf(limit, 0) : limit; /* the largest that is not beyond it */
        return step == 1 ? first_unbearable_float(v[0].data, n, width, row, 1, limit, absent)
                         : first_unbearable_float(v[0].data, n, width, row, step, limit, absent);
    }
    return step == 1 ? first_unbearable_double(v[0].data, n, width, row, 1, v[1].number, absent)
                     : first_unbearable_double(v[0].data, n, width, row, step, v[1].number, absent);
}

#define CHECK_ENTRIES {"first_unbearable", "[fd]2s f i", entry_first_unbearable},
