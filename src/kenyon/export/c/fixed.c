/* ---- the layer: weights that were learned elsewhere and stay as they are */

static void score_activity(kenyon_model *model, const uint8_t *activity, int32_t *scores)
{
    for (uint32_t place = 0; place < model->n_classes; place++) {
        int64_t total = kenyon_offsets[place];
        for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
            total += (int32_t)kenyon_weights[place][unit] * activity[unit];
        }
        scores[place] = (int32_t)down(total, KENYON_SCORE_SHIFT);
    }
}

static void prepare(kenyon_model *model)
{
    UNUSED(model);
}

/* There is no readout to solve. */
int kenyon_solve_step(kenyon_model *model, uint32_t n)
{
    UNUSED(model);
    UNUSED(n);
    return 0;
}

void kenyon_init(kenyon_model *model)
{
    memset(model, 0, sizeof *model);
    model->n_classes = KENYON_MAX_CLASSES;
    memcpy(model->labels, kenyon_labels, sizeof kenyon_labels);
}

int32_t kenyon_weight(kenyon_model *model, uint32_t place, uint32_t unit)
{
    UNUSED(model);
    return kenyon_weights[place][unit];
}

int kenyon_clear(kenyon_model *model)
{
    UNUSED(model);
    return KENYON_ERROR_FIXED;
}

int kenyon_learn(kenyon_model *model, const uint8_t *sample, int32_t label)
{
    UNUSED(model);
    UNUSED(sample);
    UNUSED(label);
    return KENYON_ERROR_FIXED;
}

int kenyon_learn_many(kenyon_model *model, kenyon_room *room, const uint8_t *samples, const int32_t *labels, size_t n)
{
    UNUSED(model);
    UNUSED(room);
    UNUSED(samples);
    UNUSED(labels);
    UNUSED(n);
    return KENYON_ERROR_FIXED;
}

int kenyon_add_class(kenyon_model *model, int32_t label)
{
    UNUSED(model);
    UNUSED(label);
    return KENYON_ERROR_FIXED;
}

int kenyon_forget_class(kenyon_model *model, int32_t label)
{
    return kenyon_add_class(model, label);
}

int kenyon_rename_class(kenyon_model *model, int32_t label, int32_t to)
{
    UNUSED(to);
    return kenyon_add_class(model, label);
}

int32_t kenyon_save_bytes(const kenyon_model *model)
{
    UNUSED(model);
    return KENYON_ERROR_FIXED;
}

int32_t kenyon_save(const kenyon_model *model, uint8_t *buffer, size_t size)
{
    UNUSED(buffer);
    UNUSED(size);
    return kenyon_save_bytes(model);
}

int32_t kenyon_save_part(const kenyon_model *model, size_t first, uint8_t *buffer, size_t size)
{
    UNUSED(first);
    return kenyon_save(model, buffer, size);
}

int kenyon_load(kenyon_model *model, const uint8_t *buffer, size_t size)
{
    UNUSED(model);
    UNUSED(buffer);
    UNUSED(size);
    return KENYON_ERROR_FIXED;
}

int kenyon_merge(kenyon_model *model, const uint8_t *buffer, size_t size)
{
    return kenyon_load(model, buffer, size);
}
