"""Folding of constant factors and addends around a product into the product's weights and its bias."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from qrt.ir import Block, Builder, Operation, StringAttr, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.dialects.quant.region import INPUT_SPECS, OUTPUT_SPECS, RegionOp
from qrt.ir.rewriting.rewrite import erase_dead
from qrt.quantization.annotations.attach_stats_ref import attach
from qrt.quantization.annotations.region_metadata import KEY
from qrt.quantization.checking.regions import LINEAR, RESCALE
from qrt.quantization.forms.clamps import clamps_of
from qrt.quantization.forms.elements import behind
from qrt.quantization.fusion.wrap_region import make_region
from qrt.quantization.scaling.affine import AffineStep, Array, Chain, chain_inside, last_steps
from qrt.quantization.scaling.biases import biased
from qrt.quantization.scaling.products import (
    NotScaled,
    Product,
    along,
    constant,
    constant_array,
    has_open_constants,
    is_normal,
    is_open,
    key_of,
    product_of,
    rounded,
    shape,
    single_user,
)
from qrt.quantization.targets.model import Target
from qrt.types import FloatType, TensorType, Type

FOLDED: Final = "/folded"
"""The suffix of the keys of values that had no key before folding."""
_THROUGH = ("quant.stats", "quant.stats_ref")
"""Annotations of a value, which move with the value."""


@dataclass(frozen=True, eq=False)
class Affine:
    """An operation or region that multiplies an operand by constants, adds constants, and may clamp the result.

    ``operand`` is the number of the operand. ``inner`` is the value before the clamp in a region's body.
    """

    operation: Operation
    operand: int
    chain: Chain
    inner: Value | None = None
    bounds: tuple[float | None, float | None] = (None, None)

    @property
    def region(self) -> RegionOp | None:
        """The operation as a region; None if it is not a region."""
        return self.operation if isinstance(self.operation, RegionOp) else None

    @property
    def source(self) -> Value:
        """The operand to which the factors and addends are applied."""
        return self.operation.operands[self.operand]

    def spec(self, value: Value) -> Type:
        """Return the type specification of ``value``, which is the operand ``source`` or the result."""
        if self.region is None:
            return element_of(value.type)
        return self.region.output_specs[0] if value.operation is self.region else self.region.input_specs[self.operand]

    @property
    def name(self) -> str:
        """The name of the operation in messages."""
        return f"'{self.operation.name}' op" if self.region is None else f"'quant.region' op ({self.region.kernel})"


def affine_of(operation: Operation) -> Affine | None:
    """Return the description of an operation that applies constant factors and addends to one operand.

    Return None for any other operation.
    """
    if len(operation.results) != 1:
        return None
    if not isinstance(operation, RegionOp):
        chain = last_steps(operation.results[0], constant_array)
        return None if chain is None else Affine(operation, operation.operands.index(chain.source), chain)
    if operation.kernel in (RESCALE, LINEAR):
        return None
    body = operation.body

    def known(value: Value) -> Array | None:
        return constant_array(operation.operands[value.index] if value.owner is body else value)

    returned = behind(body.terminator.operands[0], [])
    clamp = clamps_of(returned)[-1:]
    inner = behind(clamp[0].source, []) if clamp else returned
    chain = chain_inside(inner, known)
    if chain.source.owner is not body:
        return None
    others = [spec for number, spec in enumerate(operation.input_specs) if number != chain.source.index]
    if not all(is_open(spec, value, hints=True) for spec, value in zip(others, _others(operation, chain), strict=True)):
        return None
    return Affine(operation, chain.source.index, chain, inner, clamp[0].bounds if clamp else (None, None))


def _others(region: RegionOp, chain: Chain) -> list[Value]:
    return [value for number, value in enumerate(region.operands) if number != chain.source.index]


# -- behind a product ------------------------------------------------------------------------------------------------


def folded_after(product: Product, target: Target, *, with_clamp: bool) -> Product | None:
    """Fold the constant factors and addends after a product into it, and return the new product.

    Returns None if there is nothing to fold. With ``with_clamp``, an operation that only clamps is folded, too. Raises
    NotScaled if there are factors or addends that cannot be folded.
    """
    result = product.region.results[0]
    user, passed = single_user(result, _THROUGH)
    affine = None if user is None else affine_of(user)
    if affine is None or (product.form.low, product.form.high) != (None, None):
        return None
    if not affine.chain.steps and not (with_clamp and affine.bounds != (None, None)):
        return None
    if affine.source is not (passed[-1].results[0] if passed else result):
        return None
    hinted = is_open(product.region.output_specs[0], result, hints=True)
    if not (hinted and is_open(affine.spec(affine.source), result, hints=True) and has_open_constants(product)):
        return None
    return _refolded(product, affine, target, passed)


def _refolded(product: Product, affine: Affine, target: Target, passed: Sequence[Operation]) -> Product | None:
    try:
        weights, bias = _after(product, affine.chain.steps)
        if bias is not None and product.bias is None:
            _check_bias_port(product, target)
    except NotScaled as error:
        raise NotScaled(f"{affine.name} is not folded into kernel '{product.region.kernel}': {error}") from None
    region = _joined(product, affine, weights, bias)
    refolded = product_of(region)
    if refolded is None or not _is_same(refolded, product, affine.bounds):
        erase_dead([region])
        return None
    affine.operation.results[0].replace_all_uses(region.results[0])
    _name(region, product, affine, passed)
    erase_dead([product.region, *passed, affine.operation])
    return refolded


def _after(product: Product, steps: Sequence[AffineStep]) -> tuple[Array, Array | None]:
    """Return the product's weights and bias after the affine steps that follow the product are folded into them.

    Each step rounds each number once.
    """
    weights, bias = product.weights, product.bias
    axis = product.output_axis
    rank = len(shape(product.region.results[0]))
    for step in steps:
        numbers = step.channels(rank - 1, weights.shape[axis])
        if step.kind == "add":
            bias = (
                numbers if bias is None else _checked(rounded(bias + numbers, product.element), bias, product.element)
            )
            continue
        weights = _applied(step, weights, along(numbers, axis, weights.ndim), product.element)
        bias = None if bias is None else _applied(step, bias, numbers, product.element)
    return weights, bias


def _applied(step: AffineStep, array: Array, numbers: Array, element: FloatType) -> Array:
    with np.errstate(all="ignore"):
        result = rounded(array * numbers if step.kind == "mul" else array / numbers, element)
    if not is_normal(result, element).all() or ((result == 0) != (array == 0)).any():
        raise NotScaled(f"a weight or a bias would be out of the normal range of {element}")
    return result


def _checked(bias: Array, before: Array, element: FloatType) -> Array:
    if not np.isfinite(bias).all():
        raise NotScaled(f"a bias would be out of the range of {element}")
    return bias


def _check_bias_port(product: Product, target: Target) -> None:
    kernel = product.region.kernel
    if not any(signature.ports(3, 1) for signature in target.signatures(kernel)):
        raise NotScaled(f"that kernel of target '{target.name}' has no port for a bias")


def _joined(product: Product, affine: Affine, weights: Array, bias: Array | None) -> RegionOp:
    """Emit a region with a product's body, new weights and bias, and the clamp of the affine operation."""
    builder = Builder(affine.operation)
    copy = product.region.clone({})
    (body,) = copy.take_regions()
    (block,) = body.blocks
    block.parent = None
    copy.drop_operands()
    last = block.terminator
    result = last.operands[0]
    last.erase()
    operands, specs = list(product.region.operands), product.region.input_specs
    arrays = [weights] if bias is None else [weights, bias]
    for number, array in enumerate(arrays):
        if number < len(product.form.operands) - 1:
            place = product.form.operands[1 + number].number
            operands[place] = constant(builder, array, operands[place].type)
        else:
            operands.append(constant(builder, array, TensorType(array.shape, product.element)))
            specs.append(product.element)
            result = biased(Builder(block, builder.location), result, block.add_argument(operands[-1].type))
    if affine.region is not None and affine.bounds != (None, None):
        result = _clamped(block, result, affine)
    region = make_region(builder, product.region.kernel, operands, block, [result])
    assert isinstance(region, RegionOp)
    region.set_specs([*specs, affine.spec(affine.operation.results[0])])
    return region


