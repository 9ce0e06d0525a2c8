// Learn from a sensor and say what it is: a microphone or an accelerometer where the model has a front end for it, else
// whatever is at the pin A0.
//
// Over the serial line, each with a newline: a number teaches what came last as a class of that number, f and a number
// forgets a class, k keeps what was learned, s prints it. A button at pin 2 teaches class 0, one at pin 3 class 1.

// Where what was learned is kept: in the EEPROM of AVR boards, or in the flash of boards with Mbed. On a board with an
// EEPROM library of its own, define KENYON_EEPROM.
#if defined(__AVR__) || defined(KENYON_EEPROM)
#define KENYON_KEEPS
#include <EEPROM.h>
#elif defined(ARDUINO_ARCH_MBED)
#define KENYON_KEEPS
#define KENYON_STORE_BLOCK 4096
#ifdef ARDUINO_ARCH_RP2040
#define KENYON_STORE_WORD 256
#else
#define KENYON_STORE_WORD 4
#endif
#include <FlashIAP.h>
#endif

#include "kenyon_app.h"

#if KENYON_FRONT == 1
#include <PDM.h>
#elif KENYON_FRONT == 2 && defined(ARDUINO_ARCH_RP2040)
#include <Arduino_LSM6DSOX.h>
#elif KENYON_FRONT == 2
#include <Arduino_LSM9DS1.h>
#endif

static const int BUTTONS[] = {2, 3};

static void kenyon_say(const char *text)
{
    Serial.print(text);
}

#if KENYON_LEARNS && (defined(__AVR__) || defined(KENYON_EEPROM))
static uint8_t kenyon_store_read(uint32_t at)
{
    return EEPROM.read((int)at);
}

static void kenyon_store_write(uint32_t at, const uint8_t *word)
{
    EEPROM.update((int)at, *word);  // a byte that is there already wears nothing out
}

static bool keeps()
{
    return KENYON_STORE_BYTES <= EEPROM.length();
}
#elif KENYON_LEARNS && defined(KENYON_KEEPS)
static mbed::FlashIAP flash;

// The last blocks of the flash: a sketch must not reach so far.
static uint32_t place(uint32_t at)
{
    return flash.get_flash_start() + flash.get_flash_size() - KENYON_STORE_BYTES + at;
}

static uint8_t kenyon_store_read(uint32_t at)
{
    uint8_t byte = 0xFF;
    flash.read(&byte, place(at), 1);
    return byte;
}

static void kenyon_store_write(uint32_t at, const uint8_t *word)
{
    flash.program(word, place(at), KENYON_STORE_WORD);
}

static void kenyon_store_erase(uint32_t at, uint32_t bytes)
{
    flash.erase(place(at), bytes);
}

static bool keeps()
{
    return flash.init() == 0;
}
#endif

#if KENYON_FRONT == 1
// The microphone fills a ring while the model works.
static int16_t ring[2048];
static volatile uint32_t written = 0;
static uint32_t taken = 0;
static volatile bool lost = false;

static void heard()
{
    static int16_t part[256];
    int n = PDM.available() / 2;
    n = PDM.read(part, (n < 256 ? n : 256) * 2) / 2;
    for (int i = 0; i < n; i += 16000 / KENYON_FRONT_RATE) {
        const int16_t sample = KENYON_FRONT_RATE == 8000 && i + 1 < n ? (int16_t)((part[i] + part[i + 1]) / 2) : part[i];
        if (written - taken < 2048) {
            ring[written % 2048] = sample;
            written = written + 1;
        } else {
            lost = true;
        }
    }
}
#endif

void setup()
{
    Serial.begin(115200);
    for (int pin : BUTTONS) {
        pinMode(pin, INPUT_PULLUP);
    }
#if KENYON_LEARNS && defined(KENYON_KEEPS)
    if (keeps()) {
        kenyon_app_start();
    } else {
        kenyon_init(&model);
    }
#else
    kenyon_app_start();
#endif
#if KENYON_FRONT == 1
    PDM.onReceive(heard);
    PDM.begin(1, 16000);
#elif KENYON_FRONT == 2
    IMU.begin();
#endif
}

static void sense()
{
#if KENYON_FRONT == 1
    int16_t part[128];
    size_t n = 0;
    while (n < 128 && taken != written) {
        part[n++] = ring[taken++ % 2048];
    }
    kenyon_app_feed(part, n);
    if (lost) {
        lost = false;
        kenyon_gap(&model);  // no sound goes across what was missed
    }
#elif KENYON_FRONT == 2
    static unsigned long last = 0;
    float now[KENYON_CHANNELS_IN];
    if (millis() - last < 20 || !IMU.accelerationAvailable()) {  // 50 readings a second
        return;
    }
    last = millis();
    IMU.readAcceleration(now[0], now[1], now[2]);
#if KENYON_CHANNELS_IN == 6
    float *turn = now + 3;
    IMU.readGyroscope(turn[0], turn[1], turn[2]);
    for (int i = 0; i < 3; i++) {
        turn[i] /= 57.3f;  // degrees to radians
    }
#endif
    int16_t reading[KENYON_CHANNELS_IN];
    for (int i = 0; i < KENYON_CHANNELS_IN; i++) {
        const float value = now[i] * 8192;  // 1 g, or 1 radian a second
        reading[i] = (int16_t)(value > 32767 ? 32767 : value < -32768 ? -32768 : value);
    }
    kenyon_app_feed(reading, KENYON_CHANNELS_IN);
#else
    static unsigned long last = 0;
    if (millis() - last < 20) {
        return;
    }
    last = millis();
    memmove(window, window + 1, KENYON_INPUTS - 1);
    window[KENYON_INPUTS - 1] = (uint8_t)(analogRead(A0) >> 2);  // 10 bits to 8
    kenyon_app_sample();
#endif
}

void loop()
{
    static bool down[2];
    sense();
    while (Serial.available()) {
        kenyon_app_letter((char)Serial.read());
    }
    for (int i = 0; i < 2; i++) {
        const bool now = digitalRead(BUTTONS[i]) == LOW;
        if (now && !down[i]) {
            kenyon_app_learn(i);
        }
        down[i] = now;
    }
}
