"""Targets: the kernels of a device, the types that they accept, and constraints (docs/reference/targets.md)."""

from qrt.quantization.forms import KernelMatch
from qrt.quantization.targets.legalization import RegionCall
from qrt.quantization.targets.model import Target, TargetKernel, TargetPort
from qrt.quantization.targets.patterns import match_kernel
from qrt.quantization.targets.registry import find, register_target

__all__ = [
    "KernelMatch",
    "RegionCall",
    "Target",
    "TargetKernel",
    "TargetPort",
    "find",
    "match_kernel",
    "register_target",
]


def __dir__() -> list[str]:
    return __all__
