"""Targets: the kernels of a device, with the storage of ports and the constraints between their parameters
(docs/reference/targets.md).
"""

from qrt.quantization.targets.model import Target, TargetKernel, TargetPort
from qrt.quantization.targets.registry import find, register_target

__all__ = ["Target", "TargetKernel", "TargetPort", "find", "register_target"]


def __dir__() -> list[str]:
    return __all__
