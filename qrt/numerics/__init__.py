"""Reference implementations of docs/numerics.md: rounding, casts, requantization, sums, elementary functions.

These are functions of integers and NumPy arrays, and tables of rules; they know no quantized types, no tensors and no C
code. Tests compare the kernels, the lowering and the references of operations with these functions, bit for bit.

- Start with `rounding.py` and `casts.py`, then `requantization.py` and the table of rules in `rules.py`.
- `transcendental` has correctly rounded functions of floats; `float_text.py` prints floats as MLIR does.
- The package imports only `files`, `extras` and `errors` of qrt.
"""

from qrt.numerics.addition import (
    BLOCK,
    SUM_RULES,
    SumName,
    SumParameters,
    SumRule,
    Sums,
    in_blocks,
    requantize_sum,
    rounded_shift,
    sum_left_shift,
)
from qrt.numerics.casts import SCALES, ZERO_POINTS, ScaleForm, ZeroPointOrder, dequantize, quantize
from qrt.numerics.detections import SuppressionLimits, detections
from qrt.numerics.dynamic import DynamicColumns, dynamic_lstm, dynamic_parameters, dynamic_product, dynamic_storage
from qrt.numerics.gemmlowp import (
    divide_by_power,
    doubling_high_multiply,
    multiply_by_multiplier,
    nearest_quotient,
    one_over_one_plus,
    quotient,
    scale_fixed_double,
    squared_difference,
)
from qrt.numerics.multipliers import (
    ADD_FRACTION_BITS,
    add_multiplier,
    double_multiplier,
    double_multipliers,
    fixed_multiplier,
    fixed_multipliers,
    rounded_ratios,
    shared_fixed_multipliers,
)
from qrt.numerics.recurrent import (
    GATE_INTEGER_BITS,
    GATE_UNIT,
    GATES,
    NORM_BITS,
    GateWeights,
    LstmGate,
    LstmParameters,
    SvdfParameters,
    lstm_gate,
    lstm_parameters,
    lstm_step,
    svdf_parameters,
    svdf_step,
)
from qrt.numerics.requantization import (
    RequantParameters,
    blocks_fixed,
    blocks_float32,
    requant_parameters,
    requantize,
    rescale_bias,
    round_scaled_float32,
    scale_fixed,
)
from qrt.numerics.rounding import (
    LEAST_UNIT_EXPONENT,
    ROUNDINGS,
    UNIT_CARRY,
    Rounding,
    round_integral,
    round_to_format,
    unit_integers,
)
from qrt.numerics.rules import (
    ARITHMETICS,
    REQUANT_RULES,
    RULES,
    Arithmetic,
    AverageName,
    MeanName,
    MulName,
    ReduceSumName,
    RequantizeName,
    RequantName,
    RequantRule,
)
from qrt.numerics.sigmoids import LARGEST_SCALE, SIGMOID_RULES, SigmoidRule, gemmlowp_shift, sigmoid_results
from qrt.numerics.softmaxes import (
    LOG_SOFTMAX_RULES,
    SOFTMAX_RULES,
    SUM_BITS,
    LogSoftmaxRule,
    SoftmaxRule,
    log_softmax_float32,
    log_softmax_gemmlowp,
    log_softmax_parameters,
    softmax_float32,
    softmax_gemmlowp,
    softmax_int16,
    softmax_multiplier_int16,
    softmax_shifted,
    softmax_table_float32,
    softmax_table_gemmlowp,
    softmax_table_shifted,
    softmax_tables_int16,
    softmax_units,
)
from qrt.numerics.sums import LANES, sum_in_order
from qrt.numerics.suppression import SelectionLimits, select_boxes
from qrt.numerics.tables import (
    INTERPOLATED_BITS,
    SOFTMAX_FRACTION_BITS,
    interpolated_table,
    lookup_interpolated,
    negative_exponential,
    softmax,
    softmax_table,
)
