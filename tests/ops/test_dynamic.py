"""dynamic_matmul, dynamic_lstm: near the network in floats, one result by all of qrt, ONNX Runtime's, refusals.

Hazards: the order of gates, parameters of one step taken for those of all, a NaN that becomes an integer, a range
without 0, columns with parameters of their own, a sequence read backwards."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt import kernels, numerics
from qrt._ext.kernels import bind_dynamic_lstm, bind_dynamic_matmul
from qrt.errors import KernelError, QuantTypeError
from qrt.numerics.dynamic import sigmoid32, tanh32
from qrt.ops import FAMILIES
from qrt.types import FloatType, TensorType, UniformType
from tests.ops.harness import Array, check_kernels, tensor
from tests.ops.test_recurrent import both, lowered_results

F32 = FloatType("f32")
Network = tuple[list[Array], list[TensorType]]


def network(
    steps: int, batch: int, inputs: int, cells: int, signed: bool = True, per_column: bool = False, seed: int = 0
) -> Network:
    rng = np.random.default_rng(seed)
    columns = 4 * cells
    storage, least = ("i8", -128) if signed else ("u8", 0)

    def weight(depth: int) -> tuple[Array, TensorType]:
        array = rng.integers(least, least + 256, (depth, columns)).astype(np.int8 if signed else np.uint8)
        per = columns if per_column and columns else 1
        scales = rng.uniform(0.002, 0.01, per).astype(np.float32).astype(float).tolist()
        points = rng.integers(least, least + 256, per).tolist()
        if per_column and columns:
            element = UniformType(storage, "f32", scales, points, axis=1)
        else:
            element = UniformType(storage, "f32", scales[0], points[0])
        return array, TensorType((depth, columns), element)

    pairs = [
        (rng.normal(size=(steps, batch, inputs)).astype(np.float32), TensorType((steps, batch, inputs), F32)),
        weight(inputs),
        weight(cells),
        (rng.normal(size=columns).astype(np.float32), TensorType((columns,), F32)),
    ]
    for _ in range(2):
        pairs.append((rng.normal(size=(batch, cells)).astype(np.float32), TensorType((batch, cells), F32)))
    return [array for array, _ in pairs], [t for _, t in pairs]


def floats(arrays: list[Array], types: list[TensorType]) -> Array:
    """The hidden values of every step, in float64."""
    x, *stored, bias, hidden, cell = (array.astype(np.float64) for array in arrays)
    w, r = (
        (q - t.element.zero_point_array.ravel()) * t.element.scale_array.ravel()
        for q, t in zip(stored, types[1:3], strict=True)
    )
    made = []
    for step in x:
        i, o, f, g = np.split(step @ w + hidden @ r + bias, 4, axis=1)
        i, o, f = (1 / (1 + np.exp(-v)) for v in (i, o, f))
        cell = f * cell + i * np.tanh(g)
        hidden = o * np.tanh(cell)
        made.append(hidden)
    return np.stack(made)


@pytest.mark.parametrize("sizes", [(5, 1, 7, 3), (3, 2, 16, 17), (2, 3, 33, 1), (1, 1, 1, 1)])
@pytest.mark.parametrize(("signed", "per_column"), [(True, False), (False, True)])
def test_it_is_the_network(sizes: tuple[int, int, int, int], signed: bool, per_column: bool) -> None:
    arrays, types = network(*sizes, signed, per_column)
    y, hidden, _ = both("dynamic_lstm", arrays, types)
    np.testing.assert_array_equal(y[-1], hidden)
    assert np.abs(y - floats(arrays, types)).max() < 0.12


@pytest.mark.parametrize("sizes", [(0, 2, 3, 4), (2, 0, 3, 4), (2, 2, 0, 4), (2, 2, 3, 0)])
def test_nothing(sizes: tuple[int, int, int, int]) -> None:
    """An axis of size 0: without steps the state stays as it was."""
    arrays, types = network(*sizes)
    _, hidden, cell = both("dynamic_lstm", arrays, types)
    if not sizes[0]:
        np.testing.assert_array_equal(hidden, arrays[4])
        np.testing.assert_array_equal(cell, arrays[5])


@given(
    st.lists(st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e-45, -3e38, 3e38, np.inf, -np.inf, np.nan]), min_size=1),
    st.integers(0, 5), st.integers(0, 3), st.booleans(), st.booleans(),
)  # fmt: skip
def test_products(values: list[float], rows: int, cells: int, signed: bool, per_column: bool) -> None:
    """One result by reference and kernels, and by lowering; near the product in floats where all numbers are finite."""
    arrays, types = network(1, 1, 7, cells, signed, per_column, len(values))
    x = np.resize(np.float32(values), (rows, 1, 7))
    pair, kinds = [x, arrays[1]], [TensorType(x.shape, F32), types[1]]
    (y,) = both("dynamic_matmul", pair, kinds)
    for options in ("", "to=loops"):
        np.testing.assert_array_equal(lowered_results("dynamic_matmul", pair, kinds, options, None)[0], y)
    if np.isfinite(x).all() and x.size and np.abs(x).max() < 1e30:
        element = types[1].element
        w = (arrays[1] - element.zero_point_array.ravel().astype(float)) * element.scale_array.ravel()
        step = max((max(x.max(), 0.0) - min(x.min(), 0.0)) / 255, 1e-38)
        assert (np.abs(y - x.astype(float) @ w) <= 1.01 * step * np.abs(w).sum(0) + 1e-6 * np.abs(x).max()).all()


def test_backwards() -> None:
    arrays, types = network(4, 2, 3, 5)
    y, *state = both("dynamic_lstm", arrays, types, reverse=True)
    turned = [np.ascontiguousarray(arrays[0][::-1]), *arrays[1:]]
    other, *other_state = both("dynamic_lstm", turned, types)
    np.testing.assert_array_equal(other[::-1], y)
    for a, b in zip(state, other_state, strict=True):
        np.testing.assert_array_equal(a, b)


HOSTILE = [0.0, -0.0, 1.0, -1.0, 1e-45, -3e38, 3e38, np.inf, -np.inf, np.nan, 255.0, 0.5, 1e-38]


@given(st.lists(st.sampled_from(HOSTILE), min_size=8, max_size=8), st.integers(0, 3), st.booleans())
def test_hostile_numbers(values: list[float], place: int, reverse: bool) -> None:
    """Numbers of every kind in x, the bias, the hidden values or the cell."""
    arrays, types = network(2, 2, 2, 2)
    index = (0, 3, 4, 5)[place]
    arrays[index] = np.resize(np.float32(values), arrays[index].shape)
    both("dynamic_lstm", arrays, types, reverse=reverse)


@pytest.mark.parametrize(("options", "reverse"), [("", False), ("to=loops", True)])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("hostile", [None, 0, 5])
def test_lowered(options: str, reverse: bool, per_column: bool, hostile: int | None) -> None:
    arrays, types = network(3, 2, 5, 2, per_column, per_column)
    if hostile is not None:
        arrays[hostile] = np.resize(np.float32(HOSTILE), arrays[hostile].shape)
    expected = both("dynamic_lstm", arrays, types, reverse=reverse)
    got = lowered_results("dynamic_lstm", arrays, types, options, None, reverse=reverse)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def _units(got: Array, exact: Array) -> float:
    return float((np.abs(got - exact) / np.spacing(np.abs(exact).astype(np.float32))).max())


def test_functions_are_within_a_unit() -> None:
    """Over all magnitudes, and beside the place where tanh has another formula."""
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.normal(0, 10.0**k, 4000) for k in range(-8, 3)]).astype(np.float32)
    edge = np.float32(1 / 16)
    near = np.nextafter(edge, np.float32(0)), edge, np.nextafter(edge, np.float32(1))
    x = np.concatenate([x, near, np.float32([0, 1e-40, 88, 104, 200, np.inf])])
    x = np.concatenate([x, -x])
    wide = x.astype(np.float64)
    assert _units(tanh32(x), np.tanh(wide)) <= 0.51
    with np.errstate(over="ignore"):
        exact = np.where(wide < 0, np.exp(np.minimum(wide, 0)), 1) / (1 + np.exp(-np.abs(wide)))
    assert _units(sigmoid32(x), exact) <= 0.51
    assert np.signbit(tanh32(np.float32([-0.0])))[0]


@given(st.lists(st.floats(width=32), max_size=9))
def test_parameters_hold_the_range(values: list[float]) -> None:
    """ONNX's DynamicQuantizeLinear: 0 and every finite number are within half a step of what is stored."""
    x = np.float32(values)
    scale, zero_point = numerics.dynamic_parameters(x)
    stored = numerics.dynamic_storage(x, scale, zero_point)
    assert 0 <= zero_point <= 255
    assert ((stored >= 0) & (stored <= 255)).all()
    if np.isfinite(scale) and scale > 1e-36 and np.isfinite(x).all():
        back = (stored - zero_point) * np.float64(scale)
        assert (np.abs(back - x) <= 1.01 * np.float64(scale)).all()


