/* add, sub, mul and clamp of 8 and 16-bit storage. binary.inl has operands and results of one container; exact.h has
 * sums and products that are not rounded; the other rows go through chunks in L1.
 *
 *   vpmulld                32-bit products: of differences for mul, by the multipliers for add and sub; two uops each
 *                          on ports 0 and 1
 *   vpsrad                 floor division by a power of two; ports 0 and 1
 *   vp{min,max}{s,u}{b,w}  clamp; ports 0 and 1
 *   vfmadd                 add and sub of floats, fused as their rule is; ports 0 and 1
 *   vpmov[sz]x             widens 8 elements, on port 5 (widen.h)
 *
 * Exact. mul: the products fit 32 bits, which products_fit checks; they stay in L1, and the table's row `store`
 * requantizes them. add, sub: where |a - za| * |ma| + |b - zb| * |mb| + 2^(N-1) is below 2^31 every final sum is too,
 * whatever wraps on the way. Calls outside of these bounds, and parameters that differ within a row of add and sub, go
 * to the parent. */
#include "exact.h"
#include "isa/rows.h"
#include "shifts.h"
#include "widen.h"

#include "isa/x86/elementwise/binary.inl"

/* ---- mul ---- */

static void multiply(int32_t *acc, const int32_t *right, int64_t count) {
    for (int64_t i = 0; i < count; i += 8) {
        __m256i *const at = (__m256i *)(acc + i);
        const __m256i factor = _mm256_loadu_si256((const __m256i *)(right + i));
        _mm256_storeu_si256(at, _mm256_mullo_epi32(_mm256_loadu_si256(at), factor));
    }
}

static bool products_fit(const qrt_binary_args *args, int64_t parameter, int64_t parameters) {
    const int64_t most_a = qrt_largest_difference(args->a, args->a_zero_point + parameter, parameters);
    const int64_t most_b = qrt_largest_difference(args->b, args->b_zero_point + parameter, parameters);
    return most_a <= MOST_ZERO_POINT && most_b <= MOST_ZERO_POINT && most_a * most_b <= INT32_MAX;
}

/* ---- add, sub ---- */

typedef struct {
    int64_t a, b, start, shift, zero_point, low, high;
} sum_parameters;

/* Sets sum = a * value of a + b * value of b + start. Returns false where the sum could leave 32 bits. */
static bool sum_fits(const qrt_binary_args *args, int64_t parameter, sum_parameters *to) {
    const int64_t za = args->a_zero_point[parameter], zb = args->b_zero_point[parameter];
    const int64_t most_a = qrt_largest_difference(args->a, &za, 1), most_b = qrt_largest_difference(args->b, &zb, 1);
    const int64_t ma = args->a_multiplier[parameter], mb = args->b_multiplier[parameter];
    const int64_t zero_point = args->requant.zero_point[parameter], shift = args->requant.shift[parameter];
    if (args->requant.rule != QRT_FIXED || shift < 1 || shift > 30 || args->requant.multiplier[parameter] != 1)
        return false;
    if (most_a > MOST_ZERO_POINT || most_b > MOST_ZERO_POINT || !within(ma, INT32_MAX) || !within(mb, INT32_MAX) ||
        !within(zero_point, MOST_ZERO_POINT))
        return false;
    if (most_a * (ma < 0 ? -ma : ma) + most_b * (mb < 0 ? -mb : mb) > INT32_MAX - (1 << (shift - 1)))
        return false;
    const int64_t signed_mb = args->kind == QRT_ADD ? mb : -mb, start = (1 << (shift - 1)) - za * ma - zb * signed_mb;
    *to =
        (sum_parameters){ma, signed_mb, start, shift, zero_point, args->requant.storage_min, args->requant.storage_max};
    return true;
}

