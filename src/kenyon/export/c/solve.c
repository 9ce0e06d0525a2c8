/* ---- the readout, solved when somebody asks and kept until the next sample is learned
 *
 * core/solve.h solves one class after the other, in place: the co-activity is read where it lies. Soon after a readout, the
 * next one begins with its weights. kenyon_solve_step solves some classes; a prediction solves those that are left.
 */

#define NO_EXPONENT (-128) /* of a class whose weights are all zero; others are above -64 and below 64 */

/* The mean of the class means, rounded; means of classes without samples are zero. */
static void find_centre(kenyon_model *model)
{
    uint32_t n = 0;
    for (uint32_t place = 0; place < model->n_classes; place++) {
        n += model->trained[place] > 0;
    }
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        uint32_t sum = 0;
        for (uint32_t place = 0; place < model->n_classes; place++) {
            sum += model->means[place][unit];
        }
        model->scratch.solving.centre[unit] = (uint16_t)(n ? (2 * sum + n) / (2 * n) : 0);
    }
}

static int64_t trace_of(const kenyon_model *model)
{
    int64_t trace = 0;
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        trace += get_pair(KENYON_BITS, model->pairs, unit * (unit + 3) / 2);
    }
    return trace;
}

static int64_t first_shrinkage(const kenyon_model *model)
{
    const int64_t trace = trace_of(model);
    return clip64(divide(down(trace * KENYON_SHRINKAGE, KENYON_SHRINKAGE_SHIFT), KENYON_UNITS), 1, MOST_SHRINKAGE);
}

/* From the solution of a class to its weights and offset; gives the exponent of the weights. */
static int keep_class(kenyon_model *model, uint32_t place, int fraction)
{
    const int32_t *x = model->scratch.solving.x;
    const int64_t most = largest_of(x, KENYON_UNITS);
    const int lower = bits_of((uint64_t)most) - WEIGHT_BITS;
    int64_t total = 0;
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        const int64_t weight = moved(x[unit], -lower);
        model->readout[place][unit] = (int16_t)weight;
        total -= weight * (model->means[place][unit] + model->scratch.solving.centre[unit]);
    }
    model->offsets[place] = down(total, 9);
    return most ? lower - fraction : NO_WEIGHTS;
}

/* Solve one class, from its last weights or from zero; 0 where the matrix is not positive. */
static int solve_place(kenyon_model *model, uint32_t place, int64_t shrinkage, uint32_t few, int *fraction)
{
    const kn_bits room = {KENYON_VECTOR_BITS, KENYON_PRODUCT_BITS, KENYON_SQUARE_BITS};
    kn_solving work = {.r = model->scratch.solving.r,
                       .p = model->scratch.solving.p,
                       .x = model->scratch.solving.x,
                       .q = model->scratch.solving.q};
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        work.r[unit] = model->means[place][unit] - model->scratch.solving.centre[unit];
        work.p[unit] = model->readout[place][unit];
    }
    const int found = solve_class(KENYON_BITS, model->pairs, KENYON_UNITS, shrinkage, few, KENYON_STEPS, room, &work);
    *fraction = work.place;
    return found;
}

/* Solve up to n classes more; a readout that is half solved keeps the exponents of its weights where shifts will be. */
static void solve_some(kenyon_model *model, uint32_t n)
{
    int64_t shrinkage = first_shrinkage(model);
    uint32_t few = 1 + (uint32_t)model->learned;
    const int anew = model->learned == MANY_LEARNED || few >= KENYON_STEPS;
    if (anew) {
        few = KENYON_STEPS;
        if (!model->solved && !model->raised) {
            memset(model->readout, 0, sizeof model->readout);
        }
    }
    for (uint32_t k = 0; k < model->raised; k++) {
        shrinkage = min64(10 * shrinkage, MOST_SHRINKAGE);
    }
    find_centre(model);
    while (n && model->solved < model->n_classes) {
        const uint32_t place = model->solved;
        int exponent = NO_WEIGHTS, fraction;
        if (model->trained[place]) {
            n--;
            if (!solve_place(model, place, shrinkage, few, &fraction) && shrinkage < MOST_SHRINKAGE) {
                shrinkage = min64(10 * shrinkage, MOST_SHRINKAGE);
                model->raised++;
                model->solved = 0;
                continue;
            }
            exponent = keep_class(model, place, fraction);
        }
        model->shifts[place] = (uint8_t)(exponent < NO_EXPONENT ? NO_EXPONENT : exponent);
        model->solved++;
    }
}

static void finish_solving(kenyon_model *model)
{
    int most = NO_EXPONENT;
    for (uint32_t place = 0; place < model->n_classes; place++) {
        const int exponent = (int8_t)model->shifts[place];
        most = exponent > most ? exponent : most;
    }
    for (uint32_t place = 0; place < model->n_classes; place++) {
        const int exponent = (int8_t)model->shifts[place], shift = most - exponent + KENYON_SCORE_SHIFT;
        const int far = shift > 62 || (exponent == NO_EXPONENT && most != NO_EXPONENT);
        model->shifts[place] = (uint8_t)(far ? 62 : shift);
    }
    has_learned(model, 0);
}

int kenyon_solve_step(kenyon_model *model, uint32_t n)
{
    if (model->learned && n) {
        solve_some(model, n);
        if (model->solved >= model->n_classes) {
            finish_solving(model);
        }
    }
    return model->learned ? (int)(model->n_classes - model->solved) : 0;
}

static void prepare(kenyon_model *model)
{
    while (kenyon_solve_step(model, KENYON_MAX_CLASSES)) {
    }
}

static void score_activity(kenyon_model *model, const uint8_t *activity, int32_t *scores)
{
    for (uint32_t place = 0; place < model->n_classes; place++) {
        int64_t total = model->offsets[place];
        if (!model->trained[place]) {
            scores[place] = KENYON_NEVER;
            continue;
        }
        for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
            total += (int32_t)model->readout[place][unit] * activity[unit];
        }
        scores[place] = (int32_t)down(total, model->shifts[place]);
    }
}

int32_t kenyon_weight(kenyon_model *model, uint32_t place, uint32_t unit)
{
    prepare(model);
    const int shift = model->shifts[place] - KENYON_SCORE_SHIFT;
    return model->trained[place] ? (int32_t)down(up(model->readout[place][unit], 8), shift > 0 ? shift : 0) : 0;
}
