/* Front ends: from the samples of a sensor to bytes with a shape. kenyon.features.front defines them, to the bit.
 *
 *     kenyon_spectra ear;
 *     kenyon_spectra_init(&ear, &settings);
 *     if (kenyon_spectra_feed(&ear, samples, n)) kenyon_spectra_window(&ear, sample);
 *
 * Integers only, no library; no memory but that of the struct, which may be copied. Samples may come in parts of any size. Define the
 * sizes below where less memory is wanted than the largest settings need.
 */
#ifndef KENYON_FRONT_H
#define KENYON_FRONT_H

#include <stddef.h>
#include <stdint.h>

#ifndef KENYON_SPECTRA_SIZE
#define KENYON_SPECTRA_SIZE 512 /* samples of a frame: 256 at 8 kHz, 512 at 16 kHz */
#endif
#ifndef KENYON_SPECTRA_BANDS
#define KENYON_SPECTRA_BANDS 40
#endif
#ifndef KENYON_SPECTRA_KEPT
#define KENYON_SPECTRA_KEPT 256
#endif
#ifndef KENYON_MOTION_LENGTH
#define KENYON_MOTION_LENGTH 256
#endif
#define KENYON_MOTION_INPUTS 6
#define KENYON_MOTION_CHANNELS 11

#define KENYON_FRONT_SETTINGS (-1) /* what an init gives for settings that it does not know or has no memory for */

/* Of kenyon.features.front.Spectra; edges has bands + 2 entries. */
typedef struct {
    uint16_t size, bands, frames, kept, gap;
    const uint16_t *edges;
} kenyon_spectra_settings;

typedef struct {
    uint16_t size, bands, frames, kept, gap;
    uint16_t filled;  /* samples after the last frame */
    uint16_t n, next; /* frames that are kept; where the next one goes */
    uint16_t wait;    /* frames until a sound that goes on is asked about again */
    uint16_t clipped; /* samples at the limits since the last segment */
    uint8_t cut;      /* whether the oldest frame that is kept follows one of a sound that has ended */
    uint32_t time;     /* frames in all */
    uint16_t edges[KENYON_SPECTRA_BANDS + 2];
    int16_t samples[KENYON_SPECTRA_SIZE];
    int16_t work[KENYON_SPECTRA_SIZE];
    uint8_t logs[KENYON_SPECTRA_KEPT][KENYON_SPECTRA_BANDS + 1];
} kenyon_spectra;

/* The loudest sound of the kept frames: its length, the frames since its end, and the levels of the loudest and the
 * quietest frame. */
typedef struct {
    uint16_t length, ago;
    uint8_t level, noise;
} kenyon_sound;

/* A part of a stream that is asked about, in samples of each channel: a sound that has ended, or something that goes on;
 * the sample at which it was known; samples at the limits of int16 since the segment before. Times pass 2^32 to 0. */
typedef struct {
    uint32_t start, end, known;
    uint16_t clipped;
    uint8_t ended;
} kenyon_segment;

/* 0, or KENYON_FRONT_SETTINGS. */
int kenyon_spectra_init(kenyon_spectra *spectra, const kenyon_spectra_settings *settings);
/* Forget what was heard: after a gap in the stream. Time goes on. */
void kenyon_spectra_reset(kenyon_spectra *spectra);
/* Take one sample: 1 if it completed a frame, else 0. */
int kenyon_spectra_push(kenyon_spectra *spectra, int16_t sample);
/* Take samples, and give how many frames they completed. */
size_t kenyon_spectra_feed(kenyon_spectra *spectra, const int16_t *samples, size_t n);
kenyon_sound kenyon_spectra_sound(const kenyon_spectra *spectra);
/* The window of now, frames * bands bytes; zeros before the first frame. */
void kenyon_spectra_window(const kenyon_spectra *spectra, uint8_t *window);

/* After a frame: 1 and the window if it completed a segment, else 0. */
int kenyon_spectra_segment(kenyon_spectra *spectra, kenyon_segment *segment, uint8_t *window);

/* Of kenyon.features.front.Motion. */
typedef struct {
    uint16_t inputs, length, hop, step, fine;
} kenyon_motion_settings;

typedef struct {
    uint16_t inputs, channels, length, hop, step, fine;
    uint16_t readings;   /* in the entry that is being made */
    uint16_t wait, next; /* entries until the next window; where the next one goes */
    uint16_t clipped;    /* values at the limits since the last segment */
    uint8_t started;
    uint32_t time;       /* readings in all */
    int32_t means[KENYON_MOTION_INPUTS]; /* running means, times 2^6 */
    int32_t sums[KENYON_MOTION_CHANNELS];
    uint8_t entries[KENYON_MOTION_LENGTH][KENYON_MOTION_CHANNELS];
} kenyon_motion;

int kenyon_motion_init(kenyon_motion *motion, const kenyon_motion_settings *settings);
void kenyon_motion_reset(kenyon_motion *motion);
/* Take one reading of all inputs: 1 if it completed a window, else 0. */
int kenyon_motion_push(kenyon_motion *motion, const int16_t *reading);
/* The last `length` entries, length * channels bytes. */
void kenyon_motion_window(const kenyon_motion *motion, uint8_t *window);
/* After a reading that completed a window: it, and where it is. */
void kenyon_motion_segment(kenyon_motion *motion, kenyon_segment *segment, uint8_t *window);

#endif
