/* What every method is linked with: room for one sample; on this machine, many samples in one call. */
#include "small.h"

static uint8_t the_sample[SMALL_INPUTS];

uint8_t *small_sample(void)
{
    return the_sample;
}

#ifdef SMALL_HOST
void small_learn_many(const uint8_t *samples, const int32_t *labels, int32_t n)
{
    for (int32_t k = 0; k < n; k++)
        small_learn(samples + (size_t)k * SMALL_INPUTS, labels[k]);
}

void small_predict_many(const uint8_t *samples, int32_t *labels, int32_t n)
{
    for (int32_t k = 0; k < n; k++)
        labels[k] = small_predict(samples + (size_t)k * SMALL_INPUTS);
}
#endif
