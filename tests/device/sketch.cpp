// The Arduino sketch on this machine, with a memory whose power is cut after any byte, or any word of flash, that is
// written, and while flash is erased.

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stdint.h>

static const int A0 = 0, INPUT_PULLUP = 2, LOW = 0;
static int analogRead(int) { return rand() & 1023; }
static void pinMode(int, int) {}
static int digitalRead(int) { return 1; }
static unsigned long millis() { static unsigned long now; return now += 20; }

static struct {
    const char *line = "";
    void begin(long) {}
    template <class T> void print(T) {}
    bool available() { return *line; }
    int read() { return *line++; }
} Serial;

static uint8_t cells[8192];
static long power = -1;  // bytes or words that may still be written; -1: any number
static int torn;         // what the power left in the middle: as it was, erased, or anything
static jmp_buf off;

// Whether there is power for one more step; else the cells that it was about are left torn.
static void spend(uint32_t at, uint32_t n)
{
    if (power == 0) {
        for (uint32_t i = at; i < at + n; i++) {
            cells[i] = torn == 0 ? cells[i] : torn == 1 ? 0xFF : (uint8_t)rand();
        }
        longjmp(off, 1);
    }
    power -= power > 0;
}

#ifdef ARDUINO_ARCH_MBED
namespace mbed {
struct FlashIAP {
    int init() { return 0; }
    uint32_t get_flash_start() { return 0x10000; }
    uint32_t get_flash_size() { return sizeof cells; }
    int read(void *to, uint32_t at, uint32_t n)
    {
        memcpy(to, cells + at - 0x10000, n);
        return 0;
    }
    int program(const void *from, uint32_t at, uint32_t n)
    {
        spend(at -= 0x10000, n);
        for (uint32_t i = 0; i < n; i++) {
            if (at % 4 || n != 4 || cells[at + i] != 0xFF) {
                puts("flash was written that was not erased, or not by words");
                exit(1);
            }
            cells[at + i] = ((const uint8_t *)from)[i];
        }
        return 0;
    }
    int erase(uint32_t at, uint32_t n)
    {
        for (at -= 0x10000; n; at += 512, n -= 512) {  // some of it at a time: the power may go in between
            spend(at, 512);
            memset(cells + at, 0xFF, 512);
        }
        return 0;
    }
};
}
#else
static struct {
    uint8_t read(int at) { return cells[at]; }
    uint32_t length() { return sizeof cells; }
    void update(int at, uint8_t byte)
    {
        spend((uint32_t)at, 1);
        cells[at] = byte;
    }
} EEPROM;

#define KENYON_EEPROM
#endif
#include "kenyon_sketch.ino"

static_assert(KENYON_STORE_BYTES <= sizeof cells, "the memory is too small");

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
    type("k\n");
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
            type("0\n");
            type("1\n");
            type(round % 2 ? "f2\n" : "2\n");  // states grow and shrink
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
