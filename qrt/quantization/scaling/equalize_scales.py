"""Gives the channels between two products weights whose ranges are alike on both sides."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from qrt.ir import Module, StringAttr
from qrt.ir.core.matching import require_acyclic
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.remarks import remark
from qrt.numerics.float_text import FORMATS
from qrt.quantization.annotations.region_metadata import KEY
from qrt.quantization.checking.regions import regions_of
from qrt.quantization.scaling.product_pairs import Array, Pair, pair_from
from qrt.quantization.scaling.products import Product, along, is_normal, key_of, product_of

EQUALIZED: Final = "/equalized"
"""The end of the keys of values that have been multiplied."""
ROUNDS: Final = 64
"""The most times that every pair is visited: a change of one may ask for one of its neighbours."""


@dataclass(frozen=True)
class EqualizeScales:
    """Multiplies the weights of two products by powers of two for each channel between them, so that their ranges on
    both sides are alike: cross-layer equalization.

    Takes products with a relu, pools or other functions between them that positive factors pass through. Changes no
    result, unless a value between leaves the normal numbers of its type. The values that are multiplied get other keys,
    which end with `/equalized`.
    """

    def run(self, module: Module) -> None:
        equalized(module)


def equalized(module: Module) -> bool:
    """Whether channels of a program have been multiplied."""
    require_acyclic(module.operation)
    products = [product for region in regions_of(module) if (product := product_of(region)) is not None]
    pairs = [pair for product in products if (pair := pair_from(product)) is not None and _has_exponents(pair)]
    numbers = {each.region: _Numbers(each) for pair in pairs for each in (pair.first, pair.second)}
    changed: dict[Pair, None] = {}
    left: dict[Pair, int] = {}
    for _ in range(ROUNDS):
        latest = [pair for pair in pairs if _equalized(pair, numbers, left)]
        changed.update(dict.fromkeys(latest))
        if not latest:
            break
    for pair, channel in left.items():
        element = pair.first.element
        remark(
            pair.first.region,
            f"channel {channel} is not equalized: a value would be out of the normal range of {element}",
        )
    for pair in changed:
        _rename(pair)
    for each in numbers.values():
        each.write()
    return bool(changed)


class _Numbers:
    """The weights and the bias of a product while they change."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.weights, self.bias = product.weights, product.bias
        self.is_changed = False

    def range(self, axis: int) -> Array:
        """The greatest magnitude of the weights by index of an axis."""
        found: Array = (
            np.abs(np.moveaxis(self.weights, axis, 0)).reshape(self.weights.shape[axis], -1).max(1, initial=0)
        )
        return found

    def multiply(self, axis: int, exponents: Array, *, with_bias: bool) -> None:
        """Multiplies the weights along an axis, and the bias, by powers of two."""
        self.weights = np.ldexp(self.weights, along(exponents, axis, self.weights.ndim))
        if with_bias and self.bias is not None:
            self.bias = np.ldexp(self.bias, exponents)
        self.is_changed = True

    def write(self) -> None:
        if self.is_changed:
            self.product.set_constants(self.weights, self.bias)


def _has_exponents(pair: Pair) -> bool:
    """Whether a type has the exponents of f32: a power of two takes values of f16 out of it too easily."""
    return FORMATS[pair.first.element.name].min_exponent <= FORMATS["f32"].min_exponent


def _equalized(pair: Pair, numbers: Mapping[RegionOp, _Numbers], left: dict[Pair, int]) -> bool:
    """Whether the channels of a pair have been multiplied: by the power of two nearest to `sqrt(r2 / r1)`, where `r1`
    and `r2` are the ranges of the weights that make a channel and that take it."""
    first, second = numbers[pair.first.region], numbers[pair.second.region]
    before = first.range(pair.first.output_axis)
    after = np.zeros_like(before)
    np.maximum.at(after, pair.channels, second.range(pair.second.input_axis))
    exponents = _exponents(before, after)
    if (exponents == exponents[:1]).all():
        return False  # one factor for all channels changes no type
    extreme = np.flatnonzero(_is_extreme(pair, first, second, exponents) & (exponents != 0))
    if len(extreme):
        left.setdefault(pair, int(extreme[0]))
        exponents[extreme] = 0
    if not exponents.any():
        return False
    first.multiply(pair.first.output_axis, exponents, with_bias=True)
    second.multiply(pair.second.input_axis, -exponents[pair.channels], with_bias=False)
    return True


def _exponents(before: Array, after: Array) -> Array:
    """For each channel the integer nearest to `log2(after / before) / 2`; 0 where a range is 0 or not finite."""
    (m1, e1), (m2, e2) = np.frexp(before), np.frexp(after)
    exponents = np.floor_divide(e2 - e1 + (m2 >= m1), 2)  # e2 - e1 + (m2 >= m1) - 1 is log2 of the quotient, downwards
    usual = (before > 0) & (after > 0) & np.isfinite(before) & np.isfinite(after)
    found: Array = np.where(usual, exponents, 0)
    return found


def _is_extreme(pair: Pair, first: _Numbers, second: _Numbers, exponents: Array) -> Array:
    """Of which channels a number is not normal or would not be: it would lose bits."""
    every = np.arange(len(exponents))
    found = np.zeros(len(exponents), bool)
    for numbers, axis, of, factors in (
        (first.weights, pair.first.output_axis, every, exponents),
        (first.bias, 0, every, exponents),
        (second.weights, pair.second.input_axis, pair.channels, -exponents[pair.channels]),
    ):
        if numbers is None:
            continue
        with np.errstate(all="ignore"):
            moved = np.ldexp(numbers, along(factors, axis, numbers.ndim))
        fine = is_normal(numbers, pair.first.element) & is_normal(moved, pair.first.element)
        np.logical_or.at(found, of, ~np.moveaxis(fine, axis, 0).reshape(len(of), -1).all(1))
    return found


def _rename(pair: Pair) -> None:
    """Gives the values between two products keys of their own: records of what they were are not of what they are."""
    for operation in (pair.first.region, *pair.between):
        name = "statsKey" if operation.name == "quant.stats_ref" else KEY
        key = key_of(operation)
        if key is not None:
            operation.attributes[name] = StringAttr(key + EQUALIZED)
