"""Programs of regions whose bodies say nothing: propagation reads the ports alone. All values are `tensor<4xf32>`."""

from collections.abc import Sequence
from dataclasses import dataclass

from qrt import ir
from qrt.errors import Diagnostic
from qrt.ir.remarks import remarks_to
from qrt.quantization.propagation.propagate_quant import Outcome, Settings, propagate
from qrt.quantization.targets.model import Target, TargetKernel, TargetPort
from qrt.quantization.verification.check_quant import violations
from qrt.types import UniformType

T = "tensor<4xf32>"
A, B, C = (f"!quant.uniform<i8:f32, {scale}>" for scale in ("5.000000e-01", "2.500000e-01", "1.250000e-01"))
WIDE = "!quant.uniform<i16:f32, 5.000000e-01>"
NONE = "!quant.none<f32>"
FIXED = UniformType("i8", "f32", 1 / 256, -128)


def range_of(low: float, high: float) -> str:
    return f"!quant.calibrated<f32<{float(low)}:{float(high)}>>"


def region(name: str, kernel: str, operands: str, inputs: Sequence[str] | str = "f32", output: str = "f32") -> str:
    """A region of one result, for which it returns its first operand."""
    count = operands.count("%")
    specs = [inputs] * count if isinstance(inputs, str) else inputs
    arguments = ", ".join(f"%a{i}: {T}" for i in range(count))
    types = ", ".join([T] * count)
    return (
        f"{name} = quant.region ({operands}) {{ ^bb0({arguments}): quant.return %a0 : {T} }} "
        f'{{input_specs = [{", ".join(specs)}], output_specs = [{output}], kernel = "{kernel}"}} : ({types}) -> {T}'
    )


def constant(name: str, *values: float) -> str:
    return f"{name} = arith.constant dense<{[float(value) for value in values]}> : {T}"


def function(arguments: str, *lines: str, name: str = "@main", returned: str = "") -> str:
    """A function whose body begins on its second line."""
    given = ", ".join(f"{each}: {T}" for each in arguments.split())
    result, last = (f" -> {T}", f"return {returned} : {T}") if returned else ("", "return")
    return "\n".join([f"func.func {name}({given}){result} {{", *lines, last, "}\n"])


def product(name: str, multiplier: tuple[float, float] = (0.0, float("inf"))) -> TargetKernel:
    inputs = TargetPort("x", "i8"), TargetPort("w", "i8", -127, symmetric=True), TargetPort("b", "i32", size="?")
    return TargetKernel(name, inputs, (TargetPort("y", "i8"),), "multiplier_accumulator_scale", multiplier=multiplier)


KERNELS = (
    TargetKernel("op", (TargetPort("x", "i8"),), (TargetPort("y", "i8"),)),
    TargetKernel("op", (TargetPort("x", "i16"),), (TargetPort("y", "i16"),)),
    TargetKernel("any", (TargetPort("x", "i8"),), (TargetPort("y"),), default={"y": TargetPort("y", "i8")}),
    TargetKernel("wide", (TargetPort("x", "i16"),), (TargetPort("y", "i16"),)),
    TargetKernel(
        "join", (TargetPort("x", size="*"),), (TargetPort("y"),), "same_scale", default={"y": TargetPort("y", "i8")}
    ),
    TargetKernel("pool", (TargetPort("x", "i8"),), (TargetPort("y", "i8"),), "same_scale"),
    TargetKernel("fixed", (TargetPort("x", "i8"),), (TargetPort("y", given=FIXED),), "fixed_scale"),
    TargetKernel("middle", (TargetPort("x", "i8", symmetric=True),), (TargetPort("y", "i8"),)),
    TargetKernel("float", (TargetPort("x", "f32"),), (TargetPort("y", "f32"),)),
    TargetKernel("half", (TargetPort("x", "bf16"),), (TargetPort("y", "bf16"),)),
    TargetKernel("undecided", (TargetPort("x"),), (TargetPort("y"),)),
    product("product"),
    product("least", (0.25, 1.0)),
)
DEVICE = Target("device", KERNELS)
STRICT = Settings(undecided="error")
"""The settings under which a region that nobody decides is an error."""


@dataclass
class Result:
    """A program after propagation, and what was remarked."""

    module: ir.Module
    outcome: Outcome
    remarks: list[Diagnostic]

    @property
    def regions(self) -> list[ir.Operation]:
        return [each for each in self.module.operation.walk() if each.name == "quant.region"]

    def of(self, kernel: str) -> list[list[str]]:
        """The types of the ports of each region of a kernel, operands first."""
        return [types(each) for each in self.regions if each.attribute("kernel", ir.StringAttr).value == kernel]

    @property
    def causes(self) -> list[str]:
        found = [each.attributes.get("quant.cause") for each in self.regions]
        return [each.value for each in found if isinstance(each, ir.StringAttr)]


def types(region: ir.Operation) -> list[str]:
    return [
        str(spec) for side in ("input_specs", "output_specs") for spec in region.attribute(side, ir.ArrayAttr).elements
    ]


def run(text: str, settings: Settings | None = None, target: Target = DEVICE, order: Sequence[int] = ()) -> Result:
    """Propagates, verifies, and asks `check-quant`."""
    module = ir.parse(text, "f.mlir")
    module.verify()
    remarks: list[Diagnostic] = []
    with remarks_to(remarks.append):
        outcome = propagate(module, target, settings, order=order)
    module.verify()
    assert [str(each) for each in violations(module, target)] == []
    return Result(module, outcome, remarks)
