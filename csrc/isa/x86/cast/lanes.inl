/* Casts of one vector of 32-bit lanes, or of four, for any width. The including file gives the instructions and their
 * ports. It defines, beside vectors.h,
 *
 *   clamp_magnitude(v, bound)           v between -bound and bound; what becomes of NaNs does not matter
 *   clamp_input(x, bound, keep)         the same; NaNs pass with `keep`, else become 0
 *   numbers, numbers_of(v)              the lanes that are not NaN
 *   where(numbers, q, otherwise), where_or_zero(numbers, q)
 *   has_word(words, word)               whether a 16-bit lane equals that of `word`
 *   order_bytes, order_words            undo what two packs, or one, did across 128-bit lanes
 *   unsigned_to_floats(q)               rounded once
 *
 * guard.inl has the proof. Hazard: memory may end behind the last elements, see `readable`. */
#ifndef V
#error "vectors.h comes first"
#endif

#define BLOCK (4 * LANES)
/* Keeps an operand from being loaded twice, or a constant from being broadcast again in each block. */
#define KEEP_IN_REGISTER(vector) __asm__("" : "+v"(vector))

/* Returns the source, or a copy of its `count` elements where a load of all lanes would read past them. */
QRT_INLINE const char *readable(const char *source, char buffer[sizeof(integers)], int64_t count, int size) {
    return LOADS_ARE_MASKED || count >= LANES ? source : memcpy(buffer, source, (size_t)(count * size));
}

/* ---- the formats ---- */

QRT_INLINE floats load_live(const char *source, live_lanes live, qrt_expressed expressed) {
    if (expressed == QRT_F32)
        return (floats)load_integers(source, live);
    const words bits = load_words(source, live);
    if (expressed == QRT_F16)
        return V(cvtph_ps)(bits);
    return (floats)V(slli_epi32)(V(cvtepu16_epi32)(bits), 16);
}

QRT_INLINE floats load_expressed(const char *source, qrt_expressed expressed) {
    floats x = load_live(source, ALL, expressed);
    if (expressed == QRT_F32)
        KEEP_IN_REGISTER(x);
    return x;
}

/* The bits of a float rounded to bf16 are in the upper halves; the lower halves are arbitrary. */
QRT_INLINE integers rounded_bf16(floats v) {
    const integers bits = (integers)v;
    const integers odd = V(srli_epi32)(bits, 16) & V(set1_epi32)(1);
    return V(add_epi32)(V(add_epi32)(bits, V(set1_epi32)(0x7fff)), odd);
}

QRT_INLINE floats round_expressed(floats v, qrt_expressed expressed) {
    if (expressed == QRT_F16)
        return V(cvtph_ps)(V(cvtps_ph)(v, _MM_FROUND_TO_NEAREST_INT));
    if (expressed == QRT_BF16)
        return (floats)(rounded_bf16(v) & V(set1_epi32)((int)0xffff0000));
    return v;
}

/* ---- qcast ---- */

typedef struct {
    floats scale, reciprocal, bound, rounded_zero;
    integers zero;
} lanes;

QRT_INLINE floats load_f32(const qrt_cast_parameters *parameters, int array, int64_t index, bool each) {
    const float *values = (const float *)parameters->array[array] + index;
    return each ? V(loadu_ps)(values) : V(set1_ps)(*values);
}

QRT_INLINE lanes load_lanes(const qrt_cast_parameters *parameters, int64_t index, qrt_cast_mode mode) {
    lanes p = {.scale = load_f32(parameters, QRT_SCALES, index, mode.each),
               .reciprocal = load_f32(parameters, QRT_RECIPROCALS, index, mode.each)};
    if (mode.each)
        KEEP_IN_REGISTER(p.reciprocal);
    if (!mode.trial)
        p.bound = V(mul_ps)(p.scale, V(set1_ps)(QRT_QUOTIENT_BOUND));
    if (mode.before)
        p.rounded_zero = load_f32(parameters, QRT_ROUNDED_ZERO_POINTS, index, mode.each);
    if (!mode.before || mode.expressed != QRT_F32)
        p.zero = (integers)load_f32(parameters, QRT_ZERO_POINTS, index, mode.each);
    return p;
}

QRT_INLINE integers round_to_int(floats v, qrt_rounding rounding) {
    if (rounding == QRT_HALF_EVEN)
        return round_half_even(v);
    if (rounding == QRT_HALF_AWAY) {
        const floats sign = V(and_ps)(v, V(set1_ps)(-0.0f));
        v = V(add_ps)(v, V(or_ps)(sign, V(set1_ps)(QRT_BELOW_HALF_F32)));
    }
    return V(cvttps_epi32)(v);
}

