/* ---- what another device learned, added to what this one did
 *
 * As KenyonClassifier.merge in Python, to the bit: kenyon/layers/_few_bits.py and _few_bit_merge.py define it.
 */

#if KENYON_ADDITIVE
/* A state in a buffer that was checked. */
typedef struct {
    uint64_t time, updates;
    uint32_t n_classes;
    const uint8_t *labels, *layer;
} saved;

static saved saved_in(const uint8_t *buffer, uint32_t n_classes)
{
    cursor at = {.from = buffer + 16};
    saved other = {0, 0, n_classes, buffer + HEADER, buffer + HEADER + 4 * n_classes};
    other.time = get(&at, 8);
    other.updates = get(&at, 8);
    return other;
}

static int32_t saved_label(const saved *other, uint32_t k)
{
    cursor at = {.from = other->labels + 4 * k};
    return get_label(&at);
}

#if KENYON_SECOND_ORDER
static const uint8_t *saved_class(const saved *other, uint32_t k)
{
    return other->layer + 2 + k * KENYON_CLASS_BYTES;
}

static uint64_t saved_trained(const saved *other, uint32_t k)
{
    cursor at = {.from = saved_class(other, k)};
    return get(&at, 8);
}

static int32_t saved_mean(const saved *other, uint32_t k, uint32_t unit)
{
    cursor at = {.from = saved_class(other, k) + 8 + 2 * unit};
    return (int32_t)get(&at, 2);
}

static int32_t saved_pair(const saved *other, uint32_t k)
{
    cursor at = {.from = saved_class(other, other->n_classes) + KENYON_BITS / 8 * k};
    return pair_from(KENYON_BITS, (uint32_t)get(&at, KENYON_BITS / 8));
}

/* How two states are put on one scale. */
typedef struct {
    int halvings, doublings, own_places, places, shift;
    uint64_t weights[KENYON_MAX_CLASSES]; /* of the scatter between the two means of a class, by its place here */
} scaling;

static int places_of(const scaling *scale, int halvings, int doublings)
{
    const int places = scale->halvings - halvings + 2 * (scale->doublings - doublings);
    return places < 62 ? places : 62;
}

static void set_scale(const kenyon_model *model, const saved *other, const int32_t *others, scaling *scale)
{
    scale->own_places = places_of(scale, model->halvings, model->doublings);
    scale->places = places_of(scale, other->layer[0], other->layer[1]);
    scale->shift = 16 + 2 * scale->doublings;
    for (uint32_t place = 0; place < model->n_classes; place++) {
        const uint64_t n = model->trained[place], m = others[place] < 0 ? 0 : saved_trained(other, (uint32_t)others[place]);
        scale->weights[place] = shared_weight(n, m, scale->halvings);
    }
}

/* An entry of both states in 2^-shift, with the scatter between the two means of each class. */
static int64_t both_pairs(const kenyon_model *model, const saved *other, const int32_t *others, const scaling *scale,
                          uint32_t k, uint32_t i, uint32_t j)
{
    int64_t total = down(up(get_pair(KENYON_BITS, model->pairs, k), scale->shift), scale->own_places) +
                    down(up(saved_pair(other, k), scale->shift), scale->places);
    for (uint32_t place = 0; place < model->n_classes; place++) {
        const uint64_t weight = scale->weights[place];
        if (weight) {
            const uint32_t from = (uint32_t)others[place];
            total += scatter_of(weight, model->means[place][i] - saved_mean(other, from, i),
                                model->means[place][j] - saved_mean(other, from, j));
        }
    }
    return total;
}

static int diagonal_fits(const kenyon_model *model, const saved *other, const int32_t *others, const scaling *scale)
{
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        const int64_t total = both_pairs(model, other, others, scale, unit * (unit + 3) / 2, unit, unit);
        if (down(total + up(1, scale->shift) - 1, scale->shift) > LIMIT) {
            return 0;
        }
    }
    return 1;
}

