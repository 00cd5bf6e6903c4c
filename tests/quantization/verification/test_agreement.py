"""Bodies and kernels that disagree. Hazards: a kernel whose name is believed, an operation that computes something
near to the body, a check that runs nothing."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from qrt import ir
from qrt.errors import VerifyError
from qrt.ir.core.traits import PURE
from qrt.quantization.targets import Target, register_target
from tests.registries import restored_registries

NAMED = """func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = quant.region (%x, %y) {{
    %t = arith.{op} %x, %y : tensor<4xf32>
    quant.return %t : tensor<4xf32>
  }} {{input_specs: [!quant.uniform<i8:f32, 0.5>, !quant.uniform<i8:f32, 0.5>],
     output_specs: [!quant.uniform<i8:f32, 0.5>], kernel = "{kernel}"}}
     : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}"""
NAMES = {"addf": "add", "subf": "sub", "mulf": "mul"}


@pytest.mark.parametrize("kernel", NAMES.values())
@pytest.mark.parametrize("op", NAMES)
def test_a_body_computes_the_kernel_of_its_name(op: str, kernel: str) -> None:
    text = NAMED.format(op=op, kernel=kernel)
    for passes in ("check-quant", "export-quant", "export-quant{to=codegen}"):
        if NAMES[op] == kernel:
            ir.run_passes(ir.parse(text), passes)
            continue
        with pytest.raises(VerifyError, match=f"its body computes '{NAMES[op]}', and not the kernel '{kernel}'"):
            ir.run_passes(ir.parse(text), passes)


@pytest.fixture
def _registered() -> Iterator[None]:
    with restored_registries():
        yield


def registered(name: str, compute: Callable[..., Any] | None) -> Target:
    """Register a dialect of one operation with two operands, and a target that has it as a kernel."""
    operation = ir.Definition(f"{name}.op", operands=("a", "b"), results=("y",), traits={PURE})
    handlers = {} if compute is None else {f"{name}.op": lambda op, compiler: compute}
    ir.register_dialect(name, SimpleNamespace(OPS=[operation], HANDLERS=handlers))
    target = Target(name, ())
    target.kernel(f"{name}.op", ports={"a": "i8", "b": "i8", "y": "i8"})
    register_target(target)
    return target


def added(a: Any, b: Any) -> Any:
    return np.clip(a.astype(np.int64) + b, -128, 127).astype(np.int8)


CASES: dict[str, tuple[Callable[..., Any] | None, str | None]] = {
    "equal": (added, None),
    "onecode": (lambda a, b: np.clip(added(a, b).astype(int) + 1, -128, 127).astype(np.int8), None),
    "twocodes": (lambda a, b: np.clip(added(a, b).astype(int) + 2, -128, 127).astype(np.int8), "by the kernel and"),
    "edge": (lambda a, b: (a + b).astype(np.int8), "result 0 has code"),
    "small": (lambda a, b: np.where(np.abs(added(a, b)) < 9, 0, added(a, b)).astype(np.int8), "result 0 has code"),
    "nohandler": (None, "cannot be compared on drawn values: .*nohandler.op"),
}


@pytest.mark.usefixtures("_registered")
@pytest.mark.parametrize("name", CASES)
def test_an_operation_of_a_target_runs_beside_the_body(name: str) -> None:
    compute, message = CASES[name]
    registered(name, compute)
    module = ir.parse(NAMED.format(op="addf", kernel=f"{name}.op"))
    if message is None:
        ir.run_passes(module, f"check-quant{{target={name}}}")
        return
    with pytest.raises(VerifyError, match=message):
        ir.run_passes(module, f"check-quant{{target={name}}}")
