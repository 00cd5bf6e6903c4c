"""What moves, slices, joins, gathers, resizes and takes extremes, from files. Hazards: forms that a runtime refuses, a
batch that stays open, sizes that follow from constants, bits that a scale would change, a step outside the C plan."""

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.ir import Module
from qrt.models.profiles import PROFILES
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.generated import movement, selection
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write

NONE = {"fused_activation_function": "NONE"}
STRIDED = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
ONE = np.int32([1, 1])


def imported(content: bytes, profile: str = "litert") -> Module:
    module = import_model(read(content), PROFILES[profile])
    module.verify()
    return module


def quantized(*shape: int, dtype: str = "int8", scales: float = 0.5, zero_points: int = 3, **more) -> Tensor:
    return Tensor(shape, dtype, scales, zero_points, **more)


def integers(*values, shape: tuple[int, ...] | None = None, dtype: str = "int32") -> Tensor:
    array = np.array(values, dtype).reshape(len(values) if shape is None else shape)
    return Tensor(array.shape, dtype, data=array)


X = quantized(2, 3)
IMAGE = quantized(1, 4, 4, 2)
REFUSED = [
    ("RESHAPE", [X, integers(-1, -1)], [X], {}, "the new shape must have sizes of at least 0, and at most one -1"),
    ("RESHAPE", [X, integers(4)], [X], {}, "an input of 6 elements cannot be reshaped to [4]"),
    ("RESHAPE", [X, integers(-2, 3)], [X], {}, "the new shape must have sizes of at least 0, and at most one -1"),
    ("SQUEEZE", [X], [X], {"squeeze_dims": [1]}, "squeeze_dims must name axes of size 1, got [1] of shape [2, 3]"),
    ("SQUEEZE", [X], [X], {"squeeze_dims": [2]}, "the axis must be from -2 to 1, got 2"),
    ("EXPAND_DIMS", [X, integers(3)], [X], {}, "the axis must be from -3 to 2, got 3"),
    ("TRANSPOSE", [X, integers(0, 0)], [X], {}, "the permutation must have each of the axes 0 to 1 once, got"),
    ("TRANSPOSE", [X, integers(0)], [X], {}, "the permutation must have each of the axes 0 to 1 once, got [0]"),
    ("PACK", [X, X], [X], {"axis": 4, "values_count": 2}, "the axis must be from -3 to 2, got 4"),
    ("PACK", [X, X], [X], {"axis": 0, "values_count": 3}, "option values_count must be the number of inputs, 2"),
    ("PACK", [X, quantized(2, 4)], [X], {"axis": 0, "values_count": 2}, "the inputs must have the same shape, got [2"),
    ("UNPACK", [X], [X], {"axis": 0, "num": 1}, "option num must be the size of axis 0 of [2, 3] and the number"),
    ("CONCATENATION", [X, X], [X], {"axis": 2, **NONE}, "the axis must be from -2 to 1, got 2"),
    ("CONCATENATION", [X, quantized(3)], [X], {"axis": 0, **NONE}, "the inputs must have the same rank, got 2 and 1"),
    ("CONCATENATION", [X, quantized(2, 4)], [X], {"axis": 0, **NONE}, "the same size along axis 1, got 3 and 4"),
    ("CONCATENATION", [X, quantized(2, 3, scales=0.25)], [X], {"axis": 0, **NONE},
     "its inputs must have the scale and the zero point of the result, !quant.uniform<i8:f32, 5.000000e-01:3>"),
    ("CONCATENATION", [X, quantized(2, 3, zero_points=4)], [X], {"axis": 0, **NONE},
     "its inputs must have the scale and the zero point of the result, !quant.uniform<i8:f32, 5.000000e-01:3>"),
    ("TILE", [X, integers(1)], [X], {}, "multiples must be 2 non-negative integers, one for each axis, got [1]"),
    ("TILE", [X, integers(1, -1)], [X], {}, "multiples (input 1) must have non-negative integers, got [1, -1]"),
    ("BROADCAST_TO", [X, integers(2, 4)], [X], {}, "an input of shape [2, 3] cannot be broadcast to [2, 4]"),
    ("SLICE", [X, integers(0, 0), integers(2, 4)], [X], {}, "a slice must be within its axis of 3 elements, with"),
    ("SLICE", [X, integers(0, -1), integers(1, 1)], [X], {}, "a slice must be within its axis of 3 elements, with"),
    ("SLICE", [X, integers(0, 0), integers(1, -2)], [X], {}, "a slice must be within its axis of 3 elements, with"),
    ("SLICE", [X, integers(0), integers(1)], [X], {}, "begin and size must have 2 integers each, one for each"),
    ("STRIDED_SLICE", [X, *map(integers, (0, 0)), integers(0)], [X], STRIDED, "strides must not be 0"),
    ("STRIDED_SLICE", [X, integers(5), integers(6), integers(1)], [X], STRIDED | {"shrink_axis_mask": 1},
     "index 5 of an axis of shrink_axis_mask is out of bounds: the axis has size 2"),
    ("STRIDED_SLICE", [X, integers(0), integers(1), integers(-1)], [X], STRIDED | {"shrink_axis_mask": 1},
     "the stride of an axis of shrink_axis_mask must be positive, got -1"),
    ("STRIDED_SLICE", [X, integers(1), integers(2), integers(1)], [X], STRIDED | {"offset": True},
     "with option offset, a slice must be within its axis of size 2, got begin = 1 and end = 3"),
    ("STRIDED_SLICE", [X, integers(3), integers(0), integers(1)], [X], STRIDED | {"offset": True},
     "with option offset, a slice must be within its axis of size 2, got begin = 3 and end = 3"),
    ("STRIDED_SLICE", [X, integers(0, 0), integers(1), integers(1)], [X], STRIDED, "begin, end and strides must"),
    ("STRIDED_SLICE", [X, *[integers(0, 0, 0)] * 2, integers(1, 1, 1)], [X], STRIDED, "the input has 2 axes, but"),
    ("SPLIT", [integers(2), X], [X], {"num_splits": 1}, "the axis must be from -2 to 1, got 2"),
    ("SPLIT", [integers(1), X], [X, X], {"num_splits": 2}, "num_splits must be the number of results, 2, and"),
    ("SPLIT_V", [X, integers(1, 1), integers(1)], [X, X], {"num_splits": 2}, "size_splits must have 2 sizes, one"),
    ("REVERSE_V2", [X, integers(-3)], [X], {}, "the axis must be from -2 to 1, got -3"),
    ("PAD", [X, integers(0, 0, 0, shape=(1, 3))], [X], {}, "paddings must have 2 pairs of non-negative integers"),
    ("PAD", [X, integers(0, 0, 0, -1, shape=(2, 2))], [X], {}, "paddings must have 2 pairs of non-negative"),
    ("PADV2", [X, integers(0, 0, 0, 1, shape=(2, 2)), quantized(1, scales=1.0, data=np.int8([1]))], [X], {},
     "the padding value (input 2) must be one value of the type of the input, !quant.uniform<i8:f32"),
    ("MIRROR_PAD", [X, integers(0, 0, 3, 0, shape=(2, 2))], [X], {"mode": "REFLECT"},
     "the padding of an axis of size 3 must be at most 2 in this mode, got 3"),
    ("MIRROR_PAD", [X, integers(0, 0, 4, 0, shape=(2, 2))], [X], {"mode": "SYMMETRIC"},
     "the padding of an axis of size 3 must be at most 3 in this mode, got 4"),
    ("GATHER", [X, integers(0, 2)], [X], {"axis": 0, "batch_dims": 0}, "index 2 is out of bounds of the indexed"),
    ("GATHER", [X, integers(-1)], [X], {"axis": 1, "batch_dims": 0}, "index -1 is out of bounds of the indexed"),
    ("GATHER", [X, integers(0)], [X], {"axis": 2, "batch_dims": 0}, "the axis must be from -2 to 1, got 2"),
    ("GATHER", [X, integers(0)], [X], {"axis": 0, "batch_dims": 1}, "batch_dims must be from 0 to the axis, 0"),
    ("GATHER_ND", [X, integers(0, 3, shape=(1, 2))], [X], {}, "index 3 is out of bounds of the indexed axes, with"),
    ("GATHER_ND", [X, integers(0, 0, 0, shape=(1, 3))], [X], {}, "the last dimension of the indices must be at"),
    ("SPACE_TO_DEPTH", [IMAGE], [X], {"block_size": 0}, "block_size must be at least 1, got 0"),
    ("SPACE_TO_DEPTH", [IMAGE], [X], {"block_size": 3}, "block_size must divide the height and the width, 4 and"),
    ("DEPTH_TO_SPACE", [IMAGE], [X], {"block_size": 2}, "the square of block_size must divide the number of"),
    ("DEPTH_TO_SPACE", [X], [X], {"block_size": 2}, "the input must have rank 4, got 2"),
    ("SPACE_TO_BATCH_ND", [IMAGE, integers(0, 1), integers(0, 0, 0, 0, shape=(2, 2))], [X], {},
     "the block sizes must be at least 1, got [0, 1]"),
    ("SPACE_TO_BATCH_ND", [IMAGE, integers(3, 1), integers(0, 0, 0, 0, shape=(2, 2))], [X], {},
     "the block sizes must divide the padded sizes of the input, [4, 4], got [3, 1]"),
    ("BATCH_TO_SPACE_ND", [IMAGE, integers(2, 1), integers(0, 0, 0, 0, shape=(2, 2))], [X], {},
     "the product of the block sizes must divide the batch, 1, got block sizes [2, 1]"),
    ("BATCH_TO_SPACE_ND", [IMAGE, integers(1, 1), integers(3, 2, 0, 0, shape=(2, 2))], [X], {},
     "crops must be at most the size of the axis, 4, in sum, got 3 and 2"),
    ("RESIZE_BILINEAR", [IMAGE, integers(0, 4)], [X], {}, "the size (input 1) must be a positive height and"),
    ("RESIZE_BILINEAR", [X, integers(4, 4)], [X], {}, "the input must have rank 4, got 2"),
    ("RESIZE_NEAREST_NEIGHBOR", [IMAGE, integers(4)], [X], {}, "the size (input 1) must be a positive height and"),
    ("RESIZE_BILINEAR", [IMAGE, integers(4, 4)], [X], {"align_corners": True, "half_pixel_centers": True},
     "at most one of 'align_corners' and 'half_pixel_centers' must be true, got both"),
    ("ARG_MAX", [X, integers(2)], [integers(0, 0)], {"output_type": "INT32"}, "the axis must be from -2 to 1, got 2"),
    ("ARG_MIN", [X, integers(1)], [integers(0, 0)], {"output_type": "INT64"},
     "option output_type must be the type of the result, int32, got INT64"),
    ("REDUCE_MAX", [X, integers(-3)], [X], {"keep_dims": False}, "the axis must be from -2 to 1, got -3"),
    ("ONE_HOT", [integers(0, 1), integers(3), integers(1), integers(0)], [X], {"axis": 2},
     "the axis must be from -2 to 1, got 2"),
    ("TOPK_V2", [X, integers(4)], [X, integers(0, 0)], {}, "operator 0 TOPK_V2: top_k: 'k' "
        "must be an integer from 0 to 3, got 4"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "inputs", "outputs", "options", "message"), REFUSED, ids=[f"{row[0]}-{i}" for i, row in enumerate(REFUSED)]
)
def test_what_is_wrong_in_a_file_is_said(name, inputs, outputs, options, message) -> None:
    """Where it is, too."""
    outputs = [Tensor(each.shape, each.dtype, each.scales, each.zero_points) for each in outputs]
    with pytest.raises(ModelError) as raised:
        imported(one_op(name, inputs, outputs, options))
    assert message in str(raised.value)
    assert f"subgraph 0, operator 0 {name}" in str(raised.value)
    assert len(str(raised.value).splitlines()) <= 3


