"""Padding by a constant, by `tensor.pad` or `qrt.pad`: alone, and around the images of convolutions and pools."""

from dataclasses import dataclass

from qrt.ir import Operation, Value
from qrt.ir.dialects._shaped.lists import static_values
from qrt.ops import FAMILIES
from qrt.quantization.forms.elements import behind, splat_of
from qrt.quantization.forms.model import KernelMatch

PADS = ("tensor.pad", "qrt.pad")


@dataclass(frozen=True)
class Padding:
    """A tensor, the elements before and after each of its axes, and the operations that put them there."""

    source: Value
    low: tuple[int, ...]
    high: tuple[int, ...]
    value: float
    operations: tuple[Operation, ...]

    def keeps(self, axis: int) -> bool:
        """Whether nothing is put before or after the elements along an axis."""
        return 0 <= axis < len(self.low) and self.low[axis] == self.high[axis] == 0


def padding_of(value: Value) -> Padding | None:
    """The padding that a value is the result of, if sizes and value are constant and nothing is cut off."""
    passed: list[Operation] = []
    source = behind(value, passed).operation
    if source is None or source.name not in PADS:
        return None
    if source.name == "qrt.pad":
        said = FAMILIES["pad"].read(source.attributes)
        before, after = (tuple(pair[side] for pair in said["padding"]) for side in (0, 1))
        return Padding(source.operands[0], before, after, float(said["value"] or 0.0), (source, *reversed(passed)))
    low, high = ([n for n in static_values(source, side) if n is not None and n >= 0] for side in ("low", "high"))
    rank = len(static_values(source, "low"))
    fill = splat_of(source.regions[0].blocks[0].terminator.operands[0])
    if len(low) < rank or len(high) < rank or fill is None:
        return None
    return Padding(source.operands[0], tuple(low), tuple(high), fill, (source, *reversed(passed)))


def pad(value: Value) -> list[KernelMatch]:
    """The reading of a value as a padded tensor."""
    found = padding_of(value) if value.operation is not None and value.operation.name in PADS else None
    if found is None:
        return []
    attributes = {"padding": tuple(zip(found.low, found.high, strict=True)), "value": found.value}
    return [KernelMatch("pad", ((found.source, None),), found.operations, attributes=attributes)]
