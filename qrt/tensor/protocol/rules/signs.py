"""What each element's sign says: whether it is 0, negative, or a truth; the opposite value and the magnitude."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from inspect import unwrap
from typing import Any

import numpy as np

from qrt.eager.calls import Planned, Tensor
from qrt.eager.storage import PACKED_WIDTHS
from qrt.ops.core import Array, storage_dtype
from qrt.tensor.arrays import as_array
from qrt.tensor.functions import clamp
from qrt.tensor.protocol.elements import into, no_tensor, storage_of, stored, zero_points
from qrt.tensor.protocol.results import delivered, one_tensor
from qrt.tensor.protocol.rules.comparisons import refuse, written
from qrt.tensor.protocol.table import Function, implements
from qrt.tensor.protocol.tables import SOME, of_elements, planned
from qrt.tensor.quant_tensor import QuantTensor, tensor_of
from qrt.types import FloatType, UniformType

# ---------------------------------------------------------------------------------------------------------------- truth


def truth(x: Any) -> Any:
    """Where a tensor is not 0, as integers or bools; of objects the truth, which NumPy would give as objects; anything
    else as it is."""
    if not isinstance(x, Tensor):
        array = as_array(x)
        return array.astype(bool) if array.dtype == object else x
    t = x.type
    data = stored(x) if t.storage_type.width in PACKED_WIDTHS else x._data
    return data if _has_zeros_at_0(t) else np.not_equal(data, zero_points(x))


@lru_cache(maxsize=256)
def _has_zeros_at_0(t: UniformType) -> bool:
    return not any(t.zero_points)


def _on_truth(plain: Callable[..., Any]) -> Callable[..., Any]:
    """The function on the truth of its first operand. For a tensor beside it, NumPy would ask the table again."""
    own = unwrap(plain)

    def rule(a: Any, *args: Any, **options: Any) -> Any:
        if args or options:
            no_tensor((*args, *options.values()), "an argument")
        elif isinstance(a, Tensor):
            test = _test_of(a)
            return Planned((a,), lambda operands: own(test(operands[0])))
        return plain(truth(a), *args, **options)

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

    def rule(*operands: Any, **options: Any) -> Any:
        if options:
            refuse(f"np.{ufunc.__name__}", {key: options[key] for key in options.keys() - {"out", "where"}})
            no_tensor((*options.values(),), "out or where")
        elif len(operands) == 2 and isinstance(operands[0], Tensor) and isinstance(operands[1], Tensor):
            return _of_two(ufunc, operands[0], operands[1])
        if ufunc is np.logical_not and not _has_zeros_at_0(operands[0].type):  # it has no operand but the tensor
            zeros = zero_points(operands[0])
            if options:
                return np.equal(stored(operands[0]), zeros, **options)
            storage = storage_of(operands[0].type)
            return Planned(operands, lambda operands: np.equal(storage(operands[0]), zeros))
        return ufunc(*map(truth, operands), **options)

    rule.__doc__ = _logical.__doc__
    implements(ufunc, kind="order")(rule)


def _of_two(ufunc: np.ufunc, a: Tensor, b: Tensor) -> Any:
    """A logical ufunc of two tensors. Of bools, which a test for zero points makes, bits are combined."""
    first, second = _test_of(a), _test_of(b)
    if _has_zeros_at_0(a.type) or _has_zeros_at_0(b.type):
        return Planned((a, b), lambda operands: ufunc(first(operands[0]), second(operands[1])))
    combined = _BITWISE[ufunc]

    def run(operands: Sequence[Tensor]) -> Any:
        x, y = first(operands[0]), second(operands[1])
        return combined(x, y, x) if type(x) is np.ndarray and x.shape == y.shape else combined(x, y)

    return Planned((a, b), run)


_BITWISE: dict[Any, Any] = {
    np.logical_and: np.bitwise_and,
    np.logical_or: np.bitwise_or,
    np.logical_xor: np.bitwise_xor,
}


def _test_of(q: Tensor) -> Callable[[Tensor], Any]:
    """``truth`` for tensors of the type and shape."""
    if _has_zeros_at_0(q.type):
        return stored
    zeros = zero_points(q)
    return lambda q: np.not_equal(stored(q), zeros)


_logical(np.logical_not)
for _ufunc in (np.logical_and, np.logical_or, np.logical_xor):
    _logical(_ufunc)
    for _method in ("reduce", "accumulate"):
        _of_truths((_ufunc, _method), "The operation along an axis; an element counts as true where it is not 0.")


def _always(answer: bool, *functions: Function) -> None:
    """Questions about NaN and infinity: every value is a finite real number."""

    def rule(x: Any, out: Array | None = None, *, where: Any = True) -> Any:
        return written(plain(x._shape, bool)[()], out, where)

    plain: Callable[..., Any] = np.ones if answer else np.zeros
    rule.__doc__ = f"{answer} everywhere: every value is a finite real number."
    implements(*functions, kind="order")(rule)


_always(True, np.isfinite)
_always(False, np.isnan, np.isinf, np.isposinf, np.isneginf)


# ---------------------------------------------------------------------------------------------------------------- signs


@implements(np.signbit, kind="order")
def signbit(x: Any, /, *, out: Array | None = None, where: Any = True) -> Any:
    """Whether the value is negative: no value is a negative 0."""
    return written(np.less(stored(x), zero_points(x)), out, where)


def _unary(
    stored_result: Callable[[QuantTensor], tuple[Any, UniformType]],
    said: str,
    *functions: Function,
    many: Callable[[QuantTensor], Planned | None] = lambda q: None,
) -> None:
    """A rule of ufuncs of one tensor, by what gives the storage and the type of its result. A table does the same,
    unless ``many`` plans what is sooner done for so many elements."""
    name = f"np.{stored_result.__name__}"

    def compute(q: QuantTensor) -> QuantTensor:
        return delivered(name, *stored_result(q))

    def rule(x: Any, /, *, out: Any = None, **others: Any) -> Any:
        if others:
            refuse(name, others)
        q = one_tensor(name, x)
        if out is None:
            return many(q) or planned(compute, q)
        return into(out, of_elements(compute, q))

    rule.__doc__ = said
    implements(*functions, kind="order")(rule)


def sign(q: QuantTensor) -> tuple[Any, UniformType]:
    """-1, 0 and 1 as storage of scale 1."""
    t = _type_of_signs(q.type.expressed_type)
    if q._data.dtype == np.int8 and _has_zeros_at_0(q.type):
        return np.sign(stored(q)), t
    near = clamp(_in_steps(q), -1.0, 1.0)._data
    np.subtract(near, zero_points(q), near)
    return near.view(np.int8) if near.itemsize == 1 else near.astype(np.int8), t


@lru_cache(maxsize=64)
def _type_of_signs(expressed: FloatType) -> UniformType:
    return UniformType("i8", expressed, 1.0, storage_min=-1, storage_max=1)


def _in_steps(q: QuantTensor) -> QuantTensor:
    """The storage as a tensor of scale 1, which no bits are packed of and no bounds narrow. The kernel of ``clamp``
    reads it once; NumPy's maximum of an array and a number is ten times slower."""
    return tensor_of(stored(q), _type_of_steps(q.type), q._shape)


