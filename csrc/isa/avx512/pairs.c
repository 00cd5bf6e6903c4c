/* maximum, minimum, prelu and leaky_relu, sixteen integers at a time.
 *
 *   vp{min,max}{s,u}{b,w}  a whole vector of bytes or words; the loads are the limit
 *   vpmov[sz]x             widens; port 5
 *   vpmuldq                the products of fixed_double; two for a vector, and two more for its other parameter
 *
 * Exact: pairs.inl. */
#include "shifts.h"

#include "isa/x86/elementwise/pairs.inl"
