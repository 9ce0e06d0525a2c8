/* Entries of checks, drawing, scaling and features, and of the baselines. */

#include "activity.h"

#include "check.h"
#include "dense.h"
#include "draw.h"
#include "identity.h"
#include "outputs.h"
#include "patches.h"
#include "ramps.h"
#include "scale.h"
#include "sparse.h"
#include "units.h"
#include "windows.h"

#include "baselines.h"

#define FEATURES_ENTRIES                                                                                               \
    CHECK_ENTRIES                                                                                                      \
    DRAW_ENTRIES                                                                                                       \
    SCALE_ENTRIES                                                                                                      \
    UNITS_ENTRIES                                                                                                      \
    SPARSE_ENTRIES                                                                                                     \
    PATCHES_ENTRIES                                                                                                    \
    WINDOWS_ENTRIES                                                                                                    \
    RAMPS_ENTRIES                                                                                                      \
    DENSE_ENTRIES                                                                                                      \
    IDENTITY_ENTRIES                                                                                                   \
    OUTPUTS_ENTRIES                                                                                                    \
    BASELINES_ENTRIES
