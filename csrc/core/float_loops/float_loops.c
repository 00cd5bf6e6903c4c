/* Loop nests in float32, float64, int32 and int64: this file walks the loops, loads and stores blocks of lanes, and
 * shares them among threads. The arithmetic is in the rows float_steps, integer_steps, wide_steps and float_function.
 */
#include "core/core.h"
#include "core/float_control.h"
#include "core/float_loops/lanes.h"
#include "core/float_loops/reduction.h"

#define LANES QRT_LOOPS_LANES
#define MOST QRT_MAX_OPERANDS
/* Steps of lanes below which a fork costs more than it saves, and those of a task. */
#define SERIAL_WORK (1 << 16)
#define TASK_WORK (1 << 15)

typedef struct {
    const qrt_float_loops_args *args;
    char *at[MOST]; /* the first element of each operand */
    /* The loop that is cut into blocks of `unit` iterations. It is the innermost kept one, or the one around that,
     * whose iterations then are the rows of a block. */
    int cut;
    int64_t unit;
    int64_t outer;  /* iterations of the kept loops around it */
    int64_t blocks; /* of one of these */
    int64_t per_task;
    int64_t lanes;     /* that a block has at most, in whole vectors */
    bool reduces_rows; /* reduction.h */
} loops_call;

/* ---- blocks ---- */

/* Rows of lanes, side by side in a register. */
typedef struct {
    int64_t rows, count; /* lanes of a row */
    int outer, inner;    /* the loops of rows and lanes */
} block;

/* The same block as one row where the operand has no gap between rows. */
static block joined(block b, const qrt_loops_operand *operand) {
    if (operand->stride[b.outer] == b.count * operand->stride[b.inner]) {
        b.count *= b.rows;
        b.rows = 1;
    }
    return b;
}

/* Brings a block of lanes into a register, or has the register point to them where all may be read. */
static void load(const qrt_loops_operand *operand, const char *from, block whole, float *own, float **reg) {
    const block b = joined(whole, operand);
    const int64_t stride = operand->stride[b.inner];
    *reg = own;
    if (size_of(operand) >= 4 && b.rows == 1 && stride == 1 && b.count % QRT_LOOPS_ALIGN == 0 && !operand->once)
        *reg = (float *)from;
    else
        for (int64_t row = 0; row < b.rows; row++)
            load_row(operand, from + row * operand->stride[b.outer] * size_of(operand), stride, b.count,
                     own + row * b.count * floats_of(operand));
}

static void store(const qrt_loops_operand *operand, const float *reg, block whole, char *to) {
    const block b = joined(whole, operand);
    for (int64_t row = 0; row < b.rows; row++)
        store_row(operand, reg + row * b.count * floats_of(operand), operand->stride[b.inner], b.count,
                  to + row * operand->stride[b.outer] * size_of(operand));
}

/* ---- loops ---- */

/* Moves the operands to the next iteration of loops. Returns whether there is one; else all are at the first. */
static bool advance(const qrt_float_loops_args *args, int first, int end, int64_t *index, int operands, char **at) {
    for (int loop = end - 1; loop >= first; loop--) {
        const bool is_next = ++index[loop] < args->extent[loop];
        const int64_t count = is_next ? 1 : 1 - args->extent[loop];
        for (int i = 0; i < operands; i++)
            at[i] += count * args->operand[i].stride[loop] * size_of(&args->operand[i]);
        if (is_next)
            return true;
        index[loop] = 0;
    }
    return false;
}

typedef enum { FLOAT_STEPS, INTEGER_STEPS, FUNCTION, WIDE_STEPS } row;

static row row_of(int code) {
    if (code < QRT_STEP_EXP)
        return code < QRT_STEP_TO_F32 ? FLOAT_STEPS : INTEGER_STEPS;
    return code < QRT_STEP_ADD_F64 ? FUNCTION : WIDE_STEPS;
}

