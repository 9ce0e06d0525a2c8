/* ---- units drawn from the seed, one after the other: core/draw.h, in the narrowest numbers that hold a model's inputs */

#define DRAW_PLACE kenyon_input
#define DRAW_ORDER int32_t
