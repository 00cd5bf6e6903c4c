/* Sets the floating-point control register to what every rule assumes: round to nearest, no flush to zero, no trapping
 * exceptions. The caller's own setting is restored when the entry returns. */
#pragma once

#include <stdint.h>

#if defined(__x86_64__)

typedef uint32_t qrt_float_state;
static inline qrt_float_state qrt_float_enter(void) {
    uint32_t saved;
    const uint32_t standard = 0x1F80; /* all exceptions are masked, everything else is clear */
    __asm__ volatile("stmxcsr %0" : "=m"(saved));
    if ((saved & 0xFFC0u) != standard)
        __asm__ volatile("ldmxcsr %0" ::"m"(standard));
    return saved;
}
static inline void qrt_float_leave(qrt_float_state saved) {
    __asm__ volatile("ldmxcsr %0" ::"m"(saved));
}

#elif defined(__aarch64__)

typedef uint64_t qrt_float_state;
static inline qrt_float_state qrt_float_enter(void) {
    uint64_t saved;
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved));
    __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)0));
    return saved;
}
static inline void qrt_float_leave(qrt_float_state saved) {
    __asm__ volatile("msr fpcr, %0" ::"r"(saved));
}

#else

#include <fenv.h>
typedef fenv_t qrt_float_state;
static inline qrt_float_state qrt_float_enter(void) {
    fenv_t saved;
    fegetenv(&saved);
    fesetenv(FE_DFL_ENV);
    return saved;
}
static inline void qrt_float_leave(qrt_float_state saved) {
    fesetenv(&saved);
}

#endif
