"""Strided copies, slices and sub-byte packing against NumPy.

Hazards: reaching outside an operand, items of every size, negative strides, rows that do not fill a byte, signs, an
output that is an operand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt._ext.kernels import KernelCall, bind_copy, bind_pack_bits, bind_slice, bind_unpack_bits
from qrt.errors import KernelError
from tests.kernels.draws import ISAS, Storage, kernels, stored


@kernels
@given(st.data())
def test_copy_is_any_view(data: st.DataObject) -> None:
    """A transposed, strided, reversed view of the source."""
    dtype = data.draw(st.sampled_from([np.int8, np.uint16, np.float32, np.float64]))
    shape = tuple(data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=4)))
    source = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    view = source.transpose(data.draw(st.permutations(range(len(shape)))))
    for axis in range(view.ndim):
        step = data.draw(st.sampled_from([1, 2, -1]))
        view = np.moveaxis(np.moveaxis(view, axis, 0)[::step], 0, axis)
    offset = (view.__array_interface__["data"][0] - source.__array_interface__["data"][0]) // source.itemsize
    call = bind_copy(
        dtype=dtype, shapes=[view.shape], source_strides=[[s // source.itemsize for s in view.strides]],
        target_strides=[[s // source.itemsize for s in np.empty(view.shape, dtype).strides]],
        source_sizes=[source.size], target_size=view.size, source_offsets=[offset if view.size else 0],
    )  # fmt: skip
    out = np.zeros(view.shape, dtype)
    call(source, out)
    np.testing.assert_array_equal(out, view)


def test_concat_has_one_part_per_operand() -> None:
    a, b = np.arange(6, dtype=np.int16).reshape(2, 3), np.arange(8, dtype=np.int16).reshape(2, 4)
    call = bind_copy(
        dtype=np.int16, shapes=[(2, 3), (2, 4)], source_strides=[(3, 1), (4, 1)], target_strides=[(7, 1), (7, 1)],
        source_sizes=[6, 8], target_size=14, target_offsets=[0, 3],
    )  # fmt: skip
    out = np.zeros((2, 7), np.int16)
    call(a, b, out)
    np.testing.assert_array_equal(out, np.concatenate([a, b], axis=1))


def test_a_part_may_read_a_constant() -> None:
    """Operands are counted without it; stride 0 repeats its elements; it is copied when bound."""
    fill = np.int16([7, 8, 9])
    call = bind_copy(
        dtype=np.int16, shapes=[(2, 3), (2, 3)], source_strides=[(0, 1), (3, 1)], target_strides=[(3, 1), (3, 1)],
        source_sizes=[3, 6], target_size=12, target_offsets=[0, 6], constants=[fill, None],
    )  # fmt: skip
    fill[:] = 0
    out = np.zeros((4, 3), np.int16)
    call(np.arange(6, dtype=np.int16), out)
    np.testing.assert_array_equal(out, [[7, 8, 9], [7, 8, 9], [0, 1, 2], [3, 4, 5]])
    with pytest.raises(KernelError, match="copy: source 0 must be an array of 3 int16"):
        bind_copy(
            dtype=np.int16, shapes=[(3,)], source_strides=[(1,)], target_strides=[(1,)], source_sizes=[3],
            target_size=3, constants=[fill.astype(np.int8)],
        )  # fmt: skip


@pytest.mark.parametrize(
    ("stride", "offset", "message"),
    [
        ((4, 1), 0, "source 0 would access elements 0 to 6 of an array of 6"),
        ((3, -1), 0, "source 0 would access elements -2 to 3 of an array of 6"),
    ],
)
def test_a_copy_out_of_bounds_is_an_error(stride: tuple[int, int], offset: int, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        bind_copy(
            dtype=np.int8, shapes=[(2, 3)], source_strides=[stride], target_strides=[(3, 1)], source_sizes=[6],
            target_size=6, source_offsets=[offset],
        )  # fmt: skip


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("signed", [False, True])
@kernels
@given(st.integers(0, 5), st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_bits(isa: str, width: int, signed: bool, rows: int, columns: int, seed: int) -> None:
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    storage = Storage("i8" if signed else "u8", low, high)
    values = stored(np.random.default_rng(seed), storage, (rows, columns))
    bits = (values.astype(np.uint8)[..., None] >> np.arange(width)) & 1
    expected = np.packbits(bits.reshape(rows, columns * width), axis=1, bitorder="little")
    packed = np.full(expected.shape, 0xA5, np.uint8)
    bound = {"isa": isa, "storage": storage.name, "width": width, "rows": rows, "columns": columns}
    bind_pack_bits(**bound)(values, packed)
    np.testing.assert_array_equal(packed, expected)
    back = np.full_like(values, 99)
    bind_unpack_bits(**bound)(packed, back)
    np.testing.assert_array_equal(back, values)


def slice_of(**changed: Any) -> KernelCall:
    """A row of a matrix of 4 rows, at an index that is an operand."""
    given: dict[str, Any] = {
        "dtype": np.int16, "x_shape": (4, 3), "offsets": [0, 0], "sizes": [1, 3], "strides": [1, 1],
        "axes": [0],
    }  # fmt: skip
    return bind_slice(**(given | changed))


def test_a_slice_is_inserted_in_place() -> None:
    x, row = np.arange(12, dtype=np.int16).reshape(4, 3), np.int16([-1, -2, -3])
    call = slice_of(inserts=True)
    assert call.in_place == (1,)
    expected = x.copy()
    expected[2] = row
    call(row, x, np.array(2), x)
    np.testing.assert_array_equal(x, expected)


def test_a_part_of_all_elements_may_be_the_output() -> None:
    part = np.arange(3, dtype=np.int16)
    slice_of(x_shape=(1, 3), inserts=True)(part, np.zeros(3, np.int16), np.array(0), part)
    assert part.tolist() == [0, 1, 2]


@pytest.mark.parametrize("index", [-1, 4, 1 << 62, -(1 << 63)])
@pytest.mark.parametrize("inserts", [False, True])
def test_a_slice_out_of_bounds_writes_nothing(index: int, inserts: bool) -> None:
    x, out = np.ones((4, 3), np.int16), np.zeros((4, 3) if inserts else 3, np.int16)
    with pytest.raises(
        KernelError, match=f"a slice of size 1 from {index} with stride 1 exceeds dimension 0 of size 4"
    ):
        slice_of(inserts=inserts)(*([np.int16([5, 5, 5])] if inserts else []), x, np.array(index), out)
    assert not out.any()


@pytest.mark.parametrize(
    "changed",
    [
        {"offsets": [0, 1]},
        {"offsets": [4, 0]},
        {"axes": [2]},
        {"axes": [0, 0]},
        {"sizes": [5, 3]},
        {"strides": [0, 1]},
        {"sizes": [1 << 40, 3], "strides": [1 << 40, 1]},
        {"dtype": "c16"},
    ],
)
def test_slices_that_exceed_their_operand_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(KernelError, match=r"^slice: "):
        slice_of(**changed)
