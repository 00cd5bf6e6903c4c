"""reshape, transpose, concat: storage moves and the channels move with it, on every kernel."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt.errors import QuantTypeError
from qrt.ops import FAMILIES
from qrt.ops.core import element_dtype, parameters_of
from qrt.ops.movement import transposed_element
from qrt.types import FloatType, IntegerType, TensorType, Type, UniformType
from tests.ops import naive
from tests.ops.harness import Array, check_kernels, infer, tensor
from tests.ops.strategies import generators, maybe_per_axis, shapes, storage_of, uniform_types

T = UniformType("i8", "f32", 0.5, 3)


def channels(t: UniformType, count: int, axis: int) -> UniformType:
    return t.with_(scales=[t.scale * (1 + i / 5) for i in range(count)], zero_points=list(range(count)), axis=axis)


def blocked(shape: tuple[int, ...], blocks: dict[int, int]) -> UniformType:
    counts = [d // blocks[i] if i in blocks else 1 for i, d in enumerate(shape)]
    scales = (np.arange(np.prod(counts)) + 1.0).reshape(counts)
    return UniformType("i8", "f32", scales.tolist(), scales.astype(int).tolist(), block_sizes=blocks)


def scales_of(t: UniformType, shape: tuple[int, ...]) -> np.ndarray:
    """The scale of every element: what must move with the storage."""
    return np.broadcast_to(parameters_of(t, shape)[0], shape)


# ----------------------------------------------------------------------------------------------------------- transpose


@given(st.data(), generators(), st.integers(0, 4).flatmap(lambda rank: shapes(rank, 5)))
def test_transpose_drawn(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    permutation = tuple(data.draw(st.permutations(range(len(shape)))))
    axis = data.draw(st.integers(0, max(len(shape) - 1, 0)))
    t = data.draw(maybe_per_axis(shape[axis] if shape else 0, axis))
    q, types = storage_of(t, shape, rng), [tensor(shape, t)]
    got = check_kernels("transpose", [q], types, permutation=permutation)
    np.testing.assert_array_equal(got, q.transpose(permutation))
    element = infer("transpose", types, permutation=permutation).element
    assert isinstance(element, UniformType)
    np.testing.assert_array_equal(scales_of(element, got.shape), scales_of(t, shape).transpose(permutation))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("permutation", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (1, 0, 2), None])
def test_transpose_moves_channels(axis: int, permutation: tuple[int, ...] | None) -> None:
    """A cycle of three axes tells a permutation from its inverse."""
    shape = (2, 3, 4)
    t = channels(T, shape[axis], axis)
    q = storage_of(t, shape, np.random.default_rng(1))
    got = check_kernels("transpose", [q], [tensor(shape, t)], permutation=permutation)
    element = infer("transpose", [tensor(shape, t)], permutation=permutation).element
    assert isinstance(element, UniformType)
    np.testing.assert_array_equal(got, q.transpose(permutation))
    np.testing.assert_array_equal(scales_of(element, got.shape), scales_of(t, shape).transpose(permutation))


@pytest.mark.parametrize("permutation", [(0, 1, 2), (2, 0, 1), (1, 0, 2), None])
def test_transpose_moves_blocks(permutation: tuple[int, ...] | None) -> None:
    t = blocked((2, 4, 6), {1: 2, 2: 3})
    q = storage_of(t, (2, 4, 6), np.random.default_rng(1))
    got = check_kernels("transpose", [q], [tensor(q.shape, t)], permutation=permutation)
    element = infer("transpose", [tensor(q.shape, t)], permutation=permutation).element
    assert isinstance(element, UniformType)
    np.testing.assert_array_equal(scales_of(element, got.shape), scales_of(t, q.shape).transpose(permutation))


def test_transposing_twice_gives_the_type_back() -> None:
    t = blocked((2, 4, 6), {1: 2, 2: 3})
    assert transposed_element(transposed_element(t, (2, 0, 1)), (1, 2, 0)) == t


# ------------------------------------------------------------------------------------------------------------- reshape


@pytest.mark.parametrize(
    ("old", "axis", "new", "new_axis"),
    [
        ((2, 3, 4), 1, (2, 3, 2, 2), 1),
        ((2, 3, 4), 1, (1, 2, 3, 4), 2),
        ((2, 3, 4), 2, (6, 4), 1),
        ((2, 3, 4), 0, (2, 12), 0),
        ((4, 2, 2), 1, (2, 2, 2, 2), 2),  # not the first axis of that size
        ((2, 2, 2), 1, (2, 2, 2, 1), 1),
        ((3,), 0, (1, 3, 1), 1),
        ((4, 4, 4, 0), 1, (4, 4, 0), 1),  # no element: the counts on both sides say which
        ((1, 1), 0, (1, 1), 1),  # one channel stands on any axis of 1, also where the shape stays
        ((1, 2, 1), 2, (1, 2, 1), 0),
        ((0, 3), 1, (3, 0), None),
        ((2, 3), 1, (3, 2), None),
        ((2, 3), 1, (6,), None),
        ((4, 6), 1, (4, 2, 3), None),
    ],
)
def test_reshape_keeps_the_channel_axis(
    old: tuple[int, ...], axis: int, new: tuple[int, ...], new_axis: int | None
) -> None:
    t = channels(T, old[axis], axis)
    q = storage_of(t, old, np.random.default_rng(2))
    if new_axis is None:
        with pytest.raises(
            QuantTypeError, match=re.escape(f"got a reshape from {list(old)} to {list(new)}: requantize")
        ):
            infer("reshape", [tensor(old, t)], tensor(new, t))
        return
    element = t.with_(axis=new_axis)
    got = check_kernels("reshape", [q], [tensor(old, t)], tensor(new, element))
    np.testing.assert_array_equal(got, q.reshape(new))
    np.testing.assert_array_equal(scales_of(element, new), scales_of(t, old).reshape(new))


def test_reshape_says_where_open_dimensions_come_from() -> None:
    """Two open sizes may go together in several ways; a size of 0 leaves nothing to divide."""
    x, wanted = tensor((2, 6, 4), T), tensor((None, 1, None, 2, None), T)
    assert infer("reshape", [x], wanted, open_axes=[0, 1, -1]).shape == (2, 1, 6, 2, 2)
    assert infer("reshape", [x], tensor((None, None), T), open_axes=[-1, 2]).shape == (12, 4)
    assert infer("reshape", [tensor((2, 0, 4), T)], tensor((None, None, 4), T), open_axes=[0, 1]).shape == (2, 0, 4)
    open_x = tensor((None, None, 4), T)
    assert infer("reshape", [open_x], wanted, open_axes=[0, 1, -1]).shape == wanted.shape
    for axes, message in (
        ([0], r"'open_axes' must have one axis of 'q' for each of the 3 dynamic dimensions of the result, got \[0\]"),
        ([0, -1, -1], r"'open_axes' must have axes from 0 to 2, or -1 once, got \[0, -1, -1\]"),
        ([0, 3, -1], r"'open_axes' must have axes from 0 to 2, or -1 once, got \[0, 3, -1\]"),
        ([0, -2, 1], r"'open_axes' must have axes from 0 to 2, or -1 once, got \[0, -2, 1\]"),
        ([1, 1, 2], r"the result must have as many elements as tensor<2x6x4x.*got the shape \[6, 1, 6, 2, 4\]"),
    ):  # fmt: skip
        with pytest.raises(QuantTypeError, match=message):
            infer("reshape", [x], wanted, open_axes=axes)


@pytest.mark.parametrize("axes", ["[0, 1]", "[0, -1]"])
def test_reshape_is_lowered_with_open_dimensions(axes: str) -> None:
    q = "!quant.uniform<i8:f32, 0.5>"
    module = qrt.ir.parse(f"""func.func @main(%x: tensor<?x?x3x{q}>) -> tensor<?x1x?x3x{q}> {{
      %y = qrt.reshape %x {{open_axes = {axes}}} : (tensor<?x?x3x{q}>) -> tensor<?x1x?x3x{q}>
      return %y : tensor<?x1x?x3x{q}>
    }}""")
    x = np.arange(-12, 12, dtype=np.int8).reshape(2, 4, 3)
    for lowered in (False, True):
        if lowered:
            qrt.ir.run_passes(module, "lower-qrt")
        for array in (x, x[:, :0], x[:0]):
            if 0 in array.shape and "-1" in axes:
                continue
            (y,) = qrt.compile(module).run({"arg0": array}).values()
            np.testing.assert_array_equal(y.storage, array.reshape(array.shape[0], 1, array.shape[1], 3))


def test_reshape_computes_the_dynamic_dimension() -> None:
    assert infer("reshape", [tensor((4, 6), T)], tensor((None, 8), T)).shape == (3, 8)
    assert infer("reshape", [tensor((None, 6), T)], tensor((None, 3), T)).shape == (None, 3)
    assert infer("reshape", [tensor((0, 6), T)], tensor((None, 3), T)).shape == (0, 3)


# -------------------------------------------------------------------------------------------------------------- concat


@given(st.data(), generators(), st.integers(1, 3).flatmap(lambda rank: shapes(rank, 4)))
def test_concat_drawn(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    """Operands of any types, requantized to the result's, along any axis; empty ones too."""
    axis = data.draw(st.integers(0, len(shape) - 1))
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    operands = [tuple(size if d == axis else n for d, n in enumerate(shape)) for size in sizes]
    scales = st.floats(0.01, 10.0)
    types = []
    for own in operands:
        d = data.draw(st.integers(0, len(own) - 1))
        types.append(data.draw(maybe_per_axis(own[d], d, scales=scales)))
    out_shape = tuple(sum(sizes) if d == axis else n for d, n in enumerate(shape))
    d = data.draw(st.integers(0, len(shape) - 1))
    out = data.draw(maybe_per_axis(out_shape[d], d, scales=scales))
    arrays = [storage_of(t, own, rng) for t, own in zip(types, operands, strict=True)]
    got = check_kernels(
        "concat", arrays, [tensor(own, t) for own, t in zip(operands, types, strict=True)], out, axis=axis
    )
    np.testing.assert_array_equal(got, naive.concat(arrays, types, out, "fixed", axis))


