/* Samples of a sensor from a file, commands in between:
 *
 *     learn STORE < script
 *
 * Each line of the script is a command of kenyon_app.h, or `+ FILE`: a file of int16 samples, lowest byte first (with a
 * front end), or of samples in bytes. What was learned is kept in the file STORE, as in flash. */
#include <stdio.h>
#include <string.h>

#define KENYON_KEEPS
#define KENYON_STORE_BLOCK 4096
#define KENYON_STORE_WORD 4
#include "kenyon_app.h"

static void kenyon_say(const char *text)
{
    fputs(text, stdout);
}

static const char *path;

#if KENYON_LEARNS
static uint8_t kenyon_store_read(uint32_t at)
{
    FILE *file = fopen(path, "rb");
    int byte = EOF;
    if (file) {
        if (fseek(file, (long)at, SEEK_SET) == 0) {
            byte = fgetc(file);
        }
        fclose(file);
    }
    return byte == EOF ? 0xFF : (uint8_t)byte;
}

static void write_at(uint32_t at, const uint8_t *bytes, size_t n)
{
    FILE *file = fopen(path, "r+b");
    if (!file) {
        file = fopen(path, "w+b");
    }
    if (file) {
        if (fseek(file, (long)at, SEEK_SET) == 0) {
            (void)fwrite(bytes, 1, n, file);
        }
        fclose(file);
    }
}

static void kenyon_store_write(uint32_t at, const uint8_t *word)
{
    write_at(at, word, KENYON_STORE_WORD);
}

static void kenyon_store_erase(uint32_t at, uint32_t bytes)
{
    static uint8_t erased[KENYON_STORE_BLOCK];
    memset(erased, 0xFF, sizeof erased);
    for (uint32_t done = 0; done < bytes; done += KENYON_STORE_BLOCK) {
        write_at(at + done, erased, sizeof erased);
    }
}
#endif

static void sense(const char *name)
{
    FILE *file = fopen(name, "rb");
    if (!file) {
        kenyon_say("no such file\n");
        return;
    }
#if KENYON_FRONT
    uint8_t bytes[2];
    while (fread(bytes, 1, 2, file) == 2) {
        static int16_t reading[KENYON_CHANNELS_IN];
        static unsigned n = 0;
        reading[n++] = (int16_t)(uint16_t)(bytes[0] | bytes[1] << 8);
        if (n == KENYON_CHANNELS_IN) {
            kenyon_app_feed(reading, n);
            n = 0;
        }
    }
#else
    while (fread(window, 1, sizeof window, file) == sizeof window) {
        kenyon_app_sample();
    }
#endif
    fclose(file);
}

int main(int n, char **arguments)
{
    char line[400];
    path = n > 1 ? arguments[1] : "kenyon.store";
    kenyon_app_start();
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\r\n")] = 0;
        if (line[0] == '+' && line[1] == ' ') {
            sense(line + 2);
        } else {
            for (const char *letter = line; *letter; letter++) {
                kenyon_app_letter(*letter);
            }
            kenyon_app_letter('\n');
        }
    }
    return 0;
}
