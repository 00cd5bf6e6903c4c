"""The pass `equalize-scales`, which equalizes the weight ranges of two consecutive products, channel by channel."""

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
"""The suffix of the keys of values that were multiplied."""
ROUNDS: Final = 64
"""The most visits of each pair; changing one pair can unbalance its neighbours."""


@dataclass(frozen=True)
class EqualizeScales:
    """Equalizes the weight ranges of two consecutive products, channel by channel.

    This is cross-layer equalization. The weights that compute a channel are multiplied by a power of two, and the
    weights that read the channel are divided by the same power. Between the two products there may be a relu, pools or
    other functions that commute with positive factors. No result changes, unless an intermediate value overflows or
    becomes subnormal. Values that are multiplied get new keys for calibration records, with the suffix `/equalized`.
    """

    def run(self, module: Module) -> None:
        equalized(module)


def equalized(module: Module) -> bool:
    """Equalize the weight ranges of all pairs of products in a program. Return True if any weights were multiplied."""
    require_acyclic(module.operation)
    products = [product for region in regions_of(module) if (product := product_of(region)) is not None]
    pairs = [pair for product in products if (pair := pair_from(product)) is not None and _has_exponents(pair)]
    numbers = {member.region: _Numbers(member) for pair in pairs for member in (pair.first, pair.second)}
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
    for member in numbers.values():
        member.write()
    return bool(changed)


class _Numbers:
    """Copies of the weights and the bias of a product, which are multiplied and then written back by ``write``."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.weights, self.bias = product.weights, product.bias
        self.is_changed = False

    def range(self, axis: int) -> Array:
        """Return the greatest magnitude of the weights at each index of an axis."""
        magnitudes: Array = (
            np.abs(np.moveaxis(self.weights, axis, 0)).reshape(self.weights.shape[axis], -1).max(1, initial=0)
        )
        return magnitudes

    def multiply(self, axis: int, exponents: Array, *, with_bias: bool) -> None:
        """Multiply the weights along an axis, and with ``with_bias`` also the bias, by `2**exponents`."""
        self.weights = np.ldexp(self.weights, along(exponents, axis, self.weights.ndim))
        if with_bias and self.bias is not None:
            self.bias = np.ldexp(self.bias, exponents)
        self.is_changed = True

    def write(self) -> None:
        if self.is_changed:
            self.product.set_constants(self.weights, self.bias)


def _has_exponents(pair: Pair) -> bool:
    """Return True if the products' type has at least the exponent range of f32; f16 could overflow."""
    return FORMATS[pair.first.element.name].min_exponent <= FORMATS["f32"].min_exponent


def _equalized(pair: Pair, numbers: Mapping[RegionOp, _Numbers], left: dict[Pair, int]) -> bool:
    """Equalize the weight ranges of two products by powers of two. Return True if any factor is not 1.

    The factor is the power of two nearest to `sqrt(r2 / r1)`. `r1` is the greatest magnitude of the weights that
    compute a channel, and `r2` that of the weights that read the channel. ``left`` maps each pair to a channel that
    stays unchanged, because a weight or bias would leave the normal range.
    """
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
    """Return, for each channel, the integer nearest to `log2(after / before) / 2`; 0 if a range is 0 or not finite."""
    (m1, e1), (m2, e2) = np.frexp(before), np.frexp(after)
    exponents = np.floor_divide(e2 - e1 + (m2 >= m1), 2)  # e2 - e1 + (m2 >= m1) - 1 is the floor of the log2
    usual = (before > 0) & (after > 0) & np.isfinite(before) & np.isfinite(after)
    nearest: Array = np.where(usual, exponents, 0)
    return nearest


def _is_extreme(pair: Pair, first: _Numbers, second: _Numbers, exponents: Array) -> Array:
    """Return a mask of the channels with a weight or bias that is subnormal or infinite, before or after scaling."""
    every = np.arange(len(exponents))
    is_extreme = np.zeros(len(exponents), bool)
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
        np.logical_or.at(is_extreme, of, ~np.moveaxis(fine, axis, 0).reshape(len(of), -1).all(1))
    return is_extreme


def _rename(pair: Pair) -> None:
    """Give the values between two products new keys, because calibration records of old values do not apply to them."""
    for operation in (pair.first.region, *pair.between):
        name = "statsKey" if operation.name == "quant.stats_ref" else KEY
        key = key_of(operation)
        if key is not None:
            operation.attributes[name] = StringAttr(key + EQUALIZED)
