/* Loop nests of floats whose results are extremes along rows of neighbouring elements. */
#pragma once

#include "core/core.h"

/* Whether qrt_reduce_row computes the nest faster than blocks of results do. */
bool qrt_reduces_rows(const qrt_float_loops_args *args);

/* Computes one of each result from the elements that `at` points to, with `memory` for the registers, of which those of
 * constants are filled. Returns false where a result is a NaN, whose bits depend on the order of the elements. */
bool qrt_reduce_row(const qrt_float_loops_args *args, char *const *at, float *memory);
