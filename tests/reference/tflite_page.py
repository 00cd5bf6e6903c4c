"""docs/reference/tflite.md: the operators that are imported, as their functions describe them, and the tables of the
profiles. `make expected` writes it.
"""

from qrt.models.tflite.registry import OPERATORS, PLAIN_OPERATORS
from tests.docs.documents import ROOT
from tests.models.tflite.registered import registered
from tests.reference import importer_page, python_steps
from tests.reference.importer_page import Computation, Described

PAGE = ROOT / "docs" / "reference" / "tflite.md"
_HEAD = """# TFLite models

`qrt.load("model.tflite")` [converts a model](../howto/run_a_tflite_model.md) to a program: an MLIR module with a
function for each signature of the model. [The commands](commands_models.md) convert model files too. This page is for
readers who run a model and want to know what it becomes, [which operators](#operators) are supported, and how exactly
results equal LiteRT's.

<!-- Written by `make expected` from docstrings and the tables of qrt/models/profiles. -->

These words have one meaning on this page:

- An **operator** is a node of the file, such as CONV_2D. An **operation** is a step of the program, such as
  `qrt.conv2d`.
- A tensor is **known at import** if the file has its elements, or if it is computed at import from such tensors. The
  operators that are computed at import are DEQUANTIZE, elementwise operators with up to 2^20 results, and other
  operators with up to 4,096 integers as their result. All other tensors are known only at run time.
- The **LSTM operators** are LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM and BIDIRECTIONAL_SEQUENCE_LSTM. The **RNN operators**
  are RNN, UNIDIRECTIONAL_SEQUENCE_RNN and BIDIRECTIONAL_SEQUENCE_RNN.
- The **storage** of a quantized tensor is its integers. An 8-bit tensor is a quantized tensor of int8 or uint8, a
  16-bit tensor one of int16.
- **LiteRT** is the runtime of TFLite models. **XNNPACK** is a library of kernels that LiteRT's default build contains.
- A **rule** is a definition of rounding, or of the order of a sum. A **profile** is a table of the rules of one
  runtime. The profile `litert`, the default, has the rules of LiteRT's **default build**: XNNPACK executes the
  operators that it supports, and LiteRT's own kernels the others. The profile `litert-ref` has the rules of LiteRT's
  **reference kernels** (its op resolver `BUILTIN_REF`). `qrt.load(..., profile="litert-ref")` and
  `--profile litert-ref` choose it.
- A **ulp** of a float is its distance to the next float.

The integers of a quantized result equal LiteRT's. [Floats](#results-in-float32) have LiteRT's bits or are close to
LiteRT's floats, as listed below.

## What a model becomes

- **Functions.** Each signature becomes a function of its name. If the file has one signature or none, the only function
  is `@main`. Arguments and results have the order of the file. Their names are those of the signature, or of the
  tensors if there is no signature.
- **Names.** The operation that computes a tensor has the attribute `qrt.tensor = "name"`. If the name is empty, or an
  earlier tensor has it too, the tensor's index is added: `name#7`.
- **Types.** A tensor with scales has a quantized type. Each scale is the float32 of the file, converted to a double.
- **Zero points** of 16-bit tensors must be 0 for most operators of LiteRT. Operators such as QUANTIZE, MAXIMUM, pools
  and those that move elements accept any zero point. The same is true of the import.
- **Several scales.** Weights of products may have a scale for each index of an axis, and so may tensors of operators
  that move or compare the storage. All other tensors have one scale: LiteRT reads several scales as 0. Only the input
  of DEQUANTIZE and the result of QUANTIZE may have a zero point for each index of an axis.
- **A single scale** has `quantized_dimension = 0` in the file. If an 8-bit tensor other than weights has another
  number there, LiteRT does not use XNNPACK. The import then uses the rules of LiteRT's own kernels, or is an error.
- **Biases.** A quantized bias gets the scale `scale of the input * scale of the weights`; its scale in the file is
  ignored. LiteRT adds the integers of the bias to the sums without using that scale.
- **Empty tensors.** A dimension may be 0. MEAN, maxima and minima of no elements are errors. So are matrix products
  and convolutions whose sums have no terms, for which LiteRT ignores the bias.
- **Shapes.** Shapes of results are computed from the operands. The shapes in the file are used for inputs, for
  variables, and for results whose shape depends on elements that are known only at run time.
- **Dynamic dimensions** are `?` in types. To import the model with other shapes of its inputs, write
  `qrt.load(..., shapes={"x": (1, 96, 96, 1)})` or `--input-shape x=1x96x96x1`, where `x` is the name of the argument.
- **Computed shapes.** RESHAPE, FILL, BROADCAST_TO and TILE accept sizes that are known only at run time, if SHAPE,
  SLICE, STRIDED_SLICE, CONCATENATION, CAST and PACK compute them. At most one dimension of the result of RESHAPE may
  then be dynamic. TILE repeats a dynamic dimension only by a number known at import. BROADCAST_TO repeats only
  dimensions that are 1 at import; a dynamic dimension must equal the size in the shape.
- **Fused activations** of quantized operators become a `qrt.clamp` after the operation, unless the bounds do not
  restrict the storage. Fused activations of float32 operators are the last step of the operator's loop nest.
- **Complex numbers.** A complex64 tensor becomes two float32 tensors. Only RFFT2D computes such a tensor, only
  COMPLEX_ABS, IMAG and REAL read it, and EXPAND_DIMS, RESHAPE and SQUEEZE move it. A complex64 tensor cannot be an
  argument or a result of a subgraph.
- **Sparse constants** become dense constants. Two operators read them: DENSIFY, and FULLY_CONNECTED as its weights.
  These may be float32 (elements that are not stored count as 0) or, with an int8 input, int8 that is stored in blocks
  of 16 elements of a row. All other operators need DENSIFY before them.
- **Constants.** A tensor that is known at import becomes a constant. Therefore a model whose weights are stored as
  float16, int8, uint8, int16, int4, uint4 or int2 and read through DEQUANTIZE needs as much memory as a float32 model.
- **Integers of less than 8 bits** are constants: the weights of products (int4; in FULLY_CONNECTED int2 too), tables of
  EMBEDDING_LOOKUP (int4, int2), operands of DEQUANTIZE (int4, uint4, int2) and of GATHER along axis 0 (int4). Their
  types keep their width, `i4` or `i2`. Other operators do not read them.

**Errors.** If the model has operators or forms of operators that are not supported, `qrt.load` raises one `ModelError`
that lists all of them, and how often each occurs. Supported forms are those under [Operators](#operators) for which
the [profile](#profiles) has a rule.

## Results in float32

Sums of products, pools, sums and means of float32 become loop nests that define the order in which terms are added,
and whether each product is fused with its sum. Float results therefore have the same bits on every CPU. In these cases,
they also have the bits of LiteRT on a CPU with fused multiply-adds:

| operators | have LiteRT's bits if |
|---|---|
| ABS, ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM, NEG, SQUARE, comparisons, RELU and other clamps | always |
| CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED with float32 weights | weights and bias are in the file, and TANH is not \
fused |
| CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED with [int8 weights](#float32-inputs-with-int8-weights) | TANH is not \
fused |
| TRANSPOSE_CONV, Convolution2DTransposeBias | weights and bias are in the file, and no stride is larger than the \
kernel |
| AVERAGE_POOL_2D, L2_POOL_2D, MAX_POOL_2D, L2_NORMALIZATION | always |
| CONV_3D, EMBEDDING_LOOKUP_SPARSE, FAKE_QUANT, NON_MAX_SUPPRESSION_V5, REDUCE_WINDOW | always |
| STABLEHLO_REDUCE_WINDOW, UNSORTED_SEGMENT_MAX, _MIN, _PROD and _SUM | always |
| SVDF | TANH is not fused |
| SUM, MEAN | the profile is `litert-ref`, or the last axis of a size other than 1 is not reduced |

In the profile `litert`, this is only true of numbers whose magnitude is at least 2^-126, because XNNPACK reads and
writes numbers of smaller magnitude as 0.

All other float results may differ from LiteRT's by the bounds below; [`qrt diff`](commands_models.md#qrt-diff) counts
larger differences. If a row has two bounds, a difference within either of them is accepted.

| results | bound | reason |
|---|---|---|
| all, in addition to the rows below | 2^-126 | XNNPACK reads and writes numbers of smaller magnitude as 0 |
| ATAN2, ELU, LOGISTIC, LOCAL_RESPONSE_NORMALIZATION, POW, RSQRT, SQRT | 4 ulp | qrt rounds functions correctly, \
LiteRT does not |
| TANH, SVDF with a fused TANH | 8 ulp | LiteRT's function is less exact |
| EXP | 64 ulp | LiteRT's function is less exact |
| LOG | 4 ulp, or 2^-22 | XNNPACK's function is less exact around 1 |
| SIN, COS of magnitudes up to 10,000 | 4 ulp, or 2^-21 | LiteRT's functions are less exact around their zeros |
| HARD_SWISH | 4 ulp, or 2^-23 | XNNPACK rounds the sum at another step, which matters around -3 |
| GELU | 4 ulp, or 2^-20 | LiteRT uses rational approximations |
| SOFTMAX, LOG_SOFTMAX | 8 ulp of the element, or of the largest element of the result | the exponentials, and their \
order in the sum |
| SUM, MEAN that are not in the table above | 4 ulp, or n * 2^-23 times the sum (for MEAN: the mean) of the magnitudes \
of the n terms | XNNPACK's order depends on the CPU |
| CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, TRANSPOSE_CONV that are not in the table above, and BATCH_MATMUL | \
4 ulp of the element, or of the largest element of the result | the order of the sums |
| CONV_3D_TRANSPOSE | 4 ulp of the element, or of the largest element before a fused activation; 0 with dilations, \
and in the profile `litert-ref` | the order of the sums |
| COMPLEX_ABS, IMAG and REAL of RFFT2D | 1 ulp of the element, or of the largest element of the result; or 2^-40 | \
the order of the sums in float64, which also leave another rest where all elements are 0 |
| LSTM operators with int8 weights | as with float32 weights, except for at most 1 in 100 results | \
where a hidden value is near a tie, LiteRT may quantize it to an integer that differs from qrt's by 1 |
| LSTM and RNN operators | 64 ulp of the element, or of the largest element of the result | errors \
accumulate from step to step |

A fused TANH is supported only in FULLY_CONNECTED, SVDF, and LSTM and RNN operators, because LiteRT ignores it in
others.

### Values at the ends of float32

In the profile `litert`, XNNPACK's results differ from qrt's for these operands. `qrt diff` counts the differences.

| operator | operands | XNNPACK's result |
|---|---|---|
| CEIL, FLOOR, LOG, RSQRT, SQRT | magnitudes below 2^-126 | the result for 0 |
| EXP | above 88.37 | infinity |
| EXP | NaN | 0 |
| LOG | above 2.4e38 | infinity |
| LOGISTIC | magnitudes of at least 2^91 | NaN |
| RSQRT | 0 | NaN |
| RSQRT, SQRT | at least 2^127 | a wrong number |
| HARD_SWISH | at least 2^126 | a finite number, where qrt's is infinite |
| SIN, COS | magnitudes above 10,000 | differs by more than the bound above |
| QUANTIZE to 8 bits | NaN | the greatest integer, where qrt's is the zero point |

LiteRT's own QUANTIZE, which the profile `litert` has for int16 and `litert-ref` for all types, stores a NaN, an
infinity or a magnitude of at least 2^31 scales as the least integer. In qrt a NaN becomes the zero point, and other
numbers the nearest bound.

### Rules of floats

In the [profiles](#profiles), the rows of the computations `float_...`, `segment_sum` and `local_response_normalization`
name the rules of this section. Each paragraph begins with the name of the computation. Every step is rounded to
float32; `fma(a, b, c)` is `a*b + c`, rounded once.

**float_products**: the products of FULLY_CONNECTED, BATCH_MATMUL, CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV. A
matrix product adds its terms in the order of k. A convolution adds its terms in the order of the rows of the kernel,
then the columns, then the channels. With `bias_then_fma`, a depthwise convolution with one filter for each channel has
the columns before the rows.

    bias_then_fma:       sum = bias, or 0;  sum = fma(x, w, sum) for each product
    products_then_bias:  sum = 0;           sum = sum + x*w for each product;  sum = sum + bias
    fours_then_bias:     as products_then_bias, but with four sums, for k = 0, 1, 2 and 3 modulo 4, which are then
                         added in this order
    fours_then_rest:     as fours_then_bias for the first n // 4 * 4 of the n products;
                         sum = sum + x*w for each of the others

SVDF has the rule `fours_then_rest` for its features and for the sums over its state.

**float_transposed_volumes**: `products_then_bias` is the rule of `float_products`. `taps_then_bias` adds the products
of all channels at each element of the window, then these sums in the order of the volumes, and then the bias.

**float_average_pool**: n is the number of elements of the window that are not padding. `nines` takes the elements of
the window column by column, nine at a time; padding and missing elements are 0.

    in_order:  sum = sum + x, row by row;  result = sum / n
    nines:     nine = ((x2 + x3) + (x4 + x5)) + (((x0 + x1) + x8) + (x6 + x7))
               sum = sum + nine for each nine elements, beginning with the first nine;  result = sum * (1/n)

**float_sum**: `in_order` adds all elements one after the other, from 0. `by_runs` reduces each run of adjacent axes
separately, the last run first: axes 0, 1 and 3 are the runs (3) and (0, 1). If a run contains the last axis whose size
is not 1, it is added in sixteens, as described below. Other runs are added in order. A MEAN divides after its first
run.

**Sums in sixteens.** The program adds n terms x so that the error hardly grows with n:

    rest = 0
    while n > 16:
        m = n // 16
        rest = rest + x[16*m] + ... + x[n - 1]                       # the terms after the first 16*m, in order
        x = [x[i] + x[i + m] + ... + x[i + 15*m] for i in range(m)]  # each from 0, in this order
        n = m
    sum = rest + x[0] + ... + x[n - 1]

A sum of 128,000 terms of one sign was within 3 ulp of the exact sum. XNNPACK's own sums were off by 13 ulp for 4,097
similar terms, and by 55 ulp for 128,000. A sum in order is off by 200 ulp for 128,000 terms, and by thousands if the
terms are similar. An axis whose size is known only at run time is added in order.

**float_average**: the mean of n elements, in MEAN and in the mean square of L2_POOL_2D, is `sum / n` by the rule
`divide`, and `sum * (1/n)` by the rule `multiply`.

**float_softmax**: with `e = exp(beta * (x - max(x)))`, `in_order` adds e in order, and the result is `e / sum`.
`multiply` adds e in sixteens, and the result is `e * (1/sum)`. LOG_SOFTMAX, `x - max(x) - log(sum)`, has the same sums.

**float_logistic**: let `p = exp(-|x|)`. By the rule `whole`, the result is `1 / (1 + p)` for x >= 0, and
`p * (1 / (1 + p))` for x < 0. The rule `cut` differs only for x < -9, where the result is `p`.

**segment_sum**: `in_order` adds the rows of each segment one after the other, from 0.

**local_response_normalization**: let r be the radius, and x the channels of a pixel; channels that do not exist are 0.

    running:       sum = alpha*x[-r]^2 + ... + alpha*x[r - 1]^2, in order, before the first channel
                   for each channel c:  sum = sum + alpha*x[c + r]^2;  scale = bias + sum;  sum = sum - alpha*x[c - r]^2
                   result = x[c] * (1 / scale) if beta is 1;  x[c] * (1 / sqrt(scale)) if beta is 0.5;
                   otherwise x[c] * scale^(-beta)
    without_last:  result = x[c] * (bias + alpha*(x[c - r]^2 + ... + x[c + r - 1]^2))^(-beta)

`qrt.load(..., for_quantization=True)` uses other rules for the computations `float_...` and `hybrid`: `bias_then_fma`,
`in_order`, `divide`, `whole`, and `floats`, which dequantizes int8 weights to float32.

## Float32 inputs with int8 weights

Operators with a float32 input and int8 weights are *hybrid*: they quantize the input in every run, with a scale s and a
zero point z from the range of its elements x. These operators are FULLY_CONNECTED, BATCH_MATMUL, CONV_2D,
DEPTHWISE_CONV_2D, SVDF, and LSTM and RNN operators; FULLY_CONNECTED and CONV_2D may also have int4 weights. In the
profiles, the rows of the computation `hybrid` name these rules, which differ in how many elements share one scale:

| rule | elements x that share one scale |
|---|---|
| `rows` | FULLY_CONNECTED, BATCH_MATMUL: a row. CONV_2D with a 1x1 kernel, strides of 1, no padding and no groups: a \
pixel. Any other CONV_2D, and every CONV_2D from one channel to one channel: an image |
| `symmetric`, `asymmetric` | FULLY_CONNECTED, BATCH_MATMUL, SVDF: a row. Convolutions: an image. \
LSTM and RNN operators: a row of a step's inputs, of the hidden values before the step, and of the \
values that are projected |
| `images`, `images_in_fours` | an image |

The rule `zeros` marks forms whose result LiteRT leaves at 0. They are not supported.

These formulas give the parameters and the quantized input q, with `low = min(0, min(x))`, `high = max(0, max(x))` and
`magnitude = max(|x|)`:

    rows, all steps in float32:
        inverse = 255 / (high - low), or 1 if low = high
        error   = (-128 + low*inverse) + (127 + high*inverse)
        z       = half_even(clamp(-128 - low*inverse if error > 0 else 127 - high*inverse, -128, 127))
        s       = 1 / inverse
        q       = clamp(half_even(x * inverse) + z, -128, 127)

    symmetric, all steps in float32:
        inverse = 127 / magnitude, s = magnitude / 127, or both 1 if magnitude = 0
        z       = 0
        q       = clamp(away(x * inverse), -127, 127)

    asymmetric, images, images_in_fours, with the difference high - low in float32 and other steps in float64:
        s       = (high - low) / 255, or 1 if low = high
        near    = 128 + |low/s| < 127 + |high/s|
        z       = away(clamp(-128 - low/s if near else 127 - high/s, -128, 127)), or 0 if low = high
        s       = f32(s), inverse = f32(1 / s)
        q       = clamp(away(f32(x * inverse)) + z, -128, 127)

`half_even` rounds to an integer, halves to even; `away` rounds halves away from zero. LiteRT's vector code computes
`away(y)` as `trunc(f32(y + 0.5))` for y >= 0, and rounds the largest float below 0.5 to 1. The program does the same
for the first `n // 8 * 8` of the n elements of a row or an image; the last elements are rounded exactly.

The next formulas give the results. `acc = f32(sum of (q - z) * w)` is the exact sum rounded to float32, sw is the scale
of the weights, and the bias may be 0:

    rows:                   fma(acc * s, sw, bias)
    symmetric, asymmetric:  acc * (s * sw) + bias, and in LSTM and RNN operators
                            (bias + acc * (s * sw) of the inputs) + acc * (s * sw) of the hidden values
                            In SVDF this is the feature, without a bias
    images:                 (acc * sw) * s + bias
    images_in_fours:        (acc * sw) * s + bias for the first c // 4 * 4 of the c output channels
                            (acc * s) * sw + bias for the others

**Weights in blocks.** Weights of int4 may have a float16 scale for each block of 32, 64, ... elements of a row; only
XNNPACK supports them. The input is quantized as by the rule `rows`. sw is the scale of a block, rounded to bfloat16:

    offset = -(sw * sum(w) of each block, added in order)
    sum    = (z + 128) * offset
    sum    = sum + sw * (sum of (q + 128) * w) for each block
    result = sum * s + bias

These are LiteRT's bits on a CPU with VNNI instructions. On other CPUs, LiteRT's sums begin with `z * offset` and use q,
not `q + 128`; results then differ by a few ulp of the largest term.

Two exceptions:

- The option `asymmetric_quantize_inputs` has no effect in the profile `litert` if XNNPACK executes the operator (rule
  `rows`). It has no effect in convolutions either.
- A NaN or an infinity in the input is an error at run time, because LiteRT's result is undefined. If the range
  `high - low` is not 0 but below 2^-120, an element of 0 is an error for the same reason. Results of other elements
  then differ from LiteRT's by at most 2^-119 times the sum of the magnitudes of the weights.

These forms of hybrid operators are not supported:

| form | reason |
|---|---|
| weights of uint8, or int8 weights with a zero point | no kernel of LiteRT |
| weights in blocks of other sizes, with TANH, with a bias known only at run time, or in the profile `litert-ref` | \
LiteRT computes 0 |
| FULLY_CONNECTED with sparse weights of int8 | LiteRT's default build reads them as dense weights |
| DEPTHWISE_CONV_2D with weights of int4 | no kernel of LiteRT |
| DEPTHWISE_CONV_2D of several channels whose weights have a single scale | LiteRT reads past the end of the scales |
| CONV_2D with groups, if XNNPACK does not execute it | LiteRT reads past the end of the scales, or reports an error |
| rule `asymmetric` in BATCH_MATMUL, CONV_2D or FULLY_CONNECTED, with weights that are known only at run time | \
LiteRT keeps the sums of the weights of its first run |
| BATCH_MATMUL with weights that are known only at run time, in the profile `litert` (rule `zeros`) | LiteRT's results \
are 0 |
| BATCH_MATMUL of an operand with several axes of batches larger than 1, in the profile `litert-ref` | LiteRT scales \
rows by the scales of other rows |

## Operators

This table lists the operators that are imported. The column "forms" says what the operator computes, and with which
types and options it is supported. The last column is for inputs that all have no scales, such as float32 and int32;
"as before" means that the column "forms" applies to these inputs too. "Apply the function" means the function that the
operator is named after. Operators that move elements, such as RESHAPE, GATHER and PAD, accept tensors of all types,
unless their row names types. "Known" means known at import.

"""
_PROFILES = """
## Profiles

A profile says by which rule each operator is rounded. Look here to find out which rule an imported operation has, or
why a form is not supported. Each row has a computation, conditions and a rule. The rule of a computation is that of
its first row whose conditions are all true; "none" means no condition. If no row applies, the operator's form is not
supported, and the error names the computation and the values of its conditions. Each rule is linked to its definition.
The column "kernel" says which kernel of the runtime has this rule: `delegate` (XNNPACK), `builtin` (LiteRT's own
kernels) or `reference`.

Most computations have the name of an operator, in lower case. The others are:

"""
_CONDITIONS = """
A condition compares one of these values. Real numbers are float32; types are `i8`, `u8`, `i16`, `i32`, `i64` and `f32`.
A condition without a value, such as `weight_offset`, must be true; "not" means that it must be false.

"""
COMPUTATIONS = {
    "activation": Computation(
        "the bounds of a fused activation, or of RELU and other clamps, as integers", "#other-rules"
    ),
    "conv2d": Computation("CONV_2D", "requantization.md#{rule}"),
    "depthwise_conv2d": Computation("DEPTHWISE_CONV_2D", "requantization.md#{rule}"),
    "fully_connected": Computation("", "requantization.md#{rule}"),
    "add": Computation("ADD and SUB", "requantization.md#{rule}-of-sums", {"shifted": "#other-rules"}),
    "mul": Computation("", "requantization.md#{rule}"),
    "transpose_conv2d": Computation("TRANSPOSE_CONV", "requantization.md#{rule}", {"half_up_twice_8": "#other-rules"}),
    "batch_matmul": Computation("", "requantization.md#{rule}"),
    "div": Computation("", "../numerics_operations.md#div-and-squared_difference"),
    "squared_difference": Computation("", "../numerics_operations.md#div-and-squared_difference"),
    "maximum_minimum": Computation("MAXIMUM and MINIMUM", "#other-rules"),
    "comparison": Computation(
        "EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL and NOT_EQUAL",
        "../numerics_operations.md#comparisons-of-imported-models",
        {"exact": "#other-rules"},
    ),
    "leaky_relu": Computation("", "requantization.md#{rule}"),
    "prelu": Computation("", "requantization.md#{rule}"),
    "relu": Computation("RELU, RELU6, RELU_0_TO_1 and RELU_N1_TO_1", "requantization.md#{rule}"),
    "abs": Computation("", "requantization.md#{rule}"),
    "segment_sum": Computation("", "#rules-of-floats"),
    "local_response_normalization": Computation("", "#rules-of-floats"),
    "neg": Computation("", "#other-rules"),
    "average_pool2d": Computation("AVERAGE_POOL_2D", "requantization.md#{rule}"),
    "max_pool2d": Computation("MAX_POOL_2D", "#other-rules"),
    "mean": Computation("", "requantization.md#{rule}"),
    "sum": Computation("", "requantization.md#{rule}"),
    "softmax": Computation("", "../numerics_functions.md#rules-of-softmax-and-log_softmax"),
    "log_softmax": Computation("", "../numerics_functions.md#rules-of-softmax-and-log_softmax"),
    "logistic": Computation("LOGISTIC of 16-bit tensors", "../numerics_functions.md#logistic-and-tanh"),
    "tanh": Computation("TANH of 16-bit tensors", "../numerics_functions.md#logistic-and-tanh"),
    "table": Computation(
        "ELU, EXP, GELU, HARD_SWISH, LOG, LOGISTIC, RSQRT, SQRT and TANH of 8-bit tensors, and SQRT of 16-bit ones. "
        "EXP, GELU, LOG and RSQRT of 16-bit tensors have no rule: both profiles compute them by "
        "[`qrt.lookup_interpolated`](../numerics_functions.md#interpolated-tables)",
        "#other-rules",
    ),
    "quantize": Computation("QUANTIZE of float32", "#other-rules"),
    "dequantize": Computation("", "#other-rules"),
    "requantize": Computation("QUANTIZE of a quantized tensor", "requantization.md#{rule}", {"exact": "#other-rules"}),
    "float_products": Computation("the sums of products of float32", "#rules-of-floats"),
    "hybrid": Computation(
        "BATCH_MATMUL, CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, SVDF, and LSTM and RNN operators of float32 with "
        "int8 weights",
        "#float32-inputs-with-int8-weights",
    ),
    "hybrid_blocks": Computation(
        "FULLY_CONNECTED of float32 with int4 weights in blocks",
        "#float32-inputs-with-int8-weights",
    ),
    "float_transposed_volumes": Computation("the sums of products of CONV_3D_TRANSPOSE", "#rules-of-floats"),
    "float_average_pool": Computation("AVERAGE_POOL_2D of float32", "#rules-of-floats"),
    "float_sum": Computation("the sum of SUM and MEAN of float32", "#rules-of-floats"),
    "float_average": Computation("the division of MEAN and L2_POOL_2D of float32", "#rules-of-floats"),
    "float_softmax": Computation("SOFTMAX and LOG_SOFTMAX of float32", "#rules-of-floats"),
    "float_logistic": Computation("LOGISTIC of float32", "#rules-of-floats"),
    "concatenation": Computation("an operand of CONCATENATION", "#other-rules"),
    "resize_bilinear": Computation("", "../numerics_operations.md#resize_bilinear"),
}
"""The names in the first column of the profiles. The text is empty where the name is an operator's, in lower case."""
CONDITIONS = {
    "is_dilated": "a dilation is not 1",
    "kernel": "for `activation`: the last column of the row that applies to the operator with the activation",
    "storage": "the type of the input's storage, or f32; for `quantize`, `requantize` and `concatenation`, that of the "
    "result. Except for these, `softmax` and `dequantize`, input and result have the same type of storage",
    "source": "the type of the input's storage",
    "multiplier": "the product of the scales of both operands, divided by the scale of the result; for weights with "
    "several scales, the largest",
    "bias": "the type of the bias in the file",
    "bias_type": "the option `quantized_bias_type` of the operator",
    "weight_offset": "the weights, or the second operand of `batch_matmul`, have a zero point other than 0",
    "weights": "the storage type of the weights",
    "sparse_block": "the number of elements of a row in each stored block of sparse weights; 0 if they are not sparse",
    "has_packed_kernel": "the rows of the weights of `fully_connected` fill whole bytes; if the weights are int2, each "
    "output has a scale too",
    "is_remainder": "the rule is for the output channels after the last complete group of eight",
    "scale_axis": "the `quantized_dimension` of weights with a single scale; 0 if they have several",
    "ratio": "the scale of the input, divided by that of the result; for `add` the smaller ratio of its two inputs",
    "largest_ratio": "for `add`: the larger ratio of its two inputs",
    "slope": "the magnitude of `ratio` times the slope",
    "op": "the operator, ADD or SUB",
    "are_powers": "for `add` of 16-bit tensors: the option `pot_scale_int16` is set, as it is by default, and the "
    "three scales are powers of two (their binary logarithms are closer than 0.001 to an integer)",
    "operator": "the operator",
    "function": "the operator",
    "is_broadcast": "the operands have different shapes",
    "is_short": "padding is SAME, and the kernel is smaller than the stride along an axis",
    "scale": "the scale of the input",
    "is_constant": "the input is known at import",
    "is_per_axis": "the input has a scale for each index of an axis",
    "is_shift": "input and result are 8-bit tensors with the same scale that differ at most in signedness: the zero "
    "point of uint8 is 128 larger than that of int8",
    "is_delegated": "weights and bias are in the file, and there is no fused TANH",
    "is_asymmetric": "the option `asymmetric_quantize_inputs` of the operator is set",
    "has_unequal_scales": "the weights have scales that differ",
    "has_groups": "the input of `CONV_2D` has more channels than a filter",
    "has_gaps": "a stride is larger than the window along its axis",
    "is_equal": "the operand has the scale and zero point of the result",
}
"""The meaning of each name in the conditions."""
_OTHER_RULES = """
### Other rules

These rules have no page of their own. In the column "result", q is the storage and x the float value of the input. s
and z are the scale and the zero point of the result, or of the input of `dequantize`; si and zi are those of the input.
Steps are rounded to float32, except where another format is given. `half_even` rounds to an integer, halves to even;
`away` rounds halves away from zero. Every result is clamped to the bounds of the storage.

| computation | rule | result |
|---|---|---|
| `activation` | `half_even` | `half_even(bound / s + z)` |
| `activation` | `half_away` | `away(bound / s) + z` |
| `table` | `half_even` | `half_even(f(x) / s + z)` for `x = si * (q - zi)`; LOGISTIC and TANH are computed in float64 |
| `table` | `half_away` | `away(f(x) * (1 / s)) + z`; SQRT is truncated, and RSQRT and HARD_SWISH are computed in \
integers, as `qrt/models/tflite/tables.py` defines |
| `quantize` | `reciprocal` | `half_even(x * (1 / s)) + z` |
| `quantize` | `divide` | `away(x / s) + z` |
| `quantize` | `eights` | `reciprocal` for the first `n // 8 * 8` of n elements, `away(x / s) + z` in float64 for the \
others |
| `dequantize` | `multiply` | `(q - z) * s`, rounded once |
| `dequantize` | `eights_twice` | `q * s + (-z * s)`, with both products and the sum rounded, for the first \
`n // 8 * 8` of n elements; `multiply` for the others |
| `requantize` | `exact` | `q - zi + z` |
| `sum` | `float32_away` | `away(f32(sum of q) * (si / s))`; the sum is an integer of 32 bits, which wraps |
| `concatenation` | `table` | `away(q * r + (-zi * r)) + z`, with `r = si * (1 / s)` |
| `concatenation` | `exact` | `q` |
| `transpose_conv2d` | `half_up_twice_8` | [`half_up_twice`](requantization.md#half_up_twice) for the first \
`c // 8 * 8` of c output channels, [`fixed_double`](requantization.md#fixed_double) for the others |
| `maximum_minimum`, `max_pool2d` | `exact` | the largest or least storage |
| `comparison` | `exact` | the storage is compared |
| `add` | `shifted` | `a + b`, or `a - b`. One operand has the scale of the result; the other is first shifted right, \
rounded by `away`, by the binary logarithm of the quotient of the scales |
| `neg` | `exact` | `-q`, whatever the zero point |
"""


