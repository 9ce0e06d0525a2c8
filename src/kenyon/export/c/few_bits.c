/* ---- the layer: weights of few bits, each step rounded by chance
 *
 * kenyon.layers.FewBitLayer in Python defines every bit of it. The functions rule_step, rule_limit and rule_score in
 * kenyon_model.h are the rule's own.
 */

#define LEVELS (KENYON_SIGNED ? KENYON_BITS - 1 : KENYON_BITS)
#define TOP (((int32_t)1 << LEVELS) - 1)
#define LOW (KENYON_SIGNED ? -TOP : 0)
#define MASK ((1u << KENYON_BITS) - 1)
#define MOST_TAUGHT ((int64_t)INT32_MAX)
#define LARGEST_STEP ((int64_t)1 << 34)

/* Bits of the fraction with which a limit in levels is taken. */
#define PARTS (KENYON_LIMITED && KENYON_BITS < 7 ? 7 - KENYON_BITS : 0)

static int32_t get_level(const uint8_t *column, uint32_t unit)
{
    const uint32_t bit = unit * KENYON_BITS, shift = bit % 8;
    uint32_t level = column[bit / 8];
    if (shift + KENYON_BITS > 8) {
        level |= (uint32_t)column[bit / 8 + 1] << 8;
    }
    level = level >> shift & MASK;
    return KENYON_SIGNED && level > MASK / 2 ? (int32_t)level - (int32_t)MASK - 1 : (int32_t)level;
}

static void put_level(uint8_t *column, uint32_t unit, int32_t level)
{
    const uint32_t bit = unit * KENYON_BITS, shift = bit % 8;
    const uint32_t field = MASK << shift, bits = ((uint32_t)level & MASK) << shift;
    column[bit / 8] = (uint8_t)((column[bit / 8] & ~field) | bits);
    if (shift + KENYON_BITS > 8) {
        column[bit / 8 + 1] = (uint8_t)((column[bit / 8 + 1] & ~(field >> 8)) | bits >> 8);
    }
}

/* The last step of MurmurHash3 (Appleby, 2011). */
static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    return x ^ x >> 16;
}

/* 32 random bits: those of a number in the series of a key. */
static uint32_t chance(uint32_t key, uint32_t number)
{
    return mix(key + 0x9E3779B9u * (number + 1));
}

/* Which units are active. Where memory is scarce nobody keeps a list, and every unit is looked at. */
typedef struct {
#ifdef KENYON_VECTORS
    uint32_t n, units[KENYON_UNITS];
#else
    uint8_t nothing;
#endif
} active_units;

static void list_active(const uint8_t *activity, active_units *active)
{
#ifdef KENYON_VECTORS
    uint32_t n = 0;
    for (uint32_t first = 0; first < KENYON_UNITS; first += 8) {
        const uint32_t last = KENYON_UNITS - first < 8 ? KENYON_UNITS : first + 8;
        uint64_t eight = 1;
        if (last == first + 8) {
            memcpy(&eight, activity + first, sizeof eight);
        }
        for (uint32_t unit = first; eight && unit < last; unit++) {
            active->units[n] = unit;
            n += activity[unit] != 0;
        }
    }
    active->n = n;
#else
    UNUSED(activity);
    UNUSED(active);
#endif
}

#ifdef KENYON_VECTORS
#define N_LISTED(active) ((active)->n)
#define LISTED(active, i) ((active)->units[i])
#else
#define N_LISTED(active) KENYON_UNITS
#define LISTED(active, i) (i)
#endif

/* 2^32 over the length of the activity in sixteenths; 0 where no unit is active. */
static int64_t reciprocal_of(const uint8_t *activity, const active_units *active)
{
    uint64_t squares = 0;
    UNUSED(active);
    for (uint32_t i = 0; i < N_LISTED(active); i++) {
        const uint32_t value = activity[LISTED(active, i)];
        squares += value * value;
    }
    const uint64_t length = root_of(squares << 8);
    return length ? (int64_t)(((uint64_t)1 << 32) / length) : 0;
}

