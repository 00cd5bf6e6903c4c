/* Products of float32 rows and quantized weights: this file packs the weights and shares columns and rows among
 * threads. The arithmetic is in the rows mixed_row and mixed_tile. */
#include <math.h>

#include "core/float_control.h"
#include "core/product.h"
#include "qrt/products/mixed_matmul.h"

#define MR QRT_MIXED_MR
/* A block of rows, as digits, stays in L2 while panels pass by: its bytes, and its rows at most. */
#define BLOCK_BYTES (512 * 1024)
#define MC 64
/* Bytes of w that a task packs; all its rows use them. */
#define PACK_BYTES (1024 * 1024)
/* The largest |256 * digit + digit|. */
#define LARGEST_LOW (128 * 257)
/* Constant weights whose panels take more bytes than this are packed by each task, and not while they are bound: each
 * of short pieces takes a vector and parameters, in blocks of one value eight times as much as their weights. */
#define MOST_PACKED(weights) ((weights) + (weights) / 4 + 32 * 1024)

/* ---- binding ---- */

/* Packed weights are unsigned. Signed weights and their zero points are moved by this. */
static int32_t moved_by(const qrt_mixed_matmul_args *args) {
    return args->problem.w == QRT_U8 ? 0 : args->problem.nibbles ? 8 : 128;
}

/* Packs four or eight rows of w into one vector for each 16 columns. Past the end of the piece the first row stands in
 * again: digits are 0 there. */
static void pack_vector(const qrt_mixed_matmul_args *args, const uint8_t *w, int64_t rows, int64_t columns,
                        uint8_t *first, uint8_t *second) {
    const int count = args->problem.nibbles ? 8 : 4;
    const uint32_t flips = args->problem.w == QRT_U8 ? 0 : args->problem.nibbles ? 0x88888888 : 0x80808080;
    uint8_t row[8][NR] = {0};
    uint32_t words[NR];
    for (int i = 0; i < count; i++)
        memcpy(row[i], w + (i < rows ? i : 0) * args->problem.product.n, (size_t)columns);
    if (args->problem.nibbles)
        for (int i = 0; i < 4; i++)
            for (int c = 0; c < NR; c++)
                row[i][c] = (uint8_t)((row[i][c] & 15) | row[i + 4][c] << 4);
    for (int c = 0; c < NR; c++)
        words[c] =
            (row[0][c] | (uint32_t)row[1][c] << 8 | (uint32_t)row[2][c] << 16 | (uint32_t)row[3][c] << 24) ^ flips;
    memcpy(first, words, 64);
    memcpy(second, words + 16, 64);
}

/* Writes the parameters of a panel's columns. Columns past the end of w get the scale 0. */
static void pack_parameters(const qrt_mixed_matmul_args *args, const float *scale, const int32_t *zero_point,
                            int64_t columns, uint8_t *to) {
    float floats[NR] = {0};
    uint16_t halves[NR];
    int16_t zero_points[NR] = {0};
    const bool shared = args->problem.shared;
    for (int64_t c = 0; c < columns; c++)
        floats[c] = scale[shared ? 0 : c];
    for (int c = 0; c < NR; c++)
        halves[c] = qrt_half_bits(floats[c]);
    const size_t bytes = args->plan.half_scales ? sizeof halves : sizeof floats;
    memcpy(to, args->plan.half_scales ? (const void *)halves : floats, bytes);
    if (!args->plan.zero_points_differ)
        return;
    for (int64_t c = 0; c < columns; c++)
        zero_points[c] = (int16_t)(zero_point[shared ? 0 : c] + moved_by(args));
    memcpy(to + bytes, zero_points, sizeof zero_points);
}

static void pack_panel(const qrt_mixed_matmul_args *args, const uint8_t *w, int64_t panel, uint8_t *to) {
    const int64_t column = panel * NR, columns = qrt_min(NR, args->problem.product.n - column);
    const int64_t per_vector = args->problem.nibbles ? 8 : 4;
    const int64_t step = args->problem.shared ? 1 : args->problem.product.n;
    const float *scale = args->problem.scale + (args->problem.shared ? 0 : column);
    const int32_t *zero_point = args->problem.zero_point + (args->problem.shared ? 0 : column);
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        const int64_t vectors = qrt_piece_vectors(args->problem.nibbles, piece.length);
        for (int64_t v = 0; v < vectors; v++)
            pack_vector(args, w + (piece.k + v * per_vector) * args->problem.product.n + column,
                        piece.length - v * per_vector, columns, to + v * 64, to + (vectors + v) * 64);
        pack_parameters(args, scale, zero_point, columns, to + 2 * 64 * vectors);
        to += qrt_piece_bytes(args, piece.length);
        if (piece.length == piece.block) {
            scale += step;
            zero_point += step;
        }
    }
}

