/* Pooled responses of a single sample, a lane a shift; included by windows.h for each type of PIXEL after
 * windows_block.h, which has the vectors.
 *
 * `together` rows of shifts lie side by side, column by column: item (place * together + t) is the value t rows below a
 * place. So the values at together * columns shifts of an input are neighbours. */

/* How the shifts lie in vectors: groups of `together` rows, each in `each` vectors, the last of which is not full. */
typedef struct {
    const PIXEL *image;
    const void *items; /* (units, connections): place * together, of 16 or, `wide`, of 32 bits */
    int wide;
    int64_t together, n_groups, each;
} NAMED(windows_lanes);

/* The responses of a unit at `n` vectors of shifts, 8 at most, a number that is known where it is called. */
#define EACH_SUM(do) do(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7)
#define DECLARE(i) VECTOR sum_##i = {0};
#define ADD(i)                                                                                                         \
    if (i < n) {                                                                                                       \
        KN_LOAD(values, from + i * IN_VECTOR);                                                                         \
        sum_##i += values;                                                                                             \
    }
#define SUBTRACT(i)                                                                                                    \
    if (i < n) {                                                                                                       \
        KN_LOAD(values, from + i * IN_VECTOR);                                                                         \
        sum_##i -= values;                                                                                             \
    }
#define ADD_INPUT(number, do)                                                                                          \
    {                                                                                                                  \
        const PIXEL *from = image + windows_number(at, wide, number);                                                  \
        EACH_SUM(do)                                                                                                   \
    }
#define GIVE(i)                                                                                                        \
    if (i < n) {                                                                                                       \
        sums[i] = sum_##i;                                                                                             \
    }

/* numbers: where the inputs begin. */
KN_INLINE void NAMED(windows_sums)(const PIXEL *image, const char *numbers, int wide, int64_t n_excitatory,
                                   int64_t n_connections, int n, VECTOR *sums)
{
    const int64_t size = wide ? 4 : 2, four = n <= 2 ? 4 * size : INT32_MAX; /* a loop would cost as much as the sums */
    const char *at = numbers, *const middle = at + n_excitatory * size, *const last = at + n_connections * size;
    VECTOR values;
    EACH_SUM(DECLARE)
    for (; middle - at >= four; at += four) {
        ADD_INPUT(0, ADD) ADD_INPUT(1, ADD) ADD_INPUT(2, ADD) ADD_INPUT(3, ADD)
    }
    for (; at < middle; at += size) {
        ADD_INPUT(0, ADD)
    }
    for (; last - at >= four; at += four) {
        ADD_INPUT(0, SUBTRACT) ADD_INPUT(1, SUBTRACT) ADD_INPUT(2, SUBTRACT) ADD_INPUT(3, SUBTRACT)
    }
    for (; at < last; at += size) {
        ADD_INPUT(0, SUBTRACT)
    }
    EACH_SUM(GIVE)
}

#if defined(PIXEL_FLOAT)
#define MASK windows_mask
#else
#define MASK VECTOR
#endif
#if defined(PIXEL_SHORT)
#define POOL windows_words /* sums of two neighbouring lanes, in 32 bits */
#else
#define POOL VECTOR
#endif
#define IN_POOL ((int)(KN_REGISTER / sizeof(TOTAL)))
#define BATCH 16 /* units whose lanes are pooled side by side */

/* Vectors of responses, of the last of which the lanes inside count, pooled lane by lane. */
KN_INLINE VECTOR NAMED(windows_best_lanes)(const VECTOR *sums, MASK inside, int n)
{
#if defined(PIXEL_FLOAT)
    const VECTOR lowest = (VECTOR){0} - HUGE_VALF;
#else
    const VECTOR lowest = ~(VECTOR){0} ^ (PIXEL)(sizeof(PIXEL) == 2 ? INT16_MAX : INT32_MAX);
#endif
    VECTOR best = (VECTOR)(((MASK)sums[n - 1] & inside) | ((MASK)lowest & ~inside));
    for (int i = 0; i < n - 1; i++) {
        best = NAMED(windows_larger)(best, sums[i]);
    }
    return best;
}

KN_INLINE POOL NAMED(windows_sum_lanes)(VECTOR *sums, MASK inside, int n, int64_t fit)
{
    sums[n - 1] = (VECTOR)((MASK)sums[n - 1] & inside);
    POOL total = {0};
#if defined(PIXEL_SHORT)
    windows_positive some = {0};
    for (int i = 0; i < n; i++) {
        some += (windows_positive)windows_larger_short(sums[i], (VECTOR){0});
        if (fit < n || i == n - 1) {
            total += ((windows_words)some & 0xFFFF) + ((windows_words)some >> 16);
            some = (windows_positive){0};
        }
    }
#else
    (void)fit;
    for (int i = 0; i < n; i++) {
        total += NAMED(windows_larger)(sums[i], (VECTOR){0});
    }
#endif
    return total;
}

