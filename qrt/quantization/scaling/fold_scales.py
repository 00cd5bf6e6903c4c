"""The pass `fold-scales`, which folds constant factors and addends of channels into weights and biases."""

from dataclasses import dataclass

from qrt.ir import Module
from qrt.ir.core.matching import require_acyclic
from qrt.ir.passes.options import option
from qrt.ir.remarks import remark
from qrt.quantization.checking.regions import regions_of
from qrt.quantization.scaling.fold import folded_after, folded_before
from qrt.quantization.scaling.products import NotScaled, Product, product_of
from qrt.quantization.targets.model import Target
from qrt.quantization.targets.registry import find


@dataclass(frozen=True)
class FoldScales:
    """Folds operations on a product's channels, such as a batch normalization, into the product's weights and bias.

    The operations are multiplications and divisions by constants, and after the product also additions of constants.
    Products are matmul, conv2d and depthwise_conv2d. An operation is not folded if another operation reads the value
    between it and the product. Folding rounds each weight and bias once for each folded operation. Remarks list the
    operations that cannot be folded.
    """

    target: str = option("qrt-cpu", "the target, as a name or the path of a .toml file")

    def run(self, module: Module) -> None:
        folded(module, find(self.target))


def folded(module: Module, target: Target) -> bool:
    """Fold constant factors and addends into all products of a program. Return True if anything changed."""
    require_acyclic(module.operation)
    is_changed = False
    for region in regions_of(module):
        product = product_of(region) if region.parent is not None else None  # an earlier fold may have erased it
        if product is not None:
            last = _folded_after(product, target)
            is_changed |= (_folded_before(last) > 0) | (last is not product)
    return is_changed


def _folded_after(product: Product, target: Target) -> Product:
    """Fold the operations that follow a matmul or convolution as far as possible, and return the resulting product."""
    latest: Product | None = product
    with_clamp = False
    while latest is not None:
        product = latest
        try:
            latest = folded_after(product, target, with_clamp=with_clamp)
        except NotScaled as error:
            remark(product.region, str(error))
            break
        with_clamp = True
    return product


def _folded_before(product: Product) -> int:
    """Fold the operations that precede a matmul or convolution as far as possible, and return their number."""
    count = 0
    try:
        while folded_before(product):
            count += 1
    except NotScaled as error:
        remark(product.region, str(error))
    return count
