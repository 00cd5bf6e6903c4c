"""Matching of polynomials with the sums of products that kernels compute: `sum (a - za) * (w - zw) + bias`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from qrt.ir.core.affine import Expression
from qrt.ir.dialects.linalg.lowering import Array
from qrt.ir.passes.raise_to_qrt.requantized import Requantized, only_variable
from qrt.ir.passes.raise_to_qrt.sums import constant_values, evaluated_read
from qrt.ir.passes.raise_to_qrt.terms import (
    FIRST_SUM_LOOP,
    ONE,
    Monomial,
    NotRaisedError,
    Polynomial,
    Read,
    Shift,
    Sum,
    canonical,
    rewritten,
    signed,
)

_FARTHEST = 1 << 32


@dataclass(frozen=True)
class Bias:
    """A bias tensor's element that is added to a sum: `read`, or `((read - zero point) * M0 + half) >> N`.

    `rescaling` holds the arrays (M0, N, zero points); it is None if `read` is added unchanged.
    """

    read: Read
    rescaling: tuple[Array, Array, Array] | None = None

    @property
    def bound(self) -> int:
        largest = max(map(abs, self.read.range))
        if self.rescaling is None:
            return largest
        multiplier, places, zero_points = np.broadcast_arrays(*self.rescaling)
        return int(np.max(((largest + np.abs(zero_points)) * multiplier >> places) + 1))


@dataclass(frozen=True)
class Product:
    """Sum of products `(a - a_zero_point) * (w - w_zero_points)` over loops with the sizes `extents`, plus a bias.

    `outer` are the sizes of the result's loops. `w_zero_points` and `constant_bias` are arrays over these loops.
    `weights` are the integers of constant weights, over the result's loops and the loops of the sum; None if the
    weights are not constant. `constant_bias` is None if there is a bias tensor, or if the constant is 0.
    """

    outer: tuple[int, ...]
    a: Read
    w: Read
    extents: tuple[int, ...]
    a_zero_point: int
    w_zero_points: Array
    weights: Array | None
    bias: Bias | None
    constant_bias: Array | None


def match_products(r: Requantized, outer: Sequence[int]) -> Iterator[tuple[Sum, Read, Read]]:
    """Yield (sum of products, a, w) for both assignments of its two factors to a and w, the likelier one first.

    Raises NotRaisedError unless the requantized value contains exactly one sum of products of two elements.
    """
    terms = r.inner.terms or r.sums.terms
    products = [v for m in terms for v, _ in m if isinstance(v, Sum) and len(v.reads) == 2]
    if len(products) != 1:
        raise NotRaisedError(f"it adds {len(products)} sums of products of two integers, not one")
    for a, w in _orders(products[0], outer):
        yield products[0], a, w


def match_product(
    r: Requantized, outer: Sequence[int], product: Sum, a: Read, w: Read, a_zero_point: int | None
) -> Product:
    """Return the zero points and the bias of `product`, the sum of products of `a` and `w` that a program requantizes.

    `a_zero_point` is the value with which `a` is padded, which must be its zero point; None without padding. Raises
    NotRaisedError, with the condition that does not hold, if a kernel does not compute such a sum.
    """
    width = r.inner_width
    terms = dict(r.inner.modulo(width).terms if r.inner.terms else r.sums.terms)
    constant, later = terms.pop(ONE, np.asarray(0, object)), np.asarray(0, object)
    extended_bias = None
    if r.inner.terms:
        after = dict(r.sums.terms)
        later = after.pop(ONE, later)
        extended_bias = _bias_of(after)
    if np.any(terms.pop(frozenset(((product, 1),)), np.asarray(0, object)) != 1):
        raise NotRaisedError("the sum of products is multiplied by a number")
    is_constant = constant_values(w.source) is not None
    weights = evaluated_read(w, _sizes(outer, product.extents)) if is_constant else None
    w_zero_points, zero = np.asarray(0, object), None
    bias: Bias | None = None
    is_shifted = bool(np.any(constant != 0) or np.any(later != 0))
    for monomial, factor in terms.items():
        ((variable, power),) = monomial if len(monomial) == 1 else ((None, 0),)
        if power == 1 and isinstance(variable, Sum) and _is_sum_of(a, product, variable):
            w_zero_points = np.asarray(-factor, object)
        elif power == 1 and isinstance(variable, Sum) and _is_sum_of(w, product, variable):
            if np.any(factor != factor.flat[0]):
                raise NotRaisedError("the zero points of the first factor differ")
            zero = -int(factor.flat[0])
        elif bias is None and extended_bias is None:
            bias = _bias_of({monomial: factor})
        else:
            raise NotRaisedError("the sum has a term that is neither a zero point nor a bias")
    depth = int(np.prod(product.extents, dtype=object))
    if weights is not None:
        axes = tuple(range(len(outer), len(outer) + len(product.extents)))
        if _magnitude(w_zero_points) > _FARTHEST:
            raise NotRaisedError("a zero point of the second factor is far outside of its storage")
        points = _outer_part(w_zero_points.astype(np.int64), len(product.extents))
        centred = _spread(weights, axes, product.extents) - points
        totals, largest = (values.sum(axis=axes).astype(object) for values in (centred, np.abs(centred)))
        zero = a_zero_point
        if zero is None:
            zero = _solved(constant, totals, a) if is_shifted else 0
        rest = constant + zero * totals
    else:
        zero = zero or 0
        if a_zero_point not in (None, zero):
            raise NotRaisedError(f"the padding {a_zero_point} is not the zero point {zero} of what it pads")
        rest = constant - depth * zero * w_zero_points
        largest = depth * _span(w, w_zero_points)
    rest = np.asarray(signed(rest, width), object)
    low, high = a.range
    inner = max(abs(low - zero), abs(high - zero)) * int(np.max(largest)) + _magnitude(rest)
    inner += bias.bound if bias is not None else 0
    bound = inner + _magnitude(later)
    bound += extended_bias.bound if extended_bias is not None else 0
    bias, rest = bias or extended_bias, np.asarray(rest + later, object)
    constant_bias = rest if np.any(rest != 0) else None
    if bias is not None and constant_bias is not None:
        raise NotRaisedError("the terms without a factor read are not those of the zero points")
    r.require_bounds(inner, bound)
    return Product(tuple(outer), a, w, product.extents, zero, w_zero_points, weights, bias, constant_bias)


def _bias_of(terms: Mapping[Monomial, Array]) -> Bias | None:
    """Return the bias, given the terms of a sum that are not zero points; None without terms.

    Raise NotRaisedError if there are several terms, or the term is not a bias.
    """
    if not terms:
        return None
    variable = only_variable(Polynomial(terms))
    if isinstance(variable, Read):
        return Bias(read=variable)
    if isinstance(variable, Shift):
        return _rescaled_bias(variable)
    raise NotRaisedError("the sum has a term that is neither a zero point nor a bias")


def _rescaled_bias(shift: Shift) -> Bias:
    terms = dict(shift.value.terms)
    constant = terms.pop(ONE, np.asarray(0, object))
    reads = [(v, f) for monomial, f in terms.items() for v, power in monomial if isinstance(v, Read) and power == 1]
    if len(reads) != 1 or len(terms) != 1 or set(map(len, terms)) != {1} or shift.width != 64:
        raise NotRaisedError("the bias is not an element that is read and rescaled in i64")
    read, multiplier = reads[0]
    half = 2 ** (shift.places - 1) if np.all(shift.places > 0) else None
    if half is None or np.any(multiplier < 1) or np.any((half - constant) % multiplier):
        raise NotRaisedError("the bias is not rescaled by a positive multiplier and rounded half up")
    bias = Bias(read, (multiplier, shift.places, np.asarray((half - constant) // multiplier, object)))
    if np.any((bias.bound << shift.places) + half >= 1 << 63):
        raise NotRaisedError("the product of the bias and its multiplier may overflow i64")
    return bias


def _magnitude(values: Array) -> int:
    return int(np.max(np.abs(values)))


def _sizes(outer: Sequence[int], extents: Sequence[int]) -> dict[int, int]:
    return dict(enumerate(outer)) | {FIRST_SUM_LOOP + i: extent for i, extent in enumerate(extents)}


def _orders(product: Sum, outer: Sequence[int]) -> list[tuple[Read, Read]]:
    """Return both assignments (a, w) of a product's two factors, the likelier one first.

    A constant factor is likely to be w. Otherwise, w is likely to be the factor whose indices use only the last of the
    result's loops.
    """
    first, second = product.reads
    constants = [constant_values(read.source) is not None for read in product.reads]
    if constants[0] != constants[1]:
        return [(second, first), (first, second)] if constants[0] else [(first, second), (second, first)]
    last, others = ("d", len(outer) - 1), {("d", loop) for loop in range(len(outer) - 1)}
    parts = [{part for index in read.indices for part in _parts(index)} for read in product.reads]
    is_first_w = last in parts[0] and not others & parts[0]
    return [(second, first), (first, second)] if is_first_w else [(first, second), (second, first)]


def _parts(index: object) -> list[object]:
    if not isinstance(index, tuple):
        return [index]
    return [index] if index[0] == "d" else [*_parts(index[1]), *_parts(index[2])]


def _is_sum_of(read: Read, product: Sum, other: Sum) -> bool:
    """Return True if `other` is the sum of one factor, `read`, over all loops of `product`.

    Return False if the factor does not depend on one of these loops.
    """
    if len(other.reads) != 1:
        return False
    for order in permutations(range(len(product.extents))):
        if [product.extents[loop] for loop in order] != list(other.extents):
            continue
        names: dict[Expression, Expression] = {
            ("d", FIRST_SUM_LOOP + own): ("d", FIRST_SUM_LOOP + loop) for own, loop in enumerate(order)
        }
        if other.reads[0].map(lambda index: canonical(rewritten(index, names))) == read:  # noqa: B023
            return True
    return False


def _spread(weights: Array, axes: Sequence[int], extents: Sequence[int]) -> Array:
    """Broadcast weights along the axes of the loops of the sum: axis `axes[i]` gets the size `extents[i]`."""
    shape = list(weights.shape)
    for axis, extent in zip(axes, extents, strict=True):
        shape[axis] = extent
    return np.broadcast_to(weights, shape)


def _outer_part(values: Array, rank: int) -> Array:
    """Append `rank` dimensions of size 1, for the loops of the sum, to an array over the result's loops."""
    return values.reshape((*values.shape, *[1] * rank)) if values.ndim else values


def _solved(constant: Array, totals: Array, a: Read) -> int:
    """Return the zero point of `a` that solves `constant == -zero point * totals` in every channel.

    Return 0 if there is no such zero point in the range of `a`.
    """
    constants, sums = np.broadcast_arrays(constant, totals)
    for value, total in zip(constants.flat, sums.flat, strict=True):
        if total:
            zero = -value // total
            low, high = a.range
            return int(zero) if low <= zero <= high and not np.any(constants + zero * sums) else 0
    return 0


def _span(w: Read, zero_points: Array) -> int:
    low, high = w.range
    return max(int(np.max(np.abs(end - zero_points))) for end in (low, high))
