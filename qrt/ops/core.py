"""The base of all op families: their interface, storage dtypes, and the quantization parameters of elements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import prod
from numbers import Real
from typing import Any, NoReturn, Protocol, TypeVar, cast
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError, shown
from qrt.numerics.conversions import float_dtype
from qrt.ops.declare import NO_TRAITS, Declaration, Traits
from qrt.types import FloatType, IndexType, IntegerType, TensorType, Type, UniformType, check_integrity

Array = npt.NDArray[Any]
Types = tuple[TensorType, ...]
Attributes = Mapping[str, Any]
Constants = Mapping[int, Array]
"""Operands that are known at binding, by number."""
Shape = tuple[int, ...]
R = TypeVar("R")


class DerivedArray(np.ndarray[Any, Any]):
    """A read-only array with another form of the array ``origin``, for one call: packed bits unpacked, or dequantized
    values.

    A call that packs its constants drops this array. It recognizes the origin, and so an earlier call whose packed form
    it can share.
    """

    origin: Array | None = None

    @staticmethod
    def of(values: Array, origin: Array) -> "DerivedArray":
        """Return the values in read-only memory."""
        derived = DerivedArray(values.shape, values.dtype, values.tobytes())
        derived.origin = origin
        return derived


class KernelCall(Protocol):
    """An op bound to types, shapes and attributes.

    It is called with the arrays that were not constants at binding, then the outputs. It is one C entry
    (``qrt._ext.kernels.KernelCall``), or Python code with the same interface.
    """

    def __call__(self, *arrays: Array) -> None: ...


class AttributeLike(Protocol):
    """An attribute of an op of the IR."""

    @property
    def python(self) -> Any: ...


@dataclass(frozen=True)
class OpFamily:
    """An op family on plain arrays of storage integers or floats.

    - ``infer(types, attributes, result)`` returns the result type or raises ``QuantTypeError``. ``result`` is declared:
      None, an unranked type (only its element matters) or a whole type. Dimensions may be dynamic only here. Only
      ``infer`` checks types; the other functions rely on it.
    - ``reference(arrays, types, result, attributes)`` computes with ``numerics`` alone.
    - ``bind(types, result, attributes, constants)`` packs constants, of the operands in ``packs`` alone, and returns a
      call into C, or None if no kernel has the signature; a family without kernels has no ``bind``.
    - ``view_offset(types, result, attributes)`` returns the offset in elements of the result in the first operand's
      memory, if that holds it already, so that a plan need not compute it; else None.
    - ``traits`` has the facts that passes need.

    In a family of several results, all these functions have tuples in place of the result: of declared types, of types,
    of arrays. Generic code calls ``resolve_all``, ``compute`` and ``call``, which have tuples for every family.
    """

    declaration: Declaration
    infer: Callable[[Types, Attributes, Any], TensorType | Types]
    reference: Callable[[Sequence[Array], Types, Any, Attributes], Any]
    bind: Callable[[Types, Any, Attributes, Constants], KernelCall | None] | None = None
    packs: tuple[int, ...] = ()
    view_offset: Callable[[Types, TensorType, Attributes], int | None] = lambda types, result, attributes: None
    traits: Traits = NO_TRAITS

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def module(self) -> str:
        """The name of the family's module in ``qrt.ops``."""
        rule = self.infer.func if isinstance(self.infer, partial) else self.infer
        return rule.__module__.rpartition(".")[2]

    def given_attributes(self, attributes: Mapping[str, AttributeLike]) -> dict[str, Any]:
        """Return the family's attributes that an op of the IR has, as plain values."""
        defaults = self.declaration.defaults
        return {name: value.python for name, value in attributes.items() if name in defaults}

    def read(self, attributes: Mapping[str, AttributeLike]) -> dict[str, Any]:
        """Return the family's attributes of an op of the IR as plain values, with the defaults filled in."""
        return self.complete(self.given_attributes(attributes))

    def complete(self, attributes: Attributes) -> dict[str, Any]:
        """Return attributes with the defaults filled in. Raise QuantTypeError for an unknown name."""
        defaults = self.declaration.defaults
        unknown = set(attributes) - set(defaults)
        if unknown:
            known = f"the attributes are {', '.join(defaults)}" if defaults else "it has no attributes"
            raise QuantTypeError(f"{self.name}: no attribute is named {min(unknown)!r}: {known}")
        return {**defaults, **attributes}

    def resolve(self, types: Types, attributes: Attributes, result: TensorType | None = None) -> TensorType:
        """Return the inferred type of the only result, after checking the operand count."""
        (inferred,) = self.resolve_all(types, attributes, (result,))
        return inferred

    def resolve_all(
        self, types: Types, attributes: Attributes, results: Sequence[TensorType | None] | None = None
    ) -> Types:
        """Return the inferred type of each result, after checking the operand count."""
        declared = self.declaration
        results = (None,) * len(declared.results) if results is None else tuple(results)
        if len(types) < declared.least or (len(types) > len(declared.operands) and not declared.is_variadic):
            wanted = ", ".join(operand.name for operand in declared.operands)
            most = "or more" if declared.is_variadic else f"to {len(declared.operands)}"
            count = declared.least if most == f"to {declared.least}" else f"{declared.least} {most}"
            raise QuantTypeError(f"{self.name}: expected {count} operands ({wanted}), got {len(types)}")
        inferred = _all(self.infer(types, attributes, self._own(results)))
        if declared.result.keeps_type:
            keep_element(self.name, inferred[0].element, types, results[0])
        return inferred

    def kept_type(self, types: Types, attributes: Attributes, declared: TensorType) -> Type | None:
        """Return the element type of a result of the declared shape if the family keeps that of the first operand, else
        None."""
        if not self.declaration.result.keeps_type:
            return None
        if self.traits.kept_type is not None:
            return self.traits.kept_type(types, attributes, declared)
        return self.resolve(types, attributes).element

    def compute(
        self, arrays: Sequence[Array], types: Types, results: Types, attributes: Attributes
    ) -> tuple[Array, ...]:
        """Compute every result by the reference."""
        return _all(self.reference(arrays, types, self._own(results), attributes))

    def call(
        self, types: Types, results: TensorType | Types, attributes: Attributes, constants: Constants | None = None
    ) -> tuple[KernelCall, bool]:
        """Return the call for these types, and whether it is a kernel.

        If no kernel has the signature, it is the reference.
        """
        results, constants = _all(results), constants or {}
        packed = set(constants) <= set(self.packs)
        bound = self.bind(types, self._own(results), attributes, constants) if self.bind and packed else None
        return (
            (bound, True) if bound is not None else (ReferenceCall(self, types, results, attributes, constants), False)
        )

    def _own(self, results: tuple[R, ...]) -> R | tuple[R, ...]:
        """Return results in the form that the family's functions take: a single one without its tuple."""
        if len(results) != len(self.declaration.results):
            wanted = ", ".join(self.declaration.results)
            raise QuantTypeError(f"{self.name}: expected a type for each result ({wanted}), got {len(results)}")
        return results if len(results) > 1 else results[0]


