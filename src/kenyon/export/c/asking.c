/* ---- asking */

const uint8_t *kenyon_activity(kenyon_model *model, const uint8_t *sample)
{
    return activate(model, sample);
}

int kenyon_scores(kenyon_model *model, const uint8_t *sample, int32_t *scores)
{
    prepare(model);
    score_activity(model, activate(model, sample), scores);
    return (int)model->n_classes;
}

/* The place of the highest score; of equal scores, that of the smallest label. */
static uint32_t best_place(const kenyon_model *model, const int32_t *scores)
{
    uint32_t best = 0;
    for (uint32_t place = 1; place < model->n_classes; place++) {
        const int higher = scores[place] > scores[best];
        if (higher || (scores[place] == scores[best] && model->labels[place] < model->labels[best])) {
            best = place;
        }
    }
    return best;
}

int kenyon_predict(kenyon_model *model, const uint8_t *sample, int32_t *label)
{
    int32_t scores[KENYON_MAX_CLASSES];
    if (model->n_classes == 0) {
        return KENYON_ERROR_EMPTY;
    }
    (void)kenyon_scores(model, sample, scores);
    *label = model->labels[best_place(model, scores)];
    return KENYON_OK;
}
