/* Extremes along rows: the lanes of a block are elements of one row, which the steps reduce to one result for each
 * lane, and these to one.
 *
 * Exact: the maximum of numbers, and the minimum, do not depend on their order, nor on how often a number comes, as -0
 * is below +0. A result is a NaN where its bits could depend on the order: then the caller computes the row in order.
 */
#include "core/float_loops/reduction.h"

#include <math.h>

#include "core/float_loops/lanes.h"

#define LANES QRT_LOOPS_LANES

static bool is_extreme(int code) {
    return code == QRT_STEP_MAXIMUM || code == QRT_STEP_MINIMUM || code == QRT_STEP_MAXNUM || code == QRT_STEP_MINNUM;
}

/* The step that alone writes a register, and alone reads it, to accumulate an extreme; else NULL. */
static const qrt_loops_step *accumulating(const qrt_float_loops_args *args, int reg) {
    const qrt_loops_step *only = NULL;
    for (int i = 0; i < args->steps; i++) {
        const qrt_loops_step *step = &args->step[i];
        if (step->to != reg && step->a != reg && step->b != reg && step->c != reg)
            continue;
        if (only || step->to != reg || !is_extreme(step->code) || (step->a == reg) == (step->b == reg))
            return NULL;
        only = step;
    }
    return only;
}

bool qrt_reduces_rows(const qrt_float_loops_args *args) {
    const int along = args->kept, inner = args->kept - 1, operands = args->reads + args->writes;
    if (args->is_wide || args->reduced != 1 || args->extent[along] < LANES)
        return false;
    for (int i = 0; i < args->steps; i++)
        if (args->step[i].code >= QRT_STEP_TO_F32)
            return false;
    int starts = 0;
    for (int i = 0; i < operands; i++) {
        const qrt_loops_operand *operand = &args->operand[i];
        const int64_t stride = operand->stride[along];
        const bool is_result = i >= args->reads || operand->once;
        if (operand->type != QRT_LOOPS_F32 || (is_result && !accumulating(args, operand->reg)))
            return false;
        if (!is_result && stride != 0 && (stride != 1 || operand->stride[inner] == 1))
            return false;
        starts += i < args->reads && operand->once;
    }
    return starts == args->writes;
}

/* Runs the steps on a multiple of QRT_LOOPS_ALIGN elements of the row, from `place` on. */
static void run_part(const qrt_float_loops_args *args, char *const *at, int64_t place, int64_t count, float *memory,
                     float **reg) {
    for (int i = 0; i < args->reads; i++) {
        const qrt_loops_operand *operand = &args->operand[i];
        const int64_t stride = operand->stride[args->kept];
        const char *from = at[i] + place * stride * (int64_t)sizeof(float);
        if (operand->once)
            continue;
        reg[operand->reg] = memory + operand->reg * LANES;
        if (stride == 1)
            reg[operand->reg] = (float *)from;
        else
            load_row(operand, from, 0, count, reg[operand->reg]);
    }
    args->kernels->float_steps(args->step, args->steps, reg, count);
}

/* The extreme of lanes, of which there are LANES. */
static float joined(const qrt_float_loops_args *args, int code, float *lanes) {
    for (int64_t half = LANES / 2; half >= QRT_LOOPS_ALIGN; half /= 2) {
        const qrt_loops_step step = {code, 0, 0, 1, 0};
        float *const both[] = {lanes, lanes + half};
        args->kernels->float_steps(&step, 1, both, half);
    }
    const bool is_greatest = code == QRT_STEP_MAXIMUM || code == QRT_STEP_MAXNUM;
    float best = lanes[0];
    for (int i = 0; i < QRT_LOOPS_ALIGN; i++) {
        if (isnan(lanes[i]))
            return lanes[i];
        const bool is_before = lanes[i] < best || (lanes[i] == best && signbit(lanes[i]));
        best = is_before != is_greatest ? lanes[i] : best;
    }
    return best;
}

bool qrt_reduce_row(const qrt_float_loops_args *args, char *const *at, float *memory) {
    const int64_t count = args->extent[args->kept];
    float *reg[QRT_LOOPS_REGISTERS], results[QRT_MAX_OPERANDS];
    for (int i = 0; i < args->registers; i++)
        reg[i] = memory + i * LANES;
    for (int i = 0; i < args->reads; i++)
        if (args->operand[i].once)
            load_row(&args->operand[i], at[i], 0, LANES, reg[args->operand[i].reg]);
    for (int64_t place = 0; place < count; place += LANES) /* the last part overlaps the one before */
        run_part(args, at, qrt_min(place, count - LANES), LANES, memory, reg);
    for (int i = 0; i < args->writes; i++) {
        const int own = args->operand[args->reads + i].reg;
        results[i] = joined(args, accumulating(args, own)->code, reg[own]);
        if (isnan(results[i]))
            return false;
    }
    for (int i = 0; i < args->writes; i++)
        memcpy(at[args->reads + i], &results[i], sizeof results[i]);
    return true;
}
