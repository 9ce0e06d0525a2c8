/* Learn from an I2S microphone (GPIO 14 clock, 15 word select, 32 data) and say what was heard. The console takes the
 * commands of kenyon_app.h; the button at GPIO 0 teaches class 0. What was learned is kept in the partition "kenyon". */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "driver/gpio.h"
#include "driver/i2s_std.h"
#include "esp_partition.h"

#define KENYON_KEEPS
#define KENYON_STORE_BLOCK 4096
#define KENYON_STORE_WORD 4
#include "kenyon_app.h"

#define BUTTON GPIO_NUM_0

static void kenyon_say(const char *text)
{
    fputs(text, stdout);
    fflush(stdout);
}

#if KENYON_LEARNS
static const esp_partition_t *store(void)
{
    static const esp_partition_t *found;
    if (!found) {
        found = esp_partition_find_first(ESP_PARTITION_TYPE_DATA, ESP_PARTITION_SUBTYPE_ANY, "kenyon");
    }
    return found && found->size >= KENYON_STORE_BYTES ? found : NULL;
}

static uint8_t kenyon_store_read(uint32_t at)
{
    uint8_t byte = 0xFF;
    if (store()) {
        esp_partition_read(store(), at, &byte, 1);
    }
    return byte;
}

static void kenyon_store_write(uint32_t at, const uint8_t *word)
{
    if (store()) {
        esp_partition_write(store(), at, word, KENYON_STORE_WORD);
    }
}

static void kenyon_store_erase(uint32_t at, uint32_t bytes)
{
    if (store()) {
        esp_partition_erase_range(store(), at, bytes);
    }
}
#endif

#if KENYON_FRONT == 1
static i2s_chan_handle_t microphone;

static void start_microphone(void)
{
    const i2s_chan_config_t channel = I2S_CHANNEL_DEFAULT_CONFIG(I2S_NUM_AUTO, I2S_ROLE_MASTER);
    const i2s_std_config_t config = {
        .clk_cfg = I2S_STD_CLK_DEFAULT_CONFIG(KENYON_FRONT_RATE),
        .slot_cfg = I2S_STD_PHILIPS_SLOT_DEFAULT_CONFIG(I2S_DATA_BIT_WIDTH_16BIT, I2S_SLOT_MODE_MONO),
        .gpio_cfg = {.mclk = I2S_GPIO_UNUSED, .bclk = GPIO_NUM_14, .ws = GPIO_NUM_15, .dout = I2S_GPIO_UNUSED,
                     .din = GPIO_NUM_32},
    };
    ESP_ERROR_CHECK(i2s_new_channel(&channel, NULL, &microphone));
    ESP_ERROR_CHECK(i2s_channel_init_std_mode(microphone, &config));
    ESP_ERROR_CHECK(i2s_channel_enable(microphone));
}

static void sense(void)
{
    static int16_t samples[256];
    size_t bytes = 0;
    if (i2s_channel_read(microphone, samples, sizeof samples, &bytes, 1000) == ESP_OK) {
        kenyon_app_feed(samples, bytes / 2);
    } else {
        kenyon_gap(&model);
    }
}
#else
#error "this example reads a microphone: export a model with front=Spectra(), or put your sensor here"
#endif

void app_main(void)
{
    int down = 0;
    gpio_set_direction(BUTTON, GPIO_MODE_INPUT);
    gpio_set_pull_mode(BUTTON, GPIO_PULLUP_ONLY);
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    kenyon_app_start();
    start_microphone();
    for (;;) {
        sense();
        for (int letter = getchar(); letter != EOF; letter = getchar()) {
            kenyon_app_letter((char)letter);
        }
        const int now = gpio_get_level(BUTTON) == 0;
        if (now && !down) {
            kenyon_app_learn(0);
        }
        down = now;
    }
}
