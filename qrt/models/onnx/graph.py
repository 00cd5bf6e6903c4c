"""An ONNX graph during import: its tensors as values of the program, and the state that all graphs of a model share."""

from collections.abc import Iterable, Mapping
from itertools import chain, count
from typing import NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from qrt.errors import ModelError, input_limit
from qrt.ir import Module, Value
from qrt.models.importing import graph as importing
from qrt.models.importing.data_movement import constant_result
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
    """A tensor whose elements are known at import: a NumPy array, and the element type in the file."""

    array: Array
    element: Type


class ImportContext:
    """The state of a model's import that its main graph and its nested graphs share.

    Constants computed at import take at most ``max_bytes`` in total. ``given`` has arrays for inputs: an operator that
    must know an input at import takes its array from there, and the input's name is added to ``fixed``. ``groups`` are
    the groups of the main graph that were folded into quantized operators. ``folds`` records for each operator next to
    a QuantizeLinear or DequantizeLinear whether it was folded.
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
        """Return ``name`` as an unused symbol of the module, with a number appended if it is already used."""
        names = chain([name], (f"{name}_{n}" for n in count()))
        symbol = next(candidate for candidate in names if candidate not in self.symbols)
        self.symbols.add(symbol)
        return symbol


class Graph(importing.Graph):
    """A graph of a model during import.

    Four dicts have the names of tensors as keys:

    - ``values`` has the program's values of computed tensors.
    - ``constants`` has the elements and types of tensors that are known at import.
    - ``wide`` has float16 tensors that are rounded from a float32 tensor, and the name of this float32 tensor.
    - ``sizes`` has integer tensors of which some elements are known, and their elements.
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
        self.wide: dict[str, str] = {}
        self.lost: set[str] = set()
        self.sizes: dict[str, tuple[int | Value, ...]] = {}
        self.ports = {port.name: port for port in graph.inputs}

    # -- tensors ----------------------------------------------------------------------------------------------------

    def known(self, name: str) -> Constant | None:
        """Return the constant of a tensor that is an initializer or was computed from constants, or None."""
        return self.constants.get(name)

    def required(self, name: str) -> Constant | None:
        """Return the elements and type of a tensor that an operator must know at import, or None if they are not known.

        In contrast to `known`, this includes tensors that operations of qrt compute from constants, such as a
        dequantized constant. It also includes an input of the model for which the user gave an array. Such an input's
        name is added to ``fixed``, because the program is valid only for that array.
        """
        constant = self.constants.get(name)
        if constant is None and (value := self.values.get(name)) is not None and value.operation is not None:
            array = constant_result(value)
            if array is not None:
                assert isinstance(value.type, TensorType)
                return Constant(array, plain_of(value.type.element))
        if constant is None and name in self.importer.given and name in self.ports:
            self.importer.fixed.add(name)
            element = element_of(self.ports[name].dtype)
            return Constant(np.asarray(self.importer.given[name], element_dtype(element)), element)
        return constant

    def type(self, name: str) -> TensorType:
        """Return the type of a computed or constant tensor."""
        value = self.values.get(name)
        if value is not None and isinstance(value.type, TensorType):
            return value.type
        constant = self.constants[name]
        return TensorType(constant.array.shape, constant.element)

    def value(self, name: str, op: Operator | None = None) -> Value:
        """Return the value of a tensor. The operation of a constant is created when it is first used."""
        value = self.values.get(name)
        if value is None:
            known = self.constants[name]
            value = self.values[name] = self.constant(known.array, known.element, op)
        return value

    def plain(self, value: Value) -> Value:
        """Return a value with the element type of the file: a quantized value as its storage, others unchanged."""
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
        """Count the memory of a constant that was computed for ``op``.

        Raise ModelError if all such constants exceed ``max_bytes``. An array that shares memory with a counted array,
        or with the file, is not counted.
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
                f" {input_limit(importer.max_bytes)}"
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
