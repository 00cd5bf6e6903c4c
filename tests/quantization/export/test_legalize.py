"""Legalizations and rewrites of a target. Hazards: invalid operations that a legalization leaves in the program, an
error that names neither the region nor the function, patterns that never end."""

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import QuantTypeError, VerifyError
from qrt.ir.core.traits import PURE
from qrt.quantization.targets import KernelMatch, RegionCall, Target, register_target
from tests.registries import restored_registries

FLOATS = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = "quant.stats"(%x) {layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = arith.negf %a : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}"""


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    with restored_registries():
        negate = ir.Definition("box.neg", operands=("x",), results=("y",), traits={PURE})
        other = ir.Definition("box.other", operands=("x",), results=("y",), traits={PURE})

        def run(operation: ir.Operation, compiler: Any) -> Callable[[Any], Any]:
            return lambda x: -x

        room = SimpleNamespace(OPS=[negate, other], HANDLERS={"box.neg": run, "box.other": run})
        ir.register_dialect("box", room)
        yield


def negation(value: ir.Value) -> KernelMatch | None:
    source = value.operation
    is_negation = source is not None and source.name == "arith.negf"
    return KernelMatch("box.neg", ((source.operands[0], None),), (source,)) if is_negation and source else None


def target(**options: Any) -> Target:
    """Register a target whose kernel negates; ``ports`` and ``rewrites`` replace its own."""
    box = Target("box", (), rewrites=options.pop("rewrites", ()))
    ports = options.pop("ports", {"x": "i8<-127:127> symmetric", "y": "i8<-127:127> symmetric"})
    box.kernel("box.neg", ports=ports, constraint="same_scale", **({"pattern": negation} | options))
    register_target(box)
    return box


def exported(passes: str = "check-quant", to: str = "fixed") -> ir.Module:
    names = ["fuse-kernels", "propagate-quant", *([passes] if passes else [])]
    module = ir.run_passes(ir.parse(FLOATS, filename="f.mlir"), ",".join(f"{name}{{target=box}}" for name in names))
    return ir.run_passes(module, f"export-quant{{to={to} target=box}}")


def test_a_pattern_fuses_and_the_operation_of_the_kernels_name_is_written() -> None:
    target()
    module = exported()
    assert str(module).count("box.neg") == 1
    x = np.float32([[-1, 0, 1], [0.5, 0.25, -0.75]])
    results = [qrt.compile(program)(x) for program in (module, exported(to="codegen"), ir.parse(str(module)))]
    assert {result.tobytes() for result in results} == {results[0].tobytes()}
    np.testing.assert_allclose(results[0], -x, atol=0.5 / 127)


def test_a_port_with_a_layout_is_transposed_and_the_result_back() -> None:
    ports = dict.fromkeys(("x", "y"), "i8<-127:127> symmetric layout=1,0")
    target(ports=ports)
    module = exported()
    (negate,) = [op for op in module.operation.walk() if op.name == "box.neg"]
    assert negate.operands[0].type.shape == (3, 2)  # type: ignore[attr-defined]
    x = np.float32([[-1, 0, 1], [0.5, 0.25, -0.75]])
    np.testing.assert_allclose(qrt.compile(module)(x), -x, atol=0.5 / 127)


def nothing(call: RegionCall) -> Sequence[ir.Value]:
    return []


def operand(call: RegionCall) -> Sequence[ir.Value]:
    return [call.builder.constant(1, "i32")]


def unknown(call: RegionCall) -> Sequence[ir.Value]:
    return call.emit("box.none", call.operands, call.results)


def invalid(call: RegionCall) -> Sequence[ir.Value]:
    return call.emit("qrt.lookup", call.operands, call.results)


def failing(call: RegionCall) -> Sequence[ir.Value]:
    raise KeyError("strides")


WRONG = {
    nothing: "must return 1 value, one for each result",
    operand: "must return a value of type tensor<2x3x!quant.uniform",
    unknown: "fails: 'box.none' is not an operation of a registered dialect",
    invalid: "writes invalid IR: .*qrt.lookup",
    failing: "fails: KeyError: 'strides'",
}


@pytest.mark.parametrize("legalize", WRONG)
@pytest.mark.parametrize("passes", ["", "check-quant"])
def test_a_wrong_legalization_is_named_with_its_region(legalize: Any, passes: str) -> None:
    target(legalize=legalize)
    name = f"f.mlir:3:8: error: 'quant.region' op .*box.neg.*legalization '{legalize.__name__}' of target 'box' "
    with pytest.raises(VerifyError, match=name + WRONG[legalize]):
        exported(passes)


def wrong_pattern(value: ir.Value) -> Any:
    return "neg"


def foreign_pattern(value: ir.Value) -> KernelMatch:
    return KernelMatch("box.neg", (), ())


@pytest.mark.parametrize("pattern", [wrong_pattern, foreign_pattern, lambda value: value.missing])  # type: ignore[attr-defined]
def test_a_wrong_pattern_is_named(pattern: Any) -> None:
    target(pattern=pattern)
    with pytest.raises(VerifyError, match=rf"'arith.negf' op pattern '{pattern.__name__}' of kernel 'box.neg' "):
        exported()


def back(operation: ir.Operation, builder: ir.Builder) -> list[ir.Value] | None:
    names = {"box.neg": "box.other", "box.other": "box.neg"}
    if operation.name not in names:
        return None
    types = [value.type for value in operation.results]
    return list(builder.emit(names[operation.name], operation.operands, types).results)


def narrow(operation: ir.Operation, builder: ir.Builder) -> list[ir.Value] | None:
    return [builder.constant(1, "i32")] if operation.name == "box.neg" else None


def test_rewrites_that_undo_each_other_end_with_an_error_that_names_them() -> None:
    target(rewrites=(back,))
    with pytest.raises(VerifyError, match=r"is rewritten without end: after [\d,]+ rewrites .*pattern 'back'"):
        exported("")


def test_a_rewrite_must_keep_types() -> None:
    target(rewrites=(narrow,))
    with pytest.raises(VerifyError, match=r"'box.neg' op rewrite 'narrow' of target 'box' must return values"):
        exported("")


CHAIN = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "quant.stats"(%x) {layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = arith.negf %a : tensor<4xf32>
  %b = "quant.stats"(%0) {layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = quant.region (%b) {
    %t = arith.negf %b : tensor<4xf32>
    quant.return %t : tensor<4xf32>
  } {input_specs: [!quant.calibrated<f32<-8.0:8.0>>], output_specs: [!quant.calibrated<f32<-8.0:8.0>>],
     kernel = "box.neg"} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}"""


@pytest.mark.parametrize(("cost", "rescales"), [(0, 1), (2, 1), (3, 0)])
def test_a_rescale_is_worth_as_many_bits_as_the_target_says(cost: float, rescales: int) -> None:
    """The ranges of the two ends of a value differ by a factor of 8."""
    box = Target("box", (), rescale_cost=cost)
    box.kernel("box.neg", ports={"x": "i8", "y": "i8"}, pattern=negation)
    register_target(box)
    module = ir.run_passes(ir.parse(CHAIN), "fuse-kernels{target=box},propagate-quant{target=box}")
    assert str(module).count('kernel = "rescale"') == rescales


@pytest.mark.parametrize("cost", [-1, float("nan")])
def test_a_cost_is_not_negative(cost: float) -> None:
    with pytest.raises(QuantTypeError, match="rescale_cost must be a non-negative number of bits"):
        Target("box", (), rescale_cost=cost)
