/* ---- the readout, solved when somebody asks and kept until the next sample is learned
 *
 * Conjugate gradients in whole numbers, one class after the other, in place: the co-activity is read where it lies.
 * kenyon.layers.WholeReadout in Python defines every bit of it.
 */

#define MOST_SHRINKAGE ((int64_t)1 << 30)
#define LARGEST ((int64_t)INT32_MAX)
#define NO_WEIGHTS (-1000)

static int64_t moved(int64_t value, int n)
{
    return n >= 0 ? up(value, n) : down(value, n > -63 ? -n : 63);
}

/* a / b is about k / 2^t, with k below 2^32; a from 0 on, b positive. */
typedef struct {
    int64_t k;
    int t;
} ratio;

static ratio over(int64_t a, int64_t b)
{
    const int u = 62 - bits_of((uint64_t)a), v = bits_of((uint64_t)b) - 31;
    const ratio found = {up(a, u) / moved(b, -v), u + v};
    return found;
}

static int64_t times(ratio by, int more, int64_t value)
{
    const int t = by.t + more;
    return clip64(down(by.k * value, t < 0 ? 0 : t > 62 ? 62 : t), -LARGEST, LARGEST);
}

/* The sum of the squares of values / 2^lower. */
static int64_t squares_of(const int32_t *values, int lower)
{
    int64_t total = 0;
    for (uint32_t i = 0; i < KENYON_UNITS; i++) {
        const int64_t value = down(values[i], lower);
        total += value * value;
    }
    return total;
}

static int64_t largest_of(const int32_t *values)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < KENYON_UNITS; i++) {
        most = max64(most, absolute(values[i]));
    }
    return most;
}

/* q = P p + shrinkage p, each entry of the triangle read once. */
static void multiply(kenyon_model *model, int64_t shrinkage)
{
    const int32_t *p = model->scratch.solving.p;
    int64_t *q = model->scratch.solving.q;
    uint32_t k = 0;
    for (uint32_t i = 0; i < KENYON_UNITS; i++) {
        const int32_t own = p[i];
        int64_t total = shrinkage * own;
        for (uint32_t j = 0; j < i; j++, k++) {
            const int64_t entry = get_pair(model, k);
            total += entry * p[j];
            q[j] += entry * own;
        }
        q[i] = total + (int64_t)get_pair(model, k) * own;
        k++;
    }
}

/* Solve for one class, whose right-hand side is in r; x / 2^place is the solution. 0 where the matrix is not positive. */
static int solve_class(kenyon_model *model, int64_t shrinkage, int *place)
{
    int32_t *r = model->scratch.solving.r, *p = model->scratch.solving.p, *x = model->scratch.solving.x;
    int64_t *q = model->scratch.solving.q;
    int64_t squares = squares_of(r, 0);
    int shift = KENYON_VECTOR_BITS - bits_of((uint64_t)largest_of(r)), size = -shift;
    const int wide = (bits_of((uint64_t)squares) + 1) / 2 - bits_of((uint64_t)shrinkage) + 1;
    *place = 30 - (wide > 0 ? wide : 0);
    for (uint32_t i = 0; i < KENYON_UNITS; i++) {
        p[i] = r[i] = (int32_t)up(r[i], shift);
        x[i] = 0;
    }
    squares = squares_of(r, 0);
    for (uint32_t step = 0; step < KENYON_STEPS && squares; step++) {
        int64_t most = 0, product = 0;
        multiply(model, shrinkage);
        for (uint32_t i = 0; i < KENYON_UNITS; i++) {
            most = max64(most, absolute(q[i]));
        }
        const int lower = bits_of((uint64_t)most) - KENYON_PRODUCT_BITS;
        for (uint32_t i = 0; i < KENYON_UNITS; i++) {
            q[i] = moved(q[i], -lower);
            product += p[i] * q[i];
        }
        if (product <= 0) {
            return 0;
        }
        const ratio alpha = over(squares, product);
        for (uint32_t i = 0; i < KENYON_UNITS; i++) {
            x[i] = (int32_t)clip64(x[i] + times(alpha, lower - size - *place, p[i]), -LARGEST, LARGEST);
            r[i] = (int32_t)clip64(r[i] - times(alpha, 0, q[i]), -LARGEST, LARGEST);
        }
        const int excess = bits_of((uint64_t)largest_of(r)) - KENYON_SQUARE_BITS;
        const int spare = excess > 0 ? excess : 0;
        const ratio beta = over(squares_of(r, spare), squares);
        for (uint32_t i = 0; i < KENYON_UNITS; i++) {
            p[i] = (int32_t)clip64(r[i] + times(beta, -2 * spare, p[i]), -LARGEST, LARGEST);
        }
        shift = KENYON_VECTOR_BITS - bits_of((uint64_t)max64(largest_of(r), largest_of(p)));
        for (uint32_t i = 0; i < KENYON_UNITS; i++) {
            r[i] = (int32_t)moved(r[i], shift);
            p[i] = (int32_t)moved(p[i], shift);
        }
        size -= shift;
        squares = squares_of(r, 0);
    }
    return 1;
}

