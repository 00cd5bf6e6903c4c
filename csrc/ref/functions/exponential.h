/* What the exponential in float64 of every ISA shares: e^x is 2^(x * log2(e)), in parts of an octave, times a
 * polynomial. */
#pragma once

#define QRT_POWERS 32
#define QRT_FARTHEST 104.0 /* e^-104 is 0 in float32, and so is the sigmoid; e^104 is infinite */

/* 32 / log(2), and its inverse in two parts: the high one has 36 bits, so that multiples by integers of 17 bits are
 * exact. */
#define QRT_INVERSE_LOG 0x1.71547652b82fep+5
#define QRT_LOG_HIGH 0x1.62e42fefap-6
#define QRT_LOG_LOW 0x1.cf79abc9e3b3ap-45

/* 2^(i / 32) */
static const double qrt_powers[QRT_POWERS] = {
    0x1p+0,
    0x1.059b0d3158574p+0,
    0x1.0b5586cf9890fp+0,
    0x1.11301d0125b51p+0,
    0x1.172b83c7d517bp+0,
    0x1.1d4873168b9aap+0,
    0x1.2387a6e756238p+0,
    0x1.29e9df51fdee1p+0,
    0x1.306fe0a31b715p+0,
    0x1.371a7373aa9cbp+0,
    0x1.3dea64c123422p+0,
    0x1.44e086061892dp+0,
    0x1.4bfdad5362a27p+0,
    0x1.5342b569d4f82p+0,
    0x1.5ab07dd485429p+0,
    0x1.6247eb03a5585p+0,
    0x1.6a09e667f3bcdp+0,
    0x1.71f75e8ec5f74p+0,
    0x1.7a11473eb0187p+0,
    0x1.82589994cce13p+0,
    0x1.8ace5422aa0dbp+0,
    0x1.93737b0cdc5e5p+0,
    0x1.9c49182a3f09p+0,
    0x1.a5503b23e255dp+0,
    0x1.ae89f995ad3adp+0,
    0x1.b7f76f2fb5e47p+0,
    0x1.c199bdd85529cp+0,
    0x1.cb720dcef9069p+0,
    0x1.d5818dcfba487p+0,
    0x1.dfc97337b9b5fp+0,
    0x1.ea4afa2a490dap+0,
    0x1.f50765b6e454p+0,
};
