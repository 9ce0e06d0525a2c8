/* Learn from a PDM microphone (the node "dmic_dev") and say what was heard. The console takes the commands of
 * kenyon_app.h; the button "sw0" teaches class 0. What was learned is kept in the partition "storage_partition". */
#include <zephyr/audio/dmic.h>
#include <zephyr/drivers/gpio.h>
#include <zephyr/drivers/uart.h>
#include <zephyr/kernel.h>
#include <zephyr/storage/flash_map.h>

#define KENYON_KEEPS
#define KENYON_STORE_BLOCK 4096
#define KENYON_STORE_WORD 8
#include "kenyon_app.h"

#if KENYON_FRONT != 1
#error "this sample reads a microphone: export a model with front=Spectra(), or put your sensor here"
#endif

#define BLOCK_MS 50
#define BLOCK_BYTES (KENYON_FRONT_RATE * BLOCK_MS / 1000 * 2)

K_MEM_SLAB_DEFINE_STATIC(blocks, BLOCK_BYTES, 4, 4);
static const struct gpio_dt_spec button = GPIO_DT_SPEC_GET(DT_ALIAS(sw0), gpios);

static void kenyon_say(const char *text)
{
    printk("%s", text);
}

#if KENYON_LEARNS
static const struct flash_area *store(void)
{
    static const struct flash_area *area;
    if (!area && flash_area_open(FIXED_PARTITION_ID(storage_partition), &area)) {
        return NULL;
    }
    return area->fa_size >= KENYON_STORE_BYTES ? area : NULL;
}

static uint8_t kenyon_store_read(uint32_t at)
{
    uint8_t byte = 0xFF;
    if (store()) {
        flash_area_read(store(), at, &byte, 1);
    }
    return byte;
}

static void kenyon_store_write(uint32_t at, const uint8_t *word)
{
    if (store()) {
        flash_area_write(store(), at, word, KENYON_STORE_WORD);
    }
}

static void kenyon_store_erase(uint32_t at, uint32_t bytes)
{
    if (store()) {
        flash_area_erase(store(), at, bytes);
    }
}
#endif

int main(void)
{
    const struct device *microphone = DEVICE_DT_GET(DT_NODELABEL(dmic_dev));
    const struct device *console = DEVICE_DT_GET(DT_CHOSEN(zephyr_console));
    struct pcm_stream_cfg stream = {.pcm_rate = KENYON_FRONT_RATE, .pcm_width = 16, .block_size = BLOCK_BYTES,
                                    .mem_slab = &blocks};
    struct dmic_cfg config = {
        .io = {.min_pdm_clk_freq = 1000000, .max_pdm_clk_freq = 3500000, .min_pdm_clk_dc = 40, .max_pdm_clk_dc = 60},
        .streams = &stream,
        .channel = {.req_num_streams = 1, .req_num_chan = 1,
                    .req_chan_map_lo = dmic_build_channel_map(0, 0, PDM_CHAN_LEFT)},
    };
    int down = 0;
    gpio_pin_configure_dt(&button, GPIO_INPUT);
    kenyon_app_start();
    if (dmic_configure(microphone, &config) < 0 || dmic_trigger(microphone, DMIC_TRIGGER_START) < 0) {
        kenyon_say("the microphone cannot be used\n");
        return 0;
    }
    for (;;) {
        void *samples;
        uint32_t bytes;
        unsigned char letter;
        if (dmic_read(microphone, 0, &samples, &bytes, 1000) < 0) {
            kenyon_gap(&model);
            continue;
        }
        kenyon_app_feed(samples, bytes / 2);
        k_mem_slab_free(&blocks, samples);
        while (uart_poll_in(console, &letter) == 0) {
            kenyon_app_letter((char)letter);
        }
        const int now = gpio_pin_get_dt(&button) > 0;
        if (now && !down) {
            kenyon_app_learn(0);
        }
        down = now;
    }
}
