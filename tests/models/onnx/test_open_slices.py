"""Slices whose bounds or dimensions only the run knows. Hazards: a bound that counts from the end; one beyond the end,
or before the first element; an end before the start; steps that do not divide; a quantized tensor whose integers are
taken; a part of a dynamic dimension from its end."""

from typing import Any

import numpy as np
import pytest

import qrt
from tests.models.onnx.running import has_oracle, imported, run, run_oracle
from tests.models.onnx.writing import model, node, port

LEAST, MOST = -(2**63), 2**63 - 1


def content(x: Any, steps: Any = (1, 2), kind: str = "INT64", bounds: Any = (2,), **more: Any) -> bytes:
    """A slice along both axes between bounds that are inputs."""
    dtype = np.int64 if kind == "INT64" else np.int32
    constants = {"axes": np.array([0, -1], dtype), "steps": np.array(steps, dtype)}
    inputs = [x, port("s", kind, bounds), port("e", kind, bounds)]
    made = node("Slice", ["x", "s", "e", "axes", "steps"], ["y"])
    return model([made], inputs, [port("y", more.get("result", "FLOAT"), (None, None))], constants)


def checked(file: bytes, x: Any, starts: Any, ends: Any, steps: Any) -> None:
    """Beside NumPy, whose slices by steps above 0 are ONNX's."""
    (found,) = run(file, x=x, s=starts, e=ends)
    wanted = x[tuple(slice(*map(int, each)) for each in zip(starts, ends, steps, strict=True))]
    np.testing.assert_array_equal(found, wanted)
    assert found.shape == wanted.shape
    if has_oracle():
        np.testing.assert_array_equal(found, run_oracle(file, {"x": x, "s": starts, "e": ends})[0])


@pytest.mark.parametrize("kind", ["INT32", "INT64"])
@pytest.mark.parametrize("rows", [None, 4])
def test_bounds_of_the_run(kind: str, rows: int | None) -> None:
    file, rng = content(port("x", "FLOAT", (rows, 5)), kind=kind), np.random.default_rng(1)
    for _ in range(12):
        x = rng.normal(size=(rows or rng.integers(1, 7), 5)).astype(np.float32)
        starts, ends = (rng.integers(-8, 9, 2).astype(kind.lower()) for _ in range(2))
        checked(file, x, starts, ends, (1, 2))


@pytest.mark.parametrize("starts", [(LEAST, 0), (0, LEAST), (MOST, 1)])
def test_bounds_at_the_ends_of_the_integers(starts: tuple[int, int]) -> None:
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    for ends in ((MOST, MOST), (-1, MOST), (MOST, LEAST)):
        checked(content(port("x", "FLOAT", (None, 5))), x, np.int64(starts), np.int64(ends), (1, 2))


def test_elements_that_are_no_floats() -> None:
    x = np.random.default_rng(2).integers(0, 256, (4, 5)).astype(np.uint8)
    file = content(port("x", "UINT8", (4, 5)), result="UINT8")
    checked(file, x, np.int64([1, -4]), np.int64([-1, 9]), (1, 2))


def test_a_quantized_tensor_keeps_its_type() -> None:
    constants = {"scale": np.float32(0.5), "zero": np.uint8(7), "axes": np.int64([1])}
    nodes = [
        node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        node("Slice", ["q", "s", "e", "axes"], ["part"]),
        node("DequantizeLinear", ["part", "scale", "zero"], ["y"]),
    ]
    ports = [port("x", "FLOAT", (3, 6)), port("s", "INT64", (1,)), port("e", "INT64", (1,))]
    file = model(nodes, ports, [port("y", "FLOAT", (3, None))], constants)
    x = np.random.default_rng(3).normal(size=(3, 6)).astype(np.float32)
    (found,) = run(file, x=x, s=np.int64([-5]), e=np.int64([4]))
    np.testing.assert_array_equal(found, (np.rint(x / np.float32(0.5)) * np.float32(0.5))[:, 1:4])


@pytest.mark.parametrize(("start", "end", "step"), [(0, -1, 1), (-3, MOST, 1), (1, 4, 2), (-4, -1, 2), (9, MOST, 3)])
def test_a_part_of_an_open_dimension(start: int, end: int, step: int) -> None:
    constants = {"s": np.int64([start]), "e": np.int64([end]), "a": np.int64([1]), "t": np.int64([step])}
    nodes = [node("Slice", ["x", *constants], ["part"]), node("Neg", ["part"], ["y"])]
    file = model(nodes, [port("x", "FLOAT", (2, None))], [port("y", "FLOAT", (2, None))], constants)
    for size in range(1, 7):
        x = np.arange(2 * size, dtype=np.float32).reshape(2, size)
        np.testing.assert_array_equal(run(file, x=x)[0], -x[:, start:end:step])


def test_as_many_rows_of_a_known_table_as_another_tensor_has() -> None:
    """Positions of a sentence: the bound is a size."""
    table = np.random.default_rng(4).normal(size=(9, 3)).astype(np.float32)
    constants = {"table": table, "zero": np.int64([0])}
    nodes = [
        node("Shape", ["x"], ["size"], start=0, end=1),
        node("Slice", ["table", "zero", "size", "zero"], ["rows"]),
        node("Add", ["x", "rows"], ["y"]),
    ]
    file = model(nodes, [port("x", "FLOAT", (None, 3))], [port("y", "FLOAT", (None, 3))], constants, opset=15)
    for size in (1, 4, 9):
        x = np.ones((size, 3), np.float32)
        np.testing.assert_array_equal(run(file, x=x)[0], x + table[:size])


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (content(port("x", "FLOAT", (4, 5)), steps=(1, -1)), "starts of steps backwards known only at run time"),
        (content(port("x", "FLOAT", (4, 5)), bounds=(None,)), r"bounds of shape \[None\]"),
    ],
)
def test_what_is_refused(file: bytes, message: str) -> None:
    with pytest.raises(qrt.errors.ModelError, match=message):
        imported(file)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (content(port("x", "FLOAT", (4, 5)), steps=(1, 0)), "steps must not be 0"),
        (content(port("x", "FLOAT", (4, 5)), bounds=(3,)), "must have the same length, got 3, 3, 2 and 2"),
    ],
)
def test_what_is_wrong(file: bytes, message: str) -> None:
    with pytest.raises(qrt.errors.ModelError, match=message):
        imported(file)
