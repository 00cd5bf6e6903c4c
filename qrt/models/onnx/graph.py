"""An ONNX graph during import: its tensors as values, and the context that all graphs of a model share."""

from collections.abc import Iterable, Mapping
from itertools import chain, count
from typing import NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from qrt.errors import ModelError
from qrt.ir import Module, Value
from qrt.models.importing import graph as importing
from qrt.models.importing.graph import Refusals
from qrt.models.onnx import model as description
from qrt.models.onnx.check import place_of
from qrt.models.onnx.exporting.operation_metadata import split_states
from qrt.models.onnx.folding import Fold, Folding, Group
from qrt.models.onnx.model import Model, Operator
from qrt.models.onnx.types import element_of, plain_of
from qrt.models.profiles import Profile
from qrt.ops.core import Array, element_dtype
from qrt.types import TensorType, Type, UniformType


class Constant(NamedTuple):
    """A tensor that is known at import: its elements as a NumPy array, and their plain type."""

    array: Array
    element: Type


class ImportContext:
    """The state of a model's import that its graphs share.

    Constants computed at import take at most ``max_bytes`` in total. ``given`` has values of inputs: an operator that
    must know an input at import takes its value from there, and ``fixed`` then includes the input's name. ``groups``
    are the folded groups of the main graph, and ``folds`` records the outcome for each operator beside casts.
    """

    def __init__(
        self, model: Model, profile: Profile, *, given: Mapping[str, Array] | None = None, max_bytes: int = 2 << 30
    ) -> None:
        self.model, self.states = split_states(model)
        self.profile = profile
        self.max_bytes = max_bytes
        self.module = Module()
        self.refused = Refusals()
        self.given = given or {}
        self.fixed: set[str] = set()
        self.computed: WeakValueDictionary[int, Array] = WeakValueDictionary()
        self.computed_bytes = 0
        self.folds: list[Fold] = []
        self.groups: list[Group] = []
        self.symbols = {"main"}

    def symbol(self, name: str) -> str:
        """Return an unused symbol name for a function of the module."""
        names = chain([name], (f"{name}_{n}" for n in count()))
        symbol = next(candidate for candidate in names if candidate not in self.symbols)
        self.symbols.add(symbol)
        return symbol


class Graph(importing.Graph):
    """A graph of a model.

    ``values`` has the values of computed tensors, ``constants`` the tensors that are known at import, ``sizes`` the
    elements of integer tensors of which some elements are known.
    """

    def __init__(
        self,
        importer: ImportContext,
        graph: description.ModelGraph,
        place: str | None = None,
        folding: Folding | None = None,
    ) -> None:
        super().__init__(importer.profile, place or importer.model.name, importer.max_bytes)
        self.importer = importer
        self.graph = graph
        self.folding = Folding(graph, folding)
        self.values: dict[str, Value] = {}
        self.constants: dict[str, Constant] = {
            name: Constant(tensor.data, element_of(tensor.dtype)) for name, tensor in graph.constants.items()
        }
        self.lost: set[str] = set()
        self.sizes: dict[str, tuple[int | Value, ...]] = {}
        self.ports = {port.name: port for port in graph.inputs}

    # -- tensors ----------------------------------------------------------------------------------------------------

    def known(self, name: str) -> Constant | None:
        """Return a tensor that is constant in the file or follows from constants, or None."""
        return self.constants.get(name)

    def required(self, name: str) -> Constant | None:
        """Return a tensor that an operator must know at import, or None.

        In contrast to `known`, an input that has a given value is known too; the value is then fixed.
        """
        constant = self.constants.get(name)
        if constant is None and name in self.importer.given and name in self.ports:
            self.importer.fixed.add(name)
            element = element_of(self.ports[name].dtype)
            return Constant(np.asarray(self.importer.given[name], element_dtype(element)), element)
        return constant

    def type(self, name: str) -> TensorType:
        """Return the type of a tensor."""
        value = self.values.get(name)
        if value is not None and isinstance(value.type, TensorType):
            return value.type
        constant = self.constants[name]
        return TensorType(constant.array.shape, constant.element)

    def value(self, name: str, op: Operator | None = None) -> Value:
        """Return the value of a tensor. The operation of a constant is created at its first use."""
        value = self.values.get(name)
        if value is None:
            known = self.constants[name]
            value = self.values[name] = self.constant(known.array, known.element, op)
        return value

    def plain(self, value: Value) -> Value:
        """Return a value in the file's type: the storage of a quantized value, other values unchanged."""
        kind = value.type
        assert isinstance(kind, TensorType)
        element = kind.element
        if not isinstance(element, UniformType):
            return value
        stored = self.append(None, "quant.scast", [value], [kind.with_(element=element.storage_type)], {}).result
        own = plain_of(element)
        if own is element.storage_type:
            return stored
        return self.append(None, "tensor.bitcast", [stored], [kind.with_(element=own)], {}).result

    # -- memory -----------------------------------------------------------------------------------------------------

    def charge(self, op: Operator, array: Array) -> None:
        """Count the memory of a computed constant. Raise ModelError if all of them take more than the limit.

        An array that shares memory with a counted one, or with the file, is not counted.
        """
        importer, owner = self.importer, array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if owner.base is not None or id(owner) in importer.computed:
            return
        importer.computed[id(owner)] = owner
        importer.computed_bytes += owner.nbytes
        if importer.computed_bytes > importer.max_bytes:
            raise ModelError(
                f"{self.place(op)}: the constants that are computed at import, up to this one, take more than"
                f" max_bytes (--max-input), {importer.max_bytes}"
            )

    # -- places -----------------------------------------------------------------------------------------------------

    def place(self, op: Operator) -> str:
        """Return the position of an operator in the file, for error messages."""
        return place_of(self.file, op)

    def _lines(self) -> Iterable[str]:
        return [
            f"{op.name}({', '.join(name or 'none' for name in op.inputs)}) -> {', '.join(op.outputs)}"
            for op in self.graph.operators
        ]
