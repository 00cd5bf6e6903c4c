/* What the processor and the operating system offer, as the bits that isa.def names. */
#pragma once

#include <stdint.h>

#define QRT_CPU_AVX2 0x1u /* with F16C, which every CPU with AVX2 has */
#define QRT_CPU_FMA 0x2u
#define QRT_CPU_AVX512 0x4u /* F, BW, DQ and VL */
#define QRT_CPU_AVX512_VNNI 0x8u
#define QRT_CPU_AVX_VNNI 0x10u
#define QRT_CPU_AVX512_VBMI 0x40u
#define QRT_CPU_AMX_INT8 0x20u /* tiles of palette 1, and the system's permission to use them */

uint32_t qrt_cpu_features(void);
