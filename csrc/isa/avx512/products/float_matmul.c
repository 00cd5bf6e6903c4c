/* Dot products in float32. The parent's float_rows packs rows.
 *
 *   vfmadd231ps zmm     16 multiply-adds, two uops a cycle on ports 0 and 5: 24 per step, 12 cycles
 *   vbroadcastss, load  12 of A and 2 of B per step: 7 cycles on two load ports
 *
 * 12 rows by two vectors are 24 sums in registers. Every sum is the chain that qrt/products/float_matmul.h defines, so
 * the bits are those of ref. Hazards: memory may end behind a row, so the last columns are masked; a register of a sum
 * must not move, see multiply_add. */
#include "isa/avx512/floats.h"

#define TILE_ROWS 12
#define SHORT_ROWS 4

#include "isa/x86/float_matmul/tile.inl"
#include "isa/x86/float_matmul/short.inl"

void avx512_float_tile(const float *a, const float *b, int64_t steps, int rows, float *sums) {
    some_rows(a, b, steps, rows, sums);
}
