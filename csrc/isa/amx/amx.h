/* The instructions of AMX that this folder uses, tiles named by number. With QRT_EMULATE they are computed as the
 * manual defines them, faults included, so that the kernels run, and are tested, on processors without tiles. */
#ifndef QRT_ISA_AMX_H
#define QRT_ISA_AMX_H

#include <stdint.h>

/* The memory operand of LDTILECFG. */
typedef struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} __attribute__((aligned(64))) amx_config;

#ifdef QRT_EMULATE

#include "emulate.h"

#else

/* gcc 12's intrinsics declare no memory operands: stores that a load needs would sink below it. */
#define LDTILECFG(config) __asm__ volatile("ldtilecfg %0" : : "m"(*(config)))
#define TILERELEASE() __asm__ volatile("tilerelease")
#define TILEZERO(t) __asm__ volatile("tilezero %%tmm" #t::)
#define TILELOADD(t, base, stride)                                                                                     \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t : : "r"(base), "r"((int64_t)(stride)) : "memory")
#define TILESTORED(t, base, stride)                                                                                    \
    __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" : : "r"(base), "r"((int64_t)(stride)) : "memory")
/* The same for what is used once: it should leave L1 to others. */
#define TILELOADDT1(t, base, stride)                                                                                   \
    __asm__ volatile("tileloaddt1 (%0,%1,1), %%tmm" #t : : "r"(base), "r"((int64_t)(stride)) : "memory")
/* sum += a . b: quads of a, unsigned or signed, with signed quads of b. */
#define TDPBSSD(sum, a, b) __asm__ volatile("tdpbssd %%tmm" #b ", %%tmm" #a ", %%tmm" #sum::)
#define TDPBUSD(sum, a, b) __asm__ volatile("tdpbusd %%tmm" #b ", %%tmm" #a ", %%tmm" #sum::)

#endif

/* gemm_i8.c compiles everything once more. */
#ifdef QRT_SIGNED_A
#define TDP TDPBSSD
#else
#define TDP TDPBUSD
#endif

#endif