def page() -> str:
    """Return the page."""
    names = {name: computation for name, computation in COMPUTATIONS.items() if computation.text}
    conditions = "".join(f"| `{name}` | {text} |\n" for name, text in CONDITIONS.items())
    return "".join(
        (
            _HEAD,
            importer_page.operators_table(_complete(operators()), "forms", "forms without quantized inputs"),
            _missing(),
            python_steps.section(python_steps.TFLITE),
            _PROFILES,
            importer_page.computations_table(names),
            _CONDITIONS,
            f"| condition | meaning |\n|---|---|\n{conditions}",
            _OTHER_RULES,
            importer_page.profiles(".tflite", COMPUTATIONS),
        )
    )


def _complete(rows: Described) -> Described:
    """Return the rows of operators with a text in each of their two columns."""
    return [(names, (forms or "none", others or "as before")) for names, (forms, others) in rows]


_MISSING = """
### Operators that are not imported

LiteRT's CPU kernels have {all} operators, of which {supported} are imported. These are not:

| operators | reason |
|---|---|
{rows}
Custom operators other than TFLite_Detection_PostProcess and Convolution2DTransposeBias are not imported either. A model
may contain operators of TensorFlow itself, whose names begin with Flex. To avoid them, convert the model with
`tf.lite.OpsSet.TFLITE_BUILTINS` only.
"""
_REASONS = {
    "random numbers": "MULTINOMIAL RANDOM_STANDARD_NORMAL RANDOM_UNIFORM STABLEHLO_RNG_BIT_GENERATOR",
    "hash tables": "HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_LOOKUP HASHTABLE_SIZE",
    "strings and hashes": "LSH_PROJECTION SKIP_GRAM",
}
"""The reasons why operators are not imported. Operators without a reason are only not written yet."""


def _missing() -> str:
    """Return the section of the operators that LiteRT registers and qrt does not import."""
    names = registered()
    missing = [name for name in names if name not in OPERATORS and name not in PLAIN_OPERATORS]
    reasons = {name: reason for reason, text in _REASONS.items() for name in text.split()}
    groups = {reason: [name for name in missing if reasons.get(name, "") == reason] for reason in (*_REASONS, "")}
    rows = "".join(
        f"| {', '.join(group)} | {reason or 'not written yet'} |\n" for reason, group in groups.items() if group
    )
    return _MISSING.format(all=len(names), supported=len(names) - len(missing), rows=rows)


def operators() -> importer_page.Described:
    """Return the names of operators with the same forms, and the descriptions of these: with scales, and without."""
    return importer_page.described(OPERATORS, PLAIN_OPERATORS)
