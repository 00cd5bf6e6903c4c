"""Operations on constants, computed before the program runs: for planning and for the pass `constant-fold`."""

from collections.abc import Mapping
from math import prod

import numpy as np

from qrt.eager.storage import ready
from qrt.errors import QuantError
from qrt.execute.interpret.core import Compiler, Run
from qrt.execute.operations import ArrayAttr
from qrt.execute.values import of_rank
from qrt.ir import Operation, Value
from qrt.ir.core.traits import has_no_memory_effect
from qrt.ops.core import Array
from qrt.types import FloatType, IndexType, IntegerType, TensorType, UniformType

SCALARS = (FloatType, IntegerType, IndexType, UniformType)
MOST_STEPS, MOST_ELEMENTS, MOST_ITERATIONS = 1 << 16, 1 << 24, 1 << 28
"""Bounds of what is computed: the interpreter's steps, the elements of a value, the iterations of a `linalg` op."""


def planned_array(value: Value) -> Array | None:
    """Return the array that a constant has while a program is planned; None of any other value."""
    source = value.operation
    attribute = source.attributes.get("value") if source is not None and source.name == "arith.constant" else None
    return attribute.array if isinstance(attribute, ArrayAttr) else None


def captured(op: Operation) -> list[Value]:
    """The values from outside that an op and its regions read."""
    if not op.regions:
        return list(dict.fromkeys(op.operands))
    every = list(op.walk())
    inside = {value for inner in every for region in inner.regions for b in region.blocks for value in b.arguments}
    inside.update(value for inner in every for value in inner.results)
    return list(dict.fromkeys(v for inner in every for v in inner.operands if v not in inside))


def may_be_computed(op: Operation) -> bool:
    """Whether an op may be computed once its operands are known: it has no effects, yields tensors and scalars, and is
    not too large, as far as its types say.
    """
    return (
        has_no_memory_effect(op)
        and all(isinstance(value.type, (TensorType, *SCALARS)) for value in op.results)
        and all(_is_small(inner) for inner in op.walk())
    )


def _is_small(op: Operation) -> bool:
    shapes = [getattr(value.type, "shape", ()) for value in (*op.operands, *op.results)]
    known = [tuple(size for size in shape or () if size is not None) for shape in shapes]
    if any(prod(shape) > MOST_ELEMENTS for shape in known):
        return False
    if not op.name.startswith("linalg.") or any(shape is None or None in shape for shape in shapes):
        return True
    from qrt.dialects.linalg.structure import StructuredOp
    from qrt.execute.loops import extents  # here, for the programs that have such ops

    return (
        not isinstance(op, StructuredOp)
        or prod(extents(op.indexing_maps, known[: len(op.operands)])) <= MOST_ITERATIONS
    )


def compute(op: Operation, known: Mapping[Value, Array], compiler: Compiler) -> list[Array] | None:
    """The results of an op whose captured values are `known`, by the interpreter. None if running it is an error: the
    error then comes when the program runs.
    """
    inputs = [(compiler.slot(value), value) for value in captured(op)]
    try:
        if not may_be_computed(op):
            return None
        steps = compiler.steps([op])
        frame = compiler.template.copy()
        frame[0] = Run(MOST_STEPS)
        for slot, value in inputs:
            frame[slot] = of_rank(known[value], value.type)
        with np.errstate(all="ignore"):
            for step in steps:
                step(frame)
    except (QuantError, RecursionError, MemoryError):
        return None
    arrays = [ready(np.asarray(frame[compiler.slot(value)])) for value in op.results]
    return None if any(array.size > MOST_ELEMENTS for array in arrays) else arrays
