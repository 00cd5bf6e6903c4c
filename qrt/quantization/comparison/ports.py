"""The operands and results of a region as a report shows them, with their types in the quantized program."""

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
    """An operand or result of a region, with its element type in the quantized program.

    ``name`` is the name of the value in the float program. For a constant operand, ``constant`` is the constant, and
    ``name`` is empty.
    """

    type: Type
    is_input: bool
    name: str = ""
    constant: Value | None = None

    @property
    def bits(self) -> int:
        """The number of bits of a stored element."""
        return self.type.storage_width if isinstance(self.type, UniformType) else int(getattr(self.type, "width", 0))


def ports_of(region: Operation, kernel: str, part: Slice, names: Mapping[Value, str]) -> list[PortOf]:
    """Return the operands and results of a region of the float program, with their types in the quantized program.

    ``part`` has the operations of the quantized program that compute the region's result, and ``kernel`` is their
    kernel. ``names`` has the names of the float program's values. If the region has another kernel than ``kernel``,
    export merged several regions into one; the operands are then the values that ``part`` reads.
    """
    if not isinstance(region, RegionOp) or region.kernel != kernel:
        inputs = list(_merged(part))
    else:
        inputs = [*_operands(region, part, names), *_added(region, part)]
    outputs = [PortOf(stored_type(part.result), False, names.get(value, "")) for value in region.results]
    return [*inputs, *outputs]


def _operands(region: Operation, part: Slice, names: Mapping[Value, str]) -> Iterator[PortOf]:
    constants = [*part.constants, *_narrow_constants(part)]
    producer = part.result.operation
    given = (
        producer.operands
        if producer is not None and len(producer.operands) == len(region.operands)
        else region.operands
    )
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
    """Yield the constant operands that only the quantized program has, such as a bias that corrects an error."""
    producer, count = part.result.operation, len(region.operands)
    wanted = count if producer is None else len(_origins(producer)) - len(region.results)
    for operation in part.operations if wanted > count else ():
        if operation.name.startswith("qrt.") and len(operation.operands) == wanted:
            yield from (PortOf(element_of(value.type), True, constant=value) for value in operation.operands[count:])
            return


def _origins(producer: Operation) -> list[str]:
    """Return the attribute ``quant.origins``: a text for each port of a region that tells how its type was chosen."""
    attribute = producer.attributes.get(ORIGINS)
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
    """Return the quantized value from which a `quant.dcast` computes ``value``; without a `quant.dcast`, ``value``."""
    source = value.operation
    return source.operands[0] if source is not None and source.name == "quant.dcast" else value


def _sizes(value: Value) -> list[int]:
    assert isinstance(value.type, TensorType)
    return [size or 0 for size in value.type.shape or ()]


def _shape(value: Value) -> list[int]:
    """Return the sorted sizes of a constant, which identify the constant even if export has transposed it."""
    return sorted(_sizes(value))


def _read_as(value: Value, part: Slice) -> list[Type]:
    """Return the element types to which a slice casts a value; without casts, the value's own element type."""
    if isinstance(element_of(value.type), UniformType):
        return [element_of(value.type)]
    casts = [element_of(cast.results[0].type) for cast in part.casts if cast.operands[0] is value]
    return casts or _narrowed(value, part) or [stored_type(value)]


def _narrowed(value: Value, part: Slice) -> list[Type]:
    """Return the narrower float types to which a slice casts a value because the target has float ports."""
    if not _may_narrow(part):
        return []
    casts = [op for op in part.operations if op.name == "arith.truncf" and op.operands[0] is value]
    return [element_of(cast.results[0].type) for cast in casts]


def _narrow_constants(part: Slice) -> list[Value]:
    """Return the constants that a slice stores in a narrower float type because the target has float ports."""
    widened = [op.operands[0] for op in part.operations if op.name == "arith.extf"] if _may_narrow(part) else []
    return [value for value in widened if constant_of(value) is not None]


def _may_narrow(part: Slice) -> bool:
    """Return True if export may have added casts to narrower floats to a slice, because the target has float ports.

    The attribute ``quant.origins`` then contains "target". Without this entry, all casts between floats are casts of
    the program.
    """
    return part.result.operation is not None and "target" in _origins(part.result.operation)


def stored_type(value: Value) -> Type:
    """Return the element type in which a kernel stores its result, before a cast to a wider float type."""
    source = value.operation
    is_narrow = source is not None and source.name == "arith.extf" and KERNEL in source.attributes
    return element_of(source.operands[0].type if source is not None and is_narrow else value.type)


def port_reports(
    ports: Sequence[PortOf], producer: Operation, kernel: str, target: Target, histogram: Callable[[PortOf], Histogram]
) -> tuple[PortReport, ...]:
    """Return the report entries of a region's operands and results.

    ``producer`` is the operation of the quantized program that computes the region's result. ``histogram`` returns the
    histogram of the values at an operand or result.
    """
    inputs = sum(port.is_input for port in ports)
    names = _port_names(kernel, inputs, len(ports) - inputs, target)
    origins = _origins(producer)
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
    """Return the target's names of a kernel's operands and results, or else ``operand 0``, ``result 0`` and so on."""
    for signature in target.signatures(kernel):
        ports = signature.ports(inputs, outputs)
        if ports is not None:
            names = [port.name for side in ports for port in side]
            return [
                f"{name} {names[:i].count(name)}" if names.count(name) > 1 else name for i, name in enumerate(names)
            ]
    return [*(f"operand {i}" for i in range(inputs)), *(f"result {i}" for i in range(outputs))]


def histogram_of(constant: Value) -> Histogram:
    """Return the histogram of a float constant: the number of its values by the upper 16 bits of their f32."""
    attribute, element, summary = constant_of(constant), element_of(constant.type), Summary()
    if isinstance(attribute, DenseElementsAttr | DenseResourceAttr) and isinstance(element, FloatType):
        values = np.asarray(attribute.python)
        summary.update(values.astype(np.float64 if element.width > 32 else np.float32), skip_nonfinite=True)
    record = summary.record()
    return {} if record is None or record.histogram is None else record.histogram


def weight_bytes(ports: Sequence[PortOf]) -> int:
    """Return the total size in bytes of a region's constants, as they are stored in the quantized program."""
    return -(-sum(prod(_sizes(port.constant)) * port.bits for port in ports if port.constant is not None) // 8)
