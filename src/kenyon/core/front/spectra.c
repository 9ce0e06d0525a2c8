/* Spectra of sound; the equations are those of kenyon/features/front/_spectra.py. */
#include "front.h"

#define CIRCLE 512 /* steps of a full turn */
#define BELOW 48   /* in steps of a level: how far below the peak a sound ends, */
#define ABOVE 20   /* how far above the noise, */
#define LEAST 16   /* and at least below the peak */
#define EVERY 16   /* frames from one segment of a sound that goes on to the next */

/* 32768 sin of a quarter turn, at most 32767. */
static const int16_t QUARTER[CIRCLE / 4 + 1] = {
    0, 402, 804, 1206, 1608, 2009, 2411, 2811, 3212, 3612, 4011, 4410, 4808, 5205, 5602, 5998, 6393, 6787,
    7180, 7571, 7962, 8351, 8740, 9127, 9512, 9896, 10279, 10660, 11039, 11417, 11793, 12167, 12540, 12910, 13279, 13646,
    14010, 14373, 14733, 15091, 15447, 15800, 16151, 16500, 16846, 17190, 17531, 17869, 18205, 18538, 18868, 19195, 19520, 19841,
    20160, 20475, 20788, 21097, 21403, 21706, 22006, 22302, 22595, 22884, 23170, 23453, 23732, 24008, 24279, 24548, 24812, 25073,
    25330, 25583, 25833, 26078, 26320, 26557, 26791, 27020, 27246, 27467, 27684, 27897, 28106, 28311, 28511, 28707, 28899, 29086,
    29269, 29448, 29622, 29792, 29957, 30118, 30274, 30425, 30572, 30715, 30853, 30986, 31114, 31238, 31357, 31471, 31581, 31686,
    31786, 31881, 31972, 32058, 32138, 32214, 32286, 32352, 32413, 32470, 32522, 32568, 32610, 32647, 32679, 32706, 32729, 32746,
    32758, 32766, 32767,
};

/* 2^(15 + k / 8): where the eighths of an octave begin. */
static const uint16_t LOGS[8] = {32768, 35734, 38968, 42495, 46341, 50535, 55109, 60097};

/* 255 * 256 * 2^(-k / 32) */
static const uint16_t ROOTS[32] = {
    65280, 63881, 62512, 61173, 59862, 58579, 57324, 56096, 54894, 53717, 52566, 51440, 50338, 49259, 48204, 47171,
    46160, 45171, 44203, 43256, 42329, 41422, 40534, 39666, 38816, 37984, 37170, 36374, 35594, 34831, 34085, 33355,
};

/* v / 2^n, rounded down: what shifts of negative numbers do is not defined in C. */
static int32_t down(int32_t v, int n)
{
    return v < 0 ? ~(~v >> n) : v >> n;
}

/* Of angles up to half a turn. */
static int32_t sine(unsigned angle)
{
    return QUARTER[angle <= CIRCLE / 4 ? angle : CIRCLE / 2 - angle];
}

static int32_t cosine(unsigned angle)
{
    return angle <= CIRCLE / 4 ? QUARTER[CIRCLE / 4 - angle] : -QUARTER[angle - CIRCLE / 4];
}

/* 8 log2 v, rounded down; 0 of 0. */
static int32_t log8(uint64_t wide)
{
    int32_t octave = 0;
    while (wide >> 32) {
        wide >>= 8;
        octave += 8;
    }
    uint32_t v = (uint32_t)wide;
    if (v == 0) {
        return 0;
    }
    while (v >= 0x10000) {
        v >>= 1;
        octave++;
    }
    while (v < 0x8000) {
        v <<= 1;
        octave--;
    }
    int32_t k = v >= LOGS[4] ? 4 : 0;
    k += v >= LOGS[k + 2] ? 2 : 0;
    k += v >= LOGS[k + 1] ? 1 : 0;
    return 8 * (octave + 15) + k;
}

