"""A subgraph of a TFLite file while it is imported: its tensors as values, and what it shares with the others."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property

from qrt.errors import ModelError, shown
from qrt.ir import Module, Value
from qrt.ir.core.functions import FuncOp
from qrt.models.importing import graph as importing
from qrt.models.importing import variables
from qrt.models.importing.graph import Refusals
from qrt.models.importing.node import UnsupportedForm
from qrt.models.profiles import Profile
from qrt.models.tflite.model import Model, Operator, Subgraph, Tensor, type_of
from qrt.models.tflite.state import Handle, State, Variable
from qrt.ops.core import Array
from qrt.types import TensorType


class ImportContext(ABC):
    """A model that is imported, as its graphs know it: its module, its state, and the forms that are refused."""

    def __init__(self, model: Model, profile: Profile) -> None:
        self.model = model
        self.profile = profile
        self.module = Module()
        self.refused = Refusals()
        self.state = State(self.module, {"main", *(signature.key for signature in model.signatures)})

    @abstractmethod
    def subgraph_function(self, index: int, handles: Mapping[int, Handle]) -> FuncOp:
        """The private function that another graph calls for a subgraph; its inputs that are handles of variables are
        given, and are no arguments.
        """

    @abstractmethod
    def initialise(self, index: int) -> None:
        """Takes what a subgraph assigns as the initial values of variables."""


class Graph(importing.Graph):
    """A subgraph. ``values`` has the values of tensors, ``folded`` what is known of them, ``handles`` the variables
    that resources stand for. One that ``is_initial`` gives variables their first values.
    """

    def __init__(
        self,
        importer: ImportContext,
        subgraph: Subgraph,
        handles: Mapping[int, Handle] | None = None,
        is_initial: bool = False,
    ) -> None:
        super().__init__(importer.profile, importer.model.name)
        self.importer = importer
        self.model = importer.model
        self.subgraph = subgraph
        self.values: dict[int, Value] = {}
        self.folded: dict[int, Array] = {}
        self.types: dict[int, TensorType] = {}
        self.handles = dict(handles or {})
        self.is_initial = is_initial

    # -- tensors ----------------------------------------------------------------------------------------------------

    def known(self, tensor: Tensor) -> Array | None:
        """The elements of a tensor that is constant in the file, or whose value follows from constants."""
        found = self.folded.get(tensor.index)
        return tensor.data if found is None else found

    def type(self, tensor: Tensor) -> TensorType:
        """The type of a tensor: that of its value, or else the one that the file gives it."""
        value = self.values.get(tensor.index)
        if value is not None and isinstance(value.type, TensorType):
            return value.type
        return self.declared(tensor)

    def declared(self, tensor: Tensor) -> TensorType:
        """The type that the file gives a tensor. A dtype that has none is refused."""
        found = self.types.get(tensor.index)
        if found is None:
            try:
                found = self.types[tensor.index] = type_of(tensor)
            except ModelError as error:
                raise UnsupportedForm(str(error)) from None
        return found

    def value(self, tensor: Tensor, op: Operator | None = None) -> Value:
        """The value of a tensor. A constant is made where an operator uses it first."""
        found = self.values.get(tensor.index)
        if found is None and tensor.is_variable and op is not None:
            return self.load(op, self.variable(tensor), self.type(tensor))
        if found is None:
            array = self.known(tensor)
            if array is None:
                where = f"{self.model.name}: subgraph {self.subgraph.index}" if op is None else self.place(op)
                raise ModelError(f"{where}: tensor {tensor.name!r} is read before it is written")
            found = self.values[tensor.index] = self.constant(array, self.type(tensor).element, op)
        return found

    def variable(self, tensor: Tensor) -> Variable:
        """The variable of an `is_variable` tensor."""
        return self.importer.state.tensor(self.subgraph.index, tensor, self.type(tensor))

    def load(self, op: Operator, variable: Variable, declared: TensorType) -> Value:
        """The value of a variable, as a tensor of a type."""
        variable.reader = self.place(op)
        self._require_type(op, variable, declared)
        stored = variables.load(self, op, variable.name, variable.type)
        if variable.type is declared:
            return stored
        return self.append(op, "quant.scast", [stored], [declared], {}).result

    def store(self, op: Operator, variable: Variable, value: Value) -> None:
        """Gives a variable a value."""
        declared = value.type
        assert isinstance(declared, TensorType)
        self._require_type(op, variable, declared)
        variable.is_set = True
        if variable.type is not declared:
            value = self.append(op, "quant.scast", [value], [variable.type], {}).result
        variables.store(self, op, variable.name, value)

    def _require_type(self, op: Operator, variable: Variable, declared: TensorType) -> None:
        """Make the global of a variable, unless it is there. Raise ModelError where it has another type."""
        if not self.importer.state.declare(variable, declared):
            mismatch = f"variable {shown(variable.name)} is {variable.type}, not {declared.shown()}"
            raise ModelError(f"{self.place(op)}: {mismatch}")

    def handle(self, tensor: Tensor, op: Operator) -> Handle:
        """The variable that a resource stands for."""
        found = self.handles.get(tensor.index)
        if found is None:
            raise ModelError(f"{self.place(op)}: tensor {tensor.name!r} is not the handle of a variable")
        return found

    # -- places -----------------------------------------------------------------------------------------------------

    def place(self, op: Operator) -> str:
        """Say where an operator stands, as errors do."""
        return f"{self.model.name}: subgraph {self.subgraph.index}, operator {op.index} {op.name}"

    def _lines(self) -> list[str]:
        return [self._line(op) for op in self.subgraph.operators]

    def _line(self, op: Operator) -> str:
        inputs = ", ".join("none" if index < 0 else self.names[index] for index in op.inputs)
        return f"{op.name}({inputs}) -> {', '.join(self.names[index] for index in op.outputs)}"

    @cached_property
    def names(self) -> list[str]:
        """The names of the tensors, each once. One that is empty or stands in the file before gets its index."""
        seen: set[str] = set()
        names = []
        for tensor in self.subgraph.tensors:
            name = tensor.name
            if not name or name in seen:
                name = f"{name}#{tensor.index}"
            seen.add(name)
            names.append(name)
        return names