/* Pool `n` vectors of shifts from number `first` of a group on into out[unit], for all units; sums of floats are made
 * elsewhere, since their order counts. `out` has room for a multiple of BATCH units. */
KN_INLINE void NAMED(windows_pool_some)(const NAMED(windows_lanes) * lanes, const windows_layer *layer, int wide,
                                        int64_t group, int64_t first, int n, TOTAL *out)
{
    const int64_t most = layer->n_excitatory * 255, fit = most ? 65535 / most : 12;
    const PIXEL *image = lanes->image + group * lanes->together * layer->stride * lanes->together + first * IN_VECTOR;
    const int64_t left = lanes->together * layer->columns - (first + n - 1) * IN_VECTOR;
    PIXEL best[BATCH * IN_VECTOR], turned_best[BATCH * IN_VECTOR];
    TOTAL total[BATCH * IN_POOL], turned_total[BATCH * IN_POOL];
    const int64_t n_excitatory = layer->n_excitatory, n_connections = layer->n_connections;
    const char *numbers = lanes->items;
    MASK inside;
    KN_OPAQUE(image);
    for (int lane = 0; lane < IN_VECTOR; lane++) {
        inside[lane] = lane < left ? -1 : 0;
    }
    memset(best, 0, sizeof best);
    memset(total, 0, sizeof total);
    for (int64_t begin = 0; begin < layer->n_units; begin += BATCH) {
        const int64_t end = begin + BATCH < layer->n_units ? begin + BATCH : layer->n_units;
        TOTAL *to = out + begin;
        for (int64_t unit = begin; unit < end; unit++, numbers += n_connections * (wide ? 4 : 2)) {
            VECTOR sums[8];
            NAMED(windows_sums)(image, numbers, wide, n_excitatory, n_connections, n, sums);
            if (layer->best) {
                const VECTOR pool = NAMED(windows_best_lanes)(sums, inside, n);
                KN_STORE(best + (unit - begin) * IN_VECTOR, pool);
            } else {
                const POOL pool = NAMED(windows_sum_lanes)(sums, inside, n, fit);
                KN_STORE(total + (unit - begin) * IN_POOL, pool);
            }
        }
        if (layer->best) {
            PIXEL pooled[BATCH];
            NAMED(transpose)(best, BATCH, IN_VECTOR, IN_VECTOR, turned_best, BATCH);
            memcpy(pooled, turned_best, sizeof pooled);
            for (int lane = 1; lane < IN_VECTOR; lane++) {
                for (int u = 0; u < BATCH; u++) {
                    const PIXEL other = turned_best[lane * BATCH + u];
                    pooled[u] = pooled[u] > other ? pooled[u] : other;
                }
            }
            for (int u = 0; u < BATCH; u++) {
                to[u] = pooled[u] > to[u] ? pooled[u] : to[u];
            }
        } else {
            NAMED_TOTAL(transpose)(total, BATCH, IN_POOL, IN_POOL, turned_total, BATCH);
            for (int lane = 0; lane < IN_POOL; lane++) {
                for (int u = 0; u < BATCH; u++) {
                    to[u] += turned_total[lane * BATCH + u];
                }
            }
        }
    }
}

#define SOME(n)                                                                                                        \
    static void NAMED(windows_pool_##n)(const NAMED(windows_lanes) * lanes, const windows_layer *layer, int64_t group, \
                                        int64_t first, TOTAL *out)                                                     \
    {                                                                                                                  \
        if (lanes->wide) {                                                                                             \
            NAMED(windows_pool_some)(lanes, layer, 1, group, first, n, out);                                           \
        } else {                                                                                                       \
            NAMED(windows_pool_some)(lanes, layer, 0, group, first, n, out);                                           \
        }                                                                                                              \
    }

SOME(1)
SOME(2)
SOME(3)
SOME(4)
SOME(5)
SOME(6)
SOME(7)
SOME(8)

typedef void (*NAMED(windows_some))(const NAMED(windows_lanes) *, const windows_layer *, int64_t, int64_t, TOTAL *);

static const NAMED(windows_some) NAMED(windows_pools)[9] = {
    NULL,
    NAMED(windows_pool_1),
    NAMED(windows_pool_2),
    NAMED(windows_pool_3),
    NAMED(windows_pool_4),
    NAMED(windows_pool_5),
    NAMED(windows_pool_6),
    NAMED(windows_pool_7),
    NAMED(windows_pool_8),
};

#if defined(PIXEL_FLOAT)
/* Sums of the positive responses of some units, shift after shift: several units at a time, for an addition waits for
 * the one before. `responses` is scratch memory for UNITS_AT_ONCE times the lanes of all vectors. */
#define UNITS_AT_ONCE 8

