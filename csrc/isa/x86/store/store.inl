/* Requantizes and stores tiles of 32-bit sums, for vectors of any width: the choice by rule and container. fixed,
 * fixed_double and half_up_twice go to any container, float32 and integer to 8 and 16 bits, raw_mean to 8, and an
 * accumulator of 32 bits is copied; everything else is left to the parent. LANES columns, a strip, are computed at a
 * time, and a strip loads its parameters once unless each row has its own. A rule has a case in store too. strip.inl
 * has the rules, the proof that they are exact, and what the including file defines. Hazard: whole vectors of sums are
 * read past `columns`, and never stored. */
#include "isa/x86/store/strip.inl"

#pragma GCC diagnostic error "-Wswitch-enum" /* a rule without a case does not compile */

QRT_INLINE void store_rows(const qrt_requant *requant, const int32_t *acc, int64_t acc_stride, int rows, int columns,
                           char *target, int64_t target_stride, int64_t parameter, int64_t row_step,
                           int64_t column_step, qrt_rule rule, int size) {
    const int group = row_step ? 1 : rows; /* rows that share parameters */
    strip s;
    bool exact = false;
    for (int j = 0; j < columns; j += LANES) {
        const int width = columns - j < LANES ? columns - j : LANES;
        const live_lanes live = first_lanes(width);
        for (int i = 0; i < rows; i += group) {
            const int64_t index = parameter + i * row_step + j * column_step;
            if (j == 0 || row_step || column_step)
                exact = load_strip(requant, index, column_step, live, rule, &s);
            if (!exact) {
                QRT_OF_ISA(parent).store(requant, acc + i * acc_stride + j, acc_stride, group, width,
                                         target + (i * target_stride + j) * size, target_stride, index, row_step,
                                         column_step);
                continue;
            }
            for (int row = i; row < i + group; row++) {
                const integers value = load_integers(acc + row * acc_stride + j, ALL);
                store_values(target + (row * target_stride + j) * size, requantize(value, &s, rule), live, size);
            }
        }
    }
}

/* With the multiplier 2^30 and the shift 30 the result (acc * 2^30 + 2^29) >> 30 is acc. */
static bool is_accumulator(const qrt_requant *requant, int64_t parameter, int count) {
    bool is = requant->storage_min == INT32_MIN && requant->storage_max == INT32_MAX;
    for (int i = 0; is && i < count; i++)
        is = requant->multiplier[parameter + i] == 1 << 30 && requant->shift[parameter + i] == 30 &&
             requant->zero_point[parameter + i] == 0;
    return is;
}

void QRT_OF_ISA(store)(const qrt_requant *requant, const int32_t *acc, int64_t acc_stride, int rows, int columns,
                       void *target, int64_t target_stride, int64_t parameter, int64_t row_step, int64_t column_step) {
    const int size = qrt_container_size(requant->container);
#define ROWS(rule, width)                                                                                              \
    if (size == width) {                                                                                               \
        store_rows(requant, acc, acc_stride, rows, columns, target, target_stride, parameter, row_step, column_step,   \
                   rule, width);                                                                                       \
        return;                                                                                                        \
    }
    if (requant->zero_point_i32)
        switch (requant->rule) {
        case QRT_FIXED:
            if (requant->container == QRT_I32 && !row_step &&
                is_accumulator(requant, parameter, column_step ? columns : 1)) {
                for (int i = 0; i < rows; i++)
                    memcpy((char *)target + i * target_stride * size, acc + i * acc_stride,
                           (size_t)columns * sizeof *acc);
                return;
            }
            ROWS(QRT_FIXED, 1)
            ROWS(QRT_FIXED, 2)
            ROWS(QRT_FIXED, 4)
            break;
        case QRT_FIXED_DOUBLE:
            ROWS(QRT_FIXED_DOUBLE, 1)
            ROWS(QRT_FIXED_DOUBLE, 2)
            ROWS(QRT_FIXED_DOUBLE, 4)
            break;
        case QRT_HALF_UP_TWICE:
            ROWS(QRT_HALF_UP_TWICE, 1)
            ROWS(QRT_HALF_UP_TWICE, 2)
            ROWS(QRT_HALF_UP_TWICE, 4)
            break;
        case QRT_FLOAT32:
            ROWS(QRT_FLOAT32, 1)
            ROWS(QRT_FLOAT32, 2)
            break;
        case QRT_RAW_MEAN:
            ROWS(QRT_RAW_MEAN, 1)
            break;
        case QRT_INTEGER:
            ROWS(QRT_INTEGER, 1)
            ROWS(QRT_INTEGER, 2)
            break;
        case QRT_FLOAT64_AWAY:
        case QRT_DEQUANTIZED:
            break;
        }
#undef ROWS
    QRT_OF_ISA(parent).store(requant, acc, acc_stride, rows, columns, target, target_stride, parameter, row_step,
                             column_step);
}