def test_what_only_the_run_knows_is_refused_by_name() -> None:
    for name, inputs, form in (
        ("TRANSPOSE", [X, Tensor((2,), "int32")], "an order of axes known only at run time"),
        ("SLICE", [X, Tensor((2,), "int32"), integers(1, 1)], "positions known only at run time"),
        ("GATHER", [X, integers(0, dtype="int16")], "indices of int16"),
        (
            "SQUEEZE",
            [Tensor((1, 3, 1), "float32", signature=(-1, 3, 1))],
            "SQUEEZE (without axes, of a tensor of shape [None, 3, 1])",
        ),
    ):
        with pytest.raises(ModelError, match="qrt does not support 1 of its operators") as raised:
            imported(one_op(name, inputs, [quantized(2, 3)], {"squeeze_dims": []} if name == "SQUEEZE" else {}))
        assert form in str(raised.value)


FORMS = movement.CASES | selection.CASES
PLAIN = ("ONE_HOT", "REVERSE_SEQUENCE")
"""Operators on plain numbers, positions made of lengths among them, which the interpreter computes."""


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_one_plan_and_one_program(name: str) -> None:
    """All steps of quantized forms are calls into C, and text, interpreter and lowering have the same bits."""
    rng = np.random.default_rng(7)
    module = imported(FORMS[name](rng).content)
    program = qrt.compile(module)
    arrays = {}
    for port in program.inputs:
        shape = tuple(n or 1 for n in port.type.shape)
        dtype = qrt.ops.core.element_dtype(port.type.element)
        is_position = "positions" in name or name.startswith("REVERSE_SEQUENCE")
        most = 1 if is_position and dtype.itemsize > 2 else 100
        drawn = rng.normal(size=shape) if dtype.kind == "f" else rng.integers(0, most, shape)
        arrays[port.name] = drawn.astype(dtype)
    results = program.run(arrays)
    plans = [coverage for coverage in program.coverage() if coverage.engine not in ("kernel", "constant", "alias")]
    assert not plans or name.startswith(PLAIN), plans
    again = qrt.compile(qrt.ir.parse(str(module)))
    for other in (program.run(arrays, interpret=True), again.run(arrays)):
        for key, value in results.items():
            np.testing.assert_array_equal(stored(other[key]), stored(value))


