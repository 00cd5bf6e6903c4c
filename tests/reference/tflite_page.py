"""docs/reference/tflite.md: the operators that are imported, as their functions describe them, and the tables of the
profiles. `make expected` writes it.
"""

from qrt.models.tflite.registry import OPERATORS, PLAIN_OPERATORS
from tests.docs.documents import ROOT
from tests.reference import importer_page

PAGE = ROOT / "docs" / "reference" / "tflite.md"
_HEAD = """# TFLite models

`qrt.load("model.tflite")` [imports a model](../howto/run_a_tflite_model.md), and so do [the
commands](commands_models.md). `make expected` writes this page
from the operators and the tables of `qrt/models/profiles`.

## What a model becomes

- A function for each signature, or `@main` where there is one or none. Arguments and results keep the file's order.
  Their names are those of the signature, or of the tensors.
- An operation carries the name of the tensor that it makes: `qrt.tensor = "name"`. A name that is empty, or stands in
  the file before, gets the tensor's index: `name#7`.
- A tensor with scales has a quantized type. A scale is the file's float32 as a double.
- The bias of a sum of products has the product of the two scales, whatever the file says, because runtimes add it as
  it is.
- A dimension that the file leaves open is `?`.
- A fused activation is a `qrt.clamp` after the operation, where its bounds lie inside the storage.
- What follows from constants is computed at import.

A form that is not supported is refused. One error lists every such operator and form, and how often each occurs.

## Floats

Sums of products, pools, sums, means and elementwise arithmetic of float32 are loop nests whose text says the order of
every sum, and whether a product is fused with the sum. They have the bits of the runtime's kernels, those of XNNPACK on
a CPU with fused multiply-adds, where weights and biases stand in the file. So have products of float32 with int8
weights, whether these stand in the file or not. A fused TANH is refused where LiteRT leaves it out.

What does not have the same bits lies apart as follows; `qrt diff` counts as different what lies further apart. A unit
is one in the last place. In rows with two bounds, a result need only keep one.

| what | how far apart | why |
|---|---|---|
| every result of the default build | 2^-126 | XNNPACK reads and writes numbers below 2^-126 as 0 |
| ELU, LOGISTIC, POW, RSQRT, SQRT, ATAN2 | 4 units | functions are rounded correctly here |
| TANH | 8 units | |
| EXP | 64 units | |
| LOG | 4 units, or 2^-22 | XNNPACK's is less exact around 1 |
| SIN, COS of magnitudes up to 10,000 | 4 units, or 2^-21 | around their zeros |
| HARD_SWISH | 4 units, or 2^-23 | XNNPACK's sum is rounded at another place, which shows around -3 |
| GELU | 4 units, or 2^-20 | LiteRT's functions are rational |
| SOFTMAX, LOG_SOFTMAX | 8 units, or 8 of the greatest result | the exponentials, and the order of their sum |
| SUM, MEAN over the last axis with more than one element, in the default build | 4 units, or n * 2^-23 times the sum \
or mean of the magnitudes of the n terms | the CPU decides the order |
| TRANSPOSE_CONV whose windows leave gaps, FULLY_CONNECTED with a fused TANH, products of floats with weights or a \
bias known only at run time | 4 units of the greatest result | the order of the sums |
| UNIDIRECTIONAL_SEQUENCE_LSTM and _RNN | 64 units of the greatest result | each step hands on what it made |

- In the default build SOFTMAX and LOG_SOFTMAX, and SUM and MEAN over the last axis, add sixteen terms at a time: of n
  terms, with m = n // 16, the terms i, i + m, ..., i + 15m become one, in this order, until 16 or fewer are left; what
  stands behind the first 16m is added to a rest, with which the last sum begins. A sum of
  128,000 terms of one sign was seen within 3 units of the exact one. LiteRT's own sums lie further from it where a
  thousand terms or more are alike: by 13 units of 4,097 and by 55 of 128,000.
- The reference kernels add in order, and so do SUM and MEAN over other axes, L2_NORMALIZATION and AVERAGE_POOL_2D in
  the default build. The results are equal, and their error grows with the number of terms: of 128,000 it is 200 units,
  and thousands where terms are alike.
- Operands below 2^-126 are 0 for XNNPACK: CEIL, FLOOR, LOG, RSQRT and SQRT of them give what they give of 0.
- Near the ends of float32 XNNPACK's functions have other results: EXP is infinite above 88.37 and 0 of a NaN, LOG is
  infinite above 2.4e38, LOGISTIC is a NaN from magnitudes of 2^91 on, RSQRT of 0 is a NaN, RSQRT and SQRT are wrong
  from 2^127 on. HARD_SWISH is infinite here from 2^126 on. SIN and COS lie further apart beyond 10,000.

## Inputs that are quantized at each run

FULLY_CONNECTED, CONV_2D and DEPTHWISE_CONV_2D of float32 with int8 weights make integers of their input at each run.
The rows `hybrid` of a profile name the rule.

| rule | what has one range | range | rounding |
|---|---|---|---|
| `rows` | a row; of a 1x1 convolution a pixel, of any other an image | the whole of int8, in float32 | half to even, \
then the zero point is added |
| `symmetric` | a row or an image | -127 to 127 | half away from zero |
| `asymmetric` | a row or an image | the whole of int8, in float64 | half away from zero, then the zero point is added |
| `images` | an image | the same | the same |
| `images_in_fours` | an image | the same | the same |

- A range holds 0. Where all elements are 0, they stay 0.
- Away from zero rounds eight elements at a time by adding 0.5 in float32: the float before 0.5 becomes 1. The last
  elements of a row or an image, fewer than eight, are rounded one by one, and it becomes 0.
- An exact sum becomes a float. `rows` multiplies it by the scale of the row, and adds the bias to its product with the
  scale of the weights, rounded once. `symmetric` and `asymmetric` multiply by the product of both scales; `images`
  by the scale of the weights and then by the other, `images_in_fours` too, but the other way round for the channels
  behind the last four.
- In the default build the option `asymmetric_quantize_inputs` is without effect where XNNPACK takes the operator: where
  weights and bias stand in the file, and no TANH is fused.
- A NaN, an infinity, or an element of 0 in a range below 2^-120 ends the run with an error: LiteRT's result is that of
  a conversion without a meaning. Other results of such a range lie within 2^-119 times the sum of the weights.
- Refused: weights of uint8 and those with a zero point; CONV_2D in groups; one scale for the channels of
  DEPTHWISE_CONV_2D, of which LiteRT reads what stands behind it; weights of the run with a zero point of the input, of
  which LiteRT keeps the sums of its first run.

## Operators

"""
_TABLES = """
## Profiles

A profile says which rule an op follows where its conditions hold. The first row that applies decides.
[Numerics](../numerics.md) defines the rules. The kernel
decides how bounds of fused activations are rounded: `activation` has the rows for that.
"""


def page() -> str:
    """The page."""
    return importer_page.page(_HEAD, _TABLES, _operators(), ".tflite")


def operators() -> list[tuple[list[str], str]]:
    """The names of operators that one function imports, and what it says of their forms."""
    return importer_page.described(_operators())


def _operators() -> importer_page.Operators:
    """Those with quantized forms, and those that have none."""
    return {**PLAIN_OPERATORS, **OPERATORS}
