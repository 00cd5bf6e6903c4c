"""Recognition of operations that move elements, such as reshapes and transposes, and of padding by a constant."""

from dataclasses import dataclass

from qrt.ir import Operation, Value
from qrt.ir.dialects._shaped.lists import static_values
from qrt.ops import FAMILIES, family_of
from qrt.quantization.forms.elements import behind, elements_of, shape_of, splat_of
from qrt.quantization.forms.model import KernelMatch
from qrt.types import TensorType

PADS = ("tensor.pad", "qrt.pad")


@dataclass(frozen=True)
class Padding:
    """A padding of a tensor: the number of elements added to each axis, their value, and the padding operations."""

    source: Value
    low: tuple[int, ...]
    high: tuple[int, ...]
    value: float
    operations: tuple[Operation, ...]

    def keeps(self, axis: int) -> bool:
        """Return True if nothing is added along an axis."""
        return 0 <= axis < len(self.low) and self.low[axis] == self.high[axis] == 0


def padding_of(value: Value) -> Padding | None:
    """Return the padding that computes a value; None if a size or the padding value varies, or a size is negative."""
    passed: list[Operation] = []
    source = behind(value, passed).operation
    if source is None or source.name not in PADS:
        return None
    if source.name == "qrt.pad":
        attributes = FAMILIES["pad"].read(source.attributes)
        before, after = (tuple(pair[side] for pair in attributes["padding"]) for side in (0, 1))
        return Padding(
            source.operands[0], before, after, float(attributes["value"] or 0.0), (source, *reversed(passed))
        )
    low, high = ([n for n in static_values(source, side) if n is not None and n >= 0] for side in ("low", "high"))
    rank = len(static_values(source, "low"))
    fill = splat_of(source.regions[0].blocks[0].terminator.operands[0])
    if len(low) < rank or len(high) < rank or fill is None:
        return None
    return Padding(source.operands[0], tuple(low), tuple(high), fill, (source, *reversed(passed)))


def pad(value: Value) -> list[KernelMatch]:
    """Return the match if float operations compute a value as a `pad`; otherwise an empty list."""
    padding = padding_of(value) if value.operation is not None and value.operation.name in PADS else None
    if padding is None:
        return []
    attributes = {"padding": tuple(zip(padding.low, padding.high, strict=True)), "value": padding.value}
    return [KernelMatch("pad", ((padding.source, None),), padding.operations, attributes=attributes)]


_RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape", "qrt.reshape")


def movement(value: Value) -> list[KernelMatch]:
    """Return the matches if an operation that moves elements, such as a reshape or transpose, computes a value."""
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
    if source.name == "tensor.extract_slice":
        return _slice(source)
    return _transpose(value) or _tile(value)


def _slice(source: Operation) -> list[KernelMatch]:
    """Return the match as a `slice` if an `extract_slice` keeps the rank, with constant offsets, sizes and strides."""
    lists = {name: tuple(static_values(source, name)) for name in ("offsets", "sizes", "strides")}
    if any(None in entries for entries in lists.values()) or shape_of(source.results[0]) != lists["sizes"]:
        return []
    return [KernelMatch("slice", ((source.operands[0], None),), (source,), attributes=lists)]


def _tile(value: Value) -> list[KernelMatch]:
    """Return the match as a `tile` if a value is a broadcast that repeats axes of size 1; otherwise an empty list."""
    elements, shape = elements_of(value), shape_of(value)
    if elements is None or not elements.is_copy or len(elements.axes[0]) != len(shape) or None in shape:
        return []
    (axes,) = elements.axes
    if any(axis not in (place, None) for place, axis in enumerate(axes)) or None not in axes:
        return []
    multiples = tuple(1 if axis is not None else size for axis, size in zip(axes, shape, strict=True))
    operands = ((elements.inputs[0], None),)
    return [KernelMatch("tile", operands, (elements.operation,), attributes={"multiples": multiples})]


def as_tuples(entry: object) -> object:
    """Return an attribute's value with tuples in place of lists, so that it is hashable."""
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
