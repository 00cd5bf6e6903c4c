/* The 8-bit multiply-add peak of each x86 ISA: the instructions a microkernel issues per product, on registers alone,
 * with enough independent accumulators to hide their latency. Returns multiply-adds done. Assembly, so that the file
 * compiles with no ISA flags; with csrc/ among the include folders. Each thread that calls one has the whole of it. */
#include <stdint.h>

#include "isa/amx/amx.h"

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
#define VEX_QUAD(acc) "%{vex%} vpdpbusd %%ymm1, %%ymm0, %%ymm" #acc "\n"
#define TWELVE_VEX_QUADS VEX_QUAD(4) VEX_QUAD(5) VEX_QUAD(6) VEX_QUAD(7) VEX_QUAD(8) VEX_QUAD(9) VEX_QUAD(10) \
    VEX_QUAD(11) VEX_QUAD(12) VEX_QUAD(13) VEX_QUAD(14) VEX_QUAD(15)
#define TWELVE_QUADS QUAD(4) QUAD(5) QUAD(6) QUAD(7) QUAD(8) QUAD(9) QUAD(10) QUAD(11) QUAD(12) QUAD(13) QUAD(14) QUAD(15)

int64_t peak_avx2(int64_t rounds) {
    __asm__ volatile(LOOP(TWELVE_PAIRS("ymm")) : : "r"(rounds) : CLOBBERS);
    return rounds * 12 * 16;
}

int64_t peak_avxvnni(int64_t rounds) {
    __asm__ volatile(LOOP(TWELVE_VEX_QUADS) : : "r"(rounds) : CLOBBERS);
    return rounds * 12 * 32;
}

int64_t peak_avx512(int64_t rounds) {
    __asm__ volatile(LOOP(TWELVE_PAIRS("zmm")) : : "r"(rounds) : CLOBBERS);
    return rounds * 12 * 32;
}

int64_t peak_avx512vnni(int64_t rounds) {
    __asm__ volatile(LOOP(TWELVE_QUADS) : : "r"(rounds) : CLOBBERS);
    return rounds * 12 * 64;
}

int64_t peak_avx512vbmi(int64_t rounds) { /* its multiply-adds are its parent's */
    return peak_avx512vnni(rounds);
}

/* Operands of tiles, random: of zeros alone the processor makes more in the same time, at a higher clock. */
static uint8_t tiles[4][16][64];

__attribute__((constructor)) static void draw_tiles(void) {
    uint32_t state = 1;
    for (uint8_t *byte = tiles[0][0]; byte < tiles[0][0] + sizeof tiles; byte++) {
        state = state * 1664525 + 1013904223;
        *byte = (uint8_t)(state >> 24);
    }
}

/* Sums in tiles 0 to 3, two tiles of each operand: a multiply-add takes 16 cycles, and its sum 52. */
int64_t peak_amx(int64_t rounds) {
    amx_config config = {.palette = 1};
    for (int t = 0; t < 8; t++) {
        config.row_bytes[t] = 64;
        config.rows[t] = 16;
    }
    LDTILECFG(&config);
    TILELOADD(4, tiles[0], 64);
    TILELOADD(5, tiles[1], 64);
    TILELOADD(6, tiles[2], 64);
    TILELOADD(7, tiles[3], 64);
    for (int64_t i = 0; i < rounds; i++) {
        TDPBUSD(0, 4, 6);
        TDPBUSD(1, 4, 7);
        TDPBUSD(2, 5, 6);
        TDPBUSD(3, 5, 7);
    }
    TILERELEASE();
    return rounds * 4 * 16 * 16 * 64;
}
