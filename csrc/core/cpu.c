#include "cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>

#define XCR0_AVX 0x06u    /* SSE and AVX state saved by the operating system */
#define XCR0_AVX512 0xE6u /* and opmask, upper halves, high registers */

static uint32_t saved_states(void) {
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

uint32_t qrt_cpu_features(void) {
    uint32_t a, b, c, d, found = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 0;
    const uint32_t states = saved_states(), fma = c & bit_FMA, f16c = c & bit_F16C;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (states & XCR0_AVX) != XCR0_AVX)
        return 0;
    if (fma)
        found |= QRT_CPU_FMA;
    if (b & bit_AVX2 && f16c)
        found |= QRT_CPU_AVX2;
    const uint32_t avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    if ((states & XCR0_AVX512) == XCR0_AVX512 && (b & avx512) == avx512) {
        found |= QRT_CPU_AVX512;
        if (c & bit_AVX512VNNI)
            found |= QRT_CPU_AVX512_VNNI;
    }
    return found;
}

#else

uint32_t qrt_cpu_features(void) {
    return 0;
}

#endif
