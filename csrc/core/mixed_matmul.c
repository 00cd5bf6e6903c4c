/* Products of float rows and quantized weights: packs the weights, shares columns and rows among threads. */
#include <math.h>
#include <string.h>

#include "core/core.h"
#include "core/float_control.h"
#include "qrt/mixed_packing.h"

#define COLUMNS QRT_MIXED_COLUMNS
#define ROWS QRT_MIXED_ROWS
/* Rows as digits that stay in L2 while panels go past. */
#define BLOCK_BYTES (512 * 1024)
#define BLOCK_ROWS 64
/* What a task packs of w, for all its rows. */
#define PACK_BYTES (1024 * 1024)
/* Multiply-adds below which a fork costs more than it saves. */
#define SERIAL_WORK (1 << 17)
#define TASKS_PER_THREAD 2
/* |256 * digit + digit|. */
#define LARGEST_LOW (128 * 257)

/* ---- packing ---- */

static int64_t panels_of(const qrt_mixed_matmul_args *args) {
    return qrt_ceil_div(args->n, COLUMNS);
}

/* What unsigned weights and their zero points gain. */
static int32_t moved_by(const qrt_mixed_matmul_args *args) {
    return args->w == QRT_U8 ? 0 : args->nibbles ? 8 : 128;
}

/* Four or eight rows of w become one vector of each 16 columns; rows past the end of the piece are the first again. */
static void pack_vector(const qrt_mixed_matmul_args *args, const uint8_t *w, int64_t rows, int64_t columns,
                        uint8_t *first, uint8_t *second) {
    const int count = args->nibbles ? 8 : 4;
    const uint32_t flips = args->w == QRT_U8 ? 0 : args->nibbles ? 0x88888888 : 0x80808080;
    uint8_t row[8][COLUMNS] = {0};
    uint32_t words[COLUMNS];
    for (int i = 0; i < count; i++)
        memcpy(row[i], w + (i < rows ? i : 0) * args->n, (size_t)columns);
    if (args->nibbles)
        for (int i = 0; i < 4; i++)
            for (int c = 0; c < COLUMNS; c++)
                row[i][c] = (uint8_t)((row[i][c] & 15) | row[i + 4][c] << 4);
    for (int c = 0; c < COLUMNS; c++)
        words[c] =
            (row[0][c] | (uint32_t)row[1][c] << 8 | (uint32_t)row[2][c] << 16 | (uint32_t)row[3][c] << 24) ^ flips;
    memcpy(first, words, 64);
    memcpy(second, words + 16, 64);
}

/* Of a panel's columns, with scales of 0 where w lacks a column. */
static void pack_parameters(const qrt_mixed_matmul_args *args, const float *scale, const int32_t *zero_point,
                            int64_t columns, uint8_t *to) {
    float floats[COLUMNS] = {0};
    uint16_t halves[COLUMNS];
    int16_t zero_points[COLUMNS] = {0};
    memcpy(floats, scale, (size_t)columns * sizeof *floats);
    for (int c = 0; c < COLUMNS; c++)
        halves[c] = qrt_half_bits(floats[c]);
    const size_t bytes = args->half_scales ? sizeof halves : sizeof floats;
    memcpy(to, args->half_scales ? (const void *)halves : floats, bytes);
    if (!args->zero_points_differ)
        return;
    for (int64_t c = 0; c < columns; c++)
        zero_points[c] = (int16_t)(zero_point[c] + moved_by(args));
    memcpy(to + bytes, zero_points, sizeof zero_points);
}

static void pack_panel(const qrt_mixed_matmul_args *args, const uint8_t *w, int64_t panel, uint8_t *to) {
    const int64_t column = panel * COLUMNS, columns = qrt_min(COLUMNS, args->n - column);
    const int64_t per_vector = args->nibbles ? 8 : 4;
    const float *scale = args->scale + column;
    const int32_t *zero_point = args->zero_point + column;
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        const int64_t vectors = qrt_piece_vectors(args->nibbles, piece.length);
        for (int64_t v = 0; v < vectors; v++)
            pack_vector(args, w + (piece.k + v * per_vector) * args->n + column, piece.length - v * per_vector, columns,
                        to + v * 64, to + (vectors + v) * 64);
        pack_parameters(args, scale, zero_point, columns, to + 2 * 64 * vectors);
        to += qrt_piece_bytes(args, piece.length);
        if (piece.length == piece.block) {
            scale += args->n;
            zero_point += args->n;
        }
    }
}

static int64_t parameter_count(const qrt_mixed_matmul_args *args) {
    return qrt_max(1, qrt_ceil_div(args->k, args->k_block)) * args->n;
}

static bool all_are_halves(const float *scale, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!(fabsf(scale[i]) <= 65504) || qrt_half_value(qrt_half_bits(scale[i])) != scale[i])
            return false;
    return true;
}

