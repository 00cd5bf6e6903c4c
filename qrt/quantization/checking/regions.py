"""Regions as the checks read them: ports in order, and what is said of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from qrt.ir import Module, Operation, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.quant.region import RegionOp, outside_bodies
from qrt.types import FloatType, NoQuantizedType, QuantizedType, TensorType, Type, UniformType

REGION = "quant.region"
RESCALE, LINEAR = "rescale", "linear"
"""Names of regions that need no kernel of a target."""


@dataclass(frozen=True)
class PortOf:
    """A port of a region: operands are counted first, then results."""

    region: RegionOp
    number: int
    spec: Type
    """What is said of it."""

    @property
    def is_input(self) -> bool:
        """Whether it is an operand."""
        return self.number < len(self.region.operands)

    @property
    def index(self) -> int:
        """Its number among the operands or among the results."""
        return self.number if self.is_input else self.number - len(self.region.operands)

    @property
    def value(self) -> Value:
        """The value that goes through it."""
        return self.region.ports[self.number]

    @property
    def rank(self) -> int:
        """The number of axes of its values; 0 where it is not known."""
        type = self.value.type
        return (type.rank or 0) if isinstance(type, TensorType) else 0

    @property
    def is_float(self) -> bool:
        """Whether its values are floats, which alone have parameters."""
        return isinstance(element_of(self.value.type), FloatType)

    @property
    def is_decided(self) -> bool:
        """Whether nothing is left to say: there are parameters, or it stays a float, as it is or a narrower one, or is
        none."""
        if not self.is_float:
            return True
        is_narrower = isinstance(self.spec, FloatType) and self.spec is not element_of(self.value.type)
        return isinstance(self.spec, UniformType | NoQuantizedType) or is_narrower

    def __str__(self) -> str:
        return f"{'operand' if self.is_input else 'result'} {self.index}"


def operations_of(module: Module) -> Iterator[Operation]:
    """The operations of a program, in order. Of a region's body nothing is asked: it stands for a kernel."""
    return outside_bodies(module.operation)


def regions_of(module: Module) -> list[RegionOp]:
    """The regions of a program, in order."""
    return [cast(RegionOp, operation) for operation in operations_of(module) if operation.name == REGION]


def ports_of(region: RegionOp) -> list[PortOf]:
    """All ports of a region."""
    return [PortOf(region, number, spec) for number, spec in enumerate(region.specs)]


def shown(spec: Type) -> str:
    """A specification in a message."""
    return spec.shown() if isinstance(spec, QuantizedType) else str(spec)
