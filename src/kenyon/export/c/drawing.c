/* ---- units drawn from the seed, one after the other */

#if !KENYON_TABLES
static uint32_t below(uint64_t *state, uint32_t n)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(((scramble(*state) >> 32) * n) >> 32);
}

/* Bring n entries, chosen at random, to the front of a pool. */
static void choose(uint64_t *state, kenyon_input *pool, uint32_t size, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t other = k + below(state, size - k);
        const kenyon_input kept = pool[k];
        pool[k] = pool[other];
        pool[other] = kept;
    }
}
#endif
