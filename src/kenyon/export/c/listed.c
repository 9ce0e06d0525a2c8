/* ---- which units a sample is learned with, and the rule, for core/few_bits.h */

#ifdef KENYON_VECTORS
/* The active units in a list, where there is memory for one. */
typedef struct {
    uint32_t n, units[KENYON_UNITS];
} active_units;

static void list_active(const uint8_t *activity, active_units *active)
{
    uint32_t n = 0;
    for (uint32_t first = 0; first < KENYON_UNITS; first += 8) {
        const uint32_t last = KENYON_UNITS - first < 8 ? KENYON_UNITS : first + 8;
        uint64_t eight = 1;
        if (last == first + 8) {
            memcpy(&eight, activity + first, sizeof eight);
        }
        for (uint32_t unit = first; eight && unit < last; unit++) {
            active->units[n] = unit;
            n += activity[unit] != 0;
        }
    }
    active->n = n;
}

#define LIST(activity)                                                                                                 \
    active_units active;                                                                                               \
    list_active(activity, &active)
#define LISTED activity, &active
#define SAMPLE const uint8_t *activity, const active_units *active
#define SAMPLE_ARGUMENTS activity, active
#define SAMPLE_SIZE active->n
#define SAMPLE_UNIT(a) active->units[a]
#else
/* Every unit is looked at. */
#define LIST(activity) UNUSED(activity)
#define LISTED activity
#define SAMPLE const uint8_t *activity
#define SAMPLE_ARGUMENTS activity
#define SAMPLE_SIZE KENYON_UNITS
#define SAMPLE_UNIT(a) (a)
#endif
#define SAMPLE_VALUE(a) activity[SAMPLE_UNIT(a)]

#define RULE device /* its functions are written by the export */
#define RULE_LIMITED KENYON_LIMITED
#define RULE_SCORED KENYON_SCORED
