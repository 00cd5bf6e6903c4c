/* Loop nests in float32: this file walks the loops, loads and stores blocks of lanes, and shares them among threads.
 * The arithmetic is in the row float_steps. */
#include "core/core.h"
#include "core/float_control.h"

#define LANES QRT_LOOPS_LANES
#define MOST QRT_MAX_OPERANDS
/* Steps of lanes below which a fork costs more than it saves, and those of a task. */
#define SERIAL_WORK (1 << 16)
#define TASK_WORK (1 << 15)

typedef struct {
    const qrt_float_loops_args *args;
    char *at[MOST]; /* the first element of each operand */
    int64_t rows;   /* iterations of the kept loops but the innermost */
    int64_t blocks; /* of a row */
    int64_t per_task;
} loops_call;

static int size_of(const qrt_loops_operand *operand) {
    return operand->type == QRT_LOOPS_F32 ? 4 : 1;
}

/* ---- lanes ---- */

static void load_bools(const uint8_t *from, int64_t stride, int64_t count, uint32_t *to) {
    for (int64_t i = 0; i < count; i++)
        to[i] = from[i * stride] ? UINT32_MAX : 0;
}

static void load_floats(const uint32_t *from, int64_t stride, int64_t count, uint32_t *to) {
    if (stride == 1) {
        memcpy(to, from, (size_t)count * sizeof *to);
    } else if (stride == 0) {
        const uint32_t value = *from;
        for (int64_t i = 0; i < count; i++)
            to[i] = value;
    } else {
        for (int64_t i = 0; i < count; i++)
            to[i] = from[i * stride];
    }
}

/* Brings a block of lanes into a register, or has the register point to them where all may be read. */
static void load(const qrt_loops_operand *operand, const char *from, int64_t stride, int64_t count, float *own,
                 float **reg) {
    if (operand->type == QRT_LOOPS_F32 && stride == 1 && count % QRT_LOOPS_ALIGN == 0 && !operand->once) {
        *reg = (float *)from;
        return;
    }
    *reg = own;
    if (operand->type == QRT_LOOPS_F32)
        load_floats((const uint32_t *)from, stride, count, (uint32_t *)own);
    else
        load_bools((const uint8_t *)from, stride, count, (uint32_t *)own);
}

static void store(const qrt_loops_operand *operand, const float *reg, int64_t stride, int64_t count, char *to) {
    uint32_t bits;
    if (operand->type == QRT_LOOPS_F32 && stride == 1) {
        memcpy(to, reg, (size_t)count * sizeof *reg);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        memcpy(&bits, reg + i, sizeof bits);
        if (operand->type == QRT_LOOPS_F32)
            ((uint32_t *)to)[i * stride] = bits;
        else
            ((uint8_t *)to)[i * stride] = bits != 0;
    }
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

/* Computes `count` lanes, whose first elements `at` points to. */
static void run_block(const qrt_float_loops_args *args, char *const *first, int64_t count, float *memory) {
    const int inner = args->kept - 1, end = args->kept + args->reduced;
    float *reg[QRT_LOOPS_REGISTERS];
    char *at[MOST];
    int64_t index[QRT_LOOPS_RANK] = {0};
    memcpy(at, first, (size_t)args->reads * sizeof *at);
    for (int i = 0; i < args->registers; i++)
        reg[i] = memory + i * LANES;
    for (int i = 0; i < args->reads; i++)
        if (args->operand[i].once)
            load(&args->operand[i], at[i], args->operand[i].stride[inner], count, reg[args->operand[i].reg],
                 &reg[args->operand[i].reg]);
    bool is_empty = false;
    for (int loop = args->kept; loop < end; loop++)
        is_empty |= args->extent[loop] == 0;
    if (!is_empty)
        do {
            for (int i = 0; i < args->reads; i++)
                if (!args->operand[i].once)
                    load(&args->operand[i], at[i], args->operand[i].stride[inner], count,
                         memory + args->operand[i].reg * LANES, &reg[args->operand[i].reg]);
            args->kernels->float_steps(args->step, args->steps, reg, qrt_round_up(count, QRT_LOOPS_ALIGN));
        } while (advance(args, args->kept, end, index, args->reads, at));
    for (int i = args->reads; i < args->reads + args->writes; i++)
        store(&args->operand[i], reg[args->operand[i].reg], args->operand[i].stride[inner], count, first[i]);
}

/* The lanes of registers that no operand fills are computed too: they hold zeros. */
static float *made_registers(const qrt_float_loops_args *args) {
    const size_t bytes = (size_t)args->registers * LANES * sizeof(float);
    float *memory = qrt_workspace(QRT_WORKSPACE_TASK, bytes);
    if (!memory)
        return NULL;
    memset(memory, 0, bytes);
    for (int i = 0; i < args->values; i++)
        for (int lane = 0; lane < LANES; lane++)
            memcpy(memory + (args->registers - args->values + i) * LANES + lane, args->value + i, sizeof(float));
    return memory;
}

static qrt_status run_task(void *context, int64_t number) {
    const loops_call *call = context;
    const qrt_float_loops_args *args = call->args;
    const int inner = args->kept - 1, operands = args->reads + args->writes;
    const int64_t first = number * call->per_task, end = qrt_min(first + call->per_task, call->rows * call->blocks);
    int64_t index[QRT_LOOPS_RANK] = {0}, row = first / call->blocks, block = first % call->blocks;
    char *at[MOST], *here[MOST];
    memcpy(at, call->at, (size_t)operands * sizeof *at);
    for (int loop = inner - 1; loop >= 0; loop--) {
        index[loop] = row % args->extent[loop];
        row /= args->extent[loop];
        for (int i = 0; i < operands; i++)
            at[i] += index[loop] * args->operand[i].stride[loop] * size_of(&args->operand[i]);
    }
    float *memory = made_registers(args);
    if (!memory)
        return QRT_NO_MEMORY;
    const qrt_float_state saved = qrt_float_enter();
    for (int64_t i = first; i < end; i++) {
        for (int operand = 0; operand < operands; operand++)
            here[operand] =
                at[operand] + block * LANES * args->operand[operand].stride[inner] * size_of(&args->operand[operand]);
        run_block(args, here, qrt_min(LANES, args->extent[inner] - block * LANES), memory);
        if (++block == call->blocks) {
            block = 0;
            advance(args, 0, inner, index, operands, at);
        }
    }
    qrt_float_leave(saved);
    return QRT_OK;
}

qrt_status qrt_float_loops(const void *pointer, qrt_scratch *scratch) {
    const qrt_float_loops_args *args = pointer;
    const int inner = args->kept - 1;
    loops_call call = {.args = args, .rows = 1, .blocks = qrt_ceil_div(args->extent[inner], LANES)};
    void *const *operand = scratch->operands;
    double work = args->steps + 1;
    for (int i = 0; i < args->reads + args->writes; i++) {
        const qrt_loops_operand *each = &args->operand[i];
        call.at[i] = (char *)(each->constant ? each->constant : *operand++) + each->offset * size_of(each);
    }
    for (int loop = 0; loop < args->kept + args->reduced; loop++) {
        work *= (double)args->extent[loop];
        if (loop < inner)
            call.rows *= args->extent[loop];
    }
    const int64_t blocks = call.rows * call.blocks;
    if (blocks == 0)
        return QRT_OK;
    const int threads = work < SERIAL_WORK ? 1 : scratch->threads;
    call.per_task = threads == 1 ? blocks : qrt_max(1, (int64_t)(TASK_WORK / (work / (double)blocks + 1)));
    return qrt_parallel(qrt_ceil_div(blocks, call.per_task), run_task, &call, threads);
}
