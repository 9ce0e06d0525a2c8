// Learn from a sensor, one window of readings at a time, and say what it is.
//
// Over the serial line: a number and a newline teaches the present window as a class of that number; 'f' and a number
// forgets a class; 's' prints what was learned as hexadecimal, for `kenyon device unpack`; 'k' keeps it for the next
// start, whenever the power goes (kenyon_slots.h).

#include "kenyon.h"

// The EEPROM of AVR boards keeps single bytes. On a board with such a library of its own, define KENYON_EEPROM.
#if KENYON_LEARNS && (defined(__AVR__) || defined(KENYON_EEPROM))
#define KENYON_KEEPS 1
#include <EEPROM.h>
#include "kenyon_slots.h"

static uint8_t kenyon_store_read(uint32_t at)
{
    return EEPROM.read((int)at);
}

static void kenyon_store_write(uint32_t at, uint8_t byte)
{
    EEPROM.update((int)at, byte);  // a byte that is there already wears nothing out
}
#endif

static const int SENSOR = A0;
static const unsigned long PERIOD_MS = 20;

static kenyon_model model;
static uint8_t window[KENYON_INPUTS];  // the latest readings, the oldest first
#if KENYON_LEARNS
static uint8_t buffer[KENYON_SAVE_BYTES];
#endif
#ifdef KENYON_KEEPS
static kenyon_slots slots;

static bool fits()
{
    return KENYON_STORE_BYTES <= EEPROM.length();
}
#endif

static void read_sensor()
{
    memmove(window, window + 1, KENYON_INPUTS - 1);
    window[KENYON_INPUTS - 1] = (uint8_t)(analogRead(SENSOR) >> 2);  // 10 bits to 8
}

static void say(int error)
{
    if (error < 0) {
        Serial.print("refused: ");
        Serial.println(error);
    }
}

static void teach(int32_t label)
{
    int error = kenyon_learn(&model, window, label);
    if (error == KENYON_ERROR_LABEL) {
        error = kenyon_add_class(&model, label);
        if (error == KENYON_OK) {
            error = kenyon_learn(&model, window, label);
        }
    }
    say(error);
}

#if KENYON_LEARNS
static void print_state()
{
    const int32_t size = kenyon_save(&model, buffer, sizeof buffer);
    for (int32_t i = 0; i < size; i++) {
        if (buffer[i] < 16) {
            Serial.print('0');
        }
        Serial.print(buffer[i], HEX);
    }
    Serial.println();
}
#endif

void setup()
{
    Serial.begin(115200);
    kenyon_init(&model);
#ifdef KENYON_KEEPS
    if (fits()) {
        kenyon_slots_load(&slots, &model, buffer);  // where nothing was kept, it begins as it was exported
    }
#endif
}

void loop()
{
    static unsigned long last = 0;
    if (millis() - last < PERIOD_MS) {
        return;
    }
    last = millis();
    read_sensor();
    if (Serial.available()) {
        const int first = Serial.peek();
        if (first == 'f') {
            Serial.read();
            say(kenyon_forget_class(&model, (int32_t)Serial.parseInt()));
#if KENYON_LEARNS
        } else if (first == 's') {
            Serial.read();
            print_state();
#endif
#ifdef KENYON_KEEPS
        } else if (first == 'k') {
            Serial.read();
            const int32_t size = fits() ? kenyon_slots_save(&slots, &model, buffer) : KENYON_ERROR_SIZE;
            say(size);
            if (size > 0) {
                Serial.println("kept");
            }
#endif
        } else if (first >= '0' && first <= '9') {
            teach((int32_t)Serial.parseInt());
        } else {
            Serial.read();
        }
        return;
    }
    int32_t label;
    if (kenyon_predict(&model, window, &label) == KENYON_OK) {
        Serial.println(label);
    }
}
