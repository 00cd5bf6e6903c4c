"""The parts that every op family shares: its interface, storage dtypes, and the index that maps elements to
quantization parameters.
"""

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
    """An array made for a call of another one, ``origin``, whose memory stays: of packed bits, or dequantized. A call
    that keeps it in another form lets it go, and knows by the origin which earlier call has that form."""

    origin: Array | None = None

    @staticmethod
    def of(values: Array, origin: Array) -> "DerivedArray":
        """Return the values in memory that nobody can write to."""
        derived = DerivedArray(values.shape, values.dtype, values.tobytes())
        derived.origin = origin
        return derived


class KernelCall(Protocol):
    """An op bound to types, shapes and attributes: called with the arrays that were not constants at binding, then the
    outputs. It is one entry of C (``qrt._ext.kernels.KernelCall``), or Python code with the same interface."""

    def __call__(self, *arrays: Array) -> None: ...


class AttributeLike(Protocol):
    """An attribute of an op of the IR."""

    @property
    def python(self) -> Any: ...


@dataclass(frozen=True)
class OpFamily:
    """One op family on plain arrays: storage integers or floats in, storage integers or floats out.

    ``infer(types, attributes, result)`` gives the result type or raises ``QuantTypeError``; ``result`` is what is
    declared of it: None, an unranked type (only its element matters) or the declared type. Dimensions may be dynamic
    there and nowhere else. It alone checks types: the other functions take what it has let pass.
    ``reference(arrays, types, result, attributes)`` computes with ``numerics`` alone.
    ``bind(types, result, attributes, constants)`` packs constants, of the operands in ``packs`` alone, and returns a
    call into C, or None where no kernel has the signature; a family without kernels has no ``bind``.
    ``view_offset(types, result, attributes)`` says how many elements into the memory of the first operand the result
    stands, so that a plan need not compute it; None where it does not stand there. ``traits`` says what passes ask.

    In a family of several results all these have tuples in place of the result: of declared types, of types, of arrays.
    Whoever takes a family as it comes calls ``resolve_all``, ``compute`` and ``call``, which have tuples for every
    family.
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
        """The name of its module in ``qrt.ops``."""
        rule = self.infer.func if isinstance(self.infer, partial) else self.infer
        return rule.__module__.rpartition(".")[2]

    def said(self, attributes: Mapping[str, AttributeLike]) -> dict[str, Any]:
        """The family's attributes that an op of the IR gives, as plain values."""
        defaults = self.declaration.defaults
        return {name: value.python for name, value in attributes.items() if name in defaults}

    def read(self, attributes: Mapping[str, AttributeLike]) -> dict[str, Any]:
        """The family's attributes of an op of the IR, as plain values, with the defaults filled in."""
        return self.complete(self.said(attributes))

    def complete(self, attributes: Attributes) -> dict[str, Any]:
        """Attributes with the defaults filled in; an unknown name is an error."""
        defaults = self.declaration.defaults
        unknown = set(attributes) - set(defaults)
        if unknown:
            raise QuantTypeError(
                f"{self.name} has no attribute {min(unknown)!r}, it has {', '.join(defaults) or 'none'}"
            )
        return {**defaults, **attributes}

    def resolve(self, types: Types, attributes: Attributes, result: TensorType | None = None) -> TensorType:
        """Checks the operand count, then infers. The family has one result."""
        (inferred,) = self.resolve_all(types, attributes, (result,))
        return inferred

    def resolve_all(
        self, types: Types, attributes: Attributes, results: Sequence[TensorType | None] | None = None
    ) -> Types:
        """Checks the operand count, then infers the type of each result."""
        declared = self.declaration
        results = (None,) * len(declared.results) if results is None else tuple(results)
        if len(types) < declared.least or (len(types) > len(declared.operands) and not declared.is_variadic):
            wanted = ", ".join(operand.name for operand in declared.operands)
            raise QuantTypeError(f"{self.name} takes {wanted}: got {len(types)} operands")
        inferred = _all(self.infer(types, attributes, self._own(results)))
        if declared.result.keeps_type:
            keep_element(self.name, inferred[0].element, types, results[0])
        return inferred

    def kept_type(self, types: Types, attributes: Attributes, declared: TensorType) -> Type | None:
        """Return the element type that a result of the declared shape has where it is that of the first operand; None
        in a family that does not keep it."""
        if not self.declaration.result.keeps_type:
            return None
        if self.traits.kept_type is not None:
            return self.traits.kept_type(types, attributes, declared)
        return self.resolve(types, attributes).element

    def compute(
        self, arrays: Sequence[Array], types: Types, results: Types, attributes: Attributes
    ) -> tuple[Array, ...]:
        """Every result by the reference."""
        return _all(self.reference(arrays, types, self._own(results), attributes))

    def call(
        self, types: Types, results: TensorType | Types, attributes: Attributes, constants: Constants | None = None
    ) -> tuple[KernelCall, bool]:
        """Return the call for these types, and whether it is a kernel: the reference stands in where no kernel has the
        signature."""
        results, constants = _all(results), constants or {}
        packed = set(constants) <= set(self.packs)
        bound = self.bind(types, self._own(results), attributes, constants) if self.bind and packed else None
        return (
            (bound, True) if bound is not None else (ReferenceCall(self, types, results, attributes, constants), False)
        )

    def _own(self, results: tuple[R, ...]) -> R | tuple[R, ...]:
        """Results as the functions of the family take them."""
        if len(results) != len(self.declaration.results):
            wanted = ", ".join(self.declaration.results)
            raise QuantTypeError(f"{self.name} has the results {wanted}: got {len(results)}")
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
        operands = [  # a plan gives the memory of what was reshaped, in its first shape
            (self.constants[i] if i in self.constants else next(given)).reshape(static_shape(type, self.family.name))
            for i, type in enumerate(self.types)
        ]
        computed = self.family.compute(operands, self.types, self.results, self.attributes)
        for out, values in zip(given, computed, strict=True):
            out[...] = values.reshape(out.shape)


