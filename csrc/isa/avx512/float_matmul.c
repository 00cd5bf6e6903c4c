/* Dot products in float32. The parent's float_rows packs rows.
 *
 *   vfmadd231ps zmm     16 multiply-adds, two uops a cycle on ports 0 and 5: 24 per step, 12 cycles
 *   vbroadcastss, load  12 of A and 2 of B per step: 7 cycles on two load ports
 *
 * 12 rows by two vectors are 24 sums in registers. Every sum is the chain that qrt/products/float_matmul.h defines, so
 * the bits are those of ref. Hazards: memory may end behind a row, so the last columns are masked; a register of a sum
 * must not move, see multiply_add. */
#include <immintrin.h>
#include <math.h>

#define OP(name) _mm512_##name
#define WIDTH 16
#define TILE_ROWS 12
#define SHORT_ROWS 4
#define load_live(from, valid) _mm512_maskz_loadu_ps(valid, from)
#define store_live(to, value, valid) _mm512_mask_storeu_ps(to, valid, value)
#define with_one_nan(value) _mm512_mask_mov_ps(value, unordered(value, value), _mm512_set1_ps(NAN))
#define unordered(a, b) _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q)
#define either(a, b) ((flags)((a) | (b)))
#define holds(some) (some)

typedef __m512 vector;
typedef __mmask16 mask;
typedef __mmask16 flags;

static inline mask live(int64_t left) {
    return (mask)(left >= 16 ? 0xffff : left > 0 ? (1 << left) - 1 : 0);
}

/* Written in assembly so that the sum stays in its register: see gemm.c. */
static inline vector multiply_add(vector sum, vector a, vector b) {
    __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

#include "isa/x86/float_matmul/tile.inl"
#include "isa/x86/float_matmul/short.inl"

void avx512_float_tile(const float *a, const float *b, int64_t steps, int rows, float *sums) {
    some_rows(a, b, steps, rows, sums);
}