def _all(results: R | tuple[R, ...]) -> tuple[R, ...]:
    return results if isinstance(results, tuple) else (results,)


@dataclass(frozen=True)
class ReferenceCall:
    """A kernel call that runs the plain reference of an op, for signatures without a kernel."""

    family: OpFamily
    types: Types
    results: Types
    attributes: Attributes
    constants: Constants

    def __call__(self, *arrays: Array) -> None:
        given = iter(arrays)
        operands = [  # a plan may give an operand that was reshaped in its first shape
            (self.constants[i] if i in self.constants else next(given)).reshape(static_shape(type, self.family.name))
            for i, type in enumerate(self.types)
        ]
        computed = self.family.compute(operands, self.types, self.results, self.attributes)
        for out, values in zip(given, computed, strict=True):
            out[...] = values.reshape(out.shape)


KERNEL_FLOATS = frozenset({"f16", "bf16", "f32", "f64"})


def without_repeats(zero_points: Sequence[int]) -> Sequence[int]:
    """Return a single zero point if all are equal, as for symmetric weights, which saves memory in the call."""
    return zero_points if len(set(zero_points)) > 1 else zero_points[:1]


def container(t: UniformType) -> str:
    """Return the kernels' name of the smallest container of the storage type: ``i8`` ... ``u32``.

    Raises ``QuantTypeError`` for float and table storage, which is not executable.
    """
    if not isinstance(t.storage_type, IntegerType):
        raise QuantTypeError(
            f"values of type {t} are not executable: its storage type must be an integer type, got {t.storage_type}"
        )
    bits = 8 if t.storage_width <= 8 else 16 if t.storage_width <= 16 else 32
    return f"{'i' if t.is_signed else 'u'}{bits}"