/* The steps of `count` vectors alternate: their chains are long, and the scheduler holds few blocks of them. */
#define EACH_VECTOR _Pragma("GCC unroll 4") for (int j = 0; j < count; j++)

QRT_INLINE void quantize(floats *x, const lanes *p, int count, qrt_cast_mode mode, integers *q) {
    const bool narrow = mode.expressed != QRT_F32;
    floats v[4];
    if (!mode.trial)
        EACH_VECTOR x[j] = clamp_input(x[j], p[j].bound, narrow);
    EACH_VECTOR v[j] = V(mul_ps)(x[j], p[j].reciprocal);
    if (mode.divide) {
        EACH_VECTOR x[j] = V(fnmadd_ps)(v[j], p[j].scale, x[j]);
        EACH_VECTOR v[j] = V(fmadd_ps)(x[j], p[j].reciprocal, v[j]);
    }
    EACH_VECTOR v[j] = round_expressed(v[j], mode.expressed);
    if (mode.before)
        EACH_VECTOR v[j] = round_expressed(V(add_ps)(v[j], p[j].rounded_zero), mode.expressed);
    if (narrow) {
        EACH_VECTOR {
            const numbers number = numbers_of(v[j]);
            v[j] = clamp_magnitude(v[j], V(set1_ps)(QRT_QUOTIENT_BOUND));
            q[j] = round_to_int(v[j], mode.rounding);
            q[j] = mode.before ? where(number, q[j], p[j].zero) : where_or_zero(number, q[j]);
        }
    } else
        EACH_VECTOR q[j] = round_to_int(v[j], mode.rounding);
    if (!mode.before)
        EACH_VECTOR q[j] = V(add_epi32)(q[j], p[j].zero);
}

/* The container of the results, and the bounds that they are clamped to. */
typedef struct {
    qrt_container container;
    int size;
    bool narrow;          /* the bounds are narrower than the container's, which saturation keeps to */
    integers least, most; /* as elements of the container */
    integers least_word;  /* as 16-bit words */
} sink;

QRT_INLINE sink make_sink(const qrt_cast_problem *problem, qrt_container container) {
    const int low = (int)problem->storage_min, high = (int)problem->storage_max;
    sink to = {
        .container = container, .size = qrt_container_size(container), .narrow = !qrt_cast_is_full(problem, container)};
    to.least = to.size == 1 ? V(set1_epi8)((char)low) : V(set1_epi16)((short)low);
    to.most = to.size == 1 ? V(set1_epi8)((char)high) : V(set1_epi16)((short)high);
    to.least_word = V(set1_epi16)(INT16_MIN);
    KEEP_IN_REGISTER(to.least_word);
    return to;
}

/* After a trial: whether one of the four vectors has the word that stands for values without a result. */
QRT_INLINE bool may_be_wrong(const integers q[4], const sink *to) {
    return has_word(V(min_epi16)(V(packs_epi32)(q[0], q[1]), V(packs_epi32)(q[2], q[3])), to->least_word);
}

QRT_INLINE integers block_bytes(const integers q[4], const sink *to) {
    const integers low = V(packs_epi32)(q[0], q[1]), high = V(packs_epi32)(q[2], q[3]);
    integers bytes;
    if (to->container == QRT_I8) {
        bytes = V(packs_epi16)(low, high);
        if (to->narrow)
            bytes = V(min_epi8)(V(max_epi8)(bytes, to->least), to->most);
    } else {
        bytes = V(packus_epi16)(low, high);
        if (to->narrow)
            bytes = V(min_epu8)(V(max_epu8)(bytes, to->least), to->most);
    }
    return order_bytes(bytes);
}

QRT_INLINE integers block_words(integers a, integers b, const sink *to) {
    if (to->container == QRT_I16)
        return order_words(V(min_epi16)(V(max_epi16)(V(packs_epi32)(a, b), to->least), to->most));
    return order_words(V(min_epu16)(V(max_epu16)(V(packus_epi32)(a, b), to->least), to->most));
}

QRT_INLINE void store_block(char *target, const integers q[4], const sink *to, bool stream) {
    if (to->size == 1) {
        store_whole(target, block_bytes(q, to), stream);
        return;
    }
    store_whole(target, block_words(q[0], q[1], to), stream);
    store_whole(target + sizeof(integers), block_words(q[2], q[3], to), stream);
}

