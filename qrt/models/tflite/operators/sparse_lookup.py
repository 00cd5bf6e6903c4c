"""Import of EMBEDDING_LOOKUP_SPARSE: sums of weighted rows of a table."""

from math import prod

import numpy as np

from qrt.ir import Value
from qrt.models.importing.data_movement import reshaped
from qrt.models.importing.unquantized import apply, as_value, broadcast, number_of
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.gathering import check_indices
from qrt.models.tflite.operators.operands import input_shape, settle
from qrt.ops.core import Array
from qrt.types import FloatType

_F32 = FloatType("f32")
_DTYPES = ("int32", "int32", "int32", "float32", "float32")
_IDS, _INDICES, _SHAPE, _WEIGHTS, _TABLE = range(5)


def embedding_lookup_sparse(node: Node) -> None:
    """Import EMBEDDING_LOOKUP_SPARSE: add rows of a float32 table, times their weights, to cells of the result.

    The dense shape must be known at import. With the combiner MEAN or SQRTN, the indices must be known too, and the
    indices of one cell must be adjacent.
    """
    dtypes = tuple(node.input(i).dtype for i in range(5))
    if dtypes != _DTYPES:
        node.refuse(", ".join(dtypes))
    shape = node.integers(_SHAPE, "a dense shape")
    (*ids,), (*indices,), (*weights,), (*table,) = (input_shape(node, i) for i in (_IDS, _INDICES, _WEIGHTS, _TABLE))
    if None in (*ids, *indices, *weights, *table):
        node.refuse("a dynamic dimension")
    is_matched = len(ids) == 1 and weights == ids and indices == [*ids, len(shape)]
    if not is_matched or len(table) < 2 or len(shape) < 2 or min(shape) < 1:
        node.fail(
            "ids and weights must have the shape [N], indices [N, R] with R positive sizes in the dense shape, and the "
            f"table 2 axes or more, got {ids}, {weights}, {indices}, {list(shape)} and {table}"
        )
    check_indices(node, (table[0],), i=_IDS)
    check_indices(node, (*shape[:-1], None), is_row=True, i=_INDICES)
    count, cells, columns = ids[0] or 0, shape[:-1], [n or 0 for n in table[1:]]
    node.graph.check_size(node.op, node.type(_TABLE).with_(shape=(*cells, *columns)))
    lists = {"offsets": [0, 0], "sizes": [count, len(cells)], "strides": [1, 1]}
    places = node.emit("qrt.slice", [node.value(_INDICES)], lists)
    factors = node.value(_WEIGHTS)
    rows = node.emit("qrt.gather", [node.value(_TABLE), node.value(_IDS)], {"axis": 0, "batch_dims": 0})
    beside = reshaped(node, factors, (count, *[1] * len(columns)))
    zeros = as_value(node, broadcast(node, number_of(0.0, _F32), _F32, (*cells, *columns)), _F32)
    total = _added(node, zeros, places, _product(node, rows, beside))
    if node.options["combiner"] != "SUM":
        starts = node.dense(_starts(node, cells), _F32)
        if node.options["combiner"] == "MEAN":
            divisor = _added(node, starts, places, factors)
        else:
            squares = _added(node, starts, places, _product(node, factors, factors))
            divisor = as_value(node, apply(node, "math.sqrt", [squares], [_F32], _F32), _F32)
        divisor = reshaped(node, divisor, (*cells, *[1] * len(columns)))
        total = as_value(node, apply(node, "arith.divf", [total, divisor], [_F32] * 2, _F32), _F32)
    settle(node, 0, total)


def _product(node: Node, left: Value, right: Value) -> Value:
    return as_value(node, apply(node, "arith.mulf", [left, right], [_F32] * 2, _F32), _F32)


def _added(node: Node, start: Value, places: Value, updates: Value) -> Value:
    return node.emit("qrt.scatter_nd", [start, places, updates], {"reduction": "add"})


def _starts(node: Node, cells: tuple[int, ...]) -> Array:
    """Return the values with which the divisors of all cells start: 1 for a cell without rows, else 0."""
    indices = node.constant(_INDICES)
    if indices is None:
        node.refuse(f"combiner {node.options['combiner']} with indices known only at run time")
    numbers = np.ravel_multi_index(tuple(indices[:, :-1].T.astype(np.int64)), cells)
    changes = np.count_nonzero(np.diff(numbers)) + min(len(numbers), 1)
    if changes != len(np.unique(numbers)):
        node.refuse(f"combiner {node.options['combiner']} with indices of a cell that do not follow one another")
    starts = np.ones(prod(cells), np.float32)
    starts[numbers] = 0
    return starts.reshape(cells)
