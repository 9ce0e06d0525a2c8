/* One interface for learners on a microcontroller. A method is one C99 file that defines these four functions.
 *
 * Compiled with -DSMALL_INPUTS (bytes of a sample), -DSMALL_CLASSES (most classes) and -DSMALL_RAM (bytes that its state
 * may have). All memory is static: nothing is allocated, and a random choice is drawn from a fixed seed. Samples come
 * one at a time and are gone afterwards; what is kept of them is state.
 */
#ifndef SMALL_H
#define SMALL_H

#include <stddef.h>
#include <stdint.h>

/* The two that a compiler may call by itself; a bare machine has no string.h. */
void *memset(void *to, int value, size_t n);
void *memcpy(void *restrict to, const void *restrict from, size_t n);

/* Forget everything. */
void small_init(void);

/* Learn one sample of a class from 0 to SMALL_CLASSES - 1. */
void small_learn(const uint8_t *sample, int32_t label);

/* The class of a sample, among those learned so far; -1 before any was. It may change what is derived from the state, such as
 * a readout that is solved when it is first needed. */
int32_t small_predict(const uint8_t *sample);

/* Bytes of state and scratch: what the method has in RAM besides its stack. */
uint32_t small_ram(void);

/* Where the harness puts a sample (harness.c). */
uint8_t *small_sample(void);

/* A pseudorandom word of a place, the same on every machine: for projections that are drawn and not kept. */
static inline uint32_t small_random(uint32_t place)
{
    uint32_t x = place * 2654435769u + 0x9E3779B9u;
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
}

#endif
