/* ---- roots of responses */

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
