"""Checks of quantized programs, and what a program is called that satisfies them.

They know nothing of how parameters are chosen: they read the regions, the edges between them and the target.
"""

from dataclasses import dataclass

from qrt.calibrate.targets.model import Target
from qrt.calibrate.targets.registry import find
from qrt.errors import Diagnostic, VerifyError, require
from qrt.ir import Module, Operation
from qrt.passes.options import option
from qrt.passes.quantization.checking.edges import edge_violations
from qrt.passes.quantization.checking.kernels import violation
from qrt.passes.quantization.checking.regions import kernel_of, ports_of, regions_of, shown, undecided
from qrt.types import UniformType


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
            region.op_error(f"({kernel_of(region)}): {port} is {shown(port.spec)}, which is not decided")
            for port in undecided(region)
        ]
        wrong = None if missing else violation(region, target)
        found += missing
        if wrong is not None:
            found.append(region.op_error(f"({kernel_of(region)}): {wrong}"))
    for operation, message in edge_violations(module):
        found.append(operation.op_error(message))
    return found


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
    is_decided = not any(port for region in regions_of(module) for port in undecided(region))
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
    return is_quantized(module) and all(_are_quantized(region, device) for region in regions_of(module))


def _are_quantized(region: Operation, target: Target) -> bool:
    """Whether the ports that some signature of the region's kernel quantizes all have parameters."""
    count = len(region.operands), len(region.results)
    matched = [ports for kernel in target.signatures(kernel_of(region)) if (ports := kernel.ports(*count)) is not None]
    if not matched:
        return True
    takes = zip(*((*inputs, *outputs) for inputs, outputs in matched), strict=True)
    return all(
        isinstance(port.spec, UniformType) or all(taken.is_float for taken in each)
        for port, each in zip(ports_of(region), takes, strict=True)
    )
