"""An ONNX file as it is compared with ONNX Runtime: the tensors that nodes of its graph make."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from qrt.formats.importing.compared import Bound, Compared, Input, Made, named_values
from qrt.formats.importing.source import Source
from qrt.formats.onnx.folding import Group
from qrt.formats.onnx.importing import Importer, import_model
from qrt.formats.onnx.model import Graph, Model, Operator, Port
from qrt.formats.onnx.read import read
from qrt.formats.onnx.types import numpy_dtype
from qrt.ir import Module
from qrt.ops.core import Array
from qrt.profiles import Profile

SUMS = frozenset(
    {
        "AffineGrid", "AveragePool", "CausalConvWithState", "Conv", "ConvTranspose", "CumSum", "Einsum", "Gemm",
        "GlobalAveragePool", "GlobalLpPool", "LogSoftmax", "LpPool", "MatMul", "ReduceL1", "ReduceL2", "ReduceMean",
        "ReduceSum", "ReduceSumSquare", "RotaryEmbedding",
    }
)  # fmt: skip
"""Operators whose floats are sums: the order of the terms depends on the CPU, and where they cancel, little is left."""
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
_SEQUENCES = frozenset(
    {
        "Attention", "GRU", "InstanceNormalization", "LSTM", "LinearAttention", "MultiHeadAttention", "QAttention",
        "RNN",
    }
)  # fmt: skip
BOUNDS = {
    **dict.fromkeys(SUMS, Bound(is_sum=True)),
    **dict.fromkeys(_SEQUENCES, Bound(64, is_sum=True)),
    **dict.fromkeys(("Resize", "Upsample"), Bound(32, is_sum=True)),
    **dict.fromkeys(_FUNCTIONS, Bound(relative=4e-6, absolute=4e-7)),
    **dict.fromkeys(_NORMALIZATIONS, Bound(absolute=2e-3)),
    "DynamicQuantizeLSTM": Bound(absolute=2e-6),
    "MatMulNBits": Bound(relative=1e-4, absolute=1e-4),
}
"""What docs/reference/onnx.md says of floats, by operator."""
_PRODUCTS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
_INDEX = 4
"""The bytes of an integer that may be an index. Smaller ones are taken as quantized."""


def compared(source: Source, profile: Profile) -> Compared:
    """A file with the rules of a profile. Raises what `read` and `import_model` raise."""
    file = read(source)
    importer = Importer(file, profile)
    module = importer.run()
    values = named_values(module.function("main"))
    groups = {group.parts[-1].index: group for group in importer.groups}
    inside = {part.index for group in importer.groups for part in group.parts[:-1]}
    tensors, left = [], 0
    for op in file.graph.operators:
        for name in () if op.key == "Constant" else filter(None, op.outputs):
            if name not in values and (op.index in inside or op.key == "DequantizeLinear"):
                left += 1
            else:
                tensors.append(_made(file, profile, op, name, _called(op, groups)))
    return Compared(file.name, module, [_input(file.graph, port) for port in file.graph.inputs], tensors, left)


def _made(file: Model, profile: Profile, op: Operator, name: str, called: str) -> Made:
    bound = BOUNDS.get(op.type, Bound())
    constants = file.graph.constants
    if op.key not in _PRODUCTS or any(each in constants and constants[each].dtype != "float" for each in op.inputs):
        return Made(name, name, called, bound)
    reads = tuple(dict.fromkeys(each for each in op.inputs if each and each not in constants))
    return Made(name, name, called, bound, reads, partial(_alone, file, profile, op))


def _alone(
    file: Model, profile: Profile, op: Operator, change: Callable[[Array], Array], operands: Mapping[int | str, Array]
) -> Module:
    """The program of a sum of products of float32."""
    ports = tuple(Port(str(name), "float", array.shape) for name, array in operands.items())
    constants = {
        name: replace(file.graph.constants[name], data=change(file.graph.constants[name].data))
        for name in op.inputs
        if name in file.graph.constants
    }
    factors = {name: float(change(np.asarray(op.attributes.get(name, 1.0), np.float32))) for name in ("alpha", "beta")}
    made = replace(op, index=0, attributes={**op.attributes, **factors})
    graph = Graph(op.name, ports, (Port(op.outputs[0], "float", None),), (made,), constants)
    return import_model(Model(file.name, file.ir_version, file.opsets, file.producer, graph, {}), profile)


def _called(op: Operator, groups: Mapping[int, Group]) -> str:
    """An operator with its index; of a group beside casts the operator between them."""
    group = groups.get(op.index)
    if group is None:
        return f"{op.name} {op.index}"
    first = group.parts[0]
    return (
        f"{group.folded.name} {op.index}" if first.key == "DynamicQuantizeLinear" else f"QDQ {first.name} {first.index}"
    )


def _input(graph: Graph, port: Port) -> Input:
    dtype = numpy_dtype(port.dtype)
    zero_point = None
    if dtype.itemsize < _INDEX and dtype.kind in "iu":
        zero_point = 0 if dtype.kind == "i" else 1 << (8 * dtype.itemsize - 1)
    return Input(port.name, dtype.name, port.shape or (), zero_point, _limit(graph, port.name))


def _limit(graph: Graph, name: str) -> int:
    """How many positions a Gather has for an input that it reads, where the file says it."""
    limit = 2
    for op in graph.operators:
        if op.key == "Gather" and op.inputs[1:2] == (name,) and op.inputs[0] in graph.constants:
            shape, axis = graph.constants[op.inputs[0]].shape, op.attributes.get("axis", 0)
            if isinstance(axis, int) and -len(shape) <= axis < len(shape):
                limit = shape[axis]
    return limit
