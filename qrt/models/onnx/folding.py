"""Groups of DequantizeLinear, a float operator and QuantizeLinear, folded into one operator on quantized tensors.

DequantizeLinear and QuantizeLinear are called casts here. A group is a float operator whose inputs are results of
DequantizeLinear, and whose result, perhaps after Relu or Clip, is read by one QuantizeLinear and nothing else. The
group is replaced by an operator such as QLinearConv, whose inputs are those of the casts. An operator that cannot be
folded is imported as it is. An operator is next to a cast if it reads the result of a DequantizeLinear of computed
integers, or if a QuantizeLinear reads its result. Each such operator has a record (`Fold`) for the import's report.

DynamicQuantizeLinear, MatMulInteger and the operators that convert the int32 sums to floats are folded too, into a
DynamicQuantizeMatMul, which computes the same bits.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qrt.errors import shown
from qrt.models.onnx.model import ABSENT, ModelGraph, Operator, Tensor
from qrt.models.onnx.types import NUMBERS, numpy_dtype
from qrt.ops.core import Array

_MICROSOFT = "com.microsoft"
_MOVES = frozenset(
    {
        "DepthToSpace", "Expand", "Flatten", "Gather", "GatherND", "Identity", "MaxPool", "Reshape", "Resize",
        "Slice", "SpaceToDepth", "Squeeze", "Tile", "Transpose", "Unsqueeze",
    }
)  # fmt: skip
"""Operators that move elements of their first input without changing them."""
_ACTIVATIONS = ("Relu", "Clip")
CASTS = ("QuantizeLinear", "DequantizeLinear")
_BINARY = {"Add": "QLinearAdd", "Mul": "QLinearMul", "Sub": "QLinearAdd"}
_SUMS = ("ReduceMean", "ReduceSum")
_UNARY = {
    "AveragePool": "QLinearAveragePool", "GlobalAveragePool": "QLinearGlobalAveragePool", "Sigmoid": "QLinearSigmoid",
    "LeakyRelu": "QLinearLeakyRelu", "Softmax": "QLinearSoftmax",
}  # fmt: skip
_EXTREMES = ("Max", "Min", "ReduceMax", "ReduceMin")
"""Operators that choose some of the elements of their inputs. They choose the same ones from integers, whose order is
that of the floats."""
_POSITIONS = ("ArgMax", "ArgMin")
"""Operators that return positions of elements, which are the same in a tensor of integers."""
_OPSETS = ("AveragePool", "GlobalAveragePool", "Softmax")
"""Operators whose arithmetic depends on the opset."""
_INTEGERS = frozenset({"int4", "uint4", "int8", "uint8", "int16", "uint16"})
"""The types to which a cast may quantize."""
_WHOLE_BYTES = frozenset({"int8", "uint8", "int16", "uint16"})
_FLOAT = 1
"""ONNX's number of float32."""
_MOST = 4
"""The most names that a line of the report lists."""
_LEAST_SCALE, _LARGEST_SCALE = 2.0**-40, 2.0**40
"""Bounds within which no product or quotient of scales and integers leaves the normal range of float32."""
_SCALE_STEPS = 4
"""The most units in the last place between a bias's scale and the product of its operands' scales: quantizers compute
the product in float32 or in float64, from scales that are rounded before or not."""
_FORMS = frozenset(
    {"Conv", "MatMul", "Gemm", "Concat", "Where", "Pad", *_BINARY, *_UNARY, *_MOVES, *_ACTIVATIONS, *_EXTREMES, *_SUMS}
)


@dataclass(frozen=True)
class Fold:
    """A record of whether an operator next to a QuantizeLinear or DequantizeLinear is folded into a quantized operator.

    ``reason`` is the reason why the operator runs on floats; it is empty if the operator is folded.
    """

    name: str
    operator: str
    reason: str


