"""More forms of one operator, for `test_operators.py`: numbers, positions, and what ONNX defines by other operators."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.models.onnx.forms import Form, I, real, whole

SPECIAL = np.float32([0, -0.0, 1, -2.5, np.inf, -np.inf, np.nan, 1e-45])


def forms() -> Iterator[Form]:
    """Every form."""
    yield from _numbers()
    yield from _indexing()
    yield from _scattering()
    yield from _lines()
    yield from _resizing()
    yield from _transposed()
    yield from _equations()
    yield from _defined()
    yield from _powers()


def _powers() -> Iterator[Form]:
    """Norms of windows, in every form of a window, and of channels beside each other at both ends."""
    for p in (1, 2, 3):
        for more in (
            {"kernel_shape": [3, 2]},
            {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 1, 2]},
            {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_LOWER"},
        ):
            yield Form("LpPool", (real(2, 3, 9, 8),), attributes={"p": p, **more}, ulp=4)
        more = {"kernel_shape": [2, 2], "strides": [3, 3], "dilations": [2, 1], "ceil_mode": 1, "p": p}
        yield Form("LpPool", (real(2, 3, 9, 8),), attributes=more, opset=18, ulp=4)
        yield Form("LpPool", (real(2, 3, 12),), attributes={"kernel_shape": [3], "strides": [2], "p": p}, ulp=4)
        yield Form("GlobalLpPool", (real(2, 3, 5, 4),), attributes={"p": p}, ulp=4)
    yield Form("LpPool", (real(2, 3, 9, 8),), attributes={"kernel_shape": [2, 2]}, ulp=4, open=True)
    for size in (1, 3, 5, 13):
        more = {"size": size, "alpha": 0.3, "beta": 0.6, "bias": 1.5}
        yield Form("LRN", (real(2, 7, 3, 4),), attributes=more, ulp=4)
    yield Form("LRN", (real(2, 7, 3, 4),), attributes={"size": 5}, ulp=4, open=True)


def _numbers() -> Iterator[Form]:
    for dtype in ("int8", "int32", "int64", "uint8", "uint32"):
        signed = dtype.startswith("i")
        a = whole(6, 5, dtype=dtype, low=-9 if signed else 0, high=10)
        b = whole(5, dtype=dtype, low=1, high=5) * np.array([1, -1, 1, -1, 1] if signed else 1, dtype)
        yield Form("Mod", (a, b))
        yield Form("Mod", (a, b), (1,), {"fmod": 1})
    yield Form("Mod", (real(4, 5), real(5, seed=1)), attributes={"fmod": 1})
    for dtype in ("uint8", "uint32", "uint64"):
        for direction in ("LEFT", "RIGHT"):
            operands = whole(9, dtype=dtype, low=0, high=250), np.array([0, 1, 2, 3, 4, 5, 6, 7, 1], dtype)
            yield Form("BitShift", operands, attributes={"direction": direction})
    for dtype in ("int8", "uint16", "int64"):
        yield Form("BitwiseNot", (whole(9, dtype=dtype, low=0),), opset=18)
    yield Form("IsNaN", (SPECIAL,))
    for more in ({}, {"detect_positive": 0}, {"detect_negative": 0}):
        yield Form("IsInf", (SPECIAL,), attributes=more)
    yield Form("Sign", (SPECIAL[:-2],))
    for dtype in ("int32", "uint8"):
        yield Form("Sign", (whole(9, dtype=dtype, low=0 if dtype == "uint8" else -2, high=3),))
    for count in (1, 2, 3):
        yield Form("Mean", tuple(whole(3, 4, seed=i) for i in range(count)), ulp=1)
    yield Form("Mean", (whole(3, 4), whole(4), whole(3, 1)), ulp=1)
    yield Form("Neg", (whole(9, dtype="int64"),))
    yield Form("Neg", (np.int8([-128, 0, 5]),))


def _indexing() -> Iterator[Form]:
    x = real(3, 4, 5)
    for axis in (0, 1, -1):
        at = np.random.default_rng(axis % 3).integers(
            -3, 3, (3, 4, 2) if axis < 0 else (2, 4, 5) if not axis else (3, 2, 5)
        )
        for known in ((), (1,), (0, 1)):
            yield Form("GatherElements", (x, at), known, {"axis": axis})
    yield Form("GatherElements", (whole(4, dtype="int8"), np.int32([[3, -4, 0]])[0]))
    yield Form("GatherND", (x, I([[0, -1], [-3, 3]])))
    yield Form("GatherND", (x, I([[0, -1], [-3, 3]])), (1,))
    yield Form("GatherND", (x, I([[[1]], [[-4]], [[3]]])), (), {"batch_dims": 1})
    yield Form("GatherND", (x, I([[[1, 2]], [[-4, -1]], [[3, 0]]])), (1,), {"batch_dims": 1})


def _scattering() -> Iterator[Form]:
    x = whole(4, 5)
    for reduction in ("none", "add", "mul", "max", "min"):
        more: dict[str, Any] = {} if reduction == "none" else {"reduction": reduction}
        for known in ((), (1,)):
            for axis, at in ((0, I([[0, 3, 1, -1, 2], [2, -4, 3, 0, 1]])), (1, I([[0, -1], [4, 2], [1, 3], [2, -5]]))):
                yield Form(
                    "ScatterElements", (x, at, whole(*at.shape, seed=4)), known, {"axis": axis, **more}, opset=18
                )
            rows = I([[1], [-1], [0]]) if reduction == "none" else I([[1], [-1], [1]])
            yield Form("ScatterND", (x, rows, whole(3, 5, seed=5)), known, more, opset=18)
            names = I([[[0, 1], [3, -1]], [[1, 2], [0, 0]]])
            yield Form("ScatterND", (x, names, whole(2, 2, seed=6)), known, more, opset=18)
    yield Form("ScatterElements", (x, I([[1, 1, 3]]), whole(1, 3)), (1,), {"axis": 1, "reduction": "add"}, opset=18)
    yield Form("ScatterElements", (x, I([[1, 2, 3]]), whole(1, 3)), (1,), {"axis": 1}, opset=18)
    yield Form(
        "ScatterElements", (x, I([[4], [0], [-1], [2]]), whole(4, 1)), (), {"axis": 1, "reduction": "max"}, opset=18
    )
    yield Form("ScatterElements", (whole(4, dtype="int8"), np.int32([3, 0]), whole(2, dtype="int8")), opset=18)
    yield Form("ScatterND", (whole(4, dtype="int64"), I([[3], [0]]), whole(2, dtype="int64")), opset=18)


def _lines() -> Iterator[Form]:
    x = whole(3, 4, 5)
    for dtype in ("float32", "int32", "int64"):
        for more in ({}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}):
            yield Form("CumSum", (x.astype(dtype), np.int64(1)), (1,), more)
    yield Form("CumSum", (x, I([-1])), (1,))
    equal = whole(3, 7, low=0, high=3)
    for largest in (0, 1):
        for dtype in ("float32", "int64", "int32"):
            yield Form("TopK", (equal.astype(dtype), I([4])), (1,), {"largest": largest}, outputs=2)
        yield Form("TopK", (equal, I([2])), (1,), {"largest": largest, "axis": 0}, outputs=2)
    yield Form("TopK", (np.int32([-(2**31), 2**31 - 1, 0]), I([3])), (1,), {"largest": 0}, outputs=2)
    at = I([[0, 3, -1], [5, -4, 7]])
    for axis in (-1, 0, 1):
        yield Form("OneHot", (at, np.int64(4), np.float32([0.5, 2])), (1,), {"axis": axis})
    yield Form("OneHot", (at, I([4]), I([7, 9])), (1, 2))
    for upper in (0, 1):
        for k in (-2, 0, 1, 9):
            yield Form("Trilu", (x, np.int64(k)), (1,), {"upper": upper})
    yield Form("Trilu", (whole(4, 4, dtype="int64"),))
    yield Form("EyeLike", (real(3, 4),), attributes={"k": 1})
    yield Form("EyeLike", (real(3, 3),), attributes={"dtype": 7, "k": -1})
    yield Form("ReverseSequence", (x, I([2, 0, 4])), (1,), {"batch_axis": 0, "time_axis": 1})
    yield Form("ReverseSequence", (x, I([3, 0, 1, 2])), (1,))


def _resizing() -> Iterator[Form]:
    image, none = real(1, 2, 5, 4), np.zeros(0, np.float32)
    for coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"):
        said = {"coordinate_transformation_mode": coordinates}
        for scales in (np.float32([1, 1, 2, 3]), np.float32([1, 1, 0.6, 1.7])):
            for rounded in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
                for x in (image, whole(1, 2, 5, 4, dtype="uint8", low=0)):
                    yield Form("Resize", (x, none, scales), (1, 2), {**said, "nearest_mode": rounded})
            for mode in ("linear", "cubic"):
                yield Form("Resize", (image, none, scales), (1, 2), {**said, "mode": mode}, near=2e-6)
        sizes = I([1, 2, 3, 7])
        for mode in ("linear", "cubic"):
            yield Form("Resize", (image, none, none, sizes), (1, 2, 3), {**said, "mode": mode}, near=2e-6)
        yield Form("Resize", (image, None, None, sizes), (3,), said)
    more: dict[str, Any] = {"mode": "linear", "antialias": 1}
    yield Form("Resize", (image, None, np.float32([1, 1, 0.6, 0.5])), (2,), more, opset=18, near=2e-6)
    yield Form(
        "Resize", (image, None, np.float32([1, 1, 0.6, 0.5])), (2,), {**more, "mode": "cubic"}, opset=18, near=2e-6
    )
    yield Form("Resize", (image, None, np.float32([2, 0.5])), (2,), {"axes": [3, 2]}, opset=18)
    for policy in ("not_larger", "not_smaller"):
        yield Form("Resize", (image, None, None, I([7, 9])), (3,), {"axes": [2, 3], "keep_aspect_ratio_policy": policy},
                   opset=18)  # fmt: skip
    yield Form(
        "Resize", (image, none, np.float32([1, 1, 2, 1.5])), (1, 2), {"mode": "cubic", "exclude_outside": 1}, near=2e-6
    )
    region = np.float32([0, 0, 0.2, -0.1, 1, 1, 0.9, 1.2])
    cropped: dict[str, Any] = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.5}
    yield Form("Resize", (image, region, None, I([1, 2, 4, 6])), (1, 3), {**cropped, "mode": "linear"}, near=2e-6)
    yield Form("Resize", (real(2, 3, 8), none, np.float32([1, 1, 2])), (1, 2), {"mode": "linear"}, near=2e-6)
    yield Form("Resize", (image, np.float32([1, 1, 2, 3])), (1,), opset=10)
    yield Form("Resize", (image, np.float32([1, 1, 2, 2])), (1,), {"mode": "linear"}, opset=10, near=2e-6)
    yield Form("Upsample", (image, np.float32([1, 1, 2, 3])), (1,), opset=9)
    yield Form("Upsample", (image, np.float32([1, 1, 2, 3])), (1,), {"mode": "linear"}, opset=9, near=2e-6)


def _equations() -> Iterator[Form]:
    a, b, square = whole(3, 4, 5), whole(3, 5, 2), whole(2, 4, 4)
    for equation, operands in (
        ("bij,bjk->bik", (a, b)), ("bij, bjk", (a, b)), ("...ij,...jk->...ik", (a, b)), ("bij,bkj->bik", (a, a)),
        ("bij,bjk->kb", (a, b)), ("bij->jib", (a,)), ("bij->i", (a,)), ("bij", (a,)), ("...ii->...i", (square,)),
        ("bii->b", (square,)), ("i,j->ij", (whole(3), whole(4))), ("i,i", (whole(5), whole(5, seed=1))),
        ("bij,kij->bk", (a, whole(1, 4, 5))), ("...j,jk->...k", (a, whole(5, 3))),
        ("bij,bjk->bik", (a, whole(1, 5, 2))),
    ):  # fmt: skip
        yield Form("Einsum", operands, attributes={"equation": equation})
    kept = np.array([True, False, True])
    yield Form("Compress", (a, kept), (1,), {"axis": 0})
    yield Form("Compress", (a, np.array([False, True, True, False])), (1,), {"axis": -2})
    yield Form("Compress", (whole(9, dtype="uint8", low=0), kept), (1,))
    yield Form("NonZero", (whole(3, 4, low=-1, high=2),), (0,))


def _transposed() -> Iterator[Form]:
    x, w, bias = whole(2, 4, 5, 3), whole(4, 3, 3, 2), whole(3)
    said: tuple[dict[str, Any], ...] = (
        {}, {"strides": [2, 3]}, {"pads": [1, 0, 2, 1]}, {"strides": [3, 2], "output_padding": [2, 1]},
        {"dilations": [2, 1], "strides": [2, 2]}, {"strides": [2, 2], "output_shape": [9, 6]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
        {"auto_pad": "VALID", "strides": [4, 4]}, {"pads": [2, 1, 2, 1]},
    )  # fmt: skip
    for more in said:
        yield Form("ConvTranspose", (x, w, bias), (1, 2), more)
    yield Form("ConvTranspose", (x, w), (1,))
    yield Form("ConvTranspose", (x, whole(4, 2, 3, 3)), (1,), {"group": 2, "strides": [2, 2]})
    yield Form("ConvTranspose", (x, whole(4, 1, 3, 3)), (1,), {"group": 4, "strides": [2, 1]})
    yield Form("ConvTranspose", (whole(2, 3, 7), whole(3, 5, 4)), (1,), {"strides": [2], "pads": [1, 2]})
    yield Form("ConvTranspose", (whole(1, 2, 3, 4, 2), whole(2, 3, 2, 2, 2)), (1,), {"strides": [2, 1, 2]})


def _defined() -> Iterator[Form]:
    x = whole(3, 4, 5)
    for type in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"):
        operand = np.abs(x) + 1 if type == "ReduceLogSum" else x
        yield Form(type, (operand, I([1, -1])), (1,), {"keepdims": 0}, opset=18, ulp=4)
        yield Form(type, (operand, I([1])), (1,), opset=18, ulp=4)
    yield Form("LogSoftmax", (real(3, 4, 5),), attributes={"axis": 1}, ulp=8)
    yield Form("ThresholdedRelu", (real(3, 4),), attributes={"alpha": 0.75}, opset=22)
    yield Form("Shrink", (real(3, 4),), attributes={"lambd": 0.5, "bias": 0.25})
    yield Form("MeanVarianceNormalization", (real(2, 3, 4, 4),), ulp=64)
    parameters = real(4, seed=1), real(4, seed=2)
    yield Form("GroupNormalization", (real(2, 4, 3, 3), *parameters), (1, 2), {"num_groups": 2}, opset=21, ulp=64)
    q, k, v = (real(2, 3, 5, 8, seed=i) for i in range(3))
    yield Form("Attention", (q, k, v), opset=23, ulp=64)
    yield Form("Attention", (q, k, v), (), {"is_causal": 1, "scale": 0.5}, opset=23, ulp=64)
    yield Form("Attention", (q, k, v, real(5, 5, seed=7)), (3,), opset=23, ulp=64)
    yield Form("Attention", (real(2, 5, 24), real(2, 5, 24, seed=1), real(2, 5, 24, seed=2)), (),
               {"q_num_heads": 3, "kv_num_heads": 3}, opset=23, ulp=64)  # fmt: skip
    angles = real(2, 5, 4)
    yield Form("RotaryEmbedding", (q, np.cos(angles), np.sin(angles)), opset=23, ulp=4)
