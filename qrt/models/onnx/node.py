"""A node of an ONNX file during import: its attributes, its operands and its results."""

from typing import TypeVar

import numpy as np

from qrt.errors import ModelError, QuantError, shown
from qrt.ir import Value
from qrt.models.importing import node as importing
from qrt.models.importing.data_movement import axis_of
from qrt.models.onnx.graph import Constant, Graph
from qrt.models.onnx.model import ABSENT, ModelGraph, Operator, Tensor
from qrt.models.onnx.types import dtype_of, element_of, plain_of
from qrt.ops.core import Array, element_dtype
from qrt.types import IntegerType, TensorType, Type, UniformType

FLAGS = frozenset(
    {
        "align_corners", "allowzero", "antialias", "causal", "ceil_mode", "channels_last", "count_include_pad",
        "detect_negative", "detect_positive", "do_rotary", "exclude_outside", "exclusive", "fmod",
        "input_forget", "interleaved", "inverse", "is_causal", "is_packed_batching", "is_test", "keepdims",
        "largest", "layout", "linear_before_reset", "noop_with_empty_axes", "onesided", "output_sequence",
        "past_present_share_buffer", "periodic", "reverse", "rotary_interleaved", "saturate",
        "select_last_index", "smooth_softmax", "sorted", "spatial", "storage_order", "training_mode", "transA",
        "transB", "unidirectional", "upper",
    }
)  # fmt: skip
"""The boolean attributes of operators. Runtimes disagree on the meaning of numbers other than 0 and 1."""
_T = TypeVar("_T")
Shape = tuple[int | None, ...]