def fold_report(folds: Sequence[Fold]) -> str:
    """Return a report of how many operators next to casts are folded into quantized operators.

    For each reason, a line lists the operators that are not folded. The report is empty if no operator is next to a
    cast.

    >>> print(fold_report([Fold("a", "Conv", ""), Fold("b", "Add", "input 1 is not dequantized")]), end="")
    1 of 2 operators other than casts are folded
      Add: input 1 is not dequantized: b
    """
    if not folds:
        return ""
    lines = [f"{sum(not fold.reason for fold in folds)} of {len(folds)} operators other than casts are folded"]
    reasons: dict[tuple[str, str], list[str]] = {}
    for fold in folds:
        if fold.reason:
            reasons.setdefault((fold.operator, fold.reason), []).append(fold.name)
    for (operator, reason), names in reasons.items():
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        lines.append(f"  {operator}: {reason}: {', '.join(names[:_MOST])}{more}")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, eq=False)
class Group:
    """Operators that are folded together, in the graph's order, and the operator ``folded`` that replaces them.

    If the operators include Relu or Clip, ``within`` has the bounds of the result, ``(low, high)``. A bound of None
    means that there is no bound.
    """

    parts: tuple[Operator, ...]
    folded: Operator
    within: tuple[float | None, float | None] | None = None


def _is_product(scale: Array, x: Array, w: Array) -> bool:
    """Return True if a bias's scales are the products of the scales of the operands ``x`` and ``w``, up to rounding."""
    if x.size != 1 or scale.size not in (1, w.size):
        return False
    product = (x.astype(np.float64) * w.astype(np.float64)).reshape(-1)
    apart = np.abs(scale.astype(np.float64).reshape(-1) - product)
    return bool((apart <= _SCALE_STEPS * np.spacing(product.astype(np.float32)).astype(np.float64)).all())


class _Unfolded(Exception):
    """An error that says why an operator cannot be folded."""


