/* Requantizes the accumulators of standard input to i8 by csrc/ref/requant.c. Arguments: the rule, multiplier, shift,
 * zero point, and in hexadecimal scale_f32, offset_f32, scale_f64. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref/ref.h"

int main(int argc, char **argv) {
    int rule = 0;
    while (argc == 8 && rule < QRT_RULES && strcmp(qrt_rule_names[rule], argv[1]))
        rule++;
    if (argc != 8 || rule == QRT_RULES)
        return 2;
    const int32_t multiplier = atoi(argv[2]), shift = atoi(argv[3]);
    const int64_t zero_point = atoi(argv[4]);
    const float scale = strtof(argv[5], NULL), offset = strtof(argv[6], NULL);
    const double scale_f64 = strtod(argv[7], NULL);
    const qrt_requant requant = {.rule = (qrt_rule)rule,
                                 .container = QRT_I8,
                                 .storage_min = INT8_MIN,
                                 .storage_max = INT8_MAX,
                                 .multiplier = &multiplier,
                                 .shift = &shift,
                                 .scale_f32 = &scale,
                                 .offset_f32 = &offset,
                                 .scale_f64 = &scale_f64,
                                 .zero_point = &zero_point};
    long long acc;
    while (scanf("%lld", &acc) == 1)
        printf("%lld\n", (long long)ref_requantize(&requant, acc, 0));
    return 0;
}
