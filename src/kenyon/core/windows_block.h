/* Pooled responses of a block of samples, a lane a sample; included by windows.h for each type of PIXEL.
 *
 * As many samples as a register holds lie side by side, and all units look at them before the next ones come: so that
 * these are in the nearest cache.
 *
 * The responses at some neighbouring shifts, a tile, are summed side by side in registers: an integer number of rows where
 * these are short, else a part of a row. */

typedef PIXEL NAMED(windows_vector) __attribute__((vector_size(KN_REGISTER)));
#define VECTOR NAMED(windows_vector)
#define IN_VECTOR ((int)(KN_REGISTER / sizeof(PIXEL)))

#if defined(PIXEL_SHORT)
typedef uint16_t windows_positive __attribute__((vector_size(KN_REGISTER)));
typedef uint32_t windows_words __attribute__((vector_size(KN_REGISTER)));
#elif defined(PIXEL_FLOAT)
typedef int32_t windows_mask __attribute__((vector_size(KN_REGISTER)));
#endif

KN_INLINE VECTOR NAMED(windows_larger)(VECTOR a, VECTOR b)
{
#if defined(PIXEL_FLOAT)
    return (VECTOR)KN_LARGER_FLOATS(a, b);
#elif defined(PIXEL_SHORT)
    return (VECTOR)KN_LARGER_SHORTS(a, b);
#else
    return KN_LARGER(a, b);
#endif
}

/* The responses of `rows` times `columns` shifts, 12 at most, of all units, pooled with those before; both numbers are
 * known where it is called. (Variables and not an array, so that compilers keep them in registers.)
 *
 * image: the place of the first shift. fit: so many positive responses 16 bits hold. out: (units, LANES), the lanes of
 * these samples; see windows_lane_of for their order. */
#define EACH_SUM(do) do(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11)
#define DECLARE(i) VECTOR sum_##i = {0};
#define LOAD(i) KN_LOAD(values, from + i / columns * below + i % columns * IN_VECTOR);
#define ADD(i)                                                                                                         \
    if (i < rows * columns) {                                                                                          \
        LOAD(i)                                                                                                        \
        sum_##i += values;                                                                                             \
    }
#define SUBTRACT(i)                                                                                                    \
    if (i < rows * columns) {                                                                                          \
        LOAD(i)                                                                                                        \
        sum_##i -= values;                                                                                             \
    }
