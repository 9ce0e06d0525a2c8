// The Arduino sketch on this machine, with a memory whose power is cut after any byte that is written.

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kenyon_slots.h"

static const int A0 = 0, HEX = 16;
static int analogRead(int) { return rand() & 1023; }
static unsigned long millis() { static unsigned long now; return now += 20; }

static struct {
    const char *line = "";
    void begin(long) {}
    template <class T> void print(T) {}
    template <class T> void print(T, int) {}
    template <class T> void println(T) {}
    void println() {}
    bool available() { return *line; }
    int peek() { return *line; }
    int read() { return *line++; }
    long parseInt() { return strtol(line, (char **)&line, 10); }
} Serial;

static uint8_t cells[KENYON_STORE_BYTES];
static long power = -1;  // bytes that may still be written; -1: any number
static int torn;         // what a byte is that the power left in the middle: as it was, erased, or anything
static jmp_buf off;

static struct {
    uint8_t read(int at) { return cells[at]; }
    uint32_t length() { return sizeof cells; }
    void update(int at, uint8_t byte)
    {
        if (power == 0) {
            cells[at] = torn == 0 ? cells[at] : torn == 1 ? 0xFF : (uint8_t)rand();
            longjmp(off, 1);
        }
        power -= power > 0;
        cells[at] = byte;
    }
} EEPROM;

#define KENYON_EEPROM
#include "kenyon_sketch.ino"

static void type(const char *text)
{
    Serial.line = text;
    while (Serial.available()) {
        loop();
    }
}

// Keep the present state with so much power; false where it was cut off.
static bool keep(long bytes)
{
    power = bytes;
    if (setjmp(off)) {
        power = -1;
        Serial.line = "";
        return false;
    }
    type("k");
    power = -1;
    return true;
}

int main(int, char **arguments)
{
    static uint8_t older[KENYON_SAVE_BYTES], newer[KENYON_SAVE_BYTES], now[KENYON_SAVE_BYTES], before[sizeof cells];
    long was_older = 0, was_newer = 0, neither = 0;
    memset(cells, 0xFF, sizeof cells);
    setup();
    slots.sequence = (uint32_t)strtoul(arguments[1], 0, 10);
    for (int round = 0; round < 5; round++) {
        const int32_t n_older = kenyon_save(&model, older, sizeof older);
        for (int i = 0; i < 40; i++) {
            type("0 ");
            type("1 ");
            type(round % 2 ? "f2 " : "2 ");  // states grow and shrink
        }
        const int32_t n_newer = kenyon_save(&model, newer, sizeof newer);
        const kenyon_slots then = slots;
        memcpy(before, cells, sizeof cells);
        bool done = false;
        for (long bytes = 0; !done; bytes++) {
            for (torn = 0; torn < 3; torn++) {
                memcpy(cells, before, sizeof cells);
                slots = then;
                kenyon_load(&model, newer, (size_t)n_newer);
                done = keep(bytes);
                setup();
                const int32_t n = kenyon_save(&model, now, sizeof now);
                const bool is_newer = n == n_newer && !memcmp(now, newer, (size_t)n);
                const bool is_older = n == n_older && !memcmp(now, older, (size_t)n);
                was_newer += is_newer;
                was_older += is_older;
                neither += !is_newer && !is_older;
                if (done && !is_newer) {
                    puts("a state that was kept is not the one that was loaded");
                    return 1;
                }
            }
        }
    }
    printf("%ld %ld %ld\n", was_older, was_newer, neither);
    return 0;
}
