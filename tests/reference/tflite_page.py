"""docs/reference/tflite.md: the operators that are imported, as their functions describe them, and the tables of the
profiles. `make expected` writes it.
"""

from qrt.formats.tflite.registry import OPERATORS, PLAIN_OPERATORS, load_all
from tests.docs.documents import ROOT
from tests.reference import importer_page

PAGE = ROOT / "docs" / "reference" / "tflite.md"
_HEAD = """# TFLite models

`qrt.load("model.tflite")` [imports a model](../howto/run_a_tflite_model.md), and so do [the
commands](commands_models.md). `make expected` writes this page
from the operators and the tables of `qrt/profiles`.

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
a CPU with fused multiply-adds. So have products of float32 with int8 weights, whose input is quantized at each run.
Functions as `exp` and `tanh` are rounded correctly here. LiteRT's lie within 4 units in the last place of that, its EXP
and SIN within 64, and its SOFTMAX within 8. Its GELU, its transposed convolutions whose
windows leave gaps, and its depthwise convolutions with int8 weights lie within 4 units of the greatest result; its
recurrent sequences lie within 64.

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
    load_all()
    return OPERATORS | {name: function for name, function in PLAIN_OPERATORS.items() if name not in OPERATORS}
