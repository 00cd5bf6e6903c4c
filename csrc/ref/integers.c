/* Plain integers and bools, in portable C. One macro gives each width a loop. */
#include "ref.h"

#define WIDTHS(X, kind, expression)                                                                                    \
    X(QRT_PLAIN_8, int8_t, uint8_t, kind, expression)                                                                  \
    X(QRT_PLAIN_16, int16_t, uint16_t, kind, expression)                                                               \
    X(QRT_PLAIN_32, int32_t, uint32_t, kind, expression)                                                               \
    X(QRT_PLAIN_64, int64_t, uint64_t, kind, expression)

/* Sums and products are those of unsigned numbers, which wrap. No division is of the least number by -1. */
#define NUMBERS(X)                                                                                                     \
    WIDTHS(X, QRT_PLAIN_ADD, (U)a + (U)b)                                                                              \
    WIDTHS(X, QRT_PLAIN_SUB, (U)a - (U)b)                                                                              \
    WIDTHS(X, QRT_PLAIN_MUL, (uint64_t)a *(uint64_t)b)                                                                 \
    WIDTHS(X, QRT_PLAIN_AND, a &b)                                                                                     \
    WIDTHS(X, QRT_PLAIN_OR, a | b)                                                                                     \
    WIDTHS(X, QRT_PLAIN_XOR, a ^ b)                                                                                    \
    WIDTHS(X, QRT_PLAIN_MAX, a > b ? a : b)                                                                            \
    WIDTHS(X, QRT_PLAIN_MIN, a < b ? a : b)                                                                            \
    WIDTHS(X, QRT_PLAIN_MAX_U, (U)a > (U)b ? a : b)                                                                    \
    WIDTHS(X, QRT_PLAIN_MIN_U, (U)a < (U)b ? a : b)                                                                    \
    WIDTHS(X, QRT_PLAIN_DIVIDE, a / b)                                                                                 \
    WIDTHS(X, QRT_PLAIN_FLOOR_DIVIDE, a / b - (a % b != 0 && (a ^ b) < 0))                                             \
    WIDTHS(X, QRT_PLAIN_REMAINDER, a % b)

#define COMPARISONS(X)                                                                                                 \
    WIDTHS(X, QRT_PLAIN_EQUAL, a == b)                                                                                 \
    WIDTHS(X, QRT_PLAIN_NOT_EQUAL, a != b)                                                                             \
    WIDTHS(X, QRT_PLAIN_LESS, a < b)                                                                                   \
    WIDTHS(X, QRT_PLAIN_LESS_EQUAL, a <= b)                                                                            \
    WIDTHS(X, QRT_PLAIN_LESS_U, (U)a < (U)b)                                                                           \
    WIDTHS(X, QRT_PLAIN_LESS_EQUAL_U, (U)a <= (U)b)

#define LOOP(width, type, unsigned_type, name, expression, result)                                                     \
    case (int)name * 8 + (int)width: {                                                                                 \
        typedef unsigned_type U __attribute__((unused));                                                               \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            const type a = ((const type *)x)[i * x_stride], b = ((const type *)y)[i * y_stride];                       \
            ((result *)target)[i] = (result)(expression);                                                              \
        }                                                                                                              \
        return;                                                                                                        \
    }
#define NUMBER_LOOP(width, type, unsigned_type, name, expression)                                                      \
    LOOP(width, type, unsigned_type, name, expression, type)
#define COMPARISON_LOOP(width, type, unsigned_type, name, expression)                                                  \
    LOOP(width, type, unsigned_type, name, expression, uint8_t)

void ref_plain_pair(const qrt_plain_args *args, const void *x, int64_t x_stride, const void *y, int64_t y_stride,
                    void *target, int64_t count) {
    switch ((int)args->kind * 8 + (int)args->element) {
        NUMBERS(NUMBER_LOOP)
        COMPARISONS(COMPARISON_LOOP)
    }
}

void ref_plain_select(const qrt_plain_args *args, const uint8_t *condition, int64_t stride, const void *x,
                      int64_t x_stride, const void *y, int64_t y_stride, void *target, int64_t count) {
#define SELECT(type)                                                                                                   \
    for (int64_t i = 0; i < count; i++)                                                                                \
        ((type *)target)[i] =                                                                                          \
            condition[i * stride] ? ((const type *)x)[i * x_stride] : ((const type *)y)[i * y_stride];                 \
    return
    switch (args->element) {
    case QRT_PLAIN_BOOL:
    case QRT_PLAIN_8:
        SELECT(uint8_t);
    case QRT_PLAIN_16:
        SELECT(uint16_t);
    case QRT_PLAIN_32:
        SELECT(uint32_t);
    case QRT_PLAIN_64:
        SELECT(uint64_t);
    }
#undef SELECT
}

static int64_t read_plain(qrt_plain_element element, bool is_unsigned, const void *source, int64_t i) {
    switch (element) {
    case QRT_PLAIN_BOOL:
        return is_unsigned ? ((const uint8_t *)source)[i] : -(int64_t)((const uint8_t *)source)[i];
    case QRT_PLAIN_8:
        return is_unsigned ? ((const uint8_t *)source)[i] : ((const int8_t *)source)[i];
    case QRT_PLAIN_16:
        return is_unsigned ? ((const uint16_t *)source)[i] : ((const int16_t *)source)[i];
    case QRT_PLAIN_32:
        return is_unsigned ? (int64_t)((const uint32_t *)source)[i] : ((const int32_t *)source)[i];
    default:
        return ((const int64_t *)source)[i];
    }
}

void ref_plain_cast(const qrt_plain_args *args, const void *source, int64_t stride, void *target, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t value = read_plain(args->element, args->kind == QRT_PLAIN_CAST_U, source, i * stride);
        if (args->out == QRT_PLAIN_BOOL)
            ((uint8_t *)target)[i] = value & 1;
        else if (args->out == QRT_PLAIN_8)
            ((uint8_t *)target)[i] = (uint8_t)value;
        else if (args->out == QRT_PLAIN_16)
            ((uint16_t *)target)[i] = (uint16_t)value;
        else if (args->out == QRT_PLAIN_32)
            ((uint32_t *)target)[i] = (uint32_t)value;
        else
            ((int64_t *)target)[i] = value;
    }
}
