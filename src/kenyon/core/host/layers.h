/* Entries of rules, layers, readouts and merging. */

#include "../vectors.h"

#include "rules.h" /* written by write_rules.py */

#include "counting.h"
#include "merging.h"
#include "pairs.h"
#include "plastic.h"
#include "readout.h"
#include "table.h"

#define LAYERS_ENTRIES                                                                                                 \
    RULES_ENTRIES                                                                                                      \
    PLASTIC_ENTRIES                                                                                                    \
    COUNTING_ENTRIES                                                                                                   \
    PAIRS_ENTRIES                                                                                                      \
    READOUT_ENTRIES                                                                                                    \
    TABLE_ENTRIES                                                                                                      \
    MERGING_ENTRIES
