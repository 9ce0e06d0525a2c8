/* Kenyon on a device: a classifier that goes on learning, one sample at a time, without keeping any.
 *
 *     static kenyon_model model;                       all memory there is; nothing is allocated
 *
 *     kenyon_init(&model);                             as exported: with what it had learned
 *     kenyon_predict(&model, sample, &label);          the label of KENYON_INPUTS bytes
 *     kenyon_learn(&model, sample, label);             learn them, at once
 *     kenyon_add_class(&model, label);                 up to KENYON_MAX_CLASSES of them
 *     kenyon_save(&model, buffer, sizeof buffer);      at most KENYON_SAVE_BYTES, to be kept or sent
 *
 * With a front end, samples of a sensor go in as they come, and what was recognised comes out:
 *
 *     if (kenyon_feed(&model, samples, n) > 0) use(model.ear.event.label);
 *     kenyon_learn_heard(&model, label);               the last sound or motion is of this class
 *
 * Whole numbers only: the same bits as in Python, on every machine. Every function gives KENYON_OK (0) or more, or one
 * of the errors below, and then has changed nothing. kenyon_model.h has the sizes, made by the export.
 *
 * A label is a number. Where the labels of the exported model are not numbers, they are numbered from 0 on in the order
 * of kenyon_model.h. KENYON_UNLABELLED marks a sample that teaches nothing.
 */
#ifndef KENYON_H
#define KENYON_H

#include <stddef.h>
#include <stdint.h>

#include "kenyon_model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    KENYON_OK = 0,
    KENYON_ERROR_LABEL = -1,     /* no class has this label: add it first */
    KENYON_ERROR_KNOWN = -2,     /* a class has this label already, or no class may have it */
    KENYON_ERROR_FULL = -3,      /* there are KENYON_MAX_CLASSES classes */
    KENYON_ERROR_EMPTY = -4,     /* there is no class to predict */
    KENYON_ERROR_SIZE = -5,      /* the buffer is too small, or not as long as it says */
    KENYON_ERROR_FORMAT = -6,    /* the buffer does not begin like one of kenyon_save */
    KENYON_ERROR_VERSION = -7,   /* it is of another version of the format */
    KENYON_ERROR_MODEL = -8,     /* it is of a model with other settings */
    KENYON_ERROR_CHECKSUM = -9,  /* it is damaged */
    KENYON_ERROR_CONTENT = -10,  /* it holds what no model can hold */
    KENYON_ERROR_FIXED = -11,    /* the model was exported for prediction only */
    KENYON_ERROR_MERGE = -12,    /* what this rule learns does not add up */
    KENYON_ERROR_HEARD = -13     /* nothing was heard since the last one that was learned */
};

/* Room that kenyon_learn_many works in: some samples side by side. */
#define KENYON_SIDE 16
typedef struct {
#ifdef KENYON_VECTORS
    int16_t image[KENYON_PLACES + KENYON_SLACK][KENYON_SIDE];
    kenyon_response responses[KENYON_SIDE][KENYON_UNITS];
#else
    uint8_t nothing;
#endif
} kenyon_room;

/* The score of a class that has learned nothing. */
#define KENYON_NEVER INT32_MIN

#if KENYON_SECOND_ORDER
/* Room to work in: the padded sample while its units are computed, then how far they are from the mean of a class; or
 * the readout while it is solved. */
typedef union {
    struct {
        int32_t r[KENYON_UNITS], p[KENYON_UNITS], x[KENYON_UNITS];
        int64_t q[KENYON_UNITS];
        uint16_t centre[KENYON_UNITS]; /* of the class means */
    } solving;
    int16_t distances[KENYON_UNITS];
    kenyon_workplace features;
} kenyon_scratch;
#else
typedef union {
    kenyon_workplace features;
} kenyon_scratch;
#endif

#if KENYON_FRONT
/* What was recognised: its label, the samples that it was recognised by, and how many were at the limits of int16. */
typedef struct {
    int32_t label;
    uint32_t start, end;
    uint16_t clipped;
} kenyon_event;

/* The front end, and what becomes an event. */
typedef struct {
#if KENYON_FRONT == 1
    kenyon_spectra front;
#else
    kenyon_motion front;
#endif
    kenyon_segment segment;        /* the last one, */
    uint8_t window[KENYON_INPUTS]; /* and its sample */
    kenyon_event event;
    int32_t label;   /* of the segment before */
    uint32_t last;   /* when the last event was */
    uint8_t run;     /* segments in a row with this label */
    uint8_t done;    /* whether one of them was an event */
    uint8_t spoke;   /* whether there was any event */
    uint8_t heard;   /* whether the last segment may be learned */
    uint8_t started;
} kenyon_ear;
#endif

