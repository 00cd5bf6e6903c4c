"""Operators whose operands, attributes or quantization are wrong: refused at import, with the operator's place."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError
from qrt.models.profiles import profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Tensor
from tests.models.tflite.writing import one_op as one

_CONV = {"padding": "SAME", "stride_w": 1, "stride_h": 1, "dilation_w_factor": 1, "dilation_h_factor": 1}
_POOL = {"padding": "VALID", "stride_w": 1, "stride_h": 1, "filter_width": 2, "filter_height": 2}


def _i8(*shape: int, scale: float = 0.5, **others: Any) -> Tensor:
    return Tensor(shape, "int8", scales=scale, **others)


def _ints(*values: Any) -> Tensor:
    array = np.array(values, np.int32)
    return Tensor(array.shape, "int32", data=array)


def _weights(*shape: int, scale: float = 0.5, **others: Any) -> Tensor:
    return _i8(*shape, scale=scale, data=np.ones(shape, np.int8), **others)


def _bias(count: int, **others: Any) -> Tensor:
    return Tensor((count,), "int32", scales=0.25, data=np.zeros(count, np.int32), **others)


def _conv(said: Mapping[str, Any], scale: float = 0.5, bias: Tensor | None = None, name: str = "CONV_2D") -> bytes:
    x, w = _i8(1, 4, 4, 2), _weights(2, 3, 3, 2) if name == "CONV_2D" else _weights(1, 3, 3, 2)
    return one(name, [x, w, bias or _bias(2)], [_i8(1, 4, 4, 2, scale=scale)], {**_CONV, **said})


def _cases() -> Iterator[tuple[str, bytes]]:
    for name in ("stride_w", "stride_h", "dilation_w_factor", "dilation_h_factor"):
        for value in (0, -1):
            yield f"CONV_2D, {name} {value}", _conv({name: value})
            said = {name: value, "depth_multiplier": 1}
            yield f"DEPTHWISE_CONV_2D, {name} {value}", _conv(said, name="DEPTHWISE_CONV_2D")
    for value in (0, 3, -1):
        yield f"DEPTHWISE_CONV_2D, multiplier {value}", _conv({"depth_multiplier": value}, name="DEPTHWISE_CONV_2D")
    yield "CONV_2D, a scale of 256", _conv({}, scale=0.5 * 0.5 / 256)
    yield "CONV_2D, no bias", one("CONV_2D", [_i8(1, 4, 4, 2), _weights(2, 3, 3, 2), None], [_i8(1, 4, 4, 2)], _CONV)
    yield "CONV_2D, a bias of another length", _conv({}, bias=_bias(3))
    yield "CONV_2D, a bias with a zero point", _conv({}, bias=_bias(2, zero_points=1))
    yield "CONV_2D, a bias that is computed", _conv({}, bias=Tensor((2,), "float32", data=[0, 0]))
    yield "CONV_2D, the window does not fit", _conv({"padding": "VALID", "dilation_w_factor": 3})
    for name in ("MAX_POOL_2D", "AVERAGE_POOL_2D"):
        for key, value in {"stride_w": 0, "stride_h": -1, "filter_width": 0, "filter_height": 5}.items():
            pool = one(name, [_i8(1, 4, 4, 2)], [_i8(1, 3, 3, 2)], {**_POOL, key: value})
            yield f"{name}, {key} {value}", pool
    yield "CONCATENATION, unequal scales", one("CONCATENATION", [_i8(2), _i8(2, scale=0.25)], [_i8(4)], {"axis": 0})
    yield "RESHAPE, two -1", one("RESHAPE", [_i8(4), _ints(-1, -1)], [_i8(2, 2)])
    yield "RESHAPE, -2", one("RESHAPE", [_i8(4), _ints(-2, 2)], [_i8(2, 2)])
    yield "RESHAPE, other elements", one("RESHAPE", [_i8(4), _ints(3, 2)], [_i8(3, 2)])
    yield "RESHAPE, overflowing", one("RESHAPE", [_i8(4), _ints(*[2**31 - 1] * 5)], [_i8(4)])
    steps = [_ints(0, 0), _ints(2, 2), _ints(1, 0)]
    yield "STRIDED_SLICE, step 0", one("STRIDED_SLICE", [_i8(2, 2), *steps], [_i8(2, 2)])
    softmax = _i8(2, scale=1 / 256, zero_points=-128)
    for axis in (2, -3, 2**31 - 1, -(2**31)):
        yield f"CONCATENATION, axis {axis}", one("CONCATENATION", [_i8(2, 2), _i8(2, 2)], [_i8(4, 2)], {"axis": axis})
        yield f"MEAN, axis {axis}", one("MEAN", [_i8(2, 2), _ints(axis)], [_i8(2)])
        yield f"GATHER, axis {axis}", one("GATHER", [_i8(2, 2), _ints(0, 1)], [_i8(2, 2)], {"axis": axis})
        yield f"SPLIT, axis {axis}", one("SPLIT", [_ints(axis), _i8(2, 2)], [_i8(1, 2), _i8(1, 2)], {"num_splits": 2})
        packed = {"axis": min(axis + 1, 2**31 - 1) if axis > 0 else max(axis - 1, -(2**31)), "values_count": 2}
        yield f"PACK, axis {axis}", one("PACK", [_i8(2, 2)] * 2, [_i8(2, 2, 2)], packed)
        place = {"output_type": "INT32"}
        yield f"ARG_MAX, axis {axis}", one("ARG_MAX", [_i8(2, 2), _ints(axis)], [Tensor((2,), "int32")], place)
    for permutation in ((0, 0), (0, 2), (-3, 0), (0,), (0, 1, 2)):
        yield f"TRANSPOSE, {permutation}", one("TRANSPOSE", [_i8(2, 2), _ints(*permutation)], [_i8(2, 2)])
    for paddings in ([[0, -1], [0, 0]], [[0, 2**31 - 1], [0, 0]], [[0, 0]]):
        yield f"PAD, {paddings}", one("PAD", [_i8(2, 2), _ints(*paddings)], [_i8(2, 2)])
    for index in (2, -1, 2**31 - 1):
        yield f"GATHER, index {index}", one("GATHER", [_i8(2, 2), _ints(0, index)], [_i8(2, 2)])
    for block in (0, -2, 3):
        name = f"block {block}"
        x, said = _i8(1, 4, 4, 4), {"block_size": block}
        yield f"SPACE_TO_DEPTH, {name}", one("SPACE_TO_DEPTH", [x], [_i8(1, 2, 2, 16)], said)
        yield f"DEPTH_TO_SPACE, {name}", one("DEPTH_TO_SPACE", [x], [_i8(1, 8, 8, 1)], said)
        blocks = [_ints(block, 2), _ints([0, 0], [0, 0])]
        yield f"SPACE_TO_BATCH_ND, {name}", one("SPACE_TO_BATCH_ND", [_i8(1, 4, 4, 1), *blocks], [_i8(4, 2, 2, 1)])
        yield f"BATCH_TO_SPACE_ND, {name}", one("BATCH_TO_SPACE_ND", [_i8(4, 2, 2, 1), *blocks], [_i8(1, 4, 4, 1)])
    x, w = _i8(1, 4), _weights(2, 3)
    yield "FULLY_CONNECTED, depths differ", one("FULLY_CONNECTED", [x, w, _bias(2)], [_i8(1, 2)])
    yield (
        "FULLY_CONNECTED, a bias of another length",
        one("FULLY_CONNECTED", [x, _weights(2, 4), _bias(3)], [_i8(1, 2)]),
    )
    floats, products = Tensor((1, 4), "float32"), Tensor((2, 4), "float32", data=np.ones((2, 4), np.float32))
    hybrid = Tensor((2, 4), "int8", 0.5, data=np.ones((2, 4), np.int8))
    images, filters = Tensor((1, 4, 4, 2), "float32"), np.ones((2, 1, 1, 2), np.float32)
    for name, bias in (
        ("another length", Tensor((3,), "float32")),
        ("integers", Tensor((2,), "int32", data=np.ones(2, np.int32))),
        ("a matrix", Tensor((2, 4), "float32")),
    ):
        for weights in (products, hybrid):
            result = [Tensor((1, 2), "float32")]
            yield (
                f"FULLY_CONNECTED, float32, a bias of {name}, {weights.dtype}",
                one("FULLY_CONNECTED", [floats, weights, bias], result),
            )
        kernel = Tensor((2, 1, 1, 2), "float32", data=filters)
        conv = {"padding": "VALID", "stride_w": 1, "stride_h": 1}
        yield f"CONV_2D, float32, a bias of {name}", one("CONV_2D", [images, kernel, bias], [images], conv)
        shape = Tensor((4,), "int32", data=np.int32([1, 4, 4, 2]))
        yield (
            f"TRANSPOSE_CONV, float32, a bias of {name}",
            one("TRANSPOSE_CONV", [shape, kernel, images, bias], [images], conv),
        )
    number = Tensor((), "int32", data=1)
    yield "FULLY_CONNECTED, a bias of rank 0", one("FULLY_CONNECTED", [x, _weights(2, 4), number], [_i8(1, 2)])
    yield "ADD, shapes that do not broadcast", one("ADD", [_i8(2), _i8(3)], [_i8(3)])
    yield "ADD, other types", one("ADD", [_i8(2), Tensor((2,), "uint8", scales=0.5)], [_i8(2)])
    for name in ("SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION"):
        ends = {"SOFTMAX": {"beta": 1.0}, "L2_NORMALIZATION": {"fused_activation_function": "NONE"}}.get(name, {})
        yield f"{name}, no axis", one(name, [Tensor((), "float32")], [Tensor((), "float32")], ends)
    yield "SOFTMAX, beta NaN", one("SOFTMAX", [_i8(2)], [softmax], {"beta": float("nan")})
    yield "SOFTMAX, beta -1", one("SOFTMAX", [_i8(2)], [softmax], {"beta": -1.0})
    yield "LEAKY_RELU, alpha inf", one("LEAKY_RELU", [_i8(2)], [_i8(2)], {"alpha": float("inf")})
    yield "SPLIT, 3 of 2", one("SPLIT", [_ints(0), _i8(2, 2)], [_i8(1, 2)] * 3, {"num_splits": 3})
    yield "TOPK_V2, k 3 of 2", one("TOPK_V2", [_i8(2), Tensor((), "int32", data=3)], [_i8(3), Tensor((3,), "int32")])


_CASES = dict(_cases())


_RULES = {"CONV_2D, a scale of 256": ("litert",)}
"""LiteRT's reference kernels take what its default build refuses."""


@pytest.mark.parametrize(
    ("name", "rules"), [(name, rules) for name in _CASES for rules in _RULES.get(name, ("litert", "litert-ref"))]
)
def test_refused_with_the_operators_place(name: str, rules: str) -> None:
    with pytest.raises(ModelError) as caught:
        import_model(read(_CASES[name]), profile(rules))
    said = str(caught.value)
    operator = name.partition(",")[0]
    assert f"<bytes>: subgraph 0, operator 0 {operator}: " in said or f"{operator} (" in said
    assert len(said) < 2048
    assert said.count("\n") < 3