def test_what_onnx_runtime_computes() -> None:
    """DynamicQuantizeLSTM of ONNX Runtime 1.32.0 for these operands, whose functions are approximations."""
    arrays, types = network(3, 1, 4, 2, seed=4)
    y, _, cell = both("dynamic_lstm", arrays, types)
    np.testing.assert_allclose(y[:, 0], ONNX_RUNTIME[0], atol=2e-6)
    np.testing.assert_allclose(cell[0], ONNX_RUNTIME[1], atol=2e-6)


ONNX_RUNTIME = (
    [[-0.3013905287, -0.1980138868], [-0.1862235814, -0.0137070855], [-0.3314967752, 0.1614855081]],
    [-0.4090976119, 0.5996977687],
)


def changed(index: int, t: TensorType) -> list[TensorType]:
    return [t if i == index else given for i, given in enumerate(network(2, 1, 3, 4)[1])]


WEIGHT = UniformType("i8", "f32", 0.5)
REFUSED: list[tuple[list[TensorType], str]] = [
    (changed(0, tensor((2, 1, 3), WEIGHT)), "'x' must have elements of f32, got"),
    (changed(1, TensorType((3, 16), F32)), "'w' must be a tensor of !quant.uniform, got tensor<3x16xf32>"),
    (changed(1, tensor((3, 16), UniformType("i16", "f32", 0.5))),
     "'w' must have a type with storage i8 or u8, expressed type f32, zero points in its range, and scales per "
         "layer or axis 1, got"),
    (changed(2, tensor((4, 16), UniformType("i8", "f32", [0.5] * 4, axis=0))),
     "'r' must have a type with storage i8 or u8, expressed type f32, zero points in its range, and scales per "
         "layer or axis 1, got"),
    (changed(2, tensor((4, 16), UniformType("i8", "f16", 0.5))), (
        "'r' must have a type with storage i8 or u8, expressed type f32, zero points in its range, and scales per "
            "layer or axis 1, got"
    )),
    (changed(1, tensor((4, 16), WEIGHT)), "'w' must have the shape [3, 16], got [4, 16]"),
    (changed(3, TensorType((15,), F32)), "'bias' must have the shape [16], got [15]"),
    (changed(4, TensorType((2, 4), F32)), "'hidden' must have the shape [1, 4], got [2, 4]"),
    (changed(0, TensorType((2, 3), F32)), "'x' must have rank 3, got rank 2"),
]  # fmt: skip


