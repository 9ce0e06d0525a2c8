/* The model as a module: a shared library (for kenyon_device.py, beside this file), or WebAssembly.
 *
 * A module has one model of its own, and room for what goes in and out of it; a host that has memory of its own, as
 * ctypes does, can use any number of models of kenyon_size(3) bytes instead. Everything that kenyon.h declares is
 * exported too. In JavaScript:
 *
 *     const m = (await WebAssembly.instantiate(bytes)).instance.exports;
 *     m.kenyon_init(m.kenyon_the_model());
 *     new Uint8Array(m.memory.buffer, m.kenyon_the_sample(), m.kenyon_size(0)).set(sample);
 *     m.kenyon_learn(m.kenyon_the_model(), m.kenyon_the_sample(), label);
 *     m.kenyon_scores(m.kenyon_the_model(), m.kenyon_the_sample(), m.kenyon_the_numbers());
 */
#include "kenyon.h"

kenyon_model *kenyon_the_model(void);
uint8_t *kenyon_the_sample(void);
int32_t *kenyon_the_numbers(void);
uint8_t *kenyon_the_buffer(void);
uint32_t kenyon_size(uint32_t what);
uint32_t kenyon_classes(const kenyon_model *model);
int32_t kenyon_label(const kenyon_model *model, uint32_t place);
uint32_t kenyon_taught(const kenyon_model *model, uint32_t place);
uint32_t kenyon_samples(const kenyon_model *model);

#if KENYON_LEARNS
#define BUFFER KENYON_SAVE_BYTES
#else
#define BUFFER 1
#endif

static kenyon_model the_model;
static uint8_t the_sample[KENYON_INPUTS], the_buffer[BUFFER];
static int32_t the_numbers[KENYON_MAX_CLASSES + 1];

/* The module's own model; a sample of KENYON_INPUTS bytes; numbers that come out; a buffer to save to and load from. */
kenyon_model *kenyon_the_model(void)
{
    return &the_model;
}

uint8_t *kenyon_the_sample(void)
{
    return the_sample;
}

int32_t *kenyon_the_numbers(void)
{
    return the_numbers;
}

uint8_t *kenyon_the_buffer(void)
{
    return the_buffer;
}

/* 0: bytes of a sample, 1: units, 2: most classes, 3: bytes of a model, 4: most bytes of a buffer, 5: whether it
 * learns, 6: KENYON_MODEL_ID, 7: bytes of the room of kenyon_learn_many. */
uint32_t kenyon_size(uint32_t what)
{
    const uint32_t sizes[] = {
        KENYON_INPUTS, KENYON_UNITS, KENYON_MAX_CLASSES, sizeof the_model, BUFFER, KENYON_LEARNS, KENYON_MODEL_ID,
        sizeof(kenyon_room),
    };
    return what < sizeof sizes / sizeof *sizes ? sizes[what] : 0;
}

/* How many classes there are; the label of each, and how many samples it was taught (2^32 - 1 for more). */
uint32_t kenyon_classes(const kenyon_model *model)
{
    return model->n_classes;
}

int32_t kenyon_label(const kenyon_model *model, uint32_t place)
{
    return place < model->n_classes ? model->labels[place] : 0;
}

uint32_t kenyon_taught(const kenyon_model *model, uint32_t place)
{
#if KENYON_LEARNS
    const uint64_t taught = place < model->n_classes ? model->taught[place] : 0;
    return taught < UINT32_MAX ? (uint32_t)taught : UINT32_MAX;
#else
    (void)model;
    (void)place;
    return 0;
#endif
}

/* Samples learned in all. */
uint32_t kenyon_samples(const kenyon_model *model)
{
    return model->time < UINT32_MAX ? (uint32_t)model->time : UINT32_MAX;
}