/* The mean of the class means, rounded. */
static int32_t centre_of(const kenyon_model *model, uint32_t unit)
{
    uint32_t sum = 0, n = 0;
    for (uint32_t place = 0; place < model->n_classes; place++) {
        if (model->taught[place]) {
            sum += model->means[place][unit];
            n++;
        }
    }
    return (int32_t)((2 * sum + n) / (2 * n));
}

static int64_t first_shrinkage(const kenyon_model *model)
{
    int64_t trace = 0;
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        trace += get_pair(model, unit * (unit + 3) / 2);
    }
    return clip64(divide(down(trace * KENYON_SHRINKAGE, KENYON_SHRINKAGE_SHIFT), KENYON_UNITS), 1, MOST_SHRINKAGE);
}

/* From the solution of a class to its weights and offset; gives the exponent of the weights. */
static int keep_class(kenyon_model *model, uint32_t place, int fraction)
{
    const int32_t *x = model->scratch.solving.x;
    const int64_t most = largest_of(x);
    const int lower = bits_of((uint64_t)most) - 15;
    int64_t total = 0;
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        const int64_t weight = moved(x[unit], -lower);
        model->readout[place][unit] = (int16_t)weight;
        total -= weight * (model->means[place][unit] + centre_of(model, unit));
    }
    model->offsets[place] = down(total, 9);
    return most ? lower - fraction : NO_WEIGHTS;
}

static void solve(kenyon_model *model)
{
    int exponents[KENYON_MAX_CLASSES], most = NO_WEIGHTS;
    int64_t shrinkage = first_shrinkage(model);
    uint32_t place = 0;
    while (place < model->n_classes) {
        int fraction = 0;
        exponents[place] = NO_WEIGHTS;
        if (model->taught[place]) {
            for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
                model->scratch.solving.r[unit] = model->means[place][unit] - centre_of(model, unit);
            }
            if (!solve_class(model, shrinkage, &fraction) && shrinkage < MOST_SHRINKAGE) {
                shrinkage = min64(10 * shrinkage, MOST_SHRINKAGE);
                place = 0;
                most = NO_WEIGHTS;
                continue;
            }
            exponents[place] = keep_class(model, place, fraction);
            most = exponents[place] > most ? exponents[place] : most;
        }
        place++;
    }
    for (place = 0; place < model->n_classes; place++) {
        const int shift = most - exponents[place] + KENYON_SCORE_SHIFT;
        model->shifts[place] = (uint8_t)(shift < 62 ? shift : 62);
    }
    model->solved = 1;
}

static void prepare(kenyon_model *model)
{
    if (!model->solved) {
        solve(model);
    }
}

static void score_activity(kenyon_model *model, const uint8_t *activity, int32_t *scores)
{
    for (uint32_t place = 0; place < model->n_classes; place++) {
        int64_t total = model->offsets[place];
        if (!model->taught[place]) {
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
    return model->taught[place] ? (int32_t)down(up(model->readout[place][unit], 8), shift > 0 ? shift : 0) : 0;
}
