"""The pass `convert-fake-quant`, which moves the types of fake quantizations and casts into regions' specifications."""

from collections.abc import Sequence
from dataclasses import dataclass

from qrt.ir import Module, Operation
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.quant import FAKE_QUANTS
from qrt.ir.dialects.quant.fake_quant import fake_quant_type
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.remarks import remark
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.quantization.annotations.boundary import ANNOTATIONS, AnnotatedType, Boundaries, source
from qrt.types import QuantizedType, Type, UniformType

_CASTS = ("quant.qcast", "quant.dcast")


@dataclass(frozen=True)
class ConvertFakeQuant:
    """Moves the types of fake quantization and casts into the specifications of the neighbouring regions.

    The pass reads fake-quantization operations, `dcast(qcast(x))`, and casts from and to quantized values. It removes
    an operation if only regions use its result. The float program then no longer rounds the value, but the exported
    program does.
    """

    def run(self, module: Module) -> None:
        boundaries = Boundaries(module)
        of_results, of_operands = boundaries.move(_annotation_of)
        read_by_regions = _read_by_regions(boundaries.outside)
        for operation in boundaries.outside:
            annotation = _annotation_of(operation) if source(operation) is not None else None
            if annotation is None:
                continue
            follows_result = operation in of_results or _cast_of(operation) in of_results
            if not follows_result and operation not in of_operands:
                remark(operation, "is kept: no region defines or uses this value")
            elif operation in read_by_regions or (follows_result and _is_implied(operation, annotation.spec)):
                _remove(operation)
            else:
                remark(operation, "is kept: operations outside of regions use this value too")


def _annotation_of(operation: Operation) -> AnnotatedType | None:
    if operation.name in FAKE_QUANTS:
        return AnnotatedType(fake_quant_type(operation))
    if operation.name not in _CASTS:
        return None
    quantized = operation.results[0] if operation.name == "quant.qcast" else operation.operands[0]
    element = element_of(quantized.type)
    assert isinstance(element, QuantizedType)  # the op's rule
    return AnnotatedType(element)


def _cast_of(operation: Operation) -> Operation | None:
    return operation.operands[0].operation if operation.name == "quant.dcast" else None


def _read_by_regions(operations: Sequence[Operation]) -> set[Operation]:
    """Return the annotations and casts whose results only regions use, directly or through other such operations."""
    producers: set[Operation] = set()
    for operation in reversed(operations):  # uses come after definitions
        if operation.name in ANNOTATIONS or operation.name in _CASTS:
            users = operation.results[0].users
            if all(isinstance(user, RegionOp) or user in producers for user in users):
                producers.add(operation)
    return producers


def _is_implied(operation: Operation, spec: Type) -> bool:
    """Return True if an annotation may be removed even if operations outside of regions use its result.

    It may be removed if its type ``spec`` is not quantized, or if the region that computes the value has this type as
    the specification of its result.
    """
    at: Operation | None = operation
    while at is not None and not isinstance(at, RegionOp):
        value = source(at)
        at = None if value is None else value.operation
    if not isinstance(spec, UniformType) or at is None or value is None:
        return not isinstance(spec, UniformType)
    return at.spec(len(at.operands) + value.index) is spec


def _remove(operation: Operation) -> None:
    value, cast = source(operation), _cast_of(operation)
    assert value is not None  # the caller passes only operations with a source
    replace(operation, [value])
    if cast is not None:
        erase_dead([cast])
