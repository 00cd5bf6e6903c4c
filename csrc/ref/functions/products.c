/* Sums of products of bytes, in portable C. */
#include "ref/ref.h"

/* So many products fit 32 bits: each is at most 255 * 128. */
#define AT_ONCE 65536

static int64_t sum_of_products(const int8_t *x, const int8_t *w, int64_t count, int64_t zero_point) {
    int64_t sum = 0;
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        const int64_t end = qrt_min(first + AT_ONCE, count);
        int32_t part = 0;
        for (int64_t i = first; i < end; i++)
            part += (x[i] - (int32_t)zero_point) * w[i];
        sum += part;
    }
    return sum;
}

void ref_byte_products(const int8_t *x, const int8_t *w, int64_t rows, int64_t count, int64_t zero_point,
                       int64_t *sums) {
    for (int64_t row = 0; row < rows; row++)
        sums[row] = sum_of_products(x, w + row * count, count, zero_point);
}
