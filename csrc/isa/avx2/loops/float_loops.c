/* The steps of loop nests in float32: each is one instruction or a few, which IEEE 754 defines, on blocks that stay in
 * L1. Two loads and a store take a cycle, and so do two additions or multiplications. */
#include "isa/avx2/floats.h"

#define blend(flags, no, yes) _mm256_blendv_ps(no, yes, flags)
#define spread(flags) (flags)
#define set_in(vector) (vector)
#define compare _mm256_cmp_ps
#define rounded _mm256_round_ps

#include "isa/x86/float_loops/steps.inl"
