"""What must hold of every quantized program: of its propagation, of what it is exported to, and of its remarks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import qrt
from qrt import ir
from qrt.execute.passes import run_passes
from qrt.ir import Module, Operation, Value
from qrt.types import TensorType, UniformType, parse_type
from tests.ops.harness import Array

EXPORTS = ("fixed", "codegen", "simulate")
_FILE = "f.mlir"
_CAUSE = re.compile(
    rf"(?:(?P<source>{_FILE}:\d+) )?(?P<made>\S.*?) is \S.*?, (?P<use>{_FILE}:\d+) (?P<taken>\S.*?) takes \S.*?"
    rf"(?:: annotate (?P<line>{_FILE}:\d+) as (?P<type>\S.*))?$"
)

_PORT = re.compile(rf"{_FILE}:\d+ \w+ (input|output) \d+")


def read(text: str) -> Module:
    """A program with its annotations in the specifications of regions."""
    return run_passes(ir.parse(text, _FILE), "convert-stats,convert-fake-quant")


def exported(text: str, to: str, target: str) -> Module:
    """What a propagated program, as text, is exported to."""
    options = f"to={to} target={target}" if target else f"to={to}"
    return run_passes(ir.parse(text, _FILE), f"export-quant{{{options}}}")


def regions(module: Module) -> list[Operation]:
    return [operation for operation in module.operation.walk() if operation.name == "quant.region"]


def kernel_of(region: Operation) -> str:
    return region.attribute("kernel", ir.StringAttr).value


def specs(region: Operation, side: str) -> list[object]:
    return [spec.type for spec in region.attributes[f"{side}_specs"].elements]  # type: ignore[attr-defined]


# -- the bits of what is exported -------------------------------------------------------------------------------------


def same_bits(text: str, target: str, inputs: Sequence[Array]) -> list[Array]:
    """Asserts that kernels, the interpreter and the generated code agree; gives the results."""
    fixed = qrt.compile(exported(text, "fixed", target))
    generated = qrt.compile(exported(text, "codegen", target))
    named = {port.name: value for port, value in zip(fixed.inputs, inputs, strict=True)}
    results = {
        "fixed": fixed.run(named),
        "the interpreter": fixed.run(named, interpret=True),
        "codegen": generated.run(named),
    }
    first = [_bytes(value) for value in results["fixed"].values()]
    for name, values in results.items():
        assert [_bytes(value) for value in values.values()] == first, f"{name} has other bits than fixed"
    return [np.asarray(value) for value in results["fixed"].values()]


def _bytes(value: object) -> bytes:
    return np.asarray(value.storage if isinstance(value, qrt.QuantTensor) else value).tobytes()


# -- one region at a time, fed the same codes -------------------------------------------------------------------------


def alone(region: Operation) -> tuple[Module, list[object]]:
    """A program of one region, whose operands are its arguments but for constants; and the specs of the arguments."""
    module = Module()
    builder = ir.Builder(module)
    values: dict[Value, Value] = {}
    given: list[Value] = []
    said: list[object] = []
    for operand, spec in zip(region.operands, specs(region, "input"), strict=True):
        if not _is_constant(operand) and operand not in given:
            given.append(operand)
            said.append(spec)
    with builder.function("main", [value.type for value in given]) as arguments:
        values.update(zip(given, arguments, strict=True))
        for operand in region.operands:
            if operand not in values and operand.operation is not None:
                builder.block.append(operand.operation.clone(values))
        copy = builder.block.append(region.clone(values))
        builder.func.return_(*copy.results)
    return module, said


def _is_constant(value: Value) -> bool:
    return value.operation is not None and value.operation.name == "arith.constant"


def codes_apart(region: Operation, target: str, rng: np.random.Generator) -> int:
    """How many codes the simulated result is away from the kernel's, at most, for arguments drawn from all codes."""
    module, said = alone(region)
    text = str(module)
    programs = [qrt.compile(exported(text, to, target)) for to in ("fixed", "simulate")]
    inputs = [_drawn(port.type, spec, rng) for port, spec in zip(programs[0].inputs, said, strict=True)]
    fixed, simulated = (np.asarray(program(*inputs), np.float64) for program in programs)
    (out,) = specs(region, "output")
    if not isinstance(out, UniformType) or not fixed.size:
        return 0
    return int(np.rint(np.abs(fixed - simulated) / out.scale).max())


def _drawn(t: TensorType, spec: object, rng: np.random.Generator) -> Array:
    """Floats that codes of a spec express, the least and the greatest among them."""
    shape = [size or 1 for size in t.shape or ()]
    if not isinstance(spec, UniformType):
        return rng.normal(size=shape).astype(np.float32)
    codes = rng.integers(spec.storage_min, spec.storage_max, shape, endpoint=True)
    flat = codes.reshape(-1)
    flat[:1], flat[-1:] = spec.storage_min, spec.storage_max
    return ((codes - spec.zero_point).astype(np.float32) * np.float32(spec.scale)).astype(np.float32)


# -- causes of rescales -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cause:
    """What a rescale says of itself: between which two ports it stands, each as `f.mlir:7 conv2d output 0`, and which
    annotation, at which of the two, makes it go."""

    source: str
    taker: str
    annotated: str = ""
    type: str = ""


def causes(module: Module) -> list[Cause]:
    """The causes of all rescales."""
    return [cause_of(region) for region in regions(module) if kernel_of(region) == "rescale"]


def cause_of(rescale: Operation) -> Cause:
    text = rescale.attribute("quant.cause", ir.StringAttr).value
    match = _CAUSE.match(text)
    assert match is not None, f"a cause that nobody reads: {text}"
    source, taker = f"{match['source']} {match['made']}", f"{match['use']} {match['taken']}"
    if match["line"] is None:
        return Cause(source, taker)
    annotated = [end for end in (source, taker) if _PORT.fullmatch(end) and end.startswith(f"{match['line']} ")]
    assert len(annotated) == 1, f"an annotation at neither end, or at both: {text}"
    return Cause(source, taker, annotated[0], match["type"])


def annotated(module: Module, cause: Cause) -> Module:
    """The program before propagation, with the annotation made that a cause names."""
    place, _, port = cause.annotated.partition(" ")
    side, number = port.rsplit(" ", 2)[1:]
    (region,) = (each for each in regions(module) if f"{each.location.filename}:{each.location.line}" == place)
    said = list(region.attribute(f"{side}_specs", ir.ArrayAttr).elements)
    said[int(number)] = ir.TypeAttr(parse_type(cause.type))
    region.attributes[f"{side}_specs"] = ir.ArrayAttr(said)
    return module
