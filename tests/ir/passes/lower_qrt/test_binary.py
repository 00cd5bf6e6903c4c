"""add, sub, mul lowered. Hazards: channels of both operands and the result on different axes, a dimension of 1 that is
repeated, a rounding too many, products of more than 32 bits."""

import numpy as np
import pytest

from qrt.ops.core import storage_dtype
from qrt.types import UniformType
from tests.ir.passes.lower_qrt.harness import check_lowered
from tests.ops.harness import tensor
from tests.ops.strategies import storage_of
from tests.ops.test_binary import KINDS, channels

A = UniformType("i8", "f32", 0.5, 3)
B = UniformType("u8", "f32", 0.25, 255)
OUT = UniformType("i8", "f32", 0.75, -128)


@pytest.mark.parametrize("kind", KINDS)
def test_channels_on_three_axes(kind):
    """Each parameter is read by the loops that its own type has channels along."""
    shapes, rng = [(4, 2, 1), (2, 3)], np.random.default_rng(1)
    ta, tb, to = channels(A, 4, 0), channels(B, 3, 1), channels(OUT, 2, 1)
    arrays = [storage_of(t, shape, rng) for t, shape in zip((ta, tb), shapes, strict=True)]
    check_lowered(kind, arrays, [tensor(shapes[0], ta), tensor(shapes[1], tb)], to)


def test_sums_round_once_and_half_up():
    """3 * 0.5 and -3 * 0.5 are ties; two halves that were rounded apart would be 2 and not 1."""
    half, one = UniformType("i8", "f32", 0.5), UniformType("i8", "f32", 1.0)
    arrays, types = [np.int8([3, -3, 1]), np.int8([0, 0, 1])], [tensor((3,), half)] * 2
    assert check_lowered("add", arrays, types, one).tolist() == [2, -1, 1]


@pytest.mark.parametrize("at", ["storage_min", "storage_max"])
@pytest.mark.parametrize("storage", ["i2", "u3", "i8", "u8", "i11", "u16", "i32", "u32"])
@pytest.mark.parametrize("kind", KINDS)
def test_ends_of_the_range(kind, storage, at):
    """Values and zero points at both ends; differences and products that 32 bits do not hold."""
    ends = UniformType(storage, "f32", 0.5)
    t, small = ends.with_(zero_points=getattr(ends, at)), UniformType("i8", "f32", 0.25, 127)
    x = np.array([t.storage_min, t.storage_max] * 2).astype(storage_dtype(t))
    y, types = np.int8([-128, -128, 127, 127]), [tensor((4,), t), tensor((4,), small)]
    out = UniformType("i16", "f32", 2.0 ** (t.storage_width - 8), -5)
    check_lowered(kind, [x, y], types, out)
    check_lowered(kind, [y, x], types[::-1], out)
