/* ---- whole numbers */

#define UNUSED(x) (void)(x)

#ifdef __GNUC__
#define HELPER static __attribute__((unused)) /* not every model needs all of them */
#else
#define HELPER static
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

/* value * 2^n; n from 0 to 63, and no bit may be lost. */
HELPER int64_t up(int64_t value, int n)
{
    return (int64_t)((uint64_t)value << n);
}

/* a / b, rounded down; b positive. */
HELPER int64_t divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Binary digits of a number. */
HELPER int bits_of(uint64_t value)
{
    int n = 0;
    while (value) {
        value >>= 1;
        n++;
    }
    return n;
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

#if KENYON_ROOT
/* The square root of a pooled response, rounded down; it has 16 bits at most once it is shifted. */
HELPER uint32_t rooted(int32_t total)
{
    uint32_t value = total < 0 ? 0 : (uint32_t)total, root = 0;
#if KENYON_ROOT_SHIFT >= 0
    value >>= KENYON_ROOT_SHIFT;
#else
    value <<= -(KENYON_ROOT_SHIFT);
#endif
    for (uint32_t bit = 128; bit; bit >>= 1) {
        root += (root + bit) * (root + bit) <= value ? bit : 0;
    }
    return root;
}
#else
#define rooted(total) (total)
#endif

/* SplitMix64's last steps (Steele, Lea and Flood, 2014). */
HELPER uint64_t scramble(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}
