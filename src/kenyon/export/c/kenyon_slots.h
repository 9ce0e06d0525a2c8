/* What was learned, kept where a loss of power at any moment cannot lose it.
 *
 * There are two slots. A state is written into the one that does not hold the latest, so that a write that is cut off
 * leaves the latest as it was. A slot is
 *
 *      0   KENYON_COMPLETE, which is cleared before anything else is written and written after everything else
 *      W   the sequence number of the state (4 bytes, the lowest first), and its complement (4)
 *      W+8 the buffer of kenyon_save, which ends in a CRC-32 of itself
 *
 * A slot without the first, whose numbers do not fit together, or whose buffer kenyon_load refuses holds nothing.
 *
 * EEPROM and FRAM keep single bytes: W is 1. For flash define, before this file,
 *
 *      KENYON_STORE_WORD    W, the bytes that are written at once, each word once after it was erased
 *      KENYON_STORE_BLOCK   the bytes that are erased at once; each slot has blocks of its own
 */

#ifndef KENYON_SLOTS_H
#define KENYON_SLOTS_H

#include "kenyon.h"

#if KENYON_LEARNS

#ifndef KENYON_STORE_WORD
#define KENYON_STORE_WORD 1
#endif
#ifdef KENYON_STORE_BLOCK
#define KENYON_STORE_UNIT KENYON_STORE_BLOCK
#else
#define KENYON_STORE_UNIT KENYON_STORE_WORD
#endif

#define KENYON_COMPLETE 0xA5
#define KENYON_SLOT_HEADER (KENYON_STORE_WORD + 8u)
#define KENYON_SLOT_BYTES                                                                                              \
    ((KENYON_SLOT_HEADER + KENYON_SAVE_BYTES + KENYON_STORE_UNIT - 1u) / KENYON_STORE_UNIT * KENYON_STORE_UNIT)
#define KENYON_STORE_BYTES (2 * (uint32_t)KENYON_SLOT_BYTES)

/* The memory, from 0 to KENYON_STORE_BYTES - 1: yours to define. Words are KENYON_STORE_WORD bytes, at multiples of it. */
static uint8_t kenyon_store_read(uint32_t at);
static void kenyon_store_write(uint32_t at, const uint8_t *word);
#ifdef KENYON_STORE_BLOCK
static void kenyon_store_erase(uint32_t at, uint32_t bytes);
#endif

typedef struct {
    int latest; /* the slot with the latest state, -1 where there is none */
    uint32_t sequence;
} kenyon_slots;

/* The sequence number of a slot that was written to its end; 0 where it was not. */
static int kenyon_slot_number(int slot, uint32_t *sequence)
{
    const uint32_t start = (uint32_t)slot * KENYON_SLOT_BYTES;
    uint32_t number = 0, complement = 0;
    for (uint32_t i = 0; i < 4; i++) {
        number |= (uint32_t)kenyon_store_read(start + KENYON_STORE_WORD + i) << 8 * i;
        complement |= (uint32_t)kenyon_store_read(start + KENYON_STORE_WORD + 4 + i) << 8 * i;
    }
    *sequence = number;
    return kenyon_store_read(start) == KENYON_COMPLETE && number == (uint32_t)~complement;
}

/* Go on from the latest state that is complete. KENYON_ERROR_FORMAT where there is none: the model is as it was.
 * The buffer is of KENYON_SAVE_BYTES. */
static int kenyon_slots_load(kenyon_slots *slots, kenyon_model *model, uint8_t *buffer)
{
    uint32_t numbers[2];
    int complete[2], order[2] = {0, 1};
    for (int slot = 0; slot < 2; slot++) {
        complete[slot] = kenyon_slot_number(slot, &numbers[slot]);
    }
    if (complete[0] && complete[1] && numbers[1] - numbers[0] < UINT32_MAX / 2) { /* numbers may pass their end */
        order[0] = 1;
        order[1] = 0;
    }
    slots->latest = -1;
    slots->sequence = 0;
    for (int i = 0; i < 2; i++) {
        const int slot = order[i];
        if (complete[slot]) {
            for (uint32_t at = 0; at < KENYON_SAVE_BYTES; at++) {
                buffer[at] = kenyon_store_read((uint32_t)slot * KENYON_SLOT_BYTES + KENYON_SLOT_HEADER + at);
            }
            /* the length is in the buffer; what follows is of an earlier, longer state */
            const uint32_t size = (uint32_t)buffer[12] | (uint32_t)buffer[13] << 8 | (uint32_t)buffer[14] << 16
                | (uint32_t)buffer[15] << 24;
            if (size <= KENYON_SAVE_BYTES && kenyon_load(model, buffer, size) == KENYON_OK) {
                slots->latest = slot;
                slots->sequence = numbers[slot];
                return KENYON_OK;
            }
        }
    }
    return KENYON_ERROR_FORMAT;
}

/* Keep what was learned. Gives the bytes of the state, or KENYON_ERROR_FORMAT where the memory did not keep what was
 * written; the state before it is then still the latest. */
static int32_t kenyon_slots_save(kenyon_slots *slots, const kenyon_model *model, uint8_t *buffer)
{
    const int slot = slots->latest == 0;
    const uint32_t start = (uint32_t)slot * KENYON_SLOT_BYTES, sequence = slots->sequence + 1;
    const int32_t size = kenyon_save(model, buffer, KENYON_SAVE_BYTES);
    int kept = 1;
    if (size < 0) {
        return size;
    }
    uint8_t word[KENYON_STORE_WORD] = {0};
#ifdef KENYON_STORE_BLOCK
    kenyon_store_erase(start, KENYON_SLOT_BYTES);
#else
    kenyon_store_write(start, word);
#endif
    for (uint32_t at = 0; at < 8 + (uint32_t)size; at += KENYON_STORE_WORD) {
        for (uint32_t i = 0; i < KENYON_STORE_WORD; i++) {
            const uint32_t k = at + i;
            const uint32_t number = k < 4 ? sequence >> 8 * k : ~sequence >> 8 * (k & 3);
            word[i] = (uint8_t)(k < 8 ? number : k < 8 + (uint32_t)size ? buffer[k - 8] : 0xFF);
        }
        kenyon_store_write(start + KENYON_STORE_WORD + at, word);
    }
    for (uint32_t at = 0; at < (uint32_t)size; at++) {
        kept &= kenyon_store_read(start + KENYON_SLOT_HEADER + at) == buffer[at];
    }
    if (!kept) {
        return KENYON_ERROR_FORMAT;
    }
    for (uint32_t i = 0; i < KENYON_STORE_WORD; i++) {
        word[i] = i ? 0xFF : KENYON_COMPLETE;
    }
    kenyon_store_write(start, word);
    slots->latest = slot;
    slots->sequence = sequence;
    return size;
}

#endif
#endif
