"""Pass that replaces chains of elementwise functions of one 8-bit quantized tensor by a table lookup."""

from dataclasses import dataclass

import numpy as np

from qrt.errors import QuantError
from qrt.ir import Builder, Module, Operation, Value
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.ops import family_of
from qrt.ops.core import Array, element_dtype
from qrt.ops.traits import is_by_place, values_of_storage
from qrt.runtime.fusion.families import attributes_of, chained, constant, quantized, stored_constant, traits_of
from qrt.types import TensorType, UniformType


@dataclass(frozen=True)
class MakeTables:
    """Replaces a chain of elementwise ops on one tensor by one table lookup. Preserves every value.

    The storage of the tensor, the first operand of the chain, has at most 8 bits. An op of the chain may have a second
    operand if it is a constant with one element.
    """

    def run(self, module: Module) -> None:
        for op in acyclic_operations(module.operation):
            if op.parent is not None and _input(op) is not None and not _chain_continues(op):
                _tabulate(_chain(op))


def _input(op: Operation | None) -> int | None:
    """Return the index of an op's only operand that is not constant; None if a table lookup cannot compute the op.

    A table lookup can compute an op that is elementwise and per layer. The other operands must be constants: tables, or
    tensors with one element.
    """
    family = family_of(op)
    if op is None or family is None or not family.traits.is_elementwise or not _is_per_layer(op.results[0]):
        return None
    if is_by_place(family.read(op.attributes)):
        return None
    tables = family.traits.tables
    if len(op.operands) == 1 + len(tables):
        is_known = all(stored_constant(op.operands[i]) is not None for i in tables)
        return 0 if is_known and _is_per_layer(op.operands[0]) else None
    for i, value in enumerate(op.operands):
        other = op.operands[1 - i]
        if _is_single(other) and _is_per_layer(value) and _has_shape_of(value, op.results[0]):
            return i
    return None


def _is_per_layer(value: Value) -> bool:
    t = quantized(value)
    return t is not None and t.is_per_layer


def _is_single(value: Value) -> bool:
    return _elements(value) == 1 and _is_per_layer(value) and stored_constant(value) is not None


def _elements(value: Value) -> int | None:
    t = value.type
    if not isinstance(t, TensorType) or not t.has_static_shape:
        return None
    return int(np.prod([size or 0 for size in t.shape or ()]))


def _has_shape_of(value: Value, result: Value) -> bool:
    here, there = value.type, result.type
    return isinstance(here, TensorType) and isinstance(there, TensorType) and here.shape == there.shape


def _chain_continues(op: Operation) -> bool:
    """Return True if the only reader of an op's result can be appended to a chain that ends with the op."""
    users = op.results[0].users
    if len(op.results[0].uses) != 1:
        return False
    index = _input(users[0])
    return index is not None and users[0].operands[index] is op.results[0]


def _chain(last: Operation) -> list[Operation]:
    """Return the consecutive ops that end with ``last`` and begin with an op whose operand has at most 8 bits."""
    chain = [last]
    while True:
        index = _input(chain[0])
        assert index is not None
        before = chain[0].operands[index].operation
        if before is None or len(before.results) != 1 or _input(before) is None or len(before.results[0].uses) > 1:
            break
        chain.insert(0, before)
    while chain and not _begins(chain[0]):
        chain.pop(0)
    return chain


def _begins(op: Operation) -> bool:
    index = _input(op)
    assert index is not None
    t = quantized(op.operands[index])
    return t is not None and t.storage_width <= 8


def _has_constant(op: Operation) -> bool:
    """Return True if an op has a constant operand that is not a table.

    A single op without such an operand is not replaced, because it is as fast as a table lookup.
    """
    return len(op.operands) > 1 + len(traits_of(op).tables)


def _tabulate(chain: list[Operation]) -> None:
    if not chain or (len(chain) == 1 and not _has_constant(chain[0])):
        return
    first, last = chain[0], chain[-1]
    index = _input(first)
    assert index is not None
    source, target = quantized(first.operands[index]), quantized(last.results[0])
    assert source is not None and target is not None  # noqa: PT018 - as the chain was made
    try:
        table = _table(chain, source)
    except QuantError:  # the run raises this error
        return
    if target.storage_width > 32:
        return
    builder = Builder(last)
    table_value = constant(builder, table, target)
    operands = (first.operands[index], table_value)
    replace(last, [builder.value("qrt.lookup", operands, last.results[0].type, chained(chain))])
    erase_dead(chain[:-1][::-1])


def _table(chain: list[Operation], source: UniformType) -> Array:
    """Return the chain's result for each value of the storage type, computed by the reference implementations.

    Values outside the storage bounds, which no tensor has, are clamped to the bounds first.
    """
    values: Array = values_of_storage(source).astype(element_dtype(source))
    count = len(values)
    for op in chain:
        family, index = family_of(op), _input(op)
        assert family is not None
        assert index is not None
        arrays: list[Array] = []
        types: list[TensorType] = []
        for i, value in enumerate(op.operands):
            t = quantized(value)
            assert t is not None
            array = values if i == index else stored_constant(value)
            assert array is not None
            arrays.append(array if i == index or i in family.traits.tables else array.reshape(1))
            types.append(TensorType(arrays[-1].shape, t))
        element = quantized(op.results[0])
        assert element is not None
        (result,) = family.compute(arrays, tuple(types), (TensorType((count,), element),), attributes_of(op))
        values = np.asarray(result).astype(element_dtype(element))
    return values
