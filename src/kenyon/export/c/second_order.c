/* ---- the layer: co-activity of units and class means in few bits
 *
 * core/thin.h has the arithmetic. Entries are thinned, not rounded: where the diagonal has no room, all of them are
 * halved, and from then on half as many samples are let in.
 */

#define MANY_LEARNED 255 /* samples since the last readout: then the next one does not begin with it */
#define MOST_TRAINED ((uint64_t)1 << 62)
#define LIMIT ((int32_t)((1u << (KENYON_BITS - 1)) - 1))

/* So many samples were learned since the last readout: one that is half solved begins anew. */
static void has_learned(kenyon_model *model, uint8_t n)
{
    model->learned = n;
    model->solved = 0;
    model->raised = 0;
}

static uint64_t samples_trained(const kenyon_model *model)
{
    uint64_t total = 0;
    for (uint32_t place = 0; place < model->n_classes; place++) {
        total += model->trained[place];
    }
    return total;
}

/* Let a sample into the co-activity, if the diagonal has room for it. */
static int add_pairs(kenyon_model *model, uint32_t place, const uint8_t *activity)
{
    int16_t *distances = model->scratch.distances;
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        distances[unit] = distance_of(activity[unit], model->means[place][unit], 8 + model->doublings);
    }
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        if (get_pair(KENYON_BITS, model->pairs, unit * (unit + 3) / 2) + distances[unit] * distances[unit] > LIMIT) {
            return 0;
        }
    }
    for (uint32_t i = 0, k = 0; i < KENYON_UNITS; k += ++i) {
        add_distances(KENYON_BITS, model->pairs, k, distances, i);
    }
    model->updates += KENYON_PAIRS;
    return 1;
}

static void learn_activity(kenyon_model *model, uint32_t place, const uint8_t *activity)
{
    const uint64_t time = samples_trained(model), n = model->trained[place] + 1;
    const uint64_t key = word(time, 0);
    has_learned(model, (uint8_t)(model->learned < MANY_LEARNED ? model->learned + 1 : MANY_LEARNED));
    while (n > 1 && (key >> 16 & (((uint64_t)1 << model->halvings) - 1)) == 0) {
        if (add_pairs(model, place, activity)) {
            break;
        }
        const int enough = time >> model->halvings >= KENYON_ENOUGH;
        uint8_t *scale = enough ? &model->halvings : &model->doublings;
        *scale = (uint8_t)(*scale < (enough ? MOST_HALVINGS : MOST_DOUBLINGS) ? *scale + 1 : *scale);
        divide_pairs(KENYON_BITS, model->pairs, KENYON_UNITS, enough ? 1 : 2,
                     256u * (uint64_t)model->doublings + model->halvings);
        model->updates += KENYON_PAIRS;
    }
    model->trained[place] = n;
    move_class_mean(model->means[place], 1, activity, KENYON_UNITS, n, key);
}

static void clear_class(kenyon_model *model, uint32_t place)
{
    model->trained[place] = 0;
    memset(model->means[place], 0, sizeof model->means[place]);
    memset(model->readout[place], 0, sizeof model->readout[place]);
}

static void move_class(kenyon_model *model, uint32_t to, uint32_t from)
{
    model->trained[to] = model->trained[from];
    memcpy(model->means[to], model->means[from], sizeof model->means[from]);
}

/* Scale the co-activity down with the samples, before a class is forgotten: the others are told apart as before. */
static void forget_share(kenyon_model *model, uint32_t place)
{
    uint64_t before = samples_trained(model), after = before - model->trained[place];
    const int wide = bits_of(before), shift = wide > 38 ? wide - 38 : 0;
    has_learned(model, MANY_LEARNED);
    after >>= shift;
    before >>= shift;
    before = before ? before : 1;
    for (uint32_t k = 0; k < KENYON_PAIRS; k++) {
        const int64_t scaled = 2 * (int64_t)get_pair(KENYON_BITS, model->pairs, k) * (int64_t)after + (int64_t)before;
        put_pair(KENYON_BITS, model->pairs, k, (int32_t)divide(scaled, 2 * (int64_t)before));
    }
}

static void clear_layer(kenyon_model *model)
{
    model->halvings = model->doublings = 0;
    memset(model->pairs, 0, sizeof model->pairs);
    has_learned(model, MANY_LEARNED);
}
