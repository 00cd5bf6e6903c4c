"""The ports of regions (operands and results, with their type specifications), and the check that all have types."""

from dataclasses import dataclass

from qrt.errors import VerifyError
from qrt.ir import Value
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.quant.region import RegionOp
from qrt.types import FloatType, NoQuantizedType, Type, UniformType

FLOAT_MATMUL = "float_matmul"


@dataclass(frozen=True)
class PortOf:
    """An operand or result of a region: its name in messages, its value outside the region, and its type."""

    name: str
    value: Value
    spec: Type

    @property
    def stays(self) -> bool:
        """True if the values stay in their own float type: the specification is `!quant.none` or that float type."""
        return isinstance(self.spec, NoQuantizedType) or self.spec is element_of(self.value.type)

    @property
    def is_decided(self) -> bool:
        """True if a type is chosen: the specification is a `!quant.uniform`, a `!quant.none`, or another float type."""
        return isinstance(self.spec, UniformType | NoQuantizedType) or self.is_float

    @property
    def is_float(self) -> bool:
        """True if the specification is a float type other than the values' own, such as f16 for f32 values."""
        return isinstance(self.spec, FloatType) and self.spec is not element_of(self.value.type)


def inputs(region: RegionOp) -> list[PortOf]:
    """Return the name, value and type specification of each operand of a region."""
    return _ports("operand", region.operands, region.input_specs)


def outputs(region: RegionOp) -> list[PortOf]:
    """Return the name, value and type specification of each result of a region."""
    return _ports("result", region.results, region.output_specs)


def _ports(side: str, values: list[Value], specs: list[Type]) -> list[PortOf]:
    pairs = enumerate(zip(values, specs, strict=True))
    return [PortOf(f"{side} #{number}", value, spec) for number, (value, spec) in pairs]


def check_ports(region: RegionOp) -> None:
    """Raise VerifyError if a port has no chosen type, or if an operand is quantized with another type than its port."""
    for port in inputs(region):
        given = declared_type(port.value)
        if isinstance(given, UniformType) and isinstance(port.spec, UniformType) and given is not port.spec:
            message = f"{port.name} has the type {given.shown()}, but input_specs declares {port.spec.shown()} for it"
            raise region.op_error(f"{message}: run propagate-quant, which puts a rescale between them")
    floats = region.kernel == FLOAT_MATMUL
    for port in (*inputs(region), *outputs(region)):
        if not port.is_decided and not (port.stays and floats):
            raise _undecided(region, port)


def _undecided(region: RegionOp, port: PortOf) -> VerifyError:
    attribute = "input_specs" if port.name.startswith("operand") else "output_specs"
    return region.op_error(
        f"of kernel '{region.kernel}': {port.name} must have a quantized type or !quant.none, got {port.spec}: run "
        f"propagate-quant, or write the type in {attribute}"
    )


def declared_type(value: Value) -> Type | None:
    """Return the type that a region specifies for its result ``value``, or from which a `dcast` computes ``value``.

    Returns None if another operation computes the value.
    """
    source = value.operation
    if source is None:
        return None
    if isinstance(source, RegionOp):
        return next(port.spec for port in outputs(source) if port.value is value)
    return element_of(source.operands[0].type) if source.name == "quant.dcast" else None
