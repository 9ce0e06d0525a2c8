/* ---- classes, and what is asked of the model */

static int is_unlabelled(int32_t label)
{
#ifdef KENYON_UNLABELLED
    return label == KENYON_UNLABELLED;
#else
    UNUSED(label);
    return 0;
#endif
}

/* The place of a label, or KENYON_ERROR_LABEL. */
static int32_t place_of(const kenyon_model *model, int32_t label)
{
    for (uint32_t place = 0; place < model->n_classes; place++) {
        if (model->labels[place] == label) {
            return (int32_t)place;
        }
    }
    return KENYON_ERROR_LABEL;
}

int kenyon_clear(kenyon_model *model)
{
    model->time = model->updates = 0;
    model->n_classes = 0;
    clear_layer(model);
    return KENYON_OK;
}

int kenyon_add_class(kenyon_model *model, int32_t label)
{
    if (is_unlabelled(label) || place_of(model, label) >= 0) {
        return KENYON_ERROR_KNOWN;
    }
    if (model->n_classes == KENYON_MAX_CLASSES) {
        return KENYON_ERROR_FULL;
    }
    model->labels[model->n_classes] = label;
    clear_class(model, model->n_classes++);
    return KENYON_OK;
}

int kenyon_forget_class(kenyon_model *model, int32_t label)
{
    const int32_t found = place_of(model, label);
    if (found < 0) {
        return KENYON_ERROR_LABEL;
    }
    forget_share(model, (uint32_t)found);
    model->n_classes--;
    for (uint32_t place = (uint32_t)found; place < model->n_classes; place++) {
        model->labels[place] = model->labels[place + 1];
        move_class(model, place, place + 1);
    }
    clear_class(model, model->n_classes);
    return KENYON_OK;
}

int kenyon_rename_class(kenyon_model *model, int32_t label, int32_t to)
{
    const int32_t found = place_of(model, label);
    if (found < 0) {
        return KENYON_ERROR_LABEL;
    }
    if (is_unlabelled(to) || (to != label && place_of(model, to) >= 0)) {
        return KENYON_ERROR_KNOWN;
    }
    model->labels[found] = to;
    return KENYON_OK;
}

int kenyon_learn(kenyon_model *model, const uint8_t *sample, int32_t label)
{
    const int32_t place = place_of(model, label);
    if (is_unlabelled(label)) {
        return KENYON_OK;
    }
    if (place < 0) {
        return KENYON_ERROR_LABEL;
    }
    learn_activity(model, (uint32_t)place, activate(model, sample));
    model->time++;
    return KENYON_OK;
}
