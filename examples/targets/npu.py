"""An NPU whose kernels take channels-first images: docs/tutorials/a_target_from_outside.md builds it step by step."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from qrt import ir
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import constant_of
from qrt.ir.core.traits import PURE
from qrt.numerics import fixed_multiplier
from qrt.quantization.targets import KernelMatch, RegionCall, Target, match_kernel
from qrt.types import UniformType


def integers(operation: ir.Operation, name: str) -> Any:
    return operation.attributes[name].python


def uniform(value: ir.Value) -> UniformType:
    element = element_of(value.type)
    assert isinstance(element, UniformType)
    return element


def rescaled(sums: Any, scale: Fraction, result: UniformType, low: int, high: int) -> Any:
    """Return sums times a scale as codes of the result's type: a 31-bit multiplier and a shift, rounded half up."""
    m0, shift = fixed_multiplier(scale / Fraction(result.scale))
    codes = (sums.astype(np.int64) * m0 + (1 << (shift - 1))) >> shift
    return np.clip(codes + result.zero_point, low, high)


def run_conv2d(operation: ir.Operation, compiler: Any) -> Callable[..., Any]:
    x_type, w_type = (uniform(value) for value in operation.operands[:2])
    result = uniform(operation.results[0])
    strides, padding = integers(operation, "strides"), integers(operation, "padding")
    low, high = integers(operation, "low"), integers(operation, "high")

    def conv2d(x: Any, w: Any, *bias: Any) -> Any:
        codes = np.pad(x.astype(np.int64) - x_type.zero_point, [(0, 0), (0, 0), *padding])
        windows = np.lib.stride_tricks.sliding_window_view(codes, w.shape[2:], axis=(2, 3))
        windows = windows[:, :, :: strides[0], :: strides[1]]
        sums = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.int64) - w_type.zero_point)
        for vector in bias:
            sums = sums + vector.astype(np.int64)[:, None, None]
        return rescaled(sums, Fraction(x_type.scale) * Fraction(w_type.scale), result, low, high).astype(np.int8)

    return conv2d


def run_add(operation: ir.Operation, compiler: Any) -> Callable[..., Any]:
    zero_point = uniform(operation.results[0]).zero_point
    low, high = integers(operation, "low"), integers(operation, "high")
    return lambda a, b: np.clip(a.astype(np.int64) + b - zero_point, low, high).astype(np.int8)


def run_requantize(operation: ir.Operation, compiler: Any) -> Callable[..., Any]:
    given, result = uniform(operation.operands[0]), uniform(operation.results[0])

    def requantize(x: Any) -> Any:
        sums = x.astype(np.int64) - given.zero_point
        return rescaled(sums, Fraction(given.scale), result, result.storage_min, result.storage_max).astype(np.int8)

    return requantize


def operation(name: str, *operands: str) -> ir.Definition:
    return ir.Definition(name, operands=operands, results=("y",), traits={PURE})


ir.register_dialect(
    "npu",
    SimpleNamespace(
        OPS=[
            operation("npu.conv2d", "x", "w", "bias?"),
            operation("npu.add", "a", "b"),
            operation("npu.requantize", "x"),
        ],
        HANDLERS={"npu.conv2d": run_conv2d, "npu.add": run_add, "npu.requantize": run_requantize},
    ),
)


def is_zero(value: ir.Value) -> bool:
    constant = constant_of(value)
    return constant is not None and constant.python == 0


def channels_first(value: ir.Value) -> KernelMatch | None:
    """Match a convolution of channels-first images that begins with zeros."""
    conv = value.operation
    if conv is None or conv.name != "linalg.conv_2d_nchw_fchw":
        return None
    fill, dilations = conv.operands[2].operation, conv.attributes.get("dilations")
    is_plain = dilations is None or set(np.ravel(dilations.python)) == {1}
    if not is_plain or fill is None or fill.name != "linalg.fill" or not is_zero(fill.operands[0]):
        return None
    given = conv.attributes.get("strides")
    strides = (1, 1) if given is None else tuple(map(int, np.ravel(given.python)))
    operands = tuple((operand, None) for operand in conv.operands[:2])
    return KernelMatch("npu.conv2d", operands, (conv,), attributes={"strides": strides})


def channels_last(value: ir.Value) -> KernelMatch | None:
    """Match what the kernel conv2d of qrt computes, without dilations and groups."""
    match = match_kernel("conv2d", value)
    if match is None or set(match.attributes["dilations"]) != {1} or match.attributes.get("groups", 1) != 1:
        return None
    return match


def write_conv2d(call: RegionCall) -> Sequence[ir.Value]:
    low, high = call.bounds
    strides = call.attributes["strides"]
    padding = call.attributes.get("padding", ((0, 0), (0, 0)))
    return call.emit("npu.conv2d", call.operands, call.results, strides=strides, padding=padding, low=low, high=high)


def write_add(call: RegionCall) -> Sequence[ir.Value]:
    low, high = call.bounds
    return call.emit("npu.add", call.operands, call.results, low=low, high=high)


def write_requantize(operation: ir.Operation, builder: ir.Builder) -> list[ir.Value] | None:
    """Replace a rescale of qrt by one of the NPU."""
    if operation.name != "qrt.requantize":
        return None
    types = [uniform(value) for value in (*operation.operands, *operation.results)]
    if not all(type.is_per_layer and type.storage == "i8" for type in types):
        return None
    return [*builder.emit("npu.requantize", operation.operands, [operation.results[0].type]).results]


TARGET = Target("npu", (), rescale_cost=3, rewrites=(write_requantize,))
TARGET.kernel(
    "npu.conv2d",
    ports={"x": "i8", "w": "i8 symmetric", "bias?": "i32", "y": "i8"},
    constraint="multiplier_accumulator_scale",
    pattern=channels_first,
    legalize=write_conv2d,
)
TARGET.kernel(
    "npu.conv2d_nhwc",
    ports={"x": "i8 layout=0,3,1,2", "w": "i8 symmetric layout=0,3,1,2", "bias?": "i32", "y": "i8 layout=0,3,1,2"},
    constraint="multiplier_accumulator_scale",
    pattern=channels_last,
    legalize=write_conv2d,
)
TARGET.kernel(
    "npu.add", ports={"a": "i8", "b": "i8", "y": "i8"}, constraint="same_scale", pattern="add", legalize=write_add
)
