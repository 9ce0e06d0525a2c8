#pragma once
#include "../kernel.h"
struct gpio_dt_spec { const struct device *port; uint8_t pin; uint16_t dt_flags; };
#define GPIO_DT_SPEC_GET(node, prop) {&fake_device, 0, 0}
#define GPIO_INPUT 1
int gpio_pin_configure_dt(const struct gpio_dt_spec *spec, uint32_t extra_flags);
int gpio_pin_get_dt(const struct gpio_dt_spec *spec);
