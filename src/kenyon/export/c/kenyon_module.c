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
uint32_t kenyon_trained(const kenyon_model *model, uint32_t place);
uint32_t kenyon_samples(const kenyon_model *model);

#if KENYON_FRONT
int16_t *kenyon_the_samples(void);
const uint8_t *kenyon_window_of(const kenyon_model *model);
const uint8_t *kenyon_frame_of(const kenyon_model *model, int32_t ago);
int32_t kenyon_event_of(const kenyon_model *model, uint32_t what);
#endif

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
 * learns, 6: KENYON_MODEL_ID, 7: bytes of the room of kenyon_learn_many, 8: samples that kenyon_feed takes, with a
 * front end. */
uint32_t kenyon_size(uint32_t what)
{
    const uint32_t sizes[] = {
        KENYON_INPUTS, KENYON_UNITS, KENYON_MAX_CLASSES, sizeof the_model, BUFFER, KENYON_LEARNS, KENYON_MODEL_ID,
        sizeof(kenyon_room),
#if KENYON_FRONT
        KENYON_FEED_MOST,
#endif
    };
    return what < sizeof sizes / sizeof *sizes ? sizes[what] : 0;
}

/* How many classes there are; the label of each, and how many samples of it were learned (2^32 - 1 for more). */
uint32_t kenyon_classes(const kenyon_model *model)
{
    return model->n_classes;
}

int32_t kenyon_label(const kenyon_model *model, uint32_t place)
{
    return place < model->n_classes ? model->labels[place] : 0;
}

uint32_t kenyon_trained(const kenyon_model *model, uint32_t place)
{
#if KENYON_LEARNS
    const uint64_t trained = place < model->n_classes ? model->trained[place] : 0;
    return trained < UINT32_MAX ? (uint32_t)trained : UINT32_MAX;
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

#if KENYON_FRONT
static int16_t the_samples[KENYON_FEED_MOST];

/* Samples that go in. */
int16_t *kenyon_the_samples(void)
{
    return the_samples;
}

/* The sample of the last segment. */
const uint8_t *kenyon_window_of(const kenyon_model *model)
{
    return model->ear.window;
}

/* Of the last event 0: label, 1: start, 2: end, 3: clipped. 4: whether a segment may be learned, 5: when the last was
 * known, 6: frames, or entries of motion, in all. */
int32_t kenyon_event_of(const kenyon_model *model, uint32_t what)
{
    const kenyon_event *event = &model->ear.event;
#if KENYON_FRONT == 1
    const uint32_t frames = model->ear.front.time;
#else
    const uint32_t frames = model->ear.front.time / KENYON_FRONT_STEP;
#endif
    const int32_t values[] = {event->label,     (int32_t)event->start,             (int32_t)event->end, event->clipped,
                              model->ear.heard, (int32_t)model->ear.segment.known, (int32_t)frames};
    return what < sizeof values / sizeof *values ? values[what] : 0;
}

/* To draw: the bands of the frame that was so many frames ago and then its level, or an entry of motion; NULL where there
 * is none. */
const uint8_t *kenyon_frame_of(const kenyon_model *model, int32_t ago)
{
#if KENYON_FRONT == 1
    const kenyon_spectra *ear = &model->ear.front;
    if (!model->ear.started || ago < 0 || ago >= ear->n) {
        return NULL;
    }
    return ear->logs[((uint32_t)ear->next + ear->kept - 1u - (uint32_t)ago) % ear->kept];
#else
    const kenyon_motion *hand = &model->ear.front;
    if (!model->ear.started || ago < 0 || ago >= hand->length) {
        return NULL;
    }
    return hand->entries[((uint32_t)hand->next + hand->length - 1u - (uint32_t)ago) % hand->length];
#endif
}
#endif
