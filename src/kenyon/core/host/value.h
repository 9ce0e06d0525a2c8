/* What an entry is handed: integers, floats and arrays, checked against its signature by the binding. */

#ifndef KENYON_VALUE_H
#define KENYON_VALUE_H

#include <stdint.h>

#define KN_AXES 3 /* an array has so many at most */

typedef struct {
    char kind; /* 'i' an integer, 'u' one of 2^63 or more, 'f' a float, 'a' an array, 'n' None: no data, shape 0 */
    char type; /* of an array's items, as in Python's struct module: one of ? B b H h I i Q q f d */
    char ndim, readonly;
    int32_t itemsize;
    int64_t integer;
    double number;
    void *data;
    int64_t shape[KN_AXES], strides[KN_AXES]; /* strides in bytes */
} kn_value;

typedef int64_t (*kn_function)(const kn_value *v);

/* An entry: its name in Python, its signature (README.md has the grammar), and the function. */
typedef struct {
    const char *name, *signature;
    kn_function function;
} kn_entry;

/* The entries, compiled for one instruction set, in up to two lists; the last entry of a list has no name. */
#define KN_LISTS 2

typedef struct {
    const char *isa;
    const kn_entry *lists[KN_LISTS];
} kn_table;

#endif
