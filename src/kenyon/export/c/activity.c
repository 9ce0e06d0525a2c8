/* ---- from the responses of all units to their activity in bytes */

/* The activity stands where the responses stood: a response takes as many bytes or more, so none is overwritten before
 * it is read. */
static const uint8_t *activate(kenyon_model *model, const uint8_t *sample)
{
    const kenyon_response *responses = model->activity;
    uint8_t *activity = (uint8_t *)model->activity;
    int64_t bar = 0;
    respond(&model->scratch.features, sample, model->activity);
#if KENYON_THRESHOLDED
    int64_t total = 0, squares = 0;
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        total += responses[unit];
        squares += (int64_t)responses[unit] * responses[unit];
    }
    const int64_t deviation = (int64_t)root_of((uint64_t)(KENYON_UNITS * squares - total * total));
    bar = divide(up(total, 12) + KENYON_STRENGTH * deviation, (int64_t)KENYON_UNITS << 12);
    bar = clip64(bar, KENYON_LOWEST, KENYON_HIGHEST);
#endif
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        const int64_t above = responses[unit] - bar;
        activity[unit] = (uint8_t)(above > 0 ? min64(255, above >> KENYON_SHIFT) : 0);
    }
    return activity;
}