def _clamped(block: Block, value: Value, affine: Affine) -> Value:
    """Append a copy of the clamp in an affine region to a block, applied to ``value``, and return the result.

    The factors and addends of the region are not copied. If the region has no clamp, ``value`` is returned.
    """
    assert affine.region is not None
    assert affine.inner is not None
    body = affine.region.body
    count = len(block.arguments)
    values = {argument: block.add_argument(argument.type) for argument in body.arguments}
    values[body.arguments[affine.operand]] = value
    copies = [block.append(operation.clone(values)) for operation in body if operation is not body.last]
    values[affine.inner].replace_all_uses(value)
    start = _start(block)
    for copy in copies:
        if copy.name == "tensor.dim" and copy.operands[0] is value:
            copy.set_operand(0, start)  # an extra use of the sum would prevent its recognition as part of the product
    result = values[body.terminator.operands[0]]
    erase_dead([copy for copy in copies if copy is not result.operation])
    block.set_arguments(block.arguments[:count])
    return result


def _start(block: Block) -> Value:
    """Return the initial accumulator of the sum of products in a block."""
    sums = (
        operation for operation in block if isinstance(operation, StructuredOp) and "reduction" in operation.iterators
    )
    return next(sums).outputs[0]


def _is_same(refolded: Product, product: Product, bounds: tuple[float | None, float | None]) -> bool:
    """Return True if ``refolded`` computes what ``product`` does, apart from constants, bias and clamp ``bounds``."""
    same = refolded.form.family == product.form.family and refolded.form.attributes == product.form.attributes
    count = len(product.form.operands)
    return (
        same
        and refolded.form.operands[:count] == product.form.operands
        and (refolded.form.low, refolded.form.high) == tuple(bounds)
    )


