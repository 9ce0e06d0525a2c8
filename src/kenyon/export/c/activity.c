/* ---- from the responses of all units to their activity in bytes */

/* So many squares of responses are added in 32 bits, which takes less time. */
#if KENYON_LARGEST <= 4095
typedef int32_t sum_of_few;
#define FEW_SQUARES 128
#else
typedef int64_t sum_of_few;
#define FEW_SQUARES KENYON_UNITS
#endif

/* The activity may stand where the responses stood: a response takes as many bytes or more, so none is overwritten before
 * it is read. */
static const uint8_t *settle(kenyon_model *model, const kenyon_response *responses)
{
    uint8_t *activity = (uint8_t *)model->activity;
    int64_t bar = 0;
#if KENYON_THRESHOLDED
    int64_t total = 0, squares = 0;
    for (uint32_t first = 0; first < KENYON_UNITS; first += FEW_SQUARES) {
        const uint32_t last = KENYON_UNITS - first < FEW_SQUARES ? KENYON_UNITS : first + FEW_SQUARES;
        sum_of_few sum = 0, square = 0;
        for (uint32_t unit = first; unit < last; unit++) {
            sum += responses[unit];
            square += (sum_of_few)responses[unit] * responses[unit];
        }
        total += sum;
        squares += square;
    }
    bar = bar_of(total, squares, KENYON_UNITS, KENYON_STRENGTH, KENYON_LOWEST, KENYON_HIGHEST);
#endif
#if KENYON_LARGEST <= 32767 /* 32 bits will do; a bar beyond them is as good as one at their end */
    const int32_t low = (int32_t)clip64(bar, -((int32_t)1 << 30), (int32_t)1 << 30);
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        const int32_t above = responses[unit] > low ? (responses[unit] - low) >> KENYON_SHIFT : 0;
        activity[unit] = (uint8_t)(above < 255 ? above : 255);
    }
#else
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        const int64_t above = responses[unit] - bar;
        activity[unit] = (uint8_t)(above > 0 ? min64(255, above >> KENYON_SHIFT) : 0);
    }
#endif
    return activity;
}

static const uint8_t *activate(kenyon_model *model, const uint8_t *sample)
{
    respond(&model->scratch.features, sample, model->activity);
    return settle(model, model->activity);
}
