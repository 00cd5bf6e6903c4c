"""Data classes for the content of a TFLite file, and the IR types of its tensors.

`qrt.models.tflite.read.read` returns a `Model`, in which every index has been checked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import ModelError
from qrt.types import FloatType, IntegerType, TensorType, Type, UniformType

ABSENT = -1
"""The index of an absent optional operand."""


@dataclass(frozen=True, eq=False, slots=True)
class Quantization:
    """Scales and zero points of a tensor: one of each for the whole tensor, or one for each index along ``axis``.

    If ``block_size`` is not 0 ("blockwise"), the tensor is a matrix, with one scale for each block of ``block_size``
    elements of a row. ``scales`` is then a matrix too, and all zero points are 0.
    """

    scales: npt.NDArray[np.float32]
    zero_points: npt.NDArray[np.int64]
    axis: int
    block_size: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class Tensor:
    """A tensor of a subgraph.

    - ``dtype`` is the schema's name in lower case: "float32", "int8", "bool", "resource", ...
    - ``signature`` is ``shape`` with -1 for dynamic dimensions.
    - ``data`` is a read-only view of the elements in the file, as uint8 if NumPy does not have the dtype ("string").
      The elements of "int4" and "int2", of which the file has several in each byte, are an int8 array. ``data`` is None
      for an input, a variable, and a tensor that an operator computes.
    - ``blocks`` is None unless the file stores only some elements of ``data`` ("sparse"). It has the sizes by axis of
      the blocks that are stored whole, such as (1, 16); (1, 1) for single elements.
    - ``unsupported`` describes a property that no operator supports, such as "a custom quantization"; else it is "".
    """

    index: int
    name: str
    shape: tuple[int, ...]
    signature: tuple[int, ...]
    dtype: str
    quantization: Quantization | None
    data: npt.NDArray[Any] | None
    is_variable: bool
    blocks: tuple[int, ...] | None = None
    unsupported: str = ""

    @property
    def is_constant(self) -> bool:
        """True if the file has the tensor's elements."""
        return self.data is not None


@dataclass(frozen=True, eq=False, slots=True)
class Operator:
    """An operator of a subgraph. Its inputs, outputs and intermediates are tensor indices, or `ABSENT`.

    ``name`` is TFLite's name, such as "CONV_2D", or the code of a custom operator. ``options`` has every field of the
    operator's options table, by the schema's names: enumerations as strings ("SAME"), vectors as tuples, and absent
    fields with the schema's default.
    """

    index: int
    name: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    intermediates: tuple[int, ...]
    options: Mapping[str, Any]
    custom_options: bytes
    is_custom: bool


@dataclass(frozen=True, eq=False, slots=True)
class Subgraph:
    """A subgraph: its tensors, and its operators in execution order. ``inputs`` and ``outputs`` are tensor indices."""

    index: int
    name: str
    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Signature:
    """A named entry point: the index of a subgraph, and the tensor indices of its inputs and outputs by name."""

    key: str
    subgraph: int
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]


@dataclass(frozen=True, eq=False, slots=True)
class Model:
    """The content of a TFLite file. ``name`` is the file's name in error messages."""

    name: str
    version: int
    description: str
    subgraphs: tuple[Subgraph, ...]
    signatures: tuple[Signature, ...]


_FLOATS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
_PLAIN: dict[str, Type] = {name: FloatType(text) for name, text in _FLOATS.items()}
_PLAIN["complex64"] = FloatType("f32")  # the type of the real and of the imaginary parts
_PLAIN["bool"] = IntegerType(1)
_PLAIN |= {f"int{width}": IntegerType(width) for width in (8, 16, 32, 64)}
_PLAIN |= {f"uint{width}": IntegerType(width, "unsigned") for width in (8, 16, 32, 64)}
_STORAGE = {"int2": "i2", "int4": "i4", "uint4": "u4", "int8": "i8", "uint8": "u8", "int16": "i16", "int32": "i32"}
"""The storage types of quantized tensors by dtype. A quantized type stores at most 32 bits."""


def storage_of(tensor: Tensor) -> str:
    """Return the storage type of a quantized tensor, such as "i8"; for other tensors the dtype, such as "float32"."""
    if tensor.quantization is None:
        return tensor.dtype
    return _STORAGE.get(tensor.dtype, tensor.dtype)


def element_of(tensor: Tensor) -> Type:
    """Return the IR type of a tensor's elements. Raise ModelError for a dtype that IR does not have."""
    storage = _STORAGE.get(tensor.dtype)
    if tensor.quantization is not None and storage is not None:
        return uniform(storage, tensor.quantization)
    element = _PLAIN.get(tensor.dtype)
    if element is None:
        raise ModelError(f"tensor {tensor.name!r} is of {tensor.dtype}, which is not supported")
    return element


def uniform(storage: str, quantization: Quantization) -> UniformType:
    """Return the quantized type with a storage type and the scales and zero points of a tensor.

    The file's float32 scales are converted to doubles, which is exact.
    """
    scales, zeros = quantization.scales, quantization.zero_points
    if quantization.block_size:
        return UniformType(storage, "f32", scales, zeros, block_sizes={0: 1, 1: quantization.block_size})
    if len(scales) == 1:
        return UniformType(storage, "f32", float(scales[0]), int(zeros[0]))
    return UniformType(storage, "f32", scales, zeros, quantization.axis)


def type_of(tensor: Tensor) -> TensorType:
    """Return the IR type of a tensor, with the dynamic dimensions of its ``signature``."""
    return TensorType(tuple(None if size < 0 else size for size in tensor.signature), element_of(tensor))
