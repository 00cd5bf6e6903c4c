/* The steps of loop nests in float32: each is one instruction or a few, which IEEE 754 defines, on blocks that stay in
 * L1. Two loads and a store take a cycle, and so do two additions or multiplications. Flags are masks while they are
 * used, and lanes of all bits or none in registers of the nest. */
#include "isa/avx512/floats.h"

#define blend(flags, no, yes) _mm512_mask_mov_ps(no, flags, yes)
#define spread(flags) _mm512_castsi512_ps(_mm512_movm_epi32(flags))
#define set_in(vector) _mm512_movepi32_mask(_mm512_castps_si512(vector))
#define compare _mm512_cmp_ps_mask
#define rounded _mm512_roundscale_ps

#include "isa/x86/float_loops/steps.inl"
