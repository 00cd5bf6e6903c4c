"""Programs that run: interpreted, planned on every ISA, planned when their arguments come, and transformed, they give
the same bits or are refused alike, and leave alone what is around the arrays that they are given. The first line may
say the values of arguments and the passes."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

import numpy as np

from qrt import ir, kernels
from qrt.errors import QuantError, UndefinedError
from qrt.ir import Module, run_passes
from qrt.ir.core.attributes import TypeAttr
from qrt.ops.core import element_dtype
from qrt.runtime import Program
from qrt.runtime.compilation import compile
from qrt.types import FloatType, FunctionType, IntegerType, TensorType, UniformType
from tests.fuzz import seeds
from tests.fuzz.kinds.open_shapes import element_wise
from tests.fuzz.kinds.surrounded import Surrounded
from tests.fuzz.kinds.text import pipeline
from tests.fuzz.mutate import mutated
from tests.fuzz.outcome import Finding, check_message
from tests.ir.passes.lower_qrt.compare import DrawnProgram
from tests.ir.passes.lower_qrt.draw_ops import DRAWS
from tests.ir.passes.lower_qrt.draw_types import OpDraw
from tests.oracle.draw_types import Draw
from tests.oracle.execution import (
    draw_casts,
    draw_control,
    draw_expressions,
    draw_memory,
    draw_named,
    draw_tensors,
    draw_vectors,
)
from tests.oracle.execution.draw_values import array
from tests.runtime.planner.draw_control import control
from tests.runtime.programs import EVERYTHING

_HEADER = re.compile(r"// values: (\d+); pipeline: (.*)")
_PLAIN = (
    draw_expressions.expressions,
    draw_control.control,
    draw_memory.memory,
    draw_tensors.tensors,
    draw_vectors.vectors,
)
LOWERINGS = ("lower-qrt", "lower-qrt{to=loops}", "lower-quant-ops", "canonicalize")
_CHANGE_VALUES = re.compile(
    r"fold-[qd]cast|saturating=false|strict-upstream|requant=|rounding=|zero-point=|scale=|"
    r"convert-fake-quant|propagate-quant|export-quant|unfuse-kernels"
)
"""Passes that promise no equal values, and options with which passes promise none or that say another rule than a
program without them has."""
STEPS = 20_000
LARGEST = 4096
"""Elements of an argument."""
_WITHOUT_RESULT = re.compile(
    r"does not end within max_steps|more memory than there is|must have at most 31 dimensions and 2\*\*40 elements"
)
"""Refusals that depend on how much a program does on its way, and on the largest shape that a kernel takes: the
interpreter needs no kernel for a tensor without elements.
"""
_OPEN = re.compile(r"two dimensions that must be equal differ|'linalg.generic' op shapes disagree")
"""How a lowered program refuses to broadcast a dimension that its types leave open: docs/lowering.md says it."""


# -- drawing ---------------------------------------------------------------------------------------------------------


def draw(draw: Random) -> str:
    make = draw.choice((_of_kernels, _of_kernels, _of_kernels, _plain, _plain, _seed, control, element_wise))
    text = make(draw)
    if make is _seed or draw.random() < 0.5:
        text = mutated(draw, text, seeds.texts())
    return f"// values: {draw.randrange(1000)}; pipeline: {pipeline(draw)}\n{text}"


def _of_kernels(draw: Random) -> str:
    """One op of `qrt`, with all that its kernels and its lowering depend on."""
    while True:
        try:
            return DrawnProgram.of(OpDraw(str(draw.random())), draw.choice(sorted(DRAWS))).text()
        except QuantError:  # types that the op refuses
            continue


def _plain(draw: Random) -> str:
    """Ops of upstream's dialects."""
    inner = Draw(str(draw.random()), noise=0)
    if draw.random() < 0.15:
        cases = draw.choice((draw_casts.casts, draw_named.named))(inner)
    else:
        cases = draw.choice(_PLAIN)(inner, 1)
    return list(islice(cases, draw.choice((1, 1, 2, 8))))[-1].text


def _seed(draw: Random) -> str:
    return draw.choice((*seeds.texts(), EVERYTHING))