KN_INLINE void windows_positive_responses(const windows_lanes_float *lanes, const windows_layer *layer, int wide,
                                          int64_t unit, float *to)
{
    const char *numbers = (const char *)lanes->items + unit * layer->n_connections * (wide ? 4 : 2);
    for (int64_t group = 0; group < lanes->n_groups; group++) {
        const float *image = lanes->image + group * lanes->together * layer->stride * lanes->together;
        for (int64_t left = lanes->each; left > 0;) {
            VECTOR sums[8];
            const int n = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
            switch (n) {
            case 8:
                windows_sums_float(image, numbers, wide, layer->n_excitatory, layer->n_connections, 8, sums);
                break;
            case 4:
                windows_sums_float(image, numbers, wide, layer->n_excitatory, layer->n_connections, 4, sums);
                break;
            case 2:
                windows_sums_float(image, numbers, wide, layer->n_excitatory, layer->n_connections, 2, sums);
                break;
            default:
                windows_sums_float(image, numbers, wide, layer->n_excitatory, layer->n_connections, 1, sums);
            }
            for (int i = 0; i < n; i++, to += IN_VECTOR) {
                sums[i] = windows_larger_float(sums[i], (VECTOR){0});
                KN_STORE(to, sums[i]);
            }
            image += n * IN_VECTOR;
            left -= n;
        }
    }
}

KN_INLINE void windows_add_in_order(const windows_lanes_float *lanes, const windows_layer *layer, int wide,
                                    float *responses, float *out)
{
    const int64_t in_group = lanes->each * IN_VECTOR, n_lanes = lanes->n_groups * in_group;
    for (int64_t first = 0; first < layer->n_units; first += UNITS_AT_ONCE) {
        const int64_t left = layer->n_units - first;
        const int n = left < UNITS_AT_ONCE ? (int)left : UNITS_AT_ONCE;
        float totals[UNITS_AT_ONCE] = {0};
        for (int u = 0; u < n; u++) {
            windows_positive_responses(lanes, layer, wide, first + u, responses + u * n_lanes);
        }
        for (int64_t row = 0; row < layer->rows; row++) {
            const float *from = responses + row / lanes->together * in_group + row % lanes->together;
            for (int64_t column = 0; column < layer->columns; column++, from += lanes->together) {
                for (int u = 0; u < UNITS_AT_ONCE; u++) {
                    totals[u] += from[u * n_lanes];
                }
            }
        }
        memcpy(out + first, totals, (size_t)n * sizeof *totals);
    }
}
#endif

static void NAMED(windows_respond_one)(const NAMED(windows_lanes) * lanes, const windows_layer *layer, float *responses,
                                       TOTAL *out)
{
#if defined(PIXEL_FLOAT)
    if (!layer->best) {
        if (lanes->wide) {
            windows_add_in_order(lanes, layer, 1, responses, out);
        } else {
            windows_add_in_order(lanes, layer, 0, responses, out);
        }
        return;
    }
    const TOTAL begin = -HUGE_VALF;
#else
    const TOTAL begin = layer->best ? INT32_MIN : 0;
#endif
    (void)responses;
    for (int64_t unit = 0; unit < (layer->n_units + BATCH - 1) / BATCH * BATCH; unit++) {
        out[unit] = begin;
    }
    for (int64_t group = 0; group < lanes->n_groups; group++) {
        for (int64_t first = 0; first < lanes->each; first += 8) {
            const int64_t left = lanes->each - first;
            NAMED(windows_pools)[left < 8 ? left : 8](lanes, layer, group, first, out);
        }
    }
}

/* Put `together` rows side by side: `plane` has its planes column by column (channels, width, height), with a border of
 * zeros and 16 items more at the end, `image` (channels, height, width, together) and 16 items more. */
static void NAMED(windows_put_side_by_side)(const PIXEL *plane, int64_t channels, int64_t height, int64_t width,
                                            int64_t together, PIXEL *image)
{
    for (int64_t channel = 0; channel < channels; channel++) {
        for (int64_t y = 0; y + together <= height; y++) {
            PIXEL *to = image + (channel * height + y) * width * together;
            const PIXEL *from = plane + channel * width * height + y;
            for (int64_t x = 0; x < width; x++, to += together, from += height) {
                if (together <= 4) { /* the next one covers what is over */
                    memcpy(to, from, 4 * sizeof *to);
                } else if (together <= 8) {
                    memcpy(to, from, 8 * sizeof *to);
                } else {
                    memcpy(to, from, 16 * sizeof *to);
                }
            }
        }
    }
}

#undef SOME
#undef MASK
#undef POOL
#undef IN_POOL
#undef BATCH
#undef VECTOR
#undef EACH_SUM
#undef DECLARE
#undef ADD
#undef SUBTRACT
#undef ADD_INPUT
#undef GIVE
#undef IN_VECTOR
