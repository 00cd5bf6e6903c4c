"""Regions as the checks read them: ports in order, and what is said of each."""

from collections.abc import Iterator
from dataclasses import dataclass

from qrt.errors import QuantTypeError
from qrt.ir import ArrayAttr, Module, Operation, StringAttr, TypeAttr, Value
from qrt.ir.core.constraints import element_of
from qrt.types import FloatType, NoQuantizedType, QuantizedType, TensorType, Type, UniformType, check_integrity

REGION = "quant.region"
RESCALE = "rescale"


@dataclass(frozen=True)
class PortOf:
    """A port of a region: operands are counted first, then results."""

    region: Operation
    number: int

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
        return self.region.operands[self.number] if self.is_input else self.region.results[self.index]

    @property
    def spec(self) -> Type:
        """What is said of it."""
        specs = self.region.attribute("input_specs" if self.is_input else "output_specs", ArrayAttr)
        said = specs.elements[self.index]
        assert isinstance(said, TypeAttr)  # the verifier holds it
        return said.type

    @property
    def is_decided(self) -> bool:
        """Whether nothing is left to say: parameters, or that it stays a float, as it is or a narrower one."""
        spec, element = self.spec, element_of(self.value.type)
        return isinstance(spec, UniformType | NoQuantizedType) or (isinstance(spec, FloatType) and spec is not element)

    def __str__(self) -> str:
        return f"{'operand' if self.is_input else 'result'} {self.index}"


def regions_of(module: Module) -> list[Operation]:
    """The regions of a program, in order."""
    return [operation for operation in module.operation.walk() if operation.name == REGION]


def ports_of(region: Operation) -> list[PortOf]:
    """All ports of a region."""
    return [PortOf(region, number) for number in range(len(region.operands) + len(region.results))]


def kernel_of(region: Operation) -> str:
    """The name of the kernel."""
    return region.attribute("kernel", StringAttr).value


def undecided(region: Operation) -> Iterator[PortOf]:
    """The ports that lack parameters."""
    return (port for port in ports_of(region) if not port.is_decided)


def misfit(port: PortOf) -> str | None:
    """Why the parameters of a port do not fit its tensor."""
    type, spec = port.value.type, port.spec
    if not isinstance(spec, UniformType):
        return None
    try:
        if isinstance(type, TensorType):
            check_integrity(spec, type.shape)
        elif not spec.is_per_layer:
            return f"{port} is a scalar and has one scale, not those of {spec.shown()}"
    except QuantTypeError as error:
        return f"{port} is {spec.shown()}, which does not fit {type}: {error}"
    low, high = spec.default_bounds
    if outside := [zero for zero in spec.zero_points if not low <= zero <= high]:
        return f"{port} is {spec.shown()}, whose zero point {outside[0]} is outside {low} to {high}"
    return None


def rank_of(port: PortOf) -> int:
    """The rank of the values at a port; 0 for scalars and where it is not known."""
    type = port.value.type
    return (type.rank or 0) if isinstance(type, TensorType) else 0


def shown(spec: Type) -> str:
    """A specification in a message."""
    return spec.shown() if isinstance(spec, QuantizedType) else str(spec)