@lru_cache(maxsize=512)
def storage_dtype(t: UniformType) -> np.dtype[Any]:
    """Return the smallest NumPy integer dtype of the storage type's signedness."""
    name = container(t)
    return np.dtype(f"{name[0]}{int(name[1:]) // 8}")


def expressed_dtype(t: FloatType) -> np.dtype[Any]:
    """Return the NumPy dtype of an expressed type; float32 for tf32. f80 and f128 have none: an error."""
    return float_dtype(t.name)


def element_dtype(t: Type) -> np.dtype[Any]:
    """Return the NumPy dtype for values of an element type; for a quantized type that of its storage."""
    if isinstance(t, UniformType):
        return storage_dtype(t)
    if isinstance(t, FloatType):
        return expressed_dtype(t)
    if isinstance(t, IndexType):
        return np.dtype(np.int64)
    if isinstance(t, IntegerType) and t.width <= 64:
        bits = next(b for b in (8, 16, 32, 64) if t.width <= b)
        return np.dtype(bool) if t.width == 1 else np.dtype(f"{'u' if t.signedness == 'unsigned' else 'i'}{bits // 8}")
    raise QuantTypeError(f"values of type {t} are not executable: no NumPy dtype represents them")


def quantized(t: TensorType, op: str, operand: str) -> UniformType:
    """Return the quantized element type of an operand after checking it. Raise QuantTypeError, naming the operand."""
    if not isinstance(t.element, UniformType):
        raise QuantTypeError(f"{op}: {operand} must be a tensor of !quant.uniform, got {t}")
    if not _is_sound(t):
        _check_fits(t.element, t.shape, f"{op}: {operand}")
        check_zero_points(t.element, f"{op}: {operand}")
    return t.element


def uniform(t: TensorType) -> UniformType:
    """Return the quantized element type of a tensor, which the family's ``infer`` has checked."""
    assert isinstance(t.element, UniformType)
    return t.element


_SOUND: WeakSet[TensorType] = WeakSet()
"""Quantized types whose parameters fit their shape and their storage. Types are interned: one is checked once."""


def _is_sound(t: TensorType) -> bool:
    if t in _SOUND:
        return True
    assert isinstance(t.element, UniformType)
    try:
        check_zero_points(t.element, "")
        check_integrity(t.element, t.shape)
    except QuantTypeError:
        return False
    _SOUND.add(t)
    return True


def _check_fits(t: UniformType, shape: Sequence[int | None] | None, what: str) -> None:
    try:
        check_integrity(t, shape)
    except QuantTypeError as error:
        raise QuantTypeError(f"{what} cannot have the type {TensorType(shape, t)}: {error}") from None


