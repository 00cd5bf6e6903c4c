"""Tensors of more dimensions than NumPy's older functions take, up to the 64 that an array has. Hazards: a RuntimeError
of NumPy's instead of a result, or of an error that names the limit."""

import numpy as np
import pytest

import qrt
from qrt.errors import QuantError

TYPES = ("!quant.uniform<i8:f32, 0.5:3>", "!quant.uniform<i8:f32:{axis}, {{0.5, 0.25, 1.0}}>")
RESULTS = {
    "sum along an axis": lambda q: np.sum(q, axis=-2),
    "where": lambda q: np.where(np.ones(q.shape, bool), q, q),
    "greatest": lambda q: np.max(q, axis=-2),
    "requantize": lambda q: qrt.requantize(q, qrt.parse_type("!quant.uniform<i8:f32, 0.25>")),
    "concatenate": lambda q: np.concatenate([q, q], axis=-2),
    "compare": lambda q: q < 1.0,
    "cumsum": lambda q: np.cumsum(q, axis=-2),
    "mean": lambda q: np.mean(q, axis=-2),
    "isclose": lambda q: np.isclose(q, q),
    "compare types": lambda q: q == q * 2,
}
LIMITED = {
    "add": lambda q: q + q,
    "mean": lambda q: qrt.mean(q, -2),
    "sort": lambda q: np.sort(q, axis=-2),
    "argsort": lambda q: np.argsort(q, axis=-2),
    "partition": lambda q: np.partition(q, 0, axis=-2),
    "select": lambda q: np.select([np.ones(q.shape, bool)], [q], q),
}
VALUES = np.array([[0, 0.5, 1], [1, 0.25, 2]], np.float32)


def _tensor(rank, text):
    return qrt.quantize(VALUES.reshape((1,) * (rank - 2) + (2, 3)), qrt.parse_type(text.format(axis=rank - 1)))


@pytest.mark.parametrize("text", TYPES, ids=["per layer", "per axis"])
@pytest.mark.parametrize("rank", [33, 40, 64])
@pytest.mark.parametrize("name", RESULTS)
def test_results_are_those_of_two_dimensions(name, rank, text):
    high, low = RESULTS[name](_tensor(rank, text)), RESULTS[name](_tensor(2, text))
    np.testing.assert_array_equal(np.asarray(high).ravel(), np.asarray(low).ravel())


@pytest.mark.parametrize("text", TYPES, ids=["per layer", "per axis"])
@pytest.mark.parametrize("rank", [33, 40, 64])
@pytest.mark.parametrize("name", LIMITED)
def test_limits_are_named(name, rank, text):
    with pytest.raises(QuantError, match=r"must have at most 31 dimensions|expected at most 32 dimensions, got"):
        LIMITED[name](_tensor(rank, text))


def test_matrices_of_any_rank():
    q, low = _tensor(64, TYPES[0]), _tensor(2, TYPES[0])
    np.testing.assert_array_equal(np.asarray(q @ np.swapaxes(q, -1, -2)).ravel(), np.asarray(low @ low.T).ravel())
    with pytest.raises(
        QuantError, match=r"mul: a shape must have at most 31 dimensions and 2\*\*40 elements, got \(1, 1, 1"
    ):
        q * q
