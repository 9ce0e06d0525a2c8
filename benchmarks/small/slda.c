/* Streaming linear discriminant analysis on D random projections of a sample, as many as fit into SMALL_RAM: class means and one
 * covariance (packed), in floats. The readout is solved when a prediction is first asked for after learning. */
#include "small.h"

#ifndef SMALL_D /* the largest D with D (D + 1) floats, the covariance and its factor, and 2 D floats a class within SMALL_RAM */
#error "SMALL_D is missing: the harness works it out"
#endif
#define PACKED (SMALL_D * (SMALL_D + 1) / 2)
#define AT(i, j) ((i) * ((i) + 1) / 2 + (j)) /* j <= i */
#define SHRINKAGE 0.01f

static struct {
    float scatter[PACKED], factor[PACKED];
    float means[SMALL_CLASSES][SMALL_D], weights[SMALL_CLASSES][SMALL_D], bias[SMALL_CLASSES];
    uint32_t counts[SMALL_CLASSES], total;
    float x[SMALL_D];
    uint8_t solved;
} state;

void small_init(void)
{
    memset(&state, 0, sizeof state);
}

static void project(const uint8_t *sample)
{
    static int32_t sums[SMALL_D];
    memset(sums, 0, sizeof sums);
    for (uint32_t i = 0; i < SMALL_INPUTS; i++) {
        int32_t x = sample[i];
        if (!x)
            continue;
        uint32_t signs = 0;
        for (uint32_t k = 0; k < SMALL_D; k++, signs >>= 1) {
            if (k % 32 == 0)
                signs = small_random(i * 64 + k / 32);
            sums[k] += signs & 1 ? x : -x;
        }
    }
    for (uint32_t k = 0; k < SMALL_D; k++)
        state.x[k] = (float)sums[k] * (1.0f / 4096.0f);
}

void small_learn(const uint8_t *sample, int32_t label)
{
    project(sample);
    float *mean = state.means[label], d[SMALL_D];
    float n = (float)state.counts[label]++;
    for (uint32_t k = 0; k < SMALL_D; k++)
        d[k] = state.x[k] - mean[k];
    for (uint32_t i = 0; i < SMALL_D; i++) {
        float scaled = d[i] * (n / (n + 1));
        for (uint32_t j = 0; j <= i; j++)
            state.scatter[AT(i, j)] += scaled * d[j];
    }
    for (uint32_t k = 0; k < SMALL_D; k++)
        mean[k] += d[k] / (n + 1);
    state.total++;
    state.solved = 0;
}

static float root(float v)
{
    float r = v > 1 ? v : 1;
    for (int step = 0; step < 24; step++)
        r = 0.5f * (r + v / r);
    return r;
}

static void solve(void)
{
    float trace = 0;
    for (uint32_t i = 0; i < SMALL_D; i++)
        trace += state.scatter[AT(i, i)];
    float ridge = SHRINKAGE * trace / SMALL_D + 1e-6f;
    for (uint32_t i = 0; i < SMALL_D; i++)
        for (uint32_t j = 0; j <= i; j++) {
            float v = (state.scatter[AT(i, j)] + (i == j ? ridge : 0)) / (float)state.total;
            for (uint32_t k = 0; k < j; k++)
                v -= state.factor[AT(i, k)] * state.factor[AT(j, k)];
            state.factor[AT(i, j)] = i == j ? root(v > 1e-9f ? v : 1e-9f) : v / state.factor[AT(j, j)];
        }
    for (int32_t c = 0; c < SMALL_CLASSES; c++) {
        float *w = state.weights[c], *mean = state.means[c];
        for (uint32_t i = 0; i < SMALL_D; i++) {
            float v = mean[i];
            for (uint32_t k = 0; k < i; k++)
                v -= state.factor[AT(i, k)] * w[k];
            w[i] = v / state.factor[AT(i, i)];
        }
        for (uint32_t i = SMALL_D; i-- > 0;) {
            float v = w[i];
            for (uint32_t k = i + 1; k < SMALL_D; k++)
                v -= state.factor[AT(k, i)] * w[k];
            w[i] = v / state.factor[AT(i, i)];
        }
        state.bias[c] = 0;
        for (uint32_t i = 0; i < SMALL_D; i++)
            state.bias[c] -= 0.5f * w[i] * mean[i];
    }
    state.solved = 1;
}

int32_t small_predict(const uint8_t *sample)
{
    int32_t best = -1;
    float most = 0;
    if (!state.solved && state.total)
        solve();
    project(sample);
    for (int32_t c = 0; c < SMALL_CLASSES; c++) {
        if (!state.counts[c])
            continue;
        float score = state.bias[c];
        for (uint32_t k = 0; k < SMALL_D; k++)
            score += state.weights[c][k] * state.x[k];
        if (best < 0 || score > most) {
            most = score;
            best = c;
        }
    }
    return best;
}

uint32_t small_ram(void)
{
    return sizeof state + 4 * SMALL_D;
}
