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
    """The reference of an op's family. What follows from the shapes of its operands is inferred when they change."""
    elements = [as_tensor(value.type).element for value in op.operands]
    declared = op.results[0].type
    latest: tuple[Any, ...] = (None,)

    def run(*operands: Any) -> Any:
        nonlocal latest
        arrays = [np.asarray(operand) for operand in operands]
        shapes = [array.shape for array in arrays]
        found = latest  # one tuple: another thread may put its own there
        if found[0] != shapes:
            types = tuple(map(TensorType, shapes, elements))
            found = latest = shapes, types, *family_call(op, types)
        _, types, family, attributes, result = found
        values = family.reference(arrays, types, result, attributes)
        return of_rank(values.astype(element_dtype(result.element)), declared)

    return run


HANDLERS: dict[str, Handler] = {f"qrt.{name}": bind_family for name in FAMILIES}
