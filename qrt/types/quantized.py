"""`!quant.uniform`, and the base classes of all types of the `quant` dialect.

The rules follow upstream MLIR 22: the reference text "'quant' Dialect", with the limits and messages of mlir-opt 22.
Scales are doubles; those of a sub-channel type are rounded to the expressed type, as upstream stores them. Types do not
depend on an upstream version: the parser decides which spellings a version accepts, and `str` is lossless.
"""

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from qrt.errors import MOST_LISTED, QuantTypeError, check_signature, require, shortened, summary
from qrt.numerics.float_arrays import spell_all
from qrt.numerics.ranges import range_parameters
from qrt.types.builtin import FloatType, IntegerType
from qrt.types.core import Type
from qrt.types.parameters import (
    Array,
    BlockSizes,
    check_scale,
    check_scales,
    check_scales_shape,
    checked_axis,
    checked_blocks,
    float_array,
    integer_bytes,
    ranges_around_0,
    rounded_scales,
)
from qrt.types.storage import StorageType, TableStorage, default_bounds, expressed_type, parse_storage, storage_fields

_DOUBLE = struct.Struct("=d")

Scales = float | Sequence["Scales"] | Array
ZeroPoints = int | Sequence["ZeroPoints"] | Array


class QuantizedType(Type):
    """Base of all types of the `quant` dialect."""

    __slots__ = ()
    expressed_type: FloatType | None


class StoredType(QuantizedType):
    """Base of the quantized types that have a storage type."""

    __slots__ = (
        "default_bounds",
        "expressed_type",
        "has_default_bounds",
        "is_signed",
        "storage_max",
        "storage_min",
        "storage_type",
        "storage_width",
    )
    storage_type: StorageType
    """The type `iN` for storage `iN` and `uN`; else the storage type itself (`siN`, `uiN`, float or quantile type)."""
    is_signed: bool
    storage_min: int
    storage_max: int
    storage_width: int
    """Width of the storage type in bits."""
    default_bounds: tuple[int, int]
    """The least and greatest integer that the storage type holds."""
    has_default_bounds: bool
    """True if the storage bounds are those of the storage type."""
    expressed_type: FloatType | None

    @property
    def storage(self) -> str:
        """Text of the storage type: `i8`, `u4`, `si8`, `f8E5M2`, ..."""
        text = str(self.storage_type)
        is_said = self.is_signed or isinstance(self.storage_type, TableStorage) or text.startswith("u")
        return text if is_said else f"u{self.storage_width}"

    @property
    def _storage_argument(self) -> str | StorageType:
        """Storage type as the constructor's `storage` argument."""
        return self.storage_type if isinstance(self.storage_type, TableStorage) else self.storage

    @property
    def is_storage_castable(self) -> bool:
        """True if the storage type is a signless integer, so that `quant.scast` can convert to it and back."""
        return isinstance(self.storage_type, IntegerType) and self.storage_type.is_signless

    def _spell_storage(self) -> str:
        bounds = "" if self.has_default_bounds else f"<{self.storage_min}:{self.storage_max}>"
        return f"{self.storage}{bounds}"


