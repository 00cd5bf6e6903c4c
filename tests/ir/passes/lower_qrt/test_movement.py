"""pad, reshape, transpose and concat lowered. Hazards: a permutation and its inverse, channels padded with another's
zero, operands of concat left at their own scale, shapes known only when they run."""

import numpy as np
import pytest

from qrt import ir
from qrt.errors import VerifyError
from qrt.ir import run_passes
from qrt.ops.core import element_dtype
from qrt.types import FloatType, IntegerType
from tests.ir.passes.lower_qrt.harness import OPTIONS, check_lowered, lowered, program, run
from tests.ops.harness import reference, tensor
from tests.ops.strategies import storage_of
from tests.ops.test_movement import T, blocked, channels


def test_transpose_moves_blocks():
    t = blocked((2, 4, 6), {1: 2, 2: 3})
    x = storage_of(t, (2, 4, 6), np.random.default_rng(1))
    check_lowered("transpose", [x], [tensor(x.shape, t)], permutation=(2, 0, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [((2, 6), (3, 4)), ((4,), (2, 2)), ((1, 1), ()), ((), (1,)), ((0, 3), (5, 0)), ((2, 3), (2, 3))],
)
def test_reshape(old, new):
    x = storage_of(T, old, np.random.default_rng(2))
    check_lowered("reshape", [x], [tensor(old, T)], tensor(new, T))


@pytest.mark.parametrize("options", OPTIONS[:2])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_slice_from_an_offset_behind_an_open_axis(size, stride, options):
    """Nothing is taken; the lowered size was negative."""
    x, open_type = storage_of(T, (size, 2), np.random.default_rng(3)), tensor((None, 2), T)
    attributes = {"offsets": (2, 0), "sizes": (-1, -1), "strides": (stride, 1)}
    text = program("slice", [x], [open_type], open_type, **attributes)
    for interpret in (True, False):
        np.testing.assert_array_equal(run(lowered(text, options), [x], interpret), x[2::stride])


def test_reshape_keeps_channels():
    t = channels(T, 3, 1)
    x = storage_of(t, (4, 3), np.random.default_rng(2))
    check_lowered("reshape", [x], [tensor((4, 3), t)], tensor((2, 2, 3), t.with_(axis=2)))


@pytest.mark.parametrize("options", OPTIONS[:2])
@pytest.mark.parametrize(
    ("name", "given", "declared", "attributes"),
    [
        ("reshape", (None, 6), (None, 4), {}),
        ("reshape", (None, 6), (3, 8), {}),
        ("transpose", (None, 6), (6, None), {"permutation": (1, 0)}),
        ("pad", (None, None), (None, None), {"padding": ((1, 0), (0, 2))}),
        ("add", (None, 6), (None, 6), {}),
        ("concat", (None, 6), (None, 12), {"axis": 1}),
        ("softmax", (None, None), (None, None), {}),
        ("requantize", (None, 6), (4, 6), {}),
    ],
)
def test_dynamic_dimensions(name, given, declared, attributes, options):
    count = 2 if name in ("add", "concat") else 1
    arrays = [storage_of(T, (4, 6), np.random.default_rng(i)) for i in range(count)]
    text = program(name, arrays, [tensor(given, T)] * count, tensor(declared, T), **attributes)
    out = tensor((3, 8), T) if declared == (3, 8) else tensor((6, 4), T) if name == "reshape" else T
    expected, _ = reference(name, arrays, [tensor((4, 6), T)] * count, out, **attributes)
    for interpret in (True, False):
        np.testing.assert_array_equal(run(lowered(text, options), arrays, interpret), expected)


def test_concat_joins_channels():
    a, b = channels(T, 2, 1), channels(T.with_(scales=0.1), 3, 1)
    arrays = [storage_of(t, (4, n), np.random.default_rng(3)) for t, n in ((a, 2), (b, 3))]
    check_lowered("concat", arrays, [tensor((4, 2), a), tensor((4, 3), b)], axis=-1)


@pytest.mark.parametrize("element", [IntegerType(1), IntegerType(64), FloatType("f32")], ids=str)
def test_elements_of_any_type_move(element):
    x = (np.random.default_rng(4).integers(0, 2, (3, 4)) * (1 if element is IntegerType(1) else 3)).astype(
        element_dtype(element)
    )
    for name, arrays, out, attributes in (
        ("transpose", [x], None, {}),
        ("reshape", [x], tensor((2, 6), element), {}),
        ("concat", [x, x], None, {"axis": 1}),
        ("pad", [x], None, {"padding": ((1, 0), (0, 2)), "value": 1}),
    ):
        check_lowered(name, arrays, [tensor((3, 4), element)] * len(arrays), out, **attributes)


def test_shapes_left_open_are_refused():
    x, y = f"tensor<?x?x{T}>", f"tensor<?x?x2x{T}>"
    with pytest.raises(
        VerifyError, match=r"'qrt.reshape' op cannot be lowered: at most one dimension of the result may be dynamic"
    ):
        lowered(f"func.func @f(%x: {x}) -> {y} {{ %0 = qrt.reshape %x : ({x}) -> {y} return %0 : {y} }}")
    c = channels(T, 2, 0)
    x, y = f"tensor<?x{T}>", f"tensor<2x{c}>"
    with pytest.raises(
        VerifyError,
        match=r"cannot be lowered: concat: operands must have a static size along axis "
        r"0, the channel axis, got tensor<\?x",
    ):
        lowered(f"func.func @f(%x: {x}) -> {y} {{ %0 = qrt.concat %x, %x : ({x}, {x}) -> {y} return %0 : {y} }}")


@pytest.mark.parametrize("name", ["pad", "reshape", "transpose"])
def test_movement_names_its_stage(name):
    """The cast to storage is a border, of no stage: it must not take the stage of what follows it."""
    x = "tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>"
    attributes, result = {
        "pad": ("{padding = [[1, 0], [0, 1]]}", x.replace("2x3", "3x4")),
        "reshape": ("", x.replace("2x3", "6")),
        "transpose": ("", x.replace("2x3", "3x2")),
    }[name]
    lowered_op = f"%0 = qrt.{name} %x {attributes} : ({x}) -> {result}"
    text = f"func.func @f(%x: {x}) -> {result} {{ {lowered_op} return %0 : {result} }}"
    module = run_passes(ir.parse(text), "lower-qrt")
    assert f'loc("{name}")' in module.print(locations=True)


def test_a_rule_of_the_options_must_fit_the_op():
    """fixed_double has no multiplier of 2**30."""
    x, w = "tensor<2x7x!quant.uniform<i8:f32, 0.5>>", "tensor<7x2x!quant.uniform<i8:f32, 0.5:127>>"
    y = "tensor<2x2x!quant.uniform<i8:f32, 1.0e-12>>"
    text = f"func.func @f(%x: {x}, %w: {w}) -> {y} {{ %0 = qrt.matmul %x, %w : ({x}, {w}) -> {y} return %0 : {y} }}"
    assert run_passes(ir.parse(text), "lower-qrt")
    with pytest.raises(VerifyError, match="cannot be lowered"):
        run_passes(ir.parse(text), "lower-qrt{requant=fixed_double}")