/* Hands the steps to the rows that have them. Returns whether all lanes are defined. */
static bool run_steps(const qrt_float_loops_args *args, float *const *reg, int64_t count) {
    const int64_t lanes = qrt_round_up(count, QRT_LOOPS_ALIGN);
    bool is_defined = true;
    for (int first = 0, end; first < args->steps; first = end) {
        const qrt_loops_step *step = args->step + first;
        for (end = first + 1; end < args->steps && row_of(args->step[end].code) == row_of(step->code);)
            end++;
        switch (row_of(step->code)) {
        case FLOAT_STEPS:
            args->kernels->float_steps(step, end - first, reg, lanes);
            break;
        case INTEGER_STEPS:
            is_defined &= args->kernels->integer_steps(step, end - first, reg, lanes, count);
            break;
        case WIDE_STEPS:
            is_defined &= args->kernels->wide_steps(step, end - first, reg, lanes, count);
            break;
        case FUNCTION:
            for (; step < args->step + end; step++)
                args->kernels->float_function(step->code, reg[step->a], reg[step->to], lanes);
        }
    }
    return is_defined;
}

/* The size of a register, in floats. */
static int64_t register_size(const qrt_float_loops_args *args) {
    return args->is_wide ? 2 * LANES : LANES;
}

/* Computes a block, whose first elements `first` points to. Returns whether all of it is defined. */
static bool run_block(const qrt_float_loops_args *args, char *const *first, block b, float *memory) {
    const int end = args->kept + args->reduced;
    const int64_t size = register_size(args);
    float *reg[QRT_LOOPS_REGISTERS];
    char *at[MOST];
    int64_t index[QRT_LOOPS_RANK] = {0};
    memcpy(at, first, (size_t)args->reads * sizeof *at);
    for (int i = 0; i < args->registers; i++)
        reg[i] = memory + i * size;
    for (int i = 0; i < args->reads; i++)
        if (args->operand[i].once)
            load(&args->operand[i], at[i], b, reg[args->operand[i].reg], &reg[args->operand[i].reg]);
    bool is_empty = false, is_defined = true;
    for (int loop = args->kept; loop < end; loop++)
        is_empty |= args->extent[loop] == 0;
    if (!is_empty)
        do {
            for (int i = 0; i < args->reads; i++)
                if (!args->operand[i].once)
                    load(&args->operand[i], at[i], b, memory + args->operand[i].reg * size, &reg[args->operand[i].reg]);
            is_defined &= run_steps(args, reg, b.rows * b.count);
        } while (advance(args, args->kept, end, index, args->reads, at));
    for (int i = args->reads; i < args->reads + args->writes; i++)
        store(&args->operand[i], reg[args->operand[i].reg], b, first[i]);
    return is_defined;
}

/* Reduces the rows of a block one by one, or the whole block where a result is a NaN. */
static bool run_rows(const qrt_float_loops_args *args, char *const *first, block b, float *memory) {
    char *at[MOST];
    for (int64_t i = 0; i < b.rows * b.count; i++) {
        for (int j = 0; j < args->reads + args->writes; j++) {
            const qrt_loops_operand *operand = &args->operand[j];
            const int64_t steps = i / b.count * operand->stride[b.outer] + i % b.count * operand->stride[b.inner];
            at[j] = first[j] + steps * size_of(operand);
        }
        if (!qrt_reduce_row(args, at, memory))
            return run_block(args, first, b, memory);
    }
    return true;
}

/* The lanes of registers that no operand fills are computed too: they hold zeros. */
static float *made_registers(const loops_call *call) {
    const qrt_float_loops_args *args = call->args;
    const int constants = args->registers - args->values;
    const int64_t size = register_size(args), zeros = call->lanes * size / LANES;
    float *memory = qrt_workspace(QRT_WORKSPACE_TASK, (size_t)(args->registers * size) * sizeof(float));
    for (int i = 0; memory && i < args->registers; i++)
        if (i < constants)
            memset(memory + i * size, 0, (size_t)zeros * sizeof(float));
        else
            load_words((const uint32_t *)(args->value + i - constants), 0, call->lanes, (uint32_t *)memory + i * size);
    return memory;
}

