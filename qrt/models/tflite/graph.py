"""Subgraphs of a TFLite file during import: their tensors as values, and the state shared between subgraphs."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from math import prod

from qrt.errors import ModelError, input_limit, shown
from qrt.ir import Module, Value
from qrt.ir.core.functions import FuncOp
from qrt.models.importing import graph as importing
from qrt.models.importing import variables
from qrt.models.importing.graph import Refusals
from qrt.models.importing.node import UnsupportedForm
from qrt.models.profiles import Profile
from qrt.models.tflite.model import Model, Operator, Subgraph, Tensor, type_of
from qrt.models.tflite.state import Handle, State, Variable
from qrt.ops.core import Array, element_dtype
from qrt.types import TensorType


class ImportContext(ABC):
    """Interface of the importer for its graphs: the module, the variables, and the unsupported operators."""

    def __init__(self, model: Model, profile: Profile, max_bytes: int = 2 << 30) -> None:
        self.model = model
        self.max_bytes = max_bytes
        self.result_bytes = 0
        self.profile = profile
        self.module = Module()
        self.refused = Refusals()
        self.state = State(self.module, {"main", *(signature.key for signature in model.signatures)})

    @abstractmethod
    def subgraph_function(self, index: int, handles: Mapping[int, Handle]) -> FuncOp:
        """Return the private function that computes a subgraph, for an operator that calls the subgraph.

        ``handles`` maps each input of the subgraph that is a resource handle to its variable. The function accesses
        these variables directly and has no arguments for the handles.
        """

    @abstractmethod
    def initialise(self, index: int) -> None:
        """Set initial values of variables to the constants that a subgraph of CALL_ONCE assigns to them."""


class Graph(importing.Graph):
    """A subgraph during import.

    The keys of the dictionaries are tensor indices: ``values`` has the IR values of tensors, ``folded`` the elements of
    tensors that were computed at import, and ``handles`` the variables that resource tensors refer to. The value of a
    complex64 tensor is its real parts; ``imaginary`` has its imaginary parts. ``is_initial`` is True for a subgraph of
    CALL_ONCE, which sets the initial values of variables.
    """

    def __init__(
        self,
        importer: ImportContext,
        subgraph: Subgraph,
        handles: Mapping[int, Handle] | None = None,
        is_initial: bool = False,
    ) -> None:
        super().__init__(importer.profile, importer.model.name, importer.max_bytes)
        self.importer = importer
        self.model = importer.model
        self.subgraph = subgraph
        self.values: dict[int, Value] = {}
        self.imaginary: dict[int, Value] = {}
        self.folded: dict[int, Array] = {}
        self.types: dict[int, TensorType] = {}
        self.handles = dict(handles or {})
        self.is_initial = is_initial

    # -- tensors ----------------------------------------------------------------------------------------------------

    def known(self, tensor: Tensor) -> Array | None:
        """Return the elements of a tensor that is constant or was computed at import; else None."""
        array = self.folded.get(tensor.index)
        return tensor.data if array is None else array

    def charge(self, op: Operator, kind: TensorType) -> None:
        """Add a result's bytes to the total of all results. Raise ModelError if the total exceeds the limit."""
        elements = prod(size for size in kind.shape or () if size is not None)
        self.importer.result_bytes += elements * element_dtype(kind.element).itemsize
        if self.importer.result_bytes > self.max_bytes:
            raise ModelError(
                f"{self.place(op)}: the results up to this one take more than {input_limit(self.max_bytes)}"
            )

    def type(self, tensor: Tensor) -> TensorType:
        """Return the type of a tensor. Before the tensor has a value, the shape is that in the file."""
        value = self.values.get(tensor.index)
        if value is not None and isinstance(value.type, TensorType):
            return value.type
        declared, array = self.declared(tensor), self.folded.get(tensor.index)
        return declared if array is None else TensorType(array.shape, declared.element)

    def declared(self, tensor: Tensor) -> TensorType:
        """Return the type of a tensor in the file. Raise UnsupportedForm for a dtype that has no type in IR."""
        tensor_type = self.types.get(tensor.index)
        if tensor_type is None:
            try:
                tensor_type = self.types[tensor.index] = type_of(tensor)
            except ModelError as error:
                raise UnsupportedForm(str(error)) from None
        return tensor_type

    def value(self, tensor: Tensor, op: Operator | None = None) -> Value:
        """Return the IR value of a tensor that the operator ``op`` reads.

        A constant is appended at its first use, and an `is_variable` tensor is loaded at each use. Raise ModelError if
        the tensor has not been computed yet.
        """
        value = self.values.get(tensor.index)
        if value is None and tensor.is_variable and op is not None:
            return self.load(op, self.variable(tensor), self.type(tensor))
        if value is None:
            array = self.known(tensor)
            if array is None:
                where = f"{self.model.name}: subgraph {self.subgraph.index}" if op is None else self.place(op)
                raise ModelError(f"{where}: tensor {tensor.name!r} is read before it is written")
            value = self.values[tensor.index] = self.constant(array, self.type(tensor).element, op)
        return value

    def variable(self, tensor: Tensor) -> Variable:
        """Return the variable that holds an `is_variable` tensor."""
        return self.importer.state.tensor(self.subgraph.index, tensor, self.type(tensor))

    def load(self, op: Operator, variable: Variable, declared: TensorType) -> Value:
        """Append a load of a variable and return its value as a tensor of the declared type."""
        variable.reader = self.place(op)
        self._require_type(op, variable, declared)
        stored = variables.load(self, op, variable.name, variable.type)
        if variable.type is declared:
            return stored
        return self.append(op, "quant.scast", [stored], [declared], {}).result

    def store(self, op: Operator, variable: Variable, value: Value) -> None:
        """Append a store of a value to a variable."""
        declared = value.type
        assert isinstance(declared, TensorType)
        self._require_type(op, variable, declared)
        variable.is_set = True
        if variable.type is not declared:
            value = self.append(op, "quant.scast", [value], [variable.type], {}).result
        variables.store(self, op, variable.name, value)

    def _require_type(self, op: Operator, variable: Variable, declared: TensorType) -> None:
        """Create the global of a variable with the type ``declared``. Raise ModelError if it has another type."""
        if not self.importer.state.declare(variable, declared):
            raise ModelError(
                f"{self.place(op)}: variable {shown(variable.name)} has the type {variable.type}, but is used here as "
                f"{declared.shown()}"
            )

    def handle(self, tensor: Tensor, op: Operator) -> Handle:
        """Return the (container, name) of the variable that a resource tensor refers to."""
        handle = self.handles.get(tensor.index)
        if handle is None:
            raise ModelError(
                f"{self.place(op)}: tensor {tensor.name!r} must be the handle of a variable (a result of "
                "VAR_HANDLE), but is not"
            )
        return handle

    # -- places -----------------------------------------------------------------------------------------------------

    def place(self, op: Operator) -> str:
        """Return a description of where an operator is in the file, for error messages."""
        return f"{self.model.name}: subgraph {self.subgraph.index}, operator {op.index} {op.name}"

    def _lines(self) -> list[str]:
        return [self._line(op) for op in self.subgraph.operators]

    def _line(self, op: Operator) -> str:
        inputs = ", ".join("none" if index < 0 else self.names[index] for index in op.inputs)
        return f"{op.name}({inputs}) -> {', '.join(self.names[index] for index in op.outputs)}"

    @cached_property
    def names(self) -> list[str]:
        """The names of the tensors. An empty or repeated name gets the tensor's index as a suffix: "x#7"."""
        seen: set[str] = set()
        names = []
        for tensor in self.subgraph.tensors:
            name = tensor.name
            if not name or name in seen:
                name = f"{name}#{tensor.index}"
            seen.add(name)
            names.append(name)
        return names
