/* Requantize-and-store of i32 tiles: fixed to any container, float32 to 8 and 16 bits, and the i32 accumulator as it
 * is; the rest is the parent's. Eight columns (a strip) at a time; parameters are loaded once per strip unless they
 * belong to the rows.
 *
 *   vpmuldq            32 x 32 -> 64 bit signed products of the even lanes; the odd ones are shifted down first
 *   vpsrlvq            logical 64-bit shift by a count per lane; there is no arithmetic one, so 2^63 is added first and
 * its image 2^63 >> N taken off after, which makes floor division of a signed number vcvtdq2ps, vmulps  the two
 * roundings of float32; vcvtps2dq half even: the entry has set the control register vpack[su]sdw, vpack[su]swb  narrow
 * values that are within the container already
 *
 * Exact for the reasons given in avx512/store.c; taking off 2^63 >> N and adding the zero point wrap modulo 2^32
 * towards a value that fits. */
#include "isa/rows.h"
#include "widen.h"

#define STRIP 8
#define EXACT_ZERO_POINT (1 << 23) /* bounds less it need at most 24 bits */

typedef struct {
    __m256i zero_point, low, high;
    __m256 scale, low_f32, high_f32;
    __m256i multiplier_even, multiplier_odd, shift_even, shift_odd, round_even, round_odd, excess;
} strip;

static inline __m256i load_i32(const int32_t *values, int64_t parameter, int64_t step) {
    return step ? _mm256_loadu_si256((const __m256i *)(values + parameter)) : _mm256_set1_epi32(values[parameter]);
}

/* Even lanes from the low halves of `even`, odd lanes from those of `odd`. */
static inline __m256i interleave(__m256i even, __m256i odd) {
    return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
}

static inline bool all_within(__m256i values, int low, int high, int live) {
    const __m256i outside = _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(low), values),
                                            _mm256_cmpgt_epi32(values, _mm256_set1_epi32(high)));
    return (_mm256_movemask_ps(_mm256_castsi256_ps(outside)) & live) == 0;
}

/* The parameters of the live columns; false where a formula below would not be exact. */
static inline __attribute__((always_inline)) bool load_fixed(const qrt_requant *requant, int64_t parameter,
                                                             int64_t step, int live, strip *to) {
    const __m256i multiplier = load_i32(requant->multiplier, parameter, step);
    const __m256i shift = load_i32(requant->shift, parameter, step);
    const __m256i one = _mm256_set1_epi64x(1), bias = _mm256_set1_epi64x(INT64_MIN);
    to->multiplier_even = multiplier;
    to->multiplier_odd = _mm256_srli_epi64(multiplier, 32);
    to->shift_even = _mm256_and_si256(shift, _mm256_set1_epi64x(0xffffffff));
    to->shift_odd = _mm256_srli_epi64(shift, 32);
    to->round_even = _mm256_or_si256(bias, _mm256_sllv_epi64(one, _mm256_sub_epi64(to->shift_even, one)));
    to->round_odd = _mm256_or_si256(bias, _mm256_sllv_epi64(one, _mm256_sub_epi64(to->shift_odd, one)));
    to->excess = interleave(_mm256_srlv_epi64(bias, to->shift_even), _mm256_srlv_epi64(bias, to->shift_odd));
    return all_within(shift, 31, 62, live);
}

static inline __attribute__((always_inline)) bool load_float32(const qrt_requant *requant, int64_t parameter,
                                                               int64_t step, int live, strip *to) {
    to->scale = step ? _mm256_loadu_ps(requant->scale_f32 + parameter) : _mm256_set1_ps(requant->scale_f32[parameter]);
    to->low_f32 = _mm256_cvtepi32_ps(to->low);
    to->high_f32 = _mm256_cvtepi32_ps(to->high);
    return all_within(to->zero_point, -EXACT_ZERO_POINT, EXACT_ZERO_POINT, live);
}

static inline __attribute__((always_inline)) bool load_strip(const qrt_requant *requant, int64_t parameter,
                                                             int64_t step, int live, bool fixed, strip *to) {
    to->zero_point = load_i32(requant->zero_point_i32, parameter, step);
    to->low = _mm256_sub_epi32(_mm256_set1_epi32((int)requant->storage_min), to->zero_point);
    to->high = _mm256_sub_epi32(_mm256_set1_epi32((int)requant->storage_max), to->zero_point);
    return fixed ? load_fixed(requant, parameter, step, live, to) : load_float32(requant, parameter, step, live, to);
}

