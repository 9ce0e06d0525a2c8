/* scale_in_units(samples, centres, widths, usual, knee, beyond, row, out): samples in units as they are, which may be
 * read-only.
 * count_in_units(samples, centres, widths, usual, knee, beyond, row, out, labelled, counts, means, spreads, counting):
 * each sample by what those before it left; it is counted where `labelled` says so. row: (inputs) scratch memory.
 * See units.h. */

#include "../units.h"

static units_inputs units_of(const kn_value *v)
{
    return (units_inputs){.n_inputs = v[0].shape[1],
                          .centres = v[1].data,
                          .widths = v[2].data,
                          .usual = v[3].data,
                          .knee = v[4].number,
                          .beyond = v[5].number};
}

static int64_t entry_scale_in_units(const kn_value *v)
{
    const units_inputs units = units_of(v);
    for (int64_t s = 0; s < v[0].shape[0]; s++) {
        scale_row(v, s, v[6].data);
        units_scale(&units, v[6].data, (float *)v[7].data + s * units.n_inputs);
    }
    return 0;
}

static int64_t entry_count_in_units(const kn_value *v)
{
    units_inputs units = units_of(v);
    units.counts = v[9].data, units.means = v[10].data, units.spreads = v[11].data;
    for (int64_t s = 0; s < v[0].shape[0]; s++) {
        scale_row(v, s, v[6].data);
        units_scale(&units, v[6].data, (float *)v[7].data + s * units.n_inputs);
        if (((const uint8_t *)v[8].data)[s]) {
            units_count(&units, v[6].data, v[12].integer != 0);
        }
    }
    return 0;
}

#define UNITS_ENTRIES                                                                                                  \
    {"scale_in_units", "[Bfd]2s [d]1 [d]1 [d]1 f f [d]1w [f]2w", entry_scale_in_units},                                \
        {"count_in_units", "[Bfd]2s [d]1w [d]1w [d]1w f f [d]1w [f]2w [?]1 [d]1w [d]1w [d]1w i", entry_count_in_units},