class UniformType(StoredType):
    """A uniform quantized type: expressed = (storage - zero_point) * scale.

    There is one scale and zero point for the whole tensor (per layer), for each index of an axis (per axis), or for
    each block (sub-channel).

    Parameters
    ----------
    storage : str or IntegerType or FloatType or dtype
        The storage type: "i8", "u4", "si8", ... of 1 to 32 bits, "int8" or ``np.int8``. It may also be a float or
        quantile type of upstream MLIR 24, which kernels cannot execute.
    expressed : str or FloatType or dtype
        The float type of the represented values: "f32", "float32" or ``np.float32``.
    scales : float or nested sequences of float, optional
        A float for a per-layer type; a sequence with ``axis``; nested sequences, one level per tensor dimension, with
        ``block_sizes``.
    zero_points : int or nested sequences of int, optional
        The zero points, in the shape of ``scales``; by default 0.
    axis : int, optional
        The axis of a per-axis type: each index (channel) has its own scale.
    block_sizes : mapping of int to int, optional
        The block sizes of a sub-channel type, by axis.
    storage_min, storage_max : int, optional
        The least and the greatest storage integer; by default those of the storage type.
    scale, zero_point : optional
        Synonyms of ``scales`` and ``zero_points``. Give only one of each pair.

    Raises
    ------
    QuantTypeError
        If an argument is invalid; the message names it.

    Examples
    --------
    >>> str(UniformType("i8", "f32", 0.5, 3))
    '!quant.uniform<i8:f32, 5.000000e-01:3>'
    >>> UniformType(np.int8, np.float32, scale=0.5, zero_point=3) is UniformType("i8", "f32", 0.5, 3)
    True
    >>> str(UniformType("u8", "f32", [0.5, 1.0], axis=1))
    '!quant.uniform<u8:f32:1, {5.000000e-01,1.000000e+00}>'
    >>> UniformType("i4", "f32", [[0.5], [1.0]], block_sizes={0: 2}).scales_shape
    (2, 1)
    """

    __slots__ = (
        "_scales",
        "_zero_points",
        "axis",
        "block_sizes",
        "is_per_axis",
        "is_per_layer",
        "is_sub_channel",
        "scale_array",
        "scales_shape",
        "zero_point_array",
        "zero_point_bounds",
    )
    _scales: tuple[float, ...] | None
    _zero_points: tuple[int, ...] | None
    expressed_type: FloatType
    scales_shape: tuple[int, ...]
    """`()` per layer, `(channels,)` per axis, one entry per tensor dimension for sub-channel."""
    scale_array: Array
    """The scales as a read-only float64 array of `scales_shape`."""
    zero_point_array: Array
    """The zero points as a read-only int64 array of `scales_shape`."""
    zero_point_bounds: tuple[int, int]
    """The least and the greatest zero point."""
    axis: int | None
    block_sizes: BlockSizes | None
    is_per_layer: bool
    """True if there is one scale and zero point."""
    is_per_axis: bool
    """True if each index of `axis` has a scale and a zero point."""
    is_sub_channel: bool
    """True if each block has a scale and a zero point."""

    @check_signature
    def __new__(
        cls,
        storage: str | StorageType | npt.DTypeLike,
        expressed: str | FloatType | npt.DTypeLike,
        scales: Scales | None = None,
        zero_points: ZeroPoints | None = None,
        axis: int | None = None,
        block_sizes: Mapping[int, int] | Iterable[tuple[int, int]] | None = None,
        storage_min: int | None = None,
        storage_max: int | None = None,
        *,
        scale: Scales | None = None,
        zero_point: ZeroPoints | None = None,
    ) -> Self:
        fields = storage_fields(storage, storage_min, storage_max)
        kind = fields["expressed_type"] = expressed_type(expressed)
        fields["axis"] = checked_axis(axis)
        if scales is None or scale is not None or zero_point is not None:
            scales = _one_of("scales", scales, "scale", scale)
            zero_points = _one_of("zero_points", zero_points, "zero_point", zero_point, required=False)
        blocks = fields["block_sizes"] = checked_blocks(block_sizes)
        if axis is not None and blocks is not None:
            raise QuantTypeError("a quantized type must have either an axis or block sizes, got both")
        if isinstance(scales, float) and axis is None and blocks is None:
            check_scale(scales, kind)
            shape: tuple[int, ...] = ()
            scale_bytes = _DOUBLE.pack(scales)
        else:
            shape, values = float_array(scales)
            check_scales_shape(shape, axis, blocks)
            check_scales(values, kind)
            scale_bytes = (values if blocks is None else rounded_scales(values, kind)).tobytes()
        parameters = shape, scale_bytes, integer_bytes(zero_points, shape)
        # Bytes are hashed faster than Python numbers. A scale is never -0.0, so equal scales have equal bytes.
        key = (cls, *fields.values(), *parameters)
        return cls._interned.get(key) or cls._intern(key, fields | _parameters(*parameters, axis, blocks))

    @property
    def scales(self) -> tuple[float, ...]:
        """All scales in row-major order."""
        if self._scales is None:
            object.__setattr__(self, "_scales", tuple(self.scale_array.ravel().tolist()))
            assert self._scales is not None
        return self._scales

    @property
    def zero_points(self) -> tuple[int, ...]:
        """All zero points in row-major order."""
        if self._zero_points is None:
            object.__setattr__(self, "_zero_points", tuple(self.zero_point_array.ravel().tolist()))
            assert self._zero_points is not None
        return self._zero_points

    @classmethod
    @check_signature
    def for_range(
        cls,
        lo: Scales,
        hi: Scales,
        storage: str | StorageType | npt.DTypeLike = "i8",
        expressed: str | FloatType | npt.DTypeLike = "f32",
        *,
        symmetric: bool = False,
        narrow: bool = False,
        axis: int | None = None,
        block_sizes: Mapping[int, int] | Iterable[tuple[int, int]] | None = None,
    ) -> Self:
        """Return the type whose range includes ``lo``, ``hi`` and 0 with the least scale (see docs/numerics.md).

        Parameters
        ----------
        lo, hi : float or array_like
            The ends of the range of values. With ``axis`` or ``block_sizes``, arrays with one element per scale.
        storage : str or dtype, default "i8"
            The integer storage type.
        expressed : str or FloatType or dtype, default "f32"
            The float type of the represented values. Each scale is a value of this type, too.
        symmetric : bool, default False
            True puts the zero point in the middle of the storage range: 0 for signed storage.
        narrow : bool, default False
            True leaves out the least storage integer: -127 to 127 for i8.
        axis : int, optional
            The axis of a per-axis type.
        block_sizes : mapping of int to int, optional
            The block sizes of a sub-channel type, by axis.

        Returns
        -------
        UniformType

        Raises
        ------
        QuantTypeError
            If a bound is not finite, ``hi`` is below ``lo``, or the storage has too few values for the range.

        Examples
        --------
        >>> str(UniformType.for_range(-1.0, 3.0, "u8"))
        '!quant.uniform<u8:f32, 0.015706807374954224:64>'
        >>> str(UniformType.for_range(-1.0, 3.0, "i8", symmetric=True, narrow=True))
        '!quant.uniform<i8<-127:127>:f32, 0.023622049018740654>'
        """
        for what, flag in (("symmetric", symmetric), ("narrow", narrow)):
            require(flag, (bool, np.bool_), repr(what), "True or False")
        stored, is_signed = parse_storage(storage)
        if not isinstance(stored, IntegerType):
            raise QuantTypeError(f"for_range: 'storage' must be an integer type, got {stored}")
        least, greatest = default_bounds(stored, is_signed)
        kind = expressed_type(expressed)
        if narrow and least + 1 == greatest:
            raise QuantTypeError("'storage' must have at least 2 bits with narrow=True, got 1")
        low, high = ranges_around_0(lo, hi)
        scales, zeros = range_parameters(low, high, least + bool(narrow), greatest, kind.name, symmetric=symmetric)
        return cls(storage, kind, scales, zeros, axis, block_sizes, least + bool(narrow), greatest)

    @property
    def scale(self) -> float:
        """The scale of a per-layer type. Raises QuantTypeError for any other type."""
        self._require_per_layer("scale")
        return self.scales[0]

    @property
    def zero_point(self) -> int:
        """The zero point of a per-layer type. Raises QuantTypeError for any other type."""
        self._require_per_layer("zero point")
        return self.zero_points[0]

    def _require_per_layer(self, what: str) -> None:
        if not self.is_per_layer:
            raise QuantTypeError(f"only a per-layer type has a single {what}, got {self}")

    def with_(self, **changes: Any) -> "UniformType":
        """Return a copy with the given constructor arguments changed.

        If `storage` is changed and no bounds are given, the bounds are those of the new storage type.

        >>> str(UniformType("i8", "f32", 0.5, 3).with_(scales=0.25))
        '!quant.uniform<i8:f32, 2.500000e-01:3>'
        """
        for name in ("scale", "zero_point"):
            if name in changes:
                changes[f"{name}s"] = _one_of(f"{name}s", changes.get(f"{name}s"), name, changes.pop(name))
        arguments: dict[str, Any] = dict(zip(_ARGUMENTS, self.__reduce__()[1], strict=True))
        if unknown := changes.keys() - arguments.keys():
            raise QuantTypeError(
                f"no parameter of a uniform type is named {min(unknown)!r}: the parameters are {', '.join(arguments)}"
            )
        if "storage" in changes:
            arguments["storage_min"] = arguments["storage_max"] = None
        if "scales" in changes and "zero_points" not in changes and not any(self.zero_point_bounds):
            arguments["zero_points"] = None
        return UniformType(**(arguments | changes))

    def spell(self) -> str:
        texts = spell_all(self.scale_array.ravel(), "f64" if self.block_sizes is None else self.expressed_type.name)
        if any(self.zero_point_bounds):
            texts = [*map(_spell_pair, texts, self.zero_points)]
        if self.is_per_layer:
            return f"{self._head()}{texts[0]}>"
        if self.is_per_axis:
            return f"{self._head()}{{{','.join(texts)}}}>"
        return f"{self._head()}{_spell_nested(texts, self.scales_shape)}>"

    def shown(self) -> str:
        if math.prod(self.scales_shape) <= MOST_LISTED:
            return shortened(str(self))
        scales = self.scale_array
        bounds = self.zero_point_bounds if any(self.zero_point_bounds) else ()
        return shortened(f"{self._head()}{summary(self.scales_shape, 'scales', (scales.min(), scales.max()), bounds)}>")

    def _head(self) -> str:
        """Return the type's text up to the scales: `!quant.uniform<i8:f32:0, `."""
        blocks = ", ".join(f"{axis}:{size}" for axis, size in self.block_sizes or ())
        layout = "" if self.is_per_layer else f":{self.axis}" if self.is_per_axis else f":{{{blocks}}}"
        return f"!quant.uniform<{self._spell_storage()}:{self.expressed_type}{layout}, "

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        scales: Any = self.scales[0] if self.is_per_layer else self.scale_array
        zeros: Any = self.zero_points[0] if self.is_per_layer else None
        if any(self.zero_point_bounds) and not self.is_per_layer:
            zeros = self.zero_point_array
        bounds = (None, None) if self.has_default_bounds else (self.storage_min, self.storage_max)
        return type(self), (
            self._storage_argument,
            self.expressed_type,
            scales,
            zeros,
            self.axis,
            self.block_sizes,
            *bounds,
        )


