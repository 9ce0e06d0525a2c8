/* The activity of a block of samples: sample s has the active units units[s, :counts[s]], ascending, with the values
 * values[s, :counts[s]]: floats, or bytes. */
#ifndef KENYON_ACTIVITY_H
#define KENYON_ACTIVITY_H

#include "vectors.h"

#define NO_LABEL (-1)
#define WIDTH 8         /* neurons are padded to a multiple of it */
#define DIVERGED 1e12   /* activity beyond which a rule is taken to have run away */


typedef struct {
    const uint32_t *units;
    const float *floats;   /* or NULL */
    const uint8_t *bytes;  /* or NULL */
    const int64_t *counts;
    int64_t stride;        /* entries from one sample to the next */
} kn_active;

#endif
