"""Changes to the bodies of products (matmul and convolution regions): an added bias, and a removed clamp."""

from qrt.ir import ArrayAttr, Block, Builder, Region, StringAttr, Value
from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.linalg.structure import generic
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.rewriting.rewrite import erase_dead
from qrt.quantization.annotations.region_metadata import ORIGINS
from qrt.quantization.forms.clamps import clamps_of
from qrt.quantization.forms.elements import behind
from qrt.quantization.scaling.products import Array, Product, constant, shape
from qrt.types import TensorType, Type


def sum_of(product: Product) -> Value:
    """Return the value in a product's body before the final clamp; without a clamp, the result."""
    result = behind(product.region.body.terminator.operands[0], [])
    bounds = product.form.low, product.form.high
    clamps = [clamp for clamp in clamps_of(result) if clamp.bounds == bounds]
    return behind(clamps[-1].source, []) if clamps else result


def biased(builder: Builder, value: Value, bias: Value) -> Value:
    """Emit the addition of a vector to a value, along the value's last axis."""
    rank, element = len(shape(value)), element_of(value.type)
    plain = AffineMapAttr.identity(rank)
    inner = Block((element, element, element), builder.location)
    adding = Builder(inner)
    adding.emit("linalg.yield", [adding.value("arith.addf", inner.arguments[:2], element)])
    maps = [plain, AffineMapAttr(rank, 0, plain.results[-1:]), plain]
    (total,) = generic(builder, [value, bias], [value], [value.type], maps, ["parallel"] * rank, Region([inner]))
    return total


def unclamped(product: Product) -> RegionOp:
    """Copy a product's region without the clamp of its result. The copy is inserted after the region and returned."""
    values: dict[Value, Value] = {}
    copy = product.region.clone(values)
    assert isinstance(copy, RegionOp)
    last = copy.body.terminator
    clamp = last.operands[0].operation
    last.set_operand(0, values[sum_of(product)])
    if clamp is not None:
        erase_dead([clamp])
    Builder.after(product.region.results[0]).insert(copy)
    return copy


def add_bias(product: Product, bias: Array, spec: Type) -> RegionOp:
    """Copy a product's region with an additional bias. The copy is inserted before the region and returned.

    ``spec`` is the type specification of the bias operand.
    """
    values: dict[Value, Value] = {}
    copy = product.region.clone(values)
    assert isinstance(copy, RegionOp)
    builder = Builder(product.region)
    type = TensorType(bias.shape, product.element)
    copy.set_operands([*copy.operands, constant(builder, bias, type)])
    before = values[sum_of(product)]
    uses = list(before.uses)
    total = biased(Builder.after(before), before, copy.body.add_argument(type))
    for user, index in uses:
        user.set_operand(index, total)
    copy.set_specs([*product.region.input_specs, spec, *product.region.output_specs])
    origins = copy.attributes.get(ORIGINS)
    if isinstance(origins, ArrayAttr):
        count = len(product.region.operands)
        with_bias = (*origins.elements[:count], StringAttr("constraint"), *origins.elements[count:])
        copy.attributes[ORIGINS] = ArrayAttr(with_bias)
    builder.insert(copy)
    return copy
