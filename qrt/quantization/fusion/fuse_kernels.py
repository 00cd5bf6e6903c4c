"""The pass `fuse-kernels`, which wraps float operations in regions, one for each kernel of a target."""

from dataclasses import dataclass

from qrt.ir import Block, Module, Operation
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import constant_of, cyclic_operations
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.passes.options import option
from qrt.ir.remarks import remark
from qrt.ir.rewriting.rewrite import is_dead
from qrt.ops import family_of
from qrt.quantization.checking.regions import regions_of
from qrt.quantization.forms.elements import body_expression, elements_of, shape_of, splat_of, tensor_type
from qrt.quantization.forms.elementwise import BINARY
from qrt.quantization.forms.reductions import reduction_of
from qrt.quantization.fusion.biases import write_biases
from qrt.quantization.fusion.choose import KernelChoice, Refusal, choices_of, refusal, retarget
from qrt.quantization.fusion.divided_operations import divide_broadcasts, divide_products
from qrt.quantization.fusion.linear import fuse_linear
from qrt.quantization.fusion.wrap_region import fuse_calls, move_sizes, wrapped
from qrt.quantization.layouts.fusable_blocks import blocks_of
from qrt.quantization.layouts.normalize_layouts import normalize
from qrt.quantization.targets.model import Target
from qrt.quantization.targets.patterns import match_pattern
from qrt.quantization.targets.registry import find
from qrt.types import FloatType

_SUM = "arith.addf"


def nearest(operation: Operation, target: Target) -> str:
    """Return a text that names the kernel most similar to an operation, and the operand or result that does not fit."""
    if isinstance(operation, StructuredOp) and "reduction" in operation.iterators:
        return _nearest_sum(operation, target)
    elements = elements_of(operation.results[0])
    if elements is None:
        return "no kernel is similar"
    if elements.is_copy and len(elements.axes[0]) < len(shape_of(operation.results[0])):
        missing = refusal(("reshape",), 1, None, target) or refusal(("tile",), 1, None, target)
        return missing or "the nearest kernel is 'tile', which repeats axes of size 1 to a static shape"
    if elements.is_copy:
        return "the nearest kernel is 'transpose', whose port 'q' has each element once"
    tensors = elements.simplified().inputs
    if len(tensors) == 1:
        return "the nearest kernel is 'lookup', whose port 'q' has the shape and the type of the result"
    if len(tensors) > 2:
        return "the nearest kernel is 'lookup', whose port 'q' is the only tensor that is not constant"
    name = BINARY.get(str(elements.computed[0]))
    if name is not None:
        return f"the nearest kernel is '{name}', whose port 'b' broadcasts along the first axes"
    return "the nearest kernel is 'mul', whose port 'y' is a sum, a difference or a product of the others"


def _nearest_sum(operation: StructuredOp, target: Target) -> str:
    computed = body_expression(operation)
    windows = any(isinstance(r, tuple) and r[0] != "d" for r in operation.indexing_maps[0].results)
    if operation.input_count == 2 and computed is not None and "arith.mulf" in str(computed):
        name, images = ("conv2d", "'x' is NHWC") if windows else ("matmul", "'a' has its rows before what is summed")
        start = splat_of(operation.operands[-1])
        if start != 0:
            missing = refusal((name,), 2, None, target)
            return (
                missing or f"the nearest kernel is '{name}', whose port 'bias' is a vector of the last axis, or absent"
            )
        return f"the nearest kernel is '{name}', whose port {images}"
    reduction = reduction_of(operation.results[0])
    if computed is not None and computed[0] == _SUM:
        name = "avg_pool2d" if windows else "mean"
        return f"the nearest kernel is '{name}', whose port 'y' is the sum divided by the number of elements"
    if windows:
        why = "begins with the least float" if reduction is None else "is NHWC"
        return f"the nearest kernel is 'max_pool2d', whose port 'q' {why}"
    return "the nearest kernel is 'max_pool2d', whose port 'q' is of rank 4"


