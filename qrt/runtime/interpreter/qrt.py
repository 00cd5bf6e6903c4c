"""Handlers of ``qrt``: each op runs the NumPy reference implementation of its family (`qrt.ops`)."""

from functools import lru_cache
from typing import Any

import numpy as np

from qrt.ir import Operation
from qrt.ops import FAMILIES, OpFamily
from qrt.ops.core import Attributes, Shape, Types, element_dtype
from qrt.runtime.interpreter.core import Compiler, Function, Handler
from qrt.runtime.operations import family_call
from qrt.runtime.values import as_tensor, of_rank
from qrt.types import TensorType


def bind_family(op: Operation, compiler: Compiler) -> Function:
    """Return a function that computes an op by the reference implementation of its family.

    Result types are cached for the latest eight sets of operand shapes.
    """
    elements = [as_tensor(value.type).element for value in op.operands]
    declared = [value.type for value in op.results]

    @lru_cache(maxsize=8)
    def call(shapes: tuple[Shape, ...]) -> tuple[Types, OpFamily, Attributes, Types, list[np.dtype[Any]]]:
        types = tuple(map(TensorType, shapes, elements))
        family, attributes, results = family_call(op, types)
        return types, family, attributes, results, [element_dtype(result.element) for result in results]

    def run(*operands: Any) -> Any:
        arrays = [np.asarray(operand) for operand in operands]
        types, family, attributes, results, dtypes = call(tuple([array.shape for array in arrays]))
        computed = family.compute(arrays, types, results, attributes)
        values = [of_rank(a.astype(dtype), t) for a, dtype, t in zip(computed, dtypes, declared, strict=True)]
        return values[0] if len(values) == 1 else values

    return run


def handlers(dialect: str) -> dict[str, Handler]:
    """Return a handler for each op that a family of `qrt.ops` declares in this dialect."""
    return {family.declaration.op: bind_family for family in FAMILIES.values() if family.declaration.dialect == dialect}


HANDLERS = handlers("qrt")
