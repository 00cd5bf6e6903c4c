"""Element-wise ops computed by mlir-runner 22, call by call: equal bits wherever upstream defines the result."""

import itertools
import math

import numpy as np
import pytest

from qrt.numerics import floats, integers
from qrt.numerics.float_text import FORMATS
from qrt.ops import elementwise
from qrt.ops.elementwise import FLOAT_PREDICATES, INTEGER_PREDICATES
from qrt.types import parse_type
from tests.numerics import runner
from tests.numerics.scalars import UNDEFINED, integer, signed
from tests.numerics.test_floats import hostile_bits, patterns, values
from tests.numerics.test_integers import EXTENDED, UNARY, held, interesting

pytestmark = runner.needed
RNG = np.random.default_rng(7)
SMALL = ("f8E5M2", "f8E4M3FN", "f8E4M3", "f8E5M2FNUZ", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E3M4")
# APFloat's remainder stands for remf there, which is another function; what is not in APFloat's library does not lower
APFLOAT_OPS = {f"arith.{name}" for name in ("addf", "subf", "mulf", "divf", "negf")}


def function(name, index, operands, results, said=""):
    """An op of its own as a function in generic form."""
    arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(operands))
    names = ", ".join(f"%a{i}" for i in range(len(operands)))
    made = ", ".join(f"%0#{i}" for i in range(len(results)))
    types = ", ".join(results)
    properties = f" <{{{said}}}>" if said else ""
    op = f'%0:{len(results)} = "{name}"({names}){properties} : ({", ".join(operands)}) -> ({types})'
    return f"func.func @op{index}({arguments}) -> ({types}) {{\n  {op}\n  return {made} : {types}\n}}\n"


def value_of(bits, type):
    """Bits as `elementwise` holds them."""
    if type in FORMATS:
        return values([bits], type)[0]
    width = runner.width_of(type)
    return held([signed(bits, width)], width)[0]


def bits_of(value, type):
    if type in FORMATS:
        return int(patterns(value, type))
    return int(value) & (1 << runner.width_of(type)) - 1


def is_nan(bits, type):
    return type in FORMATS and math.isnan(FORMATS[type].decode(bits))


class Batch:
    """Functions and calls for one execution, and what we say of them."""

    def __init__(self):
        self.text, self.calls, self.expected, self.count = "", [], [], 0

    def add(self, name, operands, results, cases, said="", **attributes):
        self.text += function(name, self.count, operands, results, said)
        f = elementwise.bind(name, [*map(parse_type, operands)], [*map(parse_type, results)], attributes)
        for case in cases:
            with np.errstate(all="ignore"):
                ours = f(*(value_of(bits, type) for bits, type in zip(case, operands, strict=True)))
            ours = ours if isinstance(ours, tuple) else (ours,)
            self.expected.append(tuple(bits_of(value, type) for value, type in zip(ours, results, strict=True)))
            self.calls.append((f"op{self.count}", tuple(zip(case, operands, strict=True)), results))
        self.count += 1

    def disagreements(self, pipeline=runner.NATIVE):
        theirs = runner.execute(self.text, self.calls, pipeline)
        for call, ours, found in zip(self.calls, self.expected, theirs, strict=True):
            for a, b, type in zip(ours, found, call[2], strict=True):
                if a != b and not (is_nan(a, type) and is_nan(b, type)):
                    op = self.text.split(f"@{call[0]}(")[1].split("\n")[1].strip()
                    yield f"{op}: {call[1]}: ours {ours}, theirs {found}"


def drawn(cases, count):
    cases = list(cases)
    return [cases[i] for i in RNG.integers(0, len(cases), count)]


@pytest.mark.parametrize("width", [1, 7, 8, 16, 32, 64])
def test_integers(width):
    batch = Batch()
    t = f"i{width}"
    for name in integers.OPS:
        arity = 1 if name in UNARY else 2
        cases = drawn(itertools.product(interesting(width), repeat=arity), 40)
        defined = [case for case in cases if integer(name, width, *case) is not UNDEFINED]
        if name == "math.ipowi" and width == 1:
            continue  # upstream's expansion has no constant 1 there: it reads true as -1
        results = (t, "i1" if name == "arith.addui_extended" else t) if name in EXTENDED else (t,)
        low_bits = [tuple(value & (1 << width) - 1 for value in case) for case in defined]
        batch.add(name, (t,) * arity, results, low_bits)
    for number in range(len(INTEGER_PREDICATES)):
        pairs = drawn(itertools.product(interesting(width), repeat=2), 15)
        low_bits = [tuple(value & (1 << width) - 1 for value in case) for case in pairs]
        batch.add("arith.cmpi", (t, t), ("i1",), low_bits, f"predicate = {number} : i64", predicate=number)
    assert not list(batch.disagreements())[:5]


