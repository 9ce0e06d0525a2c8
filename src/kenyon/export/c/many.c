/* ---- many samples: features side by side where there are vector registers, then learned one after the other */

#ifdef KENYON_VECTORS
typedef int16_t side __attribute__((vector_size(2 * KENYON_SIDE)));
typedef uint16_t positive_side __attribute__((vector_size(2 * KENYON_SIDE)));
typedef int32_t wide_side __attribute__((vector_size(4 * KENYON_SIDE)));

/* Shifts at a time: as many as registers hold and as sums of 16 bits can take, in whole rows where these are short. */
#ifdef __AVX512VL__
#define REGISTERS 28
#else
#define REGISTERS 12
#endif
#define MOST_SHIFTS (REGISTERS * KENYON_EXCITATORY > 257 ? 257 / KENYON_EXCITATORY : REGISTERS)
#define COLUMNS_AT_ONCE (KENYON_COLUMNS < MOST_SHIFTS ? KENYON_COLUMNS : MOST_SHIFTS)
#define SOME_ROWS (MOST_SHIFTS / COLUMNS_AT_ONCE)
#define ROWS_AT_ONCE (KENYON_ROWS < SOME_ROWS ? KENYON_ROWS : SOME_ROWS)

/* Put some samples side by side, in a border of zeros where there are shifts. */
static void lay_side_by_side(kenyon_room *room, const uint8_t *samples, size_t n)
{
    memset(room->image, 0, sizeof room->image);
    for (size_t s = 0; s < n; s++) {
        const uint8_t *sample = samples + s * KENYON_INPUTS;
        for (uint32_t channel = 0; channel < KENYON_CHANNELS; channel++) {
            for (uint32_t y = 0; y < KENYON_HEIGHT; y++) {
                const uint8_t *from = sample + channel * KENYON_CHANNEL_STEP + y * KENYON_ROW_STEP;
                const uint32_t row = channel * KENYON_PADDED_HEIGHT + y + KENYON_ROWS / 2;
                int16_t(*to)[KENYON_SIDE] = room->image + row * KENYON_STRIDE + KENYON_COLUMNS / 2;
                for (uint32_t x = 0; x < KENYON_WIDTH; x++) {
                    to[x][s] = from[x * KENYON_COLUMN_STEP];
                }
            }
        }
    }
}

static side side_at(int16_t (*image)[KENYON_SIDE], uint32_t place)
{
    side values;
    memcpy(&values, image[place], sizeof values);
    return values;
}

/* What a unit answers to all samples, pooled over the shifts. */
typedef struct {
    side best;
    wide_side total;
} pooled;

/* Pool some rows and columns of shifts, as many as are known where it is called. */
static inline __attribute__((always_inline)) void pool_some(int16_t (*image)[KENYON_SIDE], const kenyon_input *inputs,
                                                            uint32_t rows, uint32_t columns, pooled *so_far)
{
    side sums[ROWS_AT_ONCE][COLUMNS_AT_ONCE] = {{{0}}};
    positive_side positive = {0};
    for (uint32_t k = 0; k < KENYON_EXCITATORY; k++) {
        int16_t(*at)[KENYON_SIDE] = image + inputs[k];
        for (uint32_t row = 0; row < rows; row++) {
            for (uint32_t column = 0; column < columns; column++) {
                sums[row][column] += side_at(at, row * KENYON_STRIDE + column);
            }
        }
    }
    for (uint32_t k = KENYON_EXCITATORY; k < KENYON_CONNECTIONS; k++) {
        int16_t(*at)[KENYON_SIDE] = image + inputs[k];
        for (uint32_t row = 0; row < rows; row++) {
            for (uint32_t column = 0; column < columns; column++) {
                sums[row][column] -= side_at(at, row * KENYON_STRIDE + column);
            }
        }
    }
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < columns; column++) {
            so_far->best = LARGER(so_far->best, sums[row][column]);
            positive += (positive_side)POSITIVE(sums[row][column]);
        }
    }
    so_far->total += __builtin_convertvector(positive, wide_side);
}

static wide_side pool_side_by_side(int16_t (*image)[KENYON_SIDE], const kenyon_input *inputs)
{
    pooled so_far = {.best = ~(side){0} ^ INT16_MAX, .total = {0}};
    for (uint32_t row = 0; row < KENYON_ROWS; row += ROWS_AT_ONCE) {
        for (uint32_t column = 0; column < KENYON_COLUMNS; column += COLUMNS_AT_ONCE) {
            int16_t(*at)[KENYON_SIDE] = image + row * KENYON_STRIDE + column;
            const int whole = column + COLUMNS_AT_ONCE <= KENYON_COLUMNS;
            if (row + ROWS_AT_ONCE <= KENYON_ROWS) {
                if (whole) {
                    pool_some(at, inputs, ROWS_AT_ONCE, COLUMNS_AT_ONCE, &so_far);
                } else {
                    pool_some(at, inputs, ROWS_AT_ONCE, KENYON_COLUMNS % COLUMNS_AT_ONCE, &so_far);
                }
            } else if (whole) {
                pool_some(at, inputs, KENYON_ROWS % ROWS_AT_ONCE, COLUMNS_AT_ONCE, &so_far);
            } else {
                pool_some(at, inputs, KENYON_ROWS % ROWS_AT_ONCE, KENYON_COLUMNS % COLUMNS_AT_ONCE, &so_far);
            }
        }
    }
    return KENYON_BEST ? __builtin_convertvector(so_far.best, wide_side) : so_far.total;
}

static void respond_side_by_side(kenyon_workplace *work, kenyon_room *room)
{
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        const wide_side totals = pool_side_by_side(room->image, inputs_of(work, unit));
        for (uint32_t s = 0; s < KENYON_SIDE; s++) {
            room->responses[s][unit] = (kenyon_response)rooted(totals[s]);
        }
    }
}
#endif

int kenyon_learn_many(kenyon_model *model, kenyon_room *room, const uint8_t *samples, const int32_t *labels, size_t n)
{
    for (size_t s = 0; s < n; s++) {
        if (!is_unlabelled(labels[s]) && place_of(model, labels[s]) < 0) {
            return KENYON_ERROR_LABEL;
        }
    }
#ifdef KENYON_VECTORS
    for (size_t first = 0; first < n; first += KENYON_SIDE) {
        const size_t some = n - first < KENYON_SIDE ? n - first : KENYON_SIDE;
        lay_side_by_side(room, samples + first * KENYON_INPUTS, some);
        respond_side_by_side(&model->scratch.features, room);
        for (size_t s = 0; s < some; s++) {
            if (!is_unlabelled(labels[first + s])) {
                const uint32_t place = (uint32_t)place_of(model, labels[first + s]);
                learn_activity(model, place, settle(model, room->responses[s]));
                model->time++;
            }
        }
    }
#else
    UNUSED(room);
    for (size_t s = 0; s < n; s++) {
        (void)kenyon_learn(model, samples + s * KENYON_INPUTS, labels[s]);
    }
#endif
    return KENYON_OK;
}
