#pragma once
#include "../kernel.h"
struct flash_area { uint8_t fa_id; size_t fa_size; };
#define FIXED_PARTITION_ID(label) 1
int flash_area_open(uint8_t id, const struct flash_area **area);
int flash_area_read(const struct flash_area *area, long offset, void *dst, size_t size);
int flash_area_write(const struct flash_area *area, long offset, const void *src, size_t size);
int flash_area_erase(const struct flash_area *area, long offset, size_t size);
