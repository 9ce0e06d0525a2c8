/* ---- all shifts of a window on small processors: two values of 16 bits in a word, of a place and of one KENYON_APART
 * behind it, so that a word holds the responses at two shifts; they begin high enough that none falls below zero */

#if !defined(KENYON_VECTORS) && KENYON_NARROW
#define WORDS (KENYON_ROWS > 1 ? KENYON_COLUMNS : KENYON_APART)
#define AT_ONCE ((WORDS + (WORDS + 5) / 6 - 1) / ((WORDS + 5) / 6)) /* six at most: what registers hold */
#define BIAS (255u * INHIBITORY)

/* An excitatory input and an inhibitory one are taken together, as long as there are both. */
#define INHIBITORY (KENYON_CONNECTIONS - KENYON_EXCITATORY)
#define PAIRS (KENYON_EXCITATORY < INHIBITORY ? KENYON_EXCITATORY : INHIBITORY)

static void lay_out(kenyon_pixel *image, const uint8_t *sample)
{
    memset(image, 0, sizeof(kenyon_pixel) * (KENYON_PLACES + KENYON_SLACK));
    for (uint32_t channel = 0; channel < KENYON_CHANNELS; channel++) {
        for (uint32_t y = 0; y < KENYON_HEIGHT; y++) {
            const uint8_t *from = sample + channel * KENYON_CHANNEL_STEP + y * KENYON_ROW_STEP;
            uint32_t place = (channel * KENYON_PADDED_HEIGHT + y + KENYON_ROWS / 2) * KENYON_STRIDE + KENYON_COLUMNS / 2;
            for (uint32_t x = 0; x < KENYON_WIDTH; x++, place++, from += KENYON_COLUMN_STEP) {
                image[place] |= *from;
                if (place >= KENYON_APART) {
                    image[place - KENYON_APART] |= (kenyon_pixel)*from << 16;
                }
            }
        }
    }
}

/* Compilers that unroll the loop over inputs run out of registers; of those with eight, sooner or later all do. */
#if defined(__ARM_ARCH_6M__)
#define ROLLED
#elif defined(__clang__)
#define ROLLED _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__) && __GNUC__ >= 8
#define ROLLED _Pragma("GCC unroll 1")
#else
#define ROLLED
#endif

/* The responses at AT_ONCE neighbouring words, pooled with those before. Lower halves up to `low` are those of shifts, and
 * upper ones up to `high`. */
static uint32_t pool_words(const kenyon_pixel *image, const kenyon_input *inputs, uint32_t low, uint32_t high,
                           uint32_t total)
{
    const kenyon_input *less = inputs + KENYON_EXCITATORY;
    const kenyon_input *const more_end = less, *const end = inputs + KENYON_CONNECTIONS;
    uint32_t two[AT_ONCE];
    for (uint32_t word = 0; word < AT_ONCE; word++) {
        two[word] = BIAS << 16 | BIAS;
    }
    ROLLED
    for (uint32_t pair = 0; pair < PAIRS; pair++) {
        const kenyon_pixel *at = image + *inputs++;
        for (uint32_t word = 0; word < AT_ONCE; word++) {
            two[word] += at[word];
        }
        at = image + *less++;
        for (uint32_t word = 0; word < AT_ONCE; word++) {
            two[word] -= at[word];
        }
    }
    while (inputs < more_end) {
        const kenyon_pixel *at = image + *inputs++;
        for (uint32_t word = 0; word < AT_ONCE; word++) {
            two[word] += at[word];
        }
    }
    while (less < end) {
        const kenyon_pixel *at = image + *less++;
        for (uint32_t word = 0; word < AT_ONCE; word++) {
            two[word] -= at[word];
        }
    }
    for (uint32_t word = 0; word < AT_ONCE; word++) {
#if KENYON_BEST /* in the upper half, where the lower one makes no difference */
        const uint32_t upper = word < high ? two[word] : 0, lower = word < low ? two[word] << 16 : 0;
        total = upper > total ? upper : total;
        total = lower > total ? lower : total;
#else
        const uint32_t upper = two[word] >> 16, lower = two[word] & 0xFFFFu;
        total += word < high && upper > BIAS ? upper - BIAS : 0;
        total += word < low && lower > BIAS ? lower - BIAS : 0;
#endif
    }
    return total;
}

/* A row of shifts, and the one below it in the upper halves, of which there are `uppers`. */
static inline uint32_t pool_row(const kenyon_pixel *image, const kenyon_input *inputs, uint32_t uppers, uint32_t total)
{
    for (uint32_t word = 0; word < WORDS; word += AT_ONCE) {
        total = pool_words(image + word, inputs, WORDS - word, uppers > word ? uppers - word : 0, total);
    }
    return total;
}

static int32_t pool(const kenyon_pixel *image, const kenyon_input *inputs)
{
    uint32_t total = 0;
    for (uint32_t row = 0; row + 1 < KENYON_ROWS; row += 2) {
        total = pool_row(image + row * KENYON_STRIDE, inputs, WORDS, total);
    }
    total = pool_row(image + (KENYON_ROWS - 1) * KENYON_STRIDE, inputs, KENYON_ROWS > 1 ? 0 : KENYON_COLUMNS / 2, total);
    return KENYON_BEST ? (int32_t)(total >> 16) - (int32_t)BIAS : (int32_t)total;
}
#endif
