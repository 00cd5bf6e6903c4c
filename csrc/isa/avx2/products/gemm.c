/* The 8-bit microkernel: the tiles of tile256.inl with two values of K per multiply-add.
 *
 *   vpmaddwd          ports 0 and 1 (Intel): 12 per pair of K, 6 cycles
 *   vpaddd            ports 0, 1 and 5: 12 per pair; the two together 8 cycles
 *   vpbroadcastd m32  a pair of A; load ports only: 6, and 2 loads of B, per pair: 4 cycles
 *
 * Exact: pack_i16.inl has the proof, and a whole sum fits 31 bits (qrt/products/gemm.h). Hazard: a register of a sum
 * must not move, see multiply_add. */
#include <immintrin.h>

#include "isa/avx2/products/gemm.h"
#include "isa/rows.h"

#define KU 2

/* Written in assembly so that the sum stays in its register: see avx512/gemm.c. */
QRT_INLINE __m256i multiply_add(__m256i acc, __m256i a, __m256i b) {
    __asm__("vpaddd %1, %0, %0" : "+x"(acc) : "x"(_mm256_madd_epi16(a, b)));
    return acc;
}

#include "isa/x86/gemm/tile256.inl"
#include "isa/x86/gemm/pack_i16.inl"

static void run(const qrt_microkernel_call *call) {
    __m256i start[2];
    load_bias(call, start);
    qrt_microkernel_call image_row = *call;
    for (int64_t i = 0; i < call->image_rows; i++, next_image_row(&image_row))
        for (int row = 0, rows; row < image_row.rows; row += rows) {
            rows = next_tile(image_row.rows - row, MR);
            run_tile(&image_row, row, rows, start, false);
        }
}

const qrt_gemm_microkernel qrt_avx2_tiles = MICROKERNEL("avx2", 2);
