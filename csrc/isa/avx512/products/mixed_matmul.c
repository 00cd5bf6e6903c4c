/* Rows of floats by quantized weights: the tiles of mixed_matmul/tile.inl in 512 bits, which has their instructions,
 * ports, proof and hazards. The parent turns rows into digits. */
#include <immintrin.h>

#define OP(name) _mm512_##name
#define SI(name) _mm512_##name##_si512
#define HALF(name) _mm256_##name##_si256
#define LANES 16

typedef __m512i vector;
typedef __m512 floats;

#include "isa/x86/mixed_matmul/tile.inl"