/* Returns clamp((left * a + right * b + start) >> shift + zero point) of eight elements. */
QRT_INLINE __m256i add_eight(const sum_parameters *p, const int32_t *left, const int32_t *right) {
    const __m256i x = _mm256_mullo_epi32(_mm256_loadu_si256((const __m256i *)left), _mm256_set1_epi32((int)p->a));
    const __m256i y = _mm256_mullo_epi32(_mm256_loadu_si256((const __m256i *)right), _mm256_set1_epi32((int)p->b));
    const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(x, y), _mm256_set1_epi32((int)p->start));
    const __m256i q = _mm256_add_epi32(_mm256_sra_epi32(sum, _mm_cvtsi32_si128((int)p->shift)),
                                       _mm256_set1_epi32((int)p->zero_point));
    return _mm256_min_epi32(_mm256_max_epi32(q, _mm256_set1_epi32((int)p->low)), _mm256_set1_epi32((int)p->high));
}

QRT_INLINE void add_of(qrt_container container, const sum_parameters *p, const int32_t *left, const int32_t *right,
                       int64_t count, char *target) {
    const int size = qrt_container_size(container);
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        store_eight(target + i * size, narrow_eight(add_eight(p, left + i, right + i), container, size), 8, size);
    if (i < count)
        store_eight(target + i * size, narrow_eight(add_eight(p, left + i, right + i), container, size),
                    (int)(count - i), size);
}

static void add_chunk(qrt_container container, const sum_parameters *p, const int32_t *left, const int32_t *right,
                      int64_t count, char *target) {
    const sum_parameters own = *p; /* a copy, because stores to target might otherwise change them */
    if (container == QRT_I32)
        add_of(QRT_I32, &own, left, right, count, target);
    else
        BY_CONTAINER(add_of, container, &own, left, right, count, target);
}

/* ---- add, sub by fused multiply-adds ---- */

typedef struct {
    __m256 a, b, offset, low, high;
} fused_parameters;

QRT_INLINE __m256i fused_eight(const fused_parameters *p, const int32_t *left, const int32_t *right) {
    const __m256 x = _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)left));
    const __m256 y = _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)right));
    const __m256 sum = _mm256_fmadd_ps(x, p->a, _mm256_fmadd_ps(y, p->b, p->offset));
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(sum, p->low), p->high));
}

QRT_INLINE void fused_of(qrt_container container, const fused_parameters *p, const int32_t *left, const int32_t *right,
                         int64_t count, char *target) {
    const int size = qrt_container_size(container);
    for (int64_t i = 0; i < count; i += 8)
        store_eight(target + i * size, narrow_eight(fused_eight(p, left + i, right + i), container, size),
                    count - i < 8 ? (int)(count - i) : 8, size);
}

static void fused_chunk(qrt_container container, const fused_parameters *p, const int32_t *left, const int32_t *right,
                        int64_t count, char *target) {
    const fused_parameters own = *p; /* a copy, because stores to target might otherwise change them */
    BY_CONTAINER(fused_of, container, &own, left, right, count, target);
}

/* All storage has at most 16 bits, which float32 holds. */
static void fused_row(const qrt_binary_args *args, const char *a, int64_t a_stride, const char *b, int64_t b_stride,
                      char *target, int64_t count, int64_t parameter) {
    const int a_size = qrt_container_size(args->a), b_size = qrt_container_size(args->b);
    const qrt_requant *requant = &args->requant;
    const fused_parameters p = {_mm256_set1_ps(args->a_scale[parameter]), _mm256_set1_ps(args->b_scale[parameter]),
                                _mm256_set1_ps(requant->offset_f32[parameter]),
                                _mm256_set1_ps((float)requant->storage_min),
                                _mm256_set1_ps((float)requant->storage_max)};
    int32_t left[CHUNK + BEHIND], right[CHUNK + BEHIND];
    for (int64_t i = 0; i < count; i += CHUNK) {
        const int64_t part = count - i < CHUNK ? count - i : CHUNK;
        widen(args->a, a + i * a_stride * a_size, a_stride, 0, part, left);
        widen(args->b, b + i * b_stride * b_size, b_stride, 0, part, right);
        fused_chunk(requant->container, &p, left, right, part, target + i * qrt_container_size(requant->container));
    }
}

