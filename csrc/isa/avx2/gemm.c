/* The 8-bit microkernel: the tiles of tile256.h with two values of K per multiply-add.
 *
 *   vpmaddwd          ports 0 and 1 (Intel): 12 per pair of K, 6 cycles
 *   vpaddd            ports 0, 1 and 5: 12 per pair; the two together 8 cycles
 *   vpbroadcastd m32  a pair of A; load ports only: 6, and 2 loads of B, per pair: 4 cycles
 *
 * Exact: see pack_i16.h; a whole sum fits 31 bits (qrt.h). */
#include "isa/x86/gemm/pack_i16.inl"
#include "isa/rows.h"

/* Written out so that the sum stays in its register: see avx512/gemm.c. */
static inline __attribute__((always_inline)) __m256i multiply_add(__m256i acc, __m256i a, __m256i b) {
    __asm__("vpaddd %1, %0, %0" : "+x"(acc) : "x"(_mm256_madd_epi16(a, b)));
    return acc;
}

#include "isa/x86/gemm/tile256.inl"

static void pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *terms) {
    (void)terms;
    qrt_pack_b_i16(container, source, k_stride, n_stride, columns, depth, zero_point, panel,
                   tile_vectors(columns) * LANES);
}

static void run(const qrt_gemm_panel *p) {
    __m256i start[2];
    load_bias(p, start);
    qrt_gemm_panel line = *p;
    for (int64_t i = 0; i < p->lines; i++, next_line(&line))
        for (int row = 0, rows; row < line.rows; row += rows) {
            rows = next_tile(line.rows - row, MR);
            run_tile(&line, row, rows, start, false);
        }
}

const qrt_gemm_kernel avx2_gemm = {
    .name = "avx2",
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
};
