"""docs/reference/onnx.md: the operators that are imported, as their functions describe them, and the table of the
profile. `make expected` writes it.
"""

from qrt.models.onnx.check import IR_VERSIONS, OPSETS
from qrt.models.onnx.registry import OPERATORS
from tests.docs.documents import ROOT
from tests.reference import importer_page

PAGE = ROOT / "docs" / "reference" / "onnx.md"
_HEAD = f"""# ONNX models

`qrt.load("model.onnx")` [imports a model](../howto/run_an_onnx_model.md); [the commands](commands_models.md) accept
model files too. The package `onnx` is needed only for operators that ONNX defines as functions of other operators.
IR versions {IR_VERSIONS[0]} to {IR_VERSIONS[-1]} and opsets {OPSETS[""][0]} to {OPSETS[""][-1]} are supported.
`make expected` writes this page from the operators and the table of `qrt/models/profiles`.

## What a model becomes

- The graph becomes a function `@main`. Arguments and results have the file's order, names and types: an input of uint8
  is `tensor<..xui8>`. A dynamic dimension is `?`; its name is in the attribute `qrt.dimensions`, and all dimensions of
  one name must have the same size in a call.
- An initializer becomes a constant, even if it is also declared as an input. Local functions are inlined.
- An operation has the name of the tensor that it computes: `qrt.tensor = "name"`.
- The result of a quantizing operator has a quantized type with the operator's scale and zero point, if both are known
  at import. The scale is the file's float32 converted to a double. Operators on integers read the result through a
  `quant.scast`.
- Operators that move elements change neither bits nor quantized type.
- The bias of QLinearConv and QGemm has the product of the two scales, because the runtime adds it unscaled.
- ONNX has the channels of an image before its height and width. Convolutions and pools are therefore imported between
  two transposes.
- Tensors that depend on constants alone are computed at import.
- A branch, or the body of a loop, becomes a private function that `scf.if` or `scf.while` calls. Tensors of the
  enclosing graph that it reads are additional arguments. A branch with a known condition is inlined.

An unsupported form of an operator is an error. One error lists all unsupported operators and forms of the model, with
the number of occurrences.

## Floats

Sums of products of float32 become loop nests that fix the order of every sum, and fuse each product with the sum. The
runtime's order depends on the CPU and on the sizes. A sum of n products, in qrt and in the runtime, differs from the
exact one by at most `n * 2^-24` times the sum of the products' magnitudes.

Functions are correctly rounded, and so is each step of functions with several steps. The runtime's results differ by:

- functions: at most 4e-6 of the number plus 4e-7; Softmax along n > 10,000 elements at most n * 4e-10 of the number,
- normalizations, which qrt computes in float64 and rounds once: at most 2e-3 if elements are a hundred times as large
  as their differences, and 1e-5 if they are around 0, because the runtime sums in float32,
- Resize with linear or cubic weights: at most 2e-6 of the largest element,
- LSTM, GRU, RNN, attention and InstanceNormalization: at most 4e-6 of the largest element, if elements are small,
- DynamicQuantizeLSTM: at most 2e-6 if every cell is below 2, except for at most 1 of 1,000 elements, for which a
  hidden value near a tie is quantized to the next integer,
- MatMulNBits: at most 1e-4.

Where scales of a Resize give sizes that are not integers, align_corners counts to the last whole element, as in the
runtime.

## Groups of casts

An operator between DequantizeLinear and QuantizeLinear, optionally followed by Relu or Clip, becomes one quantized
operation if that computes the same. Otherwise it is computed on floats between casts, and `qrt import` prints the
reason. A group is not folded if

- its casts are of floats other than float32, or a scale is outside of 2^-40 to 2^40,
- its bias is not a constant of int32 without zero point, or has a scale other than the product of both operands'
  scales, to within 4 units in the last place of float32,
- it is an Add or Mul whose operands and result have different storage types, or another operator with a storage type
  that it does not support,
- it moves elements, but changes the scale, the zero point or the storage type,
- a second activation follows, or the result is also read as floats.

The runtime rounds each float between the casts; a folded group rounds only its result. Results of Concat, Where,
Sigmoid, LeakyRelu, pools and operators that move elements are equal to the runtime's. Those of Add, Mul, Conv, MatMul,
Gemm and Softmax differ only near ties. Let f be the float that QuantizeLinear gets, n the number of terms in its sum, S
the sum of their magnitudes, and s and z the scale and the zero point of the result. Then qrt and the runtime both
quantize a number that differs from f by at most

    2 * (n + 4) * 2^-24 * S + 8 * 2^-24 * (|f| + |z| * s)

For Add, S includes the zero points of both operands, each times its scale. For Softmax the first term is twice the
difference allowed for its floats. With scales such as 0.02, 0.01 and 0.05, whose quotients have few digits, many
results are ties, and about one element in a hundred differs by 1; with other scales, one in 100,000 or fewer.
`qrt diff` counts an element as different if it is outside of this bound.

## NaNs and infinities that are quantized

QuantizeLinear with a known scale and zero point is `quant.qcast`. It stores a NaN as the zero point, and saturates
values beyond the integers. ONNX Runtime stores the same, except for these:

| floats | values | what the runtime stores |
|---|---|---|
| float32 | a NaN | the least integer |
| float32, to 4 bits | quotients of at least 2^31 | for some elements at the end of a row, the other bound |
| float16 | a NaN, infinities, quotients of at least 2^31 | the least integer; the greatest for a zero point below 0 |

A program that replaced these values would read its floats twice, which takes longer than the cast. `qrt diff` does not
count such NaNs, nor infinities of float16; it does count differences in results computed from them.

With a scale or zero point that is known only at run time, results are those of the runtime: a NaN is stored as the
least integer. In float8 a NaN remains a NaN. DynamicQuantizeLinear, DynamicQuantizeMatMul and DynamicQuantizeLSTM
exclude NaNs from the range and store them as 0; if an element is -inf, the zero point is 255. For 8 or more elements
the runtime's range depends on the position of a NaN, because its vector code drops the elements before it: in this
case results may differ. They may also differ for DynamicQuantizeLSTM with infinities: its gates are then NaNs, for
which the runtime's functions return numbers.

## Invalid files

Each error is a `ModelError` that names the file, the node and the tensor. External data is read only from files in the
model's folder, and never through a link. A flag attribute must be 0 or 1, because runtimes read other numbers
differently. The functions of a file may expand to at most 100,000 nodes, and the constants that are computed at import
may take at most `max_bytes`.

## Operators

"""
_TABLES = """
## Profile

A profile lists the rule of each op under some conditions. The first row whose conditions are true applies.
[Numerics](../numerics.md) defines the rules.
"""


def page() -> str:
    """Return the page."""
    return importer_page.page(_HEAD, _TABLES, _operators(), ".onnx")


def operators() -> list[tuple[list[str], str]]:
    """Return the names of operators that one function imports, and the description of their forms."""
    return importer_page.described(_operators())


def _operators() -> importer_page.Operators:
    return OPERATORS
