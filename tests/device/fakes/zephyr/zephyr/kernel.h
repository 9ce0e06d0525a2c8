#pragma once
#include <stddef.h>
#include <stdint.h>
struct device { const char *name; };
struct k_mem_slab { int unused; };
#define K_MEM_SLAB_DEFINE_STATIC(name, size, n, align) static struct k_mem_slab name
void k_mem_slab_free(struct k_mem_slab *slab, void *mem);
void printk(const char *format, ...);
extern const struct device fake_device;
#define DEVICE_DT_GET(node) (&fake_device)
#define DT_NODELABEL(label) label
#define DT_CHOSEN(name) name
#define DT_ALIAS(name) name
