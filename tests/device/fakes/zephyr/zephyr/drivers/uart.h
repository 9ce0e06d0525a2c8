#pragma once
#include "../kernel.h"
int uart_poll_in(const struct device *dev, unsigned char *p_char);
