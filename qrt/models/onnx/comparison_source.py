"""The tensors of an ONNX file that are compared with ONNX Runtime's, and the difference that is allowed for each.

A quantized operator that the import folds from several nodes (see `folding`) may round to another integer than the
runtime. The allowed difference of its result is therefore an interval for each element.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from qrt.ir import Module, Value
from qrt.models.importing.comparison_source import Bound, ComparedTensor, ComparisonSource, Input, Run, named_values
from qrt.models.importing.source import Source
from qrt.models.onnx.folding import Folding, Group
from qrt.models.onnx.importing import Importer, import_model, with_shapes
from qrt.models.onnx.model import ABSENT, Model, ModelGraph, ModelPort, Operator, Tensor
from qrt.models.onnx.read import read
from qrt.models.onnx.types import NUMBERS, numpy_dtype
from qrt.models.profiles import Profile
from qrt.ops.core import Array
from qrt.types import TensorType

ROUNDED = frozenset({"Add", "Conv", "Gemm", "MatMul", "Mul", "ReduceMean", "ReduceSum", "Softmax", "Sub"})
"""Operators whose groups round differently from the runtime. The results of all other groups are equal to the
runtime's."""
_UNIT = 2.0**-24
_STEPS = 4
"""The number of roundings of a group in addition to those of its terms: the sum, the multiplier, their product and
the result."""


def rounding_interval(folding: Folding, group: Group, bound: Bound, run: Run) -> tuple[Array, Array]:
    """Return the least and the greatest integer that is allowed for each element of a folded group's result.

    ``run(change)`` computes the group's float operator on the runtime's operands, each changed by the function
    ``change``. ``bound`` is the allowed difference of that operator's floats.
    """
    op, last = group.parts[0], group.parts[-1]
    values = run(lambda array: array)
    scale = float(_number(folding, last.inputs[1]))
    zero_point = _number(folding, last.inputs[2]) if len(last.inputs) > 2 and last.inputs[2] != ABSENT else None
    if op.type == "Softmax":
        room = 2 * (bound.relative * np.abs(values) + bound.absolute)
    else:
        room = 2 * _UNIT * (run(np.ones_like) + _STEPS) * (run(np.abs) + _zero_point_magnitude(folding, group))
    zero = 0.0 if zero_point is None else float(zero_point)
    room = room + 2 * _UNIT * _STEPS * (np.abs(values) + abs(zero) * scale)
    dtype = zero_point.dtype if zero_point is not None else numpy_dtype(_dtype(last.attributes.get("output_dtype", 0)))
    ends = np.iinfo(dtype)
    low, high = group.within or (None, None)

    def stored(numbers: Array) -> Array:
        numbers = numbers if low is None else np.maximum(numbers, low)
        numbers = numbers if high is None else np.minimum(numbers, high)
        return np.asarray(np.clip(np.rint(numbers / scale) + zero, ends.min, ends.max))

    return stored(values - room), stored(values + room)


def _number(folding: Folding, name: str) -> Array:
    tensor = folding.constant(name)
    assert tensor is not None, name  # a group has no computed scales and zero points
    return tensor.data.reshape(-1)[0]  # type: ignore[no-any-return]


def _dtype(number: int) -> str:
    return NUMBERS.get(number, "uint8")


def _zero_point_magnitude(folding: Folding, group: Group) -> float:
    """Return the sum of ``abs(scale * zero_point)`` over both operands of an Add or Sub, or 0 for another operator.

    The folded operator subtracts these products from the sum of the products ``scale * q``, so that its rounding error
    depends on them too.
    """
    if group.parts[0].type not in ("Add", "Sub"):
        return 0.0
    pairs = [group.folded.inputs[i : i + 2] for i in (1, 4)]
    return sum(abs(float(_number(folding, scale)) * float(_number(folding, zero))) for scale, zero in pairs if zero)


