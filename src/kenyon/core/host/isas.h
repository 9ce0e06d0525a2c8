/* The instruction sets that the core is compiled for; the first runs on every processor of its kind. */

#ifndef KENYON_ISAS_H
#define KENYON_ISAS_H

#include "value.h"

#define KN_MOST_ISAS 3

/* Fill `tables` with those that this processor and its system run, the best last; how many they are. */
int kn_isas_here(const kn_table **tables);

#endif