def stored(value) -> np.ndarray:
    return np.asarray(getattr(value, "storage", value))


def test_sizes_that_follow_from_constants_are_known() -> None:
    """A shape that is put together of constants leaves nothing in the program."""
    x, y, sizes = quantized(2, 3, 4), quantized(2, 12), integers(9, 2, 12)
    first, last, shape = Tensor((1,), "int32"), Tensor((), "int32"), Tensor((2,), "int32")
    row = Tensor((1,), "int32")
    operators = [
        Operator("STRIDED_SLICE", [sizes, integers(1), integers(2), integers(1)], [first], STRIDED),
        Operator("GATHER", [sizes, integers(2, shape=())], [last], {"axis": 0, "batch_dims": 0}),
        Operator("EXPAND_DIMS", [last, integers(0)], [row]),
        Operator("CONCATENATION", [first, row], [shape], {"axis": 0, **NONE}),
        Operator("RESHAPE", [x, shape], [y]),
    ]
    module = imported(write([Subgraph([x], [y], operators)]))
    names = [operation.name for operation in module.functions[0].regions[0].blocks[0]]
    assert [name for name in names if name.startswith("qrt.")] == ["qrt.reshape"]


def test_a_batch_stays_open() -> None:
    x = Tensor((1, 4, 4, 2), "int8", 0.5, 3, signature=(-1, 4, 4, 2))

    def run(name, inputs, out, options, shape):
        y = Tensor((1, *out), "int8", 0.5, 3, signature=(-1, *out))
        program = qrt.compile(imported(one_op(name, [x, *inputs], [y], options)))
        got = program.run({program.inputs[0].name: np.arange(96, dtype=np.int8).reshape(3, 4, 4, 2)})
        (value,) = got.values()
        assert stored(value).shape == shape
        return stored(value)

    q = np.arange(96, dtype=np.int8).reshape(3, 4, 4, 2)
    run("RESHAPE", [integers(-1, 32)], (32,), {}, (3, 32))
    sliced = run("STRIDED_SLICE", [integers(0, 1, 0, 0), integers(0, 3, 0, 0), integers(1, 1, 1, 1)], (2, 4, 2),
                 STRIDED | {"begin_mask": 13, "end_mask": 13}, (3, 2, 4, 2))  # fmt: skip
    np.testing.assert_array_equal(sliced, q[:, 1:3])
    padded = run("PAD", [integers(0, 0, 1, 0, 0, 0, 0, 0, shape=(4, 2))], (5, 4, 2), {}, (3, 5, 4, 2))
    np.testing.assert_array_equal(padded[:, 1:], q)
    run("SPACE_TO_DEPTH", [], (2, 2, 8), {"block_size": 2}, (3, 2, 2, 8))
    run("RESIZE_NEAREST_NEIGHBOR", [integers(2, 2)], (2, 2, 2), {}, (3, 2, 2, 2))