static void merge_layer(kenyon_model *model, const saved *other, const int32_t *others)
{
    const uint64_t width = (model->n_classes + 7) / 8 * 8;
    uint64_t time = samples_trained(model);
    scaling scale;
    for (uint32_t k = 0; k < other->n_classes; k++) {
        time += saved_trained(other, k);
    }
    scale.halvings = (int)max64(model->halvings, other->layer[0]);
    scale.doublings = (int)max64(model->doublings, other->layer[1]);
    for (set_scale(model, other, others, &scale); !diagonal_fits(model, other, others, &scale);
         set_scale(model, other, others, &scale)) {
        if (time >> scale.halvings >= KENYON_ENOUGH || scale.doublings == MOST_DOUBLINGS) {
            scale.halvings++;
        } else {
            scale.doublings++;
        }
    }
    const uint64_t pair_key = word(time, 1), mean_key = word(time, 2), some = ((uint64_t)1 << scale.shift) - 1;
    uint32_t k = 0;
    for (uint32_t i = 0; i < KENYON_UNITS; i++) {
        for (uint32_t j = 0; j <= i; j++, k++) {
            const int64_t part = (int64_t)(i == j ? some : word(pair_key, k) >> 1 & some);
            const int64_t total = both_pairs(model, other, others, &scale, k, i, j) + part;
            put_pair(KENYON_BITS, model->pairs, k, (int32_t)clip64(down(total, scale.shift), -LIMIT, LIMIT));
        }
    }
    for (uint32_t place = 0; place < model->n_classes; place++) {
        const uint64_t n = model->trained[place], m = others[place] < 0 ? 0 : saved_trained(other, (uint32_t)others[place]);
        for (uint32_t unit = 0; m && unit < KENYON_UNITS; unit++) {
            const uint64_t theirs = (uint64_t)saved_mean(other, (uint32_t)others[place], unit);
            const uint64_t part = (word(mean_key, unit * width + place) >> 48) * (n + m) >> 16;
            model->means[place][unit] = (uint16_t)((n * model->means[place][unit] + m * theirs + part) / (n + m));
        }
        model->trained[place] = n + m;
    }
    model->halvings = (uint8_t)scale.halvings;
    model->doublings = (uint8_t)scale.doublings;
    has_learned(model, MANY_LEARNED);
}
#else
/* What a level at the top stands for, in levels of exponent 0: mostly it would be larger. */
static int64_t beyond(int exponent, int64_t trained)
{
#if KENYON_LIMITED
    return max64(up(TOP, exponent), 2 * rule_limit_device(trained, TOP));
#else
    UNUSED(trained);
    return up(TOP, exponent);
#endif
}

static void merge_layer(kenyon_model *model, const saved *other, const int32_t *others)
{
    for (uint32_t place = 0; place < model->n_classes; place++) {
        if (others[place] < 0) {
            continue;
        }
        cursor at = {.from = other->layer + (uint32_t)others[place] * KENYON_CLASS_BYTES};
        const int64_t theirs = (int64_t)get(&at, 4), own = model->trained[place];
        const int more = (int)get(&at, 1), exponent = model->exponents[place];
        const int64_t trained = min64(own + theirs, MOST_COUNT);
        int e = more > exponent ? more : exponent;
#if KENYON_LIMITED
        while (rule_limit_device(trained, TOP) > up(TOP, e)) {
            e++;
        }
#endif
        uint8_t *column = model->weights[place];
        const kn_column first = {column, exponent, beyond(exponent, own)};
        const kn_column second = {at.from, more, beyond(more, theirs)};
        const uint32_t key = key_of(KENYON_CHANCE_SEED, trained, place);
        merge_levels(PACKING, column, 1, first, second, 1, KENYON_UNITS, key, e);
        model->trained[place] = (uint32_t)trained;
        model->exponents[place] = (uint8_t)e;
    }
}
#endif

int kenyon_merge(kenyon_model *model, const uint8_t *buffer, size_t size)
{
    int32_t others[KENYON_MAX_CLASSES]; /* the place there of each class here */
    const int n_classes = check_buffer(buffer, size);
    uint32_t n_new = 0;
    if (n_classes < 0) {
        return n_classes;
    }
    const saved other = saved_in(buffer, (uint32_t)n_classes);
    for (uint32_t k = 0; k < other.n_classes; k++) {
        n_new += place_of(model, saved_label(&other, k)) < 0;
    }
    if (n_new > KENYON_MAX_CLASSES - model->n_classes) {
        return KENYON_ERROR_FULL;
    }
    for (uint32_t place = 0; place < KENYON_MAX_CLASSES; place++) {
        others[place] = -1;
    }
    for (uint32_t k = 0; k < other.n_classes; k++) {
        const int32_t label = saved_label(&other, k);
        if (place_of(model, label) < 0) {
            (void)kenyon_add_class(model, label);
        }
        others[place_of(model, label)] = (int32_t)k;
    }
    merge_layer(model, &other, others);
    model->time += other.time;
    model->updates += other.updates;
    return KENYON_OK;
}
#else
int kenyon_merge(kenyon_model *model, const uint8_t *buffer, size_t size)
{
    UNUSED(model);
    UNUSED(buffer);
    UNUSED(size);
    return KENYON_ERROR_MERGE;
}
#endif
