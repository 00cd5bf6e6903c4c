"""State of a model: variables and `is_variable` tensors, each a global of the module.

A global holds storage, integers or floats; `quant.scast` stands between it and quantized values.
"""

from dataclasses import dataclass

import numpy as np

from qrt.ir import Module, Operation
from qrt.models.importing import variables
from qrt.models.tflite.model import Tensor
from qrt.ops.core import Array
from qrt.types import IntegerType, TensorType, UniformType

Handle = tuple[str, str]
"""What a resource tensor stands for: the container and the name of a variable."""


@dataclass(eq=False)
class Variable:
    """A variable. ``made`` is its global, once its type is known; ``reader`` the place of an operator that reads it."""

    name: str
    made: Operation | None = None
    reader: str = ""
    is_set: bool = False

    @property
    def type(self) -> TensorType:
        """The type of the global."""
        assert self.made is not None
        found = self.made.attributes["type"].python
        assert isinstance(found, TensorType)
        return found


class State:
    """The globals of a module that is imported."""

    def __init__(self, module: Module, taken: set[str]) -> None:
        self.module, self.taken = module, taken
        self.resources: dict[Handle, Variable] = {}
        self.tensors: dict[tuple[int, int], Variable] = {}

    def resource(self, handle: Handle) -> Variable:
        """The variable of a handle."""
        if handle not in self.resources:
            self.resources[handle] = Variable(self.symbol("/".join(filter(None, handle))))
        return self.resources[handle]

    def tensor(self, subgraph: int, tensor: Tensor, declared: TensorType) -> Variable:
        """The variable of an `is_variable` tensor. It begins with zeros, or the zero point of int8."""
        key = subgraph, tensor.index
        if key not in self.tensors:
            self.tensors[key] = variable = Variable(self.symbol(tensor.name))
            element = declared.element
            is_int8 = isinstance(element, UniformType) and tensor.dtype == "int8" and not element.is_per_axis
            zero = element.zero_point if isinstance(element, UniformType) and is_int8 else 0
            self.declare(variable, declared)
            self.initialise(variable, np.full(tensor.shape, zero, tensor.dtype))
        return self.tensors[key]

    def symbol(self, name: str) -> str:
        """A name that no other symbol of the module has."""
        symbol, count = name, 0
        while not symbol or symbol in self.taken:
            count += 1
            symbol = f"{name}#{count}"
        self.taken.add(symbol)
        return symbol

    def declare(self, variable: Variable, declared: TensorType) -> bool:
        """Makes the global of a variable, unless it is there. False where it has another type."""
        stored = storage_type(declared)
        if variable.made is not None:
            return variable.type is stored
        variable.made = variables.declare(self.module, variable.name, stored)
        return True

    def initialise(self, variable: Variable, array: Array) -> None:
        """Says what a variable begins with."""
        assert variable.made is not None
        variables.initialise(variable.made, array, variable.type)
        variable.is_set = True

    def unset(self) -> Variable | None:
        """A variable that is read, though nothing sets it."""
        return next((each for each in self.resources.values() if each.reader and not each.is_set), None)


def storage_type(declared: TensorType) -> TensorType:
    """The type of a global that holds such tensors."""
    element = declared.element
    return TensorType(
        declared.shape, IntegerType(element.storage_width) if isinstance(element, UniformType) else element
    )
