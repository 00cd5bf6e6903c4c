"""A TFLite file as it is compared with LiteRT: the tensors that operators of its first subgraph make."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod

from qrt.ir import Module
from qrt.models.importing.comparison_source import Bound, ComparedTensor, ComparisonSource, Input
from qrt.models.importing.source import Source
from qrt.models.profiles import Profile
from qrt.models.tflite.graph import Graph
from qrt.models.tflite.importing import Importer, import_model
from qrt.models.tflite.model import ABSENT, Model, Operator, Subgraph, Tensor
from qrt.models.tflite.read import read
from qrt.ops.core import Array

SUMS = frozenset(
    {
        "AVERAGE_POOL_2D", "BATCH_MATMUL", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "GELU",
        "L2_NORMALIZATION", "LOG_SOFTMAX", "MEAN", "SOFTMAX", "SUM", "SVDF", "TRANSPOSE_CONV",
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        "UNIDIRECTIONAL_SEQUENCE_RNN",
    }
)  # fmt: skip
"""Operators whose floats are sums: the order of the terms depends on the CPU, and where they cancel, little is left."""


LEAST = 2.0**-126
"""The least normal float32. XNNPACK reads and writes what is smaller as 0."""
_BOUNDS: Mapping[str, Bound] = {
    "COS": Bound(absolute=2.0**-21),
    "EXP": Bound(64, absolute=LEAST),
    "GELU": Bound(absolute=2.0**-20),
    "HARD_SWISH": Bound(absolute=2.0**-23),
    "LOG": Bound(absolute=2.0**-22),
    "LOG_SOFTMAX": Bound(8, is_sum=True, absolute=LEAST),
    "SIN": Bound(absolute=2.0**-21),
    "SOFTMAX": Bound(8, is_sum=True, absolute=LEAST),
    "TANH": Bound(8, absolute=LEAST),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": Bound(64, is_sum=True, absolute=LEAST),
    "UNIDIRECTIONAL_SEQUENCE_RNN": Bound(64, is_sum=True, absolute=LEAST),
}
"""What docs/reference/tflite.md says of floats, by operator. The steps of sequences hand on what they made."""


def bound_of(operator: str) -> Bound:
    """Say how far floats of an operator may lie apart."""
    return _BOUNDS.get(operator, Bound(is_sum=operator in SUMS, absolute=LEAST))


def compared(source: Source, profile: Profile, max_bytes: int = 2 << 30) -> ComparisonSource:
    """Import a file with the rules of a profile. Raise what `read` and `import_model` raise."""
    file = read(source, max_bytes=max_bytes)
    subgraph = file.subgraphs[0]
    names = Graph(Importer(file, profile), subgraph).names
    tensors = [
        _compared_tensor(file, profile, operator, index, names)
        for operator in subgraph.operators
        for index in operator.outputs
        if index >= 0 and subgraph.tensors[index].dtype not in ("resource", "string", "variant")
    ]
    return ComparisonSource(file.name, import_model(file, profile), inputs_of(subgraph), tensors)


def _compared_tensor(
    file: Model, profile: Profile, operator: Operator, index: int, names: Sequence[str]
) -> ComparedTensor:
    """Describe a tensor. Of a sum or mean of floats both runtimes are compared with the magnitudes of the terms."""
    tensors, name = file.subgraphs[0].tensors, names[index]
    called, bound = f"{operator.name} {operator.index}", bound_of(operator.name)
    x = tensors[operator.inputs[0]] if operator.inputs and operator.inputs[0] != ABSENT else None
    if operator.name not in ("MEAN", "SUM") or x is None or x.dtype != "float32" or x.is_constant:
        return ComparedTensor(name, index, called, bound)
    terms = prod(x.shape) // max(prod(tensors[index].shape), 1)
    key = names[x.index] if x.index in file.subgraphs[0].inputs else x.index  # an input is known by its name
    return ComparedTensor(name, index, called, bound, (key,), partial(_alone, file, profile, operator), terms=terms)


def _alone(
    file: Model,
    profile: Profile,
    operator: Operator,
    _change: Callable[[Array], Array],
    operands: Mapping[int | str, Array],
) -> Module:
    """Make the program of a sum or a mean, whose axes alone are constants."""
    subgraph = file.subgraphs[0]
    x, tensors = operator.inputs[0], list(subgraph.tensors)
    ((key, array),) = operands.items()
    tensors[x] = replace(tensors[x], name=str(key), shape=array.shape, signature=array.shape)
    only = (replace(operator, index=0),)
    graph = replace(subgraph, tensors=tuple(tensors), operators=only, inputs=(x,), outputs=operator.outputs)
    return import_model(replace(file, subgraphs=(graph,), signatures=()), profile)


def inputs_of(subgraph: Subgraph) -> list[Input]:
    """The inputs of a subgraph, with the shapes of which the file has tensors."""
    return [_input(subgraph.tensors[index]) for index in subgraph.inputs]


def _input(tensor: Tensor) -> Input:
    zero_point = None if tensor.quantization is None else int(tensor.quantization.zero_points[0])
    return Input(tensor.name, tensor.dtype, tensor.shape, zero_point)
