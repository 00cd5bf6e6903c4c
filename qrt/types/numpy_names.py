"""NumPy's names of storage and expressed types: "int8" for `i8`, "float32" for `f32`, "float8_e5m2" for `f8E5M2`."""

import re

import numpy as np

_NAME = re.compile(r"(u?)int(\d{1,2})|float(\d{1,2})(?:_(e\d+m\d+(?:b11)?(?:fn|fnuz|fnu)?))?", re.ASCII)


def dtype_name(dtype: object) -> str | None:
    """The name of a dtype, or of the type of its scalars; None for what is neither."""
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        dtype = np.dtype(dtype)
    return dtype.name if isinstance(dtype, np.dtype) else None


def mlir_name(name: str) -> str | None:
    """MLIR's spelling of what NumPy calls so; unsigned storage is `uN`. None for another name.

    >>> mlir_name("uint4"), mlir_name("bfloat16"), mlir_name("float8_e4m3b11fnuz"), mlir_name("i8")
    ('u4', 'bf16', 'f8E4M3B11FNUZ', None)
    """
    if name == "bfloat16":
        return "bf16"
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    sign, bits, width, kind = match.groups()
    return f"{sign or 'i'}{bits}" if bits else f"f{width}{(kind or '').upper()}"
