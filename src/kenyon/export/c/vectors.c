/* ---- vectors: those of GCC and Clang, which make instructions of any processor of them */

#ifdef KENYON_VECTORS
/* Lane by lane: the larger one; what is not below zero. */
#define LARGER(a, b) (((a) & ((a) > (b))) | ((b) & ((a) <= (b))))
#define POSITIVE(a) ((a) & ((a) > 0))
#endif