def test_bits_move_whatever_scale_the_file_gives() -> None:
    """LiteRT copies elements, and never looks at the scale of the result."""
    y = quantized(3, 2, scales=0.125, zero_points=-7)
    program = qrt.compile(imported(one_op("RESHAPE", [X, integers(3, 2)], [y], {})))
    q = np.arange(6, dtype=np.int8).reshape(2, 3)
    (value,) = program.run({program.inputs[0].name: q}).values()
    assert (value.type.scale, value.type.zero_point) == (0.125, -7)
    np.testing.assert_array_equal(value.storage, q.reshape(3, 2))


def test_many_operands_are_joined_in_groups() -> None:
    inputs = [quantized(1, 2) for _ in range(130)]
    program = qrt.compile(imported(one_op("CONCATENATION", inputs, [quantized(130, 2)], {"axis": 0, **NONE})))
    rows = np.arange(260, dtype=np.int64).astype(np.int8).reshape(130, 1, 2)
    (value,) = program.run({port.name: row for port, row in zip(program.inputs, rows, strict=True)}).values()
    np.testing.assert_array_equal(value.storage, rows[:, 0])


def test_an_index_that_only_the_run_knows_is_checked() -> None:
    model = one_op("GATHER", [X, Tensor((1,), "int32")], [quantized(1, 3)], {"axis": 0, "batch_dims": 0})
    program = qrt.compile(imported(model))
    names = [port.name for port in program.inputs]
    for wrong in (-1, 2):
        with pytest.raises(qrt.QuantError, match="an index is out of bounds"):
            program.run(dict(zip(names, (np.zeros((2, 3), np.int8), np.int32([wrong])), strict=True)))
