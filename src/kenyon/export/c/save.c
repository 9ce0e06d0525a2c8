/* ---- everything learned as a flat buffer, in bytes, the lowest first
 *
 *      0   "KNYN", version (2 bytes), classes (2), KENYON_MODEL_ID (4), length in bytes (4)
 *     16   time (8), updates (8)
 *     32   the label of each class (4 each); what the layer keeps (see write_layer); CRC-32 of all before it (4)
 */

#define VERSION 1
#define HEADER 32
#define MOST_COUNTED ((uint64_t)1 << 62)

/* Bytes that are written are counted and go into a checksum; those from `first` on, `size` of them, are kept. */
typedef struct {
    uint8_t *to;
    const uint8_t *from;
    uint32_t first, size, at, crc;
} cursor;

/* CRC-32 as in zlib, four bits at a time. */
static uint32_t more_checksum(uint32_t crc, uint8_t byte)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
        0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    crc ^= byte;
    crc = table[crc & 15] ^ crc >> 4;
    return table[crc & 15] ^ crc >> 4;
}

static void put(cursor *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        const uint8_t byte = (uint8_t)(value >> 8 * i);
        const uint32_t place = at->at++ - at->first;
        at->crc = more_checksum(at->crc, byte);
        if (place < at->size) { /* bytes before the first are far beyond the size */
            at->to[place] = byte;
        }
    }
}

static uint64_t get(cursor *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value |= (uint64_t)*at->from++ << 8 * i;
    }
    return value;
}

static int32_t get_label(cursor *at)
{
    const uint32_t value = (uint32_t)get(at, 4);
    return value <= INT32_MAX ? (int32_t)value : -(int32_t)(UINT32_MAX - value) - 1;
}

static uint32_t checksum(const uint8_t *bytes, size_t size)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < size; i++) {
        crc = more_checksum(crc, bytes[i]);
    }
    return ~crc;
}

static uint32_t length_of(uint32_t n_classes)
{
    return HEADER + n_classes * (4 + KENYON_CLASS_BYTES) + KENYON_SHARED_BYTES + 4;
}

#if KENYON_SECOND_ORDER
static void write_layer(const kenyon_model *model, cursor *at)
{
    put(at, model->halvings, 1);
    put(at, model->doublings, 1);
    for (uint32_t place = 0; place < model->n_classes; place++) {
        put(at, model->trained[place], 8);
        for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
            put(at, model->means[place][unit], 2);
        }
    }
    for (uint32_t k = 0; k < KENYON_PAIRS; k++) {
        put(at, (uint32_t)get_pair(KENYON_BITS, model->pairs, k), KENYON_BITS / 8);
    }
}

static int layer_is_sound(cursor at, uint32_t n_classes)
{
    int sound = get(&at, 1) <= MOST_HALVINGS;
    uint64_t left = MOST_TRAINED; /* that all classes may have learned together */
    sound &= get(&at, 1) <= MOST_DOUBLINGS;
    for (uint32_t place = 0; place < n_classes; place++) {
        const uint64_t trained = get(&at, 8);
        sound &= trained <= left;
        left -= trained <= left ? trained : 0;
        at.from += 2 * KENYON_UNITS;
    }
    return sound;
}

static void read_layer(kenyon_model *model, cursor *at)
{
    model->halvings = (uint8_t)get(at, 1);
    model->doublings = (uint8_t)get(at, 1);
    for (uint32_t place = 0; place < model->n_classes; place++) {
        model->trained[place] = get(at, 8);
        for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
            model->means[place][unit] = (uint16_t)get(at, 2);
        }
    }
    for (uint32_t k = 0; k < KENYON_PAIRS; k++) {
        put_pair(KENYON_BITS, model->pairs, k, pair_from(KENYON_BITS, (uint32_t)get(at, KENYON_BITS / 8)));
    }
    has_learned(model, MANY_LEARNED);
}
#else
static void write_layer(const kenyon_model *model, cursor *at)
{
    for (uint32_t place = 0; place < model->n_classes; place++) {
        put(at, model->trained[place], 4);
        put(at, model->exponents[place], 1);
        for (uint32_t i = 0; i < KENYON_COLUMN; i++) {
            put(at, model->weights[place][i], 1);
        }
    }
}