@pytest.mark.parametrize(("types", "message"), REFUSED)
def test_refuses(types: Sequence[TensorType], message: str) -> None:
    family: Any = FAMILIES["dynamic_lstm"]
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        family.resolve_all(tuple(types), family.complete({}))
    assert str(raised.value).startswith("dynamic_lstm")


def test_zero_points_of_the_storage_alone() -> None:
    """Sums of 32 bits rely on it."""
    given: dict[str, Any] = {"rows": 1, "depth": 1, "columns": 1, "w": "i8", "w_scales": np.ones(1, np.float32)}
    with pytest.raises(KernelError, match=re.escape("dynamic_matmul: w_zero_points must be from -128 to 127")):
        bind_dynamic_matmul(isa="ref", w_zero_points=np.array([128], np.int32), **given)


@pytest.mark.parametrize("isa", kernels.available())
def test_functions_in_vectors(isa: str) -> None:
    """Numbers of all magnitudes and NaNs as gates and as cells: the scalar functions' bits."""
    rng, cells = np.random.default_rng(31), 37
    bits = rng.integers(0, 1 << 32, (40, 6 * cells), np.uint32).view(np.float32)
    bits[20:] = rng.normal(0, 4, bits[20:].shape)
    columns: dict[str, Any] = {f"{name}_zero_points": np.zeros(4 * cells, np.int32) for name in "wr"}
    columns |= {f"{name}_scales": np.ones(4 * cells, np.float32) for name in "wr"}
    r = np.zeros((cells, 4 * cells), np.int8)
    given: dict[str, Any] = {
        "steps": 1,
        "batch": 1,
        "inputs": 0,
        "cells": cells,
        "reverse": False,
        "w": "i8",
        "r": "i8",
    }
    calls = [bind_dynamic_lstm(isa=name, **given, **columns, r_constant=r) for name in ("ref", isa)]
    w, x = np.empty((0, 4 * cells), np.int8), np.empty((1, 1, 0), np.float32)
    for row in bits:
        made = []
        for call in calls:
            results = [np.empty((1, 1, cells), np.float32), *(np.empty((1, cells), np.float32) for _ in range(2))]
            call(x, w, row[: 4 * cells].copy(), row[4 * cells : 5 * cells].reshape(1, -1).copy(),
                 row[5 * cells :].reshape(1, -1).copy(), *results)  # fmt: skip
            made.append(np.concatenate([each.ravel() for each in results]).view(np.uint32))
        np.testing.assert_array_equal(*made)


@pytest.mark.parametrize("depth", [33025, 33026])
@pytest.mark.parametrize(("storage", "low", "high"), [("i8", -128, 127), ("u8", 0, 255)])
def test_sums_of_the_greatest_products(storage: str, low: int, high: int, depth: int) -> None:
    """255 * 255 everywhere: up to a depth of 33025 the sum fits 31 bits. With constant weights and others."""
    x, w = np.ones((2, depth), np.float32), np.full((depth, 2), high, "int8" if low else "uint8")
    x[1] = -1  # with the zero point in the middle, of another sign
    w[:, 1] = low
    t = UniformType(storage, "f32", [0.1, 0.3], [low, high], axis=1)
    check_kernels("dynamic_matmul", [x[:1], w], [tensor((1, depth), F32), tensor(w.shape, t)], None, [(), (1,)])
    check_kernels("dynamic_matmul", [x, w], [tensor(x.shape, F32), tensor(w.shape, t)], None, [(), (1,)])
