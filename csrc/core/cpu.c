/* Asks CPUID and XGETBV which of the features that isa.def names the processor and the operating system offer. */
#include "core/cpu.h"

#include <stdbool.h>
#include <stddef.h>

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* The compilers' cpuid.h have these bits under different names, or not at all. */
#define LEAF7_EDX_AMX (1u << 24 | 1u << 25) /* AMX-TILE, AMX-INT8 */
#define LEAF7_ECX_AVX512_VBMI (1u << 1)
#define LEAF7_1_EAX_AVX_VNNI (1u << 4)

#define XCR0_AVX 0x06u      /* the system saves SSE and AVX state */
#define XCR0_AVX512 0xE6u   /* it also saves opmasks, upper halves and high registers */
#define XCR0_TILES 0x60000u /* it also saves tile configuration and tile data */

/* Tile palette 1 (leaf 1DH, subleaf 1): EAX holds the bytes of all tiles and of one, EBX the bytes of a row and the
 * number of tiles, ECX the rows. */
#define PALETTE_EAX (1024u << 16 | 8192u)
#define PALETTE_EBX (8u << 16 | 64u)
#define PALETTE_ECX 16u

/* The answers of CPUID and XGETBV; 0 for a leaf that the processor does not have. */
typedef struct {
    uint32_t leaf1_ecx, leaf7_ebx, leaf7_ecx, leaf7_edx, leaf7_1_eax;
    uint32_t palette[3];
    uint32_t xcr0;
} answers;

static uint32_t saved_states(void) {
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static answers ask(void) {
    answers found = {0};
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &found.leaf1_ecx, &d) || !(found.leaf1_ecx & bit_OSXSAVE))
        return found;
    found.xcr0 = saved_states();
    if (!__get_cpuid_count(7, 0, &a, &found.leaf7_ebx, &found.leaf7_ecx, &found.leaf7_edx))
        return found;
    if (a >= 1)
        __get_cpuid_count(7, 1, &found.leaf7_1_eax, &b, &c, &d);
    if (found.leaf7_edx & LEAF7_EDX_AMX)
        __get_cpuid_count(0x1d, 1, &found.palette[0], &found.palette[1], &found.palette[2], &d);
    return found;
}

static uint32_t decode(const answers *found) {
    uint32_t features = 0;
    if ((found->xcr0 & XCR0_AVX) != XCR0_AVX)
        return 0;
    if (found->leaf1_ecx & bit_FMA)
        features |= QRT_CPU_FMA;
    if (found->leaf7_ebx & bit_AVX2 && found->leaf1_ecx & bit_F16C)
        features |= QRT_CPU_AVX2;
    if (found->leaf7_1_eax & LEAF7_1_EAX_AVX_VNNI)
        features |= QRT_CPU_AVX_VNNI;
    const uint32_t avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    if ((found->xcr0 & XCR0_AVX512) != XCR0_AVX512 || (found->leaf7_ebx & avx512) != avx512)
        return features;
    features |= QRT_CPU_AVX512;
    if (found->leaf7_ecx & bit_AVX512VNNI)
        features |= QRT_CPU_AVX512_VNNI;
    if (found->leaf7_ecx & LEAF7_ECX_AVX512_VBMI)
        features |= QRT_CPU_AVX512_VBMI;
    if ((found->xcr0 & XCR0_TILES) == XCR0_TILES && (found->leaf7_edx & LEAF7_EDX_AMX) == LEAF7_EDX_AMX &&
        found->palette[0] == PALETTE_EAX && found->palette[1] == PALETTE_EBX &&
        (found->palette[2] & 0xffff) == PALETTE_ECX)
        features |= QRT_CPU_AMX_INT8;
    return features;
}

/* Linux gives a process the 8 KiB of tile data only on request, once for all its threads and children. It refuses by
 * policy, and where a signal stack is too small to hold them. */
static bool tiles_permitted(void) {
#if defined(__linux__) && defined(SYS_arch_prctl)
    const long request_permission = 0x1023, tile_data = 18;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
    return false;
#endif
}

uint32_t qrt_cpu_features(void) {
    const answers found = ask();
    const uint32_t features = decode(&found);
    return features & QRT_CPU_AMX_INT8 && !tiles_permitted() ? features & ~QRT_CPU_AMX_INT8 : features;
}

#else

uint32_t qrt_cpu_features(void) {
    return 0;
}

#endif
