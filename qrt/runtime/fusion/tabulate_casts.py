"""Pass that replaces functions of floats between two casts by a table lookup."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qrt.errors import QuantError
from qrt.ir import Block, Builder, Module, Operation, Value
from qrt.ir.constants import constant_array
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.core.traits import ELEMENTWISE
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.rewriting.constant_folder import captured
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.ir.text.dense import DenseElementsAttr
from qrt.ops import family_of
from qrt.ops.core import Array, element_dtype
from qrt.ops.traits import values_of_storage
from qrt.runtime.constants import interpret_constants
from qrt.runtime.fusion.families import attributes_of, chained, constant, quantized
from qrt.runtime.fusion.pointwise import is_defined, is_identity, is_pointwise
from qrt.runtime.interpreter import TABLES
from qrt.runtime.interpreter.core import ModuleCode
from qrt.types import TensorType, Type, UniformType

_MOST_OPERATIONS = 64
"""The most operations that one table replaces."""
_SPREADS = ("linalg.broadcast", "qrt.reshape")
"""Operations whose results have the one value of their first operand."""


@dataclass(frozen=True)
class TabulateCasts:
    """Replaces `quant.dcast`, elementwise ops on floats, and `quant.qcast` by one table lookup. Preserves every value.

    The storage of the dcast's operand has at most 8 bits, and both quantized types are per-layer. Other operands of the
    ops are constants with one value, perhaps broadcast. The interpreter computes the table.
    """

    def run(self, module: Module) -> None:
        code = ModuleCode(module, TABLES, saturating=False)
        for op in acyclic_operations(module.operation):
            if op.name == "quant.qcast" and op.parent is not None:
                function = _function_of(op)
                if function is not None:
                    function.tabulate(code)


@dataclass(frozen=True)
class _Function:
    """Operations that compute a `quant.qcast` from one quantized tensor, in an order in which operands come first."""

    source: Value
    casts: Sequence[Operation]
    operations: Sequence[Operation]
    last: Operation

    def tabulate(self, code: ModuleCode) -> None:
        """Replace the last op by a lookup, and erase the others. Change nothing if an op raises an error."""
        target = quantized(self.last.results[0])
        assert target is not None
        table = self._table(code, target)
        if table is None:
            return
        builder = Builder(self.last)
        operands = (self.source, constant(builder, table, target))
        attributes = chained([*self.casts, *self.operations, self.last])
        replace(self.last, [builder.value("qrt.lookup", operands, self.last.results[0].type, attributes)])
        erase_dead([*reversed(self.operations), *self.casts])

    def _table(self, code: ModuleCode, target: UniformType) -> Array | None:
        """Return the table: the function's result for each value of the storage type; None if an op raises an error.

        The interpreter runs copies of the ops on one tensor of all these values. This tensor has the program's number
        of axes, and size 1 in all axes except the first.
        """
        element = quantized(self.source)
        assert isinstance(self.source.type, TensorType)
        assert element is not None
        storage = values_of_storage(element).astype(element_dtype(element))
        shape = (len(storage), *(1,) * (len(self.source.type.shape or ()) - 1))
        copies, arrays, block = dict[Value, Value](), dict[Value, Array](), Block()
        try:
            for cast in self.casts:
                copies[cast.results[0]] = copy = block.add_argument(_with_shape(cast.results[0], shape))
                arrays[copy] = _cast(cast, storage.reshape(shape))
            for op in self.operations:
                for value in op.operands:
                    if value not in copies:
                        copies[value] = copy = block.add_argument(_with_shape(value, shape))
                        arrays[copy] = _filled(value, shape)
                copied_op = block.append(op.clone(copies))
                result = copied_op.results[0]
                result.type = _with_shape(op.results[0], shape)
                computed = interpret_constants(code, copied_op, {value: arrays[value] for value in copied_op.operands})
                if computed is None:
                    return None
                copies[op.results[0]], arrays[result] = result, computed[0]
            last = arrays[copies[self.last.operands[0]]]
            return _cast(self.last, last).reshape(-1).astype(element_dtype(target))
        except QuantError:  # the run raises this error
            return None


def _function_of(last: Operation) -> _Function | None:
    """Return the function of one quantized tensor whose last op is the `quant.qcast` ``last``.

    Return None if a table lookup cannot replace it.
    """
    target = quantized(last.results[0])
    if target is None or not target.is_per_layer or target.storage_width > 32:
        return None
    casts: list[Operation] = []
    operations: dict[Operation, None] = {}
    if not _collect(last.operands[0], last, casts, operations) or not casts:
        return None
    source = casts[0].operands[0]
    element, shape = quantized(source), getattr(source.type, "shape", None)
    if element is None or not element.is_per_layer or element.storage_width > 8 or not shape or 0 in shape:
        return None
    if any(cast.operands[0] is not source for cast in casts) or getattr(last.results[0].type, "shape", None) != shape:
        return None
    inside = {*operations, last}
    if any(user not in inside for op in operations for user in op.results[0].users):
        return None
    return _Function(source, casts, list(operations), last)


def _collect(value: Value, reader: Operation, casts: list[Operation], operations: dict[Operation, None]) -> bool:
    """Add the ops that compute ``value`` to ``casts`` and ``operations``.

    Return False if a table cannot replace them.
    """
    op = value.operation
    if op is None or op in operations or op in casts or _spread_constant(value):
        return op is not None
    if op.name == "quant.dcast":
        casts.append(op)
        return op.parent is reader.parent
    if op.parent is not reader.parent or len(operations) + len(casts) >= _MOST_OPERATIONS:
        return False
    operations[op] = None  # counted before those that it reads, which bounds the depth of the recursion
    if not _is_elementwise(op) or not all(_collect(operand, op, casts, operations) for operand in _read(op)):
        return False
    operations[op] = operations.pop(op)
    return True


def _spread_constant(value: Value) -> list[Operation]:
    """Return the operations that broadcast a constant with one value to ``value``, the constant last; [] if none do."""
    chain: list[Operation] = []
    op = value.operation
    while op is not None and op.name in _SPREADS and getattr(op.results[0].type, "has_static_shape", False):
        chain.append(op)
        op = op.operands[0].operation
    return [*chain, op] if op is not None and _is_single(op) else []


def _is_single(op: Operation) -> bool:
    """Return True for a constant whose elements all have one value."""
    if op.name != "arith.constant":
        return False
    value = op.attributes["value"]
    return not isinstance(op.results[0].type, TensorType) or (isinstance(value, DenseElementsAttr) and value.is_splat)


def _is_elementwise(op: Operation) -> bool:
    """Return True for an elementwise op or loop on tensors of one shape that is defined for all values."""
    if isinstance(op, StructuredOp):
        inner = list(op.regions[0].blocks[0])[:-1] if is_pointwise(op) else []
        reads = zip(op.inputs, op.indexing_maps, strict=False)
        has_places = all(is_identity(map) or not isinstance(value.type, TensorType) for value, map in reads)
        has_operands_only = all(value in op.operands for value in captured(op))
        return is_pointwise(op) and has_places and has_operands_only and all(map(is_defined, inner))
    is_tensor = all(isinstance(value.type, TensorType) for value in (*op.operands, *op.results))
    has_trait = op.definition is not None and ELEMENTWISE in op.definition.traits
    return has_trait and is_tensor and is_defined(op) and len(op.results) == 1


def _read(op: Operation) -> Sequence[Value]:
    """Return the operands whose values an elementwise op uses, so without a loop's output operand of static shape.

    An output operand of dynamic shape is included because its sizes are compared with those of the other operands.
    """
    is_static = all(isinstance(value.type, TensorType) and value.type.has_static_shape for value in op.results)
    return op.inputs if isinstance(op, StructuredOp) and is_static else op.operands


def _with_shape(value: Value, shape: tuple[int, ...]) -> Type:
    return value.type.with_(shape=shape) if isinstance(value.type, TensorType) else value.type


def _filled(value: Value, shape: tuple[int, ...]) -> Array:
    """Return an array in which every element is the value of a constant.

    For the output operand of a loop, which the loop does not read, return zeros.
    """
    chain = _spread_constant(value)
    if not chain:
        return np.zeros(shape, element_dtype(element_of(value.type)))
    array = constant_array(chain[-1])
    is_tensor = isinstance(value.type, TensorType)
    return np.full(shape, array[(0,) * array.ndim], array.dtype) if is_tensor else array


def _cast(op: Operation, array: Array) -> Array:
    """Return the result of a `quant.qcast` or `quant.dcast`, computed by its reference implementation."""
    family = family_of(op)
    assert family is not None
    types = [TensorType(array.shape, element_of(value.type)) for value in (op.operands[0], op.results[0])]
    (result,) = family.compute([array], (types[0],), (types[1],), attributes_of(op))
    return np.asarray(result)
