"""The operands and results of regions, with their types, as the checks read them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from qrt.ir import Module, Operation, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.quant.region import RegionOp, outside_bodies
from qrt.types import FloatType, NoQuantizedType, QuantizedType, TensorType, Type, UniformType

REGION = "quant.region"
RESCALE, LINEAR = "rescale", "linear"
"""The kernels of regions that every target has."""


@dataclass(frozen=True)
class PortOf:
    """An operand or result of a region. ``number`` counts operands first, then results."""

    region: RegionOp
    number: int
    spec: Type
    """The specification of the port."""

    @property
    def is_input(self) -> bool:
        """True for an operand, False for a result."""
        return self.number < len(self.region.operands)

    @property
    def index(self) -> int:
        """The number of the operand among the operands, or of the result among the results."""
        return self.number if self.is_input else self.number - len(self.region.operands)

    @property
    def value(self) -> Value:
        """The value of the operand or result."""
        return self.region.port(self.number)

    @property
    def rank(self) -> int:
        """The number of axes of the value; 0 if it is unknown."""
        type = self.value.type
        return (type.rank or 0) if isinstance(type, TensorType) else 0

    @property
    def is_float(self) -> bool:
        """True if the elements are floats in the program before export; only floats can be quantized."""
        return isinstance(element_of(self.value.type), FloatType)

    @property
    def is_decided(self) -> bool:
        """True if the type is final (quantized, `!quant.none`, a narrower float), or if the elements are not floats."""
        if not self.is_float:
            return True
        is_narrower = isinstance(self.spec, FloatType) and self.spec is not element_of(self.value.type)
        return isinstance(self.spec, UniformType | NoQuantizedType) or is_narrower

    def __str__(self) -> str:
        return f"{'operand' if self.is_input else 'result'} {self.index}"


def operations_of(module: Module) -> Iterator[Operation]:
    """Yield the operations of a module that are not inside the body of a region, in program order."""
    return outside_bodies(module.operation)


def regions_of(module: Module) -> list[RegionOp]:
    """Return the regions of a program, in program order."""
    return [cast(RegionOp, operation) for operation in operations_of(module) if operation.name == REGION]


def ports_of(region: RegionOp) -> list[PortOf]:
    """Return all operands, then all results of a region."""
    return [PortOf(region, number, spec) for number, spec in enumerate(region.specs)]


def shown(spec: Type) -> str:
    """Return a type as text for messages."""
    return spec.shown() if isinstance(spec, QuantizedType) else str(spec)