static void pack_panels(const qrt_mixed_matmul_args *args, const uint8_t *w, int64_t first, int64_t end, uint8_t *to) {
    for (int64_t panel = first; panel < end; panel++, to += args->plan.panel_bytes)
        pack_panel(args, w, panel, to);
}

static int64_t parameter_count(const qrt_mixed_matmul_args *args) {
    const int64_t blocks = qrt_max(1, qrt_ceil_div(args->problem.product.k, args->problem.k_block));
    return args->problem.shared ? blocks : blocks * args->problem.product.n;
}

static bool all_are_halves(const float *scale, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!(fabsf(scale[i]) <= 65504) || qrt_half_value(qrt_half_bits(scale[i])) != scale[i])
            return false;
    return true;
}

/* Derives the form in which parameters are packed, and the sizes of panels and rows of digits. */
static void plan_packing(qrt_mixed_matmul_args *args) {
    const qrt_mixed_problem *problem = &args->problem;
    qrt_mixed_plan *plan = &args->plan;
    const int64_t count = parameter_count(args), highest = problem->nibbles ? 15 : 255;
    int64_t largest = 0; /* the largest |q - zero point| */
    plan->half_scales = all_are_halves(problem->scale, count);
    for (int64_t i = 0; i < count; i++) {
        const int64_t zero_point = problem->zero_point[i] + moved_by(args);
        largest = qrt_max(largest, qrt_max(zero_point, highest - zero_point));
        plan->zero_points_differ |= problem->zero_point[i] != problem->zero_point[0];
    }
    plan->common_zero_point = count ? problem->zero_point[0] + moved_by(args) : 0;
    /* Zero points along K may add up to 65535 to such a sum: see subtract_zero_points. */
    plan->low_fits = qrt_min(problem->k_block, QRT_PIECE) * LARGEST_LOW * largest < 1 << 24 && !problem->k_zero_point;
    plan->row_bytes = 64;
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        plan->panel_bytes += qrt_piece_bytes(args, piece.length);
        plan->row_bytes += qrt_piece_digits_bytes(problem->nibbles, piece.length);
    }
    plan->row_bytes = qrt_round_up(plan->row_bytes, QRT_ALIGNMENT);
}

qrt_status qrt_mixed_matmul_prepare(qrt_mixed_matmul_args *args) {
    const qrt_product *product = &args->problem.product;
    if (product->n == 0) /* without columns, K may be too large to allocate anything for */
        return QRT_OK;
    plan_packing(args);
    if (!product->w_constant)
        return QRT_OK;
    const int64_t panels = qrt_product_panels(product), bytes = panels * args->plan.panel_bytes;
    args->plan.panels = qrt_take_stored(product->stored, bytes);
    args->plan.stored = args->plan.panels;
    if (args->plan.stored || bytes > MOST_PACKED(panels * NR * product->k))
        return QRT_OK;
    uint8_t *packed = qrt_aligned_alloc((size_t)bytes);
    if (!packed)
        return QRT_NO_MEMORY;
    qrt_advise_huge_pages(packed, (size_t)bytes);
    memset(packed, 0, (size_t)bytes); /* what is saved has no bytes of other memory */
    pack_panels(args, product->w_constant, 0, panels, packed);
    args->plan.panels = packed;
    return QRT_OK;
}

int qrt_mixed_matmul_packed(const void *pointer, qrt_packed_part *to) {
    const qrt_mixed_matmul_args *args = pointer;
    if (!args->plan.panels)
        return 0;
    to[0] = (qrt_packed_part){args->plan.panels, qrt_product_panels(&args->problem.product) * args->plan.panel_bytes};
    return 1;
}

void qrt_mixed_matmul_share(void *pointer, const void *panels) {
    qrt_mixed_matmul_args *args = pointer;
    qrt_mixed_matmul_release(args);
    args->plan.panels = panels;
    args->plan.stored = true;
}

