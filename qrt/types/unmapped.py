"""Quantized types without scales: `!quant.any`, `!quant.calibrated` and `!quant.none`.

The first two follow upstream MLIR's rules. `!quant.none` comes from the propagation RFC; upstream MLIR does not have
it.
"""

import math
from typing import Self

from qrt.errors import QuantTypeError
from qrt.numerics.float_text import spell_double
from qrt.types.builtin import FloatType
from qrt.types.parameters import as_float
from qrt.types.quantized import QuantizedType, StoredType
from qrt.types.storage import StorageType, expressed_type, storage_fields


class AnyQuantizedType(StoredType):
    """A quantized type with storage but without scales: `!quant.any<storage(<min:max>)?(: expressed)?>`.

    Parameters
    ----------
    storage : str or IntegerType or FloatType
        The storage type: "i8", "u4", "si8", ... of 1 to 32 bits, or a float or quantile type of upstream MLIR 24.
    expressed : str or FloatType, optional
        The float type of the represented values, if known.
    storage_min, storage_max : int, optional
        The least and the greatest storage integer; by default those of the storage type.

    Raises
    ------
    QuantTypeError
        If an argument is invalid; the message names it.

    Examples
    --------
    >>> str(AnyQuantizedType("i8", "f32", -8, 7))
    '!quant.any<i8<-8:7>:f32>'
    """

    __slots__ = ()

    def is_met_by(self, width: int, low: int, high: int) -> bool:
        """Return True if integer storage of `width` bits with range `low`..`high` is large enough for this type.

        The storage needs at least as many bits as this type and, if this type has explicit bounds, at least as many
        values.

        >>> AnyQuantizedType("i8", "f32").is_met_by(8, -127, 127)
        True
        >>> AnyQuantizedType("i8", "f32", -100, 100).is_met_by(8, -50, 50)
        False
        """
        values = 0 if self.has_default_bounds else self.storage_max - self.storage_min
        return width >= self.storage_width and high - low >= values

    def __new__(
        cls,
        storage: str | StorageType,
        expressed: str | FloatType | None = None,
        storage_min: int | None = None,
        storage_max: int | None = None,
    ) -> Self:
        fields = storage_fields(storage, storage_min, storage_max)
        fields["expressed_type"] = None if expressed is None else expressed_type(expressed)
        return cls._intern((cls, *fields.values()), fields)

    def spell(self) -> str:
        expressed = "" if self.expressed_type is None else f":{self.expressed_type}"
        return f"!quant.any<{self._spell_storage()}{expressed}>"

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self._storage_argument, self.expressed_type, self.storage_min, self.storage_max)


class CalibratedType(QuantizedType):
    """A float type whose values were observed to lie in min..max: `!quant.calibrated<expressed<min:max>>`.

    Parameters
    ----------
    expressed : str or FloatType
        The type of the values.
    min, max : float
        The least and the greatest observed value.

    Raises
    ------
    QuantTypeError
        If ``expressed`` is not a float type, or ``min`` is not below ``max``.

    Examples
    --------
    >>> str(CalibratedType("f32", -1, 1))
    '!quant.calibrated<f32<-1.000000e+00:1.000000e+00>>'
    """

    __slots__ = ("expressed_type", "max", "min")
    expressed_type: FloatType
    min: float
    max: float

    def __new__(cls, expressed: str | FloatType, min: float, max: float) -> Self:
        low, high = as_float(min, "'min'"), as_float(max, "'max'")
        if not low < high:
            raise QuantTypeError(f"illegal min and max: ({spell_double(low)}:{spell_double(high)})")
        kind = expressed_type(expressed)
        key = (cls, kind, low, high, math.copysign(1.0, low), math.copysign(1.0, high))
        return cls._intern(key, {"expressed_type": kind, "min": low, "max": high})

    def spell(self) -> str:
        return f"!quant.calibrated<{self.expressed_type}<{spell_double(self.min)}:{spell_double(self.max)}>>"

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.expressed_type, self.min, self.max)


class NoQuantizedType(QuantizedType):
    """A float type whose values must not be quantized, even where a quantized kernel exists: `!quant.none<expressed>`.

    The propagation RFC calls it `NoQuantizedType` and gives it no text; upstream has no such type.

    Parameters
    ----------
    expressed : str or FloatType
        The type of the values.

    Raises
    ------
    QuantTypeError
        If ``expressed`` is not a float type.

    Examples
    --------
    >>> str(NoQuantizedType("f32"))
    '!quant.none<f32>'
    """

    __slots__ = ("expressed_type",)
    expressed_type: FloatType

    def __new__(cls, expressed: str | FloatType) -> Self:
        kind = expressed_type(expressed)
        return cls._intern((cls, kind), {"expressed_type": kind})

    def spell(self) -> str:
        return f"!quant.none<{self.expressed_type}>"

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.expressed_type,)