@given(uniform_types(), st.integers(-2, 1), generators())
def test_concat_of_one_type_moves_storage(t: UniformType, axis: int, rng: np.random.Generator) -> None:
    sizes = [(2, 3), (2, 3), (2, 3)]
    arrays = [storage_of(t, size, rng) for size in sizes]
    got = check_kernels("concat", arrays, [tensor(size, t) for size in sizes], axis=axis)
    np.testing.assert_array_equal(got, np.concatenate(arrays, axis))


def test_concat_joins_channels() -> None:
    a, b = channels(T, 2, 1), channels(T.with_(scales=0.1), 3, 1)
    arrays = [storage_of(t, (4, n), np.random.default_rng(3)) for t, n in ((a, 2), (b, 3))]
    types = [tensor((4, 2), a), tensor((4, 3), b)]
    got = check_kernels("concat", arrays, types, axis=-1)
    np.testing.assert_array_equal(got, np.concatenate(arrays, 1))
    assert infer("concat", types, axis=1).element == a.with_(
        scales=a.scales + b.scales, zero_points=a.zero_points + b.zero_points
    )


@pytest.mark.parametrize("sizes", [(0, 2), (2, 0), (1, 0, 1), (0, 0)])
def test_concat_of_parts_without_a_channel(sizes: tuple[int, ...]) -> None:
    """Such a part has none of the result's scales, and a type has at least one."""
    out = channels(T.with_(scales=0.1), sum(sizes), 1) if sum(sizes) else T
    arrays = [storage_of(T, (3, n), np.random.default_rng(3)) for n in sizes]
    types = [tensor(array.shape, T) for array in arrays]
    got = check_kernels("concat", arrays, types, out, axis=1)
    np.testing.assert_array_equal(got, naive.concat(arrays, [T] * len(sizes), out, "fixed", 1))