static int64_t score_of(const kenyon_model *model, uint32_t place, const uint8_t *activity, const active_units *active,
                        int64_t reciprocal)
{
    const int64_t taught = max64(1, model->taught[place]);
    const int exponent = model->exponents[place];
    int32_t sum = 0;
#if KENYON_LIMITED
    const int32_t most = (int32_t)min64(up(TOP, PARTS), down(up(rule_limit(taught, TOP), PARTS), exponent));
#endif
    UNUSED(active);
    for (uint32_t i = 0; i < N_LISTED(active); i++) {
        const uint32_t unit = LISTED(active, i);
        if (activity[unit]) {
            int32_t level = get_level(model->weights[place], unit) * (1 << PARTS);
#if KENYON_LIMITED
            level = level < most ? level : most;
#endif
            sum += level * activity[unit];
        }
    }
    return rule_score(up(down(sum * reciprocal, 28 - KENYON_FRACTION + PARTS), exponent), taught);
}

#if KENYON_LIMITED
/* Halve the levels of a class until the rule's limit fits into them. */
static void halve(kenyon_model *model, uint32_t place, uint32_t key)
{
    while (rule_limit(model->taught[place], TOP) > up(TOP, model->exponents[place])) {
        const uint32_t again = mix(key + model->exponents[place] + 1);
        for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
            const int32_t level = get_level(model->weights[place], unit) + (int32_t)(chance(again, unit) >> 31);
            put_level(model->weights[place], unit, (int32_t)down(level, 1));
        }
        model->exponents[place]++;
    }
}
#endif

static void learn_activity(kenyon_model *model, uint32_t place, const uint8_t *activity)
{
    active_units active;
    list_active(activity, &active);
    const int64_t reciprocal = reciprocal_of(activity, &active);
    const int64_t score = score_of(model, place, activity, &active, reciprocal);
    const int64_t taught = min64((int64_t)model->taught[place] + 1, MOST_TAUGHT);
    const uint32_t key = chance(mix(KENYON_CHANCE_SEED + 0x9E3779B9u * (uint32_t)taught), place);
    model->taught[place] = (uint32_t)taught;
#if KENYON_LIMITED
    halve(model, place, key);
#endif
    for (uint32_t i = 0; i < N_LISTED(&active); i++) {
        const uint32_t unit = LISTED(&active, i);
        if (activity[unit]) {
            const int32_t level = get_level(model->weights[place], unit);
            const int64_t step = clip64(rule_step(score, level, taught), -LARGEST_STEP, LARGEST_STEP);
            const int64_t change = down(activity[unit] * down(step * reciprocal, 12), model->exponents[place]);
            const int64_t moved = down(change + chance(key, unit), 32);
            put_level(model->weights[place], unit, (int32_t)clip64(level + moved, LOW, TOP));
            model->updates++;
        }
    }
}

static void prepare(kenyon_model *model)
{
    UNUSED(model);
}

static void score_activity(kenyon_model *model, const uint8_t *activity, int32_t *scores)
{
    active_units active;
    list_active(activity, &active);
    const int64_t reciprocal = reciprocal_of(activity, &active);
    for (uint32_t place = 0; place < model->n_classes; place++) {
        scores[place] = (int32_t)score_of(model, place, activity, &active, reciprocal);
    }
}

static void clear_class(kenyon_model *model, uint32_t place)
{
    model->taught[place] = 0;
    model->exponents[place] = 0;
    memset(model->weights[place], 0, KENYON_COLUMN);
}

static void move_class(kenyon_model *model, uint32_t to, uint32_t from)
{
    model->taught[to] = model->taught[from];
    model->exponents[to] = model->exponents[from];
    memcpy(model->weights[to], model->weights[from], KENYON_COLUMN);
}

/* What all classes share; there is nothing. */
static void forget_share(kenyon_model *model, uint32_t place)
{
    UNUSED(model);
    UNUSED(place);
}

static void clear_layer(kenyon_model *model)
{
    UNUSED(model);
}

int32_t kenyon_weight(kenyon_model *model, uint32_t place, uint32_t unit)
{
    return (int32_t)up(get_level(model->weights[place], unit), model->exponents[place]);
}
