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
"""The arrays of operands that are constant when an op is bound, by the number of the operand."""
Shape = tuple[int, ...]
R = TypeVar("R")


class DerivedArray(np.ndarray[Any, Any]):
    """A read-only array that was computed from the array ``origin``, by unpacking sub-byte storage or by dequantizing.

    A kernel call with this array as a constant packs it and then drops it, to save memory. Calls with constants of the
    same ``origin`` share one packed form.
    """

    origin: Array | None = None

    @staticmethod
    def of(values: Array, origin: Array) -> "DerivedArray":
        """Return a read-only copy of ``values``, which were computed from ``origin``."""
        derived = DerivedArray(values.shape, values.dtype, values.tobytes())
        derived.origin = origin
        return derived


class KernelCall(Protocol):
    """An op bound to types, shapes and attributes, ready to be called with arrays.

    A call takes the inputs that were not given as constants when it was bound, then the outputs to write. It is a
    kernel in C (``qrt._ext.kernels.KernelCall``), or Python code with the same interface.
    """

    def __call__(self, *arrays: Array) -> None: ...


class AttributeLike(Protocol):
    """The interface of an attribute of an IR op: ``python`` is its plain value."""

    @property
    def python(self) -> Any: ...


@dataclass(frozen=True)
class OpFamily:
    """An op family: type inference, reference implementation and kernel call of one op such as ``qrt.conv2d``.

    Its functions take plain arrays of storage integers or floats.

    - ``infer(types, attributes, result)`` returns the result type from the operand types, or raises ``QuantTypeError``.
      Its ``result`` is the declared type: None, an unranked type (only the element type matters) or a ranked one. Only
      ``infer`` accepts dynamic dimensions, and only ``infer`` checks types; the other functions rely on its checks.
    - ``reference(arrays, types, result, attributes)`` computes the result only with functions of ``numerics``.
    - ``bind(types, result, attributes, constants)`` returns a call into C, or None if no kernel supports these
      arguments. It packs ``constants``, which may only be operands in ``packs``. A family without kernels has no
      ``bind``.
    - ``view_offset(types, result, attributes)`` returns the offset in elements of the result in the first operand's
      memory if the result is a view of this operand, so that a plan need not compute it; else None.
    - ``traits`` has the facts about the family that passes read.

    If a family has several results, these functions take and return a tuple of types or arrays in place of the single
    result. Code for any family calls ``resolve_all``, ``compute`` and ``call``, which always use tuples.
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
        """The name of the module in ``qrt.ops`` that defines the family."""
        rule = self.infer.func if isinstance(self.infer, partial) else self.infer
        return rule.__module__.rpartition(".")[2]

    def given_attributes(self, attributes: Mapping[str, AttributeLike]) -> dict[str, Any]:
        """Return the family's attributes that are present on an IR op, as plain values."""
        declared = self.declaration.by_name
        return {name: declared[name].read(value.python) for name, value in attributes.items() if name in declared}

    def read(self, attributes: Mapping[str, AttributeLike]) -> dict[str, Any]:
        """Return the family's attributes of an IR op as plain values, with defaults for those that are not present."""
        return self.complete(self.given_attributes(attributes))

    def complete(self, attributes: Attributes) -> dict[str, Any]:
        """Return ``attributes`` with defaults for those that are missing. Raise QuantTypeError for an unknown name."""
        defaults = self.declaration.defaults
        unknown = set(attributes) - set(defaults)
        if unknown:
            known = f"the attributes are {', '.join(defaults)}" if defaults else "the operation has no attributes"
            raise QuantTypeError(f"{self.name}: no attribute is named {min(unknown)!r}: {known}")
        return {**defaults, **attributes}

    def resolve(self, types: Types, attributes: Attributes, result: TensorType | None = None) -> TensorType:
        """Return the type of the only result, after checking the number and the types of the operands.

        ``result`` is the declared result type, or None.
        """
        (inferred,) = self.resolve_all(types, attributes, (result,))
        return inferred

    def resolve_all(
        self, types: Types, attributes: Attributes, results: Sequence[TensorType | None] | None = None
    ) -> Types:
        """Return the type of each result, after checking the number and the types of the operands.

        ``results`` are the declared result types, or None.
        """
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
        """Return the element type of the result if the family keeps the first operand's element type; else None.

        ``declared`` is the declared result type, whose shape may determine the channel axis.
        """
        if not self.declaration.result.keeps_type:
            return None
        if self.traits.kept_type is not None:
            return self.traits.kept_type(types, attributes, declared)
        return self.resolve(types, attributes).element

    def compute(
        self, arrays: Sequence[Array], types: Types, results: Types, attributes: Attributes
    ) -> tuple[Array, ...]:
        """Compute the results by the family's reference implementation."""
        return _all(self.reference(arrays, types, self._own(results), attributes))

    def call(
        self, types: Types, results: TensorType | Types, attributes: Attributes, constants: Constants | None = None
    ) -> tuple[KernelCall, bool]:
        """Return (the call for these types, True if it is a kernel).

        Without a kernel that supports them, the call runs the reference implementation.
        """
        results, constants = _all(results), constants or {}
        packed = set(constants) <= set(self.packs)
        bound = self.bind(types, self._own(results), attributes, constants) if self.bind and packed else None
        return (
            (bound, True) if bound is not None else (ReferenceCall(self, types, results, attributes, constants), False)
        )

    def _own(self, results: tuple[R, ...]) -> R | tuple[R, ...]:
        """Return ``results`` as the family's functions take them: a tuple, or the only result itself.

        Raise QuantTypeError for a wrong number of results.
        """
        if len(results) != len(self.declaration.results):
            wanted = ", ".join(self.declaration.results)
            raise QuantTypeError(f"{self.name}: expected a type for each result ({wanted}), got {len(results)} types")
        return results if len(results) > 1 else results[0]