def _name(region: RegionOp, product: Product, affine: Affine, passed: Sequence[Operation]) -> None:
    """Give a folded region the attributes and the key of the region or operation whose value it now computes.

    A key names a value in calibration records. If the value had no key, it gets a new one, because the key of the
    product names the value before folding.
    """
    source = product.region if affine.region is None else affine.region
    for name, attribute in source.attributes.items():
        if name not in (INPUT_SPECS, OUTPUT_SPECS, "kernel", KEY):
            region.attributes[name] = attribute
    named = [user for user in region.results[0].users if user.name == "quant.stats_ref"]
    key = key_of(affine.operation) or (key_of(named[0]) if named else None)
    old = key_of(product.region) or next(
        (key_of(annotation) for annotation in passed if annotation.name == "quant.stats_ref"), None
    )
    if key is None and old is not None:
        key = old.removesuffix(FOLDED) + FOLDED
        if any(annotation.name == "quant.stats_ref" for annotation in passed):
            attach(region.results[0], key)
    if key is not None and any(
        KEY in annotation.attributes for annotation in (source, product.region, affine.operation)
    ):
        region.attributes[KEY] = StringAttr(key)


# -- before a product ------------------------------------------------------------------------------------------------


def folded_before(product: Product) -> bool:
    """Fold constant factors of a product's input into the product's weights. Return True if there were any.

    Raises NotScaled if there are factors that cannot be folded.
    """
    region, number = product.region, product.source
    value = behind(region.operands[number], [])
    producer = value.operation
    if producer is None or producer.parent is not region.parent:
        return False
    user, passed = single_user(value, _THROUGH)
    affine = affine_of(producer)
    if user is not region or affine is None or affine.bounds != (None, None) or not affine.chain.steps:
        return False
    if any(step.kind == "add" for step in affine.chain.steps) or affine.source.type is not value.type:
        return False
    specs = region.input_specs
    hinted = is_open(specs[number], value, hints=True) and is_open(affine.spec(value), value, hints=True)
    if not hinted or not has_open_constants(product):
        return False
    weights, axis = product.weights, product.input_axis
    try:
        for step in affine.chain.steps:
            numbers = step.channels(product.channel_axis, weights.shape[axis])
            weights = _applied(step, weights, along(numbers, axis, weights.ndim), product.element)
    except NotScaled as error:
        raise NotScaled(f"{affine.name} is not folded into kernel '{region.kernel}': {error}") from None
    specs[number] = affine.spec(affine.source)
    product.set_constants(weights, None)
    region.set_operand(number, affine.source)
    region.set_specs([*specs, *region.output_specs])
    erase_dead([producer, *passed])
    return True
