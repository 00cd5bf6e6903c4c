"""Folding steps on the values around a product into its weights and its bias."""

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
"""The end of the keys of values that had none before a product computed them."""
_THROUGH = ("quant.stats", "quant.stats_ref")
"""Annotations of a value, which go where the value goes."""


@dataclass(frozen=True, eq=False)
class Affine:
    """An operation that computes steps of one value, clamped: a region, or an operation that is in none. ``inner`` is
    the value in its body that the steps compute."""

    operation: Operation
    operand: int
    chain: Chain
    inner: Value | None = None
    bounds: tuple[float | None, float | None] = (None, None)

    @property
    def region(self) -> RegionOp | None:
        """It, if it is a region."""
        return self.operation if isinstance(self.operation, RegionOp) else None

    @property
    def source(self) -> Value:
        """The value that the steps begin with, outside."""
        return self.operation.operands[self.operand]

    def spec(self, value: Value) -> Type:
        """What is said of the port of its operand or of its result."""
        if self.region is None:
            return element_of(value.type)
        return self.region.output_specs[0] if value.operation is self.region else self.region.input_specs[self.operand]

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"'{self.operation.name}' op" if self.region is None else f"'quant.region' op ({self.region.kernel})"


def affine_of(operation: Operation) -> Affine | None:
    """An operation as steps of one value; None where it computes something else."""
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
    """The product that computes what the steps behind one compute, in place of both; None where there are none.
    ``with_clamp`` also takes a clamp alone. Raises NotScaled where steps cannot be folded."""
    result = product.region.results[0]
    user, passed = single_user(result, _THROUGH)
    found = None if user is None else affine_of(user)
    if found is None or (product.form.low, product.form.high) != (None, None):
        return None
    if not found.chain.steps and not (with_clamp and found.bounds != (None, None)):
        return None
    if found.source is not (passed[-1].results[0] if passed else result):
        return None
    hinted = is_open(product.region.output_specs[0], result, hints=True)
    if not (hinted and is_open(found.spec(found.source), result, hints=True) and has_open_constants(product)):
        return None
    return _refolded(product, found, target, passed)


def _refolded(product: Product, found: Affine, target: Target, passed: Sequence[Operation]) -> Product | None:
    try:
        weights, bias = _after(product, found.chain.steps)
        if bias is not None and product.bias is None:
            _check_bias_port(product, target)
    except NotScaled as error:
        raise NotScaled(f"{found.name} is not folded into kernel '{product.region.kernel}': {error}") from None
    region = _joined(product, found, weights, bias)
    made = product_of(region)
    if made is None or not _is_same(made, product, found.bounds):
        erase_dead([region])
        return None
    found.operation.results[0].replace_all_uses(region.results[0])
    _name(region, product, found, passed)
    erase_dead([product.region, *passed, found.operation])
    return made


def _after(product: Product, steps: Sequence[AffineStep]) -> tuple[Array, Array | None]:
    """The weights and the bias after steps on the result; each number is rounded once by each step."""
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
        found = rounded(array * numbers if step.kind == "mul" else array / numbers, element)
    if not is_normal(found, element).all() or ((found == 0) != (array == 0)).any():
        raise NotScaled(f"a weight or a bias would be out of the normal range of {element}")
    return found


def _checked(found: Array, before: Array, element: FloatType) -> Array:
    if not np.isfinite(found).all():
        raise NotScaled(f"a bias would be out of the range of {element}")
    return found


def _check_bias_port(product: Product, target: Target) -> None:
    kernel = product.region.kernel
    if not any(signature.ports(3, 1) for signature in target.signatures(kernel)):
        raise NotScaled(f"that kernel of target '{target.name}' has no port for a bias")


def _joined(product: Product, found: Affine, weights: Array, bias: Array | None) -> RegionOp:
    """A region in place of what follows a product: its body with other constants, then the clamp."""
    builder = Builder(found.operation)
    copy = product.region.clone({})
    (body,) = copy.take_regions()
    (block,) = body.blocks
    block.parent = None
    copy.drop_operands()
    last = block.terminator
    made = last.operands[0]
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
            made = biased(Builder(block, builder.location), made, block.add_argument(operands[-1].type))
    if found.region is not None and found.bounds != (None, None):
        made = _clamped(block, made, found)
    region = make_region(builder, product.region.kernel, operands, block, [made])
    assert isinstance(region, RegionOp)
    region.set_specs([*specs, found.spec(found.operation.results[0])])
    return region


