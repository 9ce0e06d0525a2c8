/* Which of the compiled instruction sets this machine runs: read from the processor once, when the module is loaded.
 *
 * A processor may have registers that its system does not keep between threads, so both are asked (CPUID, XGETBV). */

#include "isas.h"

#define TABLE(isa)                                                                                                     \
    extern const kn_entry kn_features_##isa[], kn_layers_##isa[];                                                      \
    static const kn_table kn_table_##isa = {#isa, {kn_features_##isa, kn_layers_##isa}};

TABLE(baseline)

#if defined(__x86_64__) && !defined(KN_BASELINE)
#include <cpuid.h>

TABLE(avx2)
TABLE(avx512)

#define BIT(word, number) ((word) >> (number) & 1)

static uint64_t kept_by_the_system(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

int kn_isas_here(const kn_table **tables)
{
    uint32_t a, b, c, d, extended;
    int n = 0;
    tables[n++] = &kn_table_baseline;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !BIT(c, 27) || !BIT(c, 28) || !BIT(c, 23)) { /* OSXSAVE, AVX, POPCNT */
        return n;
    }
    const uint64_t kept = kept_by_the_system();
    if (!__get_cpuid(0x80000001u, &a, &b, &extended, &d) || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        return n;
    }
    if ((kept & 0x6) != 0x6 || !BIT(b, 3) || !BIT(b, 5) || !BIT(b, 8) || !BIT(extended, 5)) { /* BMI, AVX2, BMI2, LZCNT */
        return n;
    }
    tables[n++] = &kn_table_avx2;
    if ((kept & 0xE6) == 0xE6 && BIT(b, 16) && BIT(b, 17) && BIT(b, 30) && BIT(b, 31)) { /* F, DQ, BW, VL */
        tables[n++] = &kn_table_avx512;
    }
    return n;
}
#else
int kn_isas_here(const kn_table **tables)
{
    tables[0] = &kn_table_baseline; /* on aarch64 it has NEON */
    return 1;
}
#endif
