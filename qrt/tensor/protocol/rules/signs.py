"""What each element's sign says: whether it is 0, negative, or a truth; the opposite value and the magnitude."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from qrt.eager.calls import Tensor
from qrt.ops.core import Array, parameters_of
from qrt.tensor.arrays import as_array
from qrt.tensor.protocol import elements
from qrt.tensor.protocol.elements import no_tensor, stored
from qrt.tensor.protocol.results import delivered, one_tensor
from qrt.tensor.protocol.rules.comparisons import compare, refuse, written
from qrt.tensor.protocol.table import Function, implements
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import FloatType, UniformType

# ---------------------------------------------------------------------------------------------------------------- truth


_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4)}
"""By the size of an element."""


def truth(x: Any) -> Any:
    """Where a tensor is not 0, as integers or bools; of objects the truth, which NumPy would give as objects; anything
    else as it is."""
    if not isinstance(x, Tensor):
        array = as_array(x)
        return array.astype(bool) if array.dtype == object else x
    return elements.truth(x) if any(x.type.zero_points) else stored(x)


def _on_truth(plain: Callable[..., Any]) -> Callable[..., Any]:
    """The function on the truth of its first operand. For a tensor beside it, NumPy would ask the table again."""

    def rule(a: Any, *args: Any, **options: Any) -> Any:
        no_tensor(args, "an argument")
        return plain(truth(a), *args, **{key: no_tensor(value, key) for key, value in options.items()})

    return rule


def _of_truths(function: Function, said: str) -> None:
    """A function of one array that sees of it whether an element is 0: NumPy's answer is the answer."""
    plain: Callable[..., Any] = getattr(*function) if isinstance(function, tuple) else function

    rule = _on_truth(plain)
    rule.__doc__ = said
    implements(function, kind="order")(rule)


_of_truths(np.any, "Whether an element is not 0.")
_of_truths(np.all, "Whether no element is 0.")
_of_truths(np.nonzero, "The indices of the elements that are not 0, an array for each axis.")
_of_truths(np.flatnonzero, "The indices of the elements that are not 0, in one line.")
_of_truths(np.argwhere, "The indices of the elements that are not 0, a row for each.")
_of_truths(np.count_nonzero, "The number of the elements that are not 0.")


def _logical(ufunc: np.ufunc) -> None:
    """An element counts as true where it is not 0."""

    def rule(*operands: Any, out: Array | None = None, where: Any = True) -> Any:
        return ufunc(*map(truth, operands), out=no_tensor(out, "out"), where=no_tensor(where, "where"))

    rule.__doc__ = _logical.__doc__
    implements(ufunc, kind="order")(rule)


_logical(np.logical_not)
for _ufunc in (np.logical_and, np.logical_or, np.logical_xor):
    _logical(_ufunc)
    for _method in ("reduce", "accumulate"):
        _of_truths((_ufunc, _method), "The operation along an axis; an element counts as true where it is not 0.")


def _always(answer: bool, *functions: Function) -> None:
    """Questions about NaN and infinity: every value is a finite real number."""

    def rule(x: Any, out: Array | None = None, *, where: Any = True) -> Any:
        return written(np.full(x.shape, answer)[()], out, where)

    rule.__doc__ = f"{answer} everywhere: every value is a finite real number."
    implements(*functions, kind="order")(rule)


_always(True, np.isfinite)
_always(False, np.isnan, np.isinf, np.isposinf, np.isneginf)


# ---------------------------------------------------------------------------------------------------------------- signs


@implements(np.signbit, kind="order")
def signbit(x: Any, /, *, out: Array | None = None, where: Any = True) -> Any:
    """Whether the value is negative: no value is a negative 0."""
    return written(compare(np.less, x, 0), out, where)


def _unary(compute: Callable[[QuantTensor], tuple[Any, UniformType]], said: str, *functions: Function) -> None:
    """A rule of ufuncs of one tensor, by what gives the storage and the type of its result."""
    name = f"np.{compute.__name__}"

    def rule(x: Any, /, *, out: Any = None, **others: Any) -> QuantTensor:
        if others:
            refuse(name, others)
        return delivered(name, *compute(one_tensor(name, x)), out)

    rule.__doc__ = said
    implements(*functions, kind="order")(rule)


