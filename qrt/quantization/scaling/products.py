"""Products (matmuls and convolutions) with constant weights, and access to their weights and biases as arrays."""

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
    """The error for an operation that cannot be folded, with the reason."""


@dataclass(frozen=True, eq=False)
class Product:
    """A matmul or convolution region with constant weights, which may add a constant bias."""

    region: RegionOp
    form: KernelForm

    @property
    def element(self) -> FloatType:
        """The element type of the product's result."""
        element = element_of(self.region.results[0].type)
        assert isinstance(element, FloatType)  # other types have no form
        return element

    @property
    def source(self) -> int:
        """The number of the region's operand that is not constant."""
        return self.form.operands[0].number

    @property
    def channel_axis(self) -> int:
        """The axis of the operand ``source`` that runs over the input channels."""
        operand = self.form.operands[0]
        rank = len(shape(self.region.operands[operand.number]))
        return rank - 1 if operand.permutation is None else operand.permutation[rank - 1]

    @property
    def weights(self) -> Array:
        """The weights as float64."""
        return known(self.region.operands[self.form.operands[1].number])

    @property
    def bias(self) -> Array | None:
        """The bias as float64; None without a bias."""
        return known(self.region.operands[self.form.operands[2].number]) if len(self.form.operands) > 2 else None

    @property
    def output_axis(self) -> int:
        """The axis of the weights that runs over the output channels. In the result, these are the last axis."""
        return self._axis(self._traits.outputs)

    @property
    def input_axis(self) -> int:
        """The axis of the weights that runs over the input channels."""
        return self._axis(self._traits.inputs)

    @property
    def _traits(self) -> Weights:
        traits = FAMILIES[self.form.family].traits.weights
        assert traits is not None  # other families are not products
        return traits

    def _axis(self, axis: int) -> int:
        _, weights, *_ = self.form.operands
        axis %= len(shape(self.region.operands[weights.number]))
        permutation = weights.permutation
        return axis if permutation is None else permutation[axis]

    def set_constants(self, weights: Array, bias: Array | None) -> None:
        """Replace the constant weights, and also the bias unless ``bias`` is None."""
        for operand, array in zip(self.form.operands[1:], (weights, bias), strict=False):
            if array is not None:
                old = self.region.operands[operand.number]
                self.region.set_operand(operand.number, constant(Builder(self.region), array, old.type))
                if old.operation is not None:
                    erase_dead([old.operation])


def product_of(region: Operation) -> Product | None:
    """Return a region as a product with constant weights of at least two axes; None if it computes anything else."""
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
    """Return the numbers of a constant float tensor as float64; None for other values."""
    dense = dense_of(value)
    if dense is None or not isinstance(dense.element, FloatType):
        return None
    return np.asarray(dense.python, np.float64)


def known(value: Value) -> Array:
    """Return the numbers of a value that must be a constant float tensor, as float64."""
    array = constant_array(value)
    assert array is not None
    return array


def constant(builder: Builder, array: Array, type: Type) -> Value:
    """Emit a constant float tensor; its type must represent all numbers of the array exactly."""
    return builder.constant(constant_attribute(array, type), type)


def rounded(array: Array, element: FloatType) -> Array:
    """Round the float64 results of one operation to a float type, each number once."""
    return round_to_format(array, element.name)


def is_normal(array: Array, element: FloatType) -> Array:
    """Return a mask of the numbers that are 0 or normal numbers of a float type."""
    size = np.abs(array)
    least = 2.0 ** FORMATS[element.name].min_exponent
    is_in_range: Array = (size == 0) | ((size >= least) & (size <= element.largest))
    return is_in_range


def along(vector: Array, axis: int, rank: int) -> Array:
    """Reshape a vector to broadcast along one axis of an array of a given rank."""
    return vector.reshape([-1 if place == axis else 1 for place in range(rank)])


def is_open(spec: Type, value: Value, *, hints: bool = False) -> bool:
    """Return True if the type specification of a value leaves its quantized type open.

    The specification is then just the value's float type, or only a least width (`!quant.any`). With ``hints``, a
    specification that only has a range (`!quant.calibrated`) is accepted too.
    """
    open_types = (AnyQuantizedType, CalibratedType) if hints else AnyQuantizedType
    return spec is element_of(value.type) or isinstance(spec, open_types)


def has_open_constants(product: Product) -> bool:
    """Return True if the quantized types of the weights and the bias are open, so that their numbers may change."""
    specs = product.region.input_specs
    return all(
        is_open(specs[operand.number], product.region.operands[operand.number]) for operand in product.form.operands[1:]
    )


def single_user(value: Value, through: Sequence[str]) -> tuple[Operation | None, list[Operation]]:
    """Return the only user of a value, and the annotations before it whose names are in ``through``.

    The user is None if there are several users, or the user is in another block.
    """
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
    """Return the key that names an operation's result in calibration records; None if it has none."""
    key = operation.attributes.get("statsKey" if operation.name == "quant.stats_ref" else KEY)
    return key.value if isinstance(key, StringAttr) else None


def shape(value: Value) -> tuple[int | None, ...]:
    """Return the shape of a ranked tensor."""
    assert isinstance(value.type, TensorType)
    return tuple(value.type.shape or ())
