"""An operator of a TFLite file during import: access to its operands, results and fused activation."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from qrt.errors import shown
from qrt.ir import Value
from qrt.models.importing import node as importing
from qrt.models.profiles import Profile
from qrt.models.tflite.graph import Graph
from qrt.models.tflite.model import Operator, Tensor
from qrt.models.tflite.read import numpy_dtype
from qrt.ops.core import Array
from qrt.types import FloatType, TensorType, Type, UniformType

ACTIVATIONS: dict[str, tuple[float, float | None]] = {
    "RELU": (0.0, None),
    "RELU6": (0.0, 6.0),
    "RELU_N1_TO_1": (-1.0, 1.0),
    "RELU_0_TO_1": (0.0, 1.0),
}
"""The bounds of the values after each fused activation."""

_WEIGHTS = {
    "BATCH_MATMUL": (1,), "CONV_2D": (1, 2), "DEPTHWISE_CONV_2D": (1, 2), "FULLY_CONNECTED": (1, 2),
    "TRANSPOSE_CONV": (1, 3),
}  # fmt: skip
"""The inputs whose single scale may have any quantized_dimension in XNNPACK."""


class Node(importing.Node):
    """An operator of a TFLite file during import.

    ``op`` is the operator in the file. ``inputs`` and ``outputs`` are its tensors; an absent input is None. ``options``
    has the fields of its options table.
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
        """Return the tensor of input ``i``. Raise ModelError if the operator does not have it."""
        if i >= len(self.inputs) or (tensor := self.inputs[i]) is None:
            self.fail(f"input {i} is required, but missing")
        return tensor

    def has(self, i: int) -> bool:
        """Return True if the operator has input ``i``."""
        return i < len(self.inputs) and self.inputs[i] is not None

    def constant(self, i: int) -> Array | None:
        """Return the elements of input ``i`` if it is constant or computed from constants; else None."""
        return self.graph.known(self.input(i))

    def integers(self, i: int, description: str) -> tuple[int, ...]:
        """Return the elements of an integer input. Raise UnsupportedForm if they are known only at run time.

        ``description``, such as "axes", is for error messages.
        """
        array = self.constant(i)
        if array is None:
            self.refuse(f"{description} known only at run time")
        if array.dtype.kind not in "iu":
            self.fail(f"{description} (input {i}) must be integers, got {self.input(i).dtype}")
        return tuple(int(value) for value in array.ravel())

    def value(self, i: int) -> Value:
        """Return input ``i`` as a value of the program."""
        return self.graph.value(self.input(i), self.op)

    def type(self, i: int) -> TensorType:
        """Return the type of input ``i``."""
        return self.graph.type(self.input(i))

    def element(self, i: int) -> UniformType:
        """Return the quantized element type of input ``i``. Raise UnsupportedForm if the input has no scales."""
        return self._quantized(self.type(i).element, self.input(i))

    @property
    def is_float(self) -> bool:
        """True if input 0 is float32."""
        return self.type(0).element is FloatType("f32")

    def result_type(self, i: int = 0) -> TensorType:
        """Return the type that output ``i`` has in the file."""
        return self.graph.declared(self.outputs[i])

    def result_element(self, i: int = 0) -> UniformType:
        """Return the quantized element type of output ``i``. Raise UnsupportedForm if the output has no scales."""
        return self._quantized(self.result_type(i).element, self.outputs[i])

    def _quantized(self, element: Type, tensor: Tensor) -> UniformType:
        if not isinstance(element, UniformType):
            others = [other for other in (*self.inputs, *self.outputs) if other is not None and other.quantization]
            beside = ", ".join(dict.fromkeys(other.dtype for other in others))
            self.refuse(f"{tensor.dtype} without scales{f' beside {beside} with scales' if beside else ''}")
        return element

    # -- results ----------------------------------------------------------------------------------------------------

    def set(self, i: int, value: Value) -> None:
        """Set output ``i`` to a value, and name its operation after the tensor.

        Raise ModelError if the element type differs from the file's. The shape may differ, because the file's shapes of
        results are not reliable: runtimes compute them again.
        """
        tensor = self.outputs[i]
        declared = self.result_type(i)
        if not isinstance(value.type, TensorType) or value.type.element is not declared.element:
            self.fail(
                f"the result has the type {value.type.shown()}, but the file declares tensor {tensor.name!r} as "
                f"{declared.shown()}"
            )
        if self.kernel == "delegate" and 0 in (declared.shape or ()) and 0 not in (value.type.shape or ()):
            name, shape = shown(tensor.name), list(declared.shape or ())
            self.refuse(f"the result {name} declared as {shape}, with which LiteRT does not use XNNPACK")
        self.graph.charge(self.op, value.type)
        if tensor.dtype != "complex64":  # its value is only half of the tensor
            value = self.named(value, self.graph.names[tensor.index])
        self.graph.values[tensor.index] = value

    def set_constant(self, i: int, array: Array) -> None:
        """Set output ``i`` to elements that were computed at import.

        Signed integers become unsigned, and the reverse, if the file declares the output so. Raise ModelError if it
        declares another dtype.
        """
        tensor, given = self.outputs[i], array.dtype
        declared = numpy_dtype(tensor.dtype)
        is_sign = {given.kind, declared.kind} == {"i", "u"} and given.itemsize == declared.itemsize
        if given != declared and not is_sign:
            self.fail(f"the result is of {given}, but the file declares tensor {tensor.name!r} as {tensor.dtype}")
        self.graph.folded[tensor.index] = np.asarray(array, order="C").view(declared)

    # -- rules ------------------------------------------------------------------------------------------------------

    @cached_property
    def tensor_beside_axis_0(self) -> Tensor | None:
        """The first tensor that makes LiteRT compute the operator without XNNPACK, or None.

        It is an 8-bit tensor with a single scale and a quantized_dimension other than 0. Weights do not count, because
        XNNPACK does not check their quantized_dimension. The result is None for a profile without XNNPACK.
        """
        if len(self.graph.profile.rows) == len(self.graph.profile.without_delegate.rows):
            return None
        weights = _WEIGHTS.get(self.op.name, ())
        tensors = [*(tensor for i, tensor in enumerate(self.inputs) if i not in weights), *self.outputs]
        return next((tensor for tensor in tensors if tensor is not None and _is_beside_axis_0(tensor)), None)

    @property
    def profile(self) -> Profile:
        return self.graph.profile if self.tensor_beside_axis_0 is None else self.graph.profile.without_delegate

    def rule(self, op: str, /, **facts: Any) -> str:
        tensor = self.tensor_beside_axis_0
        if tensor is not None and self.profile.find(op, **facts) is None and self.graph.profile.find(op, **facts):
            self.refuse_beside_axis_0(tensor)
        return super().rule(op, **facts)

    def refuse_beside_axis_0(self, tensor: Tensor) -> NoReturn:
        """Raise UnsupportedForm for a tensor with a single scale and a quantized_dimension other than 0."""
        axis = 0 if tensor.quantization is None else tensor.quantization.axis
        self.refuse(
            f"{shown(tensor.name)} of one scale with quantized_dimension {axis}, for which LiteRT does not use "
            "XNNPACK; write 0"
        )

    def activate(self, value: Value, activation: str) -> Value:
        """Append a `qrt.clamp` for a fused activation such as "RELU6", if it has an effect, and return the result.

        The bounds are rounded to storage as in the kernel that computes the operator in the runtime.
        """
        if activation == "NONE":
            return value
        if activation not in ACTIVATIONS:
            self.refuse(f"fused {activation}")
        low, high = ACTIVATIONS[activation]
        element = value.type.element if isinstance(value.type, TensorType) else None
        assert isinstance(element, UniformType)  # activations of floats are not imported here
        least, greatest = self._stored_bounds(element, low, high)
        if (least, greatest) == (element.storage_min, element.storage_max):
            return value
        ends = {
            "min": None if least == element.storage_min else (least - element.zero_point) * element.scale,
            "max": None if greatest == element.storage_max else (greatest - element.zero_point) * element.scale,
        }
        return self.emit("qrt.clamp", [value], {name: end for name, end in ends.items() if end is not None})

    def _stored_bounds(self, element: UniformType, low: float, high: float | None) -> tuple[int, int]:
        """Return an activation's bounds as storage values, clipped to the storage's range.

        A delegate's kernel rounds ``bound / scale + zero_point`` in float32. A builtin kernel rounds ``bound / scale``
        half away from zero and then adds the zero point.
        """
        rounding = self.graph.profile.find("activation", kernel=self.kernel)
        scale, zero = np.float32(element.scale), element.zero_point

        def stored(bound: float) -> int:
            quotient = np.clip(np.float32(bound) / scale, -(2.0**40), 2.0**40)  # infinite for the smallest scales
            if rounding is not None and rounding.rule == "half_even":
                storage = int(np.rint(quotient + np.float32(zero)))
            else:
                storage = zero + int(np.trunc(quotient + np.copysign(np.float32(0.5), quotient)))
            return min(max(storage, element.storage_min), element.storage_max)

        return stored(low), element.storage_max if high is None else stored(high)


def _is_beside_axis_0(tensor: Tensor) -> bool:
    quantization = tensor.quantization
    is_byte = tensor.dtype in ("int8", "uint8")
    return is_byte and quantization is not None and len(quantization.scales) == 1 and quantization.axis != 0
