"""The element types of ONNX, and the corresponding types of MLIR and NumPy."""

from functools import cache
from typing import Any

import numpy as np

from qrt.errors import ModelError
from qrt.ops.core import element_dtype
from qrt.types import FloatType, IntegerType, Type, UniformType

FLOATS = {
    "float": "f32", "float16": "f16", "double": "f64", "bfloat16": "bf16", "float8e4m3fn": "f8E4M3FN",
    "float8e4m3fnuz": "f8E4M3FNUZ", "float8e5m2": "f8E5M2", "float8e5m2fnuz": "f8E5M2FNUZ",
    "float8e8m0": "f8E8M0FNU", "float4e2m1": "f4E2M1FN", "float6e2m3": "f6E2M3FN",
    "float6e3m2": "f6E3M2FN",
}  # fmt: skip
"""MLIR's names of ONNX's float types."""
HALF_FLOATS = (FloatType("f16"), FloatType("bf16"))
WIDTHS = (2, 4, 8, 16, 32, 64)
NUMBERS = {
    1: "float", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool",
    10: "float16", 11: "double", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16",
    17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4", 22: "int4",
    23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2", 27: "float6e2m3", 28: "float6e3m2",
}  # fmt: skip
"""The dtypes by their numbers in files."""
PACKED = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4e2m1": 4, "float6e2m3": 6, "float6e3m2": 6}
"""The dtypes of which several elements share a byte, or an element lies in two, and their number of bits."""


@cache
def element_of(dtype: str) -> Type:
    """Return the MLIR type of an ONNX dtype such as "uint8". Raise ModelError if there is none."""
    if dtype in FLOATS:
        return FloatType(FLOATS[dtype])
    if dtype == "bool":
        return IntegerType(1)
    name, width = dtype.rstrip("0123456789"), dtype.lstrip("uint")
    if name in ("int", "uint") and width.isdigit() and int(width) in WIDTHS:
        return IntegerType(int(width), "unsigned" if name == "uint" else "signless")
    raise ModelError(f"tensors of {dtype} are not supported")


@cache
def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """Return the NumPy dtype of an ONNX dtype. Elements of less than a byte get a byte each."""
    return np.dtype(element_dtype(element_of(dtype)))


def dtype_of(element: Type) -> str:
    """Return ONNX's name of a float, integer or bool type, such as "uint8"."""
    if isinstance(element, FloatType):
        return next(name for name, text in FLOATS.items() if text == element.name)
    assert isinstance(element, IntegerType)
    if element.width == 1:
        return "bool"
    return f"{'u' if element.signedness == 'unsigned' else ''}int{element.width}"


def plain_of(element: Type) -> Type:
    """Return the type that elements have in a file: for a quantized type, the integer type of its storage."""
    if not isinstance(element, UniformType):
        return element
    if not isinstance(element.storage_type, IntegerType):
        return element.storage_type
    return element.storage_type if element.is_signed else IntegerType(element.storage_width, "unsigned")


def signless(element: Type) -> Type:
    """Return an integer type as the signless type of the same width, as `arith` requires. Other types are unchanged."""
    return IntegerType(element.width) if isinstance(element, IntegerType) else element
