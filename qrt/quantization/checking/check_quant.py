"""Checks of quantized programs, and what a program is called that satisfies them.

They know nothing of how parameters are chosen: they read the regions, the edges between them and the target.
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
from qrt.types import AnyQuantizedType, NoQuantizedType, Type, UniformType


@dataclass(frozen=True)
class CheckQuant:
    """Checks that a program is quantized for a target: every port is decided, every region is such as its kernel takes,
    and both ends of every edge agree. Changes nothing.
    """

    target: str = option("qrt-cpu", "the target, by its name or as a file that ends in .toml")

    def run(self, module: Module) -> None:
        found = violations(module, find(self.target))
        if found:
            first = found[0]
            first.diagnostics = tuple(Diagnostic("error", each.message, each.location) for each in found)
            raise first


def violations(module: Module, target: Target) -> list[VerifyError]:
    """All that is wrong with a program as one that is quantized for a target, in order."""
    found: list[VerifyError] = []
    for region in regions_of(module):
        missing = [
            region.op_error(f"({region.kernel}): {port} is {shown(port.spec)}, for which no type is chosen")
            for port in ports_of(region)
            if not port.is_decided
        ]
        wrong = None if missing else violation(region, target)
        found += missing
        if wrong is not None:
            found.append(region.op_error(f"({region.kernel}): {wrong}"))
    for operation, message in edge_violations(module):
        found.append(operation.op_error(message))
    return found


def broken_annotations(annotated: Module, quantized: Module) -> list[VerifyError]:
    """What the annotations of a program ask for and its quantized form does not give: a port with ``!quant.none`` stays
    a float, and one with ``!quant.any`` has at least as many bits and values, or stays a float. Regions are found
    again by their places in the text, which copies of them keep.
    """
    asked = {str(region.location): region for region in regions_of(annotated)}
    found = []
    for region in regions_of(quantized):
        before = asked.get(str(region.location))
        if before is None or region.kernel != before.kernel:
            continue
        for port, wanted in zip(ports_of(region), before.specs, strict=True):
            if not _gives(port.spec, wanted):
                found.append(region.op_error(f"({region.kernel}): {port} is {shown(port.spec)}, not {shown(wanted)}"))
    return found


def _gives(spec: Type, wanted: Type) -> bool:
    if isinstance(wanted, NoQuantizedType):
        return spec is wanted
    if not isinstance(wanted, AnyQuantizedType) or not isinstance(spec, UniformType):
        return True
    values, least = (t.storage_max - t.storage_min for t in (spec, wanted))
    return spec.storage_width >= wanted.storage_width and (wanted.has_default_bounds or values >= least)


def is_quantized(module: Module) -> bool:
    """Whether every port of every region is decided, and both ends of every edge between regions agree.

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
        If it is no Module.

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
    """Whether a program is quantized, and every port that its kernel can quantize has parameters: none stays a float.

    Parameters
    ----------
    module : ir.Module
        A program.
    target : str or Target, default "qrt-cpu"
        The device whose kernels are asked, or its name.

    Returns
    -------
    bool

    Raises
    ------
    QuantError
        If there is no such target.
    QuantTypeError
        If ``module`` is no Module.

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
    """The ports that stay floats, though some signature of the region's kernel quantizes them, in order."""
    return [port for region in regions_of(module) for port in _float_ports(region, target)]


def _float_ports(region: RegionOp, target: Target) -> list[PortOf]:
    count = len(region.operands), len(region.results)
    matched = [ports for kernel in target.signatures(region.kernel) if (ports := kernel.ports(*count)) is not None]
    takes = zip(*((*inputs, *outputs) for inputs, outputs in matched), strict=True)
    return [
        port
        for port, each in zip(ports_of(region), takes, strict=bool(matched))
        if port.is_float and not isinstance(port.spec, UniformType) and not all(taken.is_float for taken in each)
    ]
