/* The activity of a block from the three values that hold it: units, values, counts. */

#ifndef KENYON_HOST_ACTIVE_H
#define KENYON_HOST_ACTIVE_H

#include "../activity.h"
#include "value.h"

#define ACTIVE "[I]2 [Bf]2 [q]1 "
#define ACTIVE_FLOATS "[I]2 [f]2 [q]1 "
#define ACTIVE_BYTES "[I]2 [B]2 [q]1 "

KN_INLINE kn_active active_of(const kn_value *v)
{
    const kn_active active = {v[0].data, v[1].type == 'f' ? v[1].data : 0, v[1].type == 'B' ? v[1].data : 0, v[2].data,
                              v[0].shape[1]};
    return active;
}

#endif
