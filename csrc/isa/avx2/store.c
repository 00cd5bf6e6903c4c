/* Requantizes and stores tiles of 32-bit sums, eight columns at a time.
 *
 *   vpmuldq                    32 x 32 -> 64 bit signed products of the even lanes; the odd ones are shifted down first
 *   vpsrlvq                    logical 64-bit shift by a count per lane; AVX2 has no arithmetic one
 *   vcvtdq2ps, vmulps          the two roundings of float32
 *   vcvtps2dq                  rounds half even, because the entry has set the control register
 *   vpshufb, vpunpckl[dq,qdq]  narrow values that are within the container already
 *
 * fixed takes 16 uops for eight columns and float32 9, on ports 0, 1 and 5; three of them are the shuffles that narrow.
 * store.inl has the proof and the hazards. */
#include "isa/rows.h"
#include "shifts.h"

#include "isa/x86/store/store.inl"
