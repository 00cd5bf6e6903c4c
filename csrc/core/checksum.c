/* A checksum of files: fast enough to read a whole file before any of it is used. */
#include <string.h>

#include "qrt/plan.h"

#define LANES 8
#define MULTIPLIER UINT64_C(0x9E3779B97F4A7C15) /* odd: a product loses nothing of what is multiplied */

static uint64_t mixed(uint64_t state, uint64_t word) {
    state = (state ^ word) * MULTIPLIER;
    return state ^ state >> 32;
}

/* Each step maps states to states one to one, and so does each word: a change within one word always changes the
 * result, and any other change keeps it with a probability of 2^-64. The order of bytes is that of the machine. */
uint64_t qrt_checksum(const void *data, int64_t bytes) {
    const char *at = data;
    uint64_t lanes[LANES], words[LANES] = {0};
    for (int lane = 0; lane < LANES; lane++)
        lanes[lane] = (uint64_t)lane;
    int64_t rest = bytes;
    for (; rest >= (int64_t)sizeof words; rest -= (int64_t)sizeof words, at += sizeof words) {
        memcpy(words, at, sizeof words);
        for (int lane = 0; lane < LANES; lane++)
            lanes[lane] = mixed(lanes[lane], words[lane]);
    }
    memset(words, 0, sizeof words);
    if (rest > 0) /* no bytes may have no address */
        memcpy(words, at, (size_t)rest);
    uint64_t sum = (uint64_t)bytes;
    for (int lane = 0; lane < LANES; lane++)
        sum = mixed(sum, mixed(lanes[lane], words[lane]));
    return sum;
}
