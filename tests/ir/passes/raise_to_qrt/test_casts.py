"""Lowered casts, raised: `quant.qcast` and `quant.dcast` compute their bits, NaNs and values out of range included.

Hazards: a NaN that becomes another integer, a clamp at other bounds, a zero point after the rounding.
"""

import random

import numpy as np
import pytest

from qrt.errors import QuantError
from qrt.ir import Module, parse, run_passes
from qrt.runtime.compilation import compile
from qrt.types import UniformType, storage_range
from tests.ir.passes.raise_to_qrt.harness import raised
from tests.ops.harness import Array

OURS, UPSTREAM = "", "rounding=toward_zero saturating=false"


def drawn_type(rng: random.Random) -> UniformType:
    width, signed = rng.choice([4, 8, 8, 8, 16]), rng.random() < 0.5
    least, most = storage_range(width, signed)
    low, high = rng.choice([(least, most), (least, most), (least + 1, most - 2)])
    count = rng.choice([1, 1, 3])
    scales = [rng.choice([0.5, 0.1, rng.uniform(1e-3, 3)]) for _ in range(count)]
    points = [rng.choice([0, low, high, rng.randint(low, high)]) for _ in range(count)]
    axis = None if count == 1 else 1
    given = (scales[0], points[0]) if axis is None else (scales, points)
    return UniformType(f"{'i' if signed else 'u'}{width}", rng.choice(["f32", "f32", "f64"]), *given, axis=axis,
                       storage_min=low, storage_max=high)  # fmt: skip


def casts(t: UniformType, shape: str) -> str:
    x, q = f"tensor<{shape}x{t.expressed_type}>", f"tensor<{shape}x{t}>"
    return (
        f"func.func @main(%x: {x}) -> ({q}, {x}) {{\n  %0 = quant.qcast %x : {x} to {q}\n"
        f"  %1 = quant.dcast %0 : {q} to {x}\n  return %0, %1 : {q}, {x}\n}}\n"
    )


def names(module: Module) -> list[str]:
    return [op.name for op in module.operation.walk() if op.name in ("quant.qcast", "quant.dcast")]


def floats(t: UniformType, rng: random.Random, in_range: bool) -> Array:
    values = np.random.default_rng(rng.randrange(1000))
    scale = float(np.min(t.scales))
    low, high = (min(abs(end - point) for point in t.zero_points) for end in (t.storage_min, t.storage_max))
    reach = min(low, high) if in_range else 3 * (t.storage_max - t.storage_min)
    x = values.uniform(-reach, reach, (5, 3)) * scale
    if not in_range:
        x.flat[:7] = [np.nan, np.inf, -np.inf, 1e30, -1e30, 0.0, -0.0]
        x.flat[7:11] = np.array([0.5, 1.5, -0.5, -2.5]) * scale
    return x.astype(str(t.expressed_type).replace("f", "float"))


def outcomes(module: Module, x: Array, interpret: bool) -> list[list[object]]:
    program = compile(module)
    (port,) = program.inputs
    return [np.asarray(value).tolist() for value in program.run({port.name: x}, interpret=interpret).values()]


@pytest.mark.parametrize("shape", ["5x3", "?x3"])
@pytest.mark.parametrize("form", [OURS, UPSTREAM])
def test_drawn_casts(form: str, shape: str) -> None:
    done = 0
    for seed in range(60):
        rng = random.Random(seed)
        t = drawn_type(rng)
        if form == UPSTREAM and (t.storage_min, t.storage_max) != t.default_bounds:
            continue  # clamped as integers, which is not a cast of qrt
        later = rng.choice(["", ",canonicalize,cse"])
        text = str(run_passes(parse(casts(t, shape)), f"lower-quant-ops{{{form}}},quant-to-integer-types{later}"))
        before, module = parse(text), parse(text)
        assert raised(module) == []
        assert names(module) == ["quant.qcast", "quant.dcast"], f"{t}\n{text}"
        assert not any(op.name.startswith(("math.", "linalg.", "arith.divf")) for op in module.operation.walk())
        x = floats(t, rng, in_range=form == UPSTREAM)
        expected = outcomes(before, x, True)
        for interpret in (True, False):
            np.testing.assert_equal(outcomes(module, x, interpret), expected, err_msg=f"{t}\n{text}")
        done += 1
    assert done >= 30


PER_LAYER = "!quant.uniform<i8<-100:90>:f32, 0.5:3>"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("3.000000e+00", "3.500000e+00"),
        ("-1.000000e+02", "-1.005000e+02"),
        ("5.000000e-01", "-5.000000e-01"),
        ("5.000000e-01", "0.000000e+00"),
        ("9.000000e+01", "9.000000e+02"),
        ("cmpf uno", "cmpf ord"),
        ("roundeven", "round"),
        ("maximumf", "maxnumf"),
        ("arith.divf %arg0, %3", "arith.divf %3, %arg0"),
        ("arith.addf", "arith.subf"),
        ("select %6, %2, %5", "select %6, %1, %5"),
        ("9.000000e+01", "0x7F800000"),
        ("3.000000e+00", "0x7FC00000"),
        ("5.000000e-01", "0x7FC00000"),
    ],
)
def test_near_misses(old: str, new: str) -> None:
    text = str(run_passes(parse(casts(UniformType("i8", "f32", 0.5, 3, storage_min=-100, storage_max=90), "5x3")),
                          "lower-quant-ops,quant-to-integer-types,canonicalize,cse"))  # fmt: skip
    assert old in text, text
    try:
        module = parse(text.replace(old, new, 1))
        module.verify()
    except QuantError as error:
        pytest.fail(f"not a program: {error}")
    raised(module)
    assert "quant.qcast" not in names(module), str(module)