class Folding:
    """The groups of operators in a graph that can be folded.

    ``groups`` maps operator indices to groups: the key is a group's last operator, in whose place the group is
    imported. ``inside`` has the indices of the groups' other operators. ``reasons`` maps the index of an operator
    next to a QuantizeLinear or DequantizeLinear, but in no group, to the reason why it is not folded. In a nested
    graph, ``outer`` is the folding of the enclosing graph, whose constants the nested graph reads.
    """

    def __init__(self, graph: ModelGraph, outer: "Folding | None" = None) -> None:
        self.graph = graph
        self.outer = outer
        self.makers = {name: op for op in graph.operators for name in op.outputs if name != ABSENT}
        self.readers: dict[str, list[Operator]] = {}
        self.uses: Counter[str] = Counter(port.name for port in graph.outputs)
        for op in graph.operators:
            for name in filter(None, (*op.inputs, *(name for graph in op.graphs for name in graph.reads))):
                self.uses[name] += 1
                self.readers.setdefault(name, []).append(op)
        self.constants: dict[str, Tensor] = {}
        self.groups: dict[int, Group] = {}
        self.inside: set[int] = set()
        self.reasons: dict[int, str] = {}
        for op in graph.operators:
            if op.key == "DynamicQuantizeLinear":
                self._fold_dynamic(op)
            elif op.index not in self.inside and not op.domain and op.type not in CASTS and self._is_next_to_cast(op):
                self._fold_operator(op)

    def _is_next_to_cast(self, op: Operator) -> bool:
        """Return True if ``op`` is next to a cast, as the module's description defines it."""
        reads = any(dq is not None and not self._is_known(dq.inputs[0]) for dq in map(self._dequantized, op.inputs))
        return reads or any(
            reader.type == "QuantizeLinear" and reader.inputs[0] == name
            for name in filter(None, op.outputs)
            for reader in self.readers.get(name, ())
        )

    def _fold_operator(self, op: Operator) -> None:
        try:
            group = self._group(op)
        except _Unfolded as error:
            self.reasons[op.index] = str(error)
            return
        self.groups[group.parts[-1].index] = group
        self.inside.update(part.index for part in group.parts[:-1])

    def _fold_dynamic(self, op: Operator) -> None:
        """Fold a DynamicQuantizeLinear with the MatMulInteger, Cast to float32 and Mul by both scales that follow.

        Nothing is folded if another operator reads an intermediate tensor, or if the weights are not constant.
        """
        if len(op.outputs) != 3 or ABSENT in op.outputs:
            return
        q, scale, zero = op.outputs
        product, scales = self._sole_reader(q, "MatMulInteger"), self._sole_reader(scale, "Mul")
        cast = None if product is None else self._sole_reader(_result(product), "Cast")
        scaled = None if cast is None else self._sole_reader(_result(cast), "Mul")
        if product is None or cast is None or scaled is None or scales is None:
            return
        _, w, *zeros = (*product.inputs, ABSENT, ABSENT)[:4]
        of_w = [name for name in scales.inputs if name != scale]
        if self._sole_reader(zero, "MatMulInteger") is not product or zeros[0] != zero or len(of_w) != 1:
            return
        joins = self._sole_reader(_result(scales), "Mul") is scaled and cast.attributes.get("to") == _FLOAT
        if not joins or not all(self._is_known(name) for name in (w, of_w[0], zeros[1]) if name != ABSENT):
            return
        inputs = (op.inputs[0], w, of_w[0], zeros[1])
        folded = self._operator(product, scaled, _MICROSOFT, "DynamicQuantizeMatMul", inputs, {})
        parts = sorted((op, product, cast, scales, scaled), key=lambda part: part.index)
        self.groups[scaled.index] = Group(tuple(parts), folded)
        self.inside.update(part.index for part in parts[:-1])

    def _sole_reader(self, name: str, kind: str) -> Operator | None:
        """Return the only reader of a tensor, if its type is ``kind`` and it reads the tensor once, else None."""
        readers = self.readers.get(name, [])
        return readers[0] if self.uses[name] == 1 and readers and readers[0].key == kind else None

    # -- what is known ------------------------------------------------------------------------------------------------

    def _dequantized(self, name: str) -> Operator | None:
        maker = self.makers.get(name)
        is_cast = maker is not None and maker.key == "DequantizeLinear" and len(maker.inputs) > 1
        return maker if is_cast else None

    def _is_known(self, name: str) -> bool:
        return self.constant(name) is not None

    def constant(self, name: str) -> Tensor | None:
        """Return a tensor that is an initializer or a Constant's result, in this or an enclosing graph, or None."""
        tensor = self.graph.constants.get(name)
        maker = self.makers.get(name)
        if tensor is None and maker is not None and maker.key == "Constant":
            value = maker.attributes.get("value")
            tensor = value if isinstance(value, Tensor) else None
        if tensor is None and maker is None and self.outer is not None:
            return self.outer.constant(name)
        return tensor

    # -- a group ------------------------------------------------------------------------------------------------------

    def _group(self, op: Operator) -> Group:
        if op.type in _POSITIONS:
            x, *_ = self._input(op, 0)
            return Group((op,), replace(op, inputs=(x, *op.inputs[1:]), is_folded=True))
        if op.type not in _FORMS or (op.type == "Resize" and op.attributes.get("mode", "nearest") != "nearest"):
            raise _Unfolded("it has no quantized form")
        parts, within = [op], None
        last = self._only_reader(op)
        if last.key in _ACTIVATIONS and op.type not in _MOVES and op.type not in _ACTIVATIONS:
            parts.append(last)
            within = self._bounds(last)
            last = self._only_reader(last)
        if last.key != "QuantizeLinear" or len(last.inputs) < 2:
            raise _Unfolded(f"its result is read by {last.type} without being quantized")
        if not self._is_known(last.inputs[1]) or (len(last.inputs) > 2 and not self._is_known(last.inputs[2])):
            raise _Unfolded("the scale of its result is not constant")
        if self._scale(last).data.size != 1:
            raise _Unfolded("its result has several scales")
        parts.append(last)
        if op.type in _ACTIVATIONS:
            within = self._bounds(op)
        self._require_plain_floats(last)
        folded = self._folded(op, last)
        return Group(tuple(parts), folded, within)

    def _only_reader(self, op: Operator) -> Operator:
        name = _result(op)
        readers = self.readers.get(name, [])
        if self.uses[name] != 1 or len([output for output in op.outputs if output != ABSENT]) != 1:
            casts = [reader for reader in readers if reader.key == "QuantizeLinear"]
            raise _Unfolded("its result is read as floats too" if casts else "its result is not quantized")
        if not readers:
            raise _Unfolded("its result is not quantized")
        return readers[0]

    def _bounds(self, op: Operator) -> tuple[float | None, float | None]:
        if op.type == "Relu":
            return 0.0, None
        bounds: list[float | None] = []
        for i, attribute in ((1, "min"), (2, "max")):
            if op.opset < 11:
                bound = op.attributes.get(attribute)
            else:
                name = op.inputs[i] if i < len(op.inputs) else ABSENT
                tensor = self.constant(name) if name != ABSENT else None
                if name != ABSENT and (tensor is None or tensor.data.size != 1):
                    raise _Unfolded("the bounds of Clip are not constant")
                bound = None if tensor is None else float(tensor.data.reshape(-1)[0])
            if bound is not None and (not isinstance(bound, int | float) or math.isnan(bound)):
                raise _Unfolded(f"a bound of Clip is {shown(bound)}, which is not a number")
            bounds.append(bound)
        if None not in bounds and bounds[0] > bounds[1]:  # type: ignore[operator]
            raise _Unfolded("the lower bound of Clip is above the upper one")
        return bounds[0], bounds[1]

    def _scale(self, cast: Operator) -> Tensor:
        scale = self.constant(cast.inputs[1])
        if scale is None:
            raise _Unfolded("the scale of an input is not constant")
        return scale

    def _folded(self, op: Operator, last: Operator) -> Operator:
        """Return the quantized operator that replaces the float operator ``op`` and its casts.

        ``last`` is the QuantizeLinear of the result.
        """
        result = self._parameters(last)
        kind, domain, attributes = op.type, "", dict(op.attributes)
        if op.type in _EXTREMES:
            self._require_whole_bytes(last)
        if op.type in _MOVES or op.type in _ACTIVATIONS or op.type in _EXTREMES:
            count = len(op.inputs) if op.type in ("Max", "Min") else 1
            inputs = tuple(self._input_like_result(op, i, last) for i in range(count))
            if op.type in _ACTIVATIONS:
                return self._operator(op, last, "", "Identity", inputs, {})
            return self._operator(op, last, "", kind, (*inputs, *op.inputs[count:]), attributes)
        if op.type == "Pad":
            inputs = (self._input_like_result(op, 0, last), *op.inputs[1:2], self._padding(op, last), *op.inputs[3:])
            return self._operator(op, last, "", kind, inputs, attributes)
        if op.type == "Conv":
            x, w = self._input(op, 0), self._input(op, 1, axis=0)
            inputs = (*x, *w, *result, *self._bias(op, 2))
            kind = "QLinearConv"
        elif op.type == "MatMul":
            inputs, kind = (*self._input(op, 0), *self._input(op, 1, axis=-1), *result), "QLinearMatMul"
        elif op.type == "Gemm":
            if attributes.get("beta", 1.0) != 1:
                raise _Unfolded("its beta is not 1")
            axis = 0 if attributes.pop("transB", 0) else 1
            attributes = {name: value for name, value in op.attributes.items() if name != "beta"}
            bias = self._bias(op, 2) or (ABSENT,)
            inputs, kind, domain = (
                (*self._input(op, 0), *self._input(op, 1, axis=axis), *bias, *result),
                "QGemm",
                _MICROSOFT,
            )
        elif op.type in _BINARY:
            inputs = (*self._input(op, 0), *self._input(op, 1), *result)
            kind, domain = _BINARY[op.type], _MICROSOFT
            if op.type == "Sub":
                attributes["is_difference"] = 1
        elif op.type in _SUMS:
            summed, *parameters = self._input(op, 0)
            inputs = (summed, op.inputs[1] if len(op.inputs) > 1 else ABSENT, *parameters, *result)
        elif op.type == "Concat":
            inputs = (*result, *(name for i in range(len(op.inputs)) for name in self._input(op, i)))
            kind, domain = "QLinearConcat", _MICROSOFT
        elif op.type == "Where":
            inputs = (*op.inputs[:1], *self._input(op, 1), *self._input(op, 2), *result)
            kind, domain = "QLinearWhere", _MICROSOFT
        else:
            inputs, kind, domain = (*self._input(op, 0), *result), _UNARY[op.type], _MICROSOFT
            if op.type in _OPSETS:
                attributes["opset"] = op.opset
        return self._operator(op, last, domain, kind, inputs, attributes)

    def _operator(
        self,
        op: Operator,
        last: Operator,
        domain: str,
        kind: str,
        inputs: tuple[str, ...],
        attributes: Mapping[str, Any],
    ) -> Operator:
        opset = op.opset if not domain else 1
        replacement = replace(op, domain=domain, type=kind, inputs=inputs, outputs=last.outputs, attributes=attributes)
        return replace(replacement, index=last.index, opset=opset, is_folded=True)

    def _input(self, op: Operator, i: int, axis: int | None = None) -> tuple[str, str, str]:
        """Return the names of the quantized tensor, scale and zero point that an input's DequantizeLinear reads.

        Raise _Unfolded if the input has no DequantizeLinear, or several scales along another axis than ``axis``.
        """
        cast = self._dequantized(op.inputs[i]) if i < len(op.inputs) else None
        if cast is None:
            raise _Unfolded(f"input {i} is not dequantized")
        self._require_plain_floats(cast)
        scale = self._scale(cast)
        if cast.attributes.get("block_size", 0):
            raise _Unfolded(f"input {i} has a scale for each block")
        if scale.data.size > 1:
            if axis is None:
                raise _Unfolded(f"input {i} has several scales")
            own_axis, tensor = cast.attributes.get("axis", 1), self.constant(cast.inputs[0])
            rank = None if tensor is None else len(tensor.shape)
            if not rank or not isinstance(own_axis, int) or own_axis % rank != axis % rank:
                raise _Unfolded(f"the scales of input {i} lie along axis {own_axis}")
        return (cast.inputs[0], *self._parameters(cast))

    def _parameters(self, cast: Operator) -> tuple[str, str]:
        """Return the names of the scale and the zero point of a cast.

        Without a zero point, a QuantizeLinear gets a new constant 0, and a DequantizeLinear gets `ABSENT`.
        """
        if len(cast.inputs) > 2 and cast.inputs[2] != ABSENT:
            if not self._is_known(cast.inputs[2]):
                raise _Unfolded("a zero point is not constant")
            return cast.inputs[1], cast.inputs[2]
        if cast.key == "DequantizeLinear":
            return cast.inputs[1], ABSENT
        dtype = NUMBERS.get(cast.attributes.get("output_dtype", 0), "uint8")
        if dtype not in _INTEGERS:
            raise _Unfolded(f"its result is of {dtype}")
        return cast.inputs[1], self._new_constant(f"{_result(cast)}#zero_point", dtype, 0)

    def _bias(self, op: Operator, i: int) -> tuple[str, ...]:
        """Return the name of the int32 tensor of the bias, operand ``i``, in a tuple. Return () if there is no bias.

        Raise _Unfolded if the scale of the bias is not the product of the scales of the factors. A quantized operator
        adds the bias to integer sums, so it would have to round such a bias to their scale. The runtime adds the bias
        in floats.
        """
        if i >= len(op.inputs) or op.inputs[i] == ABSENT:
            return ()
        cast = self._dequantized(op.inputs[i])
        tensor = None if cast is None else self.constant(cast.inputs[0])
        if cast is None or tensor is None or tensor.dtype != "int32":
            raise _Unfolded("its bias is not an int32 constant")
        self._require_plain_floats(cast)
        if len(cast.inputs) > 2 and cast.inputs[2] != ABSENT:
            zero = self.constant(cast.inputs[2])
            if zero is None or zero.data.any():
                raise _Unfolded("its bias has a zero point other than 0")
        x, w = (self._dequantized(op.inputs[operand]) for operand in (0, 1))
        if x is None or w is None:
            raise _Unfolded("an operand other than its bias is not dequantized")
        if cast.attributes.get("block_size", 0):
            raise _Unfolded("its bias has a scale for each block")
        scale = self._scale(cast).data
        if scale.size > 1 and (len(tensor.shape) != 1 or cast.attributes.get("axis", 1) not in (0, -1)):
            raise _Unfolded("the scales of its bias do not lie along its only axis")
        if not _is_product(scale, self._scale(x).data, self._scale(w).data):
            raise _Unfolded("the scale of its bias is not the product of the scales of its operands")
        return (cast.inputs[0],)

    def _require_plain_floats(self, cast: Operator) -> None:
        """Raise _Unfolded unless a cast converts between integers and float32, with scales from 2^-40 to 2^40.

        Floats of another type are rounded between the casts. With scales near the limits of float32, floats overflow or
        lose bits. No quantized operator reproduces this.
        """
        scale = self._scale(cast)
        floats = cast.attributes.get("output_dtype", 0) if cast.key == "DequantizeLinear" else 0
        if (
            scale.dtype != "float"
            or floats not in (0, _FLOAT)
            or cast.attributes.get("precision", 0) not in (0, _FLOAT)
        ):
            raise _Unfolded("its casts are of floats other than float32")
        if not ((scale.data >= _LEAST_SCALE) & (scale.data <= _LARGEST_SCALE)).all():
            raise _Unfolded(f"a scale is outside of {_LEAST_SCALE:g} to {_LARGEST_SCALE:g}")

    def _input_like_result(self, op: Operator, i: int, last: Operator) -> str:
        """Return the name of the quantized tensor of input ``i``, for an operator that moves or chooses elements.

        Raise _Unfolded if the scale or zero point of the result differs from that of the input.
        """
        x, scale, zero = self._input(op, i)
        others = [self.constant(name) for name in (scale, zero, *self._parameters(last))]
        if any(tensor is not None and tensor.data.size != 1 for tensor in others):
            raise _Unfolded("its input or its result has several zero points")
        before, after = others[:2], others[2:]
        for one, other in zip(before, after, strict=True):
            if (0 if one is None else one.data.item()) != (0 if other is None else other.data.item()):
                raise _Unfolded("its result has other parameters than its input")
        return x

    def _padding(self, op: Operator, last: Operator) -> str:
        """Return the name of the integer with which a folded Pad fills: its float constant, quantized as the result."""
        if op.attributes.get("mode", "constant") != "constant":
            return ABSENT
        if op.opset < 11:
            raise _Unfolded("its constant is an attribute")
        name = op.inputs[2] if len(op.inputs) > 2 else ABSENT
        number = None if name == ABSENT else self.constant(name)
        value = np.float32(0) if number is None else number.data.reshape(-1)[0]
        if name != ABSENT and (number is None or number.data.size != 1 or number.dtype != "float" or np.isnan(value)):
            raise _Unfolded("its constant is not a known number")
        zero = self._require_whole_bytes(last)
        ends = np.iinfo(numpy_dtype(zero.dtype))
        quotient = np.float64(np.rint(value / self._scale(last).data.reshape(-1)[0]))
        stored = np.clip(quotient + int(zero.data.item()), ends.min, ends.max)
        return self._new_constant(f"{_result(op)}#padding", zero.dtype, int(stored))

    def _require_whole_bytes(self, last: Operator) -> Tensor:
        """Return the zero point of a result. Raise _Unfolded unless its type has 8 or 16 bits."""
        zero = self.constant(self._parameters(last)[1])
        if zero is None or zero.dtype not in _WHOLE_BYTES:
            raise _Unfolded(f"its result is of {'an unknown type' if zero is None else zero.dtype}")
        return zero

    def _new_constant(self, name: str, dtype: str, number: int) -> str:
        """Add a scalar constant that the file does not have, and return its name."""
        while name in self.makers or name in self.uses:  # a tensor of the file may have the name
            name += "_"
        self.constants[name] = Tensor(name, dtype, (), np.array(number, numpy_dtype(dtype)))
        return name


def _result(op: Operator) -> str:
    """Return the name of an operator's first output, or `ABSENT` if it has none."""
    return op.outputs[0] if op.outputs else ABSENT