def test_concat_of_more_operands_than_one_kernel_takes() -> None:
    arrays = [np.full((1, 2), i, np.int8) for i in range(40)]
    got = check_kernels("concat", arrays, [tensor((1, 2), T)] * 40)
    assert got[:, 1].tolist() == list(range(40))


def test_concat_of_dynamic_dimensions() -> None:
    assert infer("concat", [tensor((None, 3), T), tensor((2, None), T)], axis=0).shape == (None, 3)
    assert infer("concat", [tensor((None, 3), T), tensor((2, 4), T)], axis=1).shape == (2, 7)


# ------------------------------------------------------------------------------------------------------------- refusals

F32 = FloatType("f32")
XT = tensor((2, 3), T)
# ------------------------------------------------------------------------------------------------- other element types

ANY_ELEMENT = [*map(IntegerType, (1, 8, 16, 32, 64)), *map(FloatType, ("f16", "bf16", "f32", "f64"))]


@pytest.mark.parametrize("element", ANY_ELEMENT, ids=str)
def test_elements_of_any_type_move(element: Type) -> None:
    """Every bit pattern, NaNs included, is as it was."""
    dtype = element_dtype(element)
    bits = np.random.default_rng(4).integers(0, 2 if dtype.kind == "b" else 256, (3, 4, 5 * dtype.itemsize), np.uint8)
    x, whole = bits.view(dtype), tensor((3, 4, 5), element)
    cases: list[tuple[str, list[Array], Any, dict[str, Any], Array]] = [
        ("transpose", [x], None, {"permutation": (2, 0, 1)}, x.transpose(2, 0, 1)),
        ("reshape", [x], tensor((5, 12), element), {}, x.reshape(5, 12)),
        ("concat", [x, x], None, {"axis": 1}, np.concatenate([x, x], 1)),
        ("pad", [x], None, {"padding": ((1, 0), (0, 2), (0, 0)), "value": 1}, np.pad(x, ((1, 0), (0, 2), (0, 0)),
                                                                                  constant_values=x.dtype.type(1))),
    ]  # fmt: skip
    for name, arrays, out, attributes, expected in cases:
        with np.errstate(invalid="ignore"):
            got = check_kernels(name, arrays, [whole] * len(arrays), out, **attributes)
        assert got.tobytes() == np.ascontiguousarray(expected).tobytes(), name


