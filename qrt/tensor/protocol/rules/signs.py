"""Functions of the sign of elements: tests for 0 and for negative values, negated values and absolute values."""

from collections.abc import Callable
from typing import Any

import numpy as np

from qrt.ops.core import Array, storage_dtype
from qrt.tensor.protocol.elements import clipped, no_tensor, stored, truth, zero_points
from qrt.tensor.protocol.exact import refuse_others
from qrt.tensor.protocol.results import into, tensor
from qrt.tensor.protocol.rules.comparisons import written
from qrt.tensor.protocol.table import Function, enter, implements
from qrt.tensor.quant_tensor import QuantTensor, wrap_storage
from qrt.types import UniformType


def _of_truths(function: Function) -> Callable[..., Any]:
    """Return the implementation of a NumPy function of one array that depends only on which elements are 0."""
    plain: Callable[..., Any] = getattr(*function) if isinstance(function, tuple) else function

    def rule(a: Any, *args: Any, **options: Any) -> Any:
        no_tensor((*args, *options.values()), "an argument")
        return plain(truth(a), *args, **options)

    return rule


_LOGICAL = (np.logical_and, np.logical_or, np.logical_xor)
_ELEMENTWISE = "The logical operation; an element counts as true if it is not 0."
_ALONG_AXIS = "The logical operation along an axis; an element counts as true if it is not 0."
_OF_TRUTHS: dict[Any, str] = {
    np.any: "True if some element is not 0.",
    np.all: "True if no element is 0.",
    np.nonzero: "The indices of the elements that are not 0, an array for each axis.",
    np.flatnonzero: "The indices of the elements that are not 0, in the flattened tensor.",
    np.argwhere: "The indices of the elements that are not 0, a row for each.",
    np.count_nonzero: "The number of the elements that are not 0.",
}
_OF_TRUTHS |= {(ufunc, method): _ALONG_AXIS for ufunc in _LOGICAL for method in ("reduce", "accumulate")}
enter("order", _of_truths, _OF_TRUTHS)


def _logical(ufunc: np.ufunc) -> Callable[..., Any]:
    def rule(*operands: Any, **options: Any) -> Any:
        refuse_others({key: options[key] for key in options.keys() - {"out", "where"}})
        no_tensor((*options.values(),), "'out' or 'where'")
        return ufunc(*map(truth, operands), **options)

    return rule


enter("order", _logical, dict.fromkeys((np.logical_not, *_LOGICAL), _ELEMENTWISE))


def _always(function: Function, answer: bool) -> Callable[..., Any]:
    def rule(x: Any, out: Array | None = None, *, where: Any = True) -> Any:
        return written(np.full(x._shape, answer)[()], out, where)

    return rule


_FINITE = "everywhere: every value is a finite real number."
_ALWAYS = {
    np.isfinite: (True, f"True {_FINITE}"),
    (np.isnan, np.isinf, np.isposinf, np.isneginf): (False, f"False {_FINITE}"),
}
enter("order", _always, _ALWAYS)


@implements(np.signbit, kind="order")
def signbit(x: Any, /, *, out: Array | None = None, where: Any = True) -> Any:
    """True where the value is negative; there is no negative 0."""
    return written(np.less(stored(x), zero_points(x)), out, where)


def _unary(ufunc: np.ufunc, compute: Callable[[QuantTensor], QuantTensor]) -> Callable[..., Any]:
    def rule(x: Any, /, *, out: Any = None, **others: Any) -> Any:
        refuse_others(others)
        return into(out, compute(tensor(x, "x")))

    return rule


def sign(q: QuantTensor) -> QuantTensor:
    """Return the sign of each element as -1, 0 or 1, the storage of a tensor with scale 1."""
    t = UniformType("i8", q.type.expressed_type, 1.0, storage_min=-1, storage_max=1)
    storage, zeros = stored(q), zero_points(q)
    above, below = (np.asarray(compare(storage, zeros)).view(np.int8) for compare in (np.greater, np.less))
    return wrap_storage(np.subtract(above, below), t)


def negative(q: QuantTensor) -> QuantTensor:
    """Return the tensor with all values negated.

    Each storage integer ``q`` becomes ``low + high - q``, where low and high are the storage bounds, if that leaves the
    zero points unchanged. Otherwise low and high are the ends of the storage type's range, and zero points and bounds
    are converted by the same formula.
    """
    t = q.type
    ends = t.storage_min + t.storage_max
    if any(2 * z != ends for z in t.zero_points):
        ends = sum(t.default_bounds)
        mirrored, low, high = [ends - z for z in t.zero_points], ends - t.storage_max, ends - t.storage_min
        t = _with_zero_points(t, mirrored, storage_min=low, storage_max=high)
    # Unsigned storage may wrap in the conversion; the subtraction wraps back.
    return wrap_storage(np.subtract(np.array(ends).astype(storage_dtype(t)), stored(q)), t)


def absolute(q: QuantTensor) -> QuantTensor:
    """Return the absolute values, in the same type if it holds them; else in unsigned storage of the same width.

    Unsigned storage, with zero point 0, holds all absolute values, because two integers of N bits differ by less than
    2**N.
    """
    t, storage, zeros = q.type, stored(q), zero_points(q)
    distance = np.subtract(clipped(storage, zeros), clipped(storage, high=zeros))
    if all(z - t.storage_min <= t.storage_max - z for z in t.zero_points):
        return wrap_storage(np.add(distance, zeros), t)
    t = _with_zero_points(t, [0] * len(t.scales), storage=f"u{t.storage_width}")
    return wrap_storage(np.asarray(distance).view(storage_dtype(t)), t)


def _with_zero_points(t: UniformType, zero_points: list[int], **others: Any) -> UniformType:
    given: Any = zero_points[0] if t.is_per_layer else np.array(zero_points, np.int64).reshape(t.scales_shape)
    return t.with_(zero_points=given, **others)


_UNARY: dict[Any, tuple[Any, str]] = {
    np.sign: (sign, "-1, 0 or 1, of a type with scale 1."),
    (np.positive, np.conjugate): (QuantTensor.copy, "A copy."),
    np.negative: (
        negative,
        (
            "The opposite values, exact. If the tensor's type does not represent them all, zero point "
            "and bounds are mirrored."
        ),
    ),
    (np.absolute, np.fabs): (
        absolute,
        "The magnitudes, exact. If the tensor's type does not represent them all, the storage is unsigned.",
    ),
}
enter("order", _unary, _UNARY)


@implements(np.nan_to_num, kind="order")
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> QuantTensor:
    """The tensor unchanged: no value is NaN or infinite."""
    return x.copy() if copy else tensor(x, "x")
