"""docs/reference/onnx.md: the operators that are imported, as their functions describe them, and the table of the
profile. `make expected` writes it.
"""

from qrt.models.onnx.check import IR_VERSIONS, OPSETS
from qrt.models.onnx.registry import OPERATORS
from tests.docs.documents import ROOT
from tests.reference import importer_page

PAGE = ROOT / "docs" / "reference" / "onnx.md"
_HEAD = f"""# ONNX models

`qrt.load("model.onnx")` [imports a model](../howto/run_an_onnx_model.md), and so do [the
commands](commands_models.md). Only operators that ONNX defines by others need the package `onnx`.
IR versions {IR_VERSIONS[0]} to {IR_VERSIONS[-1]} and opsets {OPSETS[""][0]} to {OPSETS[""][-1]} are read.
`make expected` writes this page from the operators and the table of `qrt/models/profiles`.

## What a model becomes

- A function `@main`. Arguments and results keep the file's order, names and types: an input of uint8 is
  `tensor<..xui8>`. A dimension that the file leaves open is `?`; its name stands in `qrt.dimensions`, and dimensions of
  one name have one size at a call.
- An initializer is a constant, though it may be an input too. Local functions are inlined.
- An operation carries the name of the tensor that it makes: `qrt.tensor = "name"`.
- What an operator quantizes has a quantized type of its scale and zero point, where these are known. A scale is the
  file's float32 as a double. `quant.scast` stands between it and operators on integers.
- Operators that move elements keep their bits, and the quantized type.
- The bias of QLinearConv and QGemm has the product of the two scales, because the runtime adds it as it is.
- ONNX has the channels of an image before its height and width. Convolutions and pools stand between two transposes.
- What follows from constants is computed at import.
- A branch, or the body of a loop, is a private function that `scf.if` or `scf.while` calls. What it reads of the
  tensors around it are arguments more. A branch whose condition is known stands among the operations around it.

A form that is not supported is refused. One error lists every such operator and form, and how often each occurs.

## Floats

Sums of products of float32 are loop nests whose text says the order of every sum, and that a product is fused with the
sum. The runtime adds in an order that depends on the CPU and the sizes. A sum of n products lies within
`n * 2^-24` times the sum of their magnitudes of the exact one here and there.

Functions are correctly rounded, and so is each step of those that have several. The runtime's approximations lie within
4e-6 of the number and 4e-7 beside it; those of Softmax along n > 10,000 elements within n * 4e-10 of the number.
Normalizations are computed in float64 and rounded once; the runtime's float32
sums lie within 2e-3 where elements are a hundred times as large as they differ, and within 1e-5 where they lie around
0.
Resize by linear or cubic weights lies within 2e-6 of the largest element; where scales give sizes that are no integers,
align_corners counts to the last whole element, as the runtime does.
LSTM, GRU, RNN, attention and InstanceNormalization lie within 4e-6 of the largest element where elements are small.
DynamicQuantizeLSTM lies within 2e-6 where every cell is below 2, and MatMulNBits within 1e-4.
Of DynamicQuantizeLSTM at most 1 of 1,000 elements lies further apart: where the floats of both lie on two sides of a
tie, a hidden value is quantized to the next integer.

## Groups of casts

An operator between DequantizeLinear and QuantizeLinear, perhaps with Relu or Clip behind it, becomes one quantized
operation where that computes the same. Otherwise it runs on floats between casts, and `qrt import` says why. A group is
not folded where

- its casts are of floats other than float32, or a scale lies beyond 2^-40 to 2^40,
- its bias is not an int32 constant without zero point, or has another scale than the product of both operands' scales,
  to within 4 units in the last place of float32,
- Add and Mul have operands or a result of unequal storage, or another operator has storage that it does not take,
- an operator that moves elements would change the scale, the zero point or the storage,
- a second activation follows, or the result is read as floats too.

The runtime rounds each float between the casts, a group its result alone. The results of Concat, Where, Sigmoid,
LeakyRelu, pools and what moves elements are the runtime's own. Those of Add, Mul, Conv, MatMul, Gemm and Softmax differ
beside ties alone: let f be the float that QuantizeLinear takes, n the number of terms that it sums, S the sum of their
magnitudes, s and z the scale and the zero point of the result. Both results are what QuantizeLinear makes of numbers
within

    2 * (n + 4) * 2^-24 * S + 8 * 2^-24 * (|f| + |z| * s)

of f; S of Add has the zero points of both operands too, each times its scale. Of Softmax the first term is twice what
its floats may lie apart. With scales such as 0.02, 0.01 and 0.05, whose quotient has few digits, many results are ties,
and one of some hundred elements differs by 1; with others, one of 100,000 or less. `qrt diff` counts an element as
different where it lies outside of this.

## NaNs and infinities that are quantized

QuantizeLinear with a known scale and zero point is `quant.qcast`, which stores a NaN as the zero point, and what else
is beyond the integers as the end of them. ONNX Runtime stores the same, except for these:

| floats | which | what the runtime stores |
|---|---|---|
| float32 | a NaN | the least integer |
| float32, to 4 bits | quotients from 2^31 on | at some ends of lines the other end |
| float16 | a NaN, infinities, quotients from 2^31 on | the least integer; the greatest of a zero point below 0 |

A program that replaced them would read its floats twice, which takes longer than the cast. `qrt diff` does not count
NaNs that are cast so, nor infinities of float16; what is computed of them after whole runs it does count.

A scale or zero point known only at run time gives what the runtime gives: a NaN is stored as the least integer. So
does float8, whose NaN it becomes. DynamicQuantizeLinear, DynamicQuantizeMatMul and DynamicQuantizeLSTM leave a NaN out
of the range and store it as 0; beside -inf the zero point is 255. Of 8 elements and more the runtime's range depends
on where a NaN stands, because its vectors forget what came before it: there nothing is promised. Nor is it of
DynamicQuantizeLSTM of infinities: its gates are NaNs, of which the runtime's functions make numbers.

## Files that are wrong

Each is a `ModelError` that names the file, the node and the tensor. Data beside the model is read from files in the
model's folder alone, and never through a link.
An attribute that says yes or no is 0 or 1: of other numbers runtimes make yes for some operators and no for others.
Functions of a file make at most 100,000 nodes, and the constants that are computed at import take at most `max_bytes`.

## Operators

"""
_TABLES = """
## Profile

A profile says which rule an op follows where its conditions hold. The first row that applies decides.
[Numerics](../numerics.md) defines the rules.
"""


def page() -> str:
    """The page."""
    return importer_page.page(_HEAD, _TABLES, _operators(), ".onnx")


def operators() -> list[tuple[list[str], str]]:
    """The names of operators that one function imports, and what it says of their forms."""
    return importer_page.described(_operators())


def _operators() -> importer_page.Operators:
    return OPERATORS
