"""The ports of a region in a report, with the types in which the quantized program computes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from qrt.ir import ArrayAttr, DenseElementsAttr, DenseResourceAttr, Operation, StringAttr, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects.quant.region import RegionOp
from qrt.quantization.annotations.region_metadata import KERNEL, ORIGINS
from qrt.quantization.calibration.observers import Summary
from qrt.quantization.comparison.slices import Slice
from qrt.quantization.comparison.tally import range_of
from qrt.quantization.report.model import PortReport
from qrt.quantization.targets.model import Target
from qrt.types import FloatType, TensorType, Type, UniformType

Histogram = Mapping[int, int]


@dataclass(frozen=True, eq=False)
class PortOf:
    """A port of a region, with its type in the quantized program.

    ``name`` names the value at this port in the float program. A port that takes a constant has the constant itself
    instead, as ``constant``.
    """

    type: Type
    is_input: bool
    name: str = ""
    constant: Value | None = None

    @property
    def bits(self) -> int:
        """The width of a stored value in bits."""
        return self.type.storage_width if isinstance(self.type, UniformType) else int(getattr(self.type, "width", 0))


def ports_of(region: Operation, kernel: str, part: Slice, names: Mapping[Value, str]) -> list[PortOf]:
    """Return the ports of a region of the float program, given the slice that computes its result.

    If the quantized program merged several regions into another kernel there, the input ports are what the slice reads.
    """
    if not isinstance(region, RegionOp) or region.kernel != kernel:
        inputs = list(_merged(part))
    else:
        inputs = [*_operands(region, part, names), *_added(region, part)]
    outputs = [PortOf(stored_type(part.result), False, names.get(value, "")) for value in region.results]
    return [*inputs, *outputs]


def _operands(region: Operation, part: Slice, names: Mapping[Value, str]) -> Iterator[PortOf]:
    constants = [*part.constants, *_narrow_constants(part)]
    giver = part.result.operation
    given = giver.operands if giver is not None and len(giver.operands) == len(region.operands) else region.operands
    read: dict[str, list[Type]] = {}
    for entry in part.entries:
        read.setdefault(entry.name, []).extend(_read_as(entry.value, part))
    for value, operand in zip(region.operands, given, strict=True):
        if constant_of(value) is not None:
            like = next((constant for constant in constants if _shape(constant) == _shape(value)), None)
            if like is not None:
                constants.remove(like)
            yield PortOf(element_of((like or value).type), True, constant=value)
            continue
        name = names.get(source_of(value), "")
        types = read.get(name, [])
        yield PortOf(types[0] if types else element_of(operand.type), True, name)  # the slice may not read this value
        del types[: len(types) > 1]  # a value read in two types has one type for each port


def _added(region: Operation, part: Slice) -> Iterator[PortOf]:
    """Yield the constants at ports that only the quantized program has, such as the bias that corrects an error."""
    giver, count = part.result.operation, len(region.operands)
    wanted = count if giver is None else len(_origins(giver)) - len(region.results)
    for operation in part.operations if wanted > count else ():
        if operation.name.startswith("qrt.") and len(operation.operands) == wanted:
            yield from (PortOf(element_of(value.type), True, constant=value) for value in operation.operands[count:])
            return


def _origins(giver: Operation) -> list[str]:
    """Return the origins of the types of a region's ports."""
    attribute = giver.attributes.get(ORIGINS)
    return (
        [element.value for element in attribute.elements if isinstance(element, StringAttr)]
        if isinstance(attribute, ArrayAttr)
        else []
    )


def _merged(part: Slice) -> Iterator[PortOf]:
    for entry in part.entries:
        for type in _read_as(entry.value, part):
            yield PortOf(type, True, entry.name)
    for value in part.constants:
        yield PortOf(element_of(value.type), True, constant=value)


def source_of(value: Value) -> Value:
    """Return the quantized value that a float value is dequantized from, or the value itself."""
    source = value.operation
    return source.operands[0] if source is not None and source.name == "quant.dcast" else value


def _sizes(value: Value) -> list[int]:
    assert isinstance(value.type, TensorType)
    return [size or 0 for size in value.type.shape or ()]


