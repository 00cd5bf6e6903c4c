"""Sums, products and pairs of every ISA against ref: operands of one type in one pass, and short rows that are joined.

Hazards: rows of a broadcast that end amid a vector or a part of joined rows; an operand that is repeated by rows, by
elements or not at all; values at the ends of their containers; magnitudes at which scaled operands leave 32 bits; a
result that is written over an operand."""

from typing import Any

import numpy as np
import pytest

from qrt import numerics
from qrt._ext.kernels import bind_binary, bind_leaky_relu, bind_pair
from tests.kernels.draws import isas_by_rows
from tests.kernels.test_isa_elementwise import ENDS, agree, values

ISAS = [isa for isa in isas_by_rows("binary_row", "pair_row", "leaky_relu_row") if isa != "ref"]
CONTAINERS = ("i8", "u8", "i16", "u16")
SHAPES = [
    ((n,), (n,)) for n in (1, 31, 32, 33, 63, 64, 65, 129, 1000)
] + [
    ((5, 7, 24), (24,)),
    ((5, 7, 24), (5, 7, 1)),
    ((7, 24), (1,)),
    ((5, 7, 24), (5, 1, 24)),
    ((5, 1, 24), (1, 7, 24)),
    ((1, 300, 24), (5, 1, 24)),
    ((300, 255), (255,)),
    ((300, 256), (1, 256)),
    ((3000, 3), (3000, 1)),
    ((3000, 1), (3000, 3)),
    ((2, 1100, 1), (2, 1, 2)),
]  # fmt: skip


def parameters(to: str, scales: list[float], rule: Any = "fixed_double") -> numerics.RequantParameters:
    low, high = ENDS[to]
    count = len(scales)
    return numerics.requant_parameters(rule, to, low, high, [(s,) for s in scales], [(1.0,)] * count, [3] * count)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("storage", CONTAINERS)
@pytest.mark.parametrize("kind", ["maximum", "minimum", "prelu"])
def test_pairs(isa: str, kind: str, storage: str) -> None:
    given: dict[str, Any] = {"kind": kind, "a": storage, "b": storage, "out": storage}
    for zeros in ((0, 0), ENDS[storage]):
        if kind == "prelu":
            given |= {"zero_points": zeros, "requant": parameters(storage, [0.3, 0.004])}
        for shapes in SHAPES:
            for a, b in (shapes, shapes[::-1]):
                agree(isa, bind_pair, given | {"a_shape": a, "b_shape": b}, values(storage, *a), values(storage, *b))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("storage", CONTAINERS)
def test_leaky_relu(isa: str, storage: str) -> None:
    for n in (1, 31, 32, 33, 64, 65, 1000):
        for zero in (0, *ENDS[storage]):
            given = {"storage": storage, "size": n, "zero_point": zero, "requant": parameters(storage, [0.9, 0.01])}
            agree(isa, bind_leaky_relu, given, values(storage, n))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("storage", CONTAINERS)
@pytest.mark.parametrize("rule", ["fixed", "fixed_double", "float32", "half_up_twice"])
def test_products(isa: str, storage: str, rule: str) -> None:
    for scale in (2.0**-12, 1.7e-5, 0.9):
        for zeros in ((0, 0), ENDS[storage]):
            given = {"kind": "mul", "a": storage, "b": storage, "a_zero_points": [zeros[0]],
                     "b_zero_points": [zeros[1]], "requant": parameters(storage, [scale], rule)}  # fmt: skip
            for shapes in SHAPES:
                for a, b in (shapes, shapes[::-1]):
                    agree(isa, bind_binary, given | {"a_shape": a, "b_shape": b}, values(storage, *a),
                          values(storage, *b))  # fmt: skip


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("storage", CONTAINERS)
@pytest.mark.parametrize("kind", ["add", "sub"])
def test_sums(isa: str, kind: str, storage: str) -> None:
    """By the rule fixed, and with operands that are shifted to the left and scaled: past what 32 bits hold too."""
    low, high = ENDS[storage]
    for zeros in ((0, 0), ENDS[storage], ENDS[storage][::-1]):
        given: dict[str, Any] = {"kind": kind, "a": storage, "b": storage, "a_zero_points": [zeros[0]],
                                 "b_zero_points": [zeros[1]]}  # fmt: skip
        forms = [
            {"requant": numerics.rounded_shift((storage, low, high), np.array([-7]), np.array([20])),
             "a_multipliers": np.array([m]), "b_multipliers": np.array([m // 3])}
            for m in (1 << 10, 1 << 14, (1 << 21) + 12345, 1 << 40)
        ]  # fmt: skip
        factors = _factors()
        forms += [
            {"requant": parameters(storage, [scale]), "left_shift": left, "a_multipliers": factors[0][:1],
             "b_multipliers": factors[0][1:], "a_shifts": factors[1][:1] - less, "b_shifts": factors[1][1:]}
            for scale in (2.0**-14, 0.7) for left in (0, 14, 15, 20) for less in (0, 3)
        ]  # fmt: skip
        for form in forms:
            for a, b in (SHAPES[6], SHAPES[8], SHAPES[9], SHAPES[10], SHAPES[13][::-1]):
                agree(isa, bind_binary, given | form | {"a_shape": a, "b_shape": b}, values(storage, *a),
                      values(storage, *b))  # fmt: skip


def _factors() -> tuple[Any, Any]:
    """Two multipliers of 31 bits, with TFLite's shifts."""
    found = parameters("i16", [0.49, 0.013])
    return np.asarray(found.multiplier, np.int64), np.asarray(found.shift, np.int32)


@pytest.mark.parametrize("isa", ISAS)
def test_a_result_over_an_operand(isa: str) -> None:
    for n in (33, 64, 1000):
        a, b = values("i8", n), values("i8", n)
        call = bind_pair(isa=isa, kind="maximum", a="i8", b="i8", out="i8", a_shape=(n,), b_shape=(n,))
        want = np.maximum(a, b)
        call(a, b, a)
        np.testing.assert_array_equal(a, want)
