/* The GEMM entry, and its preparation: chooses the path that computes a call exactly. */
#include "core/gemm/gemm.h"

qrt_status qrt_gemm_prepare(qrt_gemm_args *args) {
    qrt_gemm_plan *plan = &args->plan;
    qrt_gemm_begin(args);
    if (plan->narrow) {
        plan->run = qrt_narrow_run;
        return qrt_narrow_prepare(args);
    }
    if (qrt_gemm_splits(args)) {
        plan->run = qrt_split_run;
        return args->problem.b_constant ? qrt_split_new(args, args->problem.b_constant, &plan->split) : QRT_OK;
    }
    plan->run = qrt_wide_run;
    return QRT_OK;
}

void qrt_gemm_release(void *pointer) {
    qrt_gemm_args *args = pointer;
    qrt_narrow_release(args);
    qrt_split_free(args->plan.split);
    args->plan = (qrt_gemm_plan){0};
}

bool qrt_gemm_reads_b(const qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    const qrt_gemm_plan *plan = &args->plan;
    const bool fits = problem->bias == QRT_BIAS_NONE ? plan->bias_limit >= 0 : plan->bias_fits;
    return !plan->split && !(plan->narrow && (!plan->conv.filled || fits));
}

bool qrt_gemm_packs(const qrt_gemm_args *args) {
    const qrt_gemm_split *split = args->plan.split;
    bool packs = !split && args->plan.packed.panels && !args->plan.packed_by;
    for (int i = 0; split && i < 2; i++)
        for (int part = 0; part <= 2; part++) {
            const qrt_gemm_args *product = qrt_split_product(split, i, part);
            packs |= product && !product->plan.packed_by;
        }
    return packs;
}

int qrt_gemm_packed(const void *pointer, qrt_packed_part *to) {
    const qrt_gemm_args *args = pointer;
    return args->plan.split ? qrt_split_packed(args->plan.split, to) : qrt_narrow_packed(args, to);
}

qrt_status qrt_gemm(const void *pointer, qrt_scratch *scratch) {
    const qrt_gemm_args *args = pointer;
    const qrt_gemm_problem *problem = &args->problem;
    if (problem->batch == 0 || problem->m == 0 || problem->n == 0)
        return QRT_OK;
    void *const *operand = scratch->operands;
    qrt_gemm_call call = {.args = args};
    call.a = *operand++;
    call.b = problem->b_constant ? problem->b_constant : *operand++;
    if (problem->bias != QRT_BIAS_NONE)
        call.bias = problem->bias_constant ? problem->bias_constant : *operand++;
    call.out = *operand;
    return args->plan.run(&call, qrt_gemm_threads(problem, scratch->threads));
}
