/* ---- all shifts of a window where there are vector registers: KENYON_TOGETHER rows of them lie side by side, column by
 * column, and vectors take them in */

#ifdef KENYON_VECTORS
typedef int16_t lanes __attribute__((vector_size(32)));
#if KENYON_BEST
typedef lanes pools_of_lanes;
#else
typedef uint16_t pools_of_lanes __attribute__((vector_size(32)));
#endif

#define SHIFTS (KENYON_TOGETHER * KENYON_COLUMNS) /* in one such row */
#define EACH ((SHIFTS + 15) / 16)                 /* vectors for them */
#define ALL (KENYON_ROWS / KENYON_TOGETHER * EACH)
#define MOST (KENYON_EXCITATORY > 21 ? 257 / KENYON_EXCITATORY : 12) /* vectors whose sums 16 bits hold, if not more */
#define AT_ONCE ((ALL + (ALL + MOST - 1) / MOST - 1) / ((ALL + MOST - 1) / MOST))
#define INSIDE(lane) (lane < SHIFTS - 16 * (EACH - 1) ? -1 : 0)

/* Where the last vector of a row has shifts. */
static const lanes inside = {INSIDE(0),  INSIDE(1),  INSIDE(2),  INSIDE(3), INSIDE(4),  INSIDE(5),
                             INSIDE(6),  INSIDE(7),  INSIDE(8),  INSIDE(9), INSIDE(10), INSIDE(11),
                             INSIDE(12), INSIDE(13), INSIDE(14), INSIDE(15)};

static void lay_out(kenyon_pixel *image, const uint8_t *sample)
{
    memset(image, 0, sizeof(kenyon_pixel) * KENYON_IMAGE);
    for (uint32_t channel = 0; channel < KENYON_CHANNELS; channel++) {
        for (uint32_t y = 0; y < KENYON_HEIGHT; y++) {
            const uint8_t *from = sample + channel * KENYON_CHANNEL_STEP + y * KENYON_ROW_STEP;
            const uint32_t row = channel * KENYON_PADDED_HEIGHT + y + KENYON_ROWS / 2;
            for (uint32_t above = 0; above < KENYON_TOGETHER && above <= row; above++) {
                const uint32_t place = (row - above) * KENYON_STRIDE + KENYON_COLUMNS / 2;
                for (uint32_t x = 0; x < KENYON_WIDTH; x++) {
                    image[(place + x) * KENYON_TOGETHER + above] = from[x * KENYON_COLUMN_STEP];
                }
            }
        }
    }
}

/* The values at 16 shifts, of those of an input; zeros where there are no more. */
static inline lanes lanes_at(const kenyon_pixel *at, uint32_t number)
{
    lanes values = {0};
    if (number < ALL) {
        at += number / EACH * KENYON_TOGETHER * KENYON_STRIDE * KENYON_TOGETHER + number % EACH * 16;
        memcpy(&values, at, sizeof values);
    }
    return values;
}

static int32_t pool(const kenyon_pixel *image, const kenyon_input *inputs)
{
    int32_t total = KENYON_BEST ? INT32_MIN : 0;
    for (uint32_t first = 0; first < ALL; first += AT_ONCE) {
        lanes sums[AT_ONCE] = {{0}};
        pools_of_lanes pools = {0};
        for (uint32_t k = 0; k < KENYON_EXCITATORY; k++) {
            const kenyon_pixel *at = image + (uint32_t)inputs[k] * KENYON_TOGETHER;
            for (uint32_t i = 0; i < AT_ONCE; i++) {
                sums[i] += lanes_at(at, first + i);
            }
        }
        for (uint32_t k = KENYON_EXCITATORY; k < KENYON_CONNECTIONS; k++) {
            const kenyon_pixel *at = image + (uint32_t)inputs[k] * KENYON_TOGETHER;
            for (uint32_t i = 0; i < AT_ONCE; i++) {
                sums[i] -= lanes_at(at, first + i);
            }
        }
        for (uint32_t i = 0; i < AT_ONCE && first + i < ALL; i++) {
            const lanes some = (first + i) % EACH == EACH - 1 ? inside : ~(lanes){0};
#if KENYON_BEST
            const lanes pooled = (sums[i] & some) | (~some & INT16_MIN);
            pools = i ? LARGER(pools, pooled) : pooled;
#else
            pools += (pools_of_lanes)(POSITIVE(sums[i]) & some);
#endif
        }
        for (uint32_t lane = 0; lane < 16; lane++) {
#if KENYON_BEST
            total = pools[lane] > total ? pools[lane] : total;
#else
            total += pools[lane];
#endif
        }
    }
    return total;
}
#endif
