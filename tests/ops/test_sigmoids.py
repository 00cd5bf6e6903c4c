"""logistic and tanh of 16 bits: near the functions, every kernel and lowering against the reference, every refusal.

Hazards: a product that passes 32 bits, the ends of the table, the sign of what is rounded."""

import math
import re
from typing import Any

import numpy as np
import pytest

from qrt.errors import QuantTypeError
from qrt.numerics import LARGEST_SCALE
from qrt.types import TensorType, UniformType
from tests.ir.passes.lower_qrt.harness import check_lowered
from tests.ops.harness import check_kernels, infer, tensor

ALL = np.arange(-(1 << 15), 1 << 15).astype(np.int16)
OUT = UniformType("i16", "f32", 2.0**-15)
FUNCTIONS = {"logistic": lambda x: 1 / (1 + math.exp(-x)), "tanh": math.tanh}


def of_scale(scale: float) -> UniformType:
    return UniformType("i16", "f32", scale)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("rule", "scale"),
    [("table_uint16", 2.0**-s) for s in (10, 11, 12, 15)]
    + [("table_uint16", 1e-9), ("table_uint16", 0.0031), ("table_uint16", 5.3), ("gemmlowp", 2.0**-12)],
)
def test_every_value_is_near_the_function(name: str, rule: str, scale: float) -> None:
    """Within a few units; the table's error is largest between its entries, gemmlowp's in the middle."""
    got = check_kernels(name, [ALL], [tensor(ALL.shape, of_scale(scale))], OUT, requant=rule)
    exact = np.array([FUNCTIONS[name](max(min(float(q) * scale, 500.0), -500.0)) for q in ALL]) * 2.0**15
    assert np.abs(got - np.minimum(exact, 32767)).max() <= (14 if rule == "table_uint16" else 20)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("rule", ["table_uint16", "gemmlowp"])
def test_lowered(name: str, rule: str) -> None:
    x = np.append(ALL[::977], np.int16([-1, 0, 1, 32767])).reshape(1, -1)
    check_lowered(name, [x], [tensor(x.shape, of_scale(2.0**-12))], OUT, requant=rule)


def test_rules_differ_where_litert_says_so() -> None:
    """At the scale that both take: the results of LiteRT 2.3.0, of its default and of its reference kernels."""
    x = np.int16([-30000, -4096, -1, 1, 4096, 30000])
    types = [tensor(x.shape, of_scale(2.0**-12))]
    found = {
        rule: check_kernels("tanh", [x], types, OUT, requant=rule).tolist() for rule in ("gemmlowp", "table_uint16")
    }
    assert found == EXPECTED


EXPECTED = {
    "gemmlowp": [-32767, -24964, -8, 8, 24964, 32767],
    "table_uint16": [-32767, -24956, -8, 8, 24956, 32767],
}
TYPES: list[tuple[TensorType, UniformType, dict[str, Any], str]] = [
    (
        tensor((2,), UniformType("i8", "f32", 0.1)),
        OUT,
        {},
        "'q' must have a per-layer type with storage i16 and zero point 0, got",
    ),
    (
        tensor((2,), UniformType("i16", "f32", 0.1, 1)),
        OUT,
        {},
        "'q' must have a per-layer type with storage i16 and zero point 0, got",
    ),
    (tensor((2,), of_scale(LARGEST_SCALE)), OUT, {}, "the scale of 'q' must be below 5.33333, got 5.333333333333333"),
    (tensor((2,), of_scale(0.1)), OUT, {"requant": "gemmlowp"}, "needs a scale of 2**-12 or 2**-11, got 0.1"),
    (
        tensor((2,), of_scale(0.1)),
        OUT,
        {"requant": "fixed"},
        "'requant' must be one of table_uint16, gemmlowp, got 'fixed'",
    ),
    (
        tensor((2,), of_scale(0.1)),
        of_scale(2.0**-14),
        {},
        "the result must have a per-layer type with storage i16, scale 2**-15 and zero point 0, got",
    ),
]


@pytest.mark.parametrize(("x", "out", "attributes", "message"), TYPES)
def test_refuses(x: TensorType, out: UniformType, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer("tanh", [x], out, **attributes)
    assert str(raised.value).startswith("tanh")
    with pytest.raises(QuantTypeError, match=r"the result type must be a !quant\.uniform type, got none"):
        infer("tanh", [tensor((2,), of_scale(0.1))])
