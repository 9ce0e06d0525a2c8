/* A small application around the model: samples go in, labels come out, commands and buttons teach it.
 *
 *     a number    learn what was heard or seen last as a class of that number
 *     f and it    forget that class
 *     k           keep what was learned, for the next start
 *     s           print what was learned as hexadecimal, for `kenyon device unpack`
 *
 * The examples for boards include this file and define `kenyon_say`; with KENYON_KEEPS, also the memory of kenyon_slots.h.
 */

#ifndef KENYON_APP_H
#define KENYON_APP_H

#include "kenyon.h"

#if KENYON_LEARNS && defined(KENYON_KEEPS)
#include "kenyon_slots.h"
#endif

/* Yours to define: show a text to the user, without a newline. */
static void kenyon_say(const char *text);

static kenyon_model model;
#if KENYON_LEARNS
static uint8_t buffer[KENYON_SAVE_BYTES];
#ifdef KENYON_KEEPS
static kenyon_slots slots;
#endif
#endif
#if !KENYON_FRONT
static uint8_t window[KENYON_INPUTS]; /* the latest sample */
#endif

static void kenyon_say_number(int32_t number)
{
    char text[12], *at = text + sizeof text - 1;
    uint32_t rest = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
    *at = 0;
    do {
        *--at = (char)('0' + rest % 10);
    } while (rest /= 10);
    if (number < 0) {
        *--at = '-';
    }
    kenyon_say(at);
}

static void kenyon_say_error(int32_t error)
{
    if (error < 0) {
        kenyon_say("refused: ");
        kenyon_say_number(error);
        kenyon_say("\n");
    }
}

static void kenyon_app_start(void)
{
    kenyon_init(&model);
#if KENYON_LEARNS && defined(KENYON_KEEPS)
    (void)kenyon_slots_load(&slots, &model, buffer); /* where nothing was kept, it begins as it was exported */
#endif
}

/* Learn what came last: from a command, or from a button. */
static void kenyon_app_learn(int32_t label)
{
#if KENYON_FRONT
    const int error = kenyon_learn_heard(&model, label);
#else
    int error = kenyon_learn(&model, window, label);
    if (error == KENYON_ERROR_LABEL) {
        error = kenyon_add_class(&model, label);
        error = error == KENYON_OK ? kenyon_learn(&model, window, label) : error;
    }
#endif
    kenyon_say_error(error);
    if (error == KENYON_OK) {
        kenyon_say("learned ");
        kenyon_say_number(label);
        kenyon_say("\n");
    }
}

#if KENYON_FRONT
/* Samples of the sensor as they come. */
static void kenyon_app_feed(const int16_t *samples, size_t n)
{
    while (n) {
        const size_t part = n < KENYON_FEED_MOST ? n : KENYON_FEED_MOST;
        const int found = kenyon_feed(&model, samples, part);
        if (found > 0) {
            kenyon_say_number(model.ear.event.label);
            kenyon_say("\n");
        }
        kenyon_say_error(found);
        samples += part;
        n -= part;
    }
}
#else
/* A sample was put into `window`. */
static void kenyon_app_sample(void)
{
    int32_t label;
    if (kenyon_predict(&model, window, &label) == KENYON_OK) {
        kenyon_say_number(label);
        kenyon_say("\n");
    }
}
#endif

#if KENYON_LEARNS
static void kenyon_app_print(void)
{
    const int32_t size = kenyon_save(&model, buffer, sizeof buffer);
    for (int32_t i = 0; i < size; i++) {
        const char text[3] = {"0123456789ABCDEF"[buffer[i] >> 4], "0123456789ABCDEF"[buffer[i] & 15], 0};
        kenyon_say(text);
    }
    kenyon_say("\n");
}

static void kenyon_app_keep(void)
{
#ifdef KENYON_KEEPS
    const int32_t size = kenyon_slots_save(&slots, &model, buffer);
    kenyon_say_error(size);
    if (size > 0) {
        kenyon_say("kept\n");
    }
#else
    kenyon_say("this board keeps nothing\n");
#endif
}
#endif

/* A command without its newline. */
static void kenyon_app_command(const char *line)
{
    const char kind = *line;
    int32_t label = 0;
    for (const char *at = line + (kind == 'f'); *at >= '0' && *at <= '9' && label < 100000000; at++) {
        label = 10 * label + (*at - '0');
    }
    if (kind >= '0' && kind <= '9') {
        kenyon_app_learn(label);
    } else if (kind == 'f') {
        kenyon_say_error(kenyon_forget_class(&model, label));
#if KENYON_LEARNS
    } else if (kind == 'k') {
        kenyon_app_keep();
    } else if (kind == 's') {
        kenyon_app_print();
#endif
    }
}

/* One letter of a command: it is done at the end of its line. */
static void kenyon_app_letter(char letter)
{
    static char line[12];
    static uint8_t n = 0;
    if (letter == '\n' || letter == '\r') {
        line[n] = 0;
        n = 0;
        kenyon_app_command(line);
    } else if (n < sizeof line - 1) {
        line[n++] = letter;
    }
}

#endif
