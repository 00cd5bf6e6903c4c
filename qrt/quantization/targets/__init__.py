"""Targets: the kernels of a device, with the storage of their ports and the constraints between their parameters
(docs/reference/targets.md).
"""

from qrt.quantization.targets.model import Kernel, Port, Target
from qrt.quantization.targets.registry import find, register_target

__all__ = ["Kernel", "Port", "Target", "find", "register_target"]