/* What the parameters decide, and the sizes of what is packed. */
static void prepare_layout(qrt_mixed_matmul_args *args) {
    const int64_t count = parameter_count(args);
    int64_t largest = 0; /* |q - zero point| */
    args->half_scales = all_are_halves(args->scale, count);
    args->zero_points_differ = false;
    for (int64_t i = 0; i < count; i++) {
        const int64_t zero_point = args->zero_point[i] + moved_by(args);
        largest = qrt_max(largest, qrt_max(zero_point, (args->nibbles ? 15 : 255) - zero_point));
        args->zero_points_differ |= args->zero_point[i] != args->zero_point[0];
    }
    args->common_zero_point = count ? args->zero_point[0] + moved_by(args) : 0;
    args->low_fits = qrt_min(args->k_block, QRT_PIECE) * LARGEST_LOW * largest < 1 << 24;
    args->panel_bytes = 0;
    args->row_bytes = 64;
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        args->panel_bytes += qrt_piece_bytes(args, piece.length);
        args->row_bytes += 16 + 16 * qrt_piece_vectors(args->nibbles, piece.length) * (args->nibbles ? 2 : 1);
    }
    args->row_bytes = qrt_round_up(args->row_bytes, QRT_ALIGNMENT);
}

qrt_status qrt_mixed_matmul_prepare(qrt_mixed_matmul_args *args) {
    args->panels = NULL;
    if (args->n == 0) /* there may be K without end */
        return QRT_OK;
    prepare_layout(args);
    if (!args->w_constant)
        return QRT_OK;
    uint8_t *panels = qrt_aligned_alloc((size_t)(panels_of(args) * args->panel_bytes));
    if (!panels)
        return QRT_NO_MEMORY;
    qrt_advise_huge_pages(panels, (size_t)(panels_of(args) * args->panel_bytes));
    for (int64_t panel = 0; panel < panels_of(args); panel++)
        pack_panel(args, args->w_constant, panel, panels + panel * args->panel_bytes);
    args->panels = panels;
    return QRT_OK;
}

void qrt_mixed_matmul_release(void *pointer) {
    qrt_mixed_matmul_args *args = pointer;
    qrt_aligned_free((void *)args->panels);
    args->panels = NULL;
}

/* ---- running ---- */

typedef struct {
    const qrt_mixed_matmul_args *args;
    const float *a;
    const uint8_t *w;
    const float *bias;
    float *out;
    const uint8_t *digits;  /* of all rows, where they are few; else each task makes those of its own */
    const bool *finite;     /* the same */
    int64_t panels, groups; /* of a task; tasks along n */
    int64_t rows;           /* of a task */
    int64_t block;          /* rows that are digits at once */
} job;

typedef struct {
    int64_t first, end; /* panels */
    uint8_t *panels;    /* packed per call */
    uint8_t *digits;
    bool finite[BLOCK_ROWS];
} workspace;

static const uint8_t *panel_at(const job *j, const workspace *work, int64_t panel) {
    if (j->args->panels)
        return j->args->panels + panel * j->args->panel_bytes;
    return work->panels + (panel - work->first) * j->args->panel_bytes;
}

static void make_digits(const qrt_mixed_matmul_args *args, const float *a, int64_t rows, uint8_t *digits,
                        bool *finite) {
    for (int64_t i = 0; i < rows; i++)
        finite[i] = args->kernels->mixed_row(args, a + i * args->k, digits + i * args->row_bytes);
}

/* Adds NaNs and infinities of a row times their weights. */
static void add_others(const qrt_mixed_matmul_args *args, const float *a, const uint8_t *panel, int columns,
                       float *out) {
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        for (int64_t i = 0; i < piece.length; i++)
            for (int c = 0; c < columns && !isfinite(a[piece.k + i]); c++) {
                const int32_t q = qrt_packed_value(args, panel, piece.length, i, c);
                const int32_t centred = q - qrt_packed_zero_point(args, panel, piece.length, c);
                out[c] += a[piece.k + i] * ((float)centred * qrt_packed_scale(args, panel, piece.length, c));
            }
        panel += qrt_piece_bytes(args, piece.length);
    }
}

/* Sums and bias to the result, whose NaNs are the one that numerics.md names: the processor's own may be negative. */
static void store_row(const float *sums, const float *bias, int columns, float *out) {
    typedef float floats __attribute__((vector_size(16)));
    typedef int32_t words __attribute__((vector_size(16)));
    const floats nan = {NAN, NAN, NAN, NAN};
    floats row[COLUMNS / 4];
    for (int i = 0; i < COLUMNS / 4; i++) {
        floats sum, added;
        memcpy(&sum, sums + 4 * i, sizeof sum);
        memcpy(&added, bias + 4 * i, sizeof added);
        sum += added;
        const words number = sum == sum;
        row[i] = (floats)(((words)sum & number) | ((words)nan & ~number));
    }
    if (columns == COLUMNS)
        memcpy(out, row, sizeof row);
    else
        memcpy(out, row, (size_t)columns * sizeof *out);
}

