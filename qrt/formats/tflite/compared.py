"""A TFLite file as it is compared with LiteRT: the tensors that operators of its first subgraph make."""

from qrt.formats.importing.compared import Bound, Compared, Input, Made
from qrt.formats.importing.source import Source
from qrt.formats.tflite.importing import Graph, Importer, import_model
from qrt.formats.tflite.model import Subgraph, Tensor
from qrt.formats.tflite.read import read
from qrt.profiles import Profile

SUMS = frozenset(
    {
        "AVERAGE_POOL_2D", "BATCH_MATMUL", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "GELU",
        "L2_NORMALIZATION", "LOG_SOFTMAX", "MEAN", "SOFTMAX", "SUM", "SVDF", "TRANSPOSE_CONV",
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        "UNIDIRECTIONAL_SEQUENCE_RNN",
    }
)  # fmt: skip
"""Operators whose floats are sums: the order of the terms depends on the CPU, and where they cancel, little is left."""


ULPS = {"EXP": 64, "SIN": 64, "SOFTMAX": 8, "UNIDIRECTIONAL_SEQUENCE_LSTM": 64, "UNIDIRECTIONAL_SEQUENCE_RNN": 64}
"""The units in the last place within which results of these lie: functions that the runtime approximates, and sequences
whose steps hand on what they made."""


def bound_of(operator: str) -> Bound:
    """How far floats of an operator may lie apart."""
    return Bound(ULPS.get(operator, Bound.ulp), is_sum=operator in SUMS)


def compared(source: Source, profile: Profile) -> Compared:
    """A file with the rules of a profile. Raises what `read` and `import_model` raise."""
    file = read(source)
    subgraph = file.subgraphs[0]
    names = Graph(Importer(file, profile), subgraph).names
    tensors = [
        Made(names[index], index, f"{operator.name} {operator.index}", bound_of(operator.name))
        for operator in subgraph.operators
        for index in operator.outputs
        if index >= 0 and subgraph.tensors[index].dtype not in ("resource", "string", "variant")
    ]
    return Compared(file.name, import_model(file, profile), inputs_of(subgraph), tensors)


def inputs_of(subgraph: Subgraph) -> list[Input]:
    """The inputs of a subgraph, with the shapes of which the file has tensors."""
    return [_input(subgraph.tensors[index]) for index in subgraph.inputs]


def _input(tensor: Tensor) -> Input:
    zero_point = None if tensor.quantization is None else int(tensor.quantization.zero_points[0])
    return Input(tensor.name, tensor.dtype, tensor.shape, zero_point)
