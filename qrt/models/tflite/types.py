"""The types that tensors of a file have in IR."""

from qrt.errors import ModelError
from qrt.models.tflite.model import Quantization, Tensor
from qrt.types import FloatType, IntegerType, TensorType, Type, UniformType

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
