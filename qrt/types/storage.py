"""Conversion of `storage` and `expressed` arguments (types, MLIR text, dtypes or their names) to types."""

import re
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError, shown
from qrt.numerics.float_text import FORMATS
from qrt.types.builtin import FloatType, IntegerType, Signedness
from qrt.types.core import Type
from qrt.types.parameters import as_integer


class TableStorage(Type):
    """Base of storage types whose integers are indices into a table; `QuantileType` is the only one.

    The class corresponds to upstream MLIR's interface for storage types that are not builtin.
    """

    __slots__ = ("is_signed",)
    is_signed: bool

    @property
    def width(self) -> int:
        """Number of bits of an index."""
        raise NotImplementedError

    @property
    def bounds(self) -> tuple[int, int]:
        """Least and greatest index."""
        raise NotImplementedError


StorageType = IntegerType | FloatType | TableStorage
MAX_STORAGE_WIDTH = 32
FLOAT_STORAGE = frozenset({"f8E5M2", "f8E4M3FN", "f4E2M1FN"})
"""Float types that upstream MLIR 24 allows as storage types."""


def storage_range(width: int, is_signed: bool) -> tuple[int, int]:
    """Return the least and the greatest integer of `width` bits."""
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if is_signed else (0, (1 << width) - 1)


# -- the constructors' checks ------------------------------------------------------------------------------------------


def default_bounds(storage: StorageType, is_signed: bool) -> tuple[int, int]:
    """Return the least and the greatest integer that a storage type represents.

    For a float storage type these are its least and greatest finite values, as integers.
    """
    if isinstance(storage, TableStorage):
        return storage.bounds
    if isinstance(storage, FloatType):
        return -int(storage.largest), int(storage.largest)
    return storage_range(storage.width, is_signed)


def storage_fields(storage: str | StorageType | npt.DTypeLike, low: int | None, high: int | None) -> dict[str, Any]:
    if low is None and high is None and not isinstance(storage, TableStorage):
        return dict(_default_storage(_storage_text(storage)))
    return _checked_fields(*parse_storage(storage), low, high)


@lru_cache(maxsize=256)
def _default_storage(storage: str) -> dict[str, Any]:
    return _checked_fields(*parse_storage(storage), None, None)


def _checked_fields(type: StorageType, is_signed: bool, low: int | None, high: int | None) -> dict[str, Any]:
    least, greatest = default_bounds(type, is_signed)
    low = least if low is None else as_integer(low, "the storage minimum")
    high = greatest if high is None else as_integer(high, "the storage maximum")
    if not least <= low <= greatest:
        raise QuantTypeError(f"illegal storage type minimum: {low}, expected {least} to {greatest}")
    if not least <= high <= greatest:
        raise QuantTypeError(f"illegal storage type maximum: {high}, expected {least} to {greatest}")
    if low >= high:
        raise QuantTypeError(
            f"illegal storage min and storage max: ({low}:{high}), expected a minimum below the maximum"
        )
    return {
        "storage_type": type,
        "is_signed": is_signed,
        "storage_min": low,
        "storage_max": high,
        "storage_width": type.width,
        "default_bounds": (least, greatest),
        "has_default_bounds": (low, high) == (least, greatest),
    }


_SIGNEDNESS: dict[str, Signedness] = {"si": "signed", "ui": "unsigned"}


def _storage_text(storage: object) -> str:
    if isinstance(storage, str | IntegerType | FloatType):
        return str(storage)
    return dtype_name(storage) or shown(storage)


def parse_storage(storage: str | StorageType | npt.DTypeLike) -> tuple[StorageType, bool]:
    """Return (type, is_signed) of a storage argument.

    The argument is `iN`, `siN`, `uN`, `uiN`, a float storage type, the NumPy dtype or its name, or a `TableStorage`.
    """
    if isinstance(storage, TableStorage):
        return storage, storage.is_signed
    text = _storage_text(storage)
    text = mlir_name(text) or text
    if text in FLOAT_STORAGE:
        return FloatType(text), True
    prefix = text.rstrip("0123456789")
    digits = text[len(prefix) :]
    if prefix not in ("i", "si", "u", "ui") or not digits or not digits.isascii():
        raise QuantTypeError(f"illegal storage type {shown(text)}: expected iN or uN")
    width = int(digits) if len(digits) < 9 else MAX_STORAGE_WIDTH + 1
    if not 1 <= width <= MAX_STORAGE_WIDTH:
        raise QuantTypeError(f"illegal storage type size: {digits}")
    return IntegerType(width, _SIGNEDNESS.get(prefix, "signless")), prefix in ("i", "si")


def expressed_type(expressed: str | FloatType | npt.DTypeLike) -> FloatType:
    if isinstance(expressed, FloatType):
        return expressed
    text = expressed if isinstance(expressed, str) else dtype_name(expressed) or ""
    name = text if text in FORMATS else mlir_name(text)
    if name not in FORMATS:
        raise QuantTypeError(f"invalid expressed type {shown(expressed).strip(chr(39))}: expected a float type")
    return FloatType(name)


# -- NumPy's names: "int8" for `i8`, "float32" for `f32`, "float8_e5m2" for `f8E5M2` -----------------------------------

_NAME = re.compile(r"(u?)int(\d{1,2})|float(\d{1,2})(?:_(e\d+m\d+(?:b11)?(?:fn|fnuz|fnu)?))?", re.ASCII)


def dtype_name(dtype: object) -> str | None:
    """Return the name of a dtype or of a NumPy scalar type, such as "int8"; None for any other object."""
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        dtype = np.dtype(dtype)
    return dtype.name if isinstance(dtype, np.dtype) else None


def mlir_name(name: str) -> str | None:
    """Return the MLIR spelling of a dtype name, `uN` for unsigned integers; None for any other text.

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
