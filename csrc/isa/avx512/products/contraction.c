/* Contractions in float32.
 *
 *   vfmadd231ps zmm     16 multiply-adds, two uops a cycle on ports 0 and 5: 24 per step, 12 cycles
 *   vbroadcastss, load  6 of a and 4 of b per step, and an offset: 6 cycles on two load ports
 *
 * 6 rows by four vectors are 24 sums in registers, more than the 8 that hide a latency of 4 cycles. Where a differs
 * between columns it is loaded once for each multiply-add, so that a step of 24 takes 14 cycles. */
#include "isa/avx512/floats.h"

#define TILE_VECTORS 4
#include "isa/x86/contraction/tile.inl"