def _all(results: R | tuple[R, ...]) -> tuple[R, ...]:
    return results if isinstance(results, tuple) else (results,)


@dataclass(frozen=True)
class ReferenceCall:
    """A call of an op's reference implementation, used for an op without a kernel.

    It has the interface of a kernel call.
    """

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
    """Return only the first zero point if all are equal, as in symmetric weights; otherwise return all of them.

    This saves memory in the kernel call.
    """
    return zero_points if len(set(zero_points)) > 1 else zero_points[:1]


def container(t: UniformType) -> str:
    """Return the name, ``i8`` to ``u32``, of the smallest integer of 8, 16 or 32 bits that holds the storage type.

    Raises ``QuantTypeError`` for float storage and quantile types, which cannot be executed.
    """
    if not isinstance(t.storage_type, IntegerType):
        raise QuantTypeError(
            f"values of type {t} cannot be computed: the storage type must be an integer type, got {t.storage_type}"
        )
    bits = 8 if t.storage_width <= 8 else 16 if t.storage_width <= 16 else 32
    return f"{'i' if t.is_signed else 'u'}{bits}"


@lru_cache(maxsize=512)
def storage_dtype(t: UniformType) -> np.dtype[Any]:
    """Return the smallest NumPy integer dtype for a type's storage values, of the same signedness."""
    name = container(t)
    return np.dtype(f"{name[0]}{int(name[1:]) // 8}")


def expressed_dtype(t: FloatType) -> np.dtype[Any]:
    """Return the NumPy dtype of a float type; float32 for tf32. Raise an error for f80 and f128, which have none."""
    return float_dtype(t.name)