# ------------------------------------------------------------------------------------------------------------- dtypes

KERNEL_FLOATS = frozenset({"f16", "bf16", "f32", "f64"})


def without_repeats(zero_points: Sequence[int]) -> Sequence[int]:
    """Return one zero point where all are the same, as those of symmetric weights are: a call keeps them as they are
    given."""
    return zero_points if len(set(zero_points)) > 1 else zero_points[:1]


def container(t: UniformType) -> str:
    """The kernel's name of the storage container: ``i8`` ... ``u32``, the smallest that holds the storage type.

    Raises ``QuantTypeError`` for storage in floats or by tables, which does not run."""
    if not isinstance(t.storage_type, IntegerType):
        raise QuantTypeError(f"values of type {t} are not executable: storage in {t.storage_type} is not supported")
    bits = 8 if t.storage_width <= 8 else 16 if t.storage_width <= 16 else 32
    return f"{'i' if t.is_signed else 'u'}{bits}"


@lru_cache(maxsize=512)
def storage_dtype(t: UniformType) -> np.dtype[Any]:
    """The smallest NumPy integer dtype of the storage type's signedness."""
    name = container(t)
    return np.dtype(f"{name[0]}{int(name[1:]) // 8}")


def expressed_dtype(t: FloatType) -> np.dtype[Any]:
    """The NumPy dtype of an expressed type; tf32 values live in float32. f80 and f128 have none: an error."""
    return float_dtype(t.name)


