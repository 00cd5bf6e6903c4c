"""Families of several results: the dialect, the interpreter, plans and passes take them as they are declared.

The family of this test is made before the dialect is: in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAMILY = '''
import sys
import numpy as np
from qrt.ops import FAMILIES
from qrt.ops.core import OpFamily, quantized
from qrt.ops.declare import Attribute, Declaration, KEPT, Operand
from qrt.types import IntegerType, TensorType

def infer(types, attributes, results):
    quantized(types[0], "halves", "q")
    return types[0], TensorType(types[0].shape[1:], IntegerType(32))

def reference(arrays, types, results, attributes):
    (q,) = arrays
    return q // 2, q.astype(np.int64).sum(axis=0) + attributes["plus"]

FAMILIES["halves"] = OpFamily(
    Declaration("halves", operands=(Operand("q"),), attributes=(Attribute("plus", "integer", 0),), result=KEPT,
                results=("half", "sum")),
    infer=infer, reference=reference, **(dict(bind=lambda *_: None) if len(sys.argv) > 1 else {}))

import qrt
from qrt.errors import QuantError
T = "!quant.uniform<i8:f32, 0.5>"

def program(size, half=None, total="i32"):
    """Of a constant too, which is folded."""
    half = half or f"tensor<{size}x3x{T}>"
    return f"""
func.func @main(%x: tensor<{size}x3x{T}>) -> ({half}, tensor<3x{total}>, tensor<3xi32>) {{
  %c = arith.constant dense<[[5, 6, -7]]> : tensor<1x3xi8>
  %q = quant.scast %c : tensor<1x3xi8> to tensor<1x3x{T}>
  %0:2 = qrt.halves %x {{plus = 10 : i64}} : (tensor<{size}x3x{T}>) -> ({half}, tensor<3x{total}>)
  %1:2 = qrt.halves %q : (tensor<1x3x{T}>) -> (tensor<1x3x{T}>, tensor<3xi32>)
  return %0#0, %0#1, %1#1 : {half}, tensor<3x{total}>, tensor<3xi32>
}}"""
'''
RUN = """
x = np.int8([[1, 2, 3], [5, -6, 7]])
module = qrt.ir.parse(program("?"))
assert str(qrt.ir.parse(str(module))) == str(module)
for size in ("?", "2"):
    for interpret in (True, False):
        half, total, constant = qrt.compile(program(size)).run({"arg0": x}, interpret=interpret).values()
        assert half.storage.tolist() == [[0, 1, 1], [2, -3, 3]], half
        assert total.tolist() == [16, 6, 20] and constant.tolist() == [5, 6, -7]
"""
REFUSED = """
for text, wanted in (
    (program("2", total="i64"), "#1 is declared as tensor<3xi64>, but the operands and attributes give tensor<3xi32>"),
    (program("2", half="tensor<2x4x" + T + ">"), "result #0 is declared as tensor<2x4x"),
):
    try:
        qrt.compile(text)
    except QuantError as error:
        assert wanted in str(error), error
    else:
        raise AssertionError(wanted)
"""


@pytest.mark.parametrize("arguments", [[], ["bound when it is known"]], ids=["reference", "deferred"])
def test_a_family_of_two_results(arguments: list[str]) -> None:
    """A result taken for the other has another type; a plan that binds it in the run keeps each."""
    done = subprocess.run(
        [sys.executable, "-c", FAMILY + RUN + REFUSED, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