def _parameters(
    shape: tuple[int, ...], scales: bytes, zeros: bytes, axis: int | None, blocks: BlockSizes | None
) -> dict[str, Any]:
    """Return the fields of a UniformType that are derived from its scales and zero points, given as bytes."""
    scale_array = np.frombuffer(scales).reshape(shape)
    zero_point_array = np.frombuffer(zeros or bytes(len(scales)), np.int64).reshape(shape)
    ends = (zero_point_array.min(), zero_point_array.max()) if zeros and shape else zero_point_array.flat[[0, 0]]
    return {
        "scales_shape": shape,
        "scale_array": scale_array,
        "zero_point_array": zero_point_array,
        "zero_point_bounds": (int(ends[0]), int(ends[1])),
        "is_per_layer": axis is None and blocks is None,
        "is_per_axis": axis is not None,
        "is_sub_channel": blocks is not None,
        "_scales": None,  # tuples of Python numbers, built on first use
        "_zero_points": None,
    }


_ARGUMENTS = ("storage", "expressed", "scales", "zero_points", "axis", "block_sizes", "storage_min", "storage_max")


def _one_of(plural: str, many: Any, singular: str, one: Any, *, required: bool = True) -> Any:
    """Return the argument given under either of its two names, such as `scales` or `scale`.

    Raises QuantTypeError if both are given, or if neither is although it is required.
    """
    if many is not None and one is not None:
        raise QuantTypeError(f"{singular!r} and {plural!r} set the same parameter: give one of them")
    if required and many is None and one is None:
        raise QuantTypeError(
            'a uniform type needs scales: write qrt.UniformType("i8", "f32", 0.5), or take the type that '
            "qrt.quantize(x, bits=8) chooses"
        )
    return many if one is None else one


# -- text --------------------------------------------------------------------------------------------------------------


def _spell_pair(scale: str, zero_point: int) -> str:
    return f"{scale}:{zero_point}" if zero_point else scale


def _spell_nested(items: list[str], shape: tuple[int, ...]) -> str:
    for size in reversed(shape):
        items = [f"{{{', '.join(items[i : i + size])}}}" for i in range(0, len(items), size)]
    return items[0]