typedef struct {
    /* What was learned, and what kenyon_save writes. */
    uint64_t time;    /* samples learned */
    uint64_t updates; /* synapses visited */
    uint32_t n_classes;
    int32_t labels[KENYON_MAX_CLASSES];
#if KENYON_SECOND_ORDER
    uint64_t trained[KENYON_MAX_CLASSES];             /* samples of each class */
    uint16_t means[KENYON_MAX_CLASSES][KENYON_UNITS]; /* class means, in units of 1/256 */
    uint8_t halvings, doublings;
#if KENYON_BITS == 16
    int16_t pairs[KENYON_PAIRS]; /* co-activity: the lower triangle, row after row */
#else
    uint8_t pairs[3 * KENYON_PAIRS];
#endif
#elif KENYON_LEARNS
    uint32_t trained[KENYON_MAX_CLASSES];
    uint8_t exponents[KENYON_MAX_CLASSES];
    uint8_t weights[KENYON_MAX_CLASSES][KENYON_COLUMN]; /* packed levels, a column for each class */
#endif
    /* What is made anew at any time. */
#if KENYON_SECOND_ORDER
    int16_t readout[KENYON_MAX_CLASSES][KENYON_UNITS];
    int64_t offsets[KENYON_MAX_CLASSES];
    uint8_t shifts[KENYON_MAX_CLASSES];
    uint8_t learned; /* samples since the readout was solved, 255 for many */
    uint8_t raised;  /* how often its shrinkage was raised, while it is being solved */
    uint16_t solved; /* classes that are solved */
#endif
    kenyon_scratch scratch;
    kenyon_response activity[KENYON_UNITS]; /* the responses of the units, then their activity in bytes */
#if KENYON_FRONT
    kenyon_ear ear;
#endif
} kenyon_model;

/* As exported, with everything it had learned. */
void kenyon_init(kenyon_model *model);

/* As if it had never learned anything: no classes. */
int kenyon_clear(kenyon_model *model);

/* Learn a sample of KENYON_INPUTS bytes. KENYON_UNLABELLED teaches nothing and is no error. */
int kenyon_learn(kenyon_model *model, const uint8_t *sample, int32_t label);

/* Learn n samples that lie one behind the other, as if one by one, and sooner on a processor with vector registers. All
 * labels are looked at first. */
int kenyon_learn_many(kenyon_model *model, kenyon_room *room, const uint8_t *samples, const int32_t *labels, size_t n);

/* The label with the highest score; of equal scores, the smallest label. */
int kenyon_predict(kenyon_model *model, const uint8_t *sample, int32_t *label);

/* The score of each class, in the order of model->labels: room for model->n_classes. Gives their number. */
int kenyon_scores(kenyon_model *model, const uint8_t *sample, int32_t *scores);

/* Solve the readout of up to n classes in an idle moment, so that the next prediction need not: it solves those that are
 * left. Gives how many are left, 0 where there is nothing to do. A sample that is learned in between begins anew, with the
 * weights as they are: scores then differ in the last digits from those of a model that was never asked. */
int kenyon_solve_step(kenyon_model *model, uint32_t n);

int kenyon_add_class(kenyon_model *model, int32_t label);

/* The classes after it move up by one. */
int kenyon_forget_class(kenyon_model *model, int32_t label);

/* Give a class another label. */
int kenyon_rename_class(kenyon_model *model, int32_t label, int32_t to);

/* Write everything learned into a flat buffer. Gives the number of bytes, which kenyon_save_bytes knows before. */
int32_t kenyon_save(const kenyon_model *model, uint8_t *buffer, size_t size);
int32_t kenyon_save_bytes(const kenyon_model *model);

/* The same in pieces, without room for all of it: up to `size` bytes of that buffer from byte `first` on. Gives how many
 * they are, 0 behind the end. The model must not change between the pieces. */
int32_t kenyon_save_part(const kenyon_model *model, size_t first, uint8_t *buffer, size_t size);

/* Go on from a buffer of kenyon_save, or of `kenyon device pack` in Python. */
int kenyon_load(kenyon_model *model, const uint8_t *buffer, size_t size);

/* Add what another device learned, from its buffer; classes that are not known are added, in their order there. */
int kenyon_merge(kenyon_model *model, const uint8_t *buffer, size_t size);

/* To look inside: the activity of each unit for a sample, in bytes; and what a unit counts for in the score of a
 * class, by its place in model->labels. */
const uint8_t *kenyon_activity(kenyon_model *model, const uint8_t *sample);
int32_t kenyon_weight(kenyon_model *model, uint32_t place, uint32_t unit);

#if KENYON_FRONT
/* Take samples of the sensor, at most KENYON_FEED_MOST; readings of motion one behind the other. 1 if something was
 * recognised, which is then in model->ear.event; 0 if not. KENYON_ERROR_SIZE for more samples, or a part of a reading. */
int kenyon_feed(kenyon_model *model, const int16_t *samples, size_t n);

/* Learn the last segment, a class that is not known being added. KENYON_ERROR_HEARD where there is none that was not. */
int kenyon_learn_heard(kenyon_model *model, int32_t label);

/* Samples were lost: what comes next does not follow what came before. */
void kenyon_gap(kenyon_model *model);
#endif

#ifdef __cplusplus
}
#endif
#endif
