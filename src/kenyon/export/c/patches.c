/* ---- features: small filters that a unit looks for in a part of the image; core/patches.h has the equations */

#define VALUES (KENYON_SIZE * KENYON_SIZE * KENYON_CHANNELS)
#define PATCH_ROW (KENYON_SIZE * KENYON_CHANNELS)
#define VIEW_ROW (KENYON_PADDED_WIDTH * KENYON_CHANNELS)
#define MOST_ROOT ((1 << 20) - 1)

static int32_t inside(int32_t place, int32_t side)
{
    return place < 0 ? 0 : place > 128 * (side - 1) ? 128 * (side - 1) : place;
}

/* One view of the sample inside a border of zeros, its channels side by side; the first is the sample itself. */
static void make_view(uint8_t *view, const uint8_t *sample, int32_t c, int32_t s)
{
    const int32_t height = KENYON_HEIGHT, width = KENYON_WIDTH;
    for (int32_t y = 0; y < height; y++) {
        for (int32_t x = 0; x < width; x++) {
            const int32_t downward = 2 * y - height + 1, right = 2 * x - width + 1;
            const int32_t row = inside(64 * (height - 1) + c * downward - s * right, height);
            const int32_t column = inside(64 * (width - 1) + s * downward + c * right, width);
            const int32_t below = row & 127, beside = column & 127;
            const uint8_t *a = sample + (row >> 7) * KENYON_ROW_STEP + (column >> 7) * KENYON_COLUMN_STEP;
            const uint8_t *b = a + (below ? KENYON_ROW_STEP : 0);
            const int32_t next = beside ? KENYON_COLUMN_STEP : 0;
            uint8_t *to = view + (y + KENYON_BORDER) * VIEW_ROW + (x + KENYON_BORDER) * KENYON_CHANNELS;
            for (int32_t k = 0; k < KENYON_CHANNELS; k++) {
                const int32_t at = k * KENYON_CHANNEL_STEP;
                const int32_t upper = (128 - beside) * a[at] + beside * a[at + next];
                const int32_t lower = (128 - beside) * b[at] + beside * b[at + next];
                to[k] = (uint8_t)(((128 - below) * upper + below * lower + ((int32_t)1 << 13)) >> 14);
            }
        }
    }
}

/* What the contrast of each patch asks its responses to be multiplied by. */
static void measure(const uint8_t *view, int32_t *scales)
{
    const uint64_t above = ((uint64_t)VALUES * VALUES) << (2 * KENYON_SCALE_BITS);
    for (int32_t row = 0; row < KENYON_PLACE_ROWS; row++) {
        for (int32_t column = 0; column < KENYON_PLACE_COLUMNS; column++) {
            int32_t sum = 0, squares = 0;
            for (int32_t r = 0; r < KENYON_SIZE; r++) {
                const uint8_t *from = view + (row + r) * VIEW_ROW + column * KENYON_CHANNELS;
                for (int32_t k = 0; k < PATCH_ROW; k++) {
                    sum += from[k];
                    squares += (int32_t)from[k] * from[k];
                }
            }
            const int64_t spread = (int64_t)VALUES * squares - (int64_t)sum * sum + KENYON_FLOOR;
            scales[row * KENYON_PLACE_COLUMNS + column] = (int32_t)root_of(above / (uint64_t)spread);
        }
    }
}

/* What a filter, or its mirror image, finds from a corner on. */
static int32_t find(const kenyon_workplace *work, const int8_t *filter, int32_t top, int32_t left, int mirrored)
{
    int32_t total = 0;
    for (int32_t row = top; row < top + KENYON_POOL; row++) {
        for (int32_t column = left; column < left + KENYON_POOL; column++) {
            int32_t dot = 0;
            for (int32_t r = 0; r < KENYON_SIZE; r++) {
                const uint8_t *from = work->view + (row + r) * VIEW_ROW + column * KENYON_CHANNELS;
                for (int32_t x = 0; x < KENYON_SIZE; x++) {
                    const int32_t across = mirrored ? KENYON_SIZE - 1 - x : x;
                    const int8_t *with = filter + (r * KENYON_SIZE + across) * KENYON_CHANNELS;
                    for (int32_t k = 0; k < KENYON_CHANNELS; k++) {
                        dot += (int32_t)with[k] * from[x * KENYON_CHANNELS + k];
                    }
                }
            }
            const int32_t above = dot * work->scales[row * KENYON_PLACE_COLUMNS + column] - KENYON_PATCH_THRESHOLD;
            total += above > 0 ? above >> KENYON_PATCH_DOWN : 0;
        }
    }
    return total;
}

static void respond(kenyon_workplace *work, const uint8_t *sample, kenyon_response *responses)
{
    memset(work, 0, sizeof *work);
    for (uint32_t view = 0; view < KENYON_VIEWS; view++) {
        make_view(work->view, sample, kenyon_views[view][0], kenyon_views[view][1]);
        measure(work->view, work->scales);
        for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
            const uint32_t point = unit % (KENYON_GRID * KENYON_GRID);
            const int32_t top = kenyon_points[0][point / KENYON_GRID], left = kenyon_points[1][point % KENYON_GRID];
            for (int copy = 0; copy < KENYON_COPIES; copy++) {
                const int32_t from = copy ? KENYON_WIDTH - KENYON_SIZE - left : left;
                const int32_t mean = find(work, kenyon_filters[unit], top, from, copy) / KENYON_PATCH_UNIT;
                work->roots[unit] += (uint16_t)root_of((uint64_t)(mean < MOST_ROOT ? mean : MOST_ROOT));
            }
        }
    }
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        const uint32_t value = work->roots[unit] / (2u * KENYON_COPIES * KENYON_VIEWS);
        responses[unit] = (kenyon_response)(value < 255 ? value : 255);
    }
}
