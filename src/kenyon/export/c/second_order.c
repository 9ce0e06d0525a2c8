/* ---- the layer: co-activity of units and class means in few bits
 *
 * kenyon.layers.SecondOrderLayer in Python keeps the same. Entries are thinned, not rounded: where the diagonal has no
 * room, all of them are halved, and from then on half as many samples are let in.
 */

#define MOST_HALVINGS 62
#define MOST_DOUBLINGS 8
#define MOST_TAUGHT ((uint64_t)1 << 62)
#define LONG ((uint64_t)1 << 30) /* samples of a class, from which on sums of 32 bits are too short */
#define LIMIT ((int32_t)((1u << (KENYON_BITS - 1)) - 1))

/* An entry from its bits. */
static int32_t pair_from(uint32_t bits)
{
    const uint32_t sign = (uint32_t)1 << (KENYON_BITS - 1);
    return (int32_t)(bits ^ sign) - (int32_t)sign;
}

#if KENYON_BITS == 16
static int32_t get_pair(const kenyon_model *model, uint32_t k)
{
    return model->pairs[k];
}

static void put_pair(kenyon_model *model, uint32_t k, int32_t value)
{
    model->pairs[k] = (int16_t)value;
}
#else
static int32_t get_pair(const kenyon_model *model, uint32_t k)
{
    const uint8_t *three = model->pairs + 3 * k;
    return pair_from(three[0] | (uint32_t)three[1] << 8 | (uint32_t)three[2] << 16);
}

static void put_pair(kenyon_model *model, uint32_t k, int32_t value)
{
    uint8_t *three = model->pairs + 3 * k;
    three[0] = (uint8_t)value;
    three[1] = (uint8_t)((uint32_t)value >> 8);
    three[2] = (uint8_t)((uint32_t)value >> 16);
}
#endif

/* Add the products of a unit with all units up to it, to its row of the triangle, which begins at k. */
static void add_row(kenyon_model *model, uint32_t k, const int16_t *restrict distances, uint32_t unit)
{
    const int32_t own = distances[unit];
#if KENYON_BITS == 16
    int16_t *restrict row = model->pairs + k;
    for (uint32_t j = 0; j <= unit; j++) {
        row[j] = (int16_t)(row[j] + own * distances[j]);
    }
#else
    for (uint32_t j = 0; j <= unit; j++) {
        put_pair(model, k + j, get_pair(model, k + j) + own * distances[j]);
    }
#endif
}

/* 64 random bits for a pair of numbers. */
static uint64_t word(uint64_t a, uint64_t b)
{
    return scramble(a * UINT64_C(0x9E3779B97F4A7C15) + b * UINT64_C(0xD1B54A32D192ED03));
}

static uint64_t samples_taught(const kenyon_model *model)
{
    uint64_t total = 0;
    for (uint32_t place = 0; place < model->n_classes; place++) {
        total += model->taught[place];
    }
    return total;
}

/* How far a unit's activity is from the mean of its class, in whole steps. */
static int16_t distance_of(const kenyon_model *model, uint32_t place, const uint8_t *activity, uint32_t unit)
{
    const int shift = 8 + model->doublings;
    const int32_t distance = (int32_t)activity[unit] * 256 - model->means[place][unit];
    const int32_t rounded = distance + ((int32_t)1 << (shift - 1)), beyond = -(rounded < 0);
    return (int16_t)(((rounded ^ beyond) >> shift) ^ beyond);
}

/* Divide every entry by 2^places, rounded up or down by chance; the diagonal up, so that no entry outgrows it. */
static void divide_pairs(kenyon_model *model, int places)
{
    const uint64_t key = 256u * (uint64_t)model->doublings + model->halvings;
    const int32_t most = ((int32_t)1 << places) - 1;
    uint32_t k = 0;
    for (uint32_t i = 0; i < KENYON_UNITS; i++) {
        for (uint32_t j = 0; j <= i; j++, k++) {
            const int32_t more = i == j ? most : (int32_t)(word(key, k) >> 32) & most;
            put_pair(model, k, (int32_t)down(get_pair(model, k) + more, places));
        }
    }
    model->updates += KENYON_PAIRS;
}

