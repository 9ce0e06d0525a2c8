/* What was learned, kept where a loss of power at any moment cannot lose it.
 *
 * There are two slots. A state is written into the one that does not hold the latest, so that a write that is cut off
 * leaves the latest as it was. A slot is
 *
 *      0   KENYON_COMPLETE, which is cleared before anything else is written and written after everything else
 *      1   the sequence number of the state (4 bytes, the lowest first), and its complement (4)
 *      9   the buffer of kenyon_save, which ends in a CRC-32 of itself
 *
 * A slot without the first, whose numbers do not fit together, or whose buffer kenyon_load refuses holds nothing.
 *
 * The memory has to keep single bytes: EEPROM, FRAM. One that is emulated in a block of flash loses both slots at once
 * where it is cut off while it erases the block.
 */

#ifndef KENYON_SLOTS_H
#define KENYON_SLOTS_H

#include "kenyon.h"

#if KENYON_LEARNS

#define KENYON_COMPLETE 0xA5
#define KENYON_SLOT_HEADER 9
#define KENYON_SLOT_BYTES (KENYON_SLOT_HEADER + KENYON_SAVE_BYTES)
#define KENYON_STORE_BYTES (2 * (uint32_t)KENYON_SLOT_BYTES)

/* The memory, from 0 to KENYON_STORE_BYTES - 1: yours to define. */
static uint8_t kenyon_store_read(uint32_t at);
static void kenyon_store_write(uint32_t at, uint8_t byte);

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
        number |= (uint32_t)kenyon_store_read(start + 1 + i) << 8 * i;
        complement |= (uint32_t)kenyon_store_read(start + 5 + i) << 8 * i;
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
    kenyon_store_write(start, 0);
    for (uint32_t i = 0; i < 4; i++) {
        kenyon_store_write(start + 1 + i, (uint8_t)(sequence >> 8 * i));
        kenyon_store_write(start + 5 + i, (uint8_t)(~sequence >> 8 * i));
    }
    for (uint32_t at = 0; at < (uint32_t)size; at++) {
        kenyon_store_write(start + KENYON_SLOT_HEADER + at, buffer[at]);
    }
    for (uint32_t at = 0; at < (uint32_t)size; at++) {
        kept &= kenyon_store_read(start + KENYON_SLOT_HEADER + at) == buffer[at];
    }
    if (!kept) {
        return KENYON_ERROR_FORMAT;
    }
    kenyon_store_write(start, KENYON_COMPLETE);
    slots->latest = slot;
    slots->sequence = sequence;
    return size;
}

#endif
#endif