def element_dtype(t: Type) -> np.dtype[Any]:
    """Return the NumPy dtype for values of an element type; for a quantized type, the dtype of its storage."""
    if isinstance(t, UniformType):
        return storage_dtype(t)
    if isinstance(t, FloatType):
        return expressed_dtype(t)
    if isinstance(t, IndexType):
        return np.dtype(np.int64)
    if isinstance(t, IntegerType) and t.width <= 64:
        bits = next(b for b in (8, 16, 32, 64) if t.width <= b)
        return np.dtype(bool) if t.width == 1 else np.dtype(f"{'u' if t.signedness == 'unsigned' else 'i'}{bits // 8}")
    raise QuantTypeError(f"values of type {t} cannot be computed: no NumPy dtype represents them")


def quantized(t: TensorType, op: str, operand: str) -> UniformType:
    """Return the quantized element type of an operand, after checking its zero points and that it fits the shape.

    Raise QuantTypeError, with the names of op and operand, if the operand is not quantized or a check fails.
    """
    if not isinstance(t.element, UniformType):
        raise QuantTypeError(f"{op}: {_in_quotes(operand)} must be a tensor of !quant.uniform, got {t}")
    if not _is_sound(t):
        what = f"{op}: {_in_quotes(operand)}"
        _check_fits(t.element, t.shape, what)
        check_zero_points(t.element, what)
    return t.element


def _in_quotes(operand: str) -> str:
    """Return the name of an operand in quotes; return a phrase, such as ``the result``, unchanged."""
    return repr(operand) if operand.isidentifier() else operand


def uniform(t: TensorType) -> UniformType:
    """Return the quantized element type of a tensor, which ``infer`` has already checked."""
    assert isinstance(t.element, UniformType)
    return t.element


_SOUND: WeakSet[TensorType] = WeakSet()
"""Tensor types whose scales and zero points fit the shape and the storage, kept so that each is checked once."""


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
    """Raise QuantTypeError for a zero point outside the range of the storage type.

    Types may have any 64-bit zero point, but arithmetic supports only those that storage can represent. ``what`` names
    the value in the error.
    """
    low, high = t.default_bounds
    least, greatest = t.zero_point_bounds
    if not low <= least <= greatest <= high:
        worst = next(z for z in t.zero_points if not low <= z <= high)
        raise QuantTypeError(
            f"{what} must have zero points in [{low}, {high}], the range of its storage type {t.storage}, "
            f"got {worst} in {t}"
        )


def check_bounds(array: Array, t: UniformType) -> None:
    """Raise QuantTypeError if a storage value is outside of ``[storage_min, storage_max]``."""
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
    """Return the shape of a type. Raise QuantTypeError if a dimension or the rank is dynamic."""
    if t.shape is None or None in t.shape:
        raise QuantTypeError(f"{op}: the shape of {t} must be static")
    return cast("Shape", t.shape)


def row_major_strides(shape: Shape) -> Shape:
    """Return the stride of each dimension of a C-contiguous array, in elements."""
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


def one_axis(op: str, types: Types, attributes: Attributes) -> int:
    """Return the attribute ``axis`` as a non-negative axis of the first operand.

    Raise QuantTypeError if the operand has no such axis.
    """
    rank, axis = types[0].rank, attributes["axis"]
    if not rank:
        fail(op, f"the first operand must have rank 1 or more, got {types[0]}", types)
    if not isinstance(axis, (int, np.integer)):
        fail(op, f"'axis' must be an integer, got {shown(axis)}", types)
    if not -rank <= axis < rank:
        fail(op, f"'axis' must be in [{-rank}, {rank - 1}] for rank {rank}, got {shown(axis)}", types)
    return int(axis) % rank


def reduced_axes(op: str, types: Types, attributes: Attributes) -> Shape:
    """Return the attribute ``axes`` as ascending non-negative axes of the first operand; all axes if it is None."""
    rank, given = types[0].rank, attributes["axes"]
    if rank is None:
        fail(op, f"the first operand must be a ranked tensor, got {types[0]}", types)
    if given is None:
        return tuple(range(rank))
    axes = given if isinstance(given, (tuple, list)) else ()
    numbers = {int(a) % rank for a in axes if isinstance(a, (int, np.integer)) and -rank <= a < rank}
    if axes != given or len(numbers) != len(axes):
        wanted = f"a tuple of different integers in [{-rank}, {rank - 1}]" if rank else "an empty tuple"
        fail(op, f"'axes' must be {wanted} for rank {rank}, got {shown(given)}", types)
    return tuple(sorted(numbers))


