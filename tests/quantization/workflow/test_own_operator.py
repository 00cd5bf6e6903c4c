"""A quantized operator of one's own, by public names: a dialect, what runs it, a kernel of a target, types and export.
Hazards: an operator that is read and not run, a kernel without a body that loses its operator."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir.core.constraints import same_as
from qrt.ir.core.traits import PURE
from qrt.quantization.targets import Target, register_target
from tests.registries import restored_registries

NEGATION = ir.Definition(
    "mine.qneg",
    operands=("x",),
    results=("y",),
    infer={"y": same_as("x")},
    traits={PURE},
    format="$x attr-dict `:` type($x)",
)
PROGRAM = """!q = !quant.uniform<i8:f32, 0.5:3>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = quant.qcast %x : tensor<4xf32> to tensor<4x!q>
  %1 = mine.qneg %0 : tensor<4x!q>
  %2 = quant.dcast %1 : tensor<4x!q> to tensor<4xf32>
  return %2 : tensor<4xf32>
}"""
REGION = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %1 = quant.region (%x) {
    %t = arith.negf %x : tensor<4xf32>
    quant.return %t : tensor<4xf32>
  } {input_specs: [!quant.calibrated<f32<-1.0:1.0>>], output_specs: [f32], kernel = "mine.qneg"} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}"""  # noqa: E501


def _handler(op: ir.Operation, compiler: Any) -> Callable[[Any], Any]:
    zero_point = op.operands[0].type.element.zero_point

    def negate(x: Any) -> Any:
        return np.clip(2 * zero_point - x.astype(np.int32), -128, 127).astype(x.dtype)

    return negate


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    with restored_registries():
        ir.register_dialect("mine", SimpleNamespace(OPS=[NEGATION], HANDLERS={"mine.qneg": _handler}))
        yield


def test_it_runs() -> None:
    result = qrt.compile(PROGRAM)(np.float32([1, -2, 0.5, 100]))
    np.testing.assert_array_equal(result, np.float32([-1, 2, -0.5, -62]))  # 100 is clamped to 62, whose storage is 127


def test_a_target_gives_it_types_and_export_writes_it() -> None:
    target = Target("npu", ())
    target.kernel("mine.qneg", ports={"x": "i8", "y": "i8"}, constraint="same_scale")
    register_target(target)
    module = ir.run_passes(ir.parse(REGION), "propagate-quant{target=npu},check-quant{target=npu}")
    region = next(op for op in module.operation.walk() if op.name == "quant.region")
    assert region.attributes["input_specs"] == region.attributes["output_specs"]
    text = str(ir.run_passes(ir.parse(str(module)), "export-quant{to=fixed target=npu}"))
    assert text.count("mine.qneg") == 1
    assert "quant.region" not in text
    assert "qrt." not in text
    x, scale = np.float32([0.4, -0.25, 1, -2]), np.float32(1 / 127)
    expected = -np.clip(np.rint(x / scale), -127, 127) * scale
    np.testing.assert_allclose(qrt.compile(text)(x), expected, atol=1e-6)
