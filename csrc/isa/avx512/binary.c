/* add, sub and mul of 8 and 16 bits, sixteen integers at a time.
 *
 *   vpmov[sz]x        widens sixteen elements, on port 5; two for sixteen results
 *   vpmulld           two uops on port 0; two for the sums, one for products
 *   vpack[su]s, vpermd  narrow 64 results, with four shuffles on port 5
 *
 * Exact: binary.inl. Other calls go to the parent. */
#include "shifts.h"

#include "isa/x86/elementwise/binary.inl"

qrt_status avx512_binary_row(const qrt_binary_args *args, const void *a, int64_t a_stride, const void *b,
                             int64_t b_stride, void *target, int64_t count, int64_t parameter, int64_t step) {
    if (binary_in_blocks(args, a, a_stride, b, b_stride, target, count, parameter, step))
        return QRT_OK;
    return avx512_parent.binary_row(args, a, a_stride, b, b_stride, target, count, parameter, step);
}
