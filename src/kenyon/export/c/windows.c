/* ---- features: windows that a unit looks through, at every shift of them */

#define WINDOW (KENYON_CHANNELS * KENYON_WINDOW_HEIGHT * KENYON_WINDOW_WIDTH)

#if KENYON_TABLES
static const kenyon_input *inputs_of(kenyon_workplace *work, uint32_t unit)
{
    UNUSED(work);
    return kenyon_inputs[unit];
}
#else
#if KENYON_ORIENTED
/* Ascending order; the numbers are all different. */
static void sort(int32_t *numbers, uint32_t n)
{
    for (uint32_t gap = n / 2; gap; gap /= 2) {
        for (uint32_t i = gap; i < n; i++) {
            const int32_t moved = numbers[i];
            uint32_t at = i;
            while (at >= gap && numbers[at - gap] > moved) {
                numbers[at] = numbers[at - gap];
                at -= gap;
            }
            numbers[at] = moved;
        }
    }
}

/* Put the inputs on the excitatory side of a random line first, and give their number. */
static uint32_t side_of_line(kenyon_workplace *work, uint32_t bar)
{
    int32_t across = 0, along = 0, length = 10;
    if (KENYON_WINDOW_HEIGHT == 1) {
        along = 15 - 30 * (int32_t)below(&work->state, 2);
    } else {
        while (across * across + along * along < 100 || across * across + along * along > 225) {
            across = (int32_t)below(&work->state, 31) - 15;
            along = (int32_t)below(&work->state, 31) - 15;
        }
    }
    while ((length + 1) * (length + 1) <= across * across + along * along) {
        length++;
    }
    const int32_t reach = KENYON_WINDOW_WIDTH * length;
    const int32_t most = bar ? 2 * reach / 5 : reach / 2;
    const int32_t offset = (int32_t)below(&work->state, (uint32_t)(2 * most + 1)) - most;
    const int32_t sign = bar ? 1 - 2 * (int32_t)below(&work->state, 2) : 1;
    uint32_t n_side = 0;
    for (int32_t i = 0; i < WINDOW; i++) {
        const int32_t row = i / KENYON_CHANNELS / KENYON_WINDOW_WIDTH;
        const int32_t column = i / KENYON_CHANNELS % KENYON_WINDOW_WIDTH;
        int32_t distance = across * (2 * row - KENYON_WINDOW_HEIGHT + 1) +
                           along * (2 * column - KENYON_WINDOW_WIDTH + 1) + offset;
        if (bar) {
            distance = sign * ((distance < 0 ? -distance : distance) - 2 * reach / 5);
        }
        n_side += distance >= 0;
        work->order[i] = -distance * WINDOW + i;
    }
    sort(work->order, WINDOW);
    for (int32_t i = 0; i < WINDOW; i++) {
        const int32_t rest = work->order[i] % WINDOW;
        work->pool[i] = (kenyon_input)(rest < 0 ? rest + WINDOW : rest);
    }
    return n_side;
}
#endif

/* The inputs of the next unit; units must be asked for in order, from 0 on. */
static const kenyon_input *inputs_of(kenyon_workplace *work, uint32_t unit)
{
    const uint32_t n_inhibitory = KENYON_CONNECTIONS - KENYON_EXCITATORY;
    if (unit == 0) {
        work->state = KENYON_SEED;
        for (uint32_t i = 0; i < WINDOW; i++) {
            work->pool[i] = (kenyon_input)i;
        }
    }
    const uint32_t top = below(&work->state, KENYON_HEIGHT - KENYON_WINDOW_HEIGHT + 1);
    const uint32_t left = below(&work->state, KENYON_WIDTH - KENYON_WINDOW_WIDTH + 1);
    uint32_t cut = KENYON_EXCITATORY;
#if KENYON_ORIENTED
    cut = side_of_line(work, unit % 2 == 0);
    cut = cut < KENYON_EXCITATORY ? KENYON_EXCITATORY : cut > WINDOW - n_inhibitory ? WINDOW - n_inhibitory : cut;
    choose(&work->state, work->pool, cut, KENYON_EXCITATORY);
    choose(&work->state, work->pool + cut, WINDOW - cut, n_inhibitory);
#else
    UNUSED(n_inhibitory);
    choose(&work->state, work->pool, WINDOW, KENYON_CONNECTIONS);
#endif
    for (uint32_t k = 0; k < KENYON_CONNECTIONS; k++) {
        const uint32_t chosen = work->pool[k < KENYON_EXCITATORY ? k : cut + k - KENYON_EXCITATORY];
        const uint32_t place = chosen / KENYON_CHANNELS, channel = chosen % KENYON_CHANNELS;
        const uint32_t row = top + place / KENYON_WINDOW_WIDTH, column = left + place % KENYON_WINDOW_WIDTH;
        work->inputs[k] = (kenyon_input)((channel * KENYON_PADDED_HEIGHT + row) * KENYON_STRIDE + column);
    }
    return work->inputs;
}
#endif

/* The sample, channel by channel, with a border of zeros for the shifts. */
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

/* One more response: the best one so far, or the sum of the positive ones. */
static int32_t pooled(int32_t total, int32_t response)
{
#if KENYON_BEST
    return response > total ? response : total;
#else
    return response > 0 ? total + response : total;
#endif
}