class Node(importing.Node):
    """A node of an ONNX graph during import.

    ``op`` has the node's contents in the file: its operator type, names of tensors, and attributes. Inputs and outputs
    are counted from 0.
    """

    graph: Graph
    op: Operator

    def __init__(self, graph: Graph, op: Operator) -> None:
        super().__init__()
        self.graph = graph
        self.op = op
        self.opset = op.opset

    # -- attributes -------------------------------------------------------------------------------------------------

    def attribute(self, name: str, default: _T) -> _T:
        """Return an attribute, or ``default`` if it is missing. Raise ModelError if its type differs from the default.

        The type is an integer, a float, a text, or a tuple of integers.
        """
        value = self.op.attributes.get(name, default)
        kind = type(default)
        if kind is float and isinstance(value, int):
            value = float(value)
        if not isinstance(value, kind):
            self.fail(f"attribute '{name}' must be {_KINDS.get(kind, kind.__name__)}, got {attribute_text(value)}")
        if isinstance(value, tuple) and any(not isinstance(element, int) for element in value):
            self.fail(f"attribute '{name}' must be a list of integers, got {attribute_text(value)}")
        return value

    def ints(self, name: str, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Return an attribute that is a list of integers, or ``default`` if it is missing."""
        return self.attribute(name, default)

    def required(self, name: str, kind: type[_T]) -> _T:
        """Return an attribute of the type ``kind``. Raise ModelError if it is missing or of another type."""
        value = self.op.attributes.get(name)
        if not isinstance(value, kind):
            expected = _KINDS.get(kind, kind.__name__)
            given = "is missing" if value is None else f"is {attribute_text(value)}"
            self.fail(f"attribute '{name}' {given}, expected {expected}")
        return value

    def number(self, name: str) -> float | None:
        """Return an attribute as a float, or None if it is missing."""
        return self.attribute(name, 0.0) if self.has_attribute(name) else None

    def numbers(self, name: str, kind: type[_T], default: tuple[_T, ...] = ()) -> tuple[_T, ...]:
        """Return an attribute that is a list of floats or of strings, or ``default`` if it is missing.

        ``kind`` is the type of the elements.
        """
        values = self.op.attributes.get(name, default)
        if not isinstance(values, tuple) or not all(isinstance(value, kind) for value in values):
            self.fail(f"attribute '{name}' must be a list, each item {_KINDS[kind]}, got {attribute_text(values)}")
        return values

    def check_flags(self) -> None:
        """Raise ModelError for a boolean attribute that is neither 0 nor 1."""
        for name, value in self.op.attributes.items():
            if name in FLAGS and value not in (0, 1):
                self.fail(f"attribute '{name}' must be 0 or 1, got {attribute_text(value)}")

    def has_attribute(self, name: str) -> bool:
        """Return True if the file gives the node this attribute."""
        return name in self.op.attributes

    # -- operands ---------------------------------------------------------------------------------------------------

    def input(self, i: int) -> str:
        """Return the tensor name of input ``i``. Raise ModelError if the input is missing."""
        if not self.has(i):
            self.fail(f"input {i} is required, but missing")
        return self.op.inputs[i]

    def has(self, i: int) -> bool:
        """Return True if the node has input ``i``."""
        return i < len(self.op.inputs) and self.op.inputs[i] != ABSENT

    def constant(self, i: int) -> Array | None:
        """Return the elements of input ``i`` if they are known at import, else None."""
        constant = self.graph.known(self.input(i))
        return None if constant is None else constant.array

    def known(self, i: int, what: str) -> Array:
        """Return the elements of input ``i``. Raise UnsupportedForm if they are known only at run time.

        ``what`` names the input in the error message, such as "a scale".
        """
        constant = self.graph.required(self.input(i))
        if constant is None:
            self.refuse(f"{what} known only at run time")
        return constant.array

    def integers(self, i: int, what: str) -> tuple[int, ...]:
        """Return the integers of input ``i``. Raise UnsupportedForm if they are known only at run time.

        ``what`` names the input in the error message, such as "an axis".
        """
        array = self.known(i, what)
        if array.dtype.kind not in "iu":
            self.fail(f"{what} (input {i}) must be integers, got {self.dtype(i)}")
        return tuple(int(value) for value in array.ravel())

    def value(self, i: int) -> Value:
        """Return input ``i`` as a value of the program, with a quantized type if an earlier operator gave it one."""
        return self.graph.value(self.input(i), self.op)

    def type(self, i: int) -> TensorType:
        """Return the type of input ``i``."""
        return self.graph.type(self.input(i))

    def shape(self, i: int = 0) -> Shape:
        """Return the shape of input ``i``. Raise UnsupportedForm if its rank is known only at run time."""
        shape = self.type(i).shape
        if shape is None:
            self.refuse("a tensor whose rank is known only at run time")
        return shape

    def dtype(self, i: int) -> str:
        """Return ONNX's name for the element type of input ``i``, such as "uint8"."""
        return dtype_of(self.plain(i))

    def plain(self, i: int) -> Type:
        """Return the element type of input ``i`` in the file. For a quantized input that is the storage type."""
        return plain_of(self.type(i).element)

    def stored(self, i: int) -> Value:
        """Return input ``i`` as storage: quantized and unsigned elements as signless integers, floats unchanged."""
        return self.as_storage(self.value(i))

    def as_storage(self, value: Value) -> Value:
        """Return a value as its storage: quantized and unsigned elements become signless integers of the same bits.

        Other elements, such as floats, are unchanged.
        """
        kind = value.type
        assert isinstance(kind, TensorType)
        if isinstance(kind.element, UniformType):
            return self.emit("quant.scast", [value], None, kind.with_(element=kind.element.storage_type))
        if isinstance(kind.element, IntegerType) and kind.element.signedness != "signless":
            return self.emit("tensor.bitcast", [value], None, kind.with_(element=IntegerType(kind.element.width)))
        return value

    def quantized(
        self, i: int, scale: int | None, zero_point: int | None, axis: int | None = None, block_size: int = 0
    ) -> Value:
        """Return input ``i`` with the quantized type that `parameters` returns for the same arguments."""
        return self.cast(i, self.parameters(i, scale, zero_point, axis, block_size))

    def cast(self, i: int, element: UniformType) -> Value:
        """Return input ``i`` with its integers reinterpreted as storage of the quantized type ``element``."""
        known = self.graph.known(self.input(i)) if self.input(i) not in self.graph.values else None
        if known is not None:
            return self.dense(known.array, element)
        value = self.value(i)
        assert isinstance(value.type, TensorType)
        if value.type.element is element:
            return value
        stored = self.as_storage(value)
        return self.emit("quant.scast", [stored], None, value.type.with_(element=element))

    def parameters(
        self, i: int, scale: int | None, zero_point: int | None, axis: int | None = None, block_size: int = 0
    ) -> UniformType:
        """Return the quantized type of input ``i``, whose scale and zero point are two other inputs.

        ``scale`` and ``zero_point`` are the indices of these inputs, which must be known at import. None means a scale
        of 1 or a zero point of 0. A single scale is for the whole tensor. Several scales lie along ``axis``: one for
        each index, or one for each block of ``block_size`` indices.
        """
        return self.uniform(self.plain(i), self.shape(i), scale, zero_point, axis, block_size)

    def uniform(
        self,
        storage: Type,
        shape: Shape,
        scale: int | None,
        zero_point: int | None,
        axis: int | None = None,
        block_size: int = 0,
        expressed: str = "f32",
    ) -> UniformType:
        """Return a quantized type with the storage type ``storage``, for a tensor of ``shape``.

        Two inputs have the scale and the zero point, as for `parameters`. ``expressed`` is the expressed float type.
        """
        if not isinstance(storage, IntegerType) or storage.width > 32:
            self.refuse(f"quantized {dtype_of(storage)}")
        scales = np.ones(1, np.float32) if scale is None else self.known(scale, "a scale")
        zeros = None if zero_point is None or not self.has(zero_point) else self.known(zero_point, "a zero point")
        if zeros is not None and zero_point is not None and self.plain(zero_point) is not storage:
            self.fail(
                f"the zero point must have the type of the quantized tensor, {dtype_of(storage)}, got "
                f"{self.dtype(zero_point)}"
            )
        if zeros is not None and zeros.shape != scales.shape and zeros.size * scales.size != 1:
            self.fail(f"the scale and the zero point must have the same shape, got {scales.shape} and {zeros.shape}")
        text = f"{'u' if storage.signedness == 'unsigned' else 'i'}{storage.width}"
        wide = np.asarray(scales, np.float64)
        wrong = wide.reshape(-1)[~((wide > 0) & (wide < np.inf)).reshape(-1)]
        if wrong.size or not wide.size:
            name = "" if scale is None else f" {shown(self.input(scale))}"
            given = str(wrong[0]) if wrong.size else "no element"
            self.fail(f"the scale{name} must be a positive finite number, got {given}")
        try:
            if scales.size == 1 and not block_size:
                return UniformType(
                    text, expressed, float(wide.ravel()[0]), 0 if zeros is None else int(zeros.ravel()[0])
                )
            if axis is None:
                self.refuse("a scale for each element along an axis")
            axis = self.axis(axis, len(shape))
            if block_size:
                return self._blocked(text, expressed, wide, zeros, shape, axis, block_size)
            if scales.ndim > 1 or (shape[axis] is not None and shape[axis] != scales.size):
                self.fail(
                    f"the scales must have the shape ({shape[axis]},) for axis {axis} of a tensor of shape "
                    f"{list(shape)}, got {scales.shape}"
                )
            points = None if zeros is None else [int(zero) for zero in zeros.reshape(-1)]
            return UniformType(text, expressed, wide.reshape(-1).tolist(), points, axis)
        except ModelError:  # it names the place already
            raise
        except QuantError as error:
            raise self.error(str(error)) from None

    def _blocked(
        self, text: str, expressed: str, scales: Array, zeros: Array | None, shape: Shape, axis: int, size: int
    ) -> UniformType:
        expected = tuple(None if n is None else -(-n // size) if d == axis else n for d, n in enumerate(shape))
        length = shape[axis]
        if None in expected or length is None:
            self.refuse("blocks of a shape known only at run time")
        if scales.shape != expected:
            self.fail(
                f"the scales must have the shape {expected} for blocks of {size} along axis {axis} of a tensor of "
                "shape "
                f"{list(shape)}, got {scales.shape}"
            )
        if length % size:
            self.refuse(f"blocks of {size} that do not divide an axis of size {length}")
        blocks = {d: size if d == axis else 1 for d in range(len(shape))}
        points = None if zeros is None else zeros.astype(np.int64).tolist()
        return UniformType(text, expressed, scales.tolist(), points, block_sizes=blocks)

    def axis(self, axis: int, rank: int) -> int:
        """Return an axis counted from 0; a negative ``axis`` counts from the end. Raise ModelError if out of range."""
        return axis_of(self, axis, rank)

    # -- results ----------------------------------------------------------------------------------------------------

    def returns(self, i: int) -> bool:
        """Return True if the node has output ``i``, which the file may omit."""
        return i < len(self.op.outputs) and self.op.outputs[i] != ABSENT

    def set(self, i: int, value: Value) -> None:
        """Set output ``i`` to a value, whose operation gets the output's name."""
        if self.returns(i):
            self.graph.values[self.op.outputs[i]] = self.named(value, self.op.outputs[i])

    def set_constant(self, i: int, array: Array, element: Type | None = None) -> None:
        """Set output ``i`` to an array that is known at import. The element type is by default that of the array."""
        if element is None:
            name = {"float32": "float", "float64": "double"}.get(array.dtype.name, array.dtype.name)
            element = element_of(name)
        array = np.asarray(array, element_dtype(element), order="C")
        if self.returns(i):
            self.graph.check_size(self.op, TensorType(array.shape, element))
            self.graph.charge(self.op, array)
            array = array.view()
            array.flags.writeable = False
            self.graph.constants[self.op.outputs[i]] = Constant(array, element)

    def set_plain(self, i: int, value: Value, element: Type) -> None:
        """Set output ``i`` to a value of floats or signless integers, reinterpreted as the file's type ``element``."""
        kind = value.type
        assert isinstance(kind, TensorType)
        if kind.element is not element:
            value = self.emit("tensor.bitcast", [value], None, kind.with_(element=element))
        self.set(i, value)


_KINDS: dict[type, str] = {
    int: "an integer", float: "a number", str: "a string", tuple: "a list of integers", Tensor: "a tensor",
    ModelGraph: "a graph",
}  # fmt: skip


def attribute_text(value: object) -> str:
    """Return an attribute's value as text for error messages."""
    return {Tensor: "a tensor", ModelGraph: "a graph"}.get(type(value)) or shown(value)


def clamped(node: Node, value: Value, low: float | None, high: float | None) -> Value:
    """Clamp a quantized value to real bounds. A bound of None is left out.

    Each bound is quantized first: divided by the scale, rounded half to even, and added to the zero point.
    """
    assert isinstance(value.type, TensorType)
    element = value.type.element
    assert isinstance(element, UniformType)
    ends = {}
    for name, bound, end in (("min", low, element.storage_min), ("max", high, element.storage_max)):
        if bound is None:
            continue
        quotient = np.clip(np.float32(bound) / np.float32(element.scale), -(2.0**40), 2.0**40)
        stored = min(max(int(np.rint(quotient)) + element.zero_point, element.storage_min), element.storage_max)
        if stored != end:
            ends[name] = (stored - element.zero_point) * element.scale
    return node.emit("qrt.clamp", [value], ends) if ends else value