/* Up to ROWS rows by a panel, to the result. */
static void run_tile(const job *j, const uint8_t *digits, const bool *finite, int64_t row, int rows,
                     const uint8_t *panel, int64_t column) {
    const qrt_mixed_matmul_args *args = j->args;
    const int columns = (int)qrt_min(COLUMNS, args->n - column);
    _Alignas(QRT_ALIGNMENT) float sums[ROWS * COLUMNS];
    float bias[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        bias[c] = j->bias && c < columns ? j->bias[column + c] : -0.0F; /* which changes nothing */
    args->kernels->mixed_tile(args, digits, rows, panel, sums);
    for (int i = 0; i < rows; i++) {
        float *out = j->out + (row + i) * args->n + column;
        store_row(sums + i * COLUMNS, bias, columns, out);
        if (finite[i])
            continue;
        add_others(args, j->a + (row + i) * args->k, panel, columns, out);
        for (int c = 0; c < columns; c++)
            out[c] = isnan(out[c]) ? NAN : out[c];
    }
}

static void run_block(const job *j, const workspace *work, int64_t row, int64_t rows) {
    const uint8_t *digits = j->digits ? j->digits : work->digits;
    const bool *finite = j->digits ? j->finite : work->finite;
    for (int64_t panel = work->first; panel < work->end; panel++)
        for (int64_t i = 0; i < rows; i += ROWS)
            run_tile(j, digits + i * j->args->row_bytes, finite + i, row + i, (int)qrt_min(ROWS, rows - i),
                     panel_at(j, work, panel), panel * COLUMNS);
}

static qrt_status task(void *context, int64_t number) {
    const job *j = context;
    const qrt_mixed_matmul_args *args = j->args;
    const int64_t first = number % j->groups * j->panels, row = number / j->groups * j->rows;
    workspace work = {.first = first, .end = qrt_min(first + j->panels, panels_of(args))};
    const int64_t packed = args->panels ? 0 : j->panels * args->panel_bytes;
    uint8_t *memory =
        qrt_workspace(QRT_WORKSPACE_TASK, (size_t)(packed + (j->digits ? 0 : j->block * args->row_bytes)));
    if (!memory)
        return QRT_NO_MEMORY;
    work.panels = memory;
    work.digits = memory + packed;
    const qrt_float_state saved = qrt_float_enter();
    for (int64_t panel = work.first; !args->panels && panel < work.end; panel++)
        pack_panel(args, j->w, panel, work.panels + (panel - work.first) * args->panel_bytes);
    const int64_t end = qrt_min(row + j->rows, args->m);
    for (int64_t i = row; i < end; i += j->block) {
        const int64_t rows = qrt_min(j->block, end - i);
        if (!j->digits)
            make_digits(args, j->a + i * args->k, rows, work.digits, work.finite);
        run_block(j, &work, i, rows);
    }
    qrt_float_leave(saved);
    return QRT_OK;
}

/* Sizes of tasks. Where columns alone give too few, rows are shared as well. */
static int64_t share(job *j, int threads) {
    const qrt_mixed_matmul_args *args = j->args;
    const int64_t panels = panels_of(args), wanted = threads > 1 ? TASKS_PER_THREAD * threads : 1;
    j->block = qrt_max(1, qrt_min(BLOCK_ROWS, BLOCK_BYTES / args->row_bytes) / ROWS) * ROWS;
    j->panels = args->panels ? panels : qrt_max(1, PACK_BYTES / qrt_max(args->panel_bytes, 1));
    j->panels = qrt_min(j->panels, qrt_ceil_div(panels, wanted));
    j->groups = qrt_ceil_div(panels, j->panels);
    const int64_t tiles = qrt_ceil_div(args->m, ROWS), parts = qrt_min(tiles, qrt_ceil_div(wanted, j->groups));
    j->rows = qrt_ceil_div(tiles, parts) * ROWS;
    return j->groups * qrt_ceil_div(args->m, j->rows);
}

qrt_status qrt_mixed_matmul(const void *pointer, qrt_scratch *scratch) {
    const qrt_mixed_matmul_args *args = pointer;
    if (args->m == 0 || args->n == 0)
        return QRT_OK;
    void *const *operand = scratch->operands;
    job j = {.args = args, .a = *operand++};
    j.w = args->panels ? NULL : *operand++;
    if (args->bias)
        j.bias = args->bias_constant ? args->bias_constant : *operand++;
    j.out = *operand;
    const bool small = (double)args->m * (double)args->n * (double)args->k < SERIAL_WORK;
    const int threads = small ? 1 : scratch->threads;
    const int64_t tasks = share(&j, threads);
    bool finite[ROWS];
    if (args->m <= ROWS) { /* one tile: its digits are made once for all tasks */
        uint8_t *digits = qrt_workspace(QRT_WORKSPACE_CALL, (size_t)(args->m * args->row_bytes));
        if (!digits)
            return QRT_NO_MEMORY;
        const qrt_float_state saved = qrt_float_enter();
        make_digits(args, j.a, args->m, digits, finite);
        qrt_float_leave(saved);
        j.digits = digits;
        j.finite = finite;
    }
    return qrt_parallel(tasks, task, &j, threads);
}
