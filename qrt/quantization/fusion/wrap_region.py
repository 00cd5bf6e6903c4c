"""The creation of regions from operations of a block, or from the body of a function that is marked as a kernel."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from qrt.ir import ArrayAttr, Block, Builder, IntegerAttr, Module, Operation, Region, StringAttr, TypeAttr, Value
from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.constraints import INDEX, element_of, is_ranked_tensor
from qrt.ir.core.functions import FuncOp
from qrt.ir.core.matching import acyclic_operations, constant_of
from qrt.ir.core.symbols import symbol_of
from qrt.ir.dialects._shaped.lists import reassociation_of, static_values
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.remarks import remark
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.ops.elementwise import BINDERS
from qrt.quantization.forms.elements import splat_of
from qrt.quantization.forms.movement import padding_of
from qrt.quantization.fusion.choose import KernelChoice
from qrt.quantization.layouts.fusable_blocks import KERNEL
from qrt.quantization.targets.model import Target
from qrt.types import IndexType

Extent = Callable[[int], Value | None]
"""A function that returns the extent of an axis as a value inside the region."""

WITHOUT_FLOATS = frozenset({"arith.constant", "tensor.empty", "tensor.splat", "tensor.dim", "linalg.fill"})
"""Operations that are copied into each region that needs their results."""
_SIZED = ("tensor.empty", "tensor.splat")


def make_region(
    builder: Builder, kernel: str, inputs: Sequence[Value], block: Block, returned: Sequence[Value]
) -> Operation:
    """Emit a region with ``block`` as its body; no operand or result has a chosen type yet.

    ``inputs`` become the region's operands, in the order of the block's arguments. ``returned`` are the values of the
    block that the region returns.
    """
    Builder(block, builder.location).emit("quant.return", returned)
    types = [value.type for value in returned]
    attributes = {
        "input_specs": ArrayAttr(tuple(TypeAttr(element_of(value.type)) for value in inputs)),
        "output_specs": ArrayAttr(tuple(TypeAttr(element_of(type)) for type in types)),
        "kernel": StringAttr(kernel),
    }
    return builder.emit("quant.region", inputs, types, attributes, [Region([block])])


class Body:
    """The body of a region under construction: a block of copied operations, whose arguments replace ``inputs``.

    Operations in ``copied`` are cheap; they are copied only when another operation needs their results.
    """

    def __init__(self, inputs: Sequence[Value], copied: Iterable[Operation], place: Operation) -> None:
        self.block = Block((value.type for value in inputs), place.location)
        self.values: dict[Value, Value] = {}
        for value, argument in zip(inputs, self.block.arguments, strict=True):
            self.values.setdefault(value, argument)
        self._copied = frozenset(copied)
        self._builder = Builder(self.block)

    def add(self, operation: Operation) -> bool:
        """Copy an operation into the block, after the constants and sizes that it needs. Return True on success."""
        for number, value in enumerate(operation.operands):
            if not self._include(value, self._extents(operation, number)):
                return False
        if not all(self._include(value, None) for value in _captured(operation)):
            return False
        self.block.append(operation.clone(self.values))
        return True

    def _include(self, value: Value, extent: Extent | None) -> bool:
        """Make a value from outside available in the block by copying its operations. Return True on success.

        ``extent`` emits an operation in the block that computes the size of an axis of the value; it is called for
        dynamic sizes.
        """
        source = value.operation
        if value in self.values:
            return True
        if isinstance(value.type, IndexType) and self._include_size(value, extent):
            return True
        if source is None:
            return False
        if source.name not in WITHOUT_FLOATS and source not in self._copied and splat_of(value) is None:
            return False
        shape = getattr(source.results[0].type, "shape", None) or ()
        axes = iter(axis for axis, size in enumerate(shape) if size is None)
        for number, operand in enumerate(source.operands):
            inner = self._extents(source, number)
            if source.name in _SIZED and isinstance(operand.type, IndexType) and extent is not None:
                inner = partial(_at, extent, next(axes))
            elif isinstance(source, StructuredOp) and _is_plain_output(source, number):
                inner = extent or inner
            if not self._include(operand, inner):
                return False
        if not all(self._include(inside, None) for inside in _captured(source)):
            return False
        self.block.append(source.clone(self.values))
        return True

    def _include_size(self, value: Value, extent: Extent | None) -> bool:
        """Compute the size ``value`` in the block by ``extent(-1)``, which reads it from a tensor.

        Return True on success. Returns False for constants, and for sizes of values in the block, because the caller
        copies their operations.
        """
        source = value.operation
        if source is not None and source.name == "arith.constant":
            return False
        if source is not None and source.name == "tensor.dim" and source.operands[0] in self.values:
            return False
        size = None if extent is None else extent(-1)
        if size is not None:
            self.values[value] = size
        return size is not None

    def _extents(self, operation: Operation, number: int) -> Extent:
        """Return a function that emits the size of an axis of operand ``number``, read from another operand."""

        def extent(axis: int) -> Value | None:
            for other, place in _same_extent(operation, number, axis):
                known = self.values.get(other)
                if known is not None and is_ranked_tensor(known.type):
                    sized, own = with_extent(known, place)
                    return self._builder.value("tensor.dim", [sized, self._builder.constant(own, INDEX)], INDEX)
            return None

        return extent


def _at(extent: Extent, axis: int, _: int) -> Value | None:
    return extent(axis)


def _captured(operation: Operation) -> list[Value]:
    """Return the values from outside of an operation that are used inside its regions."""
    inside = dict.fromkeys(operation.walk())
    captured: dict[Value, None] = {}
    for inner in inside:
        for value in inner.operands if inner is not operation else ():
            block = value.block
            owner = value.operation or (block.parent.parent if block is not None and block.parent is not None else None)
            if owner not in inside:
                captured[value] = None
    return list(captured)


def _is_plain_output(operation: StructuredOp, number: int) -> bool:
    return number >= operation.input_count and operation.indexing_maps[number] == AffineMapAttr.identity(
        operation.indexing_maps[number].dimensions
    )


def with_extent(value: Value, axis: int) -> tuple[Value, int]:
    """Return the earliest tensor that determines the size of an axis of ``value``, and the axis with this size.

    All operations from this tensor to ``value`` keep the size. If a `tensor.dim` reads the earliest tensor instead of
    an intermediate value, one kernel can replace all these operations.
    """
    while (source := value.operation) is not None:
        if source.name in BINDERS:
            candidates = [(operand, axis) for operand in source.operands if is_ranked_tensor(operand.type)]
        elif isinstance(source, StructuredOp):
            candidates = [
                pair
                for pair in _same_extent(source, source.input_count, axis)
                if pair[0] in source.operands[: source.input_count]
            ]
        else:
            padding = padding_of(value)
            is_inside = padding is not None and padding.keeps(axis)
            candidates = [(padding.source, axis)] if padding is not None and is_inside else []
        if not candidates:
            break
        value, axis = candidates[0]
    return value, axis


def _same_extent(operation: Operation, number: int, axis: int) -> list[tuple[Value, int]]:
    """Return all pairs (another operand, its axis) whose size equals the size of ``axis`` of operand ``number``.

    For `expand_shape`, operand ``number`` is a size of the result. It equals the size of a source axis if that axis is
    divided into one axis of this size and axes of size 1.
    """
    if operation.name == "tensor.expand_shape":
        return _expanded(operation, number)
    if isinstance(operation, StructuredOp):
        maps = operation.indexing_maps
        results = maps[number].results
        if not 0 <= axis < len(results) or not isinstance(results[axis], tuple):
            return []
        return [
            (value, place)
            for value, map in zip(operation.operands, maps, strict=True)
            if value is not operation.operands[number]
            for place, result in enumerate(map.results)
            if result == results[axis]
        ]
    if operation.name in BINDERS and axis >= 0:
        return [(value, axis) for value in operation.operands if value is not operation.operands[number]]
    return []


def _expanded(operation: Operation, number: int) -> list[tuple[Value, int]]:
    if number == 0:
        return []
    sizes = static_values(operation, "output_shape")
    axis = [place for place, size in enumerate(sizes) if size is None][number - 1]
    for place, group in enumerate(reassociation_of(operation)):
        if axis in group and all(sizes[other] == 1 for other in group if other != axis):
            return [(operation.operands[0], place)]
    return []


def wrapped(choice: KernelChoice, root: Operation, order: Mapping[Operation, int]) -> bool:
    """Move the operations of a chosen kernel into a region that replaces ``root``. Return True on success."""
    match = choice.match
    if any(operation not in order for operation in match.operations):
        return False
    operations = sorted(dict.fromkeys(match.operations), key=lambda operation: order[operation])
    inputs = [value for value, _ in match.operands]
    return put_into_region(choice.kernel, root, inputs, operations, match.copied)


def put_into_region(
    kernel: str, root: Operation, inputs: Sequence[Value], operations: Iterable[Operation], copied: Iterable[Operation]
) -> bool:
    """Copy operations into a region with these inputs, and replace ``root`` by it.

    Return False, without a change, if an operation cannot be copied.
    """
    body = Body(inputs, copied, root)
    if not all(body.add(operation) for operation in operations):
        return False
    region = make_region(Builder(root), kernel, inputs, body.block, [body.values[root.results[0]]])
    root.results[0].replace_all_uses(region.results[0])
    erase_dead([root])
    return True


def move_sizes(module: Module) -> None:
    """Make each `tensor.dim` read the earliest tensor that determines the same size (see `with_extent`)."""
    for operation in acyclic_operations(module.operation):
        if operation.name != "tensor.dim":
            continue
        axis = constant_of(operation.operands[1])
        if not isinstance(axis, IntegerAttr):
            continue
        value, own = with_extent(operation.operands[0], axis.value)
        if value is not operation.operands[0]:
            operation.set_operands([value, Builder(operation).constant(own, INDEX)])


def fuse_calls(module: Module, target: Target) -> None:
    """Replace calls of functions that are marked as kernels of the target by regions with the functions' bodies.

    Raises VerifyError if the body of a marked function is not a single block, or calls another function.
    """
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
        raise function.op_error(f"{KERNEL} must be the name of a kernel, a string, got {function.attributes[KERNEL]}")
    if function.is_declaration or len(function.regions[0].blocks) != 1:
        raise function.op_error(f"@{function.sym_name} is marked as a kernel: its body must be one block")
    call = next((inner for inner in function.walk() if inner.name == "func.call"), None)
    if call is not None:
        name = function.sym_name
        raise call.op_error(f"is in @{name}, which is marked as a kernel: run inline{{entry={name}}} first")


def _fuse(call: Operation, callee: FuncOp, target: Target) -> None:
    name = callee.attributes[KERNEL].python
    signatures = target.signatures(name)
    if all(kernel.ports(len(call.operands), len(call.results)) is None for kernel in signatures):
        reason = "has no kernel" if not signatures else f"has other ports ({_ports(signatures[0])}) for kernel"
        remark(call, f"'func.call' op stays a call: target '{target.name}' {reason} '{name}'")
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
