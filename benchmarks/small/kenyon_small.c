/* Kenyon: the sources that `kenyon export` writes, behind the interface. */
#include "kenyon.h"
#include "small.h"

static kenyon_model model;

void small_init(void)
{
    kenyon_init(&model);
}

void small_learn(const uint8_t *sample, int32_t label)
{
    (void)kenyon_add_class(&model, label); /* known already, or new */
    (void)kenyon_learn(&model, sample, label);
}

int32_t small_predict(const uint8_t *sample)
{
    int32_t label = -1;
    return kenyon_predict(&model, sample, &label) == 0 ? label : -1;
}

uint32_t small_ram(void)
{
    return sizeof model;
}