def check_zero_points(t: UniformType, what: str) -> None:
    """Raise QuantTypeError for zero points out of the storage type's range: types may have any 64-bit zero point,
    arithmetic may not."""
    low, high = t.default_bounds
    least, greatest = t.zero_point_bounds
    if not low <= least <= greatest <= high:
        worst = next(z for z in t.zero_points if not low <= z <= high)
        raise QuantTypeError(
            f"{what} must have zero points in [{low}, {high}], the range of its storage type {t.storage}, "
            f"got {worst} in {t}"
        )


def check_bounds(array: Array, t: UniformType) -> None:
    """Raise QuantTypeError for storage outside of ``[storage_min, storage_max]``."""
    info = np.iinfo(array.dtype)
    if array.size == 0 or (info.min >= t.storage_min and info.max <= t.storage_max):
        return
    low, high = int(array.min()), int(array.max())
    if low < t.storage_min or high > t.storage_max:
        worst = low if low < t.storage_min else high
        raise QuantTypeError(
            f"storage values must be in [{t.storage_min}, {t.storage_max}], the storage bounds of {t}, got {worst}"
        )


def static_shape(t: TensorType, op: str) -> Shape:
    """Return the shape of a type. Raise QuantTypeError if it is not static."""
    if t.shape is None or None in t.shape:
        raise QuantTypeError(f"{op}: the shape of {t} must be static")
    return cast("Shape", t.shape)


def row_major_strides(shape: Shape) -> Shape:
    """Return the number of elements between neighbours along each dimension."""
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


def one_axis(op: str, types: Types, attributes: Attributes) -> int:
    """Return the attribute ``axis`` as an axis of the first operand, counted from 0.

    Raise QuantTypeError if it is not one.
    """
    rank, axis = types[0].rank, attributes["axis"]
    if rank is None:
        fail(op, "the first operand must be ranked", types)
    if not isinstance(axis, (int, np.integer)) or not -rank <= axis < rank:
        fail(op, f"axis must be an integer from {-rank} to {rank - 1}, got {shown(axis)}", types)
    return int(axis) % rank


def reduced_axes(op: str, types: Types, attributes: Attributes) -> Shape:
    """Return the attribute ``axes`` as ascending axes of the first operand; all of them for None."""
    rank, given = types[0].rank, attributes["axes"]
    if rank is None:
        fail(op, "x must be ranked", types)
    if given is None:
        return tuple(range(rank))
    axes = given if isinstance(given, (tuple, list)) else ()
    numbers = {int(a) % rank for a in axes if isinstance(a, (int, np.integer)) and -rank <= a < rank}
    if axes != given or len(numbers) != len(axes):
        fail(op, f"axes must be different integers from {-rank} to {rank - 1}, got {shown(given)}", types)
    return tuple(sorted(numbers))


