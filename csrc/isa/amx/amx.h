/* The instructions of AMX that this folder uses; tiles are named by number. With QRT_EMULATE they are computed as the
 * manual defines them, faults included, so that the kernels can be tested on processors without tiles. */
#pragma once

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

/* The intrinsics of gcc 12 declare no memory operands: it would move stores that a load needs behind that load. */
#define LDTILECFG(config) __asm__ volatile("ldtilecfg %0" : : "m"(*(config)))
#define TILERELEASE() __asm__ volatile("tilerelease")
#define TILEZERO(t) __asm__ volatile("tilezero %%tmm" #t::)
#define TILELOADD(t, base, stride)                                                                                     \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t : : "r"(base), "r"((int64_t)(stride)) : "memory")
#define TILESTORED(t, base, stride)                                                                                    \
    __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" : : "r"(base), "r"((int64_t)(stride)) : "memory")
/* The same for data that is used once: a hint not to keep it in L1. */
#define TILELOADDT1(t, base, stride)                                                                                   \
    __asm__ volatile("tileloaddt1 (%0,%1,1), %%tmm" #t : : "r"(base), "r"((int64_t)(stride)) : "memory")
/* sum += a . b, where a holds quads of unsigned or signed bytes and b quads of signed bytes. */
#define TDPBSSD(sum, a, b) __asm__ volatile("tdpbssd %%tmm" #b ", %%tmm" #a ", %%tmm" #sum::)
#define TDPBUSD(sum, a, b) __asm__ volatile("tdpbusd %%tmm" #b ", %%tmm" #a ", %%tmm" #sum::)

#endif

/* gemm_i8.c and gemm_u8.c compile the same files with one instruction each. */
#ifdef QRT_SIGNED_A
#define TDP TDPBSSD
#else
#define TDP TDPBUSD
#endif
