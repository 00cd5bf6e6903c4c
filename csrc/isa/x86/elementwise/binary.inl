/* add, sub and mul of two operands of one container of 8 or 16 bits, whose result has it too, for vectors of any width,
 * in one pass. The including file includes shifts.h and gives the ports. It calls binary_in_blocks first, and where
 * that returns false computes the row otherwise.
 *
 * Exact. Sums of the rule fixed: where |a - za| * |ma| + |b - zb| * |mb| + 2^(N-1) is below 2^31 every final sum is
 * too, whatever wraps on the way. Sums of the rule fixed_double: the operands are shifted to the left by places that
 * their sum of magnitudes fits, and scaling makes none larger. Products fit 32 bits, which products_fit checks.
 * strip.inl has the rules. Hazard: the target may be an operand, so a block is read before it is stored. */
#include "isa/x86/elementwise/lanes.inl"
#include "isa/x86/store/strip.inl"

typedef enum { FUSED, SUM, SCALED_SUM, PRODUCT } binary_form;

typedef struct {
    integers a_zero, b_zero;
    /* SUM */
    integers a, b, start, zero_point, low, high;
    __m128i shift;
    /* FUSED */
    floats a_scale, b_scale, offset, low_f32, high_f32;
    /* SCALED_SUM: the operands' factors, and the places to the left before */
    strip a_strip, b_strip;
    __m128i a_places, b_places;
    bool subtracts;
    strip out;
} binary;

static bool is_within(int64_t value, int64_t limit) {
    return value <= limit && value >= -limit;
}

#define MOST_ZERO (1 << 30)

static bool load_sum(const qrt_binary_args *args, int64_t p, int64_t most_a, int64_t most_b, binary *to) {
    const int64_t za = args->a_zero_point[p], zb = args->b_zero_point[p];
    const int64_t ma = args->a_multiplier[p], mb = args->b_multiplier[p];
    const int64_t zero_point = args->requant.zero_point[p], shift = args->requant.shift[p];
    if (shift < 1 || shift > 30 || args->requant.multiplier[p] != 1 || !is_within(ma, INT32_MAX) ||
        !is_within(mb, INT32_MAX) || !is_within(zero_point, MOST_ZERO))
        return false;
    if (most_a * (ma < 0 ? -ma : ma) + most_b * (mb < 0 ? -mb : mb) > INT32_MAX - (1 << (shift - 1)))
        return false;
    const int64_t signed_mb = args->kind == QRT_ADD ? mb : -mb;
    to->a = V(set1_epi32)((int)ma);
    to->b = V(set1_epi32)((int)signed_mb);
    to->start = V(set1_epi32)((int)((1 << (shift - 1)) - za * ma - zb * signed_mb));
    to->shift = _mm_cvtsi32_si128((int)shift);
    to->zero_point = V(set1_epi32)((int)zero_point);
    to->low = V(set1_epi32)((int)args->requant.storage_min);
    to->high = V(set1_epi32)((int)args->requant.storage_max);
    return true;
}

static bool load_operand(int64_t multiplier, int32_t shift, strip *to) {
    const int32_t factor = (int32_t)multiplier, zero = 0;
    const qrt_requant scaling = {.storage_min = INT32_MIN,
                                 .storage_max = INT32_MAX,
                                 .multiplier = &factor,
                                 .shift = &shift,
                                 .zero_point_i32 = &zero};
    return factor == multiplier && load_strip(&scaling, 0, 0, ALL, QRT_FIXED_DOUBLE, to);
}

/* The largest magnitude of an operand that is shifted to the left and scaled; past 32 bits where the shift leaves them.
 * The multiplier is below 1, and rounding adds at most 1. */
static int64_t most_scaled(int64_t most, int64_t places, int64_t shift) {
    if (places < 0 || places > 30 || shift < -31 || shift > 0 || most << places > INT32_MAX)
        return INT32_MAX;
    return ((most << places) >> -shift) + 1;
}

