"""Padding by a constant: alone, and around the images of convolutions and pools."""

from dataclasses import dataclass

from qrt.dialects._shaped.lists import static_values
from qrt.ir import Operation, Value
from qrt.passes.quantization.forms.elements import behind, splat_of
from qrt.passes.quantization.forms.model import Reading


@dataclass(frozen=True)
class Padding:
    """A tensor, the elements before and after each of its axes, and the operations that put them there."""

    source: Value
    low: tuple[int, ...]
    high: tuple[int, ...]
    value: float
    operations: tuple[Operation, ...]


def padding_of(value: Value) -> Padding | None:
    """The `tensor.pad` that a value is the result of, if sizes and value are constant and nothing is cut off."""
    passed: list[Operation] = []
    source = behind(value, passed).operation
    if source is None or source.name != "tensor.pad":
        return None
    low, high = ([n for n in static_values(source, side) if n is not None and n >= 0] for side in ("low", "high"))
    rank = len(static_values(source, "low"))
    fill = splat_of(source.regions[0].blocks[0].terminator.operands[0])
    if len(low) < rank or len(high) < rank or fill is None:
        return None
    return Padding(source.operands[0], tuple(low), tuple(high), fill, (source, *reversed(passed)))


def pad(value: Value) -> list[Reading]:
    """The reading of a value as a padded tensor."""
    found = padding_of(value) if value.operation is not None and value.operation.name == "tensor.pad" else None
    if found is None:
        return []
    attributes = {"padding": tuple(zip(found.low, found.high, strict=True)), "value": found.value}
    return [Reading("pad", ((found.source, None),), found.operations, attributes=attributes)]
