"""Functions that join tensors, choose between them, fill and write them. Hazards: a number at another's scale, channels
joined that are not the same, a zero that is none."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError
from tests.tensor.protocol.exact import Call, assert_moves, parameters, tensors

PER_AXIS = UniformType("i8", "f32", [0.5, 1.0], [0, 1], axis=0)
BLOCKS = UniformType("i8", "f32", [[0.5, 1.0]], [[0, 1]], block_sizes={0: 2, 1: 2})
LAYER = UniformType("i8", "f32", 0.5)

# --------------------------------------------------------------------------------------------------- joins and choices


@settings(max_examples=2 * settings().max_examples)
@given(st.data(), st.sampled_from(["concatenate", "stack", "where", "select", "choose", "append", "named"]))
def test_joins_as_numpy_joins_exact_values(data: st.DataObject, name: str) -> None:
    q = data.draw(tensors())
    axis, random = data.draw(st.integers(-q.ndim - 1, q.ndim)), np.random.default_rng(data.draw(st.integers(0, 9)))
    held = random.integers(0, 2, q.shape).astype(bool)

    def both(x: Any) -> tuple[Any, Any]:
        return x, (x[..., ::-1] if x.ndim and q.type.is_per_layer else x)

    named = data.draw(st.sampled_from([np.vstack, np.hstack, np.dstack, np.column_stack]))
    calls: dict[str, Call] = {
        "concatenate": lambda x: np.concatenate(both(x), axis),
        "stack": lambda x: np.stack(both(x), axis),
        "where": lambda x: np.where(held, *both(x)),
        "select": lambda x: np.select([held, ~held], both(x)),
        "choose": lambda x: np.choose(held.astype(int), both(x)),
        "append": lambda x: np.append(*both(x), axis),
        "named": lambda x: named(both(x)),
    }
    assert_moves(calls[name], q, follows=False)


def test_channels_and_blocks_are_joined() -> None:
    q = QuantTensor([[1, 2], [3, 4]], PER_AXIS)
    assert np.concatenate([q, q[::-1]]).type == PER_AXIS.with_(scales=[0.5, 1, 1, 0.5], zero_points=[0, 1, 1, 0])
    assert np.concatenate([q, q], 1).type == PER_AXIS
    blocks = QuantTensor(np.arange(8).reshape(2, 4), BLOCKS)
    joined = np.concatenate([blocks, blocks], 1)
    assert joined.type == BLOCKS.with_(scales=[[0.5, 1.0] * 2], zero_points=[[0, 1] * 2])
    assert joined.storage.tolist() == [[0, 1, 2, 3] * 2, [4, 5, 6, 7] * 2]
    assert np.concatenate([blocks, blocks[:, [2, 3, 0, 1]]]).type.scales == (0.5, 1.0, 1.0, 0.5)
    with pytest.raises(QuantTypeError, match=r"np\.stack: the tensors must have the same type"):
        np.stack([blocks, blocks[:, ::-1]])


def test_numbers_among_the_choices_are_quantized() -> None:
    q = QuantTensor([[1, 2], [3, 4]], PER_AXIS)
    held = [[True, False], [False, True]]
    assert np.where(held, q, 3.0).storage.tolist() == [[1, 6], [4, 4]]
    assert np.where(held, 1e9, q).storage.tolist() == [[127, 2], [3, 127]]
    assert np.where(held, q, [[1.0], [2.0]]).storage.tolist() == [[1, 2], [3, 4]]
    assert np.select([held], [q], 2).storage.tolist() == [[1, 4], [3, 4]]
    assert np.choose([[0, 1], [1, 0]], [q, -1.0]).storage.tolist() == [[1, -2], [0, 4]]
    flat = QuantTensor([1, 2, 3], LAYER)
    assert np.append(flat, [1.0, 2.2]).storage.tolist() == [1, 2, 3, 2, 4]
    assert np.insert(flat, [0, 2], [1.0, -1.0]).storage.tolist() == [2, 1, 2, -2, 3]
    assert np.insert(q, 1, [2.0, 4.0], axis=1).storage.tolist() == [[1, 4, 2], [3, 5, 4]]
    assert np.where(q, 1, 0).tolist() == [[1, 1], [1, 1]]
    assert np.where(QuantTensor([0, 1, 2], LAYER.with_(zero_points=1)), 1, 0).tolist() == [1, 0, 1]


# --------------------------------------------------------------------------------------------------------- new elements


@settings(max_examples=2 * settings().max_examples)
@given(st.data(), st.sampled_from(["zeros", "full", "tril", "triu", "pad", "diag"]))
def test_new_elements_are_quantized(data: st.DataObject, name: str) -> None:
    """Numbers as qrt.quantize has them; zeros are zero points, or the nearest storage that the bounds allow."""
    q = data.draw(tensors())
    value, k = data.draw(st.sampled_from([0.0, 1.0, -3.7, 1e30])), data.draw(st.integers(-3, 3))
    widths = [(0, 0) if a == q.type.axis else (data.draw(st.integers(0, 2)), 1) for a in range(q.ndim)]
    zero = np.clip(q.zero_points, q.type.storage_min, q.type.storage_max)
    place = np.broadcast_to(zero.reshape(-1)[parameters(q)], q.shape)
    if name == "zeros":
        for made in (np.zeros_like(q), np.empty_like(q), np.imag(q)):
            assert made.type == q.type
            assert made.storage.tolist() == place.tolist()
    elif name == "full":
        assert np.full_like(q, value).storage.tolist() == qrt.quantize(np.full(q.shape, value), q.type).storage.tolist()
        assert np.ones_like(q).storage.tolist() == qrt.quantize(np.ones(q.shape), q.type).storage.tolist()
    elif name == "pad":
        if q.type.is_sub_channel:
            return
        made, wanted = np.pad(q, widths or 0, constant_values=value), np.pad(q.storage, widths or 0)
        is_new = np.pad(np.zeros(q.shape, bool), widths or 0, constant_values=True)
        filled = qrt.quantize(np.full(wanted.shape, value), q.type).storage
        assert made.storage.tolist() == np.where(is_new, filled, wanted).tolist()
    elif name == "diag" and q.type.is_per_layer and q.ndim == 1:
        rest = np.diag(np.ones(q.size, bool), k)
        assert np.diag(q, k).storage.tolist() == np.where(rest, np.diag(q.storage, k), zero).tolist()
    elif name in ("tril", "triu") and q.ndim > 1:
        routine = getattr(np, name)
        kept = routine(np.ones(q.shape, bool), k)
        assert routine(q, k).storage.tolist() == np.where(kept, q.storage, place).tolist()


def test_a_zero_that_is_not_representable_saturates() -> None:
    t = UniformType("i8", "f32", 0.5, 10, storage_min=-5, storage_max=5)
    q = QuantTensor([[1, 2], [3, 4]], t)
    assert np.zeros_like(q).storage.tolist() == [[5, 5], [5, 5]]
    assert np.tril(q).storage.tolist() == [[1, 5], [3, 4]]
    assert np.pad(q[0], 1).storage.tolist() == [5, 1, 2, 5]


def test_zeros_are_zero_points_where_the_cast_would_round_them() -> None:
    """A zero point of 25 bits is no float32."""
    t = UniformType("i32", "f32", 1.0, 2**24 + 1)
    assert np.zeros_like(QuantTensor([1], t)).storage.tolist() == [2**24 + 1]
    assert np.pad(QuantTensor([1], t), 1).storage.tolist() == [2**24 + 1, 1, 2**24 + 1]


def test_like_with_a_dtype_or_a_shape() -> None:
    q = QuantTensor([[1, 2], [3, 4]], PER_AXIS)
    assert np.zeros_like(q, dtype=np.int16).dtype == np.int16
    assert np.full_like(q, 2.5, dtype=np.float64).tolist() == [[2.5, 2.5]] * 2
    assert np.zeros_like(q, shape=(2, 5)).shape == (2, 5)
    with pytest.raises(QuantTypeError, match=r"np\.zeros_like: quantized dimension size does not match"):
        np.zeros_like(q, shape=(3, 2))


def test_pads_that_compute_have_no_exact_result() -> None:
    q = QuantTensor([1, 2, 4], LAYER)
    for mode in ("mean", "median", "linear_ramp"):
        with pytest.raises(QuantTypeError, match=r"np.pad has no exact result .*: write np.pad\(np.asarray\(q\)"):
            np.pad(q, 1, mode)
    assert np.pad(q, (1, 2), "maximum").storage.tolist() == [4, 1, 2, 4, 4, 4]
    assert np.pad(q, {0: (1, 0)}).storage.tolist() == [0, 1, 2, 4]


# --------------------------------------------------------------------------------------------------------------- writes


def test_routines_that_write() -> None:
    q = QuantTensor(np.zeros((2, 3), int), LAYER)
    np.put(q, [0, -1], [1.0, 2.0])
    np.copyto(q, 3.0, where=np.eye(2, 3, 1, bool))
    assert q.storage.tolist() == [[2, 6, 0], [0, 0, 6]]
    np.putmask(q, q.storage == 0, 4)
    np.place(q, q.storage == 6, [1, 2])
    np.put_along_axis(q, np.array([[0], [0]]), 5.0, 1)
    assert q.storage.tolist() == [[10, 2, 8], [10, 8, 4]]
    np.fill_diagonal(q, QuantTensor(7, LAYER))
    np.copyto(q[:, 2], QuantTensor([1, 2], LAYER))
    assert q.storage.tolist() == [[7, 2, 1], [10, 7, 2]]
    values = np.zeros((2, 3), np.float32)
    np.copyto(values, q)
    assert values.tolist() == np.asarray(q).tolist()
    np.put(values, [0], q[0, 1])
    assert values[0, 0] == 1.0


def test_writes_meet_the_scale_where_they_stand() -> None:
    q = QuantTensor(np.zeros((2, 3), int), UniformType("i4", "f32", [0.5, 1.0], [0, 1], axis=0))
    np.put(q, [0, 5], 2.0)
    np.putmask(q, [[False, True, False], [True, False, False]], np.full((2, 3), 1.0))
    assert q.storage.tolist() == [[4, 2, 0], [2, 0, 3]]
    np.copyto(q, q[:, ::-1].copy())
    assert q.storage.tolist() == [[0, 2, 4], [3, 0, 2]]
    before = q.copy()
    with pytest.raises(QuantTypeError, match=r"np\.put: elements of"):
        np.put(q, [3, 4, 5, 0, 1, 2], q)
    with pytest.raises(QuantTypeError, match=r"np\.copyto: the tensors must have the same type"):
        np.copyto(q, QuantTensor(1, LAYER))
    assert q.storage.tolist() == before.storage.tolist()
