/* A simulated device: the exported model, fed from standard input.
 *
 *     device learn < samples > buffer        begin with nothing, learn, and write what was learned
 *     device ask BUFFER ... < samples        begin with nothing, merge the buffers, and write a label for each sample
 *
 * A sample is a byte with its label, and then KENYON_INPUTS bytes.
 */
#include <stdio.h>
#include <string.h>

#include "kenyon.h"

static kenyon_model model;
static uint8_t buffer[KENYON_SAVE_BYTES];
static uint8_t sample[1 + KENYON_INPUTS];

static int fail(const char *what, int code)
{
    fprintf(stderr, "%s: error %d of kenyon.h\n", what, code);
    return 1;
}

static int learn(void)
{
    while (fread(sample, 1, sizeof sample, stdin) == sizeof sample) {
        int code = kenyon_learn(&model, sample + 1, sample[0]);
        if (code == KENYON_ERROR_LABEL) {
            code = kenyon_add_class(&model, sample[0]);
            if (code >= 0)
                code = kenyon_learn(&model, sample + 1, sample[0]);
        }
        if (code < 0)
            return fail("learn", code);
    }
    int32_t size = kenyon_save(&model, buffer, sizeof buffer);
    if (size < 0)
        return fail("save", size);
    return fwrite(buffer, 1, (size_t)size, stdout) != (size_t)size;
}

static int ask(int count, char **names)
{
    for (int k = 0; k < count; k++) {
        FILE *file = fopen(names[k], "rb");
        if (!file)
            return fail(names[k], 0);
        size_t size = fread(buffer, 1, sizeof buffer, file);
        fclose(file);
        int code = kenyon_merge(&model, buffer, size);
        if (code < 0)
            return fail(names[k], code);
    }
    while (fread(sample, 1, sizeof sample, stdin) == sizeof sample) {
        int32_t label;
        int code = kenyon_predict(&model, sample + 1, &label);
        if (code < 0)
            return fail("predict", code);
        putchar(label);
    }
    return 0;
}

int main(int argc, char **argv)
{
    kenyon_init(&model);
    kenyon_clear(&model);
    if (argc == 2 && !strcmp(argv[1], "learn"))
        return learn();
    if (argc > 2 && !strcmp(argv[1], "ask"))
        return ask(argc - 2, argv + 2);
    fprintf(stderr, "usage: device learn | device ask BUFFER ...\n");
    return 2;
}