def real_number(op: str, name: str, value: object) -> float:
    """Return an attribute as a float. Raise QuantTypeError, naming it, if it is not a real number."""
    if not isinstance(value, Real):
        raise QuantTypeError(f"{op}: {name!r} must be a real number, got {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise QuantTypeError(f"{op}: {name!r} must be within the range of float64, got {shown(value)}") from None


def parameter_layout(t: UniformType, shape: Shape) -> tuple[Shape, Shape]:
    """Return (block, step) per dimension. An element's parameter index is ``sum(index[d] // block[d] * step[d])``."""
    block, step = [1] * len(shape), [0] * len(shape)
    if t.is_per_axis:
        assert t.axis is not None
        step[t.axis] = 1
    elif t.is_sub_channel:
        sizes = dict(t.block_sizes or ())
        stride = 1
        for d in reversed(range(len(shape))):
            block[d] = sizes.get(d, max(shape[d], 1))
            step[d] = stride if t.scales_shape[d] > 1 else 0
            stride *= t.scales_shape[d]
    return tuple(block), tuple(step)


def parameter_index(t: UniformType, shape: Shape) -> Array:
    """Return the parameter index of every element, as an array that broadcasts to ``shape``."""
    block, step = parameter_layout(t, shape)
    index = np.zeros((1,) * len(shape), np.int64)
    for d, size in enumerate(shape):
        if step[d]:
            line = np.arange(size, dtype=np.int64) // block[d] * step[d]
            index = index + line.reshape([size if i == d else 1 for i in range(len(shape))])
    return index


def parameters_of(t: UniformType, shape: Shape) -> tuple[Array, Array]:
    """Return (scales, zero points) as float64 and int64 arrays that broadcast to ``shape``."""
    index = parameter_index(t, shape)
    return t.scale_array.ravel()[index], t.zero_point_array.ravel()[index]


def collapsed_layout(t: UniformType, shape: Shape) -> tuple[Shape, Shape, Shape]:
    """Return (shape, block, step) with neighbouring dimensions merged where the parameters allow: kernels then read
    longer rows."""
    block, step = parameter_layout(t, shape)
    merged: list[tuple[int, int, int]] = []
    for size, b, s in zip(shape, block, step, strict=True):
        if size == 1:
            continue
        if s == 0:
            b = 1
        if merged and s == 0 and merged[-1][2] == 0:
            merged[-1] = (merged[-1][0] * size, 1, 0)
        elif merged and s == 0 and merged[-1][1] > 1:
            # A block of whole inner rows becomes one longer block.
            merged[-1] = (merged[-1][0] * size, merged[-1][1] * size, merged[-1][2])
        else:
            merged.append((size, b, s))
    merged = merged or [(1, 1, 0)]
    return tuple(m[0] for m in merged), tuple(m[1] for m in merged), tuple(m[2] for m in merged)


def fail(op: str, message: str, types: Sequence[Type], error: type[QuantTypeError] = QuantTypeError) -> NoReturn:
    """Raise an error of an op: the message, then the operand types."""
    raise error(f"{op}: {message}; the operands are {', '.join(map(str, types)) or 'none'}")


def check_shape(op: str, types: Types, index: int, what: str, wanted: Sequence[int | None]) -> None:
    """Raise QuantTypeError unless an operand's shape is ``wanted``; unknown sizes (None) match any size."""
    given = types[index].shape
    fits = given is not None and len(given) == len(wanted)
    if not fits or any(None not in pair and pair[0] != pair[1] for pair in zip(given or (), wanted, strict=True)):
        spelled = "x".join("?" if size is None else str(size) for size in wanted)
        fail(op, f"{what!r} must have the shape {spelled}, got {types[index]}", types)


def declared_element(op: str, result: TensorType | None) -> UniformType | None:
    """Return the quantized element type that the result is declared to have, or None."""
    if result is None:
        return None
    if not isinstance(result.element, UniformType):
        raise QuantTypeError(f"{op}: the result must be a tensor of !quant.uniform, got {result}")
    check_zero_points(result.element, f"{op}: the result")
    return result.element


def any_element(t: TensorType, op: str, operand: str) -> Type:
    """Return the element type of an operand whose elements are moved unchanged, after checking it.

    It is a quantized type, or any type whose values have a dtype. Raises QuantTypeError for types that are not
    executable.
    """
    if isinstance(t.element, UniformType):
        return quantized(t, op, operand)
    element_dtype(t.element)
    return t.element


def keep_element(op: str, element: Type, types: Types, result: TensorType | None) -> Type:
    """Return ``element``. Raise QuantTypeError if the result is declared to have another element type."""
    if result is not None and result.element != element:
        if isinstance(element, UniformType):
            declared_element(op, result)
            fail(
                op,
                f"the result must have the type of the operand, {element}, got {result.element}: "
                "change the type by a requantize of its own",
                types,
            )
        fail(op, f"the result must have the element type {element}, got {result.element}", types)
    return element


def checked_result(op: str, shape: Sequence[int | None], element: Type) -> TensorType:
    """Return the result type, after checking that its per-axis parameters fit the shape."""
    if isinstance(element, UniformType):
        _check_fits(element, shape, f"{op}: the result")
    return TensorType(tuple(shape), element)