STAYS_FLOAT = "op stays float"
"""The common part of the remarks about operations that are in no region."""
_SOURCES = ("linalg.", "arith.", "math.", "tensor.")
_NO_VALUES = frozenset({"tensor.empty", "tensor.cast"})


@dataclass(frozen=True)
class FuseKernels:
    """Wraps float operations in regions, each for one kernel of a target.

    The operations are those of linalg, arith, math and tensor. Each operation that stays float gets a remark with the
    reason. If several kernels compute a value, the one that covers the most operations is chosen; if these are equally
    many, the first in the target's order, with tables last. Values do not change, except that `layouts` may change the
    order of sums, and so their rounding.
    """

    target: str = option("qrt-cpu", "the target, as a name or the path of a .toml file")
    linear: bool = option(False, "wrap all linear operations between two others in one region")
    layouts: bool = option(True, "run normalize-layouts first, and add a product to its initial matrix last")

    def run(self, module: Module) -> None:
        target = find(self.target)
        if self.layouts:
            normalize(module, _own_operations(module, target))
        for region in regions_of(module):
            retarget(region, target)
        fuse_calls(module, target)
        write_biases(module)
        if self.layouts:
            divide_products(module, target)
        move_sizes(module)
        blocks = list(blocks_of(module.operation))
        for block in blocks:
            if self.linear:
                fuse_linear(block, target)
            fuse_block(block, target)


def _own_operations(module: Module, target: Target) -> set[Operation]:
    """Return the operations that match the target's own patterns, so that their layouts must not be normalized."""
    kernels = [kernel for kernel in target.kernels if callable(kernel.pattern)]
    matched: set[Operation] = set()
    for block in blocks_of(module.operation) if kernels else ():
        cyclic = cyclic_operations(inner for operation in block for inner in operation.walk())
        for operation in block:
            for kernel in kernels if _is_candidate(operation) and operation not in cyclic else ():
                match = match_pattern(kernel, operation.results[0])
                matched |= {*match.operations} if match is not None else set()
    return matched


def fuse_block(block: Block, target: Target) -> None:
    """Wrap the operations of a block in regions, from the last to the first.

    Emit a remark for each operation that stays float.
    """
    stay = _wrap_operations(block, target)
    if divide_broadcasts([root for root, _ in stay if root.parent is block], target):
        stay = _wrap_operations(block, target)
    for root, reason in reversed(stay):
        if root.parent is block:
            remark(root, f"'{root.name}' {STAYS_FLOAT}: {reason}")


def _wrap_operations(block: Block, target: Target) -> list[tuple[Operation, str]]:
    """Wrap the operations of a block in regions. Return the operations that stay float, each with the reason."""
    order = {operation: number for number, operation in enumerate(block)}
    # A block that cannot be reached may have cycles of operations.
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
            stay.append((root, _reason(root, failed, refused, target)))
    return stay


def _reason(root: Operation, failed: KernelChoice | None, refused: list[Refusal], target: Target) -> str:
    """Return the reason why an operation stays float: the most similar kernel, and the port that does not fit."""
    if failed is not None:
        return f"kernel '{failed.kernel}' would need a port for a size from outside"
    largest = max(refused, key=lambda refusal: refusal.match.size, default=None)
    return nearest(root, target) if largest is None else f"as '{largest.match.family}': {largest.reason}"


def _is_candidate(operation: Operation) -> bool:
    """Return True if an operation of linalg, arith, math or tensor computes a tensor of floats that is not constant."""
    family = family_of(operation)  # a family that moves elements also accepts floats
    is_source = operation.name.startswith(_SOURCES) or (family is not None and family.traits.is_movement)
    if not is_source or operation.name in _NO_VALUES or len(operation.results) != 1:
        return False
    result = operation.results[0]
    if tensor_type(result) is None or not isinstance(element_of(result.type), FloatType):
        return False
    return constant_of(result) is None and splat_of(result) is None
