"""The ports of a region in a report: their types, as the quantized program computes with them."""

from collections.abc import Mapping, Sequence

import numpy as np

from qrt.calibrate.observers import Summary
from qrt.calibrate.targets.model import Target
from qrt.ir import ArrayAttr, DenseElementsAttr, Operation, StringAttr, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import constant_of
from qrt.ops.core import Array
from qrt.passes.quantization.export.tags import ORIGINS
from qrt.report.model import PortReport
from qrt.types import FloatType, TensorType, Type, UniformType
from qrt.workflow.slices import Slice
from qrt.workflow.tally import range_of

Histogram = Mapping[int, int]


def port_types(region: Operation, part: Slice, names: Mapping[Value, str]) -> list[Type]:
    """The type of each port of a region of the float program, in the slice that computes its result."""
    constants = list(part.constants)
    entries = {entry.name: entry.value for entry in reversed(part.entries)}
    found: list[Type] = []
    for value in region.operands:
        if constant_of(value) is not None:
            like = next((each for each in constants if _shape(each) == _shape(value)), None)
            if like is not None:
                constants.remove(like)
            found.append(element_of((like or value).type))
        else:
            name = names.get(source_of(value))
            found.append(element_of(value.type) if name not in entries else _read_as(entries[name], part))
    return [*found, *(element_of(part.result.type) for _ in region.results)]


def source_of(value: Value) -> Value:
    """The value that a float one is cast from."""
    source = value.operation
    return source.operands[0] if source is not None and source.name == "quant.dcast" else value


def _shape(value: Value) -> list[int]:
    """The sizes of a constant, which an export may have transposed."""
    assert isinstance(value.type, TensorType)
    return sorted(size or 0 for size in value.type.shape or ())


def _read_as(value: Value, part: Slice) -> Type:
    """The type in which operations of a slice read a value."""
    if not isinstance(element_of(value.type), UniformType):
        for operation in part.operations:
            if operation.name == "quant.qcast" and operation.operands[0] is value:
                return element_of(operation.results[0].type)
    return element_of(value.type)


def port_reports(
    region: Operation,
    giver: Operation,
    types: Sequence[Type],
    kernel: str,
    target: Target,
    histograms: Sequence[Histogram],
) -> tuple[PortReport, ...]:
    """The ports of a region of the float program, whose result an operation of the quantized program gives."""
    inputs = len(region.operands)
    names = _port_names(kernel, inputs, len(region.results), target)
    said = giver.attributes.get(ORIGINS)
    origins = (
        [each.value for each in said.elements if isinstance(each, StringAttr)] if isinstance(said, ArrayAttr) else []
    )
    if len(origins) != len(types):
        origins = [""] * len(types)
    return tuple(
        _port_report(
            names[i],
            i < inputs,
            types[i],
            origins[i],
            i < inputs and constant_of(region.operands[i]) is not None,
            histograms[i],
        )
        for i in range(len(types))
    )


def _port_report(
    name: str, is_input: bool, type: Type, origin: str, is_constant: bool, histogram: Histogram
) -> PortReport:
    low, high = range_of(type)
    return PortReport(
        name,
        "input" if is_input else "output",
        type.shown() if isinstance(type, UniformType) else str(type),
        origin,
        is_constant,
        type.storage_width if isinstance(type, UniformType) else getattr(type, "width", 0),
        low,
        high,
        type.storage_max - type.storage_min + 1 if isinstance(type, UniformType) else 0,
        histogram,
        float(type.scale_array.max()) if isinstance(type, UniformType) else 0.0,
        type.scale_array.size if isinstance(type, UniformType) else 0,
    )


def _port_names(kernel: str, inputs: int, outputs: int, target: Target) -> list[str]:
    """What the target calls the ports."""
    for signature in target.signatures(kernel):
        ports = signature.ports(inputs, outputs)
        if ports is not None:
            names = [port.name for side in ports for port in side]
            return [
                f"{name} {names[:i].count(name)}" if names.count(name) > 1 else name for i, name in enumerate(names)
            ]
    return [*(f"operand {i}" for i in range(inputs)), *(f"result {i}" for i in range(outputs))]


def histogram_of(constant: DenseElementsAttr) -> Histogram:
    """How many values of a constant have which 16 high bits."""
    summary = Summary()
    summary.update(float_array(constant), skip_nonfinite=True)
    record = summary.record()
    return {} if record is None or record.histogram is None else record.histogram


def float_array(constant: DenseElementsAttr) -> Array:
    """The values of a constant of floats."""
    wide = isinstance(constant.element, FloatType) and constant.element.width > 32
    return np.asarray(constant.python).astype(np.float64 if wide else np.float32)


def weight_bytes(region: Operation, types: Sequence[Type]) -> int:
    """What the constants of a region take, each value in the bits of its type."""
    bits = 0
    for value, type in zip(region.operands, types, strict=False):
        if constant_of(value) is not None and isinstance(value.type, TensorType):
            count = 1
            for size in value.type.shape or ():
                count *= size or 0
            bits += count * (type.storage_width if isinstance(type, UniformType) else getattr(type, "width", 0))
    return -(-bits // 8)
