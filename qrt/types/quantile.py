"""`!quant.quantile`, a type of upstream version 24: the storage integers are indices into a table of values.

The rules follow LLVM main after llvm#204793. Cases that upstream leaves open are errors: table entries must be finite
float literals, and `uN` is not a storage type.
"""

import math
from collections.abc import Iterable
from typing import Self

from qrt.errors import QuantTypeError
from qrt.numerics.float_text import spell_double
from qrt.types.builtin import FloatType, IntegerType
from qrt.types.core import as_type
from qrt.types.parameters import as_integer
from qrt.types.storage import FLOAT_STORAGE, StorageType, TableStorage, default_bounds, parse_storage


class QuantileType(TableStorage):
    """A type `!quant.quantile<storage:quantile, {quantiles}(, <min:max>)?>`: a table with one value per storage index.

    The indices are min..max; without bounds there is one value for each bit pattern of the storage type. The type
    occurs by itself, or as the storage type of `!quant.uniform` and `!quant.any`, whose default bounds are then
    min..max.

    Parameters
    ----------
    storage : str or IntegerType or FloatType
        The storage type: "iN", "siN", "uiN" or a float storage type. "iN" is unsigned here, like "uiN".
    quantile_type : str or FloatType or IntegerType
        The type of the table's values.
    quantiles : iterable of float
        The table's values.
    storage_min, storage_max : int, optional
        The indices of the first and of the last value, which may be outside the range of the storage type. A type with
        explicit bounds is not equal to the type without, even if the bounds are those of the storage type.

    Raises
    ------
    QuantTypeError
        If an argument is invalid; the message names it.

    Examples
    --------
    >>> str(QuantileType("ui1", "f16", [-1.0, 1.0]))
    '!quant.quantile<ui1:f16, {-1.000000e+00,1.000000e+00}>'
    >>> str(QuantileType("i8", "f32", [-1.0, 0.0, 1.0], -1, 1))
    '!quant.quantile<i8:f32, {-1.000000e+00,0.000000e+00,1.000000e+00}, <-1:1>>'
    """

    __slots__ = ("quantile_type", "quantiles", "storage_max", "storage_min", "storage_type")
    storage_type: IntegerType | FloatType
    storage_min: int | None
    storage_max: int | None
    quantile_type: FloatType | IntegerType
    quantiles: tuple[float, ...]

    def __new__(
        cls,
        storage: str | StorageType,
        quantile_type: str | FloatType | IntegerType,
        quantiles: Iterable[float],
        storage_min: int | None = None,
        storage_max: int | None = None,
    ) -> Self:
        type, is_signed = parse_quantile_storage(storage)
        kind = as_type(quantile_type)
        if not isinstance(kind, FloatType | IntegerType):
            raise QuantTypeError(f"quantile type must be a float or integer type, not {kind}")
        values = tuple(map(float, quantiles))
        count = 1 << type.width
        if (storage_min is None) != (storage_max is None):
            raise QuantTypeError(
                "a quantile type must have both bounds or none, got one bound: give storage_min and storage_max"
            )
        if storage_min is not None and storage_max is not None:
            low, high = as_integer(storage_min, "'storage_min'"), as_integer(storage_max, "'storage_max'")
            if low >= high:
                raise QuantTypeError(f"storage min must be less than storage max: ({low}:{high})")
            count = high - low + 1
        if not values:
            raise QuantTypeError("quantile values must not be empty")
        if len(values) != count:
            raise QuantTypeError(
                f"quantile LUT size ({len(values)}) must equal the number of representable storage values ({count})"
            )
        if not all(map(math.isfinite, values)):
            raise QuantTypeError("quantile values must be finite")
        signs = tuple(math.copysign(1.0, value) for value in values)  # 0.0 == -0.0, but their texts differ
        fields: dict[str, object] = {
            "storage_type": type,
            "is_signed": is_signed,
            "storage_min": storage_min,
            "storage_max": storage_max,
            "quantile_type": kind,
            "quantiles": values,
        }
        return cls._intern((cls, *fields.values(), signs), fields)

    @property
    def width(self) -> int:
        return self.storage_type.width

    @property
    def bounds(self) -> tuple[int, int]:
        if self.storage_min is None or self.storage_max is None:
            return default_bounds(self.storage_type, self.is_signed)
        return self.storage_min, self.storage_max

    def spell(self) -> str:
        quantiles = ",".join(map(spell_double, self.quantiles))
        bounds = "" if self.storage_min is None else f", <{self.storage_min}:{self.storage_max}>"
        return f"!quant.quantile<{self.storage_type}:{self.quantile_type}, {{{quantiles}}}{bounds}>"

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (
            self.storage_type,
            self.quantile_type,
            self.quantiles,
            self.storage_min,
            self.storage_max,
        )


def parse_quantile_storage(storage: str | StorageType) -> tuple[IntegerType | FloatType, bool]:
    """Return (type, is_signed) of a storage type `iN`, `siN`, `uiN` or float; `iN` is unsigned here."""
    text = str(storage)
    if text not in FLOAT_STORAGE and text.rstrip("0123456789") not in ("i", "si", "ui"):
        known = ", ".join(("iN", "siN", "uiN", *sorted(FLOAT_STORAGE)))
        raise QuantTypeError(f"storage type must be an integer or float type, one of {known}, not {text}")
    type, is_signed = parse_storage(text)
    assert isinstance(type, IntegerType | FloatType)  # as its text says
    return type, is_signed and not (isinstance(type, IntegerType) and type.is_signless)
