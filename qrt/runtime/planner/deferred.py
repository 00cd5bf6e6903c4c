"""A family whose shapes only the run knows: it is bound in the run."""

import threading
from typing import Any

import numpy as np

from qrt.errors import QuantError
from qrt.ir import Operation
from qrt.ops.core import Array
from qrt.runtime.interpreter.core import raise_located
from qrt.runtime.operations import family_call
from qrt.runtime.planner.slots import empty
from qrt.runtime.values import as_tensor
from qrt.tensor.storage import ready
from qrt.types import TensorType


class DeferredFamily:
    """A family bound for each set of operand shapes that comes, the latest kept. Constants are packed then."""

    def __init__(self, op: Operation, packed: dict[int, Array]) -> None:
        self.op, self.packed = op, packed
        self.elements = [as_tensor(value.type).element for value in op.operands]
        self.bound: tuple[Any, ...] = ()
        self.lock = threading.Lock()

    def __call__(self, *operands: Any) -> list[Array]:
        arrays = [ready(np.asarray(operand)) for operand in operands]
        shapes = [array.shape for array in arrays]
        with self.lock:
            bound = self.bound
        try:
            if not bound or bound[0] != shapes:
                bound = self._bind(shapes)
                with self.lock:
                    self.bound = bound
            _, call, results = bound
            made = [empty(result) for result in results]
            call(*(array for i, array in enumerate(arrays) if i not in self.packed), *made)
        except QuantError as error:
            raise_located(self.op, error)
        return made

    def _bind(self, shapes: list[tuple[int, ...]]) -> tuple[Any, ...]:
        types = tuple(TensorType(shape, element) for shape, element in zip(shapes, self.elements, strict=True))
        family, attributes, results = family_call(self.op, types)
        return shapes, family.call(types, results, attributes, self.packed)[0], results
