/* Vectors of GCC and Clang, which make instructions of any processor of them; LANES samples side by side. */

#ifndef KENYON_VECTORS_H
#define KENYON_VECTORS_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define KN_INLINE static inline __attribute__((always_inline))

/* Rows of arrays are aligned to their items only: memcpy is a load or a store without a demand on the address. */
#define KN_LOAD(vector, from) memcpy(&(vector), (from), sizeof(vector))
#define KN_STORE(to, vector) memcpy((to), &(vector), sizeof(vector))

/* Hide from the compiler where a pointer comes from, so that it is kept as one number. */
#define KN_OPAQUE(pointer) __asm__("" : "+r"(pointer))

#define LANES 32 /* samples that go through a projection side by side */

/* Bytes of a register. */
#if defined(__AVX512BW__)
#define KN_REGISTER 64
#elif defined(__AVX2__)
#define KN_REGISTER 32
#else
#define KN_REGISTER 16
#endif

typedef int16_t kn_shorts __attribute__((vector_size(32)));
typedef uint16_t kn_ushorts __attribute__((vector_size(32)));
typedef int32_t kn_ints __attribute__((vector_size(32)));
typedef float kn_floats __attribute__((vector_size(32)));

/* Lane by lane, the larger one of two vectors of KN_REGISTER bytes: a > b ? a : b. */
#define KN_LARGER(a, b) (((a) & ((a) > (b))) | ((b) & ((a) <= (b))))
#if KN_REGISTER == 64
#define KN_LARGER_SHORTS(a, b) _mm512_max_epi16((__m512i)(a), (__m512i)(b))
#define KN_LARGER_FLOATS(a, b) _mm512_max_ps((__m512)(a), (__m512)(b))
#elif KN_REGISTER == 32
#define KN_LARGER_SHORTS(a, b) _mm256_max_epi16((__m256i)(a), (__m256i)(b))
#define KN_LARGER_FLOATS(a, b) _mm256_max_ps((__m256)(a), (__m256)(b))
#elif defined(__SSE2__)
#define KN_LARGER_SHORTS(a, b) _mm_max_epi16((__m128i)(a), (__m128i)(b))
#define KN_LARGER_FLOATS(a, b) _mm_max_ps((__m128)(a), (__m128)(b))
#else
typedef int32_t kn_larger_mask __attribute__((vector_size(KN_REGISTER)));
#define KN_LARGER_SHORTS(a, b) KN_LARGER(a, b)
#define KN_LARGER_FLOATS(a, b) (((kn_larger_mask)(a) & ((a) > (b))) | ((kn_larger_mask)(b) & ~((a) > (b))))
#endif

#endif
