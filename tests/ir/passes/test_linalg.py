"""linalg-generalize-named-ops and convert-elementwise-to-linalg. Hazards: a body, a map or an iterator of another op;
an output of another type; operations upstream makes in another order, or does not make."""

import re
from pathlib import Path

import numpy as np
import pytest

from qrt import ir
from qrt.ir import run_passes
from qrt.runtime.interpreter import Interpreter
from tests import mlir_opt

GENERALIZE, CONVERT = "linalg-generalize-named-ops", "convert-elementwise-to-linalg"
SEPARATOR = "// -----\n"
_FOLDER = Path(__file__).parents[1]


def _single_ops():
    """Each op of linalg_named.mlir in a function of its own, which returns what it makes."""
    for function in (_FOLDER / "linalg_named.mlir").read_text().split("func.func ")[1:]:
        signature, *lines = function.splitlines()
        for line in lines[:-2]:
            made = re.search(r"-> (\S+)$", line)
            head = signature.replace(" {", f" -> {made[1]} {{" if made else " {")
            returned = f"return %r : {made[1]}" if made else "return"
            yield f"func.func {head}\n{re.sub(r'%[a-z0-9_]+ = ', '%r = ', line, count=1)}\n{returned}\n}}\n"


OPS = list(_single_ops())

TYPES = "%a: tensor<?x3xf32>, %b: tensor<?x3xf32>, %c: i1, %m: tensor<?x3xi1>, %u: tensor<*xf32>, %z: tensor<f32>"
ELEMENTWISE = {
    "arith.addf %a, %b {note} : tensor<?x3xf32>": "tensor<?x3xf32>",
    "arith.cmpf olt, %a, %b : tensor<?x3xf32>": "tensor<?x3xi1>",
    "arith.select %m, %a, %b : tensor<?x3xi1>, tensor<?x3xf32>": "tensor<?x3xf32>",
    "arith.select %c, %a, %b : tensor<?x3xf32>": "tensor<?x3xf32>",
    "arith.fptosi %a : tensor<?x3xf32> to tensor<?x3xi32>": "tensor<?x3xi32>",
    "math.exp %z : tensor<f32>": "tensor<f32>",
    "math.fma %a, %b, %a : tensor<?x3xf32>": "tensor<?x3xf32>",
    "arith.addf %u, %u : tensor<*xf32>": "tensor<*xf32>",
}
CONVERTED = [f"func.func @f({TYPES}) -> {t} {{\n%0 = {op}\nreturn %0 : {t}\n}}\n" for op, t in ELEMENTWISE.items()]


@pytest.mark.parametrize("text", OPS, ids=lambda text: re.search(r"linalg\.\w+", text)[0])
def test_named_ops_become_generic(text):
    module = run_passes(ir.parse(text), GENERALIZE)
    names = [op.name for op in module.operation.walk() if op.name.startswith("linalg.")]
    assert names == ["linalg.generic", "linalg.yield"]


def test_what_is_generalized_computes_the_same():
    text = (
        "func.func @f(%x: tensor<1x9x9x2xi8>, %k: tensor<3x3x2x3xi8>, %z: i32, %o: tensor<1x4x4x3xi32>) "
        "-> tensor<1x4x4x3xi32> {\n"
        "%0 = linalg.conv_2d_nhwc_hwcf_q {strides = dense<2> : tensor<2xi64>} ins(%x, %k, %z, %z : "
        "tensor<1x9x9x2xi8>, tensor<3x3x2x3xi8>, i32, i32) outs(%o : tensor<1x4x4x3xi32>) -> tensor<1x4x4x3xi32>\n"
        "return %0 : tensor<1x4x4x3xi32>\n}"
    )
    rng = np.random.default_rng(0)
    arguments = [
        rng.integers(-128, 128, (1, 9, 9, 2)).astype(np.int8),
        rng.integers(-128, 128, (3, 3, 2, 3)).astype(np.int8),
        np.int32(3),
        np.zeros((1, 4, 4, 3), np.int32),
    ]
    modules = ir.parse(text), run_passes(ir.parse(text), GENERALIZE)
    first, second = (Interpreter(module).call(module.function("f"), arguments)[0] for module in modules)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("text", CONVERTED, ids=lambda text: text.split("%0 = ")[1].split("\n")[0])
def test_element_wise_ops_become_generic(text):
    module = run_passes(ir.parse(text), CONVERT)
    operations = module.function("f").regions[0].blocks[0].operations
    assert ("linalg.generic" in [op.name for op in operations]) == ("%u, %u" not in text)


@mlir_opt.needed
@pytest.mark.parametrize(("name", "programs"), [(GENERALIZE, OPS), (CONVERT, CONVERTED)], ids=[GENERALIZE, CONVERT])
def test_the_operations_are_those_of_mlir_opt(name, programs):
    output = mlir_opt.output(SEPARATOR.join(programs), f"--{name}", "--split-input-file")
    for text, theirs in zip(programs, output.split(SEPARATOR), strict=True):
        assert run_passes(ir.parse(text), name, strict_upstream=True) == ir.parse(theirs)