/* Let a sample into the co-activity, if the diagonal has room for it. */
static int add_pairs(kenyon_model *model, uint32_t place, const uint8_t *activity)
{
    int16_t *distances = model->scratch.distances;
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        distances[unit] = distance_of(model, place, activity, unit);
    }
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        if (get_pair(model, unit * (unit + 3) / 2) + distances[unit] * distances[unit] > LIMIT) {
            return 0;
        }
    }
    for (uint32_t i = 0, k = 0; i < KENYON_UNITS; k += ++i) {
        add_row(model, k, distances, i);
    }
    model->updates += KENYON_PAIRS;
    return 1;
}

/* chance n / 2^32, rounded down. */
static uint64_t share_of(uint64_t chance, uint64_t n)
{
    return chance * (n >> 32) + (chance * (n & 0xFFFFFFFFu) >> 32);
}

/* The mean of n values in 1/256 that has just been moved by the last of them: by (distance + part) / n, rounded down,
 * with part below n. In 32 bits and without a division, which vectors and small processors do not have: `over` is 2^32 / n
 * rounded down, and what is divided is made positive first. */
static uint16_t moved_mean(int32_t mean, int32_t distance, uint32_t part, uint32_t n, uint32_t over, uint32_t enough)
{
    const uint32_t sum = (uint32_t)(distance + (int32_t)(enough * n)) + part;
    const uint32_t about = (uint32_t)((uint64_t)sum * over >> 32);
    const uint32_t steps = about + (sum - about * n >= n);
    return (uint16_t)(mean + (int32_t)steps - (int32_t)enough);
}

/* Move the mean of a class, whose n-th sample this is. */
static void move_mean(kenyon_model *model, uint32_t place, const uint8_t *activity, uint64_t n, uint64_t key)
{
    uint16_t *means = model->means[place];
    if (n == 1 || n >= LONG) {
        for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
            const int64_t part = (int64_t)share_of(word(key, unit + 1) >> 32, n);
            const int64_t sum = (int64_t)activity[unit] * 256 - means[unit] + part;
            means[unit] = (uint16_t)(means[unit] + divide(sum, (int64_t)n));
        }
        return;
    }
    const uint32_t count = (uint32_t)n, over = (uint32_t)(((uint64_t)1 << 32) / n), enough = 65535 / count + 1;
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        const uint32_t part = (uint32_t)((word(key, unit + 1) >> 32) * count >> 32);
        means[unit] = moved_mean(means[unit], (int32_t)activity[unit] * 256 - means[unit], part, count, over, enough);
    }
}

static void learn_activity(kenyon_model *model, uint32_t place, const uint8_t *activity)
{
    const uint64_t time = samples_taught(model), n = model->taught[place] + 1;
    const uint64_t key = word(time, 0);
    model->solved = 0;
    while (n > 1 && (key >> 16 & (((uint64_t)1 << model->halvings) - 1)) == 0) {
        if (add_pairs(model, place, activity)) {
            break;
        }
        const int enough = time >> model->halvings >= KENYON_ENOUGH;
        uint8_t *scale = enough ? &model->halvings : &model->doublings;
        *scale = (uint8_t)(*scale < (enough ? MOST_HALVINGS : MOST_DOUBLINGS) ? *scale + 1 : *scale);
        divide_pairs(model, enough ? 1 : 2);
    }
    model->taught[place] = n;
    move_mean(model, place, activity, n, key);
}

static void clear_class(kenyon_model *model, uint32_t place)
{
    model->taught[place] = 0;
    memset(model->means[place], 0, sizeof model->means[place]);
    model->solved = 0;
}

static void move_class(kenyon_model *model, uint32_t to, uint32_t from)
{
    model->taught[to] = model->taught[from];
    memcpy(model->means[to], model->means[from], sizeof model->means[from]);
}

/* Scale the co-activity down with the samples, before a class is forgotten: the others are told apart as before. */
static void forget_share(kenyon_model *model, uint32_t place)
{
    uint64_t before = samples_taught(model), after = before - model->taught[place];
    const int wide = bits_of(before), shift = wide > 38 ? wide - 38 : 0;
    after >>= shift;
    before >>= shift;
    before = before ? before : 1;
    for (uint32_t k = 0; k < KENYON_PAIRS; k++) {
        const int64_t scaled = 2 * (int64_t)get_pair(model, k) * (int64_t)after + (int64_t)before;
        put_pair(model, k, (int32_t)divide(scaled, 2 * (int64_t)before));
    }
}

static void clear_layer(kenyon_model *model)
{
    model->halvings = model->doublings = 0;
    memset(model->pairs, 0, sizeof model->pairs);
    model->solved = 0;
}
