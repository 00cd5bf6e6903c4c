/* A decimal as the nearest double, where 128 bits of a power of ten decide which that is. */
#ifndef QRT_CORE_DECIMAL_H
#define QRT_CORE_DECIMAL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Multiplies by 10^power: (high * 2^64 + low) * 2^scale, rounded up, high with its first bit set. */
typedef struct {
    uint64_t high, low;
    int64_t scale;
} qrt_power_of_ten;

/* digits * 10^power, rounded to nearest even. False where the product, which is too large by less than 2^64, is too
   near the middle of two doubles to tell, or the double is no normal one. */
static inline bool qrt_decimal(uint64_t digits, const qrt_power_of_ten *ten, double *result) {
    if (digits == 0) {
        *result = 0;
        return true;
    }
    int zeros = __builtin_clzll(digits);
    unsigned __int128 low = (unsigned __int128)(digits << zeros) * ten->low;
    unsigned __int128 product = (unsigned __int128)(digits << zeros) * ten->high + (uint64_t)(low >> 64);
    int excess = 75 - (int)!(product >> 127); /* the product has 127 or 128 bits, a double 53 */
    int64_t exponent = ten->scale + 64 - zeros + excess;
    if (exponent < -1073 || exponent > 1023 - 53)
        return false;
    unsigned __int128 half = (unsigned __int128)1 << (excess - 1), rest = product & (2 * half - 1);
    if (rest + 2 >= half && rest <= half + 2)
        return false;
    *result = ldexp((double)((uint64_t)(product >> excess) + (rest > half)), (int)exponent);
    return true;
}

#endif