SUMS = frozenset(
    {
        "AffineGrid", "AveragePool", "CausalConvWithState", "Conv", "ConvTranspose", "CumSum", "Einsum", "Gemm",
        "GlobalAveragePool", "GlobalLpPool", "LogSoftmax", "LpPool", "MatMul", "ReduceL1", "ReduceL2", "ReduceMean",
        "ReduceSum", "ReduceSumSquare", "RotaryEmbedding",
    }
)  # fmt: skip
"""Operators that sum floats. The order of the terms depends on the CPU, so that results differ where terms cancel."""
_FUNCTIONS = frozenset(
    {
        "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BiasGelu", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp",
        "FastGelu", "Gelu", "Log", "Mish", "Pow", "QuickGelu", "Selu", "Sigmoid", "Sin", "Sinh", "Softmax", "Softplus",
        "Swish", "Tan", "Tanh",
    }
)  # fmt: skip
_NORMALIZATIONS = frozenset(
    {
        "EmbedLayerNormalization", "GroupNormalization", "LayerNormalization", "MeanVarianceNormalization",
        "QEmbedLayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization", "SkipLayerNormalization",
        "SkipSimplifiedLayerNormalization",
    }
)  # fmt: skip
_LONG_SUMS = frozenset(
    {
        "Attention", "DFT", "GRU", "GroupQueryAttention", "InstanceNormalization", "LSTM", "LinearAttention",
        "LinearClassifier", "LinearRegressor", "MultiHeadAttention", "QAttention", "RNN", "STFT", "SVMClassifier",
        "SVMRegressor",
    }
)  # fmt: skip
BOUNDS = {
    **dict.fromkeys(SUMS, Bound(is_sum=True)),
    **dict.fromkeys(_LONG_SUMS, Bound(64, is_sum=True)),
    **dict.fromkeys(("DeformConv", "GridSample", "Resize", "RoiAlign", "Upsample"), Bound(32, is_sum=True)),
    **dict.fromkeys(_FUNCTIONS, Bound(relative=4e-6, absolute=4e-7)),
    **dict.fromkeys(_NORMALIZATIONS, Bound(absolute=2e-3)),
    "Det": Bound(relative=1e-4),
    "DynamicQuantizeLSTM": Bound(absolute=2e-6),
    "MatMulNBits": Bound(relative=1e-4, absolute=1e-4),
}
"""The tolerance of each operator's float results, as docs/reference/onnx.md states it."""
_TREES = frozenset({"TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor"})
_AXES_AS_INPUT = 18
"""The opset from which on ReduceMean has its axes as an input, as ReduceSum does."""
_PRODUCTS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
_INDEX = 4
"""The size in bytes from which an integer input may be an index. Smaller integers are taken as quantized."""


def compared(
    source: Source, profile: Profile, max_bytes: int = 2 << 30, shapes: Mapping[str, Sequence[int]] | None = None
) -> ComparisonSource:
    """Import a file with the arithmetic of a profile, and return its description for a comparison with ONNX Runtime.

    ``shapes`` has shapes of inputs by name, in place of the file's. Raises the errors of `read` and `import_model`.
    """
    file = with_shapes(read(source, max_bytes=max_bytes), shapes or {})
    importer = Importer(file, profile, max_bytes=max_bytes)
    module = importer.run()
    values = named_values(module.function("main"))
    folding = importer.main.folding
    groups = {group.parts[-1].index: group for group in importer.groups}
    inside = {part.index for group in importer.groups for part in group.parts[:-1]}
    tensors, left = [], 0
    for op in file.graph.operators:
        for name in () if op.key == "Constant" else filter(None, op.outputs):
            if name not in values and (op.index in inside or op.key == "DequantizeLinear"):
                left += 1
            else:
                group = groups.get(op.index)
                tensor, maker = (
                    _compared_tensor(file, profile, op, name, _display_name(op, group), folding, group),
                    None,
                )
                if name in values:
                    maker = values[name].operation
                    tensor = replace(tensor, bound=_bound_of_row(tensor.bound, op, values[name]))
                is_cast = maker is not None and maker.name == "quant.qcast"
                tensors.append(replace(tensor, cast_of=op.inputs[0]) if is_cast else tensor)
    return ComparisonSource(file.name, module, [_input(file.graph, port) for port in file.graph.inputs], tensors, left)


def _bound_of_row(bound: Bound, op: Operator, value: Value) -> Bound:
    """Return ``bound``, increased if the operator is a softmax whose rows have more than 10,000 terms.

    The runtime sums such rows less exactly.
    """
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    if op.key not in ("LogSoftmax", "Softmax") or not shape:
        return bound
    axis = op.attributes.get("axis", -1 if op.opset >= 13 else 1)
    sizes = shape[axis : axis + 1 or None] if op.opset >= 13 else shape[axis:]
    terms = math.prod(size or 1 for size in sizes)
    return replace(bound, relative=bound.relative * max(1.0, terms / _LONG))


