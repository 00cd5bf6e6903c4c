/* maximum, minimum, prelu and leaky_relu of 8 and 16 bits for vectors of any width. The including file includes
 * shifts.h and gives the ports. Other calls are left to the parent.
 *
 * Exact: products of prelu fit 32 bits, which is checked; strip.inl has the rules. Hazards: the target may be an
 * operand. The last vector of a maximum overlaps the one before, which changes nothing: max(max(a, b), b) is max(a, b).
 */
#include "isa/x86/elementwise/lanes.inl"
#include "isa/x86/store/strip.inl"

#define VECTOR ((int64_t)sizeof(integers))

QRT_INLINE integers extreme_of(qrt_container container, bool least, integers a, integers b) {
    return container == QRT_I8    ? (least ? V(min_epi8)(a, b) : V(max_epi8)(a, b))
           : container == QRT_U8  ? (least ? V(min_epu8)(a, b) : V(max_epu8)(a, b))
           : container == QRT_I16 ? (least ? V(min_epi16)(a, b) : V(max_epi16)(a, b))
                                  : (least ? V(min_epu16)(a, b) : V(max_epu16)(a, b));
}

QRT_INLINE integers repeated(qrt_container container, const void *at) {
    return container <= QRT_U8 ? V(set1_epi8)(*(const char *)at) : V(set1_epi16)(*(const short *)at);
}

QRT_INLINE void extreme_at(qrt_container container, bool least, const char *a, bool repeats_a, const char *b,
                           bool repeats_b, char *target) {
    const integers x = repeats_a ? repeated(container, a) : load_integers(a, ALL);
    const integers y = repeats_b ? repeated(container, b) : load_integers(b, ALL);
    store_whole(target, extreme_of(container, least, x, y), false);
}

QRT_INLINE void extreme_row(qrt_container container, bool least, const char *a, int64_t a_stride, const char *b,
                            int64_t b_stride, char *target, int64_t count) {
    const int64_t bytes = count * qrt_container_size(container);
    if (bytes < VECTOR) {
        _Alignas(64) char left[VECTOR], right[VECTOR], out[VECTOR];
        memset(left, 0, sizeof left);
        memset(right, 0, sizeof right);
        memcpy(left, a, (size_t)(a_stride ? bytes : qrt_container_size(container)));
        memcpy(right, b, (size_t)(b_stride ? bytes : qrt_container_size(container)));
        extreme_at(container, least, left, !a_stride, right, !b_stride, out);
        memcpy(target, out, (size_t)bytes);
        return;
    }
    for (int64_t i = 0; i < bytes; i += VECTOR) {
        const int64_t at = i + VECTOR <= bytes ? i : bytes - VECTOR;
        extreme_at(container, least, a + at * a_stride, !a_stride, b + at * b_stride, !b_stride, target + at);
    }
}

#define EXTREME_ROW(container)                                                                                         \
    if (args->out == (container)) {                                                                                    \
        if (args->kind == QRT_MINIMUM)                                                                                 \
            extreme_row(container, true, a, a_stride, b, b_stride, target, count);                                     \
        else                                                                                                           \
            extreme_row(container, false, a, a_stride, b, b_stride, target, count);                                    \
        return;                                                                                                        \
    }

/* A value that is not negative has the parameter 0, others have 1. */
typedef struct {
    integers a_zero, b_zero;
    strip above, below;
    bool has_slopes; /* b has factors of negative values */
} slopes;

QRT_INLINE void slope_block(qrt_container container, char *to, const operand *a, const operand *b, int64_t i,
                            const slopes *s, qrt_rule rule) {
    integers q[4];
    for (int v = 0; v < 4; v++) {
        const integers acc = V(sub_epi32)(lanes_of(container, a, i + v * LANES), s->a_zero);
        integers product = acc;
        if (s->has_slopes)
            product = V(mullo_epi32)(acc, V(sub_epi32)(lanes_of(container, b, i + v * LANES), s->b_zero));
        const integers negative = V(srai_epi32)(acc, 31);
        q[v] = (requantize(product, &s->below, rule) & negative) | (requantize(acc, &s->above, rule) & ~negative);
    }
    store_block(container, to, q);
}