void qrt_mixed_matmul_release(void *pointer) {
    qrt_mixed_matmul_args *args = pointer;
    if (!args->plan.stored)
        qrt_aligned_free((void *)args->plan.panels);
    args->plan.panels = NULL;
}

/* ---- running ---- */

typedef struct {
    const qrt_mixed_matmul_args *args;
    qrt_product_call product;
    int64_t block; /* rows of a block */
    const uint8_t
        *digits; /* digits of all rows, where they are few; else NULL, and each task makes those of its own rows */
    const bool *finite; /* whether each of these rows is finite */
} mixed_call;

/* Subtracts zero points along K from what the sums of a row begin with. C, the sum of X * z over a piece, is below
 * 2^38. It is taken apart as T is: C = 65536 * (C >> 16) + (C & 65535). The first part is below 2^22, as is the sum of
 * the most significant digits times q, so that together they are below 2^23; the second is far below what the sums of
 * the other digits lack to 2^31. */
static void subtract_zero_points(const qrt_mixed_matmul_args *args, const float *row, uint8_t *digits) {
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        const float inverse = 1 / *(const float *)digits; /* exact */
        int32_t *starts = (int32_t *)digits + 1;
        int64_t sum = 0;
        for (int64_t k = piece.k; k < piece.k + piece.length; k++)
            sum += isfinite(row[k]) ? lrintf(row[k] * inverse) * args->problem.k_zero_point[k] : 0;
        starts[0] -= (int32_t)(sum >> 16);
        starts[2] -= (int32_t)(sum & 0xFFFF);
        digits += qrt_piece_digits_bytes(args->problem.nibbles, piece.length);
    }
}

/* Makes digits of rows, or of their products with the scales along K, for which `products` has room. */
static void make_digits(const qrt_mixed_matmul_args *args, const float *a, int64_t rows, uint8_t *digits, bool *finite,
                        float *products) {
    const int64_t depth = args->problem.product.k;
    const float *scale = args->problem.k_scale;
    for (int64_t i = 0; i < rows; i++, a += depth, digits += args->plan.row_bytes) {
        for (int64_t k = 0; scale && k < depth; k++)
            products[k] = a[k] * scale[k];
        const float *row = scale ? products : a;
        finite[i] = args->kernels->mixed_row(args, row, digits);
        if (args->problem.k_zero_point)
            subtract_zero_points(args, row, digits);
    }
}

/* Bytes that make_digits needs for products. */
static int64_t products_bytes(const qrt_mixed_matmul_args *args) {
    return args->problem.k_scale ? args->problem.product.k * (int64_t)sizeof(float) : 0;
}

/* Adds the products of values that the digits leave out with their weights: of NaNs and infinities of a row, and where
 * there are scales along K, of values whose products with them are such. */
static void add_others(const qrt_mixed_matmul_args *args, const float *a, const uint8_t *panel, int columns,
                       float *out) {
    const float *scales = args->problem.k_scale;
    const int32_t *zero_points = args->problem.k_zero_point;
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        for (int64_t i = 0; i < piece.length; i++) {
            const int64_t k = piece.k + i;
            if (isfinite(scales ? a[k] * scales[k] : a[k]))
                continue;
            for (int c = 0; c < columns; c++) {
                const int32_t q = qrt_packed_value(args, panel, piece.length, i, c);
                const int32_t zero_point = qrt_packed_zero_point(args, panel, piece.length, c);
                const int32_t centred = q - zero_point - (zero_points ? zero_points[k] : 0);
                const float scale = scales ? scales[k] : qrt_packed_scale(args, panel, piece.length, c);
                out[c] += a[k] * ((float)centred * scale);
            }
        }
        panel += qrt_piece_bytes(args, piece.length);
    }
}

/* Adds the bias to the sums and stores them. NaNs become the one NaN that numerics.md names, because that of the
 * processor may be negative. */
static void store_row(const float *sums, const float *bias, int columns, float *out) {
    float row[NR];
    for (int c = 0; c < NR; c++) {
        const float sum = sums[c] + bias[c];
        row[c] = sum == sum ? sum : NAN;
    }
    if (columns == NR) /* a constant size, so that the compiler calls no function */
        memcpy(out, row, sizeof row);
    else
        memcpy(out, row, (size_t)columns * sizeof *out);
}

