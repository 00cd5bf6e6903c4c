"""``qrt`` on arrays: every op family by its reference."""

from typing import Any

import numpy as np

from qrt.execute.interpret.core import Compiler, Function, Handler
from qrt.execute.operations import family_call
from qrt.execute.values import as_tensor, of_rank
from qrt.ir import Operation
from qrt.ops import FAMILIES
from qrt.ops.core import element_dtype
from qrt.types import TensorType


def bind_family(op: Operation, compiler: Compiler) -> Function:
    elements = [as_tensor(value.type).element for value in op.operands]
    declared = op.results[0].type

    def run(*operands: Any) -> Any:
        arrays = [np.asarray(operand) for operand in operands]
        types = [TensorType(a.shape, element) for a, element in zip(arrays, elements, strict=True)]
        family, attributes, result = family_call(op, types)
        values = family.reference(arrays, tuple(types), result, attributes)
        return of_rank(values.astype(element_dtype(result.element)), declared)

    return run


def handlers(dialect: str) -> dict[str, Handler]:
    """Those of the families that are ops of a dialect."""
    return {family.declaration.op: bind_family for family in FAMILIES.values() if family.declaration.dialect == dialect}


HANDLERS = handlers("qrt")
