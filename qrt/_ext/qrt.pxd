"""csrc/include/qrt."""

from libc.stdint cimport int16_t, int32_t, int64_t, uint64_t


cdef extern from "qrt/qrt.h" nogil:
    enum:
        QRT_MAX_RANK
        QRT_MAX_OPERANDS
        QRT_PARAMETER_PADDING

    ctypedef enum qrt_status:
        QRT_OK, QRT_NO_MEMORY, QRT_BAD_ARGUMENT, QRT_INDEX_OUT_OF_RANGE, QRT_QUOTIENT_OUT_OF_RANGE
        QRT_NO_INTEGER, QRT_TOO_MANY_ROUNDS, QRT_TOO_MANY_STEPS, QRT_PAUSED
    ctypedef enum qrt_container:
        QRT_I8, QRT_U8, QRT_I16, QRT_U16, QRT_I32, QRT_U32
    ctypedef enum qrt_expressed:
        QRT_F16, QRT_BF16, QRT_F32, QRT_F64
    ctypedef enum qrt_rounding:
        QRT_HALF_EVEN, QRT_HALF_AWAY, QRT_TOWARD_ZERO
    ctypedef enum qrt_zero_point_order:
        QRT_ZERO_POINT_BEFORE, QRT_ZERO_POINT_AFTER
    ctypedef enum qrt_scale_mode:
        QRT_SCALE_DIVIDE, QRT_SCALE_RECIPROCAL
    ctypedef enum qrt_rule:
        QRT_FIXED, QRT_FLOAT32
    enum:
        QRT_RULES
    const char *qrt_rule_names[]
    ctypedef enum qrt_bias_kind:
        QRT_BIAS_NONE, QRT_BIAS_I32, QRT_BIAS_I64, QRT_BIAS_F32
    ctypedef enum qrt_binary_kind:
        QRT_ADD, QRT_SUB, QRT_MUL
    ctypedef enum qrt_pair_kind:
        QRT_MAXIMUM, QRT_MINIMUM, QRT_PRELU, QRT_TABLE_OF_PAIRS

    ctypedef struct qrt_gemm_microkernel:
        const char *name
        const qrt_gemm_microkernel *fallback

    ctypedef struct qrt_kernels:
        const char *name
        const qrt_gemm_microkernel *gemm

    ctypedef struct qrt_scratch:
        void **operands
        int threads

    ctypedef qrt_status (*qrt_entry)(const void *args, qrt_scratch *scratch)

    ctypedef struct qrt_layout:
        int rank
        int64_t shape[QRT_MAX_RANK]
        int64_t block[QRT_MAX_RANK]
        int64_t step[QRT_MAX_RANK]

    qrt_status qrt_layout_prepare(qrt_layout *layout, int64_t *a_strides, int64_t *b_strides)

    ctypedef struct qrt_requant:
        qrt_rule rule
        qrt_container container
        int64_t storage_min, storage_max
        const int32_t *multiplier
        const int32_t *shift
        const float *scale_f32
        const float *offset_f32
        const float *divisor_f32
        const double *scale_f64
        const int64_t *zero_point
        const int32_t *zero_point_i32
        int32_t shift_min, shift_max

    ctypedef struct qrt_cast_problem:
        qrt_layout layout
        qrt_expressed expressed
        qrt_container container
        int64_t storage_min, storage_max
        qrt_rounding rounding
        qrt_zero_point_order zero_point_order
        qrt_scale_mode scale_mode
        const double *scale
        const int64_t *zero_point

    ctypedef struct qrt_cast_plan:
        bint finite_zero_points
        double scale_least, scale_most
        const float *scale_f32
        const float *reciprocal_f32
        const float *zero_point_f32
        const int32_t *zero_point_i32
        const double *reciprocal_f64
        const double *rounded_zero_point_f64
        const double *zero_point_f64

    ctypedef struct qrt_cast_args:
        const qrt_kernels *kernels
        qrt_cast_problem problem
        qrt_cast_plan plan

    ctypedef struct qrt_window:
        int64_t images, height, width, channels
        int64_t out_height, out_width
        int64_t kernel[2]
        int64_t strides[2]
        int64_t dilations[2]
        int64_t padding[2]
        int64_t groups

    enum:
        QRT_MAX_PACKED_PARTS, QRT_STORED_ALIGNMENT

    ctypedef struct qrt_stored:
        const char *data
        int64_t bytes, used

    ctypedef struct qrt_packed_part:
        const void *data
        int64_t bytes

    int64_t qrt_stored_bytes(int64_t bytes)

    ctypedef struct qrt_gemm_args

    ctypedef struct qrt_gemm_problem:
        qrt_container a, b
        int64_t batch, m, n, k
        const int64_t *a_index
        const int64_t *b_index
        int64_t a_matrices, b_matrices
        int64_t a_row_stride, b_k_stride, b_n_stride, out_row_stride
        int64_t a_matrix_stride, b_matrix_stride, out_matrix_stride
        const int64_t *a_zero_point
        const int64_t *b_zero_point
        int64_t a_zero_point_steps[2]
        int64_t b_zero_point_steps[3]
        qrt_requant requant
        int64_t requant_steps[3]
        const void *b_constant
        qrt_bias_kind bias
        const void *bias_constant
        int64_t bias_batch_step
        int64_t k_block
        const float *block_scale
        const int64_t *block_multiplier
        const int64_t *bias_multiplier
        const qrt_window *window
        const qrt_gemm_args *earlier
        const qrt_gemm_microkernel *microkernel
        qrt_stored *stored

    ctypedef struct qrt_gemm_plan:
        const qrt_gemm_microkernel *microkernel
        int64_t bias_limit
        bint bias_fits

    ctypedef struct qrt_gemm_args:
        const qrt_kernels *kernels
        qrt_gemm_problem problem
        qrt_gemm_plan plan

    qrt_status qrt_gemm_prepare(qrt_gemm_args *args)
    void qrt_gemm_release(void *args)
    int qrt_gemm_packed(const void *args, qrt_packed_part *to)
    bint qrt_gemm_reads_b(const qrt_gemm_args *args)
    bint qrt_gemm_packs(const qrt_gemm_args *args)

    ctypedef struct qrt_product:
        int64_t m, n, k
        const void *w_constant
        bint bias
        const float *bias_constant
        qrt_stored *stored

    ctypedef struct qrt_float_matmul_args:
        const qrt_kernels *kernels
        qrt_product problem

    qrt_status qrt_float_matmul_prepare(qrt_float_matmul_args *args)
    void qrt_float_matmul_release(void *args)
    void qrt_float_matmul_share(void *args, const void *panels)
    int qrt_float_matmul_packed(const void *args, qrt_packed_part *to)

    enum:
        QRT_CONTRACTION_RANK
        QRT_CONTRACTION_OPERANDS

    ctypedef struct qrt_contraction_problem:
        int batches, rows, depth
        int64_t extent[QRT_CONTRACTION_RANK]
        int64_t stride[QRT_CONTRACTION_OPERANDS][QRT_CONTRACTION_RANK]
        int64_t offset[QRT_CONTRACTION_OPERANDS]
        bint fused, integers
        const float *b_constant
        const float *init_constant
        qrt_stored *stored

    ctypedef struct qrt_contraction_args:
        const qrt_kernels *kernels
        qrt_contraction_problem problem

    qrt_status qrt_contraction_prepare(qrt_contraction_args *args)
    void qrt_contraction_release(void *args)
    int qrt_contraction_packed(const void *args, qrt_packed_part *to)

    enum:
        QRT_LOOPS_RANK
        QRT_LOOPS_REGISTERS
        QRT_STEP_ADD_F64
        QRT_STEP_I64_OF_F64
        QRT_STEP_CODES

    ctypedef enum qrt_loops_type:
        QRT_LOOPS_F32, QRT_LOOPS_BOOL, QRT_LOOPS_I8, QRT_LOOPS_I16, QRT_LOOPS_I32, QRT_LOOPS_F64, QRT_LOOPS_I64

    ctypedef struct qrt_loops_step:
        int code, to, a, b, c

    ctypedef struct qrt_loops_operand:
        qrt_loops_type type
        int reg
        int64_t stride[QRT_LOOPS_RANK]
        int64_t offset
        bint once
        const void *constant

    ctypedef struct qrt_float_loops_args:
        const qrt_kernels *kernels
        int kept, reduced
        int64_t extent[QRT_LOOPS_RANK]
        int reads, writes
        const qrt_loops_operand *operand
        int steps
        const qrt_loops_step *step
        bint is_wide
        int registers, values
        const float *value

    ctypedef struct qrt_mixed_problem:
        qrt_product product
        bint nibbles
        qrt_container w
        int64_t k_block
        bint shared
        const float *scale
        const int32_t *zero_point
        const float *k_scale
        const int32_t *k_zero_point

    ctypedef struct qrt_mixed_matmul_args:
        const qrt_kernels *kernels
        qrt_mixed_problem problem

    qrt_status qrt_mixed_matmul_prepare(qrt_mixed_matmul_args *args)
    void qrt_mixed_matmul_release(void *args)
    void qrt_mixed_matmul_share(void *args, const void *panels)
    int qrt_mixed_matmul_packed(const void *args, qrt_packed_part *to)

    ctypedef struct qrt_depthwise_problem:
        qrt_window window
        int64_t out_channels, multiplier
        qrt_container x, w
        int64_t w_tap_step, w_channel_step
        const int64_t *x_zero_point
        const int64_t *w_zero_point
        int64_t w_zero_point_step
        qrt_requant requant
        int64_t requant_step
        const void *w_constant
        qrt_bias_kind bias
        const void *bias_constant
        qrt_stored *stored

    ctypedef struct qrt_depthwise_args:
        const qrt_kernels *kernels
        qrt_depthwise_problem problem

    qrt_status qrt_depthwise_prepare(qrt_depthwise_args *args)
    void qrt_depthwise_release(void *args)
    int qrt_depthwise_packed(const void *args, qrt_packed_part *to)

    ctypedef struct qrt_binary_args:
        const qrt_kernels *kernels
        qrt_layout layout
        qrt_binary_kind kind
        qrt_container a, b
        int64_t a_strides[QRT_MAX_RANK]
        int64_t b_strides[QRT_MAX_RANK]
        const int64_t *a_zero_point
        const int64_t *b_zero_point
        const int64_t *a_multiplier
        const int64_t *b_multiplier
        const int32_t *a_shift
        const int32_t *b_shift
        int left_shift
        const float *a_scale
        const float *b_scale
        int block
        qrt_requant requant

    ctypedef struct qrt_pair_args:
        const qrt_kernels *kernels
        qrt_layout layout
        qrt_pair_kind kind
        qrt_container a, b, out
        int64_t a_strides[QRT_MAX_RANK]
        int64_t b_strides[QRT_MAX_RANK]
        const void *table
        int64_t a_zero_point, b_zero_point
        qrt_requant requant

    ctypedef struct qrt_transpose_conv_phase:
        const qrt_gemm_args *conv
        int64_t row, column, rows, columns
        int64_t conv_rows, conv_columns

    ctypedef struct qrt_transpose_conv_args:
        const qrt_kernels *kernels
        int64_t images, height, width, channels
        int64_t out_height, out_width, out_channels
        int64_t kernel[2]
        int64_t strides[2]
        int64_t padding[2]
        qrt_container x, w
        const int64_t *x_zero_point
        const int64_t *w_zero_point
        int64_t w_zero_point_step
        qrt_requant requant
        int64_t requant_step
        const void *w_constant
        qrt_bias_kind bias
        const void *bias_constant
        const qrt_transpose_conv_phase *phases
        int phase_count

    ctypedef struct qrt_unary_args:
        const qrt_kernels *kernels
        qrt_layout layout
        qrt_container container, out
        const int64_t *zero_point
        qrt_requant requant
        const int64_t *lower
        const int64_t *upper
        int width
        const void *table
        int fraction
        const int16_t *entries
        const void *tail_table
        int block

    ctypedef struct qrt_mean_args:
        const qrt_kernels *kernels
        qrt_container container
        qrt_layout layout
        int64_t x_strides[QRT_MAX_RANK]
        int reduced_rank
        int64_t reduced_shape[QRT_MAX_RANK]
        int64_t reduced_strides[QRT_MAX_RANK]
        int64_t count
        const int64_t *zero_point
        qrt_requant requant

    ctypedef enum qrt_softmax_rule:
        QRT_SOFTMAX_INT32, QRT_SOFTMAX_FLOAT32, QRT_SOFTMAX_GEMMLOWP, QRT_SOFTMAX_INT16
        QRT_SOFTMAX_SHIFTED
        QRT_LOG_SOFTMAX_FLOAT32, QRT_LOG_SOFTMAX_GEMMLOWP

    ctypedef struct qrt_softmax_args:
        const qrt_kernels *kernels
        qrt_softmax_rule rule
        int64_t outer, size, inner
        qrt_container container
        const int32_t *table
        const float *table_f32
        const int32_t *scaled
        const int16_t *exponential
        const int16_t *reciprocal
        int32_t multiplier, shift
        int64_t radius
        qrt_container out
        int64_t storage_min, storage_max, zero_point
        double scale
        float input_scale

    ctypedef struct qrt_lstm_gate:
        int w, r, bias, peephole, norm
        int32_t multiplier[4]
        int32_t shift[4]
        int32_t least_variance

    ctypedef struct qrt_lstm_args:
        const qrt_kernels *kernels
        int64_t steps, batch, inputs, cells, values
        bint time_major
        int64_t x_zero_point, hidden_zero_point, made_zero_point, result_zero_point
        qrt_lstm_gate gate[4]
        int hidden, first_result, projection, projection_bias
        int32_t multiplier[2]
        int32_t shift[2]
        int cell_exponent
        int64_t cell_clip
        int64_t projection_clip

    ctypedef struct qrt_svdf_args:
        const qrt_kernels *kernels
        int64_t batch, inputs, units, rank, memory
        bint has_bias
        int64_t x_zero_point, result_zero_point
        int32_t multiplier[2]
        int32_t shift[2]

    ctypedef struct qrt_dynamic_weights:
        qrt_gemm_args gemm
        const float *scales

    ctypedef struct qrt_dynamic_matmul_args:
        const qrt_kernels *kernels
        int64_t rows, depth, columns
        qrt_dynamic_weights w

    ctypedef struct qrt_dynamic_lstm_args:
        const qrt_kernels *kernels
        int64_t steps, batch, inputs, cells
        bint reverse
        qrt_dynamic_weights w, r

    ctypedef enum qrt_sum_order: QRT_ROWS, QRT_COLUMNS, QRT_LANES

    ctypedef struct qrt_pool_args:
        const qrt_kernels *kernels
        qrt_window window
        qrt_container container
        const int64_t *zero_point
        int64_t zero_point_step
        qrt_requant requant
        int64_t count_step, channel_step
        qrt_sum_order order

    ctypedef struct qrt_copy_part:
        int rank, itemsize
        int64_t shape[QRT_MAX_RANK]
        int64_t source_strides[QRT_MAX_RANK]
        int64_t target_strides[QRT_MAX_RANK]
        int64_t source_offset, target_offset
        const void *constant

    ctypedef struct qrt_copy_args:
        int parts
        const qrt_copy_part *part

    ctypedef struct qrt_slice_args:
        qrt_copy_part part
        bint inserts
        int64_t bytes
        int axes
        int64_t most[QRT_MAX_RANK]
        int64_t strides[QRT_MAX_RANK]

    ctypedef struct qrt_bits_args:
        const qrt_kernels *kernels
        qrt_container container
        int width
        int64_t rows, columns

    ctypedef enum qrt_number:
        QRT_NUMBER_I8, QRT_NUMBER_U8, QRT_NUMBER_I16, QRT_NUMBER_U16, QRT_NUMBER_I32, QRT_NUMBER_U32, QRT_NUMBER_I64
        QRT_NUMBER_F32, QRT_NUMBER_F64
    ctypedef enum qrt_resize_rule:
        QRT_FIXED11, QRT_FIXED10_AWAY, QRT_PRODUCTS_F32, QRT_LINES_F32

    ctypedef struct qrt_gather_args:
        int64_t batches, outer, count, inner_bytes
        int columns
        int64_t sizes[QRT_MAX_RANK]
        bint wide
        const void *indices

    ctypedef struct qrt_extremum_args:
        const qrt_kernels *kernels
        qrt_number number
        bint least
        int index_bytes
        int rank
        int64_t shape[QRT_MAX_RANK]
        int64_t strides[QRT_MAX_RANK]
        int reduced_rank
        int64_t reduced_shape[QRT_MAX_RANK]
        int64_t reduced_strides[QRT_MAX_RANK]
        int64_t total, count

    ctypedef struct qrt_top_k_args:
        const qrt_kernels *kernels
        qrt_number number
        int64_t rows, size, k

    ctypedef struct qrt_resize_axis:
        const int64_t *low
        const int64_t *high
        const int64_t *weight
        const float *weight_f32

    ctypedef struct qrt_resize_args:
        const qrt_kernels *kernels
        qrt_number number
        qrt_resize_rule rule
        int64_t images, height, width, channels, out_height, out_width
        qrt_resize_axis rows, columns

    ctypedef enum qrt_plain_element:
        QRT_PLAIN_BOOL, QRT_PLAIN_8, QRT_PLAIN_16, QRT_PLAIN_32, QRT_PLAIN_64
    ctypedef enum qrt_plain_kind:
        QRT_PLAIN_ADD, QRT_PLAIN_SUB, QRT_PLAIN_MUL, QRT_PLAIN_AND, QRT_PLAIN_OR, QRT_PLAIN_XOR
        QRT_PLAIN_MAX, QRT_PLAIN_MIN, QRT_PLAIN_MAX_U, QRT_PLAIN_MIN_U
        QRT_PLAIN_DIVIDE, QRT_PLAIN_FLOOR_DIVIDE, QRT_PLAIN_REMAINDER
        QRT_PLAIN_EQUAL, QRT_PLAIN_NOT_EQUAL, QRT_PLAIN_LESS, QRT_PLAIN_LESS_EQUAL
        QRT_PLAIN_LESS_U, QRT_PLAIN_LESS_EQUAL_U
        QRT_PLAIN_SELECT, QRT_PLAIN_CAST, QRT_PLAIN_CAST_U

    ctypedef struct qrt_plain_args:
        const qrt_kernels *kernels
        qrt_plain_kind kind
        qrt_plain_element element, out
        bint swapped
        int64_t count
        int64_t strides[3]

    qrt_status qrt_plain(const void *args, qrt_scratch *scratch)
    qrt_status qrt_plain_select(const void *args, qrt_scratch *scratch)
    qrt_status qrt_plain_cast(const void *args, qrt_scratch *scratch)
    qrt_status qrt_cast_prepare(qrt_cast_args *args)
    qrt_status qrt_qcast(const void *args, qrt_scratch *scratch)
    qrt_status qrt_dcast(const void *args, qrt_scratch *scratch)
    qrt_status qrt_requantize(const void *args, qrt_scratch *scratch)
    qrt_status qrt_gemm(const void *args, qrt_scratch *scratch)
    qrt_status qrt_float_matmul(const void *args, qrt_scratch *scratch)
    qrt_status qrt_mixed_matmul(const void *args, qrt_scratch *scratch)
    qrt_status qrt_contraction(const void *args, qrt_scratch *scratch)
    qrt_status qrt_float_loops(const void *args, qrt_scratch *scratch)
    qrt_status qrt_depthwise_conv2d(const void *args, qrt_scratch *scratch)
    qrt_status qrt_binary(const void *args, qrt_scratch *scratch)
    qrt_status qrt_pair(const void *args, qrt_scratch *scratch)
    qrt_status qrt_leaky_relu(const void *args, qrt_scratch *scratch)
    qrt_status qrt_transpose_conv2d(const void *args, qrt_scratch *scratch)
    qrt_status qrt_clamp(const void *args, qrt_scratch *scratch)
    qrt_status qrt_lookup(const void *args, qrt_scratch *scratch)
    qrt_status qrt_lookup_interpolated(const void *args, qrt_scratch *scratch)
    qrt_status qrt_mean(const void *args, qrt_scratch *scratch)
    qrt_status qrt_softmax(const void *args, qrt_scratch *scratch)
    qrt_status qrt_lstm(const void *args, qrt_scratch *scratch)
    qrt_status qrt_svdf(const void *args, qrt_scratch *scratch)
    qrt_status qrt_dynamic_matmul_prepare(qrt_dynamic_matmul_args *args, qrt_stored *stored)
    void qrt_dynamic_matmul_release(void *args)
    int qrt_dynamic_matmul_packed(const void *args, qrt_packed_part *to)
    qrt_status qrt_dynamic_matmul(const void *args, qrt_scratch *scratch)
    qrt_status qrt_dynamic_lstm_prepare(qrt_dynamic_lstm_args *args, qrt_stored *stored)
    void qrt_dynamic_lstm_release(void *args)
    int qrt_dynamic_lstm_packed(const void *args, qrt_packed_part *to)
    qrt_status qrt_dynamic_lstm(const void *args, qrt_scratch *scratch)
    qrt_status qrt_avg_pool2d(const void *args, qrt_scratch *scratch)
    qrt_status qrt_max_pool2d(const void *args, qrt_scratch *scratch)
    qrt_status qrt_gather(const void *args, qrt_scratch *scratch)
    qrt_status qrt_extremum(const void *args, qrt_scratch *scratch)
    qrt_status qrt_top_k(const void *args, qrt_scratch *scratch)
    qrt_status qrt_resize_bilinear(const void *args, qrt_scratch *scratch)
    qrt_status qrt_copy(const void *args, qrt_scratch *scratch)
    qrt_status qrt_slice(const void *args, qrt_scratch *scratch)
    qrt_status qrt_pack_bits(const void *args, qrt_scratch *scratch)
    qrt_status qrt_unpack_bits(const void *args, qrt_scratch *scratch)

    ctypedef struct qrt_isa:
        const char *name
        const char *parent
        const qrt_kernels *rows

    const qrt_isa *qrt_isa_at(int index)
    const qrt_kernels *qrt_kernels_at(int index)
    const qrt_kernels *qrt_kernels_named(const char *name)
    const char *qrt_row_name(int row)
    bint qrt_row_differs(const qrt_kernels *kernels, const qrt_kernels *other, int row)
    const char *qrt_status_text(qrt_status status)

    ctypedef enum qrt_step_kind:
        QRT_CALL, QRT_ROUND, QRT_UNLESS, QRT_JUMP

    ctypedef struct qrt_step:
        qrt_entry entry
        const void *args
        int64_t first
        qrt_step_kind kind
        int64_t target
        int64_t cost

    ctypedef struct qrt_progress:
        void **pointers
        int threads
        double *seconds
        int64_t *rounds
        int64_t most_rounds
        int64_t steps
        int64_t at

    qrt_status qrt_run(const qrt_step *steps, int64_t count, qrt_progress *run)

    uint64_t qrt_checksum(const void *data, int64_t bytes)

    int qrt_get_num_threads()
    void qrt_set_num_threads(int threads)