def element_dtype(t: Type) -> np.dtype[Any]:
    """The NumPy dtype that holds values of an element type: storage integers for quantized ones."""
    if isinstance(t, UniformType):
        return storage_dtype(t)
    if isinstance(t, FloatType):
        return expressed_dtype(t)
    if isinstance(t, IndexType):
        return np.dtype(np.int64)
    if isinstance(t, IntegerType) and t.width <= 64:
        bits = next(b for b in (8, 16, 32, 64) if t.width <= b)
        return np.dtype(bool) if t.width == 1 else np.dtype(f"{'u' if t.signedness == 'unsigned' else 'i'}{bits // 8}")
    raise QuantTypeError(f"values of type {t} are not executable")


# -------------------------------------------------------------------------------------------- quantization parameters


def quantized(t: TensorType, op: str, operand: str) -> UniformType:
    """The quantized element type of an operand, checked, or the error that names the operand."""
    if not isinstance(t.element, UniformType):
        raise QuantTypeError(f"{op}: {operand} must be a tensor of !quant.uniform, got {t}")
    if not _is_sound(t):
        _check_fits(t.element, t.shape, f"{op}: {operand}")
        check_zero_points(t.element, f"{op}: {operand}")
    return t.element


def uniform(t: TensorType) -> UniformType:
    """The quantized element type of a tensor, which the family's rule of types has checked."""
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
        raise QuantTypeError(f"{what} does not fit the type {TensorType(shape, t)}: {error}") from None


def check_zero_points(t: UniformType, what: str) -> None:
    """Refuses zero points that the storage type does not hold: types may carry any 64-bit one, arithmetic may not."""
    low, high = t.default_bounds
    least, greatest = t.zero_point_bounds
    if not low <= least <= greatest <= high:
        worst = next(z for z in t.zero_points if not low <= z <= high)
        raise QuantTypeError(f"{what} has zero point {worst} outside [{low}, {high}], the range of {t.storage}: {t}")


def check_bounds(array: Array, t: UniformType) -> None:
    """Refuses storage outside ``[storage_min, storage_max]``."""
    info = np.iinfo(array.dtype)
    if array.size == 0 or (info.min >= t.storage_min and info.max <= t.storage_max):
        return
    low, high = int(array.min()), int(array.max())
    if low < t.storage_min or high > t.storage_max:
        worst = low if low < t.storage_min else high
        raise QuantTypeError(f"storage value {worst} is outside [{t.storage_min}, {t.storage_max}] of {t}")


def static_shape(t: TensorType, op: str) -> Shape:
    """The shape of a type that must be static by now."""
    if t.shape is None or None in t.shape:
        raise QuantTypeError(f"{op}: the shape of {t} must be static")
    return cast("Shape", t.shape)


def row_major_strides(shape: Shape) -> Shape:
    """Elements between neighbours along each dimension."""
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


def one_axis(op: str, types: Types, attributes: Attributes) -> int:
    """The attribute ``axis`` as an axis of the first operand, counted from 0, or the error that says what it is."""
    rank, axis = types[0].rank, attributes["axis"]
    if rank is None or not isinstance(axis, (int, np.integer)) or not -rank <= axis < rank:
        fail(op, f"axis {shown(axis)} is out of range", types)
    return int(axis) % rank


def reduced_axes(op: str, types: Types, attributes: Attributes) -> Shape:
    """The attribute ``axes`` as axes of the first operand, ascending; all of them where none are named."""
    rank, given = types[0].rank, attributes["axes"]
    if rank is None:
        fail(op, "x must be ranked", types)
    if given is None:
        return tuple(range(rank))
    axes = given if isinstance(given, (tuple, list)) else ()
    numbers = {int(a) % rank for a in axes if isinstance(a, (int, np.integer)) and -rank <= a < rank}
    if axes != given or len(numbers) != len(axes):
        fail(op, f"axes {shown(given)} must be different axes of a tensor of rank {rank}", types)
    return tuple(sorted(numbers))


