/* The 8-bit microkernel: the tiles of tile512.inl with two values of K per multiply-add.
 *
 *   vpmaddwd, vpaddd  two uops on ports 0 and 5: 28 of each per pair of K, 28 cycles; the loads take far fewer
 *
 * A product takes the last of the 32 registers. Exact: pack_i16.inl has the proof, and a whole sum fits 31 bits
 * (qrt/products/gemm.h). Hazard: a register of a sum must not move, see multiply_add. */
#include <immintrin.h>

#include "isa/rows.h"

#define KU 2

/* Written in assembly so that the sum stays in its register. With intrinsics gcc 12 moves sums from register to
 * register, and some through the stack, in every step, which costs a fifth of the speed or more. */
QRT_INLINE __m512i multiply_add(__m512i acc, __m512i a, __m512i b) {
    __asm__("vpaddd %1, %0, %0" : "+v"(acc) : "v"(_mm512_madd_epi16(a, b)));
    return acc;
}

QRT_INLINE __m512i multiply_add_memory(__m512i acc, __m512i a, const __m512i *b) {
    __m512i product;
    __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+v"(acc), "=&v"(product) : "v"(a), "m"(*b));
    return acc;
}

#include "isa/x86/gemm/tile512.inl"
#include "isa/x86/gemm/pack_i16.inl"

static void run(const qrt_microkernel_call *call) {
    tile_columns c;
    load_columns(call, &c);
    __m512i start[4];
    for (int j = 0; j < c.vectors; j++)
        start[j] = load_bias(call, &c.epilogue, j);
    qrt_microkernel_call image_row = *call;
    for (int64_t i = 0; i < call->image_rows; i++, next_image_row(&image_row))
        run_rows(&image_row, &c, start);
}

const qrt_gemm_microkernel avx512_gemm = MICROKERNEL("avx512", 2, .pairs = true, .pair_depth = PAIR_DEPTH);
