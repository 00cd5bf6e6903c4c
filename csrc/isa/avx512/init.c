/* The rows of AVX-512. All others are its parent's. */
#include "isa/rows.h"

const qrt_kernels avx512_rows = {
    .gemm = &avx512_gemm,
    .depthwise = &avx512_depthwise,
    .qcast_row = avx512_qcast_row,
    .dcast_row = avx512_dcast_row,
    .store = avx512_store,
    .binary_row = avx512_binary_row,
    .pair_row = avx512_pair_row,
    .leaky_relu_row = avx512_leaky_relu_row,
    .lookup_row = avx512_lookup_row,
    .dynamic_range = avx512_dynamic_range,
    .dynamic_storage = avx512_dynamic_storage,
    .dynamic_scale = avx512_dynamic_scale,
    .dynamic_cells = avx512_dynamic_cells,
    .resize_row = avx512_resize_row,
    .pack_bits_row = avx512_pack_bits_row,
    .unpack_bits_row = avx512_unpack_bits_row,
    .float_tile = avx512_float_tile,
    .float_axpy = avx512_float_axpy,
    .float_tree = avx512_float_tree,
    .float_short = avx512_float_short,
    .contraction_tile = avx512_contraction_tile,
    .float_steps = avx512_float_steps,
    .mixed_tile = avx512_mixed_tile,
};