# -- checking --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Refusal:
    """An error in place of results."""

    kind: str
    text: str

    @classmethod
    def of(cls, error: QuantError) -> "Refusal":
        check_message(error)
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, UndefinedError):
            if cause.__cause__ is cause:
                raise Finding("an error is its own cause", str(error))
            cause = cause.__cause__
        kind = type(error).__name__ if cause is None else "UndefinedError"
        return cls("none" if _WITHOUT_RESULT.search(str(error)) else kind, str(error))


Results = list[tuple[str, Any]] | Refusal


def check(case: str) -> str:
    found = _HEADER.search(case)
    values, passes = (int(found[1]), found[2]) if found else (0, "canonicalize")
    module = ir.parse(case)
    name = _function(module)
    waiting = _waiting(module, name)
    lazy = waiting or compile(module, name)
    arguments = _arguments(lazy, values)
    if arguments is None:
        return "too large"
    expected = _run(lazy, arguments, interpret=True)
    if waiting is not None:
        _compare("interpreted", expected, "planned when called", _run(waiting, arguments, interpret=False), case)
        arguments = arguments[:-1]
    for isa in kernels.available():
        with kernels.use(isa):
            _compare("interpreted", expected, f"planned on {isa}", _built_and_run(module, name, arguments), case)
    if isinstance(expected, Refusal):
        return "no result"
    for transform in (*LOWERINGS, passes):
        if _CHANGE_VALUES.search(transform) and transform not in LOWERINGS:
            continue
        for name, result in _transformed(case, transform, arguments):
            if "lower-qrt" in transform and "?" in case and isinstance(result, Refusal) and _OPEN.search(result.text):
                continue
            _compare("interpreted", expected, f"{name} after {transform}", result, case)
    return "compared"


def _built_and_run(module: Module, name: str | None, arguments: Sequence[Any]) -> Results:
    """The results as planned, or what compiling refuses, which the interpreter must refuse too."""
    try:
        program = compile(module, name)
    except QuantError as error:
        return Refusal.of(error)
    return _run(program, arguments, interpret=False)


def _waiting(module: Module, name: str | None) -> Program | None:
    """The program with one more argument, of an open size, so that it is planned when it is called. None where that
    breaks a call of the function."""
    copy = Module(module.operation.clone({}), module.upstream)
    bodies = (function for function in copy.functions if function.regions[0].blocks)
    function = next((function for function in bodies if function.sym_name == name), None)
    if function is None or "arg_attrs" in function.attributes:
        return None
    unused = TensorType((None,), FloatType("f32"))
    function.regions[0].blocks[0].add_argument(unused)
    inputs, results = function.type.inputs, function.type.results
    function.attributes["function_type"] = TypeAttr(FunctionType((*inputs, unused), results))
    try:
        return compile(copy, name)
    except QuantError:
        return None


def _function(module: Module) -> str | None:
    """The function to run: `main`, `f`, or the first with a body."""
    names = [f.attributes["sym_name"].python for f in module.functions if f.regions[0].blocks]
    return next((name for name in ("main", "f", *names) if name in names), None)


def _transformed(case: str, passes: str, arguments: Sequence[Any]) -> Iterator[tuple[str, Results]]:
    """Results by the interpreter and as planned; none where a pass refuses."""
    module = ir.parse(case)
    name = _function(module)
    try:
        run_passes(module, passes)
        if name != _function(module):  # nobody calls it
            return
        program = compile(module, name)
    except QuantError as error:
        if passes == "canonicalize":
            raise Finding(f"refused after {passes}", str(error)) from error
        return
    if _signature(program) != _signature(compile(ir.parse(case), name)):
        return
    yield "interpreted", _run(program, arguments, interpret=True)
    yield "planned", _run(program, arguments, interpret=False)


def _signature(program: Program) -> list[tuple[str, TensorType]]:
    """Which a pass may change, with the values' meaning: strip-func-quant-types does."""
    return [(port.name, port.type) for port in (*program.inputs, *program.outputs)]


