/* ---- from the samples of a sensor to events; kenyon/features/front/_events.py has the definition */

static void start_front(kenyon_ear *ear)
{
#if KENYON_FRONT == 1
    static const uint16_t edges[] = {KENYON_FRONT_EDGES};
    const kenyon_spectra_settings settings = {KENYON_FRONT_SIZE, KENYON_FRONT_BANDS, KENYON_FRONT_FRAMES,
                                              KENYON_FRONT_KEPT, KENYON_FRONT_GAP,   edges};
    (void)kenyon_spectra_init(&ear->front, &settings);
#else
    const kenyon_motion_settings settings = {KENYON_CHANNELS_IN, KENYON_FRONT_LENGTH, KENYON_FRONT_HOP,
                                             KENYON_FRONT_STEP, KENYON_FRONT_FINE};
    (void)kenyon_motion_init(&ear->front, &settings);
#endif
    ear->started = 1;
}

/* Take one sample, or one reading: 1 if it completed a segment. */
static int push(kenyon_ear *ear, const int16_t *sample)
{
#if KENYON_FRONT == 1
    return kenyon_spectra_push(&ear->front, *sample) &&
           kenyon_spectra_segment(&ear->front, &ear->segment, ear->window);
#else
    if (!kenyon_motion_push(&ear->front, sample)) {
        return 0;
    }
    kenyon_motion_segment(&ear->front, &ear->segment, ear->window);
    return 1;
#endif
}

#if KENYON_REJECT
static int is_unlike(kenyon_model *model, const uint8_t *activity, uint32_t place)
{
    const kn_bits room = {KENYON_VECTOR_BITS, KENYON_PRODUCT_BITS, KENYON_SQUARE_BITS};
    kn_solving work = {.r = model->scratch.solving.r,
                       .p = model->scratch.solving.p,
                       .x = model->scratch.solving.x,
                       .q = model->scratch.solving.q};
    const uint64_t used = samples_trained(model) >> model->halvings;
    const int64_t few = trace_of(model) / (int64_t)(4 * (used ? used : 1)); /* most directions have no variance yet */
    const int64_t shrinkage = max64(first_shrinkage(model), min64(few, MOST_SHRINKAGE));
    return unlikeness_of(KENYON_BITS, model->pairs, KENYON_UNITS, shrinkage, KENYON_STEPS, room, &work, activity,
                         model->means[place], 1, used, model->doublings) > KENYON_REJECT;
}
#endif

/* Whether the segment has a label that counts. */
static int label_segment(kenyon_model *model, int32_t *label)
{
    int32_t scores[KENYON_MAX_CLASSES] = {0};
    if (model->n_classes == 0) {
        return 0;
    }
    prepare(model);
    const uint8_t *activity = activate(model, model->ear.window);
    score_activity(model, activity, scores);
    const uint32_t place = best_place(model, scores);
    *label = model->labels[place];
    if (scores[place] == KENYON_NEVER) {
        return 0;
    }
#if KENYON_REJECT
    if (is_unlike(model, activity, place)) {
        return 0;
    }
#endif
#ifdef KENYON_NOTHING
    return *label != KENYON_NOTHING;
#else
    return 1;
#endif
}

/* 1 if the segment makes an event. */
static int smooth(kenyon_model *model)
{
    kenyon_ear *ear = &model->ear;
    int32_t label;
    ear->heard = 1;
    if (!label_segment(model, &label)) {
        ear->run = 0;
        return 0;
    }
    if (ear->run && label == ear->label) {
        ear->run = (uint8_t)(ear->run + (ear->run < 255));
    } else {
        ear->label = label;
        ear->run = 1;
        ear->done = 0;
    }
    const int due = ear->segment.ended || (ear->run >= KENYON_AGREE && !ear->done);
    if (!due || (ear->spoke && ear->segment.known - ear->last < KENYON_HOLD)) {
        return 0;
    }
    ear->done = ear->spoke = 1;
    ear->last = ear->segment.known;
    ear->event.label = label;
    ear->event.start = ear->segment.start;
    ear->event.end = ear->segment.end;
    ear->event.clipped = ear->segment.clipped;
    return 1;
}

int kenyon_feed(kenyon_model *model, const int16_t *samples, size_t n)
{
    int found = 0;
    if (n > KENYON_FEED_MOST || n % KENYON_CHANNELS_IN) {
        return KENYON_ERROR_SIZE;
    }
    if (!model->ear.started) {
        start_front(&model->ear);
    }
    for (size_t i = 0; i < n; i += KENYON_CHANNELS_IN) {
        if (push(&model->ear, samples + i)) {
            found |= smooth(model); /* events are KENYON_HOLD samples apart: no more than one */
        }
    }
    return found;
}

int kenyon_learn_heard(kenyon_model *model, int32_t label)
{
    if (!model->ear.heard) {
        return KENYON_ERROR_HEARD;
    }
    int error = kenyon_learn(model, model->ear.window, label);
    if (error == KENYON_ERROR_LABEL) {
        error = kenyon_add_class(model, label);
        if (error == KENYON_OK) {
            error = kenyon_learn(model, model->ear.window, label);
        }
    }
    if (error == KENYON_OK) {
        model->ear.heard = 0;
    }
    return error;
}

void kenyon_gap(kenyon_model *model)
{
    if (model->ear.started) {
#if KENYON_FRONT == 1
        kenyon_spectra_reset(&model->ear.front);
#else
        kenyon_motion_reset(&model->ear.front);
#endif
    }
    model->ear.run = 0;
}
