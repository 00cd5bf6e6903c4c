"""Writes models of one operator as TFLite and ONNX files, with inputs for both.

A quantized model in ONNX has the operator between casts, and uint8 where TFLite has int8: ONNX Runtime has fast kernels
for it. Images are NHWC in TFLite and NCHW in ONNX.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tests.models.onnx.writing import model, node, port
from tests.models.tflite.writing import Tensor, one_op

Array = np.ndarray[Any, np.dtype[Any]]
SIGN = 128
"""The difference between the zero points of uint8 and int8."""
NCHW = (0, 3, 1, 2)
ONNX_DTYPES = {"int8": "UINT8", "float32": "FLOAT", "int32": "INT32", "int64": "INT64"}


@dataclass(frozen=True, eq=False)
class Value:
    """A value of an operator, as TFLite has it. A constant has ``data``."""

    shape: Sequence[int]
    dtype: str = "int8"
    scale: float = 0.05
    zero_point: int = 3
    data: Array | None = None
    is_image: bool = False

    @property
    def is_quantized(self) -> bool:
        return self.dtype in ("int8", "int16")

    def tensor(self) -> Tensor:
        """Return the tensor of a TFLite file."""
        if not self.is_quantized:
            return Tensor(self.shape, self.dtype, data=self.data)
        return Tensor(self.shape, self.dtype, self.scale, 0 if self.dtype == "int16" else self.zero_point, 0, self.data)

    def onnx_shape(self) -> list[int]:
        return [self.shape[axis] for axis in NCHW] if self.is_image else list(self.shape)

    def in_onnx(self, array: Array) -> Array:
        """Return the elements as ONNX has them."""
        if self.is_image:
            array = np.ascontiguousarray(array.transpose(NCHW))
        return (array.astype(np.int16) + SIGN).astype(np.uint8) if self.dtype == "int8" else array


@dataclass(frozen=True)
class Models:
    """The files of an operation, by the ending of their names, and the inputs of each."""

    files: Mapping[str, bytes]
    inputs: Mapping[str, Sequence[Array]]
    is_image: bool = False
    """The layouts of the formats differ, so that each file is compared with the runtime of its format alone."""


@dataclass(frozen=True)
class Operator:
    """An operator of one format: its name, options or attributes, and version."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1
    domain: str = ""
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Further operands of a node: the last ones, which no casts surround."""
    absent: int = 0
    """So many operands before the constants are absent."""


def drawn(rng: np.random.Generator, shape: Sequence[int], dtype: str) -> Array:
    """Return random elements: of the whole range of a dtype, or normal floats."""
    if dtype == "float32":
        return rng.standard_normal(tuple(shape), np.float32)
    if dtype == "bool":
        return rng.integers(0, 2, tuple(shape)).astype(bool)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, tuple(shape), dtype, endpoint=True)


def operation(
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    tflite: Operator | None,
    onnx: Operator | None = None,
    *,
    parameters: Sequence[Tensor | None] = (),
    places: Sequence[int] | None = None,
) -> Models:
    """Return the models of an operation. ``parameters`` are further inputs in TFLite, behind the others. ``places``
    reorders the inputs there."""
    rng = np.random.default_rng(0)
    arrays = [drawn(rng, each.shape, each.dtype) if each.data is None else each.data for each in inputs]
    given = [index for index, each in enumerate(inputs) if each.data is None]
    files, values = {}, {}
    if tflite is not None:
        tensors: list[Any] = [*(each.tensor() for each in inputs), *parameters]
        if places is not None:
            tensors = [tensors[place] for place in places]
        files["tflite"] = one_op(
            tflite.name, tensors, [each.tensor() for each in outputs], tflite.options, version=tflite.version
        )
        values["tflite"] = [arrays[index] for index in given]
    if onnx is not None:
        files["onnx"] = _onnx(inputs, outputs, onnx)
        values["onnx"] = [inputs[index].in_onnx(arrays[index]) for index in given]
    return Models(files, values, any(each.is_image for each in inputs))


def _onnx(inputs: Sequence[Value], outputs: Sequence[Value], operator: Operator) -> bytes:
    """Return a file with the operator, between casts where values are quantized."""
    nodes, constants, names, results = [], dict(operator.constants), [], []
    ports, made = [], []
    for index, value in enumerate(inputs):
        name = f"x{index}"
        if value.data is None:
            ports.append(port(name, ONNX_DTYPES.get(value.dtype, value.dtype.upper()), value.onnx_shape()))
        else:
            constants[name] = value.in_onnx(value.data)
        names.append(f"{name}f" if value.is_quantized else name)
        if value.is_quantized:
            nodes.append(node("DequantizeLinear", [name, *_parameters(name, value, constants)], [names[-1]]))
    last = []
    for index, value in enumerate(outputs):
        name = f"y{index}"
        made.append(port(name, ONNX_DTYPES.get(value.dtype, value.dtype.upper()), value.onnx_shape()))
        results.append(f"{name}f" if value.is_quantized else name)
        if value.is_quantized:
            last.append(node("QuantizeLinear", [results[-1], *_parameters(name, value, constants)], [name]))
    names += [""] * operator.absent + [*operator.constants]
    nodes.append(node(operator.name, names, results, domain=operator.domain, **operator.options))
    return model([*nodes, *last], ports, made, constants, opset=max(19, operator.version))


def _parameters(name: str, value: Value, constants: dict[str, Any]) -> list[str]:
    constants[f"{name}s"] = np.float32(value.scale)
    constants[f"{name}z"] = np.uint8(value.zero_point + SIGN)
    return [f"{name}s", f"{name}z"]


def elementwise(
    name: str,
    shapes: Sequence[Sequence[int]],
    dtype: str,
    onnx: str | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    attributes: Mapping[str, Any] | None = None,
    version: int = 2,
    out_scale: float = 0.1,
    out_zero_point: int = -5,
    is_same_type: bool = False,
) -> Models:
    """Return the models of an operator of one or two operands that broadcast."""
    values = [Value(shape, dtype, 0.05 + 0.02 * index * (not is_same_type)) for index, shape in enumerate(shapes)]
    shape = np.broadcast_shapes(*map(tuple, shapes))
    y = replace(values[0], shape=shape) if is_same_type else Value(shape, dtype, out_scale, out_zero_point)
    if dtype not in ("int8", "float32"):
        onnx = None
    operator = Operator(onnx, attributes or {}) if onnx else None
    return operation(values, [y], Operator(name, options or {}, version), operator)