def _clamped(block: Block, value: Value, found: Affine) -> Value:
    """The clamp that a region ends with, of another value: its body, of which the steps go."""
    assert found.region is not None
    assert found.inner is not None
    body = found.region.body
    count = len(block.arguments)
    values = {argument: block.add_argument(argument.type) for argument in body.arguments}
    values[body.arguments[found.operand]] = value
    copies = [block.append(operation.clone(values)) for operation in body if operation is not body.last]
    values[found.inner].replace_all_uses(value)
    start = _start(block)
    for copy in copies:
        if copy.name == "tensor.dim" and copy.operands[0] is value:
            copy.set_operand(0, start)  # what else reads the sum would keep it from being read as a part of the product
    made = values[body.terminator.operands[0]]
    erase_dead([copy for copy in copies if copy is not made.operation])
    block.set_arguments(block.arguments[:count])
    return made


def _start(block: Block) -> Value:
    """What the sum of products in a block begins with, which has the shape of the sum."""
    sums = (each for each in block if isinstance(each, StructuredOp) and "reduction" in each.iterators)
    return next(sums).outputs[0]


def _is_same(made: Product, product: Product, bounds: tuple[float | None, float | None]) -> bool:
    """Whether a product is read as another one with other constants and these bounds."""
    same = made.form.family == product.form.family and made.form.attributes == product.form.attributes
    count = len(product.form.operands)
    return (
        same
        and made.form.operands[:count] == product.form.operands
        and (made.form.low, made.form.high) == tuple(bounds)
    )


def _name(region: RegionOp, product: Product, found: Affine, passed: Sequence[Operation]) -> None:
    """Gives a region the attributes of the region whose value it computes, and its key.

    A value that no region took has no key: it gets one of its own, because the product's is that of another value.
    """
    source = product.region if found.region is None else found.region
    for name, attribute in source.attributes.items():
        if name not in (INPUT_SPECS, OUTPUT_SPECS, "kernel", KEY):
            region.attributes[name] = attribute
    named = [user for user in region.results[0].users if user.name == "quant.stats_ref"]
    key = key_of(found.operation) or (key_of(named[0]) if named else None)
    old = key_of(product.region) or next((key_of(each) for each in passed if each.name == "quant.stats_ref"), None)
    if key is None and old is not None:
        key = old.removesuffix(FOLDED) + FOLDED
        if any(each.name == "quant.stats_ref" for each in passed):
            attach(region.results[0], key)
    if key is not None and any(KEY in each.attributes for each in (source, product.region, found.operation)):
        region.attributes[KEY] = StringAttr(key)


# -- before a product ------------------------------------------------------------------------------------------------


def folded_before(product: Product) -> bool:
    """Whether factors of the values that a product takes are in its weights now. Raises NotScaled where they cannot."""
    region, number = product.region, product.source
    value = behind(region.operands[number], [])
    producer = value.operation
    if producer is None or producer.parent is not region.parent:
        return False
    user, passed = single_user(value, _THROUGH)
    found = affine_of(producer)
    if user is not region or found is None or found.bounds != (None, None) or not found.chain.steps:
        return False
    if any(step.kind == "add" for step in found.chain.steps) or found.source.type is not value.type:
        return False
    specs = region.input_specs
    hinted = is_open(specs[number], value, hints=True) and is_open(found.spec(value), value, hints=True)
    if not hinted or not has_open_constants(product):
        return False
    weights, axis = product.weights, product.input_axis
    try:
        for step in found.chain.steps:
            numbers = step.channels(product.channel_axis, weights.shape[axis])
            weights = _applied(step, weights, along(numbers, axis, weights.ndim), product.element)
    except NotScaled as error:
        raise NotScaled(f"{found.name} is not folded into kernel '{region.kernel}': {error}") from None
    specs[number] = found.spec(found.source)
    product.set_constants(weights, None)
    region.set_operand(number, found.source)
    region.set_specs([*specs, *region.output_specs])
    erase_dead([producer, *passed])
    return True
