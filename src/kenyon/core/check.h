/* The first value that no layer could bear: beyond a limit, or NaN unless NaN stands for an absent value. */

#include "vectors.h"

/* Row and column packed into one number, or -1. Strides are in items. */
#define CHECK(name, number)                                                                                            \
    static int64_t name(const number *samples, int64_t n, int64_t width, int64_t row_stride, int64_t stride,           \
                        number limit, int absent)                                                                      \
    {                                                                                                                  \
        for (int64_t s = 0; s < n; s++) {                                                                              \
            const number *row = samples + s * row_stride;                                                              \
            int64_t good = 0; /* no early exit: this loop runs on vectors */                                           \
            for (int64_t i = 0; i < width; i++) {                                                                      \
                const number value = row[i * stride];                                                                  \
                good += ((value >= -limit) & (value <= limit)) | (absent & (value != value));                          \
            }                                                                                                          \
            for (int64_t i = 0; good < width && i < width; i++) {                                                      \
                const number value = row[i * stride];                                                                  \
                if (!(value >= -limit && value <= limit) && !(absent && value != value)) {                             \
                    return s * width + i;                                                                              \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        return -1;                                                                                                     \
    }

CHECK(first_unbearable_float, float)
CHECK(first_unbearable_double, double)