/* ---- rows ---- */

qrt_status avx2_binary_row(const qrt_binary_args *args, const void *a, int64_t a_stride, const void *b,
                           int64_t b_stride, void *target, int64_t count, int64_t parameter, int64_t step) {
    const int a_size = qrt_container_size(args->a), b_size = qrt_container_size(args->b);
    const int size = qrt_container_size(args->requant.container);
    const bool multiplies = args->kind == QRT_MUL;
    sum_parameters p = {0};
    if (binary_in_blocks(args, a, a_stride, b, b_stride, target, count, parameter, step))
        return QRT_OK;
    if (args->a_scale && !step && args->a <= QRT_U16 && args->b <= QRT_U16 && args->requant.container <= QRT_U16) {
        fused_row(args, a, a_stride, b, b_stride, target, count, parameter);
        return QRT_OK;
    }
    if (!args->a_scale && !step && (a_stride | 1) == 1 && (b_stride | 1) == 1 && args->a <= QRT_U16 &&
        is_exact(args, parameter)) {
        exact_row(args, a, a_stride, b, b_stride, target, count, parameter);
        return QRT_OK;
    }
    if (args->a_scale || args->a > QRT_U16 || args->b > QRT_U16 ||
        !(multiplies ? products_fit(args, parameter, step ? count : 1)
                     : !step && args->requant.container <= QRT_I32 && sum_fits(args, parameter, &p)))
        return avx2_parent.binary_row(args, a, a_stride, b, b_stride, target, count, parameter, step);
    int32_t left[CHUNK + BEHIND], right[CHUNK + BEHIND];
    for (int64_t i = 0; i < count; i += CHUNK) {
        const int64_t part = count - i < CHUNK ? count - i : CHUNK, index = parameter + i * step;
        const char *from_a = (const char *)a + i * a_stride * a_size, *from_b = (const char *)b + i * b_stride * b_size;
        char *to = (char *)target + i * size;
        if (multiplies) {
            clear_behind(left, part);
            clear_behind(right, part);
            differences(args->a, from_a, a_stride, args->a_zero_point + index, step, part, left);
            differences(args->b, from_b, b_stride, args->b_zero_point + index, step, part, right);
            multiply(left, right, part);
            args->kernels->store(&args->requant, left, 0, 1, (int)part, to, 0, index, 0, step);
        } else {
            widen(args->a, from_a, a_stride, 0, part, left);
            widen(args->b, from_b, b_stride, 0, part, right);
            add_chunk(args->requant.container, &p, left, right, part, to);
        }
    }
    return QRT_OK;
}

void avx2_clamp_row(const qrt_unary_args *args, const void *source, void *target, int64_t count, int64_t parameter,
                    int64_t step) {
    const int size = qrt_container_size(args->container);
    const int64_t lower = args->lower[parameter], upper = args->upper[parameter], lanes = 32 / size;
    if (args->container > QRT_U16 || step) {
        avx2_parent.clamp_row(args, source, target, count, parameter, step);
        return;
    }
    const __m256i low = size == 1 ? _mm256_set1_epi8((char)lower) : _mm256_set1_epi16((short)lower);
    const __m256i high = size == 1 ? _mm256_set1_epi8((char)upper) : _mm256_set1_epi16((short)upper);
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const __m256i q = _mm256_loadu_si256((const __m256i *)((const char *)source + i * size));
        _mm256_storeu_si256((__m256i *)((char *)target + i * size),
                            min_of(args->container, max_of(args->container, q, low), high));
    }
    avx2_parent.clamp_row(args, (const char *)source + i * size, (char *)target + i * size, count - i, parameter, step);
}