def _shape(value: Value) -> list[int]:
    """Return the sorted sizes of a constant, which do not change if export transposes it."""
    return sorted(_sizes(value))


def _read_as(value: Value, part: Slice) -> list[Type]:
    """Return the types in which operations of a slice read a value."""
    if isinstance(element_of(value.type), UniformType):
        return [element_of(value.type)]
    casts = [element_of(cast.results[0].type) for cast in part.casts if cast.operands[0] is value]
    return casts or _narrowed(value, part) or [stored_type(value)]


def _narrowed(value: Value, part: Slice) -> list[Type]:
    """Return the narrower float types in which a slice reads a value, if its target stores values in such types."""
    if not _has_narrow(part):
        return []
    casts = [op for op in part.operations if op.name == "arith.truncf" and op.operands[0] is value]
    return [element_of(cast.results[0].type) for cast in casts]


def _narrow_constants(part: Slice) -> list[Value]:
    """Return the constants in narrower float types that a slice reads, if its target stores values in such types."""
    widened = [op.operands[0] for op in part.operations if op.name == "arith.extf"] if _has_narrow(part) else []
    return [value for value in widened if constant_of(value) is not None]


def _has_narrow(part: Slice) -> bool:
    """Return True if the target fixed types: then casts between floats may come from the export, not the program."""
    return part.result.operation is not None and "target" in _origins(part.result.operation)


def stored_type(value: Value) -> Type:
    """Return the element type in which a kernel gives a value, which may be a narrower float than in the program."""
    source = value.operation
    is_narrow = source is not None and source.name == "arith.extf" and KERNEL in source.attributes
    return element_of(source.operands[0].type if source is not None and is_narrow else value.type)


def port_reports(
    ports: Sequence[PortOf], giver: Operation, kernel: str, target: Target, histogram: Callable[[PortOf], Histogram]
) -> tuple[PortReport, ...]:
    """Return reports of the ports of a region, whose result the operation ``giver`` of the quantized program has."""
    inputs = sum(port.is_input for port in ports)
    names = _port_names(kernel, inputs, len(ports) - inputs, target)
    origins = _origins(giver)
    if len(origins) != len(ports):
        origins = [""] * len(ports)
    rows = zip(ports, names, origins, strict=True)
    return tuple(_port_report(port, name, origin, histogram(port)) for port, name, origin in rows)


def _port_report(port: PortOf, name: str, origin: str, histogram: Histogram) -> PortReport:
    type, (low, high) = port.type, range_of(port.type)
    return PortReport(
        name,
        "input" if port.is_input else "output",
        type.shown() if isinstance(type, UniformType) else str(type),
        origin,
        port.constant is not None,
        port.bits,
        low,
        high,
        type.storage_max - type.storage_min + 1 if isinstance(type, UniformType) else 0,
        histogram,
        float(type.scale_array.max()) if isinstance(type, UniformType) else 0.0,
        type.scale_array.size if isinstance(type, UniformType) else 0,
    )


def _port_names(kernel: str, inputs: int, outputs: int, target: Target) -> list[str]:
    """Return the target's names of the ports."""
    for signature in target.signatures(kernel):
        ports = signature.ports(inputs, outputs)
        if ports is not None:
            names = [port.name for side in ports for port in side]
            return [
                f"{name} {names[:i].count(name)}" if names.count(name) > 1 else name for i, name in enumerate(names)
            ]
    return [*(f"operand {i}" for i in range(inputs)), *(f"result {i}" for i in range(outputs))]


def histogram_of(constant: Value) -> Histogram:
    """Return the number of values of a float constant by their 16 high bits."""
    attribute, element, summary = constant_of(constant), element_of(constant.type), Summary()
    if isinstance(attribute, DenseElementsAttr | DenseResourceAttr) and isinstance(element, FloatType):
        values = np.asarray(attribute.python)
        summary.update(values.astype(np.float64 if element.width > 32 else np.float32), skip_nonfinite=True)
    record = summary.record()
    return {} if record is None or record.histogram is None else record.histogram


def weight_bytes(ports: Sequence[PortOf]) -> int:
    """Return the bytes of a region's constants, with each value in the bits of its type."""
    return -(-sum(prod(_sizes(port.constant)) * port.bits for port in ports if port.constant is not None) // 8)
