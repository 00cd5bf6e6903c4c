"""Folders of the `quant` casts, which remove a cast that undoes another (docs/reference/passes.md, `canonicalize`)."""

from fractions import Fraction

from qrt.ir.core.attributes import StringAttr
from qrt.ir.core.constraints import element_of
from qrt.ir.core.folding import Folded, Folds
from qrt.ir.core.operations import Operation
from qrt.types import UniformType


def fold_scast(operation: Operation, folds: Folds) -> Folded:
    """Fold `scast(scast(x))` to `x`, if the result has the type of `x`."""
    return _undone(operation, "quant.scast")


def fold_dcast(operation: Operation, folds: Folds) -> Folded:
    """Fold `dcast(qcast(x))` to `x`, if the option `dcast_qcast` allows it, because the casts round `x`."""
    return _undone(operation, "quant.qcast") if folds.dcast_qcast else None


def fold_qcast(operation: Operation, folds: Folds) -> Folded:
    """Fold `qcast(dcast(q))` to `q`, if the two casts are exact or the option `qcast_dcast` allows it."""
    folded = _undone(operation, "quant.dcast")
    return folded if folded is None or folds.qcast_dcast or _is_exact(operation) else None


def _undone(operation: Operation, other: str) -> Folded:
    source = operation.operands[0].operation
    if source is None or source.name != other:
        return None
    original = source.operands[0]
    return [original] if original.type is operation.results[0].type else None


def _is_exact(qcast: Operation) -> bool:
    """Return True if dequantizing and quantizing again restores every stored integer of the type.

    Let w be the storage width and p the precision of the expressed type, w <= p - 3. The difference from the zero
    point is exact and below 2^w. There are at most four roundings: of the product in the dcast, and of the quotient (or
    the reciprocal and a product) and the sum in the qcast. Each changes the result by at most 2^w * 2^-p <= 1/8 of a
    step, the rounding of the sum by half of that, so the total error is less than 1/2. This holds in the normal range
    only, because errors of subnormal numbers are not relative.
    """
    t = element_of(qcast.results[0].type)
    rounding = qcast.attributes.get("rounding")
    if not isinstance(t, UniformType) or rounding == StringAttr("toward_zero") or not t.has_default_bounds:
        return False
    form = t.expressed_type.format
    if t.storage_width > form.precision - 3 or not form.has_zero:
        return False
    least, greatest = Fraction(2) ** form.min_exponent, form.largest
    for scale, zero_point in zip(t.scales, t.zero_points, strict=True):
        if not t.storage_min <= zero_point <= t.storage_max:
            return False
        s = Fraction(form.decode(form.encode_float(scale)))
        reach = max(t.storage_max - zero_point, zero_point - t.storage_min)
        if s < least or reach * s > greatest or 1 / s < least or 1 / s > greatest or reach > greatest:
            return False
    return True