static inline __m256i requantize_fixed(__m256i acc, const strip *s) {
    const __m256i odd_lanes = _mm256_srli_epi64(acc, 32);
    __m256i even = _mm256_add_epi64(_mm256_mul_epi32(acc, s->multiplier_even), s->round_even);
    __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(odd_lanes, s->multiplier_odd), s->round_odd);
    even = _mm256_srlv_epi64(even, s->shift_even);
    odd = _mm256_srlv_epi64(odd, s->shift_odd);
    const __m256i q = _mm256_sub_epi32(interleave(even, odd), s->excess);
    return _mm256_add_epi32(_mm256_min_epi32(_mm256_max_epi32(q, s->low), s->high), s->zero_point);
}

static inline __m256i requantize_float32(__m256i acc, const strip *s) {
    __m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(acc), s->scale);
    v = _mm256_min_ps(_mm256_max_ps(v, s->low_f32), s->high_f32);
    return _mm256_add_epi32(_mm256_cvtps_epi32(v), s->zero_point);
}

static inline __attribute__((always_inline)) void store_rows(const qrt_requant *requant, const int32_t *acc,
                                                             int64_t acc_stride, int rows, int columns, char *target,
                                                             int64_t target_stride, int64_t parameter, int64_t row_step,
                                                             int64_t column_step, bool fixed, int size) {
    const int group = row_step ? 1 : rows; /* rows that share parameters */
    for (int j = 0; j < columns; j += STRIP) {
        const int width = columns - j < STRIP ? columns - j : STRIP;
        const int live = (1 << width) - 1;
        for (int i = 0; i < rows; i += group) {
            const int64_t index = parameter + i * row_step + j * column_step;
            strip s;
            if (!load_strip(requant, index, column_step, live, fixed, &s)) {
                avx2_parent.store(requant, acc + i * acc_stride + j, acc_stride, group, width,
                                  target + (i * target_stride + j) * size, target_stride, index, row_step, column_step);
                continue;
            }
            for (int row = i; row < i + group; row++) {
                const __m256i value = _mm256_loadu_si256((const __m256i *)(acc + row * acc_stride + j));
                const __m256i q = fixed ? requantize_fixed(value, &s) : requantize_float32(value, &s);
                store_eight(target + (row * target_stride + j) * size, narrow_eight(q, requant->container, size), width,
                            size);
            }
        }
    }
}

/* M = 1: (acc * 2^30 + 2^29) >> 30 is acc. */
static bool is_accumulator(const qrt_requant *requant, int64_t parameter, int count) {
    bool is = requant->storage_min == INT32_MIN && requant->storage_max == INT32_MAX;
    for (int i = 0; i < count; i++)
        is = is && requant->multiplier[parameter + i] == 1 << 30 && requant->shift[parameter + i] == 30 &&
             requant->zero_point[parameter + i] == 0;
    return is;
}

void avx2_store(const qrt_requant *requant, const int32_t *acc, int64_t acc_stride, int rows, int columns, void *target,
                int64_t target_stride, int64_t parameter, int64_t row_step, int64_t column_step) {
    const bool fixed = requant->rule == QRT_FIXED, float32 = requant->rule == QRT_FLOAT32;
    const int size = requant->container <= QRT_U8 ? 1 : requant->container <= QRT_U16 ? 2 : 4;
#define ROWS(fixed, size)                                                                                              \
    store_rows(requant, acc, acc_stride, rows, columns, target, target_stride, parameter, row_step, column_step,       \
               fixed, size)
    if (requant->container == QRT_I32 && fixed && !row_step &&
        is_accumulator(requant, parameter, column_step ? columns : 1))
        for (int i = 0; i < rows; i++)
            memcpy((int32_t *)target + i * target_stride, acc + i * acc_stride, (size_t)columns * sizeof *acc);
    else if (fixed && requant->zero_point_i32 && size == 1)
        ROWS(true, 1);
    else if (fixed && requant->zero_point_i32 && size == 2)
        ROWS(true, 2);
    else if (fixed && requant->zero_point_i32)
        ROWS(true, 4);
    else if (float32 && requant->zero_point_i32 && size == 1)
        ROWS(false, 1);
    else if (float32 && requant->zero_point_i32 && size == 2)
        ROWS(false, 2);
#undef ROWS
    else
        avx2_parent.store(requant, acc, acc_stride, rows, columns, target, target_stride, parameter, row_step,
                          column_step);
}