def real_number(op: str, name: str, value: object) -> float:
    """Return an attribute's value as a float. Raise QuantTypeError unless it is a real number in float64's range."""
    if not isinstance(value, Real):
        raise QuantTypeError(f"{op}: {name!r} must be a real number, got {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise QuantTypeError(f"{op}: {name!r} must be within the range of float64, got {shown(value)}") from None


def parameter_layout(t: UniformType, shape: Shape) -> tuple[Shape, Shape]:
    """Return (block, step): two tuples from which the position of an element's scale in the type's list is computed.

    The tuples have an entry for each dimension. The position of the scale and of the zero point is
    ``sum(index[d] // block[d] * step[d])``, where ``index`` is the element's index in the tensor.
    """
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
    """Return, for each element, the position of its scale and zero point in the type's lists.

    The array broadcasts to ``shape``.
    """
    block, step = parameter_layout(t, shape)
    index = np.zeros((1,) * len(shape), np.int64)
    for d, size in enumerate(shape):
        if step[d]:
            line = np.arange(size, dtype=np.int64) // block[d] * step[d]
            index = index + line.reshape([size if i == d else 1 for i in range(len(shape))])
    return index


def parameters_of(t: UniformType, shape: Shape) -> tuple[Array, Array]:
    """Return (scales as float64, zero points as int64), which broadcast to the elements of ``shape``."""
    index = parameter_index(t, shape)
    return t.scale_array.ravel()[index], t.zero_point_array.ravel()[index]


def collapsed_layout(t: UniformType, shape: Shape) -> tuple[Shape, Shape, Shape]:
    """Return (shape, block, step): `parameter_layout` with neighbouring dimensions merged wherever that is possible.

    Kernels then process longer rows. Dimensions of size 1 are dropped.
    """
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
    """Raise an error of an op, with its name, the message and the operand types."""
    raise error(f"{op}: {message}. The operands are {', '.join(map(str, types)) or 'none'}")


def declared_element(op: str, result: TensorType | None) -> UniformType | None:
    """Return the quantized element type of the declared result type, after checking it; None if none is declared."""
    if result is None:
        return None
    if not isinstance(result.element, UniformType):
        raise QuantTypeError(f"{op}: the result must be a tensor of !quant.uniform, got {result}")
    check_zero_points(result.element, f"{op}: the result")
    return result.element


def any_element(t: TensorType, op: str, operand: str) -> Type:
    """Return the element type of an operand of an op that only moves elements, such as a reshape.

    The type may be quantized, or any type for which `element_dtype` has a NumPy dtype. Raises QuantTypeError for other
    types, and for quantized types that fail the checks of `quantized`.
    """
    if isinstance(t.element, UniformType):
        return quantized(t, op, operand)
    element_dtype(t.element)
    return t.element


def keep_element(op: str, element: Type, types: Types, result: TensorType | None) -> Type:
    """Return ``element``, which the result must have. Raise QuantTypeError if another element type is declared."""
    if result is not None and result.element != element:
        if isinstance(element, UniformType):
            declared_element(op, result)
            fail(
                op,
                f"the result must have the type of the operand, {element}, got {result.element}: "
                "requantize the result in a second operation",
                types,
            )
        fail(op, f"the result must have the element type {element}, got {result.element}", types)
    return element


def checked_result(op: str, shape: Sequence[int | None], element: Type) -> TensorType:
    """Return the result type of this shape and element type. Raise QuantTypeError if the scales do not fit it."""
    if isinstance(element, UniformType):
        _check_fits(element, shape, f"{op}: the result")
    return TensorType(tuple(shape), element)
