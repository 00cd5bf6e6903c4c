/* Rows of 1, 2 and 4-bit values in portable C. Low elements come first, and a row is padded with zero bits to a
 * byte. */
#include <string.h>

#include "ref.h"

void ref_pack_bits_row(const qrt_bits_args *args, const void *source, void *target, int64_t count) {
    const uint8_t *values = source;
    uint8_t *bytes = target;
    const int width = args->width, mask = (1 << width) - 1;
    memset(bytes, 0, (size_t)((count * width + 7) / 8));
    for (int64_t i = 0; i < count; i++)
        bytes[i * width / 8] |= (uint8_t)((values[i] & mask) << (i * width % 8));
}

void ref_unpack_bits_row(const qrt_bits_args *args, const void *source, void *target, int64_t count) {
    const uint8_t *bytes = source;
    uint8_t *values = target;
    const int width = args->width, mask = (1 << width) - 1;
    const int sign = args->container == QRT_I8 ? 1 << (width - 1) : 0;
    for (int64_t i = 0; i < count; i++) {
        const int value = bytes[i * width / 8] >> (i * width % 8) & mask;
        values[i] = (uint8_t)((value ^ sign) - sign);
    }
}
