/* The products of many dense rows, for each type of entry: see blocks.h. */

#ifndef KENYON_DENSE_ROWS_H
#define KENYON_DENSE_ROWS_H

#define NAMED add_block_u16
#define ENTRY uint16_t
#define PART int32_t
#define MULTIPLY multiply_integers
#define PUT(to, from) to = (uint16_t)(to + (uint32_t)(from))
#include "blocks.h"

#define NAMED add_block_u32
#define ENTRY uint32_t
#define PART int32_t
#define MULTIPLY multiply_integers
#define PUT(to, from) to += (uint32_t)(from)
#include "blocks.h"

#define NAMED add_block_u64
#define ENTRY uint64_t
#define PART int32_t
#define MULTIPLY multiply_integers
#define PUT(to, from) to += (uint64_t)(from)
#include "blocks.h"

#define NAMED add_block_f32
#define ENTRY float
#define PART float
#define MULTIPLY multiply_floats
#define PUT(to, from) to = from
#define IN_ORDER
#include "blocks.h"

#endif
