#pragma once
#include <stddef.h>
#include <stdint.h>
#include "gpio.h"
typedef struct i2s_channel_obj_t *i2s_chan_handle_t;
typedef struct { int id; int role; } i2s_chan_config_t;
typedef struct { uint32_t sample_rate_hz; } i2s_std_clk_config_t;
typedef struct { int data_bit_width; int slot_mode; } i2s_std_slot_config_t;
typedef struct { gpio_num_t mclk, bclk, ws, dout, din; } i2s_std_gpio_config_t;
typedef struct {
    i2s_std_clk_config_t clk_cfg;
    i2s_std_slot_config_t slot_cfg;
    i2s_std_gpio_config_t gpio_cfg;
} i2s_std_config_t;
enum { I2S_NUM_AUTO = -1, I2S_ROLE_MASTER = 0, I2S_DATA_BIT_WIDTH_16BIT = 16, I2S_SLOT_MODE_MONO = 1 };
#define I2S_GPIO_UNUSED GPIO_NUM_NC
#define I2S_CHANNEL_DEFAULT_CONFIG(i, r) {.id = i, .role = r}
#define I2S_STD_CLK_DEFAULT_CONFIG(rate) {.sample_rate_hz = rate}
#define I2S_STD_PHILIPS_SLOT_DEFAULT_CONFIG(bits, mono) {.data_bit_width = bits, .slot_mode = mono}
esp_err_t i2s_new_channel(const i2s_chan_config_t *config, i2s_chan_handle_t *tx, i2s_chan_handle_t *rx);
esp_err_t i2s_channel_init_std_mode(i2s_chan_handle_t handle, const i2s_std_config_t *config);
esp_err_t i2s_channel_enable(i2s_chan_handle_t handle);
esp_err_t i2s_channel_read(i2s_chan_handle_t handle, void *dest, size_t size, size_t *bytes_read, uint32_t timeout_ms);
