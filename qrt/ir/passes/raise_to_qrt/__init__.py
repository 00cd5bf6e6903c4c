"""Raising of lowered programs to kernels: the pass `raise-to-qrt`.

A lowered program computes integers, as loops and `arith` operations or as `linalg` ops. The pass represents each result
as a polynomial of the elements that are read, and replaces it by a `qrt` op (a kernel) that computes the same
polynomial.

Reading order: `terms` (polynomials), `scalars` and `sums` (arithmetic on polynomials), `loops` and `elements` (programs
as polynomials), then `requantized`, `products`, `kernels` and `elementwise` (the kernel that computes a polynomial).
`casts` does not use polynomials.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qrt.ir import Module, Operation, Value
from qrt.ir.dialects.linalg.lowering import LoweringContext, tensor_type
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.passes.dce import DeadCodeElimination
from qrt.ir.passes.raise_to_qrt.casts import is_last, raised_cast
from qrt.ir.passes.raise_to_qrt.elements import Elements
from qrt.ir.passes.raise_to_qrt.elementwise import build_elementwise, is_elementwise
from qrt.ir.passes.raise_to_qrt.kernels import build_kernel, match_kernel, padding_of
from qrt.ir.passes.raise_to_qrt.loops import StoredNest
from qrt.ir.passes.raise_to_qrt.products import Product, match_product, match_products
from qrt.ir.passes.raise_to_qrt.requantized import match_requantized
from qrt.ir.passes.raise_to_qrt.terms import NotRaisedError
from qrt.ir.remarks import remark
from qrt.types import IntegerType, TensorType


@dataclass(frozen=True)
class RaiseToQrt:
    """Replaces lowered integer arithmetic by the qrt ops that compute the same, and lowered casts by quant ops.

    The arithmetic is a requantized sum of products, product or element. The quant ops are quant.qcast and quant.dcast.

    Changes no value: the pass proves that the qrt op computes the program's integers for all inputs. For each
    requantized result that is not replaced, a remark names the condition that does not hold.
    """

    def run(self, module: Module) -> None:
        _read_buffers_as_tensors(module)
        leaves: dict[Value, Value] = {}
        for operation in module.operation.walk():
            for result in operation.results if _is_candidate(operation) else ():
                raised = result
                try:
                    raised = _raised(result, leaves)
                except NotRaisedError as error:
                    remark(operation, f"'{operation.name}' op is not raised to a kernel: {error}")
                else:
                    result.replace_all_uses(raised)
                leaves[result] = raised
                if operation.name == "bufferization.to_tensor" and _is_filled_once(operation.operands[0]):
                    leaves[operation.operands[0]] = raised
        for operation in module.operation.walk():
            cast = raised_cast(operation) if is_last(operation) else None
            if cast is not None:
                operation.results[0].replace_all_uses(cast)
        _erase_unread(module)


def _is_filled_once(buffer: Value) -> bool:
    """Return True if exactly one loop nest writes to a buffer, before all reads of the buffer."""
    try:
        StoredNest.of(buffer)
    except NotRaisedError:
        return False
    return True


def _read_buffers_as_tensors(module: Module) -> None:
    """Insert a `bufferization.to_tensor` for each requantized buffer without one; a kernel can replace its result."""
    for alloc in [op for op in module.operation.walk() if op.name == "memref.alloc"]:
        buffer = alloc.results[0]
        stores = [user for user in buffer.users if user.name == "affine.store" and _is_clamped(user.operands[0])]
        if not stores or any(user.name == "bufferization.to_tensor" for user in buffer.users):
            continue
        place: Operation | None = stores[-1]
        while place is not None and place.parent is not alloc.parent:
            place = place.parent_operation
        if place is not None and place.next is not None:
            LoweringContext(place.next).as_tensor(buffer)


def _is_candidate(operation: Operation) -> bool:
    """Return True if the elements of an operation's result are clamped and then truncated: a requantized result."""
    if operation.name == "bufferization.to_tensor":
        stored = [user for user in operation.operands[0].users if user.name == "affine.store"]
        return len(stored) == 1 and _is_clamped(stored[0].operands[0])
    if not isinstance(operation, StructuredOp) or not operation.results:
        return False
    last = operation.regions[0].blocks[0].last
    return last is not None and any(_is_clamped(value) for value in last.operands)


