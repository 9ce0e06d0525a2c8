/* identity(samples, unit_norm, *out): the inputs that are not zero, as active units; floats of length 1 with unit_norm. */

static int64_t entry_identity(const kn_value *v)
{
    const int64_t n_inputs = v[0].shape[1];
    const activity_out out = out_of(v + 2);
    for (int64_t s = 0; s < v[0].shape[0]; s++) {
        const uint8_t *bytes = (const uint8_t *)v[0].data + s * n_inputs;
        const float *floats = (const float *)v[0].data + s * n_inputs;
        uint32_t *units = out.units + s * out.stride;
        int64_t count = 0;
        for (int64_t i = 0; i < n_inputs; i++) {
            const float value = v[0].type == 'B' ? (float)bytes[i] : floats[i];
            units[count] = (uint32_t)i;
            if (out.floats) {
                out.floats[s * out.stride + count] = value;
            } else {
                out.bytes[s * out.stride + count] = (uint8_t)value;
            }
            count += value != 0;
        }
        out.counts[s] = count;
        if (out.floats) {
            threshold_finish(out.floats + s * out.stride, count, 0, v[1].integer != 0);
        }
    }
    return 0;
}

#define IDENTITY_ENTRIES {"identity", "[Bf]2 i " OUT_SIGNATURE, entry_identity},
