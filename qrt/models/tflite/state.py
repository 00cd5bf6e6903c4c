"""State of a model during import: its variables and `is_variable` tensors, which become globals of the module.

A global has an unquantized type. For a quantized tensor it holds the storage, which `quant.scast` converts.
"""

from dataclasses import dataclass

import numpy as np

from qrt.ir import Module, Operation
from qrt.models.importing import variables
from qrt.models.tflite.model import Tensor
from qrt.ops.core import Array
from qrt.types import IntegerType, TensorType, UniformType

Handle = tuple[str, str]
"""The container and the name of the variable that a resource tensor refers to."""


@dataclass(eq=False)
class Variable:
    """A variable of the model.

    ``global_op`` is its `ml_program.global`, or None before its type is known. ``reader`` is the place in the file of
    an operator that reads the variable, "" if there is none. ``is_set`` is True if it has an initial value or is stored
    to.
    """

    name: str
    global_op: Operation | None = None
    reader: str = ""
    is_set: bool = False

    @property
    def type(self) -> TensorType:
        """The type of the variable's global, which must exist already."""
        assert self.global_op is not None
        type = self.global_op.attributes["type"].python
        assert isinstance(type, TensorType)
        return type


class State:
    """The variables of a model during import.

    ``resources`` has the variables that resource handles refer to. ``tensors`` has the variables of `is_variable`
    tensors, by (subgraph, tensor index).
    """

    def __init__(self, module: Module, taken: set[str]) -> None:
        self.module, self.taken = module, taken
        self.resources: dict[Handle, Variable] = {}
        self.tensors: dict[tuple[int, int], Variable] = {}

    def resource(self, handle: Handle) -> Variable:
        """Return the variable that a resource handle refers to. It is created by the first call with this handle."""
        if handle not in self.resources:
            self.resources[handle] = Variable(self.symbol("/".join(filter(None, handle))))
        return self.resources[handle]

    def tensor(self, subgraph: int, tensor: Tensor, declared: TensorType) -> Variable:
        """Return the variable of an `is_variable` tensor. It is created by the first call with this tensor.

        The initial elements are 0, or for int8 with one scale the zero point.
        """
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
        """Return a symbol that is unique in the module: ``name``, or ``name`` with a numeric suffix. Reserve it."""
        symbol, count = name, 0
        while not symbol or symbol in self.taken:
            count += 1
            symbol = f"{name}#{count}"
        self.taken.add(symbol)
        return symbol

    def declare(self, variable: Variable, declared: TensorType) -> bool:
        """Create the global of a variable for tensors of the declared type, unless the variable already has a global.

        Return False if the existing global is for another type, else True.
        """
        stored = storage_type(declared)
        if variable.global_op is not None:
            return variable.type is stored
        variable.global_op = variables.declare(self.module, variable.name, stored)
        return True

    def initialise(self, variable: Variable, array: Array) -> None:
        """Set the initial value of a variable."""
        assert variable.global_op is not None
        variables.initialise(variable.global_op, array, variable.type)
        variable.is_set = True

    def unset(self) -> Variable | None:
        """Return a variable that is read but never set; None if there is none."""
        return next((variable for variable in self.resources.values() if variable.reader and not variable.is_set), None)


def storage_type(declared: TensorType) -> TensorType:
    """Return the type of a global for tensors of the declared type: quantized elements as their storage integers."""
    element = declared.element
    return TensorType(
        declared.shape, IntegerType(element.storage_width) if isinstance(element, UniformType) else element
    )
