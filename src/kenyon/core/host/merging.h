/* Entries of merging, in the words of merge_states.h.
 *
 *     merge_levels(bits, sign, weights, j, exponent, beyond, others, k, others_exponent, others_beyond, n_units, n, e, seed)
 *     narrow_levels(bits, sums, weights, n_units, j, n, each, seed)
 *     shared_weights(own, theirs, halvings, out)
 *     diagonal_fits(pairs, others, places, distances, weights, shift, limit)
 *     merge_pairs(pairs, others, places, distances, weights, shift, limit, key, out)
 *     merge_means(means, others, own, theirs, key, out)
 */
#include "../merge_states.h"

static int64_t entry_merge_levels(const kn_value *v)
{
    const kn_packing p = {(int)v[0].integer, (int)v[1].integer};
    const int64_t step = v[2].shape[1], j = v[3].integer, k = v[7].integer;
    uint8_t *column = (uint8_t *)v[2].data + j;
    const kn_column own = {column, (int)v[4].integer, v[5].integer};
    const kn_column other = {(const uint8_t *)v[6].data + k, (int)v[8].integer, v[9].integer};
    const uint32_t key = key_of((uint32_t)v[13].integer, v[11].integer, (uint32_t)j);
    merge_levels(p, column, step, own, other, v[6].shape[1], v[10].integer, key, (int)v[12].integer);
    return 0;
}

static int64_t entry_narrow_levels(const kn_value *v)
{
    const kn_packing p = {(int)v[0].integer, 0};
    const int64_t j = v[4].integer, width = v[1].shape[1], step = v[2].shape[1];
    const uint32_t key = key_of((uint32_t)v[7].integer, v[5].integer, (uint32_t)j);
    uint8_t *column = (uint8_t *)v[2].data + j;
    if (v[1].type == 'I') {
        narrow_u32((const uint32_t *)v[1].data + j, width, p, column, step, v[3].integer, key, v[6].number);
    } else {
        narrow_u64((const uint64_t *)v[1].data + j, width, p, column, step, v[3].integer, key, v[6].number);
    }
    return 0;
}

static int64_t entry_shared_weights(const kn_value *v)
{
    const uint64_t *own = v[0].data, *theirs = v[1].data;
    for (int64_t j = 0; j < v[0].shape[0]; j++) {
        ((uint64_t *)v[3].data)[j] = shared_weight(own[j], theirs[j], (int)v[2].integer);
    }
    return 0;
}

static kn_merging merging_of(const kn_value *v)
{
    const int64_t *places = v[2].data;
    const kn_merging m = {v[0].data, v[1].data, (int)places[0], (int)places[1], v[3].data, v[4].data, v[3].shape[0],
                          v[3].shape[1], (int)v[5].integer, v[6].integer};
    return m;
}

static int64_t entry_diagonal_fits(const kn_value *v)
{
    const kn_merging m = merging_of(v);
    return diagonal_fits(&m);
}

static int64_t entry_merge_pairs(const kn_value *v)
{
    const kn_merging m = merging_of(v);
    merge_pairs(&m, (uint64_t)v[7].integer, v[8].data);
    return 0;
}

static int64_t entry_merge_means(const kn_value *v)
{
    merge_means(v[0].data, v[1].data, v[2].data, v[3].data, v[0].shape[0], v[0].shape[1], (uint64_t)v[4].integer,
                v[5].data);
    return 0;
}

static int64_t entry_word(const kn_value *v)
{
    return (int64_t)word((uint64_t)v[0].integer, (uint64_t)v[1].integer);
}

#define MERGING_COMMON "[i]1 [i]1 [q]1 [q]2 [Q]1 i i"
#define MERGING_ENTRIES                                                                                                \
    {"merge_levels", "i i [B]2w i i i [B]2 i i i i i i u", entry_merge_levels},                                        \
    {"narrow_levels", "i [IQ]2 [B]2w i i i f u", entry_narrow_levels},                                                 \
    {"shared_weights", "[Q]1 [Q]1 i [Q]1w", entry_shared_weights},                                                     \
    {"diagonal_fits", MERGING_COMMON, entry_diagonal_fits},                                                            \
    {"merge_pairs", MERGING_COMMON " u [i]1w", entry_merge_pairs},                                                     \
    {"merge_means", "[H]2 [H]2 [Q]1 [Q]1 u [H]2w", entry_merge_means},                                                 \
    {"word", "u u", entry_word},