def sign(q: QuantTensor) -> tuple[Any, UniformType]:
    """-1, 0 and 1 as storage of scale 1."""
    storage = stored(q)
    zero_points = _zero_points(q, storage.dtype)
    signs = np.asarray(storage > zero_points).view(np.int8)
    signs -= np.asarray(storage < zero_points).view(np.int8)
    return signs, _type_of_signs(q.type.expressed_type)


@lru_cache(maxsize=64)
def _type_of_signs(expressed: FloatType) -> UniformType:
    return UniformType("i8", expressed, 1.0, storage_min=-1, storage_max=1)


def positive(q: QuantTensor) -> tuple[Any, UniformType]:
    return stored(q).copy(), q.type


def negative(q: QuantTensor) -> tuple[Any, UniformType]:
    """Every bit of the storage is complemented, and the zero points and bounds are: ``-(q - z) = ~q - ~z``. Where zero
    points are in the middle of the bounds, storage is mirrored at them, and the type is kept."""
    t, storage = _type_of_negatives(q.type), stored(q)
    # Unsigned storage may wrap on the way: the sum takes it back.
    ends = sum(q.type.default_bounds) if t is not q.type else t.storage_min + t.storage_max
    return np.array(ends).astype(storage.dtype) - storage, t


@lru_cache(maxsize=64)
def _type_of_negatives(t: UniformType) -> UniformType:
    if all(2 * z == t.storage_min + t.storage_max for z in t.zero_points):
        return t
    ends = sum(t.default_bounds)
    zero_points = [ends - z for z in t.zero_points]
    return _with_zero_points(t, zero_points, storage_min=ends - t.storage_max, storage_max=ends - t.storage_min)


def absolute(q: QuantTensor) -> tuple[Any, UniformType]:
    """The storage of the magnitudes, and its type: the same if it holds every result, else unsigned storage as wide
    with zero point 0, which holds them because two integers of N bits are less than 2**N apart."""
    t, storage = _type_of_magnitudes(q.type), stored(q)
    if not any(q.type.zero_points):
        distance = np.abs(storage)  # the least integer stays what it is, which as an unsigned integer is the distance
    else:
        # Negative numbers are complemented, and 1 is added. By ufuncs alone: in arithmetic of NumPy's scalars it would
        # be a warning that integers wrap. NumPy's maximum of an array and a number is ten times slower than these.
        zero_points = _zero_points(q, storage.dtype)
        is_negative = np.asarray(np.less(storage, zero_points))
        ones = np.negative(
            is_negative.view(storage.dtype) if storage.itemsize == 1 else is_negative.astype(storage.dtype)
        )
        distance = np.subtract(np.bitwise_xor(np.subtract(storage, zero_points), ones), ones)
        distance = np.add(distance, zero_points) if t is q.type else distance
    return np.asarray(distance).view(storage.dtype if t is q.type else _UNSIGNED[storage.itemsize]), t


@lru_cache(maxsize=64)
def _type_of_magnitudes(t: UniformType) -> UniformType:
    if all(z - t.storage_min <= t.storage_max - z for z in t.zero_points):
        return t
    return _with_zero_points(t.with_(storage=f"u{t.storage_width}"), [0] * len(t.scales))


def _with_zero_points(t: UniformType, zero_points: list[int], **bounds: int) -> UniformType:
    given: Any = zero_points[0] if t.is_per_layer else np.array(zero_points, np.int64).reshape(t.scales_shape)
    return t.with_(zero_points=given, **bounds)


def _zero_points(q: QuantTensor, dtype: Any) -> Any:
    """Of every element, in the storage's dtype."""
    t = q.type
    return dtype.type(t.zero_points[0]) if t.is_per_layer else parameters_of(t, q.shape)[1].astype(dtype)


_unary(sign, "-1, 0 or 1, of a type with scale 1.", np.sign)
_unary(positive, "A copy.", np.positive)
_unary(negative, "The opposite values, exact; the type is another where it does not hold them.", np.negative)
_unary(
    absolute, "The magnitudes, exact; the storage is unsigned where the type does not hold them.", np.absolute, np.fabs
)


@implements(np.nan_to_num, kind="order")
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> QuantTensor:
    """No value is NaN or infinite."""
    q = one_tensor("np.nan_to_num", x)
    return q.copy() if copy else q
