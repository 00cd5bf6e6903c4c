"""One operator of a TFLite file while it is imported: its operands as values, its results, fused activations."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.ir.core.traits import have_compatible_shapes
from qrt.models.importing import node as importing
from qrt.models.tflite.graph import Graph
from qrt.models.tflite.model import Operator, Tensor
from qrt.ops.core import Array
from qrt.types import FloatType, TensorType, Type, UniformType

ACTIVATIONS: dict[str, tuple[float, float | None]] = {
    "RELU": (0.0, None),
    "RELU6": (0.0, 6.0),
    "RELU_N1_TO_1": (-1.0, 1.0),
    "RELU_0_TO_1": (0.0, 1.0),
}
"""The least and the greatest value after a fused activation."""


class Node(importing.Node):
    """An operator of a graph.

    ``op`` is the operator as the file has it. ``inputs`` and ``outputs`` are its tensors, None for one that is left
    out; ``options`` are the fields of its options.
    """

    graph: Graph
    op: Operator

    def __init__(self, graph: Graph, op: Operator) -> None:
        self.graph = graph
        self.op = op
        tensors = graph.subgraph.tensors
        self.inputs: list[Tensor | None] = [None if index < 0 else tensors[index] for index in op.inputs]
        self.outputs: list[Tensor] = [tensors[index] for index in op.outputs]
        self.options: Mapping[str, Any] = op.options
        super().__init__()

    # -- operands ---------------------------------------------------------------------------------------------------

    def input(self, i: int) -> Tensor:
        """The tensor of an input that must be there."""
        if i >= len(self.inputs) or (found := self.inputs[i]) is None:
            self.fail(f"input {i} is missing")
        return found

    def has(self, i: int) -> bool:
        """Whether an input is there."""
        return i < len(self.inputs) and self.inputs[i] is not None

    def constant(self, i: int) -> Array | None:
        """The elements of an input that is known at import."""
        return self.graph.known(self.input(i))

    def integers(self, i: int, what: str) -> tuple[int, ...]:
        """The integers of an input that must be known at import, as ``what`` they are."""
        array = self.constant(i)
        if array is None:
            self.refuse(f"{what} known only at run time")
        if array.dtype.kind not in "iu":
            self.fail(f"{what} have the type {self.input(i).dtype}, expected integers")
        return tuple(int(value) for value in array.ravel())

    def value(self, i: int) -> Value:
        """An input as a value of the program."""
        return self.graph.value(self.input(i), self.op)

    def type(self, i: int) -> TensorType:
        """The type of an input."""
        return self.graph.type(self.input(i))

    def element(self, i: int) -> UniformType:
        """The quantized type of an input's elements."""
        return self._quantized(self.type(i).element, self.input(i))

    @property
    def is_float(self) -> bool:
        """Whether the first input is of float32."""
        return self.type(0).element is FloatType("f32")

    def result_type(self, i: int = 0) -> TensorType:
        """The type that the file gives an output. Its batch is open where the file leaves it open."""
        return self.graph.declared(self.outputs[i])

    def result_element(self, i: int = 0) -> UniformType:
        """The quantized type of an output's elements."""
        return self._quantized(self.result_type(i).element, self.outputs[i])

    def _quantized(self, element: Type, tensor: Tensor) -> UniformType:
        if not isinstance(element, UniformType):
            self.refuse(f"{tensor.dtype} without scales")
        return element

    # -- results ----------------------------------------------------------------------------------------------------

    def set(self, i: int, value: Value) -> None:
        """Says that a value is the output ``i``. The operation that makes it is given the tensor's name."""
        tensor = self.outputs[i]
        declared = self.result_type(i)
        if not isinstance(value.type, TensorType) or value.type.element is not declared.element:
            self.fail(f"the result is {value.type.shown()}, but tensor {tensor.name!r} is {declared.shown()}")
        if not have_compatible_shapes((value.type, declared)):  # the file's sizes bound the memory
            self.fail(f"the result is {value.type.shown()}, but tensor {tensor.name!r} is {declared.shown()}")
        self.graph.values[tensor.index] = self.named(value, self.graph.names[tensor.index])

    def set_constant(self, i: int, array: Array) -> None:
        """Says that the output ``i`` is known at import."""
        self.graph.folded[self.outputs[i].index] = array

    # -- rules ------------------------------------------------------------------------------------------------------

    def activate(self, value: Value, activation: str) -> Value:
        """The value after a fused activation. The kernel of the node's rule decides how the bounds are rounded."""
        if activation == "NONE":
            return value
        if activation not in ACTIVATIONS:
            self.refuse(f"fused {activation}")
        low, high = ACTIVATIONS[activation]
        element = value.type.element if isinstance(value.type, TensorType) else None
        assert isinstance(element, UniformType)  # floats have activations of their own
        least, greatest = self._stored_bounds(element, low, high)
        if (least, greatest) == (element.storage_min, element.storage_max):
            return value
        ends = {
            "min": None if least == element.storage_min else (least - element.zero_point) * element.scale,
            "max": None if greatest == element.storage_max else (greatest - element.zero_point) * element.scale,
        }
        return self.emit("qrt.clamp", [value], {name: end for name, end in ends.items() if end is not None})

    def _stored_bounds(self, element: UniformType, low: float, high: float | None) -> tuple[int, int]:
        """The storage of both bounds. The delegate adds the zero point in float32 and rounds once; builtin kernels
        round the quotient away from zero.
        """
        rounding = self.graph.profile.find("activation", kernel=self.kernel)
        scale, zero = np.float32(element.scale), element.zero_point

        def stored(bound: float) -> int:
            quotient = np.clip(np.float32(bound) / scale, -(2.0**40), 2.0**40)  # of the least scales it is infinite
            if rounding is not None and rounding.rule == "half_even":
                found = int(np.rint(quotient + np.float32(zero)))
            else:
                found = zero + int(np.trunc(quotient + np.copysign(np.float32(0.5), quotient)))
            return min(max(found, element.storage_min), element.storage_max)

        return stored(low), element.storage_max if high is None else stored(high)
