"""docs/reference/onnx.md: the operators that are imported, as their functions describe them, and the table of the
profile. `make expected` writes it.
"""

from onnx import defs

from qrt.models.onnx.check import IR_VERSIONS, OPSETS
from qrt.models.onnx.registry import OPERATORS
from tests.docs.documents import ROOT
from tests.models.onnx.node_cases import OUT_OF_SCOPE, missing
from tests.reference import importer_page, python_steps
from tests.reference.importer_page import Computation

PAGE = ROOT / "docs" / "reference" / "onnx.md"
_HEAD = f"""# ONNX models

`qrt.load("model.onnx")` [converts a model](../howto/run_an_onnx_model.md) to a program: an MLIR module with a function
`@main`. [The commands](commands_models.md) convert model files too. IR versions {IR_VERSIONS[0]} to {IR_VERSIONS[-1]}
and opsets {OPSETS[""][0]} to {OPSETS[""][-1]} are supported. The Python package `onnx` must be installed only if the
model has operators that [ONNX defines as functions](#operators) of other operators.

This page is for readers who run a model and want to know what it becomes, [which operators](#operators) are supported,
and how exactly results equal those of ONNX Runtime.

<!-- Written by `make expected` from docstrings and the table of qrt/models/profiles. -->

These words have one meaning on this page:

- An **operator** is a node of the file, such as Conv. An **operation** is a step of the program, such as `qrt.conv2d`.
- A tensor is **known at import** if it is an initializer, or if it is computed only from initializers. All other
  tensors are known only at run time.
- The **runtime** is ONNX Runtime, with the version, CPU kernels and options of the [profile](#profile).
- A **ulp** of a float is its distance to the next float.

## What a model becomes

- **Arguments and results** of `@main` have the order, names and types of the file: an input of uint8 is
  `tensor<..xui8>`.
- **Dynamic dimensions** are `?` in types. The attribute `qrt.dimensions` has their names; in a call, all dimensions
  with the same name must have the same size.
- **Initializers** become constants, even if they are inputs of the graph too. Tensors that are known at import become
  constants.
- **Local functions** of the file are inlined.
- **Names.** The operation that computes a tensor has the attribute `qrt.tensor = "name"`.
- **Quantized tensors.** The result of QuantizeLinear and of the QLinear operators has a quantized type, with the scale
  and zero point of the operator, if both are known at import. The scale is the float32 of the file, converted to a
  double. An operator on integers reads such a result through a `quant.scast`.
- **Biases** of QLinearConv and QGemm get the scale `scale of the input * scale of the weights`, because the runtime
  adds their integers without using another scale.
- **Images.** In ONNX, the channels come before height and width; in qrt's operations they come last. Convolutions and
  pools are therefore imported between two transposes.
- **Branches and loops.** The graph of a branch or a loop becomes a private function that `scf.if` or `scf.while` calls.
  If that graph reads tensors of the graph around it, these are additional arguments. A branch whose condition is known
  at import is inlined.

**Errors.** If the model has operators or forms of operators that are not supported, `qrt.load` raises one `ModelError`
that lists all of them, and how often each occurs.

## Floats

Sums of products of float32 become loop nests, which define the order of every sum and fuse each product with the sum.
Functions such as Exp are correctly rounded, and operators of several steps round each step, except for normalizations:
these are computed in float64 and rounded once. Float results therefore have the same bits on every CPU.

The runtime's results have other bits, because the order of its sums depends on the CPU and on the sizes. A
comparison with the runtime, [`qrt diff`](commands_models.md#qrt-diff), accepts every difference of up to 4 ulp. For the
operators of this table, it also accepts differences up to the second column. There, y is the element, and max is the
largest magnitude in the tensor:

| operators | accepted difference |
|---|---|
| Conv, ConvTranspose, Gemm and MatMul of float32, as sums of n products | 2 * n * 2^-24 * (sum of the magnitudes of \
the products), because the results of the runtime and of qrt each differ from the exact sum by at most half of that |
| other sums, such as AveragePool, ReduceSum and LogSoftmax | 4 ulp of max |
| functions, such as Exp and Gelu, and Softmax along up to 10,000 elements | 4e-6 * \\|y\\| + 4e-7 |
| Softmax along n > 10,000 elements | n * 4e-10 * \\|y\\| + 4e-7 |
| normalizations, except for InstanceNormalization | 2e-3. The runtime sums in float32, which loses digits if the mean \
is large: its errors are about 2e-3 if the mean is 100 times the standard deviation, and below 1e-5 if it is near 0 |
| Resize, Upsample, GridSample, RoiAlign and DeformConv with linear or cubic weights | 32 ulp of max |
| LSTM, GRU, RNN, attention, InstanceNormalization, DFT, STFT, linear models, support vector machines, \
and trees with a `post_transform` | 64 ulp of max |
| DynamicQuantizeLSTM | 2e-6. If a hidden value is near a tie, the runtime may quantize it to the next integer, and \
about 1 of 1,000 elements differs by more |
| MatMulNBits | 1e-4 * \\|y\\| + 1e-4 |
| Det | 1e-4 * \\|y\\|. The runtime eliminates matrices of more than 16 rows in blocks; others are equal |

**float16 and bfloat16.** An operator is computed in float32, and its result is rounded. A float16 operator reads the
results of other such operators before they are rounded, as in the runtime: a chain is rounded at its end. In the
runtime, Clip, Max, Min, Round, Sign and LayerNormalization of float16 may round in the middle of a chain.

## Groups of casts

In a quantized model, an operator on floats often stands between DequantizeLinear and QuantizeLinear (the casts). The
three are a **group**, with Relu or Clip as an optional fourth operator. If all of these conditions are true, the group
is **folded** into one quantized operation. Otherwise its operator is computed on floats between casts, and `qrt import`
prints the reason.

- The casts are of float32, and all scales are between 2^-40 and 2^40.
- The bias is a constant of int32 without a zero point. Its scale is the product of both operands' scales, to within
  4 ulp of float32.
- The operands and the result of an Add, Sub or Mul have one storage type. For any other operator, the
  [profile](#profile) has a rule for the storage types.
- An operator that moves elements, and Max, Min, ReduceMax, ReduceMin and Pad, have inputs and a result of the same
  scale, zero point and storage type. The number with which a Pad fills is known at import.
- There is at most one activation, and no other operator reads the float result.

ArgMax and ArgMin need no QuantizeLinear behind them. They are folded if their input is dequantized from at most 16
bits.

The runtime rounds the floats between the casts; a folded group rounds only its result. Results of Concat, Where,
Sigmoid, LeakyRelu, pools, and operators that move or compare elements equal the runtime's. Results of Add, Sub, Mul,
Conv, MatMul, Gemm, ReduceMean, ReduceSum and Softmax differ only near ties (numbers in the middle of two integers).
With

    f  the exact result of the operator             s, z  the scale and zero point of the result
    n  the number of terms in the sum of f          S     the sum of the magnitudes of these terms

qrt and the runtime each quantize a number that differs from f by at most

    2 * (n + 4) * 2^-24 * S + 8 * 2^-24 * (|f| + |z| * s)

For Add and Sub, S includes `|zero point| * scale` of both operands. For Softmax, twice the difference in the row
Softmax of the table above replaces the first term of the bound, `2 * (n + 4) * 2^-24 * S`. `qrt diff` accepts an
integer if it is the quantized value of some number within this bound of f. At
most about 1 of 100,000 elements differs by 1. If quotients of scales have few digits, as with 0.02, 0.01 and 0.05, many
results are ties, and about 1 of 100 elements differs.

## NaNs and infinities that are quantized

QuantizeLinear with a known scale and zero point is `quant.qcast`. It stores a NaN as the zero point, and saturates
values beyond the integers. The runtime stores the same integers, except for these:

| floats | values x, scale s | what the runtime stores |
|---|---|---|
| float32 | NaN | the least integer |
| float32, quantized to 4 bits | x / s of at least 2^31 | the wrong end of the range for some elements at the end of a \
row: the least integer instead of the greatest, or the greatest instead of the least |
| float16 | NaN, infinities, x / s of at least 2^31 | the least integer; if the zero point is below 0, the greatest |

`qrt diff` does not count these integers as different, unless x is finite. It counts differences in results that are
computed from these integers.

If the scale or the zero point is known only at run time, these floats are stored as follows:

| operator | float in the input | result |
|---|---|---|
| QuantizeLinear | NaN | the least integer, as in the runtime; a NaN if the result is float8 |
| DynamicQuantizeLinear, DynamicQuantizeMatMul, DynamicQuantizeLSTM | NaN | excluded from the range, and stored as 0. \
For 8 or more elements the runtime may differ: its vector code then drops the elements before the NaN |
| DynamicQuantizeLinear, DynamicQuantizeMatMul, DynamicQuantizeLSTM | -inf | the zero point is 255 |
| DynamicQuantizeLSTM | infinities | gates are NaN. The runtime may differ: its functions return numbers for NaNs |

## Invalid files

These rules apply to files:

- Each error is a `ModelError` that names the file, the node and the tensor.
- External data must be in files in the model's folder; a path with a symbolic link is an error.
- An attribute that is a flag must be 0 or 1, because runtimes read other numbers differently.
- The functions of a file may expand to at most 100,000 nodes.
- The constants that are computed at import may take at most as many bytes as the argument `max_bytes` of `qrt.load`, or
  the option `--max-input`, allows.

## Operators

This table lists the operators that are imported. The column "forms" says what the operator computes, and with which
types and attributes it is supported. "Known" means known at import.

"""
_PROFILE = """
## Profile

The profile `ort` has the rules by which ONNX Runtime rounds. Look here to find out which rule an imported operation
has, or why a form is not supported. Each row has a computation, conditions, and a rule. The rule of a computation is
that of its first row whose conditions are all true; "none" means no condition. If no row applies, the operator's form
is not supported, and the error names the computation and the values of its conditions. Each rule is linked to its
definition. The column "kernel" says whose kernel has the rule; in this profile, it is always `builtin`, which means
ONNX Runtime's own kernels. Rules of floats, such as `fma_then_bias`, are qrt's own, because
[the runtime's order of sums](#floats) depends on the CPU.

"""
_CONDITIONS = """
| condition | meaning |
|---|---|
| `storage` | the type of the integers of the input, which the result shares |
| `folded` | the operator was a [group of casts](#groups-of-casts) |
| `sum` | the [order of the sum](../numerics_operations.md#averages-of-floats) |

### Other rules

These rules have no page of their own. s is the scale and z the zero point of the result, or of the input of
`dequantize`; x is a float and q a stored integer of the input. `half_even` rounds to an integer, halves to even. Every
step is rounded to float32, and every integer is clamped to the bounds of the storage.

| computation | rule | result |
|---|---|---|
| `table` | `half_even` | `half_even(f(x) / s) + z` for the value x of each of the 256 integers |
| `quantize` | `divide` | `half_even(x / s) + z` |
| `dequantize` | `multiply` | `(q - z) * s` |
| `float_products` | `fma_then_bias` | `sum = 0`; `sum = fma(x, w, sum)` for each product; `sum + bias` |
| `float_softmax` | `divide` | `e / sum`, with `e = exp(x - max(x))`; `sum` is the sum of all e, \
[added in sixteens](tflite.md#rules-of-floats) |
"""
COMPUTATIONS = {
    "conv2d": Computation("QLinearConv, folded Conv", "requantization.md#{rule}"),
    "depthwise_conv2d": Computation(
        "QLinearConv and folded Conv with one input channel for each filter", "requantization.md#{rule}"
    ),
    "matmul": Computation("QLinearMatMul, QGemm, folded MatMul and Gemm", "requantization.md#{rule}"),
    "add": Computation("QLinearAdd, folded Add and Sub", "requantization.md#{rule}-of-sums"),
    "mul": Computation("QLinearMul, folded Mul", "requantization.md#{rule}"),
    "average_pool2d": Computation("QLinearAveragePool, folded AveragePool", "requantization.md#{rule}"),
    "mean": Computation("QLinearGlobalAveragePool, folded ReduceMean", "requantization.md#{rule}"),
    "sum": Computation("folded ReduceSum", "requantization.md#{rule}"),
    "softmax": Computation(
        "QLinearSoftmax, folded Softmax", "../numerics_functions.md#rules-of-softmax-and-log_softmax"
    ),
    "table": Computation(
        "QLinearSigmoid, QLinearLeakyRelu, QLinearConcat, QLinearWhere; folded Sigmoid, LeakyRelu, Concat and Where",
        "#other-rules",
    ),
    "quantize": Computation("QuantizeLinear", "#other-rules"),
    "dequantize": Computation("DequantizeLinear", "#other-rules"),
    "float_products": Computation("the sums of Conv, ConvTranspose, Gemm, MatMul and Einsum", "#other-rules"),
    "float_softmax": Computation("Softmax of float32", "#other-rules"),
}
"""The names in the first column of the profile."""


def page() -> str:
    """Return the page."""
    return "".join(
        (
            _HEAD,
            importer_page.operators_table(operators(), "forms"),
            _not_imported(),
            python_steps.section(python_steps.ONNX),
            _PROFILE,
            importer_page.computations_table(COMPUTATIONS),
            _CONDITIONS,
            importer_page.profiles(".onnx", COMPUTATIONS),
        )
    )


def _not_imported() -> str:
    """Return the section with the operators of ONNX's own domain that have no form that runs."""
    rows = [f"| {name} | {kind} |" for name, kind in sorted(OUT_OF_SCOPE.items())]
    count = len({schema.name for schema in defs.get_all_schemas() if not schema.domain} & OPERATORS.keys())
    return (
        f"\n### Operators of ONNX's own domain that are not imported\n\nOf ONNX's own operators, {count} are imported."
        f" Not imported are {''.join(f'{name}, ' for name in missing())}the operators of this table, because programs"
        " cannot have such values:\n\n| operator | kind of values |\n|---|---|\n" + "\n".join(rows) + "\n"
    )


def operators() -> importer_page.Described:
    """Return the names of operators that one function imports, and the description of their forms."""
    return importer_page.described(OPERATORS)
