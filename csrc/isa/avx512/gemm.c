/* The 8-bit microkernel: the tiles of tile512.h with two values of K per multiply-add.
 *
 *   vpmaddwd, vpaddd  two uops on ports 0 and 5: 28 of each per pair of K, 28 cycles; the loads stay far below
 *
 * A product takes the last of the 32 registers. Exact: see pack_i16.h; a whole sum fits 31 bits (qrt.h). */
#include "isa/x86/gemm/pack_i16.inl"
#include "isa/rows.h"

#define NR 32
#define LANES 16

static void pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *terms) {
    (void)terms;
    qrt_pack_b_i16(container, source, k_stride, n_stride, columns, depth, zero_point, panel,
                   columns <= LANES ? LANES : NR);
}

/* Written out so that the sum stays in its register: with intrinsics gcc 12 moves accumulators from register to
 * register, and some through the stack, at every step, which costs a fifth of the speed and more. */
static inline __attribute__((always_inline)) __m512i multiply_add(__m512i acc, __m512i a, __m512i b) {
    __asm__("vpaddd %1, %0, %0" : "+v"(acc) : "v"(_mm512_madd_epi16(a, b)));
    return acc;
}

static inline __attribute__((always_inline)) __m512i multiply_add_memory(__m512i acc, __m512i a, const __m512i *b) {
    __m512i product;
    __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+v"(acc), "=&v"(product) : "v"(a), "m"(*b));
    return acc;
}

#include "isa/x86/gemm/tile512.inl"

static void run(const qrt_gemm_panel *p) {
    tile_columns c;
    load_columns(p, &c);
    __m512i start[4];
    for (int j = 0; j < c.vectors; j++)
        start[j] = load_bias(p, &c, j);
    qrt_gemm_panel line = *p;
    for (int64_t i = 0; i < p->lines; i++, next_line(&line))
        run_rows(&line, &c, start);
}

const qrt_gemm_kernel avx512_gemm = {
    .name = "avx512",
    .mr = MR,
    .nr = NR,
    .ku = KU,
    .a_size = 2,
    .b_size = 2,
    .a_form = qrt_a_form_i16,
    .pack_a = qrt_pack_a_i16,
    .pack_b = pack_b,
    .run = run,
    .segmented = true,
    .splits = true,
    .pairs = true,
    .pair_depth = PAIR_DEPTH,
};