#define TAKE_LARGER(i)                                                                                                 \
    if (i && i < rows * columns) {                                                                                     \
        sum_0 = NAMED(windows_larger)(sum_0, sum_##i);                                                                 \
    }
#define ADD_POSITIVE(i)                                                                                                \
    if (i < rows * columns) {                                                                                          \
        ADD_ONE(NAMED(windows_larger)(sum_##i, (VECTOR){0}))                                                           \
    }

KN_INLINE void NAMED(windows_tile)(const PIXEL *image, const windows_layer *layer, int wide, int rows, int columns,
                                   int64_t fit, TOTAL *out)
{
    const int64_t below = layer->stride * IN_VECTOR, n_excitatory = layer->n_excitatory, n_units = layer->n_units;
    const int64_t n_connections = layer->n_connections;
    const char *numbers = layer->inputs;
    for (int64_t unit = 0; unit < n_units; unit++, numbers += n_connections * (wide ? 4 : 2), out += LANES) {
        VECTOR values;
        EACH_SUM(DECLARE)
        for (int64_t k = 0; k < n_excitatory; k++) {
            const PIXEL *from = image + (size_t)windows_number(numbers, wide, k) * IN_VECTOR;
            EACH_SUM(ADD)
        }
        for (int64_t k = n_excitatory; k < n_connections; k++) {
            const PIXEL *from = image + (size_t)windows_number(numbers, wide, k) * IN_VECTOR;
            EACH_SUM(SUBTRACT)
        }
        if (layer->best) {
            EACH_SUM(TAKE_LARGER)
            PIXEL flat[IN_VECTOR];
            memcpy(flat, &sum_0, sizeof flat);
            for (int lane = 0; lane < IN_VECTOR; lane++) {
                out[lane] = flat[lane] > out[lane] ? flat[lane] : out[lane];
            }
            continue;
        }
#if defined(PIXEL_SHORT)
        windows_positive some = {0};
        windows_words even, odd;
        KN_LOAD(even, out);
        KN_LOAD(odd, out + IN_VECTOR / 2);
        if (fit >= rows * columns) {
#define ADD_ONE(positive) some += (windows_positive)positive;
            EACH_SUM(ADD_POSITIVE)
#undef ADD_ONE
            even += (windows_words)some & 0xFFFF;
            odd += (windows_words)some >> 16;
        } else {
#define ADD_ONE(positive)                                                                                              \
    some = (windows_positive)positive;                                                                                 \
    even += (windows_words)some & 0xFFFF;                                                                              \
    odd += (windows_words)some >> 16;
            EACH_SUM(ADD_POSITIVE)
#undef ADD_ONE
        }
        KN_STORE(out, even);
        KN_STORE(out + IN_VECTOR / 2, odd);
#else
        VECTOR total;
        KN_LOAD(total, out);
#define ADD_ONE(positive) total += positive;
        EACH_SUM(ADD_POSITIVE)
#undef ADD_ONE
        KN_STORE(out, total);
        (void)fit;
#endif
    }
}

/* The sample of a lane of `out`: sums of 16 bits leave those of even lanes of a register before the odd ones. */
static int NAMED(windows_lane_of)(int lane, int best)
{
#if defined(PIXEL_SHORT)
    const int in = lane % IN_VECTOR, half = IN_VECTOR / 2;
    return best ? lane : lane - in + (in < half ? 2 * in : 2 * (in - half) + 1);
#else
    (void)best;
    return lane;
#endif
}

#define TILE(name, rows, columns, wide)                                                                                \
    static void NAMED(windows_tile_##name)(const PIXEL *image, const windows_layer *layer, int64_t fit, TOTAL *out)    \
    {                                                                                                                  \
        NAMED(windows_tile)(image, layer, wide, rows, columns, fit, out);                                              \
    }

typedef void (*NAMED(windows_tiler))(const PIXEL *, const windows_layer *, int64_t, TOTAL *);

/* Parts of a row by their length; NULL: the next shorter one is taken. Numbers of 32 bits and sums of 32 bits are so rare
 * that fewer lengths will do. */
TILE(1_wide, 1, 1, 1)
TILE(4_wide, 1, 4, 1)
TILE(8_wide, 1, 8, 1)

static const NAMED(windows_tiler) NAMED(windows_wide_parts)[13] = {
    [1] = NAMED(windows_tile_1_wide), [4] = NAMED(windows_tile_4_wide), [8] = NAMED(windows_tile_8_wide)};

TILE(1, 1, 1, 0)
TILE(4, 1, 4, 0)
TILE(8, 1, 8, 0)
#if defined(PIXEL_SHORT) || defined(PIXEL_FLOAT)
TILE(3_rows, 3, 3, 0)
TILE(2_rows, 2, 5, 0)
TILE(2, 1, 2, 0)
TILE(3, 1, 3, 0)
TILE(5, 1, 5, 0)
TILE(6, 1, 6, 0)
TILE(7, 1, 7, 0)
TILE(9, 1, 9, 0)
TILE(10, 1, 10, 0)
TILE(11, 1, 11, 0)
TILE(12, 1, 12, 0)
#endif

static const NAMED(windows_tiler) NAMED(windows_parts)[13] = {
    [1] = NAMED(windows_tile_1),   [4] = NAMED(windows_tile_4),   [8] = NAMED(windows_tile_8),
#if defined(PIXEL_SHORT) || defined(PIXEL_FLOAT)
    [2] = NAMED(windows_tile_2),   [3] = NAMED(windows_tile_3),   [5] = NAMED(windows_tile_5),
    [6] = NAMED(windows_tile_6),   [7] = NAMED(windows_tile_7),   [9] = NAMED(windows_tile_9),
    [10] = NAMED(windows_tile_10), [11] = NAMED(windows_tile_11), [12] = NAMED(windows_tile_12),
#endif
};

/* A number of rows at a time, where there is code for it: NULL where there is none. */
static NAMED(windows_tiler) NAMED(windows_rows)(const windows_layer *layer, int64_t *rows)
{
#if defined(PIXEL_SHORT) || defined(PIXEL_FLOAT)
    if (!layer->wide && (layer->columns == 3 || layer->columns == 5)) {
        *rows = layer->columns == 3 ? 3 : 2;
        return layer->columns == 3 ? NAMED(windows_tile_3_rows) : NAMED(windows_tile_2_rows);
    }
#endif
    *rows = layer->rows + 1;
    return NULL;
}

/* out: (units, LANES). image: (LANES / IN_VECTOR, places, IN_VECTOR). */
static void NAMED(windows_respond)(const PIXEL *image, int64_t n_places, const windows_layer *layer, TOTAL *out)
{
    const NAMED(windows_tiler) *parts = layer->wide ? NAMED(windows_wide_parts) : NAMED(windows_parts);
    const int64_t most = layer->n_excitatory * 255, fit = most ? 65535 / most : 12;
    const int64_t n_parts = (layer->columns + 11) / 12, each = (layer->columns + n_parts - 1) / n_parts;
    int64_t some_rows;
    const NAMED(windows_tiler) tile_rows = NAMED(windows_rows)(layer, &some_rows);
#if defined(PIXEL_FLOAT)
    const TOTAL begin = layer->best ? -HUGE_VALF : 0;
#else
    const TOTAL begin = layer->best ? INT32_MIN : 0;
#endif
    for (int64_t i = 0; i < layer->n_units * LANES; i++) {
        out[i] = begin;
    }
    for (int lane = 0; lane < LANES; lane += IN_VECTOR, image += n_places * IN_VECTOR) {
        int64_t row = 0;
        for (; row + some_rows <= layer->rows; row += some_rows) {
            tile_rows(image + row * layer->stride * IN_VECTOR, layer, fit, out + lane);
        }
        for (; row < layer->rows; row++) {
            for (int64_t column = 0; column < layer->columns;) {
                int64_t n = layer->columns - column < each ? layer->columns - column : each;
                while (!parts[n]) {
                    n--;
                }
                parts[n](image + (row * layer->stride + column) * IN_VECTOR, layer, fit, out + lane);
                column += n;
            }
        }
    }
}

#undef EACH_SUM
#undef DECLARE
#undef LOAD
#undef ADD
#undef SUBTRACT
#undef TAKE_LARGER
#undef ADD_POSITIVE
#undef TILE
