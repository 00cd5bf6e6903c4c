"""Checks of a TFLite file that hold for all operators: indices, shapes, quantization, order, calls.

Conditions of one operator, such as a stride of 0, are checked when the operator is imported.
"""

import math
from collections import Counter
from typing import Any

import numpy.typing as npt

from qrt.errors import ModelError, input_limit, plural, shown
from qrt.models.tflite.model import ABSENT, Model, Operator, Quantization, Signature, Subgraph
from qrt.models.tflite.operands import OPERANDS, operands

BITS = {
    "bool": 8, "int2": 2, "int4": 4, "uint4": 4, "int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "float16": 16,
    "bfloat16": 16, "int32": 32, "uint32": 32, "float32": 32, "int64": 64, "uint64": 64, "float64": 64,
    "complex64": 64, "complex128": 128,
}  # fmt: skip
PACKED = {"int2", "int4", "uint4"}
"""The dtypes with several elements per byte, which NumPy does not have."""
UNSIZED = {"string", "resource", "variant", "float8_e4m3fn", "float8_e5m2"}
"""The dtypes whose elements are not read."""
ZERO_POINTS = {
    "int2": (-2, 1), "int4": (-8, 7), "uint4": (0, 15), "int8": (-128, 127), "uint8": (0, 255),
    "int16": (-(2**15), 2**15 - 1), "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}  # fmt: skip
"""The bounds of zero points by dtype. Other dtypes cannot be quantized."""
_LARGEST = 2**63 - 1
_DEEPEST = 64
"""The largest depth of calls between subgraphs."""


# -- a tensor by itself ----------------------------------------------------------------------------------------------


def element_count(place: str, shape: tuple[int, ...]) -> int:
    """Return the number of elements of a shape. Raise ModelError for a negative size or more than 2^63 - 1 elements."""
    for size in shape:
        if size < 0:
            raise ModelError(f"{place}: its shape {shape} has a negative dimension")
    elements = math.prod(shape)
    if math.prod(size or 1 for size in shape) > _LARGEST:
        raise ModelError(f"{place}: its shape {shape} has more than 2^63 - 1 elements")
    return elements


def byte_count(dtype: str, elements: int) -> int:
    """Return the number of bytes of ``elements`` elements of a dtype; 0 for a dtype without a fixed size."""
    return -(-elements * BITS.get(dtype, 0) // 8)


def check_quantization(place: str, given: Quantization, shape: tuple[int, ...], dtype: str) -> None:
    """Raise ModelError if a tensor's scales or zero points are invalid.

    There must be one scale and zero point, or one of each for every index of the quantized axis. Scales must be
    positive and finite, and zero points in the range of the dtype.
    """
    scales, zero_points, axis = given.scales, given.zero_points, given.axis
    count = scales.size
    least, most = _bounds(scales)
    if not (least > 0 and most < math.inf):  # comparisons with NaN are false
        wrong = next(scale for scale in scales.tolist() if not 0 < scale < math.inf)
        raise ModelError(f"{place}: its scale must be a positive finite number, got {wrong}")
    if zero_points.size != count:
        raise ModelError(
            f"{place}: it must have a zero point for each of its {plural(count, 'scale')}, got "
            f"{plural(zero_points.size, 'zero point')}"
        )
    low, high = ZERO_POINTS[dtype]
    least, most = _bounds(zero_points)
    if not low <= least <= most <= high:
        wrong = next(zero for zero in zero_points.tolist() if not low <= zero <= high)
        raise ModelError(f"{place}: its zero point must be from {low} to {high} for {dtype}, got {wrong}")
    if count == 1:
        return
    if not 0 <= axis < len(shape):
        raise ModelError(
            f"{place}: its quantized_dimension must be from 0 to {len(shape) - 1}, because it has "
            f"{plural(len(shape), 'dimension')}, got {axis}"
        )
    if count != shape[axis]:
        raise ModelError(
            f"{place}: it must have 1 scale, or {shape[axis]}, the size of its quantized dimension {axis}, got "
            f"{count} scales"
        )


def _bounds(values: npt.NDArray[Any]) -> tuple[float, float]:
    """Return the minimum and maximum. For an array of one element this avoids two slow NumPy calls."""
    if values.size == 1:
        (value,) = values.tolist()
        return value, value
    return values.min().item(), values.max().item()


# -- the model -------------------------------------------------------------------------------------------------------


def check_model(model: Model, max_bytes: int) -> None:
    """Raise a ModelError for the first error in a model, or if its computed tensors take more than ``max_bytes``."""
    if not model.subgraphs:
        raise ModelError(f"{model.name}: a model must have at least one subgraph, but this one has none")
    for subgraph in model.subgraphs:
        _Subgraph(model, subgraph).check()
    _check_calls(model)
    for signature in model.signatures:
        _check_signature(model, signature)
    computed = (tensor for subgraph in model.subgraphs for tensor in subgraph.tensors if tensor.data is None)
    total = sum(byte_count(tensor.dtype, math.prod(tensor.shape)) for tensor in computed)
    if total > max_bytes:
        raise ModelError(f"{model.name}: its tensors take {total} bytes, more than {input_limit(max_bytes)}")


class _Subgraph:
    """The checks of one subgraph."""

    def __init__(self, model: Model, subgraph: Subgraph) -> None:
        self.model, self.subgraph, self.tensors = model, subgraph, subgraph.tensors
        self.place = f"{model.name}: subgraph {subgraph.index}"
        self.writers: dict[int, Operator] = {}

    def check(self) -> None:
        """Raise a ModelError for the first error in the subgraph.

        Tensor indices are checked first, because the later checks use them.
        """
        subgraph = self.subgraph
        for what, indices in (("input", subgraph.inputs), ("output", subgraph.outputs)):
            for number, index in enumerate(indices):
                self._check_index(f"{self.place}, {what} {number}", index)
        for operator in subgraph.operators:
            self._check_operands(operator)
        self._check_inputs()
        self._check_writers()
        self._check_order()

    def operator(self, operator: Operator) -> str:
        """Return a description of where an operator is in the file, for error messages."""
        return f"{self.place}, operator {operator.index} {operator.name}"

    def tensor(self, index: int) -> str:
        """Return the index and name of a tensor for error messages."""
        return f"tensor {index} {shown(self.tensors[index].name)}"

    def _check_index(self, place: str, index: int) -> None:
        if not 0 <= index < len(self.tensors):
            raise ModelError(
                f"{place}: tensor {index} does not exist: the subgraph has {plural(len(self.tensors), 'tensor')}, "
                "numbered from 0"
            )

    def _check_operands(self, operator: Operator) -> None:
        place = self.operator(operator)
        for what, indices in (("input", operator.inputs), ("output", operator.outputs)):
            for number, index in enumerate(indices):
                if index != ABSENT or what == "output":
                    self._check_index(f"{place}, {what} {number}", index)
        for number, index in enumerate(operator.intermediates):
            self._check_index(f"{place}, intermediate {number}", index)
        if operator.name not in OPERANDS:
            return
        declared, least, results = operands(operator.name)
        most = math.inf if declared and declared[-1].is_many else len(declared)
        if not least <= len(operator.inputs) <= most:
            expected = f"{least} or more" if most == math.inf else str(least) if least == most else f"{least} to {most}"
            raise ModelError(f"{place}: it must have {expected} inputs, got {len(operator.inputs)}")
        if results is not None and len(operator.outputs) != results:
            raise ModelError(f"{place}: it must have {plural(results, 'output')}, got {len(operator.outputs)}")
        for number, index in enumerate(operator.inputs):
            operand = declared[min(number, len(declared) - 1)]
            if index == ABSENT and (operand.is_many or not operand.is_optional):
                raise ModelError(
                    f"{place}: its input {number} ('{operand.name}') is required, but absent (tensor index -1)"
                )

    def _check_inputs(self) -> None:
        for index, times in Counter(self.subgraph.inputs).items():
            if times > 1:
                raise ModelError(
                    f"{self.place}: {self.tensor(index)} must be listed once among the inputs, got {times} times"
                )
            if self.tensors[index].is_constant:
                raise ModelError(
                    f"{self.place}: {self.tensor(index)} is an input, so it must not have a buffer with data"
                )

    def _check_writers(self) -> None:
        inputs = {*self.subgraph.inputs}
        for operator in self.subgraph.operators:
            for index in operator.outputs:
                reason = self._reason_against_writing(index, inputs)
                if reason:
                    raise ModelError(
                        f"{self.operator(operator)}: it must not write {self.tensor(index)}, which {reason}"
                    )
                self.writers[index] = operator

    def _reason_against_writing(self, index: int, inputs: set[int]) -> str:
        """Return the reason why an operator may not write a tensor, such as "is constant", or "" if it may."""
        if index in inputs:
            return "is an input"
        if self.tensors[index].is_constant:
            return "is constant"
        if self.tensors[index].is_variable:
            return "is a variable"
        writer = self.writers.get(index)
        return f"operator {writer.index} {writer.name} writes already" if writer else ""

    def _check_order(self) -> None:
        """Raise ModelError if a tensor is read before it is computed.

        Operators and the subgraph's outputs may read results of earlier operators, inputs, constants and variables.
        """
        known = {*self.subgraph.inputs}
        for operator in self.subgraph.operators:
            for index in operator.inputs:
                if index != ABSENT:
                    self._check_read(self.operator(operator), index, known)
            known.update(operator.outputs)
        for index in self.subgraph.outputs:
            self._check_read(self.place, index, known)

    def _check_read(self, place: str, index: int, known: set[int]) -> None:
        tensor = self.tensors[index]
        if index in known or tensor.is_constant or tensor.is_variable:
            return
        writer = self.writers.get(index)
        if writer is None:
            raise ModelError(f"{place}: it reads {self.tensor(index)}, which no operator computes")
        raise ModelError(
            f"{place}: it reads {self.tensor(index)} before operator {writer.index} {writer.name} computes it"
        )


# -- between subgraphs -----------------------------------------------------------------------------------------------

_CALLEES = {
    "WHILE": ("cond_subgraph_index", "body_subgraph_index"),
    "IF": ("then_subgraph_index", "else_subgraph_index"),
    "CALL": ("subgraph",),
    "STABLEHLO_COMPOSITE": ("decomposition_subgraph_index",),
    "CALL_ONCE": ("init_subgraph_index",),
}


def callees(operator: Operator) -> tuple[int, ...]:
    """Return the indices of the subgraphs that an operator (WHILE, IF, CALL, ...) calls."""
    return () if operator.is_custom else tuple(operator.options[name] for name in _CALLEES.get(operator.name, ()))


def _check_calls(model: Model) -> None:
    called: dict[int, set[int]] = {}
    for subgraph in model.subgraphs:
        called[subgraph.index] = set()
        for operator in subgraph.operators:
            for index in callees(operator):
                if not 0 <= index < len(model.subgraphs):
                    place = f"{model.name}: subgraph {subgraph.index}, operator {operator.index} {operator.name}"
                    raise ModelError(
                        f"{place}: it calls subgraph {index}, but the file has "
                        f"{plural(len(model.subgraphs), 'subgraph')}, numbered from 0"
                    )
                called[subgraph.index].add(index)
    left = dict(called)
    for _ in range(_DEEPEST):  # remove subgraphs without remaining callees, once per level of depth
        left = {index: calls & left.keys() for index, calls in left.items() if calls & left.keys()}
        if not left:
            return
    chain = [min(left)]
    while chain.count(chain[-1]) == 1 and left.get(chain[-1]):
        chain.append(min(left[chain[-1]]))
    shown_chain = " -> ".join(map(str, chain[-8:]))
    if chain.count(chain[-1]) > 1:
        raise ModelError(f"{model.name}: subgraphs must not call each other recursively, got the calls {shown_chain}")
    raise ModelError(
        f"{model.name}: calls of subgraphs must be at most {_DEEPEST} levels deep, got deeper calls: ... -> "
        f"{shown_chain}"
    )


def _check_signature(model: Model, signature: Signature) -> None:
    place = f"{model.name}: signature {shown(signature.key)}"
    if signature.subgraph >= len(model.subgraphs):
        raise ModelError(
            f"{place}: it is of subgraph {signature.subgraph}, but the file has "
            f"{plural(len(model.subgraphs), 'subgraph')}, numbered from 0"
        )
    subgraph = model.subgraphs[signature.subgraph]
    for what, given, indices in (
        ("input", signature.inputs, subgraph.inputs),
        ("output", signature.outputs, subgraph.outputs),
    ):
        for name, index in given.items():
            if index not in indices:
                raise ModelError(
                    f"{place}: its {what} {shown(name)} is tensor {index}, which is not an {what} of subgraph "
                    f"{subgraph.index}"
                )
