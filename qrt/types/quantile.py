"""`!quant.quantile`, which upstream 24 has: storage that numbers the entries of a table of floats.

The rules are those of upstream's tests `quantile-types.mlir` and `invalid-quantile-types.mlir`. Where they say nothing
the stricter reading stands: entries are finite float literals and `uN` is no storage.
"""

import math
from collections.abc import Iterable
from typing import Self

from qrt.errors import QuantTypeError
from qrt.text.floats import spell_double
from qrt.types.builtin import FloatType
from qrt.types.core import Type
from qrt.types.storage import FLOAT_STORAGE, StorageType, default_bounds, parse_storage


class QuantileType(Type):
    """`!quant.quantile<storage:quantile, {quantiles}(, <min:max>)?>`: one entry for each storage value of min..max.

    `storage` is `iN`, `siN`, `uiN` or a float that is stored in, `quantile_type` a float type; `str` or types.

    Raises QuantTypeError, naming the part, where a limit is broken.

    >>> str(QuantileType("ui1", "f16", [-1.0, 1.0]))
    '!quant.quantile<ui1:f16, {-1.000000e+00,1.000000e+00}>'
    >>> str(QuantileType("i8", "f32", [-1.0, 0.0, 1.0], -1, 1))
    '!quant.quantile<i8:f32, {-1.000000e+00,0.000000e+00,1.000000e+00}, <-1:1>>'
    """

    __slots__ = ("is_signed", "quantile_type", "quantiles", "storage_max", "storage_min", "storage_type")
    storage_type: StorageType
    is_signed: bool
    storage_min: int
    storage_max: int
    quantile_type: FloatType
    quantiles: tuple[float, ...]

    def __new__(
        cls,
        storage: str | StorageType,
        quantile_type: str | FloatType,
        quantiles: Iterable[float],
        storage_min: int | None = None,
        storage_max: int | None = None,
    ) -> Self:
        type, is_signed = parse_quantile_storage(storage)
        least, greatest = default_bounds(type, is_signed)
        low = least if storage_min is None else storage_min
        high = greatest if storage_max is None else storage_max
        kind = FloatType(str(quantile_type))
        values = tuple(map(float, quantiles))
        if low >= high:
            raise QuantTypeError(f"storage min must be less than storage max: ({low}:{high})")
        for what, bound in (("minimum", low), ("maximum", high)):
            if not least <= bound <= greatest:
                raise QuantTypeError(f"illegal storage type {what}: {bound}")
        if not values:
            raise QuantTypeError("quantile values must not be empty")
        if len(values) != high - low + 1:
            raise QuantTypeError(
                f"quantile LUT size ({len(values)}) must equal the number of representable storage values "
                f"({high - low + 1})"
            )
        if not all(map(math.isfinite, values)):
            raise QuantTypeError("quantile values must be finite")
        signs = tuple(math.copysign(1.0, value) for value in values)  # 0.0 == -0.0, which are spelled apart
        fields: dict[str, object] = {
            "storage_type": type,
            "is_signed": is_signed,
            "storage_min": low,
            "storage_max": high,
            "quantile_type": kind,
            "quantiles": values,
        }
        return cls._intern((*fields.values(), signs), lambda: fields)

    @property
    def has_default_bounds(self) -> bool:
        return (self.storage_min, self.storage_max) == default_bounds(self.storage_type, self.is_signed)

    def spell(self) -> str:
        quantiles = ",".join(map(spell_double, self.quantiles))
        bounds = "" if self.has_default_bounds else f", <{self.storage_min}:{self.storage_max}>"
        return f"!quant.quantile<{self.storage_type}:{self.quantile_type}, {{{quantiles}}}{bounds}>"

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (
            self.storage_type,
            self.quantile_type,
            self.quantiles,
            self.storage_min,
            self.storage_max,
        )


def parse_quantile_storage(storage: str | StorageType) -> tuple[StorageType, bool]:
    """(type, signed) of `iN`, `siN`, `uiN` or a float that is stored in."""
    text = str(storage)
    if text not in FLOAT_STORAGE and text.rstrip("0123456789") not in ("i", "si", "ui"):
        known = ", ".join(("iN", "siN", "uiN", *sorted(FLOAT_STORAGE)))
        raise QuantTypeError(f"storage type must be an integer or float type, one of {known}, not {text}")
    return parse_storage(text)
