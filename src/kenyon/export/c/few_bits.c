/* ---- the layer: weights of few bits, a column of bytes for each class */

#define PACKING ((kn_packing){KENYON_BITS, KENYON_SIGNED})
#define TOP top_level(PACKING)
#define LOW lowest_level(PACKING)
#define MOST_TRAINED MOST_COUNT
#define SCORE_SHIFT (28 - KENYON_FRACTION)

static kn_neuron neuron_of(const kenyon_model *model, uint32_t place)
{
    kenyon_model *own = (kenyon_model *)model; /* what only reads it changes nothing */
    const kn_neuron neuron = {own->weights[place], 1,     own->trained + place, own->exponents + place,
                              place,               KENYON_UNITS, KENYON_CHANCE_SEED};
    return neuron;
}

static int64_t reciprocal_of_sample(SAMPLE)
{
    uint64_t squares = 0;
    for (uint32_t a = 0; a < SAMPLE_SIZE; a++) {
        const uint32_t value = SAMPLE_VALUE(a);
        squares += value * value;
    }
    return reciprocal_from(squares);
}

static void learn_activity(kenyon_model *model, uint32_t place, const uint8_t *activity)
{
    LIST(activity);
    const int64_t reciprocal = reciprocal_of_sample(LISTED);
    model->updates += step_neuron_device(PACKING, neuron_of(model, place), LISTED, reciprocal, SCORE_SHIFT, NULL);
}

static void prepare(kenyon_model *model)
{
    UNUSED(model);
}

/* There is no readout to solve. */
int kenyon_solve_step(kenyon_model *model, uint32_t n)
{
    UNUSED(model);
    UNUSED(n);
    return 0;
}

static void score_activity(kenyon_model *model, const uint8_t *activity, int32_t *scores)
{
    LIST(activity);
    const int64_t reciprocal = reciprocal_of_sample(LISTED);
    for (uint32_t place = 0; place < model->n_classes; place++) {
        scores[place] = (int32_t)score_of_device(PACKING, neuron_of(model, place), LISTED, reciprocal, SCORE_SHIFT);
    }
}

static void clear_class(kenyon_model *model, uint32_t place)
{
    model->trained[place] = 0;
    model->exponents[place] = 0;
    memset(model->weights[place], 0, KENYON_COLUMN);
}

static void move_class(kenyon_model *model, uint32_t to, uint32_t from)
{
    model->trained[to] = model->trained[from];
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
    return (int32_t)up(get_level(PACKING, model->weights[place], 1, unit), model->exponents[place]);
}
