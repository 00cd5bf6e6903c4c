"""The pass `check-quant`, and the functions `is_quantized` and `is_fully_quantized`.

The checks read only the regions, the data flow between regions, and the target; they do not know how types are chosen.
"""

from dataclasses import dataclass

from qrt.errors import Diagnostic, VerifyError, require
from qrt.ir import Module
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.passes.options import option
from qrt.quantization.checking.kernels import violation
from qrt.quantization.checking.regions import PortOf, ports_of, regions_of, shown
from qrt.quantization.checking.value_edges import edge_violations
from qrt.quantization.targets.model import Target
from qrt.quantization.targets.registry import find
from qrt.quantization.verification.agreement import disagreement
from qrt.types import AnyQuantizedType, NoQuantizedType, Type, UniformType


@dataclass(frozen=True)
class CheckQuant:
    """Checks that a program is quantized for a target. Changes nothing.

    Every operand and result of a region must have a final type; the region's kernel must accept these types; and a
    value must be used with the type with which it was defined.
    """

    target: str = option("qrt-cpu", "the target, as a name or the path of a .toml file")

    def run(self, module: Module) -> None:
        errors = violations(module, find(self.target))
        if errors:
            first = errors[0]
            first.diagnostics = tuple(Diagnostic("error", error.message, error.location) for error in errors)
            raise first


def violations(module: Module, target: Target) -> list[VerifyError]:
    """Return an error for each violation of the rules that `check-quant` checks.

    Errors about regions come first, in program order. Then come errors about values that are used with another type
    than they were defined with.
    """
    errors: list[VerifyError] = []
    for region in regions_of(module):
        missing = [
            region.op_error(
                f"({region.kernel}): {port} must have a quantized type, !quant.none or a narrower float type in "
                f"{'input_specs' if port.is_input else 'output_specs'}, got {shown(port.spec)}"
            )
            for port in ports_of(region)
            if not port.is_decided
        ]
        wrong = None if missing else violation(region, target) or disagreement(region, target)
        errors += missing
        if wrong is not None:
            errors.append(region.op_error(f"({region.kernel}): {wrong}"))
    for operation, message in edge_violations(module):
        errors.append(operation.op_error(message))
    return errors


def broken_annotations(annotated: Module, quantized: Module) -> list[VerifyError]:
    """Return an error for each operand or result of a region whose type does not satisfy its annotation.

    ``annotated`` is the program before propagation, and ``quantized`` the one after it. A value annotated
    ``!quant.none`` must stay float. A value annotated ``!quant.any`` must have at least as many bits and storage
    values, or stay float. Regions of both programs are matched by their locations, which passes keep.
    """
    annotated_regions = {str(region.location): region for region in regions_of(annotated)}
    errors = []
    for region in regions_of(quantized):
        before = annotated_regions.get(str(region.location))
        if before is None or region.kernel != before.kernel:
            continue
        for port, wanted in zip(ports_of(region), before.specs, strict=True):
            if not _gives(port.spec, wanted):
                errors.append(
                    region.op_error(
                        f"({region.kernel}): {port} must satisfy its annotation {shown(wanted)}, got {shown(port.spec)}"
                    )
                )
    return errors


def _gives(spec: Type, wanted: Type) -> bool:
    if isinstance(wanted, NoQuantizedType):
        return spec is wanted
    if not isinstance(wanted, AnyQuantizedType) or not isinstance(spec, UniformType):
        return True
    values, least = (t.storage_max - t.storage_min for t in (spec, wanted))
    return spec.storage_width >= wanted.storage_width and (wanted.has_default_bounds or values >= least)


def is_quantized(module: Module) -> bool:
    """Return True if all operands and results of regions have final types, and no value is used with another type.

    A type is final if it is quantized, or tells that the value stays float.

    Parameters
    ----------
    module : ir.Module
        A program.

    Returns
    -------
    bool

    Raises
    ------
    QuantTypeError
        If ``module`` is not a Module.

    Examples
    --------
    >>> import qrt
    >>> is_quantized(qrt.ir.parse("func.func @f() { return }"))
    True
    """
    require(module, Module, "is_quantized: module", "a Module")
    is_decided = all(port.is_decided for region in regions_of(module) for port in ports_of(region))
    return is_decided and next(edge_violations(module), None) is None


def is_fully_quantized(module: Module, target: str | Target = "qrt-cpu") -> bool:
    """Return True if a program is quantized, and no value of a region stays float although the target can quantize it.

    Parameters
    ----------
    module : ir.Module
        A program.
    target : str or Target, default "qrt-cpu"
        The device, or its name.

    Returns
    -------
    bool

    Raises
    ------
    QuantError
        If the target is unknown.
    QuantTypeError
        If ``module`` is not a Module.

    Examples
    --------
    >>> import qrt
    >>> is_fully_quantized(qrt.ir.parse("func.func @f() { return }"), "tflite")
    True
    """
    require(module, Module, "is_fully_quantized: module", "a Module")
    device = target if isinstance(target, Target) else find(target)
    return is_quantized(module) and not float_ports(module, device)


def float_ports(module: Module, target: Target) -> list[PortOf]:
    """Return the operands and results of regions that stay float although the target could quantize them."""
    return [port for region in regions_of(module) for port in _float_ports(region, target)]


def _float_ports(region: RegionOp, target: Target) -> list[PortOf]:
    count = len(region.operands), len(region.results)
    matched = [ports for kernel in target.signatures(region.kernel) if (ports := kernel.ports(*count)) is not None]
    takes = zip(*((*inputs, *outputs) for inputs, outputs in matched), strict=True)
    return [
        port
        for port, signature_ports in zip(ports_of(region), takes, strict=bool(matched))
        if port.is_float
        and not isinstance(port.spec, UniformType)
        and not all(taken.is_float for taken in signature_ports)
    ]
