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
from qrt.quantization.targets import KernelMatch, Target, register_target
from qrt.quantization.verification.check_quant import violations
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


LARGE = """%l = math.tanh %x : tensor<4xf32>
    %t = arith.addf %l, %y : tensor<4xf32>"""


def large(kernel: str) -> str:
    """Return a program whose region computes two kernels of qrt, under the name of one."""
    text = NAMED.format(op="addf", kernel=kernel)
    return text.replace("%t = arith.addf %x, %y : tensor<4xf32>", LARGE)


@pytest.mark.parametrize("kernel", ["add", "tanh", "softmax", "lookup", "matmul"])
def test_a_body_that_is_not_recognized_is_refused_under_the_name_of_a_kernel_of_qrt(kernel: str) -> None:
    """The operands are two, which is one more than `softmax` has; nothing else is wrong."""
    module = ir.parse(large(kernel), "f.mlir")
    target = Target("two", ())
    target.kernel(kernel, ports={"a": "i8", "b": "i8", "y": "i8"})
    (error,) = violations(module, target)
    assert str(error).startswith("f.mlir:2:")
    message = f"'quant.region' op ({kernel}): qrt does not recognize its body as the kernel '{kernel}', and cannot"
    assert error.message.startswith(message)
    assert "write its operations without the region and run fuse-kernels" in error.message


def test_a_body_that_is_not_recognized_is_checked_after_the_advice_is_followed() -> None:
    with pytest.raises(VerifyError, match="does not recognize its body as the kernel 'add'"):
        ir.run_passes(ir.parse(large("add")), "check-quant")
    text = large("add")
    head, body = text[: text.index("  %0 = ")], LARGE.replace("%t", "%0")
    module = ir.parse(f"{head}{body}\n  return %0 : tensor<4xf32>\n}}")
    ir.run_passes(module, "fuse-kernels,propagate-quant,check-quant")
    own = ir.parse(large("mine.add"))
    target = Target("mine", ())
    target.kernel("mine.add", ports={"a": "i8", "b": "i8", "y": "i8"})
    assert violations(own, target) == []


@pytest.mark.usefixtures("_registered")
def test_a_pattern_of_the_target_recognizes_a_body_for_a_kernel_of_qrt() -> None:
    """Hazard: a target whose own `add` is refused because qrt's is another."""

    def pattern(value: ir.Value) -> KernelMatch | None:
        add = value.operation
        if add is None or add.name != "arith.addf" or add.operands[0].operation is None:
            return None
        tanh = add.operands[0].operation
        return KernelMatch("add", ((tanh.operands[0], None), (add.operands[1], None)), (tanh, add))

    target = Target("two", ())
    target.kernel("add", ports={"a": "i8", "b": "i8", "y": "i8"}, pattern=pattern)
    assert violations(ir.parse(large("add")), target) == []


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
