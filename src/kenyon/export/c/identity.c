/* ---- features: none, the bytes as they are */

static void respond(kenyon_workplace *work, const uint8_t *sample, kenyon_response *responses)
{
    UNUSED(work);
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        responses[unit] = (kenyon_response)sample[unit];
    }
}
