/* One step of a rule for each sample, in the order of the samples:
 *
 *     x_o = sum over active units i, in order, of read(W[i, j]) x_e[i]     within least .. most
 *     W[i, j] += move(rate, x_e[i], x_o[j], x_m[j], W[i, j], n[j])        within lowest .. highest
 *
 * A template, included once for each rule with
 *
 *     RULE        its name, of which the functions get theirs
 *     RULE_READS  1 where a synapse counts for something else than its weight
 *     RULE_GATED  1 where neurons whose x_m is 0 never change
 *     RULE_REACHES  1 where the window depends on the synapse
 *
 * and the functions rule_move_RULE and rule_read_RULE, with rule_moves_RULE and rule_reads_RULE for eight neurons. The window of INEL is put on any rule: a synapse changes where
 * window * |W[i, j] - mean of W[:, j]| <= 1.
 */
#include "plastic.h"

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define MOVE PASTE(rule_move, RULE)
#define MOVES PASTE(rule_moves, RULE)
#define READ PASTE(rule_read, RULE)
#define READS PASTE(rule_reads, RULE)
#define REACH PASTE(rule_reach, RULE)
#define REACHES PASTE(rule_reaches, RULE)

/* x_o of one sample for some neurons, eight at a time. */
CALLED void PASTE(output, RULE)(const float *weights, const uint32_t *trained, int64_t n_units, int64_t width,
                                const uint32_t *units, const float *values, int64_t count, const float *beta, float *out)
{
#if RULE_READS
    for (int64_t group = 0; group < width; group += 8) {
        const kn_f8 n = counts_of(trained, group);
        kn_f8 total = {0};
        for (int64_t a = 0; a < count; a++) {
            kn_f8 w;
            KN_LOAD(w, weights + (int64_t)units[a] * width + group);
            total += READS(w, n, (float)n_units, beta) * values[a];
        }
        KN_STORE(out + group, total);
    }
#else
    UNUSED(trained);
    UNUSED(n_units);
    UNUSED(beta);
    forward_one(weights, width, units, values, count, out);
#endif
}

#if RULE_READS
/* x_o of samples first .. last - 1 into rows of out. */
HELPER void PASTE(outputs, RULE)(const float *weights, const uint32_t *trained, int64_t n_units, int64_t width,
                                 kn_active active, int64_t first, int64_t last, const float *beta, float *out)
{
    for (int64_t s = first; s < last; s++) {
        const int64_t at = s * active.stride;
        PASTE(output, RULE)(weights, trained, n_units, width, active.units + at, active.floats + at, active.counts[s],
                            beta, out + (s - first) * width);
    }
}

/* What each synapse counts for. */
HELPER void PASTE(each, RULE)(const float *weights, const uint32_t *trained, int64_t n_units, int64_t width,
                              const float *beta, float *out, int64_t n_neurons)
{
    for (int64_t i = 0; i < n_units; i++) {
        for (int64_t j = 0; j < n_neurons; j++) {
            out[i * n_neurons + j] = READ(weights[i * width + j], count_of(trained, j), (float)n_units, beta);
        }
    }
}
#endif

/* Some neurons learn a sample, `eights` times 8 of them from `group` on. */
KN_INLINE void PASTE(step_some, RULE)(const int eights, const int windowed, const kn_plastic *p, int64_t group,
                                      const uint32_t *units, const float *values, int64_t visits, int64_t label,
                                      float signal, const float *out, const float *beta)
{
    kn_neurons own[2];
    const kn_f8 lowest = all_floats(p->lowest), highest = all_floats(p->highest);
    const float rate = beta[0], reach = beta[1];
    const int64_t width = p->width;
    float *weights = p->weights + group;
    for (int k = 0; k < eights; k++) {
        begin_neurons(p, group + 8 * k, label, signal, out, &own[k]);
    }
    for (int64_t a = 0; a < visits; a++) {
        float *row = weights + (units ? (int64_t)units[a] : a) * width;
        for (int k = 0; k < eights; k++) {
            kn_f8 w;
            KN_LOAD(w, row + 8 * k);
            kn_f8 change = own[k].free * MOVES(rate, values[a], own[k].x_o, own[k].x_m, w, own[k].n, beta + 2);
            if (windowed) {
#if RULE_REACHES
                const kn_f8 wide = REACHES(reach, values[a], own[k].x_o, own[k].x_m, w, own[k].n, beta + 2);
#else
                const float wide = reach;
#endif
                change = (kn_f8)((kn_i8)change & (wide * abs_floats(w - own[k].mean) <= 1.0f));
            }
            kn_f8 new = w + change;
            new = max_floats(min_floats(new, highest), lowest);
            KN_STORE(row + 8 * k, new);
            if (windowed) {
                own[k].moved += new - w;
            }
        }
    }
    for (int k = 0; windowed && k < eights; k++) {
        end_neurons(p, group + 8 * k, &own[k]);
    }
}

KN_INLINE void PASTE(step_all, RULE)(const int windowed, const kn_plastic *p, const uint32_t *units, const float *values,
                                     int64_t visits, int64_t label, float signal, const float *out, const float *beta)
{
    int64_t group = 0;
    for (; group + 16 <= p->width; group += 16) {
        PASTE(step_some, RULE)(2, windowed, p, group, units, values, visits, label, signal, out, beta);
    }
    if (group < p->width) {
        PASTE(step_some, RULE)(1, windowed, p, group, units, values, visits, label, signal, out, beta);
    }
}

