"""resize_bilinear and resize_nearest, on every kernel, against plain loops. Hazards: the last row, whose second
neighbour is itself; positions left of the first element; halves; images of one row; zero points that do not matter."""

import re
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt.errors import QuantTypeError
from qrt.numerics.resizing import RESIZE_RULES
from qrt.types import FloatType, IntegerType, TensorType, UniformType
from tests.ops.harness import check_kernels, infer, tensor
from tests.ops.strategies import generators, storage_of
from tests.ops.test_movement import T, channels

F32 = np.float32
STORED = {"fixed11": ("i8", "u8", "u4"), "fixed10_away": ("i8", "u8", "i16", "u12"), "products_float32": ("u8", "u3")}
FORMS = [(False, False), (True, False), (False, True)]


def along(rule: str, size: int, out: int, at: int, corners: bool, half: bool) -> tuple[int, int, Any]:
    """(first neighbour, second neighbour, weight of the second), one position at a time."""
    is_ends = corners and out > 1
    if rule == "fixed10_away":
        scale = (1024 * size + out // 2) // out
        if is_ends:
            scale = (1024 * (size - 1) + (out - 1) // 2) // (out - 1)
        place = at * scale + (scale // 2 - 512 if half else 0)
        low = max(int(Fraction(place, 1024)), 0)
        return low, min(int(Fraction(place + 1023, 1024)), size - 1), place - 1024 * low
    scale = F32(size - is_ends) / F32(out - is_ends)
    if rule == "products_float32":
        place = (F32(at) + F32(0.5)) * scale - F32(0.5) if half else F32(at) * scale
        low = max(floor(place), 0)
        return low, min(ceil(place), size - 1), place - F32(low)
    place = F32(at) * scale
    if half:
        place = min(max(place + (F32(0.5) * scale - F32(0.5)), F32(0)), F32(size - 1))
    low = int(place)
    weight = place - F32(low)
    return low, min(low + 1, size - 1), int(np.rint(weight * 2048)) if rule == "fixed11" else weight


def value(rule: str, a: Any, b: Any, c: Any, d: Any, down: Any, right: Any) -> Any:
    if rule == "fixed11":
        top, bottom = (a << 11) + (b - a) * right, (c << 11) + (d - c) * right
        return ((top << 11) + (bottom - top) * down + (1 << 21)) >> 22
    if rule == "fixed10_away":
        total = Fraction(a * (1024 - down) * (1024 - right) + c * down * (1024 - right) + b * (1024 - down) * right
                         + d * down * right, 1 << 20)  # fmt: skip
        return int(total + (Fraction(1, 2) if total > 0 else Fraction(-1, 2)))
    if rule == "lines_float32":
        top, bottom = a + (b - a) * right, c + (d - c) * right
        return top + (bottom - top) * down
    up, left = F32(1) - down, F32(1) - right
    return F32(a) * up * left + F32(c) * down * left + F32(b) * up * right + F32(d) * down * right


def by_loops(x: np.ndarray, rule: str, size: tuple[int, int], corners: bool, half: bool) -> np.ndarray:
    images, height, width, depth = x.shape
    out = np.empty((images, *size, depth), x.dtype)
    for n, y, z, c in np.ndindex(*out.shape):
        top, bottom, down = along(rule, height, size[0], y, corners, half)
        left, right, aside = along(rule, width, size[1], z, corners, half)
        four = [x[n, row, column, c] for row in (top, bottom) for column in (left, right)]
        if x.dtype != F32:
            found = value(rule, *map(int, four), down, aside)
            out[n, y, z, c] = int(found + F32(0.5)) if rule == "products_float32" else found
        else:
            out[n, y, z, c] = value(rule, *four, down, aside)
    return out


@given(st.data(), generators(), st.sampled_from(list(STORED)), st.sampled_from(FORMS))
def test_bilinear_drawn(data: st.DataObject, rng: np.random.Generator, rule: str, form: tuple[bool, bool]) -> None:
    storage = data.draw(st.sampled_from(STORED[rule]))
    t = UniformType(storage, "f32", 0.3, 5)
    shape = (data.draw(st.integers(0, 2)), *(data.draw(st.integers(1, 6)) for _ in "hw"), data.draw(st.integers(0, 3)))
    size = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    x = storage_of(t, shape, rng)
    given = {"size": size, "align_corners": form[0], "half_pixel_centers": form[1], "rule": rule}
    got = check_kernels("resize_bilinear", [x], [tensor(shape, t)], **given)
    np.testing.assert_array_equal(got, by_loops(x, rule, size, *form))


@pytest.mark.parametrize("rule", ["products_float32", "lines_float32"])
@pytest.mark.parametrize("form", FORMS)
def test_floats(rule: str, form: tuple[bool, bool]) -> None:
    x = np.random.default_rng(5).normal(size=(2, 4, 3, 2)).astype(F32)
    given = {"size": (7, 5), "align_corners": form[0], "half_pixel_centers": form[1], "rule": rule}
    got = check_kernels("resize_bilinear", [x], [tensor(x.shape, FloatType("f32"))], **given)
    np.testing.assert_array_equal(got, by_loops(x, rule, (7, 5), *form))


@given(st.data(), generators(), st.sampled_from(FORMS))
def test_nearest_drawn(data: st.DataObject, rng: np.random.Generator, form: tuple[bool, bool]) -> None:
    t = data.draw(st.sampled_from([channels(T, 3, 3), T, UniformType("u16", "f32", 0.1)]))
    shape = (data.draw(st.integers(0, 2)), *(data.draw(st.integers(1, 6)) for _ in "hw"), 3)
    size = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    x = storage_of(t, shape, rng)
    given = {"size": size, "align_corners": form[0], "half_pixel_centers": form[1]}
    got = check_kernels("resize_nearest", [x], [tensor(shape, t)], **given)
    rows, columns = ([nearest(n, out, at, *form) for at in range(out)] for n, out in zip(shape[1:3], size, strict=True))
    np.testing.assert_array_equal(got, x[:, rows][:, :, columns])


def nearest(size: int, out: int, at: int, corners: bool, half: bool) -> int:
    is_ends = corners and out > 1
    place = (F32(at) + F32(0.5 if half else 0)) * (F32(size - is_ends) / F32(out - is_ends))
    whole = floor(Fraction(float(place)) + Fraction(1, 2)) if corners else floor(place)
    return max(min(whole, size - 1), 0)


def test_equal_values_stay() -> None:
    """Weights add up to one: a picture of one value keeps it, at both ends of the range."""
    for rule, storages in STORED.items():
        for storage in storages:
            t = UniformType(storage, "f32", 1.0)
            for q in (t.storage_min, t.storage_max):
                x = np.full((1, 3, 5, 1), q).astype(storage_of(t, (1,), np.random.default_rng(0)).dtype)
                for corners, half in FORMS:
                    given = {"size": (11, 7), "align_corners": corners, "half_pixel_centers": half, "rule": rule}
                    got = check_kernels("resize_bilinear", [x], [tensor(x.shape, t)], **given)
                    assert (got == q).all(), (rule, storage, q, corners, half)


X = tensor((1, 4, 4, 2), T)
REFUSED: list[tuple[str, TensorType, Any, dict[str, Any], str]] = [
    ("resize_bilinear", tensor((4, 4, 2), T), None, {"size": (2, 2)}, "'x' must have the layout NHWC, of rank 4, "
        "got rank 3"),
    ("resize_bilinear", X, None, {}, "'size' must be a height and a width from 1 to 2**24 - 1, got None"),
    ("resize_bilinear", X, None, {"size": (0, 2)}, "'size' must be a height and a width from 1 to "
        "2**24 - 1, got (0, 2)"),
    ("resize_bilinear", X, None, {"size": (2, 2), "align_corners": 1}, "'align_corners' must be true or false, got 1"),
    ("resize_nearest", X, None, {"size": (2, 2), "align_corners": True, "half_pixel_centers": True}, (
        "at most one of 'align_corners' and 'half_pixel_centers' must be true, got both"
    )),
    ("resize_bilinear", X, None, {"size": (2, 2), "rule": "cubic"}, f"'rule' must be one of {', '.join(RESIZE_RULES)}"),
    ("resize_bilinear", X, None, {"size": (2, 2), "rule": "products_float32"},
     "rule = 'products_float32' is not defined for 'x' with storage i8"),
    ("resize_bilinear", X, None, {"size": (2, 2), "rule": "lines_float32"},
     "rule = 'lines_float32' is not defined for 'x' with storage i8"),
    ("resize_bilinear", tensor((1, 4, 4, 2), T.with_(storage="i16", storage_min=None, storage_max=None)), None,
     {"size": (2, 2)}, "rule = 'fixed11' is not defined for 'x' with storage i16"),
    ("resize_bilinear", tensor((1, 4, 4, 2), FloatType("f32")), None, {"size": (2, 2)},
     "rule = 'fixed11' is not defined for 'x' with elements of f32"),
    ("resize_bilinear", tensor((1, 4, 4, 2), IntegerType(8)), None, {"size": (2, 2)},
     "rule = 'fixed11' is not defined for 'x' with elements of i8"),
    ("resize_nearest", tensor((1, 0, 4, 2), T), None, {"size": (2, 2)}, "'x' must have a height and a width of at "
        "least 1, got [0, 4]"),
    ("resize_nearest", tensor((1, 4, 4, 2), channels(T, 4, 1)), None, {"size": (2, 2)},
     "'x' must have a type per layer, or per axis along an axis other than height and width, got"),
    ("resize_nearest", X, T.with_(scales=1.0), {"size": (2, 2)}, "the result must have the type of the operand"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "x", "out", "attributes", "message"), REFUSED)
def test_refuses(op: str, x: TensorType, out: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer(op, [x], out, **attributes)
    assert str(raised.value).startswith(op)
