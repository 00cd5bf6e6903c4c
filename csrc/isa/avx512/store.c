/* Requantizes and stores tiles of 32-bit sums, sixteen columns at a time.
 *
 *   vpmuldq                 32 x 32 -> 64 bit signed products of the even lanes; the odd ones are shifted down first
 *   vpsravq                 arithmetic 64-bit shift by a count per lane; on port 0
 *   vcvtdq2ps, vmulps       the two roundings of float32
 *   vcvtps2dq {rn-sae}      rounds half even whatever the control register says
 *   vpmovdb, vpmovdw        truncate, because the values are within the container already; two uops on port 5
 *
 * fixed takes 13 uops for sixteen columns and float32 8, on ports 0 and 5. store.inl has the proof and the hazards. */
#include <string.h>

#include "isa/rows.h"
#include "shifts.h"

#include "isa/x86/store/store.inl"
