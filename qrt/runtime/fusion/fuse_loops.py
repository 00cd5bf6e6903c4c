"""Pass that fuses consecutive elementwise loops, so that intermediate tensors are not stored."""

from collections.abc import Set
from dataclasses import dataclass

from qrt.ir import Module, Operation, Value
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.core.traits import ELEMENTWISE
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.passes.linalg_generic import as_generic
from qrt.ir.rewriting.rewrite import replace
from qrt.runtime.fusion.pointwise import is_defined, is_identity, is_pointwise, merged
from qrt.runtime.planner.float_loops import is_chain
from qrt.types import TensorType


@dataclass(frozen=True)
class FuseLoops:
    """Fuses an elementwise op or `linalg.generic` with its only reader, an elementwise one too. Preserves every value.

    The two are fused only if a kernel can run them together.
    """

    def run(self, module: Module) -> None:
        fused: set[Operation] = set()  # loops of this pass, whose bodies need no further look
        for op in acyclic_operations(module.operation):
            while op.parent is not None and (producer := _producer(op, fused)) is not None:
                fused_loops = _fused(producer, op)
                if fused_loops is None:
                    break
                op = fused_loops
                fused.add(op)


def _producer(op: Operation, fused: Set[Operation]) -> Operation | None:
    """Return an elementwise op that can be fused into ``op``, the only reader of its result; None if there is none.

    ``fused`` are loops that can be fused.
    """
    for value in op.operands:
        producer = value.operation
        if producer is None or producer.parent is not op.parent or not _is_read_in_place(op, value):
            continue
        readers = {user for user in value.users if user.name != "tensor.dim"}
        if readers == {op} and (producer in fused or _may_be_loops(producer)):  # the bodies last: that takes longest
            return producer if op in fused or _may_be_loops(op) else None
    return None


def _is_read_in_place(op: Operation, value: Value) -> bool:
    if not isinstance(op, StructuredOp):
        return True
    maps = [map for read, map in zip(op.inputs, op.indexing_maps, strict=False) if read is value]
    return bool(maps) and all(is_identity(map) for map in maps)


def _may_be_loops(op: Operation) -> bool:
    """Return True for an elementwise op or loop on tensors that kernels can run, and that is defined for all values."""
    if isinstance(op, StructuredOp):
        return is_pointwise(op) and all(map(is_defined, list(op.regions[0].blocks[0])[:-1])) and is_chain(op)
    if op.definition is None or ELEMENTWISE not in op.definition.traits or not is_defined(op) or len(op.results) != 1:
        return False
    types = [value.type for value in (*op.operands, op.result)]
    return all(isinstance(t, TensorType) and t.shape for t in types) and is_chain(op)


def _fused(producer: Operation, consumer: Operation) -> StructuredOp | None:
    """Replace both ops by one fused loop, which is returned; return None if no kernel supports the fused loop."""
    first, second = _as_loops(producer), _as_loops(consumer)
    loops = merged(first, second)
    if not is_chain(loops):
        loops.erase()
        return None
    first.result.replace_all_uses(first.outputs[0])  # `tensor.dim` may read its size, which the output has too
    replace(second, loops.results)
    first.erase()
    return loops


def _as_loops(op: Operation) -> StructuredOp:
    if isinstance(op, StructuredOp):
        return op
    (result,) = as_generic(op)
    loops = result.operation
    assert isinstance(loops, StructuredOp)
    loops.attributes.update({name: value for name, value in op.attributes.items() if "." in name})
    replace(op, [result])
    return loops
