/* Integers of 64 bits: shifts and divisions that round down, roots, and random bits for pairs of numbers. */
#ifndef KENYON_NUMBERS_H
#define KENYON_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#define UNUSED(x) (void)(x)

#ifdef __GNUC__
#define HELPER static inline __attribute__((unused))     /* not every file needs all of them */
#define CALLED static __attribute__((noinline, unused))  /* kept apart, since a call costs little where it stands */
#define INLINED static inline __attribute__((always_inline, unused)) /* made for the constants that it is called with */
#else
#define HELPER static
#define CALLED static
#define INLINED static inline
#endif

HELPER int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

HELPER int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

HELPER int64_t clip64(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

HELPER int64_t absolute(int64_t value)
{
    return value < 0 ? -value : value;
}

/* value / 2^n, rounded down; n from 0 to 63. The compiler makes one instruction of it. */
HELPER int64_t down(int64_t value, int n)
{
    return value < 0 ? ~(int64_t)(~(uint64_t)value >> n) : (int64_t)((uint64_t)value >> n);
}

/* value * 2^n modulo 2^64; n from 0 to 63. */
HELPER int64_t up(int64_t value, int n)
{
    return (int64_t)((uint64_t)value << n);
}

/* a / b, rounded down; b positive. */
HELPER int64_t divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* a / b, rounded down; 0 where b is 0. */
HELPER int64_t floor_divide(int64_t a, int64_t b)
{
    if (b == 0 || b == -1) {
        return b ? (int64_t)(0 - (uint64_t)a) : 0;
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* What is left of it, with the sign of b; 0 where b is 0. */
HELPER int64_t floor_rest(int64_t a, int64_t b)
{
    return b ? (int64_t)((uint64_t)a - (uint64_t)floor_divide(a, b) * (uint64_t)b) : 0;
}

/* Binary digits of a number. */
HELPER int bits_of(uint64_t value)
{
#if defined(__x86_64__) || defined(__aarch64__)
    return value ? 64 - __builtin_clzll(value) : 0;
#else
    int n = 0;
    while (value) {
        value >>= 1;
        n++;
    }
    return n;
#endif
}

/* The square root, rounded down. */
HELPER uint64_t root_of(uint64_t value)
{
    uint64_t root = 0, bit = (uint64_t)1 << 62;
    while (bit > value) {
        bit >>= 2;
    }
    while (bit) {
        if (value >= root + bit) {
            value -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
        bit >>= 2;
    }
    return root;
}

/* SplitMix64's last steps (Steele, Lea and Flood, 2014). */
HELPER uint64_t scramble(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* 64 random bits for a pair of numbers. */
HELPER uint64_t word(uint64_t a, uint64_t b)
{
    return scramble(a * UINT64_C(0x9E3779B97F4A7C15) + b * UINT64_C(0xD1B54A32D192ED03));
}

#endif