/* The responses of a unit to KENYON_LANES neighbouring shifts, pooled with those before; `some` of them are shifts. */
#if KENYON_PIXEL_BITS == 32
static int32_t respond_at(const kenyon_pixel *image, const kenyon_input *inputs, uint32_t some, int32_t total)
{
    for (uint32_t lane = 0; lane < some; lane++) {
        int32_t sum = 0;
        for (uint32_t k = 0; k < KENYON_EXCITATORY; k++) {
            sum += (int32_t)image[inputs[k] + lane];
        }
        for (uint32_t k = KENYON_EXCITATORY; k < KENYON_CONNECTIONS; k++) {
            sum -= (int32_t)image[inputs[k] + lane];
        }
        total = pooled(total, sum);
    }
    return total;
}
#elif defined(KENYON_WIDE)
/* For processors with vector registers: the compiler makes one operation of each loop over lanes. */
static void add_responses(const kenyon_pixel *image, const kenyon_input *inputs, int32_t *pools)
{
    uint16_t sums[KENYON_LANES] = {0};
    for (uint32_t k = 0; k < KENYON_EXCITATORY; k++) {
        const kenyon_pixel *at = image + inputs[k];
        for (uint32_t lane = 0; lane < KENYON_LANES; lane++) {
            sums[lane] = (uint16_t)(sums[lane] + at[lane]);
        }
    }
    uint16_t less[KENYON_LANES] = {0};
    for (uint32_t k = KENYON_EXCITATORY; k < KENYON_CONNECTIONS; k++) {
        const kenyon_pixel *at = image + inputs[k];
        for (uint32_t lane = 0; lane < KENYON_LANES; lane++) {
            less[lane] = (uint16_t)(less[lane] + at[lane]);
        }
    }
    for (uint32_t lane = 0; lane < KENYON_LANES; lane++) {
        pools[lane] = pooled(pools[lane], (int32_t)sums[lane] - (int32_t)less[lane]);
    }
}
#else
/* For small processors: two responses of 16 bits in a word. They begin high enough that none falls below zero. */
#define BIAS (255u * (KENYON_CONNECTIONS - KENYON_EXCITATORY))

/* Two neighbouring pixels; one instruction where words may lie anywhere. */
static uint32_t two_at(const kenyon_pixel *at)
{
    return at[0] | (uint32_t)at[1] << 16;
}

static int32_t respond_at(const kenyon_pixel *image, const kenyon_input *inputs, uint32_t some, int32_t total)
{
    uint32_t two[KENYON_LANES / 2];
    for (uint32_t word = 0; word < KENYON_LANES / 2; word++) {
        two[word] = BIAS << 16 | BIAS;
    }
    for (uint32_t k = 0; k < KENYON_EXCITATORY; k++) {
        const kenyon_pixel *at = image + inputs[k];
        for (uint32_t word = 0; word < KENYON_LANES / 2; word++) {
            two[word] += two_at(at + 2 * word);
        }
    }
    for (uint32_t k = KENYON_EXCITATORY; k < KENYON_CONNECTIONS; k++) {
        const kenyon_pixel *at = image + inputs[k];
        for (uint32_t word = 0; word < KENYON_LANES / 2; word++) {
            two[word] -= two_at(at + 2 * word);
        }
    }
    for (uint32_t lane = 0; lane < some; lane++) {
        const uint32_t half = lane % 2 ? two[lane / 2] >> 16 : two[lane / 2] & 0xFFFFu;
        total = pooled(total, (int32_t)half - (int32_t)BIAS);
    }
    return total;
}
#endif

static void respond(kenyon_workplace *work, const uint8_t *sample, kenyon_response *responses)
{
    lay_out(work->image, sample);
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        const kenyon_input *inputs = inputs_of(work, unit);
        int32_t total = KENYON_BEST ? INT32_MIN : 0;
#if defined(KENYON_WIDE) && KENYON_PIXEL_BITS == 16
        for (uint32_t column = 0; column < KENYON_COLUMNS; column += KENYON_LANES) {
            int32_t pools[KENYON_LANES];
            for (uint32_t lane = 0; lane < KENYON_LANES; lane++) {
                pools[lane] = KENYON_BEST ? INT32_MIN : 0;
            }
            for (uint32_t row = 0; row < KENYON_ROWS; row++) {
                add_responses(work->image + row * KENYON_STRIDE + column, inputs, pools);
            }
            for (uint32_t lane = 0; lane < KENYON_LANES && column + lane < KENYON_COLUMNS; lane++) {
                total = KENYON_BEST ? pooled(total, pools[lane]) : total + pools[lane];
            }
        }
#else
        for (uint32_t row = 0; row < KENYON_ROWS; row++) {
            for (uint32_t column = 0; column < KENYON_COLUMNS; column += KENYON_LANES) {
                const uint32_t left = KENYON_COLUMNS - column;
                const kenyon_pixel *image = work->image + row * KENYON_STRIDE + column;
                total = respond_at(image, inputs, left < KENYON_LANES ? left : KENYON_LANES, total);
            }
        }
#endif
#if KENYON_ROOT
        total = total < 0 ? 0 : total;
#if KENYON_ROOT_SHIFT >= 0
        total = (int32_t)root_of((uint64_t)total >> KENYON_ROOT_SHIFT);
#else
        total = (int32_t)root_of((uint64_t)total << -(KENYON_ROOT_SHIFT));
#endif
#endif
        responses[unit] = (kenyon_response)total;
    }
}