/* With one rounding, all places are shifted before the product. */
static bool load_scaled_sum(const qrt_binary_args *args, int64_t p, int64_t most_a, int64_t most_b, binary *to) {
    const bool once = args->rounds_once;
    const int32_t a_shift = once ? 0 : args->a_shift[p], b_shift = once ? 0 : args->b_shift[p];
    const int64_t a_places = args->left_shift + (once ? args->a_shift[p] : 0);
    const int64_t b_places = args->left_shift + (once ? args->b_shift[p] : 0);
    if (most_scaled(most_a, a_places, a_shift) + most_scaled(most_b, b_places, b_shift) > INT32_MAX)
        return false;
    to->a_places = _mm_cvtsi32_si128((int)a_places);
    to->b_places = _mm_cvtsi32_si128((int)b_places);
    to->subtracts = args->kind == QRT_SUB;
    return load_operand(args->a_multiplier[p], a_shift, &to->a_strip) &&
           load_operand(args->b_multiplier[p], b_shift, &to->b_strip) &&
           load_strip(&args->requant, p, 0, ALL, QRT_FIXED_DOUBLE, &to->out);
}

static void load_fused(const qrt_binary_args *args, int64_t p, binary *to) {
    to->a_scale = V(set1_ps)(args->a_scale[p]);
    to->b_scale = V(set1_ps)(args->b_scale[p]);
    to->offset = V(set1_ps)(args->requant.offset_f32[p]);
    to->low_f32 = V(set1_ps)((float)args->requant.storage_min);
    to->high_f32 = V(set1_ps)((float)args->requant.storage_max);
}

QRT_INLINE integers binary_lanes(const binary *s, integers a, integers b, binary_form form, qrt_rule rule) {
    if (form == SUM) {
        const integers sum = V(add_epi32)(V(add_epi32)(V(mullo_epi32)(a, s->a), s->start), V(mullo_epi32)(b, s->b));
        const integers q = V(add_epi32)(V(sra_epi32)(sum, s->shift), s->zero_point);
        return V(min_epi32)(V(max_epi32)(q, s->low), s->high);
    }
    if (form == FUSED) {
        const floats inner = V(fmadd_ps)(V(cvtepi32_ps)(b), s->b_scale, s->offset);
        const floats sum = V(fmadd_ps)(V(cvtepi32_ps)(a), s->a_scale, inner);
        return round_half_even(V(min_ps)(V(max_ps)(sum, s->low_f32), s->high_f32));
    }
    a = V(sub_epi32)(a, s->a_zero);
    b = V(sub_epi32)(b, s->b_zero);
    if (form == PRODUCT)
        return requantize(V(mullo_epi32)(a, b), &s->out, rule);
    a = requantize_twice(V(sll_epi32)(a, s->a_places), &s->a_strip);
    b = requantize_twice(V(sll_epi32)(b, s->b_places), &s->b_strip);
    return requantize_twice(s->subtracts ? V(sub_epi32)(a, b) : V(add_epi32)(a, b), &s->out);
}

QRT_INLINE void binary_block(qrt_container container, char *to, const operand *a, const operand *b, int64_t i,
                             const binary *s, binary_form form, qrt_rule rule) {
    integers q[4];
    for (int v = 0; v < 4; v++)
        q[v] =
            binary_lanes(s, lanes_of(container, a, i + v * LANES), lanes_of(container, b, i + v * LANES), form, rule);
    store_block(container, to, q);
}

QRT_INLINE void binary_row_of(qrt_container container, const binary *parameters, operand a, operand b, void *target,
                              int64_t count, binary_form form, qrt_rule rule) {
    const binary s = *parameters; /* a copy, because stores to target might otherwise change them */
#define BINARY_BLOCK(to, x, y, i) binary_block(container, to, x, y, i, &s, form, rule)
    BY_BLOCKS(container, a, b, target, count, BINARY_BLOCK);
#undef BINARY_BLOCK
}

#define BINARY_ROW(name, container, form, rule)                                                                        \
    static void name(const binary *s, operand a, operand b, void *target, int64_t count) {                             \
        binary_row_of(container, s, a, b, target, count, form, rule);                                                  \
    }
