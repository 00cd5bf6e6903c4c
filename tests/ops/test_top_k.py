"""top_k, on every kernel. Hazards: equals at the place where the list is cut, NaNs, a k of 0 and of all, types whose
stored values do not compare."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt.errors import QuantError, QuantTypeError
from qrt.ops import FAMILIES
from qrt.ops.core import element_dtype, static_shape
from qrt.types import FloatType, IntegerType, TensorType, Type
from tests.ops.harness import Array, tensor
from tests.ops.strategies import generators, shapes, storage_of, uniform_types
from tests.ops.test_movement import T, channels

FAMILY = FAMILIES["top_k"]


def check(x: Array, element: Type, k: int) -> None:
    """Against a sort of (element, number) by Python, on every ISA."""
    t = (tensor(x.shape, element),)
    results = FAMILY.resolve_all(t, {"k": k})
    expected = np.empty((2, *static_shape(results[0], "top_k")), np.float64)
    for at in np.ndindex(*x.shape[:-1]):
        line = x[at].astype(np.float64)
        order = sorted(
            range(line.size), key=lambda i: (not np.isnan(line[i]), -line[i] if line[i] == line[i] else 0, i)
        )
        expected[(0, *at)], expected[(1, *at)] = line[order[:k]], order[:k]
    for one, values in zip(FAMILY.compute([x], t, results, {"k": k}), expected, strict=True):
        np.testing.assert_array_equal(one.astype(np.float64), values)
    for isa in qrt.kernels.available():
        with qrt.kernels.use(isa):
            call, _ = FAMILY.call(t, results, {"k": k})
        outs = [np.full(expected.shape[1:], 85, element_dtype(r.element)) for r in results]
        call(x, *outs)
        for one, values in zip(outs, expected, strict=True):
            np.testing.assert_array_equal(one.astype(np.float64), values)


@given(st.data(), generators(), uniform_types(), st.integers(1, 3).flatmap(lambda rank: shapes(rank, 9)))
def test_drawn(data: st.DataObject, rng: np.random.Generator, t: Any, shape: tuple[int, ...]) -> None:
    x = storage_of(t, shape, rng)
    if x.size and data.draw(st.booleans()):
        x = rng.choice(x.ravel()[:2], shape)
    check(x, t, data.draw(st.integers(0, shape[-1])))


@pytest.mark.parametrize("element", [IntegerType(8), IntegerType(32), IntegerType(64), FloatType("f32")], ids=str)
@pytest.mark.parametrize("k", [1, 40, 300])
def test_long_lines(element: Type, k: int) -> None:
    check(np.random.default_rng(k).integers(-60, 60, (2, 300)).astype(element_dtype(element)), element, k)


@pytest.mark.parametrize("form", ["f16", "f32", "f64"])
def test_nans_come_first(form: str) -> None:
    check(
        np.array([1, np.nan, np.inf, np.nan, -0.0, 0.0, -np.inf]).astype(form.replace("f", "float")), FloatType(form), 6
    )


X = tensor((2, 3), T)
REFUSED: list[tuple[TensorType, dict[str, Any], str]] = [
    (tensor((), T), {"k": 1}, "'x' must have rank 1 or more, got rank 0"),
    (X, {"k": 4}, "'k' must be an integer from 0 to 3, got 4"),
    (X, {"k": -1}, "'k' must be an integer from 0 to 3, got -1"),
    (X, {"k": 1.0}, "'k' must be an integer from 0 to 3, got 1.0"),
    (tensor((2, 2**31), T), {"k": 1}, "the last axis of 'x' must have a size below 2**31, got tensor<2x2147483648x"),
    (
        tensor((2, 3), channels(T, 3, 1)),
        {"k": 1},
        "values along axis 1 of 'x' cannot be compared, because the channels of",
    ),
]


@pytest.mark.parametrize(("x", "attributes", "message"), REFUSED)
def test_refuses(x: TensorType, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        FAMILY.resolve_all((x,), attributes)
    assert str(raised.value).startswith("top_k")


def test_a_size_that_only_the_run_knows() -> None:
    """A list that is shorter than k is an error, whatever else the run knows."""
    text = """func.func @main(%x: tensor<2x?xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
      %y:2 = qrt.top_k %x {k = 3 : i64} : (tensor<2x?xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
      return %y#0, %y#1 : tensor<2x3xf32>, tensor<2x3xi32>
    }"""
    x = np.float32([[1, 3, 2, 3], [0, np.nan, -0.0, 5]])
    for passes in ("", "lower-qrt,"):
        program = qrt.compile(qrt.ir.run_passes(qrt.ir.parse(text), f"{passes}canonicalize"))
        for interpret in (False, True):
            _, places = program.run({"arg0": x}, interpret=interpret).values()
            assert np.asarray(places).tolist() == [[1, 3, 2], [1, 3, 0]]
            with pytest.raises(QuantError, match=r"top_k.*'k'.* 3"):
                program.run({"arg0": x[:, :2]}, interpret=interpret)
