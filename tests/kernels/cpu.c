/* core/cpu.c on processors and systems that are not there: its questions are answered from the arguments,
 *     leaf 1 ECX, leaf 7 EBX ECX EDX, leaf 7/1 EAX, leaf 1D/1 EAX EBX ECX, XCR0, whether tiles are granted
 * and the features it finds are printed. */
#include <cpuid.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t given[10];

static int answer(unsigned leaf, unsigned subleaf, unsigned *a, unsigned *b, unsigned *c, unsigned *d) {
    *a = *b = *c = *d = 0;
    if (leaf == 1)
        *c = given[0];
    else if (leaf == 7 && subleaf == 0)
        *a = 1, *b = given[1], *c = given[2], *d = given[3];
    else if (leaf == 7)
        *a = given[4];
    else if (leaf == 0x1d && subleaf == 1)
        *a = given[5], *b = given[6], *c = given[7];
    return 1;
}

static long grant(long number, long operation, long state) {
    const int asked = number == SYS_arch_prctl && operation == 0x1023 && state == 18;
    return asked && given[9] ? 0 : -1;
}

#define __get_cpuid(leaf, a, b, c, d) answer(leaf, 0, a, b, c, d)
#define __get_cpuid_count answer
#define syscall grant
#define __asm__(...) (low = given[8], high = 0, (void)high) /* xgetbv */
#include "core/cpu.c"

int main(int count, char **words) {
    for (int i = 0; i < 10 && i + 1 < count; i++)
        given[i] = (uint32_t)strtoul(words[i + 1], NULL, 16);
    printf("%u\n", qrt_cpu_features());
    return 0;
}
