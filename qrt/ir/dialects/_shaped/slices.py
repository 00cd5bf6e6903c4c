"""Slices `%x[offsets] [sizes] [strides]`: the operands, attributes, custom form and verification of slicing ops."""

from itertools import pairwise

from qrt.ir.core.matching import constant_number
from qrt.ir.core.operations import Operation, Value
from qrt.ir.dialects._shaped.lists import STATIC, Mixed, mixed_values, static_values
from qrt.ir.dialects._shaped.types import Shape
from qrt.ir.text.assembly_elements import DYNAMIC

PARTS = ("offsets", "sizes", "strides")
SLICE_FORMAT = " ".join(f"dynamic_indices(${part}, $static_{part})" for part in PARTS)
SLICE_ATTRIBUTES = {f"static_{part}": STATIC for part in PARTS}
SLICE_OPERANDS = tuple(f"{part}*: index" for part in PARTS)


def dropped_dimensions(full: Shape, reduced: Shape, unknown_matches: bool = False) -> tuple[int, ...] | None:
    """Return the dimensions of size 1 that must be dropped from `full` to get `reduced`; None if that is impossible.

    With `unknown_matches`, an unknown size (None) in either shape matches any size in the other.
    """
    dropped: list[int] = []
    at = 0
    for axis, size in enumerate(full):
        if at < len(reduced) and (reduced[at] == size or (unknown_matches and None in (size, reduced[at]))):
            at += 1
        elif size == 1:
            dropped.append(axis)
        else:
            return None
    return tuple(dropped) if at == len(reduced) else None


def verify_slice_lists(operation: Operation, rank: int, offsets: int | None = None) -> None:
    """Raise VerifyError unless a slice has `rank` offsets, sizes and strides, and one operand for each dynamic entry.

    `offsets` is the required number of offsets if it differs from `rank`. Static offsets and sizes must not be
    negative.
    """
    lists = {name: static_values(operation, name) for name in PARTS}
    for name in ("sizes", "strides", "offsets"):
        given, wanted = len(operation.operand_group(name)), lists[name].count(None)
        if given != wanted:
            raise operation.error(
                f"expected the number of '{name}' to match the number of dynamic entries in 'static_{name}' "
                f"({given} vs {wanted})"
            )
    ranks = {"offsets": rank if offsets is None else offsets, "sizes": rank, "strides": rank}
    counts = {name: len(values) for name, values in lists.items()}
    for first, second in pairwise(PARTS):
        lone_offset = first == "offsets" and counts[first] == ranks[first] == 1
        if counts[first] != counts[second] and not lone_offset:
            raise operation.error(
                f"expected mixed {first} rank to match mixed {second} rank ({counts[first]} vs {counts[second]}) so "
                "the rank of the result type is well-formed."
            )
    for name, wanted in ranks.items():
        if counts[name] != wanted:
            raise operation.error(f"expected {wanted} {name.removesuffix('s')} values, got {counts[name]}")
    for name in ("offsets", "sizes"):
        negative = [value for value in lists[name] if value is not None and value < 0]
        if negative:
            raise operation.error(f"expected {name} to be non-negative, but got {negative[0]}")


def verify_slice_bounds(operation: Operation, shape: Shape) -> None:
    """Raise VerifyError if a slice of a tensor or memref of this shape is known to be out of bounds."""
    parts = [static_values(operation, name) for name in PARTS]
    for axis, (size, offset, count, stride) in enumerate(zip(shape, *parts, strict=True)):
        if size is None or offset is None:
            continue
        if offset >= size:
            raise operation.error(f"offset {axis} is out-of-bounds: {offset} >= {size}")
        if count is not None and stride is not None and offset + (count - 1) * stride >= size:
            last = offset + (count - 1) * stride
            raise operation.error(f"slice along dimension {axis} runs out-of-bounds: {last} >= {size}")


def may_be_static(part: str, number: int) -> bool:
    """Return True if `number` may be a static entry of the list `part`: "offsets", "sizes" or "strides".

    Offsets and sizes must not be negative. No stride may be DYNAMIC, the number that marks an operand.
    """
    return number >= 0 or (part == "strides" and number != DYNAMIC)


def static_lists(op: Operation) -> dict[str, Mixed] | None:
    """Return the offsets, sizes and strides of a slice with integers in place of constant operands.

    Constants that `may_be_static` rejects stay operands. Return None if no operand changes.
    """
    lists = {name: mixed_values(op, name) for name in PARTS}
    static: dict[str, Mixed] = {}
    for name, values in lists.items():
        numbers = [constant_number(value) if isinstance(value, Value) else None for value in values]
        allowed = [number is not None and may_be_static(name, number) for number in numbers]
        static[name] = [
            number if fine and number is not None else value
            for value, number, fine in zip(values, numbers, allowed, strict=True)
        ]
    return None if static == lists else static