REFUSED: list[tuple[str, list[TensorType], Any, dict[str, Any], str]] = [
    ("transpose", [tensor((2, 3), F32)], T, {}, "the result must have the element type f32, got !quant"),
    ("transpose", [XT], F32, {}, "the result must be a tensor of !quant.uniform, got tensor<*xf32>"),
    ("transpose", [tensor(None, T)], None, {}, "'q' must be a ranked tensor, got tensor<*x"),
    ("transpose", [XT], None, {"permutation": (0, 0)}, "'permutation' must have each of the 2 axes once, got (0, 0)"),
    ("transpose", [XT], None, {"permutation": (0,)}, "'permutation' must have each of the 2 axes once, got (0,)"),
    ("transpose", [XT], None, {"permutation": (-1, 0)}, "'permutation' must have each of the 2 axes once, got (-1, "
        "0)"),
    ("transpose", [XT], T.with_(scales=1.0), {}, "the result must have the type of the operand"),
    ("reshape", [XT], None, {}, "the result type must be a ranked tensor type, got none"),
    ("reshape", [XT], T, {}, "the result type must be a ranked tensor type, got tensor<*x"),
    ("reshape", [XT], tensor((4,), T), {}, "5.000000e-01:3>>, got the shape [4]"),
    ("reshape", [XT], tensor((None, 4), T), {}, "5.000000e-01:3>>, got the shape [None, 4]"),
    ("reshape", [XT], tensor((None, None), T), {}, "5.000000e-01:3>>, got the shape [None, None]"),
    ("reshape", [XT], tensor((6,), T.with_(scales=1.0)), {}, "the result must have the type of the operand"),
    ("reshape", [tensor((2, 3), F32)], tensor((6,), T), {}, "the result must have the element type f32"),
    ("reshape", [tensor((4, 6), blocked((4, 6), {0: 2}))], tensor((24,), T), {}, "the result must keep the "
        "channel axis of"),
    ("concat", [], None, {}, "concat: expected 1 or more operands (tensors), got 0"),
    ("concat", [XT, tensor((2, 3), F32)], None, {}, (
        "all operands must have quantized types or the same element type, got "
        "!quant.uniform<i8:f32, 5.000000e-01:3> and f32"
    )),
    ("concat", [tensor((2, 3), F32)] * 2, T, {}, "the result must have the element type f32"),
    ("concat", [XT], None, {"axis": 2}, "'axis' must be in [-2, 1] for rank 2, got 2"),
    ("concat", [XT], None, {"axis": -3}, "'axis' must be in [-2, 1] for rank 2, got -3"),
    ("concat", [XT], None, {"axis": None}, "'axis' must be an integer, got None"),
    ("concat", [tensor((), T)], None, {}, "the first operand must have rank 1 or more, got tensor<"),
    ("concat", [XT, tensor((3,), T)], None, {}, "all operands must have the same rank"),
    ("concat", [XT, tensor(None, T)], None, {}, "all operands must have the same rank"),
    ("concat", [XT, tensor((2, 4), T)], None, {}, "all operands must have the same size along axis 1, got 3 and 4"),
    ("concat", [XT, tensor((2, 3), T.with_(scales=1.0))], None, {},
     "no exact result type exists for operands of different types: give out_type, as in qrt.concat(tensors, axis, "
         "out_type=t)"),
    ("concat", [XT, tensor((2, 3), T.with_(expressed="f16"))], T, {}, "the same expressed type, got f16 and f32"),
    ("concat", [tensor((2, 3), channels(T, 2, 0)), XT], None, {},
     "no exact result type exists for operands of different types: give out_type, as in qrt.concat(tensors, axis, "
         "out_type=t)"),
    ("concat", [XT, XT], channels(T, 3, 0), {}, "dimension 0 has size 4, the type has 3 scales"),
    ("concat", [XT, XT], None, {"requant": "none"}, "'requant' must be one of fixed"),
    ("concat", [tensor((2, 4), blocked((2, 4), {1: 2}))] * 2, None, {}, "operand 0 must have a type per layer or "
        "per axis, got the sub-channel type"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "types", "out", "attributes", "message"), REFUSED)
def test_refuses(op: str, types: list[TensorType], out: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer(op, types, out, **attributes)
    assert str(raised.value).startswith(op)


@pytest.mark.parametrize(
    ("shape", "permutation", "is_view"),
    [((1, 3, 4), (1, 0, 2), True), ((2, 1, 4), (0, 2, 1), True), ((2, 3), (1, 0), False), ((1, 1), (1, 0), True)],
)
def test_a_transpose_of_axes_of_one_is_a_view(
    shape: tuple[int, ...], permutation: tuple[int, ...], is_view: bool
) -> None:
    family, x = FAMILIES["transpose"], tensor(shape, T)
    attributes = {"permutation": permutation}
    result = infer("transpose", [x], **attributes)
    assert family.view_offset((x,), result, attributes) == (0 if is_view else None)
