/* Everything that is made around one rule; included once for each, with what learn.h and few_bits.h want. */
#include "learn.h"
#if RULE_LEVELS
#include "few_bits.h"
#include "few_bits_block.h"
#endif
#ifdef KENYON_VALUE_H /* on a host */
#include "host/rule.h"
#endif

#undef RULE
#undef RULE_READS
#undef RULE_REACHES
#undef RULE_GATED
#undef RULE_LEVELS
#undef RULE_INTEGERS
#undef RULE_LIMITED
#undef RULE_SCORED
#undef PASTE_
#undef PASTE
#undef MOVE
#undef MOVES
#undef READ
#undef READS
#undef REACH
#undef REACHES
#undef STEP
#undef LIMIT
#undef SCORE
#undef PARTS
