/* Contractions in float32.
 *
 *   vfmadd231ps ymm     8 multiply-adds, two uops a cycle on ports 0 and 1: 12 per step, 6 cycles
 *   vbroadcastss, load  6 of a and 2 of b per step, and an offset: 5 cycles on two load ports
 *
 * 6 rows by two vectors are 12 sums in registers, more than the 8 that hide a latency of 4 cycles. Where a differs
 * between columns it is loaded once for each multiply-add, so that a step of 12 takes 8 cycles. */
#include "isa/avx2/floats.h"

#define TILE_VECTORS 2
#include "isa/x86/contraction/tile.inl"
