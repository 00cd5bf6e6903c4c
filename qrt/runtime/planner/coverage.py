"""What a plan says of its steps: the kernel that each got."""

from qrt._ext import kernels as kernel_calls
from qrt.ir import Operation
from qrt.ops.core import KernelCall
from qrt.runtime.operations import FUSED
from qrt.runtime.planner.slots import Coverage


def copied(op: Operation) -> Coverage:
    return Coverage(op.name, str(op.location), "kernel", "copy (ref)")


def kernel_name(call: kernel_calls.KernelCall) -> str:
    """The entry and its ISA, and the microkernel that was chosen where the ISA has several."""
    chosen = f", {call.microkernel}" if call.microkernel and len(kernel_calls.microkernels(call.isa)) > 1 else ""
    return f"{call.name} ({call.isa}{chosen})"


def kernel_coverage(op: Operation, call: kernel_calls.KernelCall) -> Coverage:
    return Coverage(op.name, str(op.location), "kernel", kernel_name(call))


def family_coverage(op: Operation, call: KernelCall, has_kernel: bool) -> Coverage:
    detail = kernel_name(call) if isinstance(call, kernel_calls.KernelCall) else op.name.partition(".")[2]
    if FUSED in op.attributes:
        detail += f" with {' '.join(op.attributes[FUSED].python)}"
    return Coverage(op.name, str(op.location), "kernel" if has_kernel else "reference", detail)
