/* The proof obligation of csrc/isa/x86/cast/guard.inl, by exhaustion: prints how many quotients were tried and how many were
 * wrong.
 *
 * For significands X, S in [2^23, 2^24) the quotient X/S has its midpoints at M / 2^k with M odd in [2^24, 2^25), where
 * k = 24 if X >= S, else 25. X * 2^k = S * M + j puts X/S at j / (S * 2^k) from the midpoint, and S * M = -j modulo 2^k
 * has few solutions, found through the inverse of S's odd part. Every S and every |j| <= 8 is tried. An S divisible by
 * 16 allows only multiples of 16 for j. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

static uint32_t inverse(uint32_t odd) {
    uint32_t x = odd;
    for (int i = 0; i < 5; i++)
        x *= 2 - odd * x;
    return x;
}

static int is_wrong(float x, float s, float r) {
    const float q0 = x * r;
    const float e = fmaf(-q0, s, x);
    return fmaf(e, r, q0) != x / s;
}

int main(void) {
    long tried = 0, wrong = 0;
    for (uint32_t s = 1u << 23; s < 1u << 24; s++) {
        const int twos = __builtin_ctz(s);
        if (twos > 3)
            continue;
        const float r = 1.0f / (float)s;
        const uint32_t inverse_of_odd = inverse(s >> twos);
        for (int k = 24; k <= 25; k++) {
            for (int j = -8; j <= 8; j++) {
                if (j == 0 || j % (1 << twos))
                    continue;
                const uint32_t period = 1u << (k - twos);
                const uint32_t first = (uint32_t)(-(j / (1 << twos))) * inverse_of_odd & (period - 1);
                for (uint64_t m = first; m < 1u << 25; m += period) {
                    const uint64_t x = ((uint64_t)s * m + (uint64_t)(int64_t)j) >> k;
                    if (m < 1u << 24 || m % 2 == 0 || x < 1u << 23 || x >= 1u << 24)
                        continue;
                    tried++;
                    wrong += is_wrong((float)x, (float)s, r);
                }
            }
        }
    }
    printf("%ld %ld\n", tried, wrong);
    return 0;
}