QRT_INLINE void slope_row_of(qrt_container container, const slopes *parameters, operand a, operand b, void *target,
                             int64_t count, qrt_rule rule) {
    const slopes s = *parameters;
#define SLOPE_BLOCK(to, x, y, i) slope_block(container, to, x, y, i, &s, rule)
    BY_BLOCKS(container, a, b, target, count, SLOPE_BLOCK);
#undef SLOPE_BLOCK
}

static void slope_row(qrt_container container, const slopes *s, operand a, operand b, void *target, int64_t count) {
    if (container == QRT_I8)
        slope_row_of(QRT_I8, s, a, b, target, count, QRT_FIXED_DOUBLE);
    else if (container == QRT_U8)
        slope_row_of(QRT_U8, s, a, b, target, count, QRT_FIXED_DOUBLE);
    else if (container == QRT_I16)
        slope_row_of(QRT_I16, s, a, b, target, count, QRT_FIXED_DOUBLE);
    else
        slope_row_of(QRT_U16, s, a, b, target, count, QRT_FIXED_DOUBLE);
}

/* Returns false where the rule or its parameters are none that the vectors compute exactly. */
static bool load_slopes(const qrt_requant *requant, qrt_container container, int64_t zero_point, slopes *to) {
    if (requant->rule != QRT_FIXED_DOUBLE || requant->container != container || container > QRT_U16 ||
        !requant->zero_point_i32 || qrt_largest_difference(container, &zero_point, 1) > 1 << 30)
        return false;
    to->a_zero = V(set1_epi32)((int)zero_point);
    return load_strip(requant, 0, 0, ALL, QRT_FIXED_DOUBLE, &to->above) &&
           load_strip(requant, 1, 0, ALL, QRT_FIXED_DOUBLE, &to->below);
}

static bool prelu_row(const qrt_pair_args *args, const void *a, int64_t a_stride, const void *b, int64_t b_stride,
                      void *target, int64_t count) {
    slopes s = {.has_slopes = true};
    const int64_t most_a = qrt_largest_difference(args->a, &args->a_zero_point, 1);
    const int64_t most_b = qrt_largest_difference(args->b, &args->b_zero_point, 1);
    if (args->a != args->b || !load_slopes(&args->requant, args->a, args->a_zero_point, &s) || most_b > 1 << 30 ||
        most_a * most_b > INT32_MAX)
        return false;
    s.b_zero = V(set1_epi32)((int)args->b_zero_point);
    slope_row(args->a, &s, operand_of(args->a, a, a_stride), operand_of(args->b, b, b_stride), target, count);
    return true;
}

void QRT_OF_ISA(pair_row)(const qrt_pair_args *args, const void *a, int64_t a_stride, const void *b, int64_t b_stride,
                          void *target, int64_t count) {
    const bool steps = (a_stride | 1) == 1 && (b_stride | 1) == 1 && count > 0;
    if (steps && args->kind <= QRT_MINIMUM) {
        EXTREME_ROW(QRT_I8)
        EXTREME_ROW(QRT_U8)
        EXTREME_ROW(QRT_I16)
        EXTREME_ROW(QRT_U16)
    }
    if (!steps || args->kind != QRT_PRELU || !prelu_row(args, a, a_stride, b, b_stride, target, count))
        QRT_OF_ISA(parent).pair_row(args, a, a_stride, b, b_stride, target, count);
}

void QRT_OF_ISA(leaky_relu_row)(const qrt_unary_args *args, const void *source, void *target, int64_t count,
                                int64_t parameter, int64_t step) {
    slopes s = {.has_slopes = false};
    if (count == 0 || !load_slopes(&args->requant, args->container, *args->zero_point, &s)) {
        QRT_OF_ISA(parent).leaky_relu_row(args, source, target, count, parameter, step);
        return;
    }
    const operand x = operand_of(args->container, source, 1);
    slope_row(args->container, &s, x, x, target, count);
}