def real_number(op: str, name: str, value: object) -> float:
    """The attribute as a float, or the error that names it."""
    if not isinstance(value, Real):
        raise QuantTypeError(f"{op}: {name} must be a real number, got {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise QuantTypeError(f"{op}: {name} must be within the range of float64, got {shown(value)}") from None


def parameter_layout(t: UniformType, shape: Shape) -> tuple[Shape, Shape]:
    """(block, step) per dimension: the parameter index of an element is ``sum(index[d] // block[d] * step[d])``."""
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
    """The parameter index of every element, as an array that broadcasts to ``shape``."""
    block, step = parameter_layout(t, shape)
    index = np.zeros((1,) * len(shape), np.int64)
    for d, size in enumerate(shape):
        if step[d]:
            line = np.arange(size, dtype=np.int64) // block[d] * step[d]
            index = index + line.reshape([size if i == d else 1 for i in range(len(shape))])
    return index


def parameters_of(t: UniformType, shape: Shape) -> tuple[Array, Array]:
    """(scales, zero points) as float64 and int64 arrays that broadcast to ``shape``."""
    index = parameter_index(t, shape)
    return t.scale_array.ravel()[index], t.zero_point_array.ravel()[index]


def collapsed_layout(t: UniformType, shape: Shape) -> tuple[Shape, Shape, Shape]:
    """(shape, block, step) with neighbouring dimensions merged where the parameters allow, so that kernels see long
    rows."""
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
            # A block that spans whole inner rows is one longer block.
            merged[-1] = (merged[-1][0] * size, merged[-1][1] * size, merged[-1][2])
        else:
            merged.append((size, b, s))
    merged = merged or [(1, 1, 0)]
    return tuple(m[0] for m in merged), tuple(m[1] for m in merged), tuple(m[2] for m in merged)


# ------------------------------------------------------------------------------------------------------------- errors


def fail(op: str, message: str, types: Sequence[Type], error: type[QuantTypeError] = QuantTypeError) -> NoReturn:
    """Raises the family's error: what is wrong, then the operand types."""
    raise error(f"{op}: {message}; got ({', '.join(map(str, types))})")


def check_shape(op: str, types: Types, index: int, what: str, wanted: Sequence[int | None]) -> None:
    """Refuses a shape other than ``wanted``; a size that one of both leaves open may be any."""
    given = types[index].shape
    fits = given is not None and len(given) == len(wanted)
    if not fits or any(None not in pair and pair[0] != pair[1] for pair in zip(given or (), wanted, strict=True)):
        spelled = "x".join("?" if size is None else str(size) for size in wanted)
        fail(op, f"{what} must be of shape {spelled}, not {types[index]}", types)


def declared_element(op: str, result: TensorType | None) -> UniformType | None:
    """The quantized element that the result is declared to have, if any is."""
    if result is None:
        return None
    if not isinstance(result.element, UniformType):
        raise QuantTypeError(f"{op}: the result must be a tensor of !quant.uniform, got {result}")
    check_zero_points(result.element, f"{op}: the result")
    return result.element


def any_element(t: TensorType, op: str, operand: str) -> Type:
    """The element type of an operand whose elements are moved whole: a quantized one, checked, or any other whose
    values have a dtype. Raises QuantTypeError for types that do not run.
    """
    if isinstance(t.element, UniformType):
        return quantized(t, op, operand)
    element_dtype(t.element)
    return t.element


def keep_element(op: str, element: Type, types: Types, result: TensorType | None) -> Type:
    """``element``, which the result has to have where it is declared."""
    if result is not None and result.element != element:
        if isinstance(element, UniformType):
            declared_element(op, result)
            fail(op, f"the result must keep the type {element}, not {result.element}: requantize it separately", types)
        fail(op, f"the result must have the element type {element}, not {result.element}", types)
    return element


def checked_result(op: str, shape: Sequence[int | None], element: Type) -> TensorType:
    """The result type, its per-axis integrity checked."""
    if isinstance(element, UniformType):
        _check_fits(element, shape, f"{op}: the result")
    return TensorType(tuple(shape), element)