static int layer_is_sound(cursor at, uint32_t n_classes)
{
    const uint32_t spare = KENYON_UNITS * KENYON_BITS % 8;
    int sound = 1;
    for (uint32_t place = 0; place < n_classes; place++) {
        sound &= get(&at, 4) <= (uint64_t)MOST_TRAINED;
        sound &= get(&at, 1) <= (KENYON_LIMITED ? 31 : 0);
        for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
            sound &= get_level(PACKING, at.from, 1, unit) >= LOW;
        }
        at.from += KENYON_COLUMN;
        sound &= !spare || at.from[-1] >> spare == 0; /* no bits behind the last unit */
    }
    return sound;
}

static void read_layer(kenyon_model *model, cursor *at)
{
    for (uint32_t place = 0; place < model->n_classes; place++) {
        model->trained[place] = (uint32_t)get(at, 4);
        model->exponents[place] = (uint8_t)get(at, 1);
        memcpy(model->weights[place], at->from, KENYON_COLUMN);
        at->from += KENYON_COLUMN;
    }
}
#endif

int32_t kenyon_save_bytes(const kenyon_model *model)
{
    return (int32_t)length_of(model->n_classes);
}

int32_t kenyon_save_part(const kenyon_model *model, size_t first, uint8_t *buffer, size_t size)
{
    const uint32_t length = length_of(model->n_classes), rest = first < length ? length - (uint32_t)first : 0;
    const uint32_t some = size < rest ? (uint32_t)size : rest;
    cursor at = {.to = buffer, .first = (uint32_t)first, .size = some, .crc = 0xFFFFFFFFu};
    put(&at, 0x4E594E4Bu, 4);
    put(&at, VERSION, 2);
    put(&at, model->n_classes, 2);
    put(&at, KENYON_MODEL_ID, 4);
    put(&at, length, 4);
    put(&at, model->time, 8);
    put(&at, model->updates, 8);
    for (uint32_t place = 0; place < model->n_classes; place++) {
        put(&at, (uint32_t)model->labels[place], 4);
    }
    write_layer(model, &at);
    put(&at, ~at.crc, 4);
    return (int32_t)some;
}

int32_t kenyon_save(const kenyon_model *model, uint8_t *buffer, size_t size)
{
    return size < length_of(model->n_classes) ? KENYON_ERROR_SIZE : kenyon_save_part(model, 0, buffer, size);
}

/* Whether a buffer holds a state of this model; its number of classes, however many, or an error. */
static int check_buffer(const uint8_t *buffer, size_t size)
{
    cursor at = {.from = buffer};
    if (size < HEADER) {
        return KENYON_ERROR_SIZE;
    }
    if (get(&at, 4) != 0x4E594E4Bu) {
        return KENYON_ERROR_FORMAT;
    }
    if (get(&at, 2) != VERSION) {
        return KENYON_ERROR_VERSION;
    }
    const uint32_t n_classes = (uint32_t)get(&at, 2);
    if (get(&at, 4) != KENYON_MODEL_ID) {
        return KENYON_ERROR_MODEL;
    }
    const uint32_t length = length_of(n_classes);
    if (get(&at, 4) != length || size < length) {
        return KENYON_ERROR_SIZE;
    }
    at.from = buffer + length - 4;
    if (get(&at, 4) != checksum(buffer, length - 4)) {
        return KENYON_ERROR_CHECKSUM;
    }
    at.from = buffer + 16;
    int sound = get(&at, 8) <= MOST_COUNTED;
    sound &= get(&at, 8) <= MOST_COUNTED;
    for (uint32_t place = 0; place < n_classes; place++) {
        const int32_t label = get_label(&at);
        cursor before = {.from = buffer + HEADER};
        sound &= !is_unlabelled(label);
        for (uint32_t other = 0; other < place; other++) {
            sound &= get_label(&before) != label;
        }
    }
    return sound && layer_is_sound(at, n_classes) ? (int)n_classes : KENYON_ERROR_CONTENT;
}

int kenyon_load(kenyon_model *model, const uint8_t *buffer, size_t size)
{
    const int n_classes = check_buffer(buffer, size);
    cursor at = {.from = buffer + 16};
    if (n_classes < 0) {
        return n_classes;
    }
    if (n_classes > KENYON_MAX_CLASSES) {
        return KENYON_ERROR_FULL;
    }
    model->time = get(&at, 8);
    model->updates = get(&at, 8);
    model->n_classes = (uint32_t)n_classes;
    for (uint32_t place = 0; place < model->n_classes; place++) {
        model->labels[place] = get_label(&at);
    }
    read_layer(model, &at);
    return KENYON_OK;
}

void kenyon_init(kenyon_model *model)
{
    memset(model, 0, sizeof *model);
#if KENYON_START
    (void)kenyon_load(model, kenyon_start, sizeof kenyon_start);
#endif
}
