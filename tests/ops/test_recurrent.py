"""lstm and svdf: near the network in floats, results of LiteRT, the state as it goes from call to call, every refusal.

Hazards: the order of gates, a zero point left out of one of two sums, an axis of time taken for that of the batch, a
state read after it was written, a cell that saturates or is clipped."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.errors import QuantTypeError
from qrt.ops import FAMILIES
from qrt.ops.core import element_dtype
from qrt.types import TensorType, UniformType
from tests.ops.harness import Array, tensor

X = UniformType("i8", "f32", 0.02, 5)
HIDDEN = UniformType("i8", "f32", 1 / 128, -9)
CELL = UniformType("i16", "f32", 2.0**-11)
OUT = UniformType("i8", "f32", 0.05, 3)


def weight(scale: float) -> UniformType:
    return UniformType("i8", "f32", scale)


def both(name: str, arrays: Sequence[Array], types: Sequence[TensorType], out: Any = None, **attributes: Any) -> Any:
    """Every result, the same by the reference and every kernel."""
    family = FAMILIES[name]
    complete = family.complete(attributes)
    declared = None if out is None else (TensorType(None, out), *[None] * (len(family.declaration.results) - 1))
    results = family.resolve_all(tuple(types), complete, declared)
    expected = family.compute(arrays, tuple(types), results, complete)
    for isa in qrt.kernels.available():
        with qrt.kernels.use(isa):
            call, is_kernel = family.call(tuple(types), results, complete)
            assert is_kernel
            made = [np.full(t.shape, 85, element_dtype(t.element)) for t in results]
            call(*arrays, *made)
        for got, wanted in zip(made, expected, strict=True):
            np.testing.assert_array_equal(got, wanted, err_msg=isa)
    return expected


def network(
    batch: int, steps: int, inputs: int, cells: int, time_major: bool = False, seed: int = 0
) -> tuple[list[Array], list[TensorType]]:
    rng = np.random.default_rng(seed)
    shape = (steps, batch, inputs) if time_major else (batch, steps, inputs)
    scales = [0.004, 0.006, 0.003, 0.005, 0.007, 0.004, 0.005, 0.006]
    arrays: list[Array] = [rng.integers(-128, 128, shape, np.int8)]
    types = [tensor(shape, X)]
    for gate in range(8):
        depth = inputs if gate < 4 else cells
        arrays.append(rng.integers(-127, 128, (cells, depth), np.int8))
        types.append(tensor((cells, depth), weight(scales[gate])))
    for gate in range(4):
        arrays.append(rng.integers(-9000, 9000, cells, np.int32))
        types.append(tensor((cells,), UniformType("i32", "f32", X.scale * scales[gate])))
    arrays += [rng.integers(-128, 128, (batch, cells), np.int8), rng.integers(-4000, 4000, (batch, cells), np.int16)]
    types += [tensor((batch, cells), HIDDEN), tensor((batch, cells), CELL)]
    return arrays, types


def floats(arrays: list[Array], types: list[TensorType], clip: float = 0.0) -> Array:
    """The hidden values of every step, in float64."""
    x, *rest = (
        (a.astype(np.float64) - t.element.zero_point) * t.element.scale for a, t in zip(arrays, types, strict=True)
    )
    w, r, b, h, c = rest[:4], rest[4:8], rest[8:12], rest[12], rest[13]
    made = []
    for step in np.moveaxis(x, 1, 0):
        i, f, g, o = (step @ w[k].T + h @ r[k].T + b[k] for k in range(4))
        i, f, o = (1 / (1 + np.exp(-v)) for v in (i, f, o))
        c = f * c + i * np.tanh(g)
        c = np.clip(c, -clip, clip) if clip else c
        h = o * np.tanh(c)
        made.append(h)
    return np.stack(made, 1)


@pytest.mark.parametrize(("batch", "steps", "inputs", "cells"), [(1, 7, 5, 3), (3, 4, 17, 16), (2, 1, 1, 1)])
@pytest.mark.parametrize("clip", [0.0, 0.5])
def test_it_is_the_network(batch: int, steps: int, inputs: int, cells: int, clip: float) -> None:
    arrays, types = network(batch, steps, inputs, cells)
    y, hidden, cell = both("lstm", arrays, types, cell_clip=clip)
    np.testing.assert_array_equal(y[:, -1], hidden)
    assert np.abs((y - HIDDEN.zero_point) * HIDDEN.scale - floats(arrays, types, clip)).max() < 0.03
    assert clip == 0 or np.abs(cell).max() * CELL.scale <= clip


def test_time_may_come_first() -> None:
    arrays, types = network(2, 5, 3, 4)
    y, *state = both("lstm", arrays, types)
    turned = [np.ascontiguousarray(arrays[0].transpose(1, 0, 2)), *arrays[1:]]
    other, *other_state = both("lstm", turned, [tensor((5, 2, 3), X), *types[1:]], time_major=True)
    np.testing.assert_array_equal(other.transpose(1, 0, 2), y)
    for a, b in zip(state, other_state, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_state_goes_on() -> None:
    """Two calls are one of twice the steps, where the result has the type of the state."""
    arrays, types = network(2, 6, 3, 4)
    y, *_ = both("lstm", arrays, types)
    half = [tensor((2, 3, 3), X), *types[1:]]
    first, hidden, cell = both("lstm", [arrays[0][:, :3].copy(), *arrays[1:]], half)
    again = [arrays[0][:, 3:].copy(), *arrays[1:13], hidden.astype(np.int8), cell.astype(np.int16)]
    np.testing.assert_array_equal(np.concatenate([first, both("lstm", again, half)[0]], axis=1), y)


def test_what_litert_computes() -> None:
    """Of LiteRT 2.3.0, by both of its resolvers, from a hidden state of zero points and a cell of 0."""
    arrays, types = network(1, 3, 5, 3, seed=4)
    arrays[13][...], arrays[14][...] = HIDDEN.zero_point, 0
    y, _, cell = both("lstm", arrays, types, OUT, cell_clip=1.0)
    assert (y.tolist(), cell.tolist()) == LITERT


LITERT = ([[[4, 2, 7], [3, 11, 8], [1, 4, 5]]], [[-365, 142, 963]])


def test_svdf() -> None:
    """Features move by a step; ranks are neighbours."""
    rng = np.random.default_rng(1)
    for batch, inputs, units, rank, memory in ((1, 5, 4, 1, 3), (2, 17, 3, 2, 8), (1, 1, 1, 1, 1), (2, 3, 2, 3, 1)):
        filters = units * rank
        arrays = [
            rng.integers(-128, 128, (batch, inputs), np.int8), rng.integers(-127, 128, (filters, inputs), np.int8),
            rng.integers(-3000, 3000, (filters, memory), np.int16),
            rng.integers(-3000, 3000, (batch, filters * memory), np.int16),
            rng.integers(-99999, 99999, units, np.int32),
        ]  # fmt: skip
        state, time = UniformType("i16", "f32", 0.001), UniformType("i16", "f32", 0.0005)
        bias = UniformType("i32", "f32", state.scale * time.scale)
        elements = (X, weight(0.01), time, state, bias)
        types = [tensor(a.shape, t) for a, t in zip(arrays, elements, strict=True)]
        for count in (4, 5):
            y, after = both("svdf", arrays[:count], types[:count], OUT, rank=rank)
            lines = arrays[3].reshape(batch, filters, memory) * state.scale
            feature = (arrays[0] - 5.0) * X.scale @ (arrays[1].T * 0.01)
            newest = np.clip(feature, -32768 * state.scale, 32767 * state.scale)
            lines = np.concatenate([lines[:, :, 1:], newest[:, :, None]], axis=2)
            assert np.abs(after.reshape(lines.shape) * state.scale - lines).max() <= state.scale
            sums = (lines * arrays[2] * time.scale).sum(axis=2).reshape(batch, units, rank).sum(axis=2)
            sums = sums + (arrays[4] * bias.scale if count == 5 else 0)
            assert np.abs(y - np.clip(sums / OUT.scale + OUT.zero_point, -128, 127)).max() <= 1.1


def lowered_results(
    name: str, arrays: Sequence[Array], types: Sequence[TensorType], options: str, out: Any = OUT, **attributes: Any
) -> Any:
    """Every result of the lowered op, interpreted."""
    family = FAMILIES[name]
    declared = None if out is None else (TensorType(None, out), *[None] * (len(family.declaration.results) - 1))
    results = family.resolve_all(tuple(types), family.complete(attributes), declared)
    said = ", ".join(f"{key} = {spelled(value)}" for key, value in attributes.items())
    operands = ", ".join(f"%{i}" for i in range(len(types)))
    listed = ", ".join(map(str, types)), ", ".join(map(str, results))
    names = ", ".join(f"%r#{i}" for i in range(len(results)))
    text = f"""func.func @main({", ".join(f"%{i}: {t}" for i, t in enumerate(types))}) -> ({listed[1]}) {{
  %r:{len(results)} = qrt.{name} {operands} {{{said}}} : ({listed[0]}) -> ({listed[1]})
  return {names} : {listed[1]}
}}"""
    module = qrt.ir.parse(text)
    qrt.ir.run_passes(module, f"lower-qrt{{{options}}}")
    assert "qrt." not in re.sub(r"qrt\\.name", "", str(module))
    program = qrt.compile(module)
    given = {port.name: array for port, array in zip(program.inputs, arrays, strict=True)}
    return [np.asarray(getattr(v, "storage", v)) for v in program.run(given, interpret=True).values()]


def spelled(value: Any) -> str:
    return (
        str(value).lower() if isinstance(value, bool) else f"{value} : {'f64' if isinstance(value, float) else 'i64'}"
    )


@pytest.mark.parametrize(("options", "time_major"), [("", False), ("to=loops", True)])
def test_lowered(options: str, time_major: bool) -> None:
    arrays, types = network(2, 3, 5, 4, time_major)
    expected = both("lstm", arrays, types, OUT, cell_clip=1.5, time_major=time_major)
    got = lowered_results("lstm", arrays, types, options, cell_clip=1.5, time_major=time_major)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    for memory, count in ((3, 4), (1, 5)):
        rng = np.random.default_rng(memory)
        arrays = [
            rng.integers(-128, 128, (2, 5), np.int8), rng.integers(-127, 128, (6, 5), np.int8),
            rng.integers(-3000, 3000, (6, memory), np.int16), rng.integers(-3000, 3000, (2, 6 * memory), np.int16),
            rng.integers(-99999, 99999, 3, np.int32),
        ][:count]  # fmt: skip
        state, time = UniformType("i16", "f32", 0.001), UniformType("i16", "f32", 0.0005)
        elements = (X, weight(0.01), time, state, UniformType("i32", "f32", state.scale * time.scale))
        types = [tensor(a.shape, t) for a, t in zip(arrays, elements, strict=False)]
        expected = both("svdf", arrays, types, OUT, rank=2)
        for a, b in zip(lowered_results("svdf", arrays, types, options, rank=2), expected, strict=True):
            np.testing.assert_array_equal(a, b)


def changed(index: int, t: TensorType) -> list[TensorType]:
    types = network(1, 2, 3, 4)[1]
    return [t if i == index else given for i, given in enumerate(types)]


REFUSED: list[tuple[list[TensorType], dict[str, Any], str]] = [
    (changed(14, tensor((1, 4), CELL.with_(scales=0.001))), {}, "the scale of 'cell' must be a power of two from "
        "2**-15 to 2**-9, got 0.001"),
    (changed(14, tensor((1, 4), CELL.with_(scales=2.0**-8))), {}, "to 2**-9, got 0.00390625"),
    (changed(14, tensor((1, 5), CELL)), {}, "'w_input' must have the shape [5, 3], got [4, 3]"),
    (changed(13, tensor((2, 4), HIDDEN)), {}, "'hidden' must have the shape [1, 4], got [2, 4]"),
    (changed(2, tensor((4, 3), X)), {}, "'w_forget' must have the type i8 per layer with zero point 0, got"),
    (changed(7, tensor((4, 3), weight(0.005))), {}, "'r_cell' must have the shape [4, 4], got [4, 3]"),
    (changed(9, tensor((4,), UniformType("i32", "f32", 0.1))), {}, "'b_input' must have the type i32 of scale 8e-05 "
        "and zero point 0, got"),
    (changed(0, tensor((1, 2, 3), CELL)), {}, "'x' must have the type i8 per layer, got"),
    (changed(0, tensor((2, 3), X)), {}, "'x' must have rank 3, got rank 2"),
    (network(1, 2, 3, 4)[1], {"cell_clip": -1.0}, "'cell_clip' must be positive and finite, or 0 for no clipping, "
        "got -1.0"),
    (network(1, 2, 3, 4)[1][:13], {}, "expected 15 operands (x, w_input, w_forget, w_cell, w_output, "
        "r_input, r_forget, r_cell"),
]  # fmt: skip


@pytest.mark.parametrize(("types", "attributes", "message"), REFUSED)
def test_refuses(types: list[TensorType], attributes: dict[str, Any], message: str) -> None:
    family = FAMILIES["lstm"]
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        family.resolve_all(tuple(types), family.complete(attributes))
    assert str(raised.value).startswith("lstm")


def test_an_output_may_not_overlap_another() -> None:
    """Two results in one array, a state that would be written while it is read, and one of the results read-only."""
    arrays, types = network(1, 1, 3, 4)
    family = FAMILIES["lstm"]
    results = family.resolve_all(tuple(types), family.complete({}))
    call, _ = family.call(tuple(types), results, family.complete({}))
    y, hidden, cell = (np.zeros(t.shape, element_dtype(t.element)) for t in results)
    shared = np.zeros(8, np.int8)
    for outputs in ((shared[:4], shared[:4], cell), (y, arrays[13], cell), (y, hidden, arrays[14])):
        with pytest.raises(qrt.errors.KernelError, match=r"the output overlaps operand 1[345]"):
            call(*arrays, *outputs)
    hidden.flags.writeable = False
    with pytest.raises(qrt.errors.KernelError, match="operand 16 must be writable, got a read-only array"):
        call(*arrays, y, hidden, cell)
