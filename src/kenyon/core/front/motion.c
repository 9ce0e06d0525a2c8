/* Motion; the equations are those of kenyon/features/front/_motion.py. */
#include "front.h"

#define MEAN 6
#define AXES 3

/* v / 2^n, rounded down: what shifts of negative numbers do is not defined in C. */
static int32_t down(int32_t v, int n)
{
    return v < 0 ? ~(~v >> n) : v >> n;
}

static uint8_t byte_of(int32_t v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/* The root of v, rounded down, bit by bit. */
static int32_t root_of(uint64_t v)
{
    uint32_t root = 0;
    for (uint32_t bit = (uint32_t)1 << 17; bit; bit >>= 1) {
        const uint64_t more = root | bit;
        root = more * more <= v ? (uint32_t)more : root;
    }
    return (int32_t)root;
}

int kenyon_motion_init(kenyon_motion *motion, const kenyon_motion_settings *settings)
{
    const int known = (settings->inputs == AXES || settings->inputs == 2 * AXES) && settings->length >= 2 &&
                      settings->length <= KENYON_MOTION_LENGTH && settings->hop >= 1 &&
                      settings->hop <= settings->length && settings->step >= 1 && settings->step <= 64 &&
                      !(settings->step & (settings->step - 1)) && settings->fine <= 8;
    if (!known) {
        return KENYON_FRONT_SETTINGS;
    }
    motion->inputs = settings->inputs;
    motion->channels = (uint16_t)(settings->inputs + settings->inputs / AXES + AXES);
    motion->length = settings->length;
    motion->hop = settings->hop;
    motion->step = settings->step;
    motion->fine = settings->fine;
    motion->time = 0;
    kenyon_motion_reset(motion);
    return 0;
}

void kenyon_motion_reset(kenyon_motion *motion)
{
    for (unsigned t = 0; t < motion->length; t++) {
        for (unsigned c = 0; c < motion->channels; c++) {
            motion->entries[t][c] = 0;
            motion->sums[c] = 0;
        }
    }
    motion->readings = motion->next = 0;
    motion->wait = motion->length;
    motion->started = 0;
    motion->clipped = 0;
}

/* Add a reading to the sums of the entry, in the order of its channels. */
static void add(kenyon_motion *motion, const int16_t *reading)
{
    int32_t *sums = motion->sums;
    for (unsigned sensor = 0; sensor < motion->inputs / AXES; sensor++) {
        uint64_t squares = 0;
        for (unsigned axis = 0; axis < AXES; axis++) {
            int32_t *mean = motion->means + AXES * sensor + axis;
            const int32_t x = reading[AXES * sensor + axis];
            *mean = motion->started ? *mean : x * (1 << MEAN);
            *mean += x - down(*mean, MEAN);
            const int32_t d = x - down(*mean, MEAN);
            squares += (uint64_t)((int64_t)d * d);
            *sums++ += d;
        }
        *sums++ += root_of(squares);
    }
    for (unsigned axis = 0; axis < AXES; axis++) {
        *sums++ += down(motion->means[axis], MEAN);
    }
    motion->started = 1;
}

static void finish(kenyon_motion *motion)
{
    uint8_t *entry = motion->entries[motion->next];
    const unsigned gravity = motion->channels - AXES;
    int shift = motion->fine;
    for (unsigned step = motion->step; step > 1; step /= 2) {
        shift++;
    }
    for (unsigned c = 0; c < motion->channels; c++) {
        if (c >= gravity) {
            entry[c] = byte_of(128 + down(motion->sums[c], shift + 3));
        } else if (c % (AXES + 1) == AXES) {
            entry[c] = byte_of(down(motion->sums[c], shift + 1));
        } else {
            entry[c] = byte_of(128 + down(motion->sums[c], shift));
        }
        motion->sums[c] = 0;
    }
    motion->next = (uint16_t)((motion->next + 1u) % motion->length);
}

int kenyon_motion_push(kenyon_motion *motion, const int16_t *reading)
{
    add(motion, reading);
    motion->time++;
    for (unsigned i = 0; i < motion->inputs; i++) {
        if ((reading[i] == INT16_MAX || reading[i] == INT16_MIN) && motion->clipped < UINT16_MAX) {
            motion->clipped++;
        }
    }
    if (++motion->readings < motion->step) {
        return 0;
    }
    motion->readings = 0;
    finish(motion);
    if (--motion->wait) {
        return 0;
    }
    motion->wait = motion->hop;
    return 1;
}

void kenyon_motion_window(const kenyon_motion *motion, uint8_t *window)
{
    for (unsigned t = 0; t < motion->length; t++) {
        const uint8_t *entry = motion->entries[(motion->next + t) % motion->length];
        for (unsigned c = 0; c < motion->channels; c++) {
            *window++ = entry[c];
        }
    }
}

void kenyon_motion_segment(kenyon_motion *motion, kenyon_segment *segment, uint8_t *window)
{
    segment->end = segment->known = motion->time;
    segment->start = motion->time - (uint32_t)motion->length * motion->step;
    segment->ended = 0;
    segment->clipped = motion->clipped;
    motion->clipped = 0;
    kenyon_motion_window(motion, window);
}
