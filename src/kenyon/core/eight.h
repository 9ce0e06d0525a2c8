/* Eight numbers side by side: what a rule is computed on. */

#ifndef KENYON_EIGHT_H
#define KENYON_EIGHT_H

#include <math.h>

#include "numbers.h"
#include "vectors.h"

typedef float kn_f8 __attribute__((vector_size(32)));
typedef double kn_d8 __attribute__((vector_size(64)));
typedef int32_t kn_i8 __attribute__((vector_size(32))); /* or a mask: all bits of a number, or none */
typedef int64_t kn_q8 __attribute__((vector_size(64)));

KN_INLINE kn_f8 all_floats(float value)
{
    return value - (kn_f8){0}; /* + would lose the sign of a zero */
}

KN_INLINE kn_d8 all_doubles(double value)
{
    return value - (kn_d8){0};
}

KN_INLINE kn_f8 choose_floats(kn_i8 mask, kn_f8 a, kn_f8 b)
{
    return (kn_f8)((mask & (kn_i8)a) | (~mask & (kn_i8)b));
}

KN_INLINE kn_d8 choose_doubles(kn_i8 mask, kn_d8 a, kn_d8 b)
{
    const kn_q8 wide = __builtin_convertvector(mask, kn_q8);
    return (kn_d8)((wide & (kn_q8)a) | (~wide & (kn_q8)b));
}

/* b < a ? b : a, and b > a ? b : a: what processors have an instruction for, which not every compiler finds. */
KN_INLINE kn_f8 min_floats(kn_f8 a, kn_f8 b)
{
#ifdef __AVX__
    return __builtin_ia32_minps256(b, a);
#else
    return choose_floats(b < a, b, a);
#endif
}

KN_INLINE kn_f8 max_floats(kn_f8 a, kn_f8 b)
{
#ifdef __AVX__
    return __builtin_ia32_maxps256(b, a);
#else
    return choose_floats(b > a, b, a);
#endif
}

KN_INLINE kn_d8 min_doubles(kn_d8 a, kn_d8 b)
{
    const kn_q8 less = b < a;
    return (kn_d8)((less & (kn_q8)b) | (~less & (kn_q8)a));
}

KN_INLINE kn_d8 max_doubles(kn_d8 a, kn_d8 b)
{
    const kn_q8 more = b > a;
    return (kn_d8)((more & (kn_q8)b) | (~more & (kn_q8)a));
}

KN_INLINE kn_f8 abs_floats(kn_f8 a)
{
    return (kn_f8)((kn_i8)a & INT32_MAX);
}

KN_INLINE kn_d8 abs_doubles(kn_d8 a)
{
    return (kn_d8)((kn_q8)a & INT64_MAX);
}

KN_INLINE kn_f8 sqrt_floats(kn_f8 a)
{
    for (int lane = 0; lane < 8; lane++) {
        a[lane] = sqrtf(a[lane]);
    }
    return a;
}

KN_INLINE kn_d8 sqrt_doubles(kn_d8 a)
{
    for (int lane = 0; lane < 8; lane++) {
        a[lane] = sqrt(a[lane]);
    }
    return a;
}

/* Eight bytes as integers of 32 bits. */
KN_INLINE kn_i8 eight_bytes(const uint8_t *from)
{
    typedef uint64_t kn_q2 __attribute__((vector_size(16)));
    typedef uint8_t kn_b16 __attribute__((vector_size(16)));
    typedef uint16_t kn_h8 __attribute__((vector_size(16)));
    uint64_t word;
    memcpy(&word, from, sizeof word);
    const kn_b16 bytes = (kn_b16)(kn_q2){word, 0}, zero = {0};
#if defined(__clang__) || __GNUC__ >= 12
    const kn_h8 wide = (kn_h8)__builtin_shufflevector(bytes, zero, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#else
    const kn_b16 order = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    const kn_h8 wide = (kn_h8)__builtin_shuffle(bytes, zero, order);
#endif
    return __builtin_convertvector(wide, kn_i8); /* in two steps: in one, GCC takes the bytes one by one */
}

#endif