static qrt_status run_task(void *context, int64_t number) {
    const loops_call *call = context;
    const qrt_float_loops_args *args = call->args;
    const int cut = call->cut, inner = args->kept - 1, operands = args->reads + args->writes;
    const int64_t first = number * call->per_task, end = qrt_min(first + call->per_task, call->outer * call->blocks);
    int64_t index[QRT_LOOPS_RANK] = {0}, row = first / call->blocks, turn = first % call->blocks;
    char *at[MOST], *here[MOST];
    memcpy(at, call->at, (size_t)operands * sizeof *at);
    for (int loop = cut - 1; loop >= 0; loop--) {
        index[loop] = row % args->extent[loop];
        row /= args->extent[loop];
        for (int i = 0; i < operands; i++)
            at[i] += index[loop] * args->operand[i].stride[loop] * size_of(&args->operand[i]);
    }
    float *memory = made_registers(call);
    if (!memory)
        return QRT_NO_MEMORY;
    const qrt_float_state saved = qrt_float_enter();
    bool is_defined = true;
    for (int64_t i = first; i < end; i++) {
        const int64_t done = turn * call->unit, left = qrt_min(call->unit, args->extent[cut] - done);
        for (int operand = 0; operand < operands; operand++)
            here[operand] = at[operand] + done * args->operand[operand].stride[cut] * size_of(&args->operand[operand]);
        const block b = {cut == inner ? 1 : left, cut == inner ? left : args->extent[inner], cut, inner};
        is_defined &= call->reduces_rows ? run_rows(args, here, b, memory) : run_block(args, here, b, memory);
        if (++turn == call->blocks) {
            turn = 0;
            advance(args, 0, cut, index, operands, at);
        }
    }
    qrt_float_leave(saved);
    return is_defined ? QRT_OK : QRT_NO_INTEGER;
}

qrt_status qrt_float_loops(const void *pointer, qrt_scratch *scratch) {
    const qrt_float_loops_args *args = pointer;
    const int inner = args->kept - 1;
    const int64_t lanes = args->extent[inner];
    const bool has_rows = inner > 0 && lanes > 0 && lanes <= LANES / 2;
    loops_call call = {.args = args, .cut = inner - has_rows, .unit = has_rows ? LANES / lanes : LANES, .outer = 1};
    call.blocks = qrt_ceil_div(args->extent[call.cut], call.unit);
    call.reduces_rows = qrt_reduces_rows(args);
    call.lanes = qrt_min(call.unit, args->extent[call.cut]) * (has_rows ? lanes : 1);
    call.lanes = call.reduces_rows ? LANES : qrt_round_up(call.lanes, QRT_LOOPS_ALIGN);
    void *const *operand = scratch->operands;
    double work = args->steps + 1;
    for (int i = 0; i < args->reads + args->writes; i++) {
        const qrt_loops_operand *each = &args->operand[i];
        call.at[i] = (char *)(each->constant ? each->constant : *operand++) + each->offset * size_of(each);
    }
    for (int loop = 0; loop < args->kept + args->reduced; loop++) {
        work *= (double)args->extent[loop];
        if (loop < call.cut)
            call.outer *= args->extent[loop];
    }
    const int64_t blocks = call.outer * call.blocks;
    if (blocks == 0 || lanes == 0)
        return QRT_OK;
    const int threads = work < SERIAL_WORK ? 1 : scratch->threads;
    call.per_task = threads == 1 ? blocks : qrt_max(1, (int64_t)(TASK_WORK / (work / (double)blocks + 1)));
    return qrt_parallel(qrt_ceil_div(blocks, call.per_task), run_task, &call, threads);
}