#define BINARY_ROWS(form, rule)                                                                                        \
    BINARY_ROW(form##_##rule##_i8, QRT_I8, form, rule)                                                                 \
    BINARY_ROW(form##_##rule##_u8, QRT_U8, form, rule)                                                                 \
    BINARY_ROW(form##_##rule##_i16, QRT_I16, form, rule)                                                               \
    BINARY_ROW(form##_##rule##_u16, QRT_U16, form, rule)
#define BINARY_NAMES(form, rule) {form##_##rule##_i8, form##_##rule##_u8, form##_##rule##_i16, form##_##rule##_u16}

BINARY_ROWS(FUSED, QRT_RAW_MEAN)
BINARY_ROWS(SUM, QRT_FIXED)
BINARY_ROWS(SCALED_SUM, QRT_FIXED_DOUBLE)
BINARY_ROWS(PRODUCT, QRT_FIXED)
BINARY_ROWS(PRODUCT, QRT_FIXED_DOUBLE)
BINARY_ROWS(PRODUCT, QRT_FLOAT32)
BINARY_ROWS(PRODUCT, QRT_RAW_MEAN)

typedef void (*binary_rows[4])(const binary *s, operand a, operand b, void *target, int64_t count);

static const binary_rows fused_rows = BINARY_NAMES(FUSED, QRT_RAW_MEAN);
static const binary_rows sum_rows = BINARY_NAMES(SUM, QRT_FIXED);
static const binary_rows scaled_sum_rows = BINARY_NAMES(SCALED_SUM, QRT_FIXED_DOUBLE);
static const binary_rows product_rows[QRT_RULES] = {
    [QRT_FIXED] = BINARY_NAMES(PRODUCT, QRT_FIXED),
    [QRT_FIXED_DOUBLE] = BINARY_NAMES(PRODUCT, QRT_FIXED_DOUBLE),
    [QRT_FLOAT32] = BINARY_NAMES(PRODUCT, QRT_FLOAT32),
    [QRT_RAW_MEAN] = BINARY_NAMES(PRODUCT, QRT_RAW_MEAN),
};

/* The rows by container of the form that computes this call exactly, with their parameters; NULL: there is none. */
static const binary_rows *load_binary(const qrt_binary_args *args, int64_t p, binary *to) {
    const int64_t most_a = qrt_largest_difference(args->a, args->a_zero_point + p, 1);
    const int64_t most_b = qrt_largest_difference(args->b, args->b_zero_point + p, 1);
    const qrt_rule rule = args->requant.rule;
    if (args->a_scale) {
        load_fused(args, p, to);
        return &fused_rows;
    }
    if (most_a > MOST_ZERO || most_b > MOST_ZERO || !args->requant.zero_point_i32)
        return NULL;
    to->a_zero = V(set1_epi32)((int)args->a_zero_point[p]);
    to->b_zero = V(set1_epi32)((int)args->b_zero_point[p]);
    if (args->kind == QRT_MUL)
        return most_a * most_b <= INT32_MAX && product_rows[rule][0] &&
                       load_strip(&args->requant, p, 0, ALL, rule, &to->out)
                   ? &product_rows[rule]
                   : NULL;
    if (rule == QRT_FIXED)
        return load_sum(args, p, most_a, most_b, to) ? &sum_rows : NULL;
    return rule == QRT_FIXED_DOUBLE && load_scaled_sum(args, p, most_a, most_b, to) ? &scaled_sum_rows : NULL;
}

/* Returns whether it has computed the row. */
static bool binary_in_blocks(const qrt_binary_args *args, const void *a, int64_t a_stride, const void *b,
                             int64_t b_stride, void *target, int64_t count, int64_t parameter, int64_t step) {
    const qrt_container container = args->requant.container;
    binary s;
    if (step || (a_stride | 1) != 1 || (b_stride | 1) != 1 || container > QRT_U16 || args->a != container ||
        args->b != container || count == 0)
        return false;
    const binary_rows *rows = load_binary(args, parameter, &s);
    if (rows)
        (*rows)[container](&s, operand_of(container, a, a_stride), operand_of(container, b, b_stride), target, count);
    return rows != NULL;
}
