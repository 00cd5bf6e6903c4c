"""The choice of a loop order in which accesses along the innermost loop are contiguous, so that LLVM vectorizes it.

The iterations of a reduction keep their order, so that no bit of a result changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qrt.ir import Block, Operation, Value
from qrt.ir.core.affine import AffineMapAttr, linear, plain_loops
from qrt.ir.dialects.affine.dimensions import map_of
from qrt.ir.dialects.linalg.ops import StructuredOp
from qrt.runtime.codegen.buffers import Buffer, Shape
from qrt.runtime.codegen.emitter import Emitter, is_index
from qrt.types import FloatType

Access = tuple[Buffer, AffineMapAttr]


def count_gaps(accesses: Sequence[Access], loop: int) -> int:
    """Return the number of accesses with a gap between the elements that consecutive iterations of a loop access."""
    return sum(_stride(buffer, map, loop) not in (0, 1) for buffer, map in accesses)


def _stride(buffer: Buffer, map: AffineMapAttr, loop: int) -> int:
    """Return the distance between elements that consecutive iterations access; -1 if it is not constant."""
    total = 0
    for result, stride in zip(map.results, buffer.strides, strict=True):
        weights = linear(result, map.dimensions)
        if weights is None:
            return -1
        total += weights[loop + 1] * stride
    return total


# -- structured ops ----------------------------------------------------------------------------------------------------


def structured_order(op: StructuredOp, operands: Sequence[Any], loops: Shape) -> list[int]:
    """Return the order in which the loops of a structured op nest, outermost first.

    The innermost loop is the one with the fewest `count_gaps` among the last reduction and the loops of the output. For
    float sums it is a loop of the output, because LLVM does not vectorize float sums along a reduction. The order does
    not change if there is no reduction, or if an output overlaps another operand.
    """
    order, first = list(range(len(loops))), op.input_count
    outputs = operands[first:]
    inputs = {id(operand.slot) for operand in operands[:first] if isinstance(operand, Buffer)}
    if any(output.slot.is_shared or id(output.slot) in inputs for output in outputs):
        return order
    plain = [plain_loops(map) for map in op.indexing_maps[first:]]
    if len(plain) != 1 or plain[0] is None or len(plain[0]) == len(loops):
        return order
    parallel = [loop for loop in plain[0] if loops[loop] > 1]
    reduced = [loop for loop in order if loop not in plain[0] and loops[loop] > 1][-1:]
    if isinstance(outputs[0].type, FloatType) and parallel:
        reduced = []
    pairs = zip(operands, op.indexing_maps, strict=True)
    accesses = [(operand, map) for operand, map in pairs if isinstance(operand, Buffer) and operand.splat is None]
    innermost = min(
        [*reversed(reduced), *reversed(parallel)], key=lambda loop: count_gaps(accesses, loop), default=None
    )
    if innermost is not None:
        order.remove(innermost)
        order.append(innermost)
    return order


# -- nests of loops ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SplitLoop:
    """The parts of a loop (`affine.for` or `scf.for`) whose block has operations, then a nest of loops.

    ``prefix`` has the operations before the nest, ``inner`` the loops of the nest, and ``body`` the operations in it.
    The loop can be split into two: one runs the prefix only, and the other becomes the innermost loop of the nest.
    """

    prefix: Sequence[Operation]
    inner: Sequence[Operation]
    body: Sequence[Operation]


def split_loop(e: Emitter, op: Operation) -> SplitLoop | None:
    """Return the parts of a loop that runs faster as two loops.

    Return None if the split is not faster or changes a value. The split keeps all values only if no iteration writes an
    element that another iteration reads or writes.
    """
    if not _is_plain_loop(e, op):
        return None
    *prefix, last = _operations(op.regions[0].blocks[0]) or [op]
    inner = [last]
    while _is_plain_loop(e, inner[-1]) and len(operations := _operations(inner[-1].regions[0].blocks[0])) == 1:
        inner.append(operations[0])
    if not _is_plain_loop(e, inner[-1]):
        return None
    body = _operations(inner[-1].regions[0].blocks[0])
    if last is op or not all(map(_is_simple, (*prefix, *body))):
        return None
    split = SplitLoop(prefix, inner, body)
    return split if _is_independent(e, op, split) and _is_faster(e, op, split) else None


def _operations(block: Block) -> list[Operation]:
    return list(block)[:-1]


def _is_plain_loop(e: Emitter, op: Operation) -> bool:
    """Return True for a loop with known bounds that carries no values."""
    if op.name == "affine.for":
        return not op.operands and not op.results
    is_plain = op.name == "scf.for" and not op.results and is_index(op.operands[0].type)
    return is_plain and "unsignedCmp" not in op.attributes and all(map(e.is_number, op.operands))


def _is_simple(op: Operation) -> bool:
    return _is_access(op) or (op.name.startswith("arith.") and not op.regions)


def _is_access(op: Operation) -> bool:
    return op.name in ("affine.load", "affine.store", "memref.load", "memref.store")


def _is_store(op: Operation) -> bool:
    return op.name in ("affine.store", "memref.store")


def _accessed(op: Operation) -> tuple[Value, AffineMapAttr, Sequence[Value]]:
    """Return the memref of a load or store, the map of its indices, and the operands of the map."""
    at = int(_is_store(op))
    operands = op.operands[at + 1 :]
    is_mapped = op.name.startswith("affine.")
    return op.operands[at], map_of(op) if is_mapped else AffineMapAttr.identity(len(operands)), operands


def _is_independent(e: Emitter, op: Operation, split: SplitLoop) -> bool:
    variable = op.regions[0].blocks[0].arguments[0]
    computed = {value for part in split.prefix if part.name != "arith.constant" for value in part.results}
    if any(value in computed for part in split.body for value in part.operands):
        return False
    accesses = [part for part in (*split.prefix, *split.body) if _is_access(part)]
    written = {id(e.buffer(_accessed(part)[0]).slot) for part in accesses if _is_store(part)}
    axes: dict[Value, set[int]] = {}
    for part in accesses:
        memref, map, operands = _accessed(part)
        slot = e.buffer(memref).slot
        if id(slot) in written:
            own = set() if slot.is_shared else _own_axes(map, operands, variable)
            axes[memref] = axes.get(memref, own) & own
    return len(axes) == len(written) and all(axes.values())  # one memref for each written memory


def _own_axes(map: AffineMapAttr, operands: Sequence[Value], variable: Value) -> set[int]:
    """Return the axes of a memref whose index is the loop variable ``variable`` itself.

    If all accesses have such an axis in common, no two iterations of the loop access the same element.
    """
    dimensions = operands[: map.dimensions]
    return {
        axis
        for axis, result in enumerate(map.results)
        if isinstance(result, tuple) and result[0] == "d" and dimensions[result[1]] is variable
    }


def _is_faster(e: Emitter, op: Operation, split: SplitLoop) -> bool:
    variable, innermost = (loop.regions[0].blocks[0].arguments[0] for loop in (op, split.inner[-1]))
    parts = [part for part in split.body if _is_access(part)]
    return _gaps(e, parts, variable) < _gaps(e, parts, innermost)


def _gaps(e: Emitter, parts: Sequence[Operation], variable: Value) -> int:
    total = 0
    for part in parts:
        memref, map, operands = _accessed(part)
        places = [number for number, value in enumerate(operands[: map.dimensions]) if value is variable]
        buffer = e.buffer(memref)
        if buffer.splat is None and places:
            total += count_gaps([(buffer, map)], places[0])
    return total
