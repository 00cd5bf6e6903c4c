"""Functions that are marked as kernels: each call becomes a region with the body of the function."""

from qrt.ir import Builder, Module, Operation, StringAttr
from qrt.ir.core.functions import FuncOp
from qrt.ir.core.symbols import symbol_of
from qrt.ir.remarks import remark
from qrt.ir.rewriting.rewrite import replace
from qrt.quantization.fusion.wrap_region import make_region
from qrt.quantization.targets.model import Target

KERNEL = "quant.kernel"
"""The attribute of a function that says which kernel computes it."""


def fuse_calls(module: Module, target: Target) -> None:
    """Wraps the bodies of functions that are marked as kernels of the target where they are called.

    Raises VerifyError for a marked function that has no body of one block, or calls another one."""
    marked = [f for f in module.operation.walk() if isinstance(f, FuncOp) and KERNEL in f.attributes]
    for function in marked:
        _check(function)
    outside = (operation for operation in module.operation.walk() if operation.name == "func.call")
    for call in list(outside):
        callee = symbol_of(call)
        if isinstance(callee, FuncOp) and KERNEL in callee.attributes:
            _fuse(call, callee, target)


def _check(function: FuncOp) -> None:
    if not isinstance(function.attributes[KERNEL], StringAttr):
        raise function.op_error(f"{KERNEL} is the name of a kernel, a string, not {function.attributes[KERNEL]}")
    if function.is_declaration or len(function.regions[0].blocks) != 1:
        raise function.op_error(f"@{function.sym_name} is marked as a kernel: its body must be one block")
    call = next((inner for inner in function.walk() if inner.name == "func.call"), None)
    if call is not None:
        name = function.sym_name
        raise call.op_error(f"stands in @{name}, which is marked as a kernel: run inline{{entry={name}}} first")


def _fuse(call: Operation, callee: FuncOp, target: Target) -> None:
    name = callee.attributes[KERNEL].python
    signatures = target.signatures(name)
    if all(kernel.ports(len(call.operands), len(call.results)) is None for kernel in signatures):
        found = "has no kernel" if not signatures else f"has other ports ({_ports(signatures[0])}) for kernel"
        remark(call, f"'func.call' op stays a call: target '{target.name}' {found} '{name}'")
        return
    (body,) = callee.clone({}).take_regions()
    (block,) = body.blocks
    last = block.terminator
    returned = list(last.operands)
    last.erase()
    block.parent = None
    replace(call, make_region(Builder(call), name, call.operands, block, returned).results)


def _ports(kernel: object) -> str:
    ports = [*getattr(kernel, "inputs", ()), *getattr(kernel, "outputs", ())]
    return ", ".join(f"{port.name}{port.size}" for port in ports)
