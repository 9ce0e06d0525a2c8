/* Buffers for kenyon_load and kenyon_merge, guided by what they reach.
 *
 * LLVMFuzzerTestOneInput is what clang's libFuzzer calls. Without libFuzzer (WITH_DRIVER), a driver below mutates buffers
 * and keeps those that reach an edge between blocks of kenyon.c that no other has, as `-fsanitize-coverage=trace-pc` tells
 * it; it takes the number of buffers, a seed and files to begin with. A buffer that is refused must leave the model as it
 * was; one that is taken must be given back by kenyon_save, and the model must go on. */

#include "kenyon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kenyon_model model, before;
static uint8_t saved[KENYON_SAVE_BYTES];
static unsigned long taken, refused;

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* The buffer with a right checksum, so that what lies behind the check is reached too. */
static void seal(uint8_t *data, size_t size)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i + 4 < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
        }
    }
    crc = ~crc;
    for (int i = 0; size >= 4 && i < 4; i++) {
        data[size - 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
    }
}

static void go_on(void)
{
    uint8_t sample[KENYON_INPUTS];
    int32_t label = 0;
    memset(sample, 77, sizeof sample);
    if (model.n_classes) {
        check(kenyon_predict(&model, sample, &label) == KENYON_OK, "a model that was loaded does not predict");
        check(kenyon_learn(&model, sample, label) == KENYON_OK, "a model that was loaded does not learn");
        check(kenyon_predict(&model, sample, &label) == KENYON_OK, "a model that has learned does not predict");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int merge = 0; merge < 2; merge++) {
        kenyon_init(&model);
        before = model;
        const int done = merge ? kenyon_merge(&model, data, size) : kenyon_load(&model, data, size);
        if (done != KENYON_OK) {
            refused++;
            const int32_t n = kenyon_save(&before, saved, sizeof saved);
            uint8_t now[KENYON_SAVE_BYTES];
            check(kenyon_save(&model, now, sizeof now) == n && !memcmp(saved, now, (size_t)n), "refused, and changed");
            continue;
        }
        taken++;
        if (!merge) {
            const int32_t n = kenyon_save(&model, saved, sizeof saved);
            check(n > 0 && (size_t)n <= size && !memcmp(saved, data, (size_t)n), "loaded, and saved as another");
        }
        go_on();
    }
    return 0;
}

#ifdef WITH_DRIVER
#define EDGES 65536
#define MOST 4096

static uint8_t seen[EDGES], reached[EDGES];
static uintptr_t last;
static int watching;

/* Called at every block of kenyon.c. */
void __sanitizer_cov_trace_pc(void)
{
    const uintptr_t here = (uintptr_t)__builtin_return_address(0);
    if (watching) {
        reached[((here >> 1) * 40503u ^ last) % EDGES] = 1;
        last = (here * 40503u >> 3) % EDGES;
    }
}

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

typedef struct {
    uint8_t *data;
    size_t size;
} buffer;

static buffer kept[MOST];
static uint32_t n_kept;

static void keep(const uint8_t *data, size_t size)
{
    if (n_kept < MOST) {
        kept[n_kept].data = malloc(size ? size : 1);
        memcpy(kept[n_kept].data, data, size);
        kept[n_kept++].size = size;
    }
}

static int reaches_more(const uint8_t *data, size_t size)
{
    int more = 0;
    memset(reached, 0, sizeof reached);
    last = 0;
    watching = 1;
    LLVMFuzzerTestOneInput(data, size);
    watching = 0;
    for (uint32_t i = 0; i < EDGES; i++) {
        more |= reached[i] & !seen[i];
        seen[i] |= reached[i];
    }
    return more;
}

int main(int n, char **arguments)
{
    static uint8_t data[2 * KENYON_SAVE_BYTES + 64];
    const unsigned long runs = strtoul(arguments[1], NULL, 10);
    state = strtoull(arguments[2], NULL, 10);
    for (int i = 3; i < n; i++) {
        FILE *file = fopen(arguments[i], "rb");
        check(file != NULL, "a file cannot be read");
        const size_t size = fread(data, 1, sizeof data, file);
        fclose(file);
        (void)reaches_more(data, size);
        keep(data, size);
    }
    for (unsigned long run = 0; run < runs; run++) {
        const buffer from = kept[below(n_kept)];
        size_t size = from.size;
        memcpy(data, from.data, size);
        for (uint32_t change = 1 + below(4); size && change; change--) {
            const uint32_t at = below(3) ? below((uint32_t)size) : below(size < 64 ? (uint32_t)size : 64);
            switch (below(5)) {
            case 0: data[at] ^= (uint8_t)(1u << below(8)); break;
            case 1: data[at] = (uint8_t)below(256); break;
            case 2: data[at] = below(2) ? 0 : 255; break;
            case 3: size = below(8) ? size : at; break;
            default:
                if (size + 16 < sizeof data && !below(4)) {
                    memmove(data + at + 8, data + at, size - at);
                    size += 8;
                } else {
                    data[at] = kept[below(n_kept)].data[0];
                }
            }
        }
        if (below(8)) {
            seal(data, size);
        }
        if (reaches_more(data, size)) {
            keep(data, size);
        }
    }
    uint32_t edges = 0;
    for (uint32_t i = 0; i < EDGES; i++) {
        edges += seen[i];
    }
    printf("%lu refused, %lu taken, %u edges, %u buffers kept\n", refused, taken, edges, n_kept);
    return 0;
}
#endif
