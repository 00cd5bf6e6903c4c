"""Small programs for the tests of the propagation RFC's sentences, and what passes make of them."""

from qrt import ir
from qrt.ir import run_passes
from qrt.types import CalibratedType, UniformType
from tests.quantization import float_text as ops
from tests.quantization.checks import regions, specs
from tests.quantization.float_text import Tensor, Text

SHAPE = (2, 6)
F32, FLOATS = "f32", "tensor<2x6xf32>"
I8 = UniformType("i8", "f32", 0.5, 3)
OTHER = UniformType("i8", "f32", 0.25, storage_min=-127)


def passed(text, pipeline):
    return run_passes(ir.parse(text, "f.mlir"), pipeline)


def propagated(text, target="qrt-cpu", options=""):
    return passed(text, f"propagate-quant{{target={target} {options}}}")


def program(build, *shapes):
    """The text of a function whose body `build(text, *arguments)` writes."""
    text, arguments = Text(), [Tensor(f"%x{i}", shape) for i, shape in enumerate(shapes or (SHAPE,))]
    return text.function("main", arguments, [build(text, *arguments)])


def one_region(kernel, inputs, output, body, *shapes):
    """A function of one region."""
    shapes = shapes or (SHAPE,) * len(inputs)
    return program(lambda text, *x: text.region(kernel, x, [*map(str, inputs)], str(output), body), *shapes)


def said(module, number=0):
    """The specs of a region: of the operands, of the results."""
    region = regions(module)[number]
    return specs(region, "input"), specs(region, "output")


def written(tmp_path, text):
    """A target as a file."""
    path = tmp_path / "npu.toml"
    path.write_text(text)
    return path


CALIBRATED = CalibratedType("f32", -1, 1)
OF_16_BITS = """[[kernel]]
name = "add"
ports = {a = "i8", b = "i8", y = "*"}
default = {y = "i8"}

[[kernel]]
name = "add"
ports = {a = "i16", b = "i16", y = "i16"}
"""


def products(text, x, w, bias):
    return ops.matmul(text, x, w, bias)
