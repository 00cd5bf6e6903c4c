#include "ref.h"

void qrt_init_ref(qrt_kernels *table);

void qrt_init_ref(qrt_kernels *table) {
    table->qcast_row = ref_qcast_row;
    table->dcast_row = ref_dcast_row;
    table->requantize_row = ref_requantize_row;
    table->gemm = ref_gemm;
    table->store = ref_store_tile;
    table->store_wide = ref_store_wide;
    table->wide_row = ref_wide_row;
    table->block_row = ref_block_row;
    table->depthwise_pixel = ref_depthwise_pixel;
    table->depthwise_wide_pixel = ref_depthwise_wide_pixel;
    table->binary_row = ref_binary_row;
    table->clamp_row = ref_clamp_row;
    table->lookup_row = ref_lookup_row;
    table->avg_pool_pixel = ref_avg_pool_pixel;
    table->max_pool_pixel = ref_max_pool_pixel;
    table->mean_row = ref_mean_row;
    table->softmax_line = ref_softmax_line;
    table->pack_bits_row = ref_pack_bits_row;
    table->unpack_bits_row = ref_unpack_bits_row;
    table->float_rows = ref_float_rows;
    table->float_tile = ref_float_tile;
    table->float_axpy = ref_float_axpy;
    table->float_tree = ref_float_tree;
    table->float_short = ref_float_short;
    table->mixed_row = ref_mixed_row;
    table->mixed_tile = ref_mixed_tile;
}