_LONG = 10_000
"""The number of terms of a softmax beyond which its bound grows with them."""


def _compared_tensor(
    file: Model, profile: Profile, op: Operator, name: str, called: str, folding: Folding, group: Group | None
) -> ComparedTensor:
    bound, constants = _bound_of(op), file.graph.constants
    if group is not None and group.parts[0].key in ROUNDED:
        inner = group.parts[0]
        alone = partial(_operator_program, file, profile, inner)
        interval = partial(rounding_interval, folding, group, BOUNDS.get(inner.type, Bound()))
        return ComparedTensor(name, name, called, bound, _computed(inner, constants), alone, interval)
    if op.key not in _PRODUCTS or any(
        operand in constants and constants[operand].dtype != "float" for operand in op.inputs
    ):
        return ComparedTensor(name, name, called, bound)
    return ComparedTensor(
        name, name, called, bound, _computed(op, constants), partial(_operator_program, file, profile, op)
    )


def _bound_of(op: Operator) -> Bound:
    """Return the allowed difference of an operator's float results.

    Decision trees must be exact, unless the node has a ``post_transform``.
    """
    is_transformed = op.attributes.get("post_transform", "NONE") not in ("NONE", 0)
    return BOUNDS["LinearRegressor"] if op.type in _TREES and is_transformed else BOUNDS.get(op.type, Bound())


def _computed(op: Operator, constants: Mapping[str, Tensor]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in op.inputs if name and name not in constants))


def _operator_program(
    file: Model, profile: Profile, op: Operator, change: Callable[[Array], Array], operands: Mapping[int | str, Array]
) -> Module:
    """Return a program that computes one operator on float32, with the function ``change`` applied to its constants.

    The magnitudes of the operands of a Sub are added. The number of terms of a ReduceMean is the sum of ones.
    """
    ports = tuple(ModelPort(str(name), "float", array.shape) for name, array in operands.items())
    constants = {
        name: replace(file.graph.constants[name], data=change(file.graph.constants[name].data))
        for name in op.inputs
        if name in file.graph.constants
    }
    factors = {
        name: float(change(np.asarray(op.attributes.get(name, 1.0), np.float32)))
        for name in ("alpha", "beta")
        if op.type == "Gemm"
    }
    kind = op.type
    if kind == "Sub" and change in (np.abs, np.ones_like):
        kind = "Add"
    elif kind == "ReduceMean" and change is np.ones_like and op.opset >= _AXES_AS_INPUT:
        kind = "ReduceSum"
    operator = replace(op, index=0, type=kind, attributes={**op.attributes, **factors})
    graph = ModelGraph(op.name, ports, (ModelPort(op.outputs[0], "float", None),), (operator,), constants)
    return import_model(Model(file.name, file.ir_version, file.opsets, file.producer, graph, {}), profile)


def _display_name(op: Operator, group: Group | None) -> str:
    """Return the name and index of an operator, such as "Conv 3"; for a folded group, those of its float operator."""
    if group is None:
        return f"{op.name} {op.index}"
    first = group.parts[0]
    return (
        f"{group.folded.name} {op.index}" if first.key == "DynamicQuantizeLinear" else f"QDQ {first.name} {first.index}"
    )


def _input(graph: ModelGraph, port: ModelPort) -> Input:
    dtype = numpy_dtype(port.dtype)
    zero_point = None
    if dtype.itemsize < _INDEX and dtype.kind in "iu":
        zero_point = 0 if dtype.kind == "i" else 1 << (8 * dtype.itemsize - 1)
    return Input(port.name, dtype.name, port.shape or (), zero_point, _limit(graph, port.name))


def _limit(graph: ModelGraph, name: str) -> int:
    """Return n for the integer input ``name``, whose test data must be from 0 to n - 1.

    If the input indexes a constant in a Gather, n is the size of the indexed axis. Otherwise n is 2.
    """
    limit = 2
    for op in graph.operators:
        if op.key == "Gather" and op.inputs[1:2] == (name,) and op.inputs[0] in graph.constants:
            shape, axis = graph.constants[op.inputs[0]].shape, op.attributes.get("axis", 0)
            if isinstance(axis, int) and -len(shape) <= axis < len(shape):
                limit = shape[axis]
    return limit
