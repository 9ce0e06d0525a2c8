/* A part of the core for one instruction set: compiled with KN_ISA the set's name, KN_FEATURES or KN_LAYERS, and the
 * compiler's flags for the set.
 *
 * Everything is static but the list of entries, so that the copies do not meet. */

#include <math.h>
#include <string.h>

#include "value.h"

#if defined(KN_FEATURES)
#include "features.h"
#define PART features
#define PART_ENTRIES FEATURES_ENTRIES
#else
#include "layers.h"
#define PART layers
#define PART_ENTRIES LAYERS_ENTRIES
#endif

#define LIST_(part, isa) kn_##part##_##isa
#define LIST(part, isa) LIST_(part, isa)

extern const kn_entry LIST(PART, KN_ISA)[];
const kn_entry LIST(PART, KN_ISA)[] = {PART_ENTRIES{0, 0, 0}};