def _is_clamped(value: Value) -> bool:
    truncated = value.operation
    if truncated is None or truncated.name != "arith.trunci":
        return False
    clamp = truncated.operands[0].operation
    return clamp is not None and clamp.name in ("arith.minsi", "arith.maxsi")


def _raised(result: Value, leaves: Mapping[Value, Value]) -> Value:
    """Build the kernel that computes `result`, and return the kernel's result; raise NotRaisedError if there is none.

    The elements of the keys of `leaves` are read from the values of `leaves`.
    """
    type = result.type
    if not isinstance(type, TensorType) or type.shape is None or not isinstance(type.element, IntegerType):
        raise NotRaisedError(f"the result must be a ranked tensor of integers, got {type}")
    if 0 in type.shape:
        raise NotRaisedError("the result has no elements")
    elements = Elements(type.shape, leaves)
    requantized = match_requantized(elements.at(result, [("d", axis) for axis in range(len(type.shape))]))
    assert result.operation is not None
    if is_elementwise(requantized):
        return build_elementwise(result.operation, type, requantized)
    obstacles = []
    for product, a, w in match_products(requantized, elements.outer):
        try:
            padded = padding_of(a)
            p = match_product(requantized, elements.outer, product, a, w, None if padded is None else padded[2])
            _require_sizes(p, type.shape)
            kernel = match_kernel(p)
            return build_kernel(result.operation, type, kernel, p, requantized)
        except NotRaisedError as error:
            obstacles.append(error)
    raise obstacles[0]


def _require_sizes(p: Product, shape: Sequence[int | None]) -> None:
    """Raise NotRaisedError unless each dynamic size of a result equals a dynamic size of the first factor."""
    sizes = tensor_type(p.a.source).shape or ()
    for loop, size in enumerate(shape):
        if size is None and (("d", loop), None) not in zip(p.a.indices, sizes, strict=True):
            raise NotRaisedError(f"the size of dimension {loop} of the result is dynamic, and none of the first factor")


def _erase_unread(module: Module) -> None:
    """Erase operations and loop nests whose results nothing reads any more, until none are left."""
    count = 0
    while count != len(module.operation.walk()):
        count = len(module.operation.walk())
        DeadCodeElimination().run(module)
        _erase_unread_buffers(module)


def _erase_unread_buffers(module: Module) -> None:
    """Erase buffers that nothing reads any more, with the loop nests that fill them, starting with the last buffer."""
    for alloc in reversed([op for op in module.operation.walk() if op.name == "memref.alloc"]):
        buffer = alloc.results[0]
        try:
            nest = StoredNest.of(buffer)
        except NotRaisedError:
            continue
        outermost = (*nest.parallel, *nest.reduced, nest.update)[0]
        own = {*outermost.walk(), nest.start}
        if all(user in own for user in buffer.users) and _fills_only(outermost, buffer):
            outermost.erase()
            if nest.start is not None and not nest.parallel:
                nest.start.erase()  # of a buffer with one element, it is before the nest
            alloc.erase()


def _fills_only(nest: Operation, buffer: Value) -> bool:
    """Return True if the only effect of a loop nest is to write to `buffer`."""
    pure = ("affine.for", "affine.yield", "affine.load", "affine.apply", "vector.load", "vector.reduction")
    return all(
        op.name in pure or op.name.startswith("arith.") or (op.name == "affine.store" and op.operands[1] is buffer)
        for op in nest.walk()
    )