/* Multiplies up to MR rows by a panel and stores the results. */
static void run_tile(const mixed_call *call, const uint8_t *digits, const bool *finite, int64_t row, int rows,
                     const uint8_t *panel, int64_t column) {
    const qrt_mixed_matmul_args *args = call->args;
    const qrt_product *product = &args->problem.product;
    const int columns = (int)qrt_min(NR, product->n - column);
    _Alignas(QRT_ALIGNMENT) float sums[MR * NR];
    float bias[NR];
    for (int c = 0; c < NR; c++) /* adding -0 changes no sum */
        bias[c] = call->product.bias && c < columns ? call->product.bias[column + c] : -0.0F;
    args->kernels->mixed_tile(args, digits, rows, panel, sums);
    for (int i = 0; i < rows; i++) {
        float *out = call->product.out + (row + i) * product->n + column;
        store_row(sums + i * NR, bias, columns, out);
        if (finite[i])
            continue;
        add_others(args, call->product.a + (row + i) * product->k, panel, columns, out);
        for (int c = 0; c < columns; c++)
            out[c] = isnan(out[c]) ? NAN : out[c];
    }
}

static qrt_status run_task(void *context, int64_t number) {
    const mixed_call *call = context;
    const qrt_mixed_matmul_args *args = call->args;
    const qrt_mixed_plan *plan = &args->plan;
    const qrt_product_task at = qrt_product_task_at(&args->problem.product, &call->product, number);
    const int64_t packed = plan->panels ? 0 : call->product.panels * plan->panel_bytes;
    const int64_t own = call->digits ? 0 : call->block * plan->row_bytes;
    const int64_t scaled = call->digits ? 0 : products_bytes(args);
    uint8_t *memory = qrt_workspace(QRT_WORKSPACE_TASK, (size_t)(packed + own + scaled));
    bool own_finite[MC];
    if (!memory)
        return QRT_NO_MEMORY;
    const uint8_t *panels = plan->panels ? plan->panels + at.panel * plan->panel_bytes : memory;
    const uint8_t *digits = call->digits ? call->digits : memory + packed;
    const bool *finite = call->digits ? call->finite : own_finite;
    const qrt_float_state saved = qrt_float_enter();
    if (!plan->panels)
        pack_panels(args, call->product.w, at.panel, at.end_panel, memory);
    for (int64_t row = at.row; row < at.end_row; row += call->block) {
        const int64_t rows = qrt_min(call->block, at.end_row - row);
        if (!call->digits)
            make_digits(args, call->product.a + row * args->problem.product.k, rows, memory + packed, own_finite,
                        (float *)(memory + packed + own));
        for (int64_t panel = at.panel; panel < at.end_panel; panel++)
            for (int64_t i = 0; i < rows; i += MR)
                run_tile(call, digits + i * plan->row_bytes, finite + i, row + i, (int)qrt_min(MR, rows - i),
                         panels + (panel - at.panel) * plan->panel_bytes, panel * NR);
    }
    qrt_float_leave(saved);
    return QRT_OK;
}

qrt_status qrt_mixed_matmul(const void *pointer, qrt_scratch *scratch) {
    const qrt_mixed_matmul_args *args = pointer;
    const qrt_product *product = &args->problem.product;
    const qrt_mixed_plan *plan = &args->plan;
    if (product->m == 0 || product->n == 0)
        return QRT_OK;
    mixed_call call = {.args = args, .product = qrt_product_operands(product, plan->panels, scratch)};
    call.block = qrt_max(1, qrt_min(MC, BLOCK_BYTES / plan->row_bytes) / MR) * MR;
    bool finite[MR];
    if (product->m <= MR) { /* there is one tile: its digits are made once, for all tasks */
        const int64_t bytes = product->m * plan->row_bytes;
        uint8_t *digits = qrt_workspace(QRT_WORKSPACE_CALL, (size_t)(bytes + products_bytes(args)));
        if (!digits)
            return QRT_NO_MEMORY;
        const qrt_float_state saved = qrt_float_enter();
        make_digits(args, call.product.a, product->m, digits, finite, (float *)(digits + bytes));
        qrt_float_leave(saved);
        call.digits = digits;
        call.finite = finite;
    }
    const int64_t most = PACK_BYTES / qrt_max(plan->panel_bytes, 1);
    return qrt_product_run(product, &call.product, MR, most, run_task, &call);
}