/* Learn samples in order, all neurons side by side. Gives the first sample that diverged, which is not learned, or last. */
CALLED int64_t PASTE(learn_rows, RULE)(const kn_plastic *p)
{
    int64_t n_plastic = 0;
    for (int64_t j = 0; j < p->width; j++) {
        n_plastic += p->plastic[j] != 0;
    }
    for (int64_t s = p->first; s < p->last; s++) {
        const uint32_t *units = p->active.units + s * p->active.stride;
        const float *values = p->active.floats + s * p->active.stride, *beta = p->beta + s * p->n_beta;
        const int64_t count = p->active.counts[s], visits = p->dense ? p->n_units : count;
        float *out = p->outputs + (s - p->first) * p->width;
        PASTE(output, RULE)(p->weights, p->trained, p->n_units, p->width, units, values, count, beta + 2, out);
        const int far = has_diverged(p, out);
        bound_outputs(p, out);
        if (p->labels[s] == NO_LABEL) {
            continue;
        }
        if (far) {
            return s;
        }
        if (p->dense) {
            set_dense(p->dense, units, values, count);
        }
        const uint32_t *visited = p->dense ? NULL : units;
        const float *x_e = p->dense ? p->dense : values, signal = modulation_of(p, s);
        if (p->sums) {
            PASTE(step_all, RULE)(1, p, visited, x_e, visits, p->labels[s], signal, out, beta);
        } else {
            PASTE(step_all, RULE)(0, p, visited, x_e, visits, p->labels[s], signal, out, beta);
        }
        if (p->dense) {
            set_dense(p->dense, units, NULL, count);
        }
        if (p->clock) {
            p->clock[0]++;
            p->clock[1] += visits * n_plastic;
        }
    }
    return p->last;
}

#if RULE_GATED
/* The labelled neuron learns a sample; 0 where it diverged. */
CALLED int PASTE(step_one, RULE)(const kn_plastic *p, int64_t j, float signal, const uint32_t *units,
                                 const float *values, int64_t count, const float *x_e, int64_t visits,
                                 const float *beta)
{
    const int64_t width = p->width;
    const float lowest = p->lowest, highest = p->highest, rate = beta[0], reach = beta[1];
    const uint32_t *visited = p->dense ? NULL : units;
    const int windowed = p->sums != NULL;
    float n = count_of(p->trained, j), x_o = 0, *column = p->weights + j;
    for (int64_t a = 0; a < count; a++) {
        x_o += READ(column[(int64_t)units[a] * width], n, (float)p->n_units, beta + 2) * values[a];
    }
    if (!(fabs((double)x_o) < DIVERGED)) {
        return 0;
    }
    x_o = bound_output(p, x_o);
    const float mean = p->sums ? (float)(p->sums[j] / (double)p->n_units) : 0;
    if (p->trained) {
        n = (float)++p->trained[j];
    }
    double moved = 0;
    for (int64_t a = 0; a < visits; a++) {
        float *at = column + (visited ? (int64_t)visited[a] : a) * width, w = *at;
#if RULE_REACHES
        const float wide = REACH(reach, x_e[a], x_o, signal, w, n, beta + 2);
#else
        const float wide = reach;
#endif
        if (windowed && !(wide * fabsf(w - mean) <= 1)) {
            continue;
        }
        float new = w + MOVE(rate, x_e[a], x_o, signal, w, n, beta + 2);
        new = new > highest ? highest : new;
        new = new < lowest ? lowest : new;
        *at = new;
        if (windowed) {
            moved += (double)new - (double)w;
        }
    }
    if (windowed) {
        p->sums[j] += moved;
    }
    return 1;
}

/* As learn_rows, visiting only the labelled neuron. */
CALLED int64_t PASTE(learn_columns, RULE)(const kn_plastic *p)
{
    for (int64_t s = p->first; s < p->last; s++) {
        const uint32_t *units = p->active.units + s * p->active.stride;
        const float *values = p->active.floats + s * p->active.stride, *beta = p->beta + s * p->n_beta;
        const int64_t count = p->active.counts[s], visits = p->dense ? p->n_units : count;
        if (p->outputs) {
            float *out = p->outputs + (s - p->first) * p->width;
            PASTE(output, RULE)(p->weights, p->trained, p->n_units, p->width, units, values, count, beta + 2, out);
            bound_outputs(p, out);
        }
        if (p->labels[s] == NO_LABEL) {
            continue;
        }
        const int64_t label = p->labels[s];
        if (p->dense) {
            set_dense(p->dense, units, values, count);
        }
        int fine = 1;
        if (p->plastic[label]) {
            const float *x_e = p->dense ? p->dense : values;
            fine = PASTE(step_one, RULE)(p, label, modulation_of(p, s), units, values, count, x_e, visits, beta);
        }
        if (p->dense) {
            set_dense(p->dense, units, NULL, count);
        }
        if (!fine) {
            return s;
        }
        if (p->clock) {
            p->clock[0]++;
            p->clock[1] += visits;
        }
    }
    return p->last;
}
#endif
