"""The nodes of one op while they are written: what the op reads, in ONNX's order of axes, and what it gives."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from qrt.ir import Operation
from qrt.models.importing.node import UnsupportedForm
from qrt.models.onnx.exporting.exported_value import ExportedValue, Order
from qrt.models.onnx.exporting.parameters import parameters_of
from qrt.ops import family_of
from qrt.ops.clamp import stored_bounds
from qrt.ops.core import Array, OpFamily
from qrt.types import FloatType, IntegerType, UniformType

if TYPE_CHECKING:
    from qrt.models.onnx.exporting.graph import ExportGraph


class Group:
    """An op of the program, and the nodes that compute it.

    ``name`` is that of the node which stands for the op. Operands are taken as ``stored`` tensors, or as ``real`` ones
    behind a DequantizeLinear; results are given as ``set_stored``, or as ``set_real`` before a QuantizeLinear.
    """

    def __init__(self, graph: "ExportGraph", op: Operation, clamp: Operation | None = None) -> None:
        self.graph = graph
        self.op = op
        self.clamp = clamp
        self.opset = graph.opset
        self.name = graph.nodes.fresh(op.name.rpartition(".")[2])
        self._first = len(graph.written)
        self.reads: dict[int, tuple[str, Order]] = {}
        self.inline: dict[int, list[int]] = {}
        self.writes: dict[int, tuple[str, Order]] = {}
        self._form: dict[str, int] = {}
        self._is_named = False

    # -- the op -----------------------------------------------------------------------------------------------------

    @cached_property
    def family(self) -> OpFamily | None:
        """The op's family, None for an op of another dialect."""
        return family_of(self.op)

    @cached_property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes with the defaults of the family."""
        return _attributes_of(self.op)

    def _operand_name(self, i: int) -> str:
        return f"operand{i}" if self.family is None else self.family.declaration.operand_name(i)

    @property
    def count(self) -> int:
        """The number of operands."""
        return len(self.op.operands)

    def operand(self, i: int) -> ExportedValue:
        """An operand."""
        return self.graph.held(self.op.operands[i])

    def result(self, i: int = 0) -> ExportedValue:
        """A result, whose tensors are still to come."""
        return self.graph.held((self.clamp or self.op).results[i])

    def is_real(self, i: int) -> bool:
        """Whether an operand is of floats."""
        return isinstance(self.operand(i).type.element, FloatType)

    def refuse(self, form: str) -> NoReturn:
        """Says that ONNX cannot say the op in this form."""
        raise UnsupportedForm(form)

    # -- operands ---------------------------------------------------------------------------------------------------

    def stored(self, i: int, order: Order | None = None) -> str:
        """The tensor of an operand's storage, or of its floats, with its axes in an order."""
        held = self.operand(i)
        order = held.canonical if order is None else order
        name = self.graph.tensor(held, order, f"{self.name}/{self._operand_name(i)}")
        self.reads[i] = name, order
        return name

    def real(self, i: int, order: Order | None = None) -> str:
        """The tensor of an operand's values: floats, or what DequantizeLinear makes of its storage."""
        held = self.operand(i)
        if order is not None and None in order and held.array is None:
            return self._spread(i, order)
        name, element = self.stored(i, order), held.type.element
        if isinstance(element, FloatType | IntegerType):
            return name
        if not isinstance(element, UniformType):
            self.refuse(f"a tensor of {element}")
        return self.dequantized(name, held, held.canonical if order is None else order)

    def _spread(self, i: int, order: Order) -> str:
        """The values of a computed operand with further axes of size 1."""
        held, axes = self.operand(i), [axis for axis in order if axis is not None]
        if axes != list(held.canonical) or held.shape.count(None) > 1:
            self.refuse("a computed operand with new axes")
        sizes = [1 if axis is None else held.shape[axis] for axis in order]
        shape = self.integers([-1 if size is None else size for size in sizes], "shape")
        return self.node("Reshape", self.real(i), shape, is_part=True)

    def dequantized(self, name: str, held: ExportedValue, order: Order) -> str:
        """What DequantizeLinear makes of a tensor of storage."""
        element = held.type.element
        assert isinstance(element, UniformType)
        given = parameters_of(element, held.shape, order)
        self.graph.need(given.opset)
        return self.node("DequantizeLinear", name, *self._parameters(element, order, held), is_part=True)

    def _parameters(self, element: UniformType, order: Order, held: ExportedValue) -> tuple[str, ...]:
        given = parameters_of(element, held.shape, order)
        self._form = {
            key: value for key, value in (("axis", given.axis), ("block_size", given.block_size)) if value is not None
        }
        key = element, order if not element.is_per_layer else ()
        scales = self.graph.shared((*key, "scale"), given.scales, "scale")
        if given.zero_points is None:
            return (scales,)
        kind = held.data_type
        return scales, self.graph.shared((*key, "zero_point"), given.zero_points, "zero_point", kind)

    def common_order(self) -> Order:
        """The order in which element by element the operands meet: the program's, unless one has another order alone
        and all have its rank or are constant.
        """
        operands = [self.operand(i) for i in range(self.count)]
        rank = max(held.rank for held in operands)
        whole = tuple(range(rank))
        for held in operands:
            if held.rank == rank and held.array is None and held.names and held.canonical not in held.names:
                order = next(iter(held.names))
                if None not in order and all(other.rank == rank or other.array is not None for other in operands):
                    return order
        return whole

    def broadcast(self, i: int, order: Order) -> str:
        """The values of an operand that is broadcast against tensors whose axes are in an order."""
        held, rank = self.operand(i), len(order)
        missing = rank - held.rank
        own = tuple(None if axis is None or axis < missing else axis - missing for axis in order)
        if order == tuple(range(rank)):  # trailing axes meet as they are
            return self.real(i)
        return self.real(i, own if missing else order)

    # -- nodes ------------------------------------------------------------------------------------------------------

    def node(self, op_type: str, *inputs: str, is_part: bool = False, **attributes: Any) -> str:
        """The first output of a new node. The first that is no ``is_part`` has the group's name."""
        return self.nodes(op_type, inputs, 1, is_part, **attributes)[0]

    def nodes(
        self, op_type: str, inputs: Sequence[str], outputs: int, is_part: bool = False, **attributes: Any
    ) -> list[str]:
        """The outputs of a new node."""
        if op_type in ("DequantizeLinear", "QuantizeLinear"):
            attributes |= self._form
        if is_part or self._is_named:
            name = self.graph.nodes.fresh(f"{self.name}/{op_type}")
        else:
            name, self._is_named = self.name, True
        made = [self.graph.tensors.fresh(f"{self.name}/{op_type}") for _ in range(outputs)]
        self.graph.add(op_type, name, inputs, made, attributes)
        return made

    def constant(self, array: Array, hint: str) -> str:
        """The name of a tensor that the model holds."""
        return self.graph.initializer(array, f"{self.name}/{hint}")

    def integers(self, values: Sequence[int], hint: str) -> str:
        """The name of a list of 64-bit integers."""
        return self.constant(np.array(values, np.int64), hint)

    def floats(self, value: float, hint: str) -> str:
        """The name of a single float32."""
        return self.constant(np.array(value, np.float32), hint)

    def close(self) -> None:
        """Gives the last node the group's name where all are parts."""
        if not self._is_named and len(self.graph.written) > self._first:
            self.graph.written[-1].name = self.name

    # -- results ----------------------------------------------------------------------------------------------------

    def set_stored(self, name: str, order: Order | None = None, i: int = 0) -> None:
        """Says which tensor holds a result: its storage, or its floats."""
        held = self.result(i)
        order = held.canonical if order is None else order
        named = self.graph.tensors.fresh(self.graph.result_hint(self.clamp or self.op, i))
        self.graph.rename_last(name, named)
        held.names[order] = named
        self.writes[i] = named, order

    def set_real(self, name: str, order: Order | None = None, i: int = 0) -> None:
        """Says which tensor holds the values of a result. A QuantizeLinear makes storage of them."""
        held = self.result(i)
        element = held.type.element
        order = held.canonical if order is None else order
        if self.clamp is not None:
            name = self.clipped(name, self.clamp)
        if isinstance(element, UniformType):
            name = self.quantized(name, held, order)
        self.set_stored(name, order, i)

    def quantized(self, name: str, held: ExportedValue, order: Order) -> str:
        """What QuantizeLinear makes of floats."""
        element = held.type.element
        assert isinstance(element, UniformType)
        if element.storage_width == 32:
            self.refuse("a result with 32-bit storage")
        if not element.has_default_bounds:
            name = self._bounded(name, element, held, order)
        given = parameters_of(element, held.shape, order)
        self.graph.need(given.opset)
        return self.node("QuantizeLinear", name, *self._parameters(element, order, held), is_part=True)

    def _bounded(self, name: str, element: UniformType, held: ExportedValue, order: Order) -> str:
        """Storage whose bounds are narrower than its type: the values are clipped first."""
        if not element.is_per_layer:
            self.refuse("narrow storage bounds with a scale for each channel")
        return self._clip(name, element, element.storage_min, element.storage_max)

    def clipped(self, name: str, clamp: Operation) -> str:
        """Values after a clamp, whose bounds become those of the codes that it keeps."""
        element, attributes = self.graph.held(clamp.operands[0]).type.element, _attributes_of(clamp)
        if not isinstance(element, UniformType):
            return self._within(name, attributes["min"], attributes["max"])
        low, high = stored_bounds(element, attributes)
        if not element.is_per_layer:
            self.refuse("a clamp with a scale for each channel")
        return self._clip(name, element, int(low[0]), int(high[0]))

    def clipped_storage(self, name: str, clamp: Operation) -> str:
        """Storage as floats after a clamp."""
        element = self.graph.held(clamp.operands[0]).type.element
        assert isinstance(element, UniformType)  # only such clamps become part of a group
        low, high = stored_bounds(element, _attributes_of(clamp))
        return self._within(name, float(low[0]), float(high[0]))

    def clamped(self, stored: Array) -> Array:
        """Storage of the result after the clamp that is part of the group, if there is one."""
        element = self.result().type.element
        if self.clamp is None or not isinstance(element, UniformType):
            return stored
        (low, *_), (high, *_) = stored_bounds(element, _attributes_of(self.clamp))
        return np.clip(stored, low, high)

    def _clip(self, name: str, element: UniformType, least: int, greatest: int) -> str:
        """Relu or Clip, to the values of two codes. A bound that the storage has itself is left out."""
        low, high = (
            None if code == bound else (code - element.zero_point) * element.scale
            for code, bound in zip((least, greatest), element.default_bounds, strict=True)
        )
        return self._within(name, low, high)

    def _within(self, name: str, low: float | None, high: float | None) -> str:
        if (low, high) == (0, None):
            return self.node("Relu", name)
        return self.node(
            "Clip",
            name,
            "" if low is None else self.floats(low, "least"),
            *([] if high is None else [self.floats(high, "greatest")]),
        )


def _attributes_of(op: Operation) -> dict[str, Any]:
    """Return the attributes that the family of an op declares, with the defaults."""
    family = family_of(op)
    return {} if family is None else family.read(op.attributes)
