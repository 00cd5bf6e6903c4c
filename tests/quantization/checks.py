"""What must hold of every quantized program: of its propagation, of what it is exported to, and of its remarks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import qrt
from qrt import ir
from qrt.ir import Module, Operation, Value
from qrt.quantization.export.export_quant import ExportQuant
from qrt.types import NoQuantizedType, TensorType, UniformType, parse_type
from tests.ops.harness import Array

EXPORTS = ("fixed", "codegen", "simulate")
_FILE = "f.mlir"
_CAUSE = re.compile(
    rf"(?:(?P<source>{_FILE}:\d+) )?(?P<made>\S.*?) is \S.*?, but (?P<use>{_FILE}:\d+) (?P<taken>\S.*?) needs \S.*?"
    rf"(?:: annotate (?P<line>{_FILE}:\d+) as (?P<type>\S.*))?$"
)

_PORT = re.compile(rf"{_FILE}:\d+ \w+ (input|output) \d+")


def copied(module: Module) -> Module:
    return Module(module.operation.clone({}))


def exported(given: Module | str, to: str, target: str) -> Module:
    """What a propagated program is exported to."""
    module = ir.parse(given, _FILE) if isinstance(given, str) else copied(given)
    ExportQuant(to=to, target=target).run(module)
    module.verify()
    return module


def regions(module: Module) -> list[Operation]:
    return [operation for operation in module.operation.walk() if operation.name == "quant.region"]


def kernel_of(region: Operation) -> str:
    return region.attribute("kernel", ir.StringAttr).value


def specs(region: Operation, side: str) -> list[object]:
    return [spec.type for spec in region.attributes[f"{side}_specs"].elements]  # type: ignore[attr-defined]


# -- the bits of what is exported -------------------------------------------------------------------------------------


def same_bits(module: Module | str, target: str, inputs: Sequence[Array]) -> list[Array]:
    """Asserts that kernels, the interpreter, the generated code and its machine code agree; gives the results."""
    fixed = qrt.compile(exported(module, "fixed", target))
    lowered = exported(module, "codegen", target)
    generated, code = qrt.compile(lowered), qrt.compile(lowered, codegen="best-effort")
    named = {port.name: value for port, value in zip(fixed.inputs, inputs, strict=True)}
    results = {
        "fixed": fixed.run(named),
        "the interpreter": fixed.run(named, interpret=True),
        "codegen": generated.run(named),
        "machine code": code.run(named),
    }
    first = [_bytes(value) for value in results["fixed"].values()]
    for name, values in results.items():
        assert [_bytes(value) for value in values.values()] == first, f"{name} has other bits than fixed"
    return [np.asarray(value) for value in results["fixed"].values()]


def _bytes(value: object) -> bytes:
    return np.asarray(value.storage if isinstance(value, qrt.QuantTensor) else value).tobytes()


# -- each region by itself, fed the same codes -------------------------------------------------------------------------


def side_by_side(every: Sequence[Operation]) -> tuple[Module, list[object]]:
    """A program of these regions, each on arguments of its own but for constants; and the specs of the arguments."""
    module = Module()
    builder = ir.Builder(module)
    given = [
        (value, spec)
        for region in every
        for value, spec in dict(zip(region.operands, specs(region, "input"), strict=True)).items()
        if not _is_constant(value)
    ]
    with builder.function("main", [value.type for value, _ in given]) as arguments:
        rest, results = iter(arguments), []
        for region in every:
            values: dict[Value, Value] = {}
            for operand in region.operands:
                if operand in values:
                    continue
                if _is_constant(operand) and operand.operation is not None:
                    builder.block.append(operand.operation.clone(values))
                else:
                    values[operand] = next(rest)
            results += builder.block.append(region.clone(values)).results
        builder.func.return_(*results)
    return module, [spec for _, spec in given]


def _is_constant(value: Value) -> bool:
    return value.operation is not None and value.operation.name == "arith.constant"


def codes_apart(module: Module, target: str, rng: np.random.Generator) -> list[tuple[Operation, int]]:
    """For each region of a propagated program, how many codes the simulated result is away from the kernel's, at most,
    for operands drawn from all codes. Where terms cancel each other, f32 has fewer bits than codes of 16: the region in
    f64 decides."""
    every = regions(module)
    alone, said = side_by_side(every)
    programs = [qrt.compile(exported(alone, to, target)) for to in ("fixed", "simulate")]
    inputs = [drawn_codes(port.type, spec, rng) for port, spec in zip(programs[0].inputs, said, strict=True)]
    fixed, simulated = ([*program.run(named).values()] for program, named in _named(programs, inputs))
    apart = [*map(_apart, every, fixed, simulated)]
    if max(apart, default=0) > 1:
        wide = qrt.compile(exported(in_doubles(str(alone)), "simulate", target))
        doubles = [array.astype(np.float64) for array in inputs]
        exact = [_apart(*each) for each in zip(every, fixed, wide.run(by_name(wide, doubles)).values(), strict=True)]
        apart = [min(both) for both in zip(apart, exact, strict=True)]
    return [*zip(every, apart, strict=True)]


SLACK = 2.0**-6
"""The part of a code that f32 loses where it stands for the scales, the codes and the table of a kernel."""


def sum_slack(region: Operation) -> float:
    """The part of a code by which the multipliers of 20 bits of `add` and `sub` may change a result: half of 2^-20 for
    each code of an operand (docs/numerics_operations.md)."""
    if kernel_of(region) not in ("add", "sub"):
        return 0.0
    types = [spec for spec in specs(region, "input") if isinstance(spec, UniformType)]
    codes = (max(type.storage_max - type.zero_point, type.zero_point - type.storage_min) for type in types)
    return sum(codes) * 2.0**-21


def codes_from_exact(module: Module, target: str, rng: np.random.Generator) -> list[tuple[Operation, float]]:
    """For each quantized region, how many codes its result is at most from what its body gives in f64, clipped to the
    range of the type, for operands drawn from all codes."""
    every = [region for region in regions(module) if _is_quantized(region)]
    if not every:
        return []
    alone, said = side_by_side(every)
    fixed = qrt.compile(exported(alone, "fixed", target))
    inputs = [drawn_codes(port.type, spec, rng) for port, spec in zip(fixed.inputs, said, strict=True)]
    doubles = ir.parse(in_doubles(str(alone)))
    for region in regions(doubles):
        count = len(region.results)
        region.attributes["output_specs"] = ir.ArrayAttr((ir.TypeAttr(NoQuantizedType("f64")),) * count)
    wide = qrt.compile(exported(doubles, "simulate", target))
    results = fixed.run(by_name(fixed, inputs))
    exact = wide.run(by_name(wide, [array.astype(np.float64) for array in inputs]))
    pairs = zip(every, results.values(), exact.values(), strict=True)
    return [(region, _codes_between(region, ours, wanted)) for region, ours, wanted in pairs]


def _is_quantized(region: Operation) -> bool:
    """All ports are, and a value that is taken twice is so in one type: of two, one rounds the codes of the other."""
    taken = set(zip(region.operands, specs(region, "input"), strict=True))
    every = [*specs(region, "input"), *specs(region, "output")]
    is_single = len(region.results) == 1 and len(taken) == len(set(region.operands))
    return is_single and all(isinstance(spec, UniformType) for spec in every)


def _codes_between(region: Operation, ours: Array, exact: Array) -> float:
    (out,) = specs(region, "output")
    assert isinstance(out, UniformType)
    low, high = ((end - out.zero_point) * out.scale for end in (out.storage_min, out.storage_max))
    distance = np.abs(ours.astype(np.float64) - np.clip(exact, low, high)) / out.scale
    return float(distance.max(initial=0.0))


def in_doubles(text: str) -> str:
    """A program in f64 that was in f32, with its constants."""

    def widened(match: re.Match[str]) -> str:
        values = np.frombuffer(bytes.fromhex(match[1]), np.float32).astype(np.float64)
        return f'dense<"0x{values.tobytes().hex().upper()}">'

    text = text.replace("0xFF800000 : f32", "0xFFF0000000000000 : f32").replace(
        "0x7F800000 : f32", "0x7FF0000000000000 : f32"
    )
    return re.sub(r'dense<"0x([0-9A-F]{8,})">', widened, text).replace("f32", "f64")


def _named(programs: Sequence[qrt.Program], inputs: Sequence[Array]) -> Iterator[tuple[qrt.Program, dict[str, Array]]]:
    return ((each, by_name(each, inputs)) for each in programs)


def by_name(program: qrt.Program, inputs: Sequence[Array]) -> dict[str, Array]:
    return {port.name: value for port, value in zip(program.inputs, inputs, strict=True)}


def _apart(region: Operation, fixed: Array, simulated: Array) -> int:
    (out,) = specs(region, "output")
    if not isinstance(out, UniformType) or not fixed.size:
        return 0
    return int(np.rint(np.abs(fixed.astype(np.float64) - simulated) / out.scale).max())


def drawn_codes(t: TensorType, spec: object, rng: np.random.Generator) -> Array:
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
