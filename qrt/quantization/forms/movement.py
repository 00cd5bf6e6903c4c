"""Tensors whose elements move and stay as they are."""

from qrt.ir import Value
from qrt.ops import family_of
from qrt.quantization.forms.elements import elements_of, shape_of
from qrt.quantization.forms.model import KernelMatch
from qrt.quantization.forms.padding import PADS
from qrt.types import TensorType

_RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape", "qrt.reshape")


def movement(value: Value) -> list[KernelMatch]:
    """The readings of a value as the elements of others at other places."""
    source = value.operation
    if source is None:
        return []
    if source.name in _RESHAPES:
        return [KernelMatch("reshape", ((source.operands[0], None),), (source,))]
    family = family_of(source)
    if family is not None and family.traits.is_movement and source.name not in PADS:
        attributes = {name: as_tuples(entry) for name, entry in family.read(source.attributes).items()}
        attributes.pop("requant", None)
        if family.traits.permutation is not None and isinstance(source.operands[0].type, TensorType):
            attributes["permutation"] = family.traits.permutation((source.operands[0].type,), attributes)
        operands = tuple((operand, None) for operand in source.operands)
        return [KernelMatch(family.name, operands, (source,), attributes=attributes)]
    if source.name == "tensor.concat":
        operands = tuple((operand, None) for operand in source.operands)
        return [KernelMatch("concat", operands, (source,), attributes={"axis": source.attributes["dim"].python})]
    return _transpose(value)


def as_tuples(entry: object) -> object:
    """Return an attribute's value in a form that can be hashed."""
    return tuple(map(as_tuples, entry)) if isinstance(entry, (list, tuple)) else entry


def _transpose(value: Value) -> list[KernelMatch]:
    elements = elements_of(value)
    if elements is None or not elements.is_copy:
        return []
    (axes,) = elements.axes
    order = list(range(len(shape_of(value))))
    if sorted(axis for axis in axes if axis is not None) != order or list(axes) == order:
        return []
    permutation = tuple(axes.index(axis) for axis in order)
    operands = ((elements.inputs[0], None),)
    return [KernelMatch("transpose", operands, (elements.operation,), attributes={"permutation": permutation})]