@lru_cache(maxsize=64)
def _type_of_steps(t: UniformType) -> UniformType:
    ones: Any = np.ones(t.scales_shape) if t.scales_shape else 1.0
    zero_points: Any = t.zero_point_array if t.scales_shape else t.zero_points[0]
    return UniformType(storage_dtype(t), "f64", ones, zero_points, t.axis, t.block_sizes)


def positive(q: QuantTensor) -> tuple[Any, UniformType]:
    return stored(q).copy(), q.type


def negative(q: QuantTensor) -> tuple[Any, UniformType]:
    """Every bit of the storage is complemented, and the zero points and bounds are: ``-(q - z) = ~q - ~z``. Where zero
    points are in the middle of the bounds, storage is mirrored at them, and the type is kept."""
    t, opposite = _negatives_of(q.type)
    return opposite(stored(q)), t


def _negative_of_many(q: QuantTensor) -> Planned | None:
    if q._data.size <= SOME or q.type.storage_type.width in PACKED_WIDTHS:
        return None
    t, opposite = _negatives_of(q.type)
    return Planned((q,), lambda operands: tensor_of(opposite(operands[0]._data), t, operands[0]._shape))


@lru_cache(maxsize=64)
def _negatives_of(t: UniformType) -> tuple[UniformType, Callable[[Array], Any]]:
    """(the type of the opposite values, what subtracts the storage from the sum of the bounds). Unsigned storage may
    wrap on the way: the sum takes it back."""
    ends = t.storage_min + t.storage_max
    if any(2 * z != ends for z in t.zero_points):
        ends = sum(t.default_bounds)
        zero_points = [ends - z for z in t.zero_points]
        low, high = ends - t.storage_max, ends - t.storage_min
        t = _with_zero_points(t, zero_points, storage_min=low, storage_max=high)
    whole = _wrapped(ends, t)
    if whole == 0:
        return t, np.negative
    if np.invert(whole) == 0:  # all bits are set: to subtract from them complements each
        return t, np.invert
    return t, lambda storage: np.subtract(whole, storage)


def _wrapped(n: int, t: UniformType) -> Array:
    return np.array(n).astype(storage_dtype(t))


def absolute(q: QuantTensor) -> tuple[Any, UniformType]:
    """The storage of the magnitudes, and its type: the same if it holds every result, else unsigned storage as wide
    with zero point 0, which holds them because two integers of N bits are less than 2**N apart."""
    t = _type_of_magnitudes(q.type)
    if _has_zeros_at_0(q.type):
        distance = np.abs(stored(q))  # the least integer stays what it is, which as an unsigned integer is the distance
    else:
        steps = _in_steps(q)
        distance = clamp(steps, 0.0, None)._data
        np.subtract(distance, clamp(steps, None, 0.0)._data, distance)
        if t is q.type:
            np.add(distance, zero_points(q), distance)
    return np.asarray(distance).view(storage_dtype(t)), t


@lru_cache(maxsize=64)
def _type_of_magnitudes(t: UniformType) -> UniformType:
    if all(z - t.storage_min <= t.storage_max - z for z in t.zero_points):
        return t
    return _with_zero_points(t.with_(storage=f"u{t.storage_width}"), [0] * len(t.scales))


def _with_zero_points(t: UniformType, zero_points: list[int], **bounds: int) -> UniformType:
    given: Any = zero_points[0] if t.is_per_layer else np.array(zero_points, np.int64).reshape(t.scales_shape)
    return t.with_(zero_points=given, **bounds)


_unary(sign, "-1, 0 or 1, of a type with scale 1.", np.sign)
_unary(positive, "A copy.", np.positive)
_unary(
    negative,
    "The opposite values, exact; the type is another where it does not hold them.",
    np.negative,
    many=_negative_of_many,
)
_unary(
    absolute, "The magnitudes, exact; the storage is unsigned where the type does not hold them.", np.absolute, np.fabs
)


@implements(np.nan_to_num, kind="order")
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> QuantTensor:
    """No value is NaN or infinite."""
    q = one_tensor("np.nan_to_num", x)
    return q.copy() if copy else q