static uint8_t byte_of(int32_t v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static int32_t root(int32_t d)
{
    return ((ROOTS[d & 31] >> (d >> 5)) + 128) >> 8;
}

int kenyon_spectra_init(kenyon_spectra *spectra, const kenyon_spectra_settings *settings)
{
    const int known = (settings->size == 256 || settings->size == 512) && settings->size <= KENYON_SPECTRA_SIZE &&
                      settings->bands >= 2 && settings->bands <= KENYON_SPECTRA_BANDS && settings->frames >= 2 &&
                      settings->kept >= 2 && settings->kept <= KENYON_SPECTRA_KEPT;
    if (!known) {
        return KENYON_FRONT_SETTINGS;
    }
    for (unsigned b = 0; b < settings->bands + 1u; b++) {
        if (settings->edges[b] >= settings->edges[b + 1] || settings->edges[b + 1] > 8u * settings->size) {
            return KENYON_FRONT_SETTINGS;
        }
    }
    spectra->size = settings->size;
    spectra->bands = settings->bands;
    spectra->frames = settings->frames;
    spectra->kept = settings->kept;
    spectra->gap = settings->gap;
    for (unsigned b = 0; b < settings->bands + 2u; b++) {
        spectra->edges[b] = settings->edges[b];
    }
    spectra->time = 0;
    kenyon_spectra_reset(spectra);
    return 0;
}

void kenyon_spectra_reset(kenyon_spectra *spectra)
{
    for (unsigned n = 0; n < spectra->size; n++) {
        spectra->samples[n] = 0;
    }
    spectra->filled = spectra->n = spectra->next = spectra->wait = spectra->clipped = spectra->cut = 0;
}

/* The samples times the window, two by two as complex numbers in the order that the FFT begins with. Gives s. */
static int scale(kenyon_spectra *spectra)
{
    const unsigned size = spectra->size, turn = CIRCLE / size;
    int32_t top = 0;
    for (unsigned n = 0; n < size; n++) {
        const int32_t x = spectra->samples[n];
        top = x > top ? x : -x > top ? -x : top;
    }
    int s = 14;
    while (s >= 0 && top * ((int32_t)1 << s) > 1 << 14) {
        s--;
    }
    const int32_t half = (int32_t)1 << (14 - s);
    unsigned back = 0; /* n / 2 with its bits in reverse */
    for (unsigned n = 0; n < size; n += 2) {
        for (unsigned odd = 0; odd < 2; odd++) {
            const unsigned angle = (n + odd) * turn;
            const int32_t hann = (32768 - cosine(angle <= CIRCLE / 2 ? angle : CIRCLE - angle)) >> 1;
            spectra->work[2 * back + odd] = (int16_t)down(spectra->samples[n + odd] * hann + half, 15 - s);
        }
        unsigned bit = size >> 2;
        while (back & bit) {
            back ^= bit;
            bit >>= 1;
        }
        back |= bit;
    }
    return s;
}

static void transform(int16_t *z, unsigned half)
{
    for (unsigned length = 2; length <= half; length *= 2) {
        for (unsigned k = 0; k < length / 2; k++) {
            const int32_t wr = cosine(k * (CIRCLE / length)), wi = -sine(k * (CIRCLE / length));
            for (unsigned at = k; at < half; at += length) {
                int16_t *a = z + 2 * at, *b = a + length;
                const int32_t tr = b[0] * wr - b[1] * wi, ti = b[0] * wi + b[1] * wr;
                const int32_t ar = a[0] * 32768 + 32768, ai = a[1] * 32768 + 32768;
                a[0] = (int16_t)down(ar + tr, 16);
                a[1] = (int16_t)down(ai + ti, 16);
                b[0] = (int16_t)down(ar - tr, 16);
                b[1] = (int16_t)down(ai - ti, 16);
            }
        }
    }
}

/* |X_k|^2 */
static uint32_t power(const int16_t *z, unsigned half, unsigned k)
{
    const int16_t *a = z + 2 * k, *b = z + 2 * (k ? half - k : 0);
    const unsigned angle = k * (CIRCLE / 2 / half);
    const int32_t wr = cosine(angle), wi = -sine(angle);
    const int32_t dr = a[0] - b[0], di = a[1] + b[1];
    const int32_t tr = down(dr * wr - di * wi + (1 << 14), 15), ti = down(dr * wi + di * wr + (1 << 14), 15);
    const int32_t re = down(a[0] + b[0] + ti + 1, 1), im = down(a[1] - b[1] - tr + 1, 1);
    return (uint32_t)(re * re) + (uint32_t)(im * im);
}

static void frame(kenyon_spectra *spectra)
{
    const unsigned half = spectra->size / 2u, bands = spectra->bands;
    uint8_t *logs = spectra->logs[spectra->next];
    const int s = scale(spectra);
    transform(spectra->work, half);
    uint64_t falling = 0, total = 0; /* of the band that falls between two edges, and of all */
    for (unsigned j = 0; j <= bands; j++) {
        const uint32_t left = spectra->edges[j], right = spectra->edges[j + 1];
        uint64_t rising = 0;
        for (uint32_t k = (left + 15) / 16; 16 * k < right && k < half; k++) {
            const uint32_t p = power(spectra->work, half, k), weight = 256 * (16 * k - left) / (right - left);
            rising += (uint64_t)p * weight;
            falling += (uint64_t)p * (256 - weight);
        }
        if (j > 0) {
            logs[j - 1] = byte_of(log8(falling) - 16 * s - 32);
            total += falling;
        }
        falling = rising;
    }
    logs[bands] = byte_of(log8(total) - 16 * s - 32);
    spectra->next = (uint16_t)((spectra->next + 1u) % spectra->kept);
    spectra->cut = (uint8_t)(spectra->cut && spectra->n < spectra->kept);
    spectra->n = (uint16_t)(spectra->n + (spectra->n < spectra->kept));
    spectra->time++;
}

int kenyon_spectra_push(kenyon_spectra *spectra, int16_t sample)
{
    const unsigned hop = spectra->size / 2u;
    spectra->samples[hop + spectra->filled++] = sample;
    if ((sample == INT16_MAX || sample == INT16_MIN) && spectra->clipped < UINT16_MAX) {
        spectra->clipped++;
    }
    if (spectra->filled < hop) {
        return 0;
    }
    frame(spectra);
    for (unsigned n = 0; n < hop; n++) {
        spectra->samples[n] = spectra->samples[hop + n];
    }
    spectra->filled = 0;
    return 1;
}

size_t kenyon_spectra_feed(kenyon_spectra *spectra, const int16_t *samples, size_t n)
{
    size_t made = 0;
    for (size_t i = 0; i < n; i++) {
        made += (size_t)kenyon_spectra_push(spectra, samples[i]);
    }
    return made;
}

/* The logs of kept frame t, the oldest being 0. */
static const uint8_t *logs_of(const kenyon_spectra *spectra, int t)
{
    const unsigned oldest = (unsigned)spectra->next + spectra->kept - spectra->n;
    return spectra->logs[(oldest + (unsigned)t) % spectra->kept];
}

/* The first and last frame of the loudest sound. Gives the levels of the loudest and the quietest frame. */
static kenyon_sound find(const kenyon_spectra *spectra, int *first, int *last)
{
    const int n = spectra->n, gap = spectra->gap, bands = spectra->bands;
    int peak = 0, level = -1, noise = 255;
    for (int t = 0; t < n; t++) {
        const int e = logs_of(spectra, t)[bands];
        peak = e > level ? t : peak;
        level = e > level ? e : level;
        noise = e < noise ? e : noise;
    }
    int on = noise + ABOVE < level - LEAST ? noise + ABOVE : level - LEAST;
    on = on > level - BELOW ? on : level - BELOW;
    *first = *last = peak;
    for (int t = peak; t >= 0 && *first - t <= gap + 1; t--) {
        *first = logs_of(spectra, t)[bands] >= on ? t : *first;
    }
    for (int t = peak; t < n && t - *last <= gap + 1; t++) {
        *last = logs_of(spectra, t)[bands] >= on ? t : *last;
    }
    *first -= *first > 0;
    *last += *last < n - 1;
    const kenyon_sound sound = {(uint16_t)(*last - *first + 1), (uint16_t)(n - 1 - *last), (uint8_t)level,
                                (uint8_t)noise};
    return sound;
}

kenyon_sound kenyon_spectra_sound(const kenyon_spectra *spectra)
{
    const kenyon_sound nothing = {0, 0, 0, 0};
    int first, last;
    return spectra->n ? find(spectra, &first, &last) : nothing;
}

/* The loudest sound, while a window is made of it. */
typedef struct {
    const kenyon_spectra *spectra;
    int first, last, top;
    uint8_t noise[KENYON_SPECTRA_BANDS]; /* roots of the quietest frame */
} heard;

static heard hear(const kenyon_spectra *spectra)
{
    heard sound = {spectra, 0, 0, 0, {0}};
    find(spectra, &sound.first, &sound.last);
    for (int t = sound.first; t <= sound.last; t++) {
        for (int b = 0; b < spectra->bands; b++) {
            const int l = logs_of(spectra, t)[b];
            sound.top = l > sound.top ? l : sound.top;
        }
    }
    for (int b = 0; b < spectra->bands; b++) {
        int lowest = 255;
        for (int t = 0; t < spectra->n; t++) {
            const int l = logs_of(spectra, t)[b];
            lowest = l < lowest ? l : lowest;
        }
        sound.noise[b] = (uint8_t)root(sound.top - lowest);
    }
    return sound;
}

static int32_t value(const heard *sound, int t, int b)
{
    const int32_t v = root(sound->top - logs_of(sound->spectra, t)[b]) - sound->noise[b];
    return v > 0 ? v : 0;
}

/* How much the sound changes in frame t. */
static uint32_t moved(const heard *sound, int t)
{
    uint32_t sum = 0;
    for (int b = 0; b < sound->spectra->bands; b++) {
        const int32_t d = value(sound, t, b) - value(sound, t - 1, b);
        sum += (uint32_t)(d < 0 ? -d : d);
    }
    return sum;
}

/* The entry that lies so many 256ths behind frame t, its bands mixed with their neighbours. */
static void entry(const heard *sound, int t, int32_t part, uint8_t *row)
{
    const int last = sound->spectra->bands - 1;
    int32_t before = 0, here = 0;
    for (int b = 0; b <= last + 1; b++) {
        const int at = b > last ? last : b;
        const int32_t now = value(sound, t, at), then = part ? value(sound, t + 1, at) : 0;
        const int32_t next = (now * (256 - part) + then * part + 128) >> 8;
        if (b > 0) {
            row[b - 1] = (uint8_t)(((b > 1 ? before : here) + 2 * here + next + 2) >> 2);
        }
        before = here;
        here = next;
    }
}

void kenyon_spectra_window(const kenyon_spectra *spectra, uint8_t *window)
{
    const int bands = spectra->bands, frames = spectra->frames;
    if (!spectra->n) {
        for (int i = 0; i < frames * bands; i++) {
            window[i] = 0;
        }
        return;
    }
    const heard sound = hear(spectra);
    uint32_t even = 0, sum = 0, at = 0, step = 1;
    for (int t = sound.first + 1; t <= sound.last; t++) {
        sum += moved(&sound, t);
    }
    if (sound.last > sound.first) {
        const uint32_t n = (uint32_t)(sound.last - sound.first);
        even = 2 * sum / (3 * n) + 1;
        sum += n * even;
        step = moved(&sound, sound.first + 1) + even;
    }
    for (int j = 0, t = sound.first; j < frames; j++) {
        const uint32_t wanted = (uint32_t)j * sum / (uint32_t)(frames - 1);
        while (t < sound.last && wanted >= at + step) {
            at += step;
            t++;
            step = t < sound.last ? moved(&sound, t + 1) + even : 1;
        }
        entry(&sound, t, (int32_t)((wanted - at) * 256 / step), window + j * bands);
    }
}

int kenyon_spectra_segment(kenyon_spectra *spectra, kenyon_segment *segment, uint8_t *window)
{
    const int n = spectra->n, gap = spectra->gap;
    int first, last;
    spectra->wait = (uint16_t)(spectra->wait - (spectra->wait > 0));
    if (!n || !find(spectra, &first, &last).level) {
        return 0;
    }
    const int ended = n - 1 - last >= (gap > 1 ? gap : 1);
    const int goes_on = !ended && n == spectra->kept && first <= gap && !spectra->wait;
    const int found = (ended && (first > 0 || !spectra->cut)) || goes_on;
    if (found) {
        const uint32_t hop = spectra->size / 2u, oldest = spectra->time - (uint32_t)n;
        segment->start = (oldest + (uint32_t)first) * hop;
        segment->end = (oldest + (uint32_t)last + 1u) * hop;
        segment->known = spectra->time * hop;
        segment->ended = (uint8_t)ended;
        segment->clipped = spectra->clipped;
        spectra->clipped = 0;
        kenyon_spectra_window(spectra, window);
    }
    if (ended) { /* the next sound is found, however quiet it is */
        spectra->n = (uint16_t)(n - last - 1);
        spectra->cut = 1;
        spectra->wait = 0;
    } else if (goes_on) {
        spectra->wait = EVERY;
    }
    return found;
}
