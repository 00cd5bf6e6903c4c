"""A TFLite model as the file describes it, and the types of its tensors in IR: what the importer, and whoever explains
a model, reads.

`qrt.models.tflite.read.read` makes it. Every index that it holds was checked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import ModelError
from qrt.types import FloatType, IntegerType, TensorType, Type, UniformType

ABSENT = -1
"""The index of an optional operand that is not given."""


@dataclass(frozen=True, eq=False, slots=True)
class Quantization:
    """Scales and zero points: one of each for the whole tensor, or one for each index along the axis."""

    scales: npt.NDArray[np.float32]
    zero_points: npt.NDArray[np.int64]
    axis: int


@dataclass(frozen=True, eq=False, slots=True)
class Tensor:
    """A tensor of a subgraph. ``dtype`` is the schema's name in lower case: "float32", "int8", "bool", "resource"...

    ``signature`` is -1 where the file leaves a dimension open, and ``shape`` elsewhere. ``data`` is a read-only view of
    the file, or None for what is computed, an input or state. What NumPy has no type for stays bytes: "int4", "string".
    """

    index: int
    name: str
    shape: tuple[int, ...]
    signature: tuple[int, ...]
    dtype: str
    quantization: Quantization | None
    data: npt.NDArray[Any] | None
    is_variable: bool

    @property
    def is_constant(self) -> bool:
        """Whether the file holds its elements."""
        return self.data is not None


@dataclass(frozen=True, eq=False, slots=True)
class Operator:
    """An operator: ``name`` is TFLite's, or the code of a custom one. An operand that is absent is `ABSENT`.

    ``options`` has each field of the operator's table, by the schema's names; enumerations are names ("SAME"), vectors
    are tuples. A field that the file does not say has the schema's default.
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
    """A function: operators in the order in which they run. ``inputs`` and ``outputs`` index ``tensors``."""

    index: int
    name: str
    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Signature:
    """A name of a subgraph, and names of its inputs and outputs; they index the subgraph's tensors."""

    key: str
    subgraph: int
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]


@dataclass(frozen=True, eq=False, slots=True)
class Model:
    """A whole file. ``name`` is for messages."""

    name: str
    version: int
    description: str
    subgraphs: tuple[Subgraph, ...]
    signatures: tuple[Signature, ...]


_FLOATS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
_PLAIN: dict[str, Type] = {name: FloatType(text) for name, text in _FLOATS.items()}
_PLAIN["bool"] = IntegerType(1)
_PLAIN |= {f"int{width}": IntegerType(width) for width in (8, 16, 32, 64)}
_PLAIN |= {f"uint{width}": IntegerType(width, "unsigned") for width in (8, 16, 32, 64)}
_STORAGE = {"int8": "i8", "uint8": "u8", "int16": "i16", "int32": "i32"}
"""The dtypes of quantized tensors. A quantized type stores at most 32 bits."""


def storage_of(tensor: Tensor) -> str:
    """The storage of a quantized tensor, as types spell it; the dtype of any other tensor."""
    if tensor.quantization is None:
        return tensor.dtype
    return _STORAGE.get(tensor.dtype, tensor.dtype)


def element_of(tensor: Tensor) -> Type:
    """The type of the elements. A tensor without scales holds plain numbers. Raises ModelError for a dtype that has no
    type in IR.
    """
    storage = _STORAGE.get(tensor.dtype)
    if tensor.quantization is not None and storage is not None:
        return uniform(storage, tensor.quantization)
    found = _PLAIN.get(tensor.dtype)
    if found is None:
        raise ModelError(f"tensor {tensor.name!r} is of {tensor.dtype}, which is not supported")
    return found


def uniform(storage: str, quantization: Quantization) -> UniformType:
    """The quantized type of these parameters. A scale of the file is a float32, which a double holds."""
    scales, zeros = quantization.scales, quantization.zero_points
    if len(scales) == 1:
        return UniformType(storage, "f32", float(scales[0]), int(zeros[0]))
    return UniformType(storage, "f32", scales, zeros, quantization.axis)


def type_of(tensor: Tensor) -> TensorType:
    """The type of a tensor. A size that the file leaves open is dynamic."""
    return TensorType(tuple(None if size < 0 else size for size in tensor.signature), element_of(tensor))
