"""Products whose weights are constants, and their weights and biases as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.ir import Builder, Operation, StringAttr, Value
from qrt.ir.constants import constant_attribute
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.rewriting.rewrite import erase_dead
from qrt.numerics import round_to_format
from qrt.numerics.float_text import FORMATS
from qrt.ops import FAMILIES
from qrt.ops.declare import Weights
from qrt.quantization.annotations.region_metadata import KEY
from qrt.quantization.forms import KernelForm, form_of
from qrt.quantization.forms.elements import dense_of
from qrt.types import AnyQuantizedType, CalibratedType, FloatType, TensorType, Type

Array = npt.NDArray[Any]


class NotScaled(Exception):
    """Why an operation stays as it is."""


@dataclass(frozen=True, eq=False)
class Product:
    """A region that computes a product of values with constant weights, and perhaps adds a constant bias."""

    region: RegionOp
    form: KernelForm

    @property
    def element(self) -> FloatType:
        """The type of its numbers."""
        element = element_of(self.region.results[0].type)
        assert isinstance(element, FloatType)  # else it would have no form
        return element

    @property
    def source(self) -> int:
        """The number of the operand that is no constant."""
        return self.form.operands[0].number

    @property
    def channel_axis(self) -> int:
        """The axis of that operand along which input channels are."""
        operand = self.form.operands[0]
        rank = len(shape(self.region.operands[operand.number]))
        return rank - 1 if operand.permutation is None else operand.permutation[rank - 1]

    @property
    def weights(self) -> Array:
        """The weights, as float64."""
        return known(self.region.operands[self.form.operands[1].number])

    @property
    def bias(self) -> Array | None:
        """The bias, as float64."""
        return known(self.region.operands[self.form.operands[2].number]) if len(self.form.operands) > 2 else None

    @property
    def output_axis(self) -> int:
        """The axis of the weights along which output channels are, which are along the last axis of the result."""
        return self._axis(self._traits.outputs)

    @property
    def input_axis(self) -> int:
        """The axis of the weights along which input channels are."""
        return self._axis(self._traits.inputs)

    @property
    def _traits(self) -> Weights:
        traits = FAMILIES[self.form.family].traits.weights
        assert traits is not None  # else it would be no product
        return traits

    def _axis(self, axis: int) -> int:
        _, weights, *_ = self.form.operands
        axis %= len(shape(self.region.operands[weights.number]))
        permutation = weights.permutation
        return axis if permutation is None else permutation[axis]

    def set_constants(self, weights: Array, bias: Array | None) -> None:
        """Gives it other weights, and another bias where it has one."""
        for operand, array in zip(self.form.operands[1:], (weights, bias), strict=False):
            if array is not None:
                old = self.region.operands[operand.number]
                self.region.set_operand(operand.number, constant(Builder(self.region), array, old.type))
                if old.operation is not None:
                    erase_dead([old.operation])


def product_of(region: Operation) -> Product | None:
    """A region as a product with constant weights of at least two axes; None where it is none."""
    if not isinstance(region, RegionOp) or len(region.results) != 1:
        return None
    form = form_of(region.body, region.kernel)
    if form is None or FAMILIES[form.family].traits.weights is None:
        return None
    numbers = [operand.number for operand in form.operands]
    if sorted(numbers) != list(range(len(region.operands))):
        return None
    if any(constant_array(region.operands[number]) is None for number in numbers[1:]):
        return None
    product = Product(region, form)
    return product if len(shape(region.operands[numbers[1]])) > 1 and product.element.precision <= 53 else None


def constant_array(value: Value) -> Array | None:
    """The numbers of a constant tensor of floats, as float64."""
    found = dense_of(value)
    if found is None or not isinstance(found.element, FloatType):
        return None
    return np.asarray(found.python, np.float64)


def known(value: Value) -> Array:
    """The numbers of a value that is known to be a constant."""
    found = constant_array(value)
    assert found is not None
    return found


def constant(builder: Builder, array: Array, type: Type) -> Value:
    """A constant tensor of floats that are values of its type."""
    return builder.constant(constant_attribute(array, type), type)


def rounded(array: Array, element: FloatType) -> Array:
    """Results of one operation on numbers of a type, computed as float64, rounded to the type."""
    return round_to_format(array, element.name)


def is_normal(array: Array, element: FloatType) -> Array:
    """Which numbers are 0, or neither below the normal ones of a type nor beyond its largest."""
    size = np.abs(array)
    least = 2.0 ** FORMATS[element.name].min_exponent
    found: Array = (size == 0) | ((size >= least) & (size <= element.largest))
    return found


def along(vector: Array, axis: int, rank: int) -> Array:
    """A vector along one axis of an array of a rank."""
    return vector.reshape([-1 if place == axis else 1 for place in range(rank)])


def is_open(spec: Type, value: Value, *, hints: bool = False) -> bool:
    """Whether nothing fixes how a port stores its values: nothing is said, or a least width; with ``hints`` also where
    a range is said."""
    said = (AnyQuantizedType, CalibratedType) if hints else AnyQuantizedType
    return spec is element_of(value.type) or isinstance(spec, said)


def has_open_constants(product: Product) -> bool:
    """Whether the types of the weights and of the bias are open, so that they may be other numbers."""
    specs = product.region.input_specs
    return all(is_open(specs[each.number], product.region.operands[each.number]) for each in product.form.operands[1:])


def single_user(value: Value, through: Sequence[str]) -> tuple[Operation | None, list[Operation]]:
    """The only operation that uses a value, behind annotations of these names, and the annotations; None where there
    are others, or none in its block."""
    passed: list[Operation] = []
    block = value.block
    while len(users := value.users) == 1:
        (user,) = users
        if user.parent is not block:
            break
        if user.name not in through:
            return user, passed
        passed.append(user)
        value = user.results[0]
    return None, passed


def key_of(operation: Operation) -> str | None:
    """The key that an operation gives to its result."""
    found = operation.attributes.get("statsKey" if operation.name == "quant.stats_ref" else KEY)
    return found.value if isinstance(found, StringAttr) else None


def shape(value: Value) -> tuple[int | None, ...]:
    """The shape of a ranked tensor."""
    assert isinstance(value.type, TensorType)
    return tuple(value.type.shape or ())