/* Casts `count` elements, a vector at a time, with the clamp. */
QRT_INLINE void qcast_ends(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each, int64_t index,
                           const char *source, char *target, int64_t count, qrt_container container,
                           qrt_cast_mode mode) {
    const int source_size = qrt_expressed_size(mode.expressed), target_size = qrt_container_size(container);
    const integers low = V(set1_epi32)((int)args->problem.storage_min);
    const integers high = V(set1_epi32)((int)args->problem.storage_max);
    mode.trial = false;
    mode.each = each;
    for (int64_t i = 0; i < count; i += LANES) {
        const live_lanes live = first_lanes(count - i);
        const lanes p = load_lanes(parameters, each ? index + i : index, mode);
        char buffer[sizeof(integers)] = {0};
        floats x = load_live(readable(source + i * source_size, buffer, count - i, source_size), live, mode.expressed);
        integers q;
        quantize(&x, &p, 1, mode, &q);
        q = V(min_epi32)(V(max_epi32)(q, low), high);
        if (target_size == 1)
            store_bytes(target + i, low_bytes(q), live);
        else
            store_words(target + 2 * i, low_words(q), live, false);
    }
}

/* ---- dcast ---- */

QRT_INLINE floats load_storage(const char *source, live_lanes live, qrt_container container) {
    switch (container) { /* a jump table: comparisons in a row take longer */
    case QRT_I8:
        return V(cvtepi32_ps)(V(cvtepi8_epi32)(load_bytes(source, live)));
    case QRT_U8:
        return V(cvtepi32_ps)(V(cvtepu8_epi32)(load_bytes(source, live)));
    case QRT_I16:
        return V(cvtepi32_ps)(V(cvtepi16_epi32)(load_words(source, live)));
    case QRT_U16:
        return V(cvtepi32_ps)(V(cvtepu16_epi32)(load_words(source, live)));
    case QRT_I32:
        return V(cvtepi32_ps)(load_integers(source, live));
    default:
        return unsigned_to_floats(load_integers(source, live));
    }
}

QRT_INLINE void store_expressed(char *target, live_lanes live, floats v, bool stream, qrt_expressed expressed) {
    if (expressed == QRT_F32 && live == ALL)
        store_whole(target, (integers)v, stream);
    else if (expressed == QRT_F32)
        store_integers(target, (integers)v, live);
    else if (expressed == QRT_F16)
        store_words(target, V(cvtps_ph)(v, _MM_FROUND_TO_NEAREST_INT), live, stream);
    else
        store_words(target, low_words(V(srli_epi32)(rounded_bf16(v), 16)), live, stream);
}

typedef struct {
    floats scale, zero;
} dcast_lanes;

QRT_INLINE dcast_lanes load_dcast_lanes(const qrt_cast_parameters *parameters, int64_t index, bool each) {
    return (dcast_lanes){load_f32(parameters, QRT_SCALES, index, each),
                         load_f32(parameters, QRT_ROUNDED_ZERO_POINTS, index, each)};
}

/* f(q) - f(zp) in the format is what the rule says; the zero point has been rounded already. */
QRT_INLINE void dcast_vector(const char *source, char *target, dcast_lanes p, live_lanes live, qrt_cast_mode mode) {
    floats q = load_storage(source, live, mode.container);
    if (mode.container > QRT_U8)
        q = round_expressed(q, mode.expressed);
    const floats v = V(mul_ps)(round_expressed(V(sub_ps)(q, p.zero), mode.expressed), p.scale);
    store_expressed(target, live, v, mode.stream, mode.expressed);
}

/* Casts `count` elements, a vector at a time. */
QRT_INLINE void dcast_ends(const qrt_cast_parameters *parameters, const dcast_lanes *shared, const char *source,
                           char *target, int64_t count, qrt_cast_mode mode) {
    const int target_size = qrt_expressed_size(mode.expressed);
    mode.stream = false;
    for (int64_t i = 0; i < count; i += LANES) {
        const dcast_lanes p = mode.each ? load_dcast_lanes(parameters, i, true) : *shared;
        const char *from = source + i * qrt_container_size(mode.container);
        char *into = target + i * target_size;
        if (LOADS_ARE_MASKED) {
            dcast_vector(from, into, p, first_lanes(count - i), mode);
            continue;
        }
        char read[sizeof(integers)] = {0}, written[sizeof(integers)];
        from = readable(from, read, count - i, qrt_container_size(mode.container));
        dcast_vector(from, written, p, ALL, mode);
        memcpy(into, written, (size_t)(qrt_min(count - i, LANES) * target_size));
    }
}
