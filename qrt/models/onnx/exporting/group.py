"""The ONNX nodes that compute one operation of a program, and the tensors that they read and compute."""

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
    """An operation of the program during export, and the ONNX nodes that compute it.

    ``name`` is the name of the node to which the metadata of the operation belongs. ``clamp`` is a `qrt.clamp` of the
    result that the nodes compute too, or None.

    For a quantized operand, `stored` returns a tensor of its storage, and `real` a dequantized tensor. For a quantized
    result, `set_stored` takes a tensor of storage, and `set_real` a tensor of floats, which it quantizes. For float
    operands and results, both methods use the floats. An ``order`` lists, for each axis of a tensor, the axis of the
    program's value, or None for an additional axis of size 1. Without ``order``, the axes are those of the program.
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
        """The operation's family in `qrt.ops`, or None for an operation of another dialect."""
        return family_of(self.op)

    @cached_property
    def attributes(self) -> Mapping[str, Any]:
        """The operation's attributes, including the defaults of its family."""
        return _attributes_of(self.op)

    def _operand_name(self, i: int) -> str:
        return f"operand{i}" if self.family is None else self.family.declaration.operand_name(i)

    @property
    def count(self) -> int:
        """The number of the operation's operands."""
        return len(self.op.operands)

    def operand(self, i: int) -> ExportedValue:
        """Return operand ``i``."""
        return self.graph.exported(self.op.operands[i])

    def result(self, i: int = 0) -> ExportedValue:
        """Return result ``i``, after the clamp if there is one. It has no tensors before `set_stored` or `set_real`."""
        return self.graph.exported((self.clamp or self.op).results[i])

    def is_real(self, i: int) -> bool:
        """Return True if operand ``i`` has float elements."""
        return isinstance(self.operand(i).type.element, FloatType)

    def refuse(self, form: str) -> NoReturn:
        """Raise UnsupportedForm: ONNX has no equivalent of the operation in this form."""
        raise UnsupportedForm(form)

    # -- operands ---------------------------------------------------------------------------------------------------

    def stored(self, i: int, order: Order | None = None) -> str:
        """Return the name of a tensor of operand ``i``, as storage if it is quantized, with its axes in ``order``."""
        operand = self.operand(i)
        order = operand.canonical if order is None else order
        name = self.graph.tensor(operand, order, f"{self.name}/{self._operand_name(i)}")
        self.reads[i] = name, order
        return name

    def real(self, i: int, order: Order | None = None) -> str:
        """Return the name of a tensor of operand ``i``, dequantized if it is quantized, with its axes in ``order``."""
        operand = self.operand(i)
        if order is not None and None in order and operand.array is None:
            return self._spread(i, order)
        name, element = self.stored(i, order), operand.type.element
        if isinstance(element, FloatType | IntegerType):
            return name
        if not isinstance(element, UniformType):
            self.refuse(f"a tensor of {element}")
        return self.dequantized(name, operand, operand.canonical if order is None else order)

    def _spread(self, i: int, order: Order) -> str:
        """Add a Reshape of operand ``i`` that inserts the axes of size 1 in ``order``, and return its result's name."""
        operand, axes = self.operand(i), [axis for axis in order if axis is not None]
        if axes != list(operand.canonical) or operand.shape.count(None) > 1:
            self.refuse("a computed operand with new axes")
        sizes = [1 if axis is None else operand.shape[axis] for axis in order]
        shape = self.integers([-1 if size is None else size for size in sizes], "shape")
        return self.node("Reshape", self.real(i), shape, is_part=True)

    def dequantized(self, name: str, exported: ExportedValue, order: Order) -> str:
        """Add a DequantizeLinear of the storage in the tensor ``name``, and return the name of its result."""
        element = exported.type.element
        assert isinstance(element, UniformType)
        given = parameters_of(element, exported.shape, order)
        self.graph.need(given.opset)
        return self.node("DequantizeLinear", name, *self._parameters(element, order, exported), is_part=True)

    def _parameters(self, element: UniformType, order: Order, exported: ExportedValue) -> tuple[str, ...]:
        given = parameters_of(element, exported.shape, order)
        self._form = {
            key: value for key, value in (("axis", given.axis), ("block_size", given.block_size)) if value is not None
        }
        key = element, order if not element.is_per_layer else ()
        scales = self.graph.shared((*key, "scale"), given.scales, "scale")
        if given.zero_points is None:
            return (scales,)
        kind = exported.data_type
        return scales, self.graph.shared((*key, "zero_point"), given.zero_points, "zero_point", kind)

    def common_order(self) -> Order:
        """Return the order of axes for an elementwise operator on all operands.

        If an operand was computed as a tensor with other axes than in the program, the result is the order of this
        tensor, which saves a Transpose. The other operands must have the same rank or be constant. In all other cases
        the result is the program's order.
        """
        operands = [self.operand(i) for i in range(self.count)]
        rank = max(operand.rank for operand in operands)
        whole = tuple(range(rank))
        for operand in operands:
            if (
                operand.rank == rank
                and operand.array is None
                and operand.names
                and operand.canonical not in operand.names
            ):
                order = next(iter(operand.names))
                if None not in order and all(other.rank == rank or other.array is not None for other in operands):
                    return order
        return whole

    def broadcast(self, i: int, order: Order) -> str:
        """Return the name of a tensor with operand ``i`` that broadcasts to tensors whose axes are in ``order``.

        A quantized operand is dequantized.
        """
        operand, rank = self.operand(i), len(order)
        missing = rank - operand.rank
        own = tuple(None if axis is None or axis < missing else axis - missing for axis in order)
        if order == tuple(range(rank)):  # trailing axes broadcast without a Reshape
            return self.real(i)
        return self.real(i, own if missing else order)

    # -- nodes ------------------------------------------------------------------------------------------------------

    def node(self, op_type: str, *inputs: str, is_part: bool = False, **attributes: Any) -> str:
        """Add a node, and return the name of its output.

        The first node without ``is_part`` gets the group's name. ``is_part`` marks auxiliary nodes, such as casts.
        """
        return self.nodes(op_type, inputs, 1, is_part, **attributes)[0]

    def nodes(
        self, op_type: str, inputs: Sequence[str], outputs: int, is_part: bool = False, **attributes: Any
    ) -> list[str]:
        """Add a node with the given number of ``outputs``, and return their names."""
        if op_type in ("DequantizeLinear", "QuantizeLinear"):
            attributes |= self._form
        if is_part or self._is_named:
            name = self.graph.nodes.fresh(f"{self.name}/{op_type}")
        else:
            name, self._is_named = self.name, True
        names = [self.graph.tensors.fresh(f"{self.name}/{op_type}") for _ in range(outputs)]
        self.graph.add(op_type, name, inputs, names, attributes)
        return names

    def constant(self, array: Array, hint: str) -> str:
        """Add an initializer with the elements of an array, and return its name."""
        return self.graph.initializer(array, f"{self.name}/{hint}")

    def integers(self, values: Sequence[int], hint: str) -> str:
        """Add an initializer with a list of int64, and return its name."""
        return self.constant(np.array(values, np.int64), hint)

    def floats(self, value: float, hint: str) -> str:
        """Add an initializer with a single float32, and return its name."""
        return self.constant(np.array(value, np.float32), hint)

    def close(self) -> None:
        """Give the group's name to its last node, if all of its nodes were added with ``is_part``."""
        if not self._is_named and len(self.graph.written) > self._first:
            self.graph.written[-1].name = self.name

    # -- results ----------------------------------------------------------------------------------------------------

    def set_stored(self, name: str, order: Order | None = None, i: int = 0) -> None:
        """Set result ``i`` to the tensor ``name``, whose axes are in ``order``.

        For a quantized result, the tensor contains the storage.
        """
        result = self.result(i)
        order = result.canonical if order is None else order
        named = self.graph.tensors.fresh(self.graph.result_hint(self.clamp or self.op, i))
        self.graph.rename_last(name, named)
        result.names[order] = named
        self.writes[i] = named, order

    def set_real(self, name: str, order: Order | None = None, i: int = 0) -> None:
        """Set result ``i`` to the tensor ``name`` of floats with axes in ``order``.

        The group's clamp clips the floats, and a QuantizeLinear quantizes them if the result is quantized.
        """
        result = self.result(i)
        element = result.type.element
        order = result.canonical if order is None else order
        if self.clamp is not None:
            name = self.clipped(name, self.clamp)
        if isinstance(element, UniformType):
            name = self.quantized(name, result, order)
        self.set_stored(name, order, i)

    def quantized(self, name: str, exported: ExportedValue, order: Order) -> str:
        """Add a QuantizeLinear of the floats in the tensor ``name``, and return the name of its result.

        If the quantized type has narrower bounds than its storage type, such as -127 to 127 for int8, add a Clip first.
        """
        element = exported.type.element
        assert isinstance(element, UniformType)
        if element.storage_width == 32:
            self.refuse("a result with 32-bit storage")
        if not element.has_default_bounds:
            name = self._bounded(name, element, exported, order)
        given = parameters_of(element, exported.shape, order)
        self.graph.need(given.opset)
        return self.node("QuantizeLinear", name, *self._parameters(element, order, exported), is_part=True)

    def _bounded(self, name: str, element: UniformType, exported: ExportedValue, order: Order) -> str:
        """Add a Clip of floats to the storage bounds of a quantized type, and return the name of its result."""
        if not element.is_per_layer:
            self.refuse("narrow storage bounds with a scale for each channel")
        return self._clip(name, element, element.storage_min, element.storage_max)

    def clipped(self, name: str, clamp: Operation) -> str:
        """Add a Clip of floats to the bounds of a clamp. For a quantized type, a bound is first rounded to storage."""
        element, attributes = self.graph.exported(clamp.operands[0]).type.element, _attributes_of(clamp)
        if not isinstance(element, UniformType):
            return self._within(name, attributes["min"], attributes["max"])
        low, high = stored_bounds(element, attributes)
        if not element.is_per_layer:
            self.refuse("a clamp with a scale for each channel")
        return self._clip(name, element, int(low[0]), int(high[0]))

    def clipped_storage(self, name: str, clamp: Operation) -> str:
        """Add a Clip to the bounds of a clamp. The tensor ``name`` has storage integers, converted to floats."""
        element = self.graph.exported(clamp.operands[0]).type.element
        assert isinstance(element, UniformType)  # only clamps of quantized values become part of a group
        low, high = stored_bounds(element, _attributes_of(clamp))
        return self._within(name, float(low[0]), float(high[0]))

    def clamped(self, stored: Array) -> Array:
        """Clip an array of the result's storage to the bounds of the group's clamp, if there is one."""
        element = self.result().type.element
        if self.clamp is None or not isinstance(element, UniformType):
            return stored
        (low, *_), (high, *_) = stored_bounds(element, _attributes_of(self.clamp))
        return np.clip(stored, low, high)

    def _clip(self, name: str, element: UniformType, least: int, greatest: int) -> str:
        """Add a Clip of floats to the numbers that the storage integers ``least`` and ``greatest`` represent.

        A bound equal to that of the integer type is left out, because the quantization clamps to it anyway.
        """
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
    family = family_of(op)
    return {} if family is None else family.read(op.attributes)
