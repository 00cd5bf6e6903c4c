/* The 8-bit multiply-add peak of each x86 ISA: the instructions a microkernel issues per product, on registers alone,
 * with enough independent accumulators to hide their latency. Returns multiply-adds done. Assembly, so that the file
 * compiles with no ISA flags. */
#include <stdint.h>

#define CLOBBERS \
    "rcx", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
        "xmm12", "xmm13", "xmm14", "xmm15"
#define LOOP(body) "mov %0, %%rcx\n1:\n" body "dec %%rcx\njnz 1b\nvzeroupper\n"

/* vpmaddwd has no addend: a product and an addition each. */
#define PAIR(r, product, acc) \
    "vpmaddwd %%" r "1, %%" r "0, %%" r #product "\nvpaddd %%" r #product ", %%" r #acc ", %%" r #acc "\n"
#define TWELVE_PAIRS(r) \
    PAIR(r, 2, 4) PAIR(r, 3, 5) PAIR(r, 2, 6) PAIR(r, 3, 7) PAIR(r, 2, 8) PAIR(r, 3, 9) PAIR(r, 2, 10) \
    PAIR(r, 3, 11) PAIR(r, 2, 12) PAIR(r, 3, 13) PAIR(r, 2, 14) PAIR(r, 3, 15)
#define QUAD(acc) "vpdpbusd %%zmm1, %%zmm0, %%zmm" #acc "\n"
#define TWELVE_QUADS QUAD(4) QUAD(5) QUAD(6) QUAD(7) QUAD(8) QUAD(9) QUAD(10) QUAD(11) QUAD(12) QUAD(13) QUAD(14) QUAD(15)

int64_t peak_avx2(int64_t rounds) {
    __asm__ volatile(LOOP(TWELVE_PAIRS("ymm")) : : "r"(rounds) : CLOBBERS);
    return rounds * 12 * 16;
}

int64_t peak_avx512(int64_t rounds) {
    __asm__ volatile(LOOP(TWELVE_PAIRS("zmm")) : : "r"(rounds) : CLOBBERS);
    return rounds * 12 * 32;
}

int64_t peak_avx512vnni(int64_t rounds) {
    __asm__ volatile(LOOP(TWELVE_QUADS) : : "r"(rounds) : CLOBBERS);
    return rounds * 12 * 64;
}
