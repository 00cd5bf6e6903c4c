"""docs/reference/tflite.md: the operators that are imported, as their functions describe them, and the tables of the
profiles. `make expected` writes it.
"""

from qrt.models.tflite.registry import OPERATORS, PLAIN_OPERATORS
from tests.docs.documents import ROOT
from tests.reference import importer_page

PAGE = ROOT / "docs" / "reference" / "tflite.md"
_HEAD = """# TFLite models

`qrt.load("model.tflite")` [imports a model](../howto/run_a_tflite_model.md); [the commands](commands_models.md) accept
model files too. `make expected` writes this page from the operators and the tables of `qrt/models/profiles`.

## What a model becomes

- Each signature becomes a function; a model with one signature or none becomes `@main`. Arguments and results have the
  file's order, and the names of the signature, or of the tensors.
- An operation has the name of the tensor that it computes: `qrt.tensor = "name"`. A name that is empty, or that
  occurs before in the file, gets the tensor's index: `name#7`.
- A tensor with scales has a quantized type. A scale is the file's float32 converted to a double.
- The bias of a sum of products has the product of the two scales, whatever scale the file has, because runtimes add it
  unscaled.
- A dynamic dimension is `?`. `qrt.load(..., shapes={"x": (1, 96, 96, 1)})` and `--input-shape x=1x96x96x1` import the
  model with the given shapes of inputs instead. The names are those of the function's arguments.
- Shapes of results are computed from the operands. The shapes in the file are used for inputs and variables, and for
  results whose shape depends on values that are unknown at import.
- Sizes of dynamic dimensions are followed from SHAPE through SLICE, STRIDED_SLICE, CONCATENATION, CAST and PACK to
  RESHAPE. A result may then have one dynamic dimension.
- A fused activation is a `qrt.clamp` after the operation, if its bounds are inside those of the storage.
- Tensors that depend on constants alone are computed at import. So DEQUANTIZE of constants of float16, int8, uint8,
  int16 and int4 leaves float32 constants in the program, as large as those of a float32 model. float16 is widened
  exactly.
- In the default build, DEQUANTIZE of an int8 or int4 constant with one scale computes `q * scale + (-zero_point *
  scale)`, with each product and the sum rounded, for every whole block of 8 elements. All other elements are rounded
  once. These are the rows `eights_twice` and `multiply` of `dequantize`.

An unsupported form of an operator is an error. One error lists all unsupported operators and forms of the model, with
the number of occurrences.

## Floats

Sums of products, pools, sums, means and elementwise arithmetic of float32 become loop nests that fix the order of every
sum, and whether a product is fused with the sum. If weights and biases are in the file, they have the bits of the
runtime's kernels, those of XNNPACK on a CPU with fused multiply-adds. So do products of float32 with int8 weights,
whether these are in the file or not. A fused TANH is refused if LiteRT ignores it.

Other results differ by at most the following; `qrt diff` counts larger differences. A unit is one in the last place. In
rows with two bounds, a result may use either.

| results | largest difference | reason |
|---|---|---|
| all results of the default build | 2^-126 | XNNPACK reads and writes numbers below 2^-126 as 0 |
| ELU, LOGISTIC, POW, RSQRT, SQRT, ATAN2 | 4 units | qrt rounds functions correctly |
| TANH | 8 units | |
| EXP | 64 units | |
| LOG | 4 units, or 2^-22 | XNNPACK's function is less exact around 1 |
| SIN, COS of magnitudes up to 10,000 | 4 units, or 2^-21 | the functions are less exact around their zeros |
| HARD_SWISH | 4 units, or 2^-23 | XNNPACK rounds the sum at another step, which matters around -3 |
| GELU | 4 units, or 2^-20 | LiteRT uses rational approximations |
| SOFTMAX, LOG_SOFTMAX | 8 units, or 8 of the greatest result | the exponentials, and the order of their sum |
| SUM, MEAN over the last axis with more than one element, in the default build | 4 units, or n * 2^-23 times the sum \
or mean of the magnitudes of the n terms | the CPU decides the order |
| TRANSPOSE_CONV whose windows leave gaps, FULLY_CONNECTED with a fused TANH, products of floats with weights or a \
bias that are known only at run time | 4 units of the greatest result | the order of the sums |
| UNIDIRECTIONAL_SEQUENCE_LSTM and _RNN | 64 units of the greatest result | errors accumulate from step to step |

- In the default build SOFTMAX and LOG_SOFTMAX, and SUM and MEAN over the last axis, add sixteen terms at a time. Of n
  terms, with m = n // 16, the terms i, i + m, ..., i + 15m are added to one, in this order, until 16 or fewer are left.
  The terms after the first 16m are added to a remainder, with which the last sum begins. A sum of 128,000 terms of one
  sign was within 3 units of the exact sum. LiteRT's own sums are less exact if a thousand or more terms are similar: by
  13 units for 4,097 terms and by 55 for 128,000.
- The reference kernels add in order, and so do SUM and MEAN over other axes, L2_NORMALIZATION and AVERAGE_POOL_2D in
  the default build. The results are equal, and their error grows with the number of terms: for 128,000 terms it is 200
  units, and thousands if the terms are similar.
- XNNPACK treats operands below 2^-126 as 0: CEIL, FLOOR, LOG, RSQRT and SQRT of them return what they return for 0.
- Near the ends of float32 XNNPACK's functions have other results. EXP is infinite above 88.37, and 0 for a NaN. LOG is
  infinite above 2.4e38. LOGISTIC is a NaN for magnitudes of at least 2^91. RSQRT of 0 is a NaN. RSQRT and SQRT are
  wrong for numbers of at least 2^127. HARD_SWISH is infinite in qrt for numbers of at least 2^126. SIN and COS differ
  more for magnitudes above 10,000.

## Inputs that are quantized in each run

FULLY_CONNECTED, CONV_2D and DEPTHWISE_CONV_2D of float32 with int8 weights quantize their input in each run. The rows
`hybrid` of a profile name the rule.

| rule | elements with a common range | storage | rounding |
|---|---|---|---|
| `rows` | a row; in a 1x1 convolution a pixel, in any other an image | all of int8, in float32 | half to even, \
then the zero point is added |
| `symmetric` | a row or an image | -127 to 127 | half away from zero |
| `asymmetric` | a row or an image | all of int8, in float64 | half away from zero, then the zero point is added |
| `images` | an image | the same | the same |
| `images_in_fours` | an image | the same | the same |

- A range includes 0. If all elements are 0, they are stored as 0.
- Rounding away from zero adds 0.5 in float32 to eight elements at a time, so that the float just below 0.5 becomes 1.
  The last elements of a row or an image, fewer than eight, are rounded one by one, and it becomes 0.
- An exact sum is converted to a float. `rows` multiplies it by the scale of the row, then multiplies by the scale of
  the weights and adds the bias with one rounding. `symmetric` and `asymmetric` multiply by the product of both scales.
  `images` multiplies by the scale of the weights, then by that of the input; `images_in_fours` does the same, but in
  the other order for the channels after the last multiple of four.
- In the default build the option `asymmetric_quantize_inputs` has no effect if XNNPACK executes the operator, which is
  so if weights and bias are in the file, and no TANH is fused.
- A NaN, an infinity, or an element of 0 in a range below 2^-120 is an error at run time: LiteRT's result is an
  undefined conversion. Other results of such a range differ by at most 2^-119 times the sum of the weights.
- Refused are: weights of uint8 and weights with a zero point; CONV_2D with groups; a single scale for all channels of
  DEPTHWISE_CONV_2D, because LiteRT reads past the end of the scales; and weights that are known only at run time, if
  the input has a zero point, because LiteRT reuses their sums from its first run.

## Operators

"""
_TABLES = """
## Profiles

A profile lists the rule of each op under some conditions. The first row whose conditions are true applies.
[Numerics](../numerics.md) defines the rules. The rows `activation` list how bounds of fused activations are rounded,
which depends on the kernel.
"""


def page() -> str:
    """Return the page."""
    return importer_page.page(_HEAD, _TABLES, _operators(), ".tflite")


def operators() -> list[tuple[list[str], str]]:
    """Return the names of operators that one function imports, and the description of their forms."""
    return importer_page.described(_operators())


def _operators() -> importer_page.Operators:
    """Return the operators with quantized forms, and those without."""
    return {**PLAIN_OPERATORS, **OPERATORS}
