"""Calls of an imported model with arrays that do not fit, or that lie in memory as few arrays do."""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt.errors import QuantError
from qrt.models.profiles import profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from qrt.ops.core import Array
from tests.models.tflite.writing import Operator, Subgraph, Tensor, write


@pytest.fixture(scope="module")
def program() -> qrt.Program:
    """Sums of int16, which have an alignment, and the storage of a quantized tensor, which passes through."""
    a = Tensor((2, 4), "int32", name="a", signature=(-1, 4))
    b = Tensor((2, 4), "int32", name="b", signature=(-1, 4))
    q, r = Tensor((1, 3), "int8", scales=0.5, name="q"), Tensor((3,), "int8", scales=0.5, name="r")
    y = Tensor((2, 4), "int32", name="y", signature=(-1, 4))
    steps = [Operator("ADD", [a, b], [y]), Operator("RESHAPE", [q], [r], {"new_shape": [3]})]
    return qrt.compile(import_model(read(write([Subgraph([a, b, q], [y, r], steps)])), profile("litert")))


def _given(**others: Any) -> dict[str, Any]:
    a, b = np.arange(8, dtype=np.int32).reshape(2, 4), np.full((2, 4), 10, np.int32)
    return {"a": a, "b": b, "q": np.int8([[1, 2, 3]]), **others}


def _sum(program: qrt.Program, given: dict[str, Any]) -> Any:
    return np.asarray(program.run(given)["y"]).tolist()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (_given(a=np.zeros((2, 4), np.float32)), "a"),
        (_given(a=np.zeros((2, 4), np.int64)), "a"),
        (_given(q=np.uint8([[1, 2, 3]])), "q"),
        (_given(a=np.zeros((2, 5), np.int32)), "a"),
        (_given(a=np.zeros(8, np.int32)), "a"),
        (_given(a=np.array([["x"] * 4] * 2)), "a"),
        (_given(a=None), "a"),
        (_given(z=np.int32(1)), "z"),
        ({"a": _given()["a"]}, "b"),
        ({}, "a"),
    ],
)
def test_arrays_of_another_type_shape_name_or_count(program: qrt.Program, given: dict[str, Any], said: str) -> None:
    with pytest.raises(QuantError, match=rf"\b{said}\b"):
        program.run(given)


def test_inputs_that_disagree_on_an_open_dimension(program: qrt.Program) -> None:
    with pytest.raises(QuantError):
        program.run(_given(b=np.zeros((3, 4), np.int32)))
    assert _sum(program, _given()) == [[10, 11, 12, 13], [14, 15, 16, 17]]  # it goes on as before


def _unaligned(array: Array) -> Array:
    found = np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape)
    assert not found.flags.aligned
    return found


def _strided(array: Array) -> Array:
    return np.repeat(array, 2, axis=1)[:, ::2]


def _backwards(array: Array) -> Array:
    return np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1]


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _fortran(array: Array) -> Array:
    return np.asfortranarray(array)


@pytest.mark.parametrize("lay", [_unaligned, _strided, _backwards, _read_only, _fortran])
def test_any_place_in_memory_gives_the_same_result(program: qrt.Program, lay: Any) -> None:
    expected = _sum(program, _given())
    assert _sum(program, _given(a=lay(_given()["a"]))) == expected
    assert _sum(program, _given(a=lay(_given()["a"]), b=lay(_given()["b"]))) == expected


def test_bound_arrays_must_be_whole_and_apart(program: qrt.Program) -> None:
    given, y = _given(), np.zeros((2, 4), np.int32)
    run = program.bind(given, {"y": y})
    run()
    assert y.tolist() == [[10, 11, 12, 13], [14, 15, 16, 17]]
    memory = np.zeros(12, np.int32)
    for wrong in (
        {"y": _read_only(y.copy())},
        {"y": given["a"]},
        {"y": y[:, ::-1]},
        {"y": y.astype(np.int64)},
        {"y": np.zeros((3, 4), np.int32)},
        {"z": y},
    ):
        with pytest.raises(QuantError):
            program.bind(given, wrong)()
    with pytest.raises(QuantError):
        program.bind({**given, "a": memory[:8].reshape(2, 4)}, {"y": memory[4:].reshape(2, 4)})
    for lay in (_unaligned, _strided):
        with pytest.raises(QuantError):
            program.bind({**given, "a": lay(given["a"])})
