"""Element-wise loops one after the other become one: what stands between them is never stored."""

from dataclasses import dataclass

from qrt.ir import Module, Operation, Value
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.core.traits import ELEMENTWISE, PURE
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.passes.linalg_generic import as_generic
from qrt.ir.rewriting.rewrite import replace
from qrt.runtime.fusion.pointwise import is_identity, is_pointwise, merged
from qrt.runtime.planner.float_loops import is_chain
from qrt.types import TensorType


@dataclass(frozen=True)
class FuseLoops:
    """Puts element-wise loops into the one op that reads their result, if that is element-wise too and a kernel runs
    both together. Preserves every value."""

    def run(self, module: Module) -> None:
        for op in acyclic_operations(module.operation):
            while op.parent is not None and (producer := _producer(op)) is not None:
                made = _fused(producer, op)
                if made is None:
                    break
                op = made


def _producer(op: Operation) -> Operation | None:
    """An element-wise op whose result is read by this one alone, at the place that it computes."""
    if not _may_be_loops(op):
        return None
    for value in op.operands:
        found = value.operation
        if found is None or found.parent is not op.parent or not _may_be_loops(found):
            continue
        readers = {user for user in value.users if user.name != "tensor.dim"}
        if readers == {op} and _is_read_in_place(op, value):
            return found
    return None


def _is_read_in_place(op: Operation, value: Value) -> bool:
    if not isinstance(op, StructuredOp):
        return True
    maps = [map for read, map in zip(op.inputs, op.indexing_maps, strict=False) if read is value]
    return bool(maps) and all(is_identity(map) for map in maps)


def _may_be_loops(op: Operation) -> bool:
    """Whether an op is element-wise loops, or computes a tensor from others of its shape, by steps of the kernel none
    of which can be an error."""
    if isinstance(op, StructuredOp):
        return is_pointwise(op) and all(map(_is_defined, list(op.regions[0].blocks[0])[:-1])) and is_chain(op)
    if op.definition is None or ELEMENTWISE not in op.definition.traits or not _is_defined(op) or len(op.results) != 1:
        return False
    types = [value.type for value in (*op.operands, op.result)]
    return all(isinstance(t, TensorType) and t.shape for t in types) and is_chain(op)


def _is_defined(op: Operation) -> bool:
    """Whether an op has a result for all values. A conversion to integers has none for some, an error at its place."""
    return op.name != "arith.fptosi" and op.definition is not None and PURE in op.definition.traits


def _fused(producer: Operation, consumer: Operation) -> StructuredOp | None:
    """The loops that do what both do, in their place; None if no kernel runs them together."""
    first, second = _as_loops(producer), _as_loops(consumer)
    made = merged(first, second)
    if not is_chain(made):
        made.erase()
        return None
    first.result.replace_all_uses(first.outputs[0])  # which has its size, and `tensor.dim` may ask for that
    replace(second, made.results)
    first.erase()
    return made


def _as_loops(op: Operation) -> StructuredOp:
    if isinstance(op, StructuredOp):
        return op
    (result,) = as_generic(op)
    made = result.operation
    assert isinstance(made, StructuredOp)
    made.attributes.update({name: value for name, value in op.attributes.items() if "." in name})
    replace(op, [result])
    return made
