/* ---- features: what a unit answers at every shift of its window, pooled
 *
 * The sample lies channel by channel in a border of zeros, so that a shift is an offset. Where a response fits 16 bits,
 * every place also holds the values that other shifts find there (lay_out and pool are above): one load then serves
 * several shifts.
 */

#if !KENYON_NARROW /* units with very many inputs: one shift after the other */
static void lay_out(kenyon_pixel *image, const uint8_t *sample)
{
    memset(image, 0, sizeof(kenyon_pixel) * (KENYON_PLACES + KENYON_SLACK));
    for (uint32_t channel = 0; channel < KENYON_CHANNELS; channel++) {
        for (uint32_t y = 0; y < KENYON_HEIGHT; y++) {
            kenyon_pixel *row = image + (channel * KENYON_PADDED_HEIGHT + y + KENYON_ROWS / 2) * KENYON_STRIDE;
            const uint8_t *from = sample + channel * KENYON_CHANNEL_STEP + y * KENYON_ROW_STEP;
            for (uint32_t x = 0; x < KENYON_WIDTH; x++) {
                row[x + KENYON_COLUMNS / 2] = from[x * KENYON_COLUMN_STEP];
            }
        }
    }
}

static int32_t pool(const kenyon_pixel *image, const kenyon_input *inputs)
{
    int32_t total = KENYON_BEST ? INT32_MIN : 0;
    for (uint32_t row = 0; row < KENYON_ROWS; row++) {
        for (uint32_t column = 0; column < KENYON_COLUMNS; column++) {
            const kenyon_pixel *at = image + row * KENYON_STRIDE + column;
            int32_t sum = 0;
            for (uint32_t k = 0; k < KENYON_EXCITATORY; k++) {
                sum += (int32_t)at[inputs[k]];
            }
            for (uint32_t k = KENYON_EXCITATORY; k < KENYON_CONNECTIONS; k++) {
                sum -= (int32_t)at[inputs[k]];
            }
            total = KENYON_BEST ? (sum > total ? sum : total) : sum > 0 ? total + sum : total;
        }
    }
    return total;
}
#endif

static void respond(kenyon_workplace *work, const uint8_t *sample, kenyon_response *responses)
{
    lay_out(work->image, sample);
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        responses[unit] = (kenyon_response)rooted(pool(work->image, inputs_of(work, unit)));
    }
}
