"""Description of a TFLite file for its comparison with LiteRT: the results of the operators of the first subgraph."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod

from qrt.ir import Module
from qrt.models.importing.comparison_source import Bound, ComparedTensor, ComparisonSource, Input
from qrt.models.importing.source import Source
from qrt.models.profiles import Profile
from qrt.models.tflite.graph import Graph
from qrt.models.tflite.importing import Importer, import_model, with_shapes
from qrt.models.tflite.model import ABSENT, Model, Operator, Subgraph, Tensor
from qrt.models.tflite.read import read
from qrt.ops.core import Array

RECURRENT = (
    "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "LSTM", "RNN", "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "UNIDIRECTIONAL_SEQUENCE_RNN",
)  # fmt: skip
SUMS = frozenset(
    {
        "AVERAGE_POOL_2D", "BATCH_MATMUL", "COMPLEX_ABS", "CONV_2D", "CONV_3D", "CONV_3D_TRANSPOSE",
        "Convolution2DTransposeBias", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "GELU", "IMAG", "L2_NORMALIZATION",
        "LOG_SOFTMAX", "MEAN", "REAL", "SOFTMAX", "SUM", "TRANSPOSE_CONV", *RECURRENT,
    }
)  # fmt: skip
"""The operators whose float results are sums. The order of additions may depend on the CPU, and terms may cancel."""


_DIVIDING = ("DIV", "FLOOR_DIV", "FLOOR_MOD")
"""The operators for which LiteRT rejects integer divisors of 0. Only DIV subtracts zero points."""
LEAST = 2.0**-126
"""The least normal float32. XNNPACK reads and writes smaller numbers as 0."""
_BOUNDS: Mapping[str, Bound] = {
    **dict.fromkeys(("COMPLEX_ABS", "IMAG", "REAL"), Bound(1, is_sum=True, absolute=2.0**-40)),
    "COS": Bound(absolute=2.0**-21),
    "EXP": Bound(64, absolute=LEAST),
    "GELU": Bound(absolute=2.0**-20),
    "HARD_SWISH": Bound(absolute=2.0**-23),
    "LOG": Bound(absolute=2.0**-22),
    "LOG_SOFTMAX": Bound(8, is_sum=True, absolute=LEAST),
    "SIN": Bound(absolute=2.0**-21),
    "SOFTMAX": Bound(8, is_sum=True, absolute=LEAST),
    "SVDF": Bound(8, absolute=LEAST),
    "TANH": Bound(8, absolute=LEAST),
    **dict.fromkeys(RECURRENT, Bound(64, is_sum=True, absolute=LEAST)),
}
"""The largest allowed differences of floats, by operator, as documented in docs/reference/tflite.md. Those of LSTM and
RNN are larger because errors accumulate from step to step."""


def bound_of(operator: str) -> Bound:
    """Return the largest allowed difference of the float results of an operator."""
    return _BOUNDS.get(operator, Bound(is_sum=operator in SUMS, absolute=LEAST))


def compared(
    source: Source, profile: Profile, max_bytes: int = 2 << 30, shapes: Mapping[str, Sequence[int]] | None = None
) -> ComparisonSource:
    """Import a TFLite file by the rules of a profile, for its comparison with LiteRT.

    ``shapes`` has shapes of inputs, by the names of the program's arguments, that replace those in the file. Raise the
    errors of `read` and `import_model`.
    """
    file = with_shapes(read(source, max_bytes=max_bytes), shapes or {})
    subgraph = file.subgraphs[0]
    names = Graph(Importer(file, profile), subgraph).names
    tensors = [
        _compared_tensor(file, profile, operator, index, names)
        for operator in subgraph.operators
        for index in operator.outputs
        if index >= 0 and subgraph.tensors[index].dtype not in ("complex64", "resource", "string", "variant")
    ]
    return ComparisonSource(file.name, import_model(file, profile), inputs_of(subgraph), tensors)


def _compared_tensor(
    file: Model, profile: Profile, operator: Operator, index: int, names: Sequence[str]
) -> ComparedTensor:
    """Return the description of an operator's result, the tensor ``index``. ``names`` has the names of all tensors.

    For a float SUM or MEAN the description allows a difference that depends on the magnitudes of the terms.
    """
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
    """Return the program of one SUM or MEAN operator of the file, whose input has the shape of the given operand.

    ``_change``, a function of the operator's constants, is ignored, because the only constants are the axes.
    """
    subgraph = file.subgraphs[0]
    x, tensors = operator.inputs[0], list(subgraph.tensors)
    ((key, array),) = operands.items()
    tensors[x] = replace(tensors[x], name=str(key), shape=array.shape, signature=array.shape)
    only = (replace(operator, index=0),)
    graph = replace(subgraph, tensors=tuple(tensors), operators=only, inputs=(x,), outputs=operator.outputs)
    return import_model(replace(file, subgraphs=(graph,), signatures=()), profile)


def inputs_of(subgraph: Subgraph) -> list[Input]:
    """Return the inputs of a subgraph, with their static shapes in the file."""
    divisors = {op.inputs[1]: op.name for op in subgraph.operators if op.name in _DIVIDING and len(op.inputs) == 2}
    return [_input(subgraph.tensors[index], divisors.get(index)) for index in subgraph.inputs]


def _input(tensor: Tensor, divided_by: str | None) -> Input:
    """Return the description of an input, given the operator of which it is the divisor, if any."""
    zero_point = None if tensor.quantization is None else int(tensor.quantization.zero_points[0])
    zero = (zero_point or 0) if divided_by == "DIV" else 0
    is_excluded = divided_by is not None and tensor.dtype != "float32"
    return Input(tensor.name, tensor.dtype, tensor.shape, zero_point, excluded=zero if is_excluded else None)
