"""Wraps float operations in regions, one for each kernel of a target."""

from collections.abc import Iterator
from dataclasses import dataclass

from qrt.ir import Block, Module, Operation
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import constant_of, cyclic_operations
from qrt.ir.passes.options import option
from qrt.ir.remarks import remark
from qrt.ir.rewriting.rewrite import is_dead
from qrt.ops import family_of
from qrt.quantization.checking.regions import regions_of
from qrt.quantization.forms.elements import splat_of, tensor_type
from qrt.quantization.fusion.callees import KERNEL, fuse_calls
from qrt.quantization.fusion.choose import KernelChoice, Refusal, choices_of
from qrt.quantization.fusion.linear import fuse_linear
from qrt.quantization.fusion.nearest_kernel import nearest
from qrt.quantization.fusion.retarget import retarget
from qrt.quantization.fusion.sizes import move_sizes
from qrt.quantization.fusion.wrap_region import wrapped
from qrt.quantization.targets.model import Target
from qrt.quantization.targets.registry import find
from qrt.types import FloatType

STAYS_FLOAT = "op stays float"
"""What stands in a remark on an operation that is in no region."""
_OUTER = ("func.", "scf.", "affine.")
"""Dialects whose ops hold programs in their regions; others hold what they compute for an element."""
_SOURCES = ("linalg.", "arith.", "math.", "tensor.")
_NO_VALUES = frozenset({"tensor.empty", "tensor.cast"})


@dataclass(frozen=True)
class FuseKernels:
    """Wraps linalg, arith, math and tensor operations on floats in regions, one for each kernel of a target. Says in a
    remark what stays as it is. Changes no value.

    The largest pattern is taken first, and of equal ones the one that the target lists first; a table comes last.
    """

    target: str = option("qrt-cpu", "the target, by its name or as a file that ends in .toml")
    linear: bool = option(False, "wrap all linear operations between two others in one region")

    def run(self, module: Module) -> None:
        target = find(self.target)
        move_sizes(module)
        for region in regions_of(module):
            retarget(region, target)
        fuse_calls(module, target)
        blocks = list(_blocks(module.operation))
        for block in blocks:
            if self.linear:
                fuse_linear(block, target)
            fuse_block(block, target)


def _blocks(module: Operation) -> Iterator[Block]:
    """The blocks of programs: functions, loops and branches, but for functions that are kernels themselves."""
    pending = [module]
    while pending:
        operation = pending.pop()
        for region in operation.regions:
            for block in region.blocks:
                if operation is not module:
                    yield block
                pending += [
                    inner for inner in block if inner.regions and inner.name.startswith((*_OUTER, "builtin.module"))
                    and KERNEL not in inner.attributes
                ]  # fmt: skip


def fuse_block(block: Block, target: Target) -> None:
    """Wraps the operations of a block, from the last to the first."""
    order = {operation: number for number, operation in enumerate(block)}
    # A block that nothing reaches may hold cycles.
    cyclic = cyclic_operations(inner for operation in block for inner in operation.walk())
    stay: list[tuple[Operation, str]] = []
    for root in reversed(list(order)):
        if root.parent is not block or root in cyclic or not _is_candidate(root) or is_dead(root):
            continue
        refused: list[Refusal] = []
        failed = None
        for choice in choices_of(root.results[0], target, refused):
            if wrapped(choice, root, order):
                break
            failed = choice
        else:
            stay.append((root, _reason(root, failed, refused)))
    for root, reason in reversed(stay):
        if root.parent is block:
            remark(root, f"'{root.name}' {STAYS_FLOAT}: {reason}")


def _reason(root: Operation, failed: KernelChoice | None, refused: list[Refusal]) -> str:
    """Why an operation stays float: the nearest kernel, and the port that fails."""
    if failed is not None:
        return f"kernel '{failed.kernel}' would need a port for a size from outside"
    told = max(refused, key=lambda each: each.reading.size, default=None)
    return nearest(root) if told is None else f"as '{told.reading.family}': {told.reason}"


def _is_candidate(operation: Operation) -> bool:
    """Whether an operation makes a tensor of floats that are not known."""
    family = family_of(operation)  # one that moves elements takes floats too
    is_source = operation.name.startswith(_SOURCES) or (family is not None and family.traits.is_movement)
    if not is_source or operation.name in _NO_VALUES or len(operation.results) != 1:
        return False
    made = operation.results[0]
    if tensor_type(made) is None or not isinstance(element_of(made.type), FloatType):
        return False
    return constant_of(made) is None and splat_of(made) is None