@pytest.mark.parametrize("format", ["f16", "bf16", "f32", "f64"])
def test_floats(format):
    batch = Batch()
    bits = hostile_bits(format)
    for name in floats.OPS:
        if name == "math.clampf":
            continue  # upstream expands it to max(min(x, low), high): the bounds are taken for each other
        arity = 3 if name == "math.fma" else 1 if name in _UNARY else 2
        batch.add(name, (format,) * arity, (format,), [tuple(drawn(bits, arity)) for _ in range(25)])
    for number in range(len(FLOAT_PREDICATES)):
        cases = [tuple(drawn(bits, 2)) for _ in range(15)]
        batch.add("arith.cmpf", (format, format), ("i1",), cases, f"predicate = {number} : i64", predicate=number)
    for name in ("isnan", "isfinite"):  # the two that lower
        batch.add(f"math.{name}", (format,), ("i1",), [(pattern,) for pattern in drawn(bits, 15)])
    assert not list(batch.disagreements())[:5]


_ROUNDINGS = ("ceil", "floor", "trunc", "roundeven", "round")
_UNARY = {"arith.negf", *(f"math.{name}" for name in ("absf", "sqrt", "rsqrt", *_ROUNDINGS))}


@pytest.mark.parametrize("format", SMALL)
def test_small_floats(format):
    batch = Batch()
    bits = range(256)
    for name in sorted(APFLOAT_OPS):
        arity = 1 if name == "arith.negf" else 2
        batch.add(name, (format,) * arity, (format,), [tuple(map(int, drawn(bits, arity))) for _ in range(60)])
    for width, name in itertools.product((8, 32, 64), ("arith.sitofp", "arith.uitofp")):
        low_bits = [(value & (1 << width) - 1,) for value in drawn(interesting(width), 20)]
        batch.add(name, (f"i{width}",), (format,), low_bits)
    for source in ("f32", "f16", "bf16"):  # of f64, the conversion to calls makes an i64 of an i64
        batch.add("arith.truncf", (source,), (format,), [(pattern,) for pattern in drawn(hostile_bits(source), 40)])
        batch.add("arith.extf", (format,), (source,), [(int(pattern),) for pattern in drawn(bits, 40)])
    assert not list(batch.disagreements(runner.APFLOAT))[:5]


def test_conversions():
    batch = Batch()
    for format in ("f16", "bf16", "f32", "f64"):
        bits = hostile_bits(format)
        for width in (8, 32, 64):
            low_bits = [(value & (1 << width) - 1,) for value in interesting(width)[:20]]
            batch.add("arith.sitofp", (f"i{width}",), (format,), low_bits)
            batch.add("arith.uitofp", (f"i{width}",), (format,), low_bits)
            for name, low in (("arith.fptosi", -(1 << width - 1)), ("arith.fptoui", 0)):
                high = low + (1 << width)
                inside = [(b,) for b in bits if _is_within(FORMATS[format].decode(b), low, high)]
                batch.add(name, (format,), (f"i{width}",), drawn(inside, 20))
    for source, target in (("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("f16", "f64")):
        batch.add("arith.extf", (source,), (target,), [(b,) for b in drawn(hostile_bits(source), 30)])
    for source, target in (("f64", "f32"), ("f64", "f16"), ("f32", "f16"), ("f32", "bf16"), ("f64", "bf16")):
        batch.add("arith.truncf", (source,), (target,), [(b,) for b in drawn(hostile_bits(source), 60)])
    for source, target in (("i8", "i32"), ("i1", "i64"), ("i7", "i13"), ("i32", "i64")):
        width = runner.width_of(source)
        low_bits = [(value & (1 << width) - 1,) for value in drawn(interesting(width), 20)]
        for name in ("arith.extsi", "arith.extui"):
            batch.add(name, (source,), (target,), low_bits)
        low_bits = [(value & (1 << runner.width_of(target)) - 1,) for value in interesting(64)[:20]]
        batch.add("arith.trunci", (target,), (source,), low_bits)
    for name in ("arith.index_cast", "arith.index_castui"):
        batch.add(name, ("i8",), ("index",), [(value & 255,) for value in drawn(interesting(8), 20)])
        batch.add(name, ("index",), ("i8",), [(value & (1 << 64) - 1,) for value in interesting(64)])
    assert not list(batch.disagreements())[:5]


def _is_within(value, low, high):
    return value == value and abs(value) != math.inf and low <= math.trunc(value) < high
