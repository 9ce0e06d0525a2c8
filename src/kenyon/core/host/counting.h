/* Entries of the counting layer:
 *
 *     add_counts(sums, trained, units, values, counts, first, last, labels, plastic)
 *     read_counts(sums, trained, units, values, counts, first, last, most, out)
 *     read_bayes(sums, trained, units, values, counts, first, last, totals, smoothing, out)
 */
#define SUM uint32_t
#define COUNT uint32_t
#define NAMED(what) what##_32_32
#include "../counting.h"
#define SUM uint32_t
#define COUNT uint64_t
#define NAMED(what) what##_32_64
#include "../counting.h"
#define SUM uint64_t
#define COUNT uint32_t
#define NAMED(what) what##_64_32
#include "../counting.h"
#define SUM uint64_t
#define COUNT uint64_t
#define NAMED(what) what##_64_64
#include "../counting.h"

#include "active.h"

#define COUNTING_CALL(what, ...)                                                                                       \
    if (v[0].type == 'I' && v[1].type == 'I') {                                                                        \
        what##_32_32(v[0].data, v[1].data, v[0].shape[1], __VA_ARGS__);                                                \
    } else if (v[0].type == 'I') {                                                                                     \
        what##_32_64(v[0].data, v[1].data, v[0].shape[1], __VA_ARGS__);                                                \
    } else if (v[1].type == 'I') {                                                                                     \
        what##_64_32(v[0].data, v[1].data, v[0].shape[1], __VA_ARGS__);                                                \
    } else {                                                                                                           \
        what##_64_64(v[0].data, v[1].data, v[0].shape[1], __VA_ARGS__);                                                \
    }

static int64_t entry_add_counts(const kn_value *v)
{
    COUNTING_CALL(add_counts, active_of(v + 2), v[5].integer, v[6].integer, v[7].data, v[8].data)
    return 0;
}

static int64_t entry_read_counts(const kn_value *v)
{
    COUNTING_CALL(read_counts, active_of(v + 2), v[5].integer, v[6].integer, v[7].number, v[8].data)
    return 0;
}

static int64_t entry_read_bayes(const kn_value *v)
{
    COUNTING_CALL(read_bayes, v[0].shape[0], active_of(v + 2), v[5].integer, v[6].integer, v[7].data, v[8].number,
                  v[9].data)
    return 0;
}

#define COUNTING_ENTRIES                                                                                               \
    {"add_counts", "[IQ]2w [IQ]1w " ACTIVE "i i [q]1 [?]1", entry_add_counts},                                         \
    {"read_counts", "[IQ]2 [IQ]1 " ACTIVE "i i f [f]2w", entry_read_counts},                                           \
    {"read_bayes", "[IQ]2 [IQ]1 " ACTIVE "i i [d]1 f [f]2w", entry_read_bayes},