def _run(program: Program, arguments: Sequence[Any], interpret: bool) -> Results:
    """Results by name, and memory that was given, as it is left. Globals begin with their initial values."""
    program.reset()
    filler = 0x5A if interpret else 0xA5  # so that what is read there differs
    pairs = zip(program.inputs, arguments, strict=True)
    memory = [Surrounded.of(value, filler, port.in_place) for port, value in pairs]
    given = {port.name: each.view for port, each in zip(program.inputs, memory, strict=True)}
    try:
        results = program.run(given, interpret=interpret, max_steps=STEPS)
    except QuantError as error:
        return Refusal.of(error)
    finally:
        for port, each in zip(program.inputs, memory, strict=True):
            each.check(port.name)
    written = [(port.name, given[port.name]) for port in program.inputs if port.in_place]
    return [(name, getattr(value, "storage", value)) for name, value in (*results.items(), *written)]


def _compare(first: str, expected: Results, second: str, got: Results, case: str) -> None:
    ops = ", ".join(sorted({*re.findall(r"\b(?:qrt|quant)\.[\w]+", case)} - {"quant.uniform"})) or "upstream's ops"
    told = f"{first}, {second}: {ops}"
    if isinstance(expected, Refusal) or isinstance(got, Refusal):
        kinds = [value.kind if isinstance(value, Refusal) else "values" for value in (expected, got)]
        if "none" not in kinds and kinds[0] != kinds[1]:
            raise Finding(f"{kinds[0]} or {kinds[1]}, {told}", f"{_shown(expected)}\n{_shown(got)}")
        return
    for (name, a), (_, b) in zip(expected, got, strict=True):
        if not same(a, b):
            raise Finding(f"bits differ, {told}", f"{name}:\n{_shown(a)}\n{_shown(b)}")


def same(a: Any, b: Any) -> bool:
    """Equal dtype, shape and bits; which NaN an op of `arith` or `math` gives is not promised."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.tobytes() == b.tobytes():
        return True
    if a.dtype.kind not in "fV":
        return False
    wide, other = a.astype(np.float64), b.astype(np.float64)
    both = np.isnan(wide) & np.isnan(other)
    return bool((both | ((wide == other) & (np.signbit(wide) == np.signbit(other)))).all())


def _shown(value: object) -> str:
    return (value.text if isinstance(value, Refusal) else repr(value))[:1200]


# -- arguments -------------------------------------------------------------------------------------------------------


def _arguments(program: Program, seed: int) -> list[Any] | None:
    """Arrays of the inputs' types. Sizes that are not known are mostly one number."""
    draw = Draw(str(seed), noise=0)
    common, rank = draw.choice((0, 0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 8, 17)), draw.choice((0, 1, 2, 4))
    found = []
    for port in program.inputs:
        open_rank = rank if draw.chance(0.9) else draw.randint(0, 2)
        shape = (None,) * open_rank if port.type.shape is None else port.type.shape
        sizes = tuple((common if draw.chance(0.9) else draw.randint(0, 4)) if n is None else n for n in shape)
        if math.prod(sizes) > LARGEST:
            return None
        found.append(_array(draw, port.type, sizes))
    return found


def _array(draw: Draw, t: TensorType, shape: tuple[int, ...]) -> Any:
    element, dtype = t.element, element_dtype(t.element)
    if isinstance(element, UniformType):
        ends = (element.storage_min, element.storage_max, *element.zero_points[:2])
        ends = tuple(min(max(z, element.storage_min), element.storage_max) for z in ends)
        values = [draw.choice(ends) if draw.chance(0.3) else draw.randint(*ends[:2]) for _ in range(math.prod(shape))]
        return np.array(values, np.int64).astype(dtype).reshape(shape)
    if dtype.kind in "iub":
        if str(element) == "index":  # a position or a size, more often than not
            values = [draw.choice((0, 0, 1, 1, 2, 3, 4, -1, 100, 300)) for _ in range(math.prod(shape))]
        else:
            width = element.width if isinstance(element, IntegerType) else 64
            values = [v - (v >> (width - 1) << width) for v in array(draw, f"i{width}", shape).bits]
        return np.array(values, np.int64).astype(dtype).reshape(shape)
    name = "f32" if str(element) == "tf32" else str(element)
    if name in ("f16", "bf16", "f32", "f64"):
        return array(draw, name, shape).array()
    return np.array([draw.choice((0, 1, -1, 0.5, 2, 3)) for _ in range(math.prod(shape))]).astype(dtype).reshape(shape)
