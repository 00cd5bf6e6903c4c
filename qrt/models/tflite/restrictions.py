"""Restrictions of the dtypes and quantization of an operator's tensors, checked before its import function runs."""

from qrt.errors import shown
from qrt.models.tflite.model import Tensor
from qrt.models.tflite.node import Node

_COMPLEX = {
    "COMPLEX_ABS": (1, 0),
    "EXPAND_DIMS": (1, 1),
    "IMAG": (1, 0),
    "REAL": (1, 0),
    "RESHAPE": (1, 1),
    "RFFT2D": (0, 1),
    "SQUEEZE": (1, 1),
}
"""The operators that may read or compute complex numbers: how many of their inputs and results are complex."""
_PACKED_INPUTS = {
    "int4": {
        "CONV_2D": 1, "DEPTHWISE_CONV_2D": 1, "DEQUANTIZE": 0, "EMBEDDING_LOOKUP": 1, "FULLY_CONNECTED": 1, "GATHER": 0,
    },
    "int2": {"DEQUANTIZE": 0, "EMBEDDING_LOOKUP": 1, "FULLY_CONNECTED": 1},
    "uint4": {"DEQUANTIZE": 0},
}  # fmt: skip
"""The input that may be of a dtype of less than 8 bits, by operator."""
_BLOCKWISE_INPUTS = {("input", 1, "EMBEDDING_LOOKUP"), ("input", 1, "FULLY_CONNECTED")}
"""The inputs that may have a scale for each block of elements."""
_SPARSE_INPUTS = {("DENSIFY", 0), ("FULLY_CONNECTED", 1)}
"""The inputs that may be sparse constants, as (operator, input number)."""
_INT16_ZERO_POINTS = frozenset(
    {
        "ASSIGN_VARIABLE", "AVERAGE_POOL_2D", "BITCAST", "BROADCAST_TO", "CALL", "CAST", "DIV", "DYNAMIC_UPDATE_SLICE",
        "EQUAL", "EXPAND_DIMS", "FLOOR_DIV", "FLOOR_MOD", "GATHER", "GATHER_ND", "GREATER", "GREATER_EQUAL", "IF",
        "LESS", "LESS_EQUAL", "MATRIX_DIAG", "MATRIX_SET_DIAG", "MAXIMUM", "MAX_POOL_2D", "MINIMUM", "NEG", "NOT_EQUAL",
        "PACK", "PAD", "PRELU", "QUANTIZE", "RANK", "READ_VARIABLE", "RESHAPE", "RESIZE_BILINEAR",
        "RESIZE_NEAREST_NEIGHBOR", "REVERSE_SEQUENCE", "REVERSE_V2", "SELECT", "SELECT_V2", "SHAPE", "SLICE", "SOFTMAX",
        "SPLIT", "SPLIT_V", "SQUEEZE", "STABLEHLO_COMPOSITE", "STRIDED_SLICE", "TILE", "TOPK_V2", "TRANSPOSE", "UNPACK",
        "WHILE",
    }
)  # fmt: skip
"""The operators that LiteRT runs on int16 tensors with a zero point other than 0."""

_SCALED_INPUTS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        (
            "ABS", "ADD", "AVERAGE_POOL_2D", "DIV", "ELU", "EXP", "GELU", "HARD_SWISH", "LEAKY_RELU", "LOG", "LOGISTIC",
            "LOG_SOFTMAX", "LSTM", "MAX_POOL_2D", "MEAN", "MUL", "PRELU", "RELU", "RELU6", "RELU_0_TO_1",
            "RELU_N1_TO_1", "RSQRT", "SOFTMAX", "SQRT", "SQUARED_DIFFERENCE", "SUB", "SUM", "SVDF", "TANH",
            "TFLite_Detection_PostProcess", "UNIDIRECTIONAL_SEQUENCE_LSTM",
        ),
        (),
    ),
    "BATCH_MATMUL": (0, 1),
    "CONV_2D": (1, 2),
    "DEPTHWISE_CONV_2D": (1, 2),
    "FULLY_CONNECTED": (1, 2),
    "TRANSPOSE_CONV": (1, 3),
}  # fmt: skip
"""The operators that compute with scales: the numbers of the inputs that may have several scales."""
_SEVERAL_ZERO_POINTS = {("input", 0, "DEQUANTIZE"), ("output", 0, "QUANTIZE")}
"""The tensors that may have a zero point other than 0 for each index of an axis."""


def require_supported_tensors(node: Node) -> None:
    """Raise UnsupportedForm if the operator never supports the packing, sparsity or zero points of its tensors.

    Only DENSIFY and the weights of FULLY_CONNECTED may be sparse. For most operators, zero points of int16 must be 0.
    """
    _require_packed_weights(node)
    _require_scales(node)
    for i, tensor in enumerate(node.inputs):
        if tensor is not None and tensor.blocks is not None and (node.op.name, i) not in _SPARSE_INPUTS:
            node.refuse(f"sparse input {i} {shown(tensor.name)}, without a DENSIFY before it")
    if node.op.name not in _INT16_ZERO_POINTS:
        for tensor in (*node.inputs, *node.outputs):
            if tensor is not None and tensor.dtype == "int16" and has_zero_point(tensor):
                node.refuse(f"{shown(tensor.name)} of int16 with a zero point other than 0, which LiteRT does not run")


def _require_scales(node: Node) -> None:
    """Raise UnsupportedForm if a tensor has several scales or zero points that the operator does not support.

    LiteRT reads the scale of such a tensor as 0, and does not read its zero points.
    """
    supported = _SCALED_INPUTS.get(node.op.name)
    for what, tensors in (("input", node.inputs), ("output", node.outputs)):
        for i, tensor in enumerate(tensors):
            if tensor is None or tensor.quantization is None or tensor.quantization.scales.size < 2:
                continue
            if supported is not None and (what == "output" or i not in supported):
                node.refuse(f"{what} {i} {shown(tensor.name)} of {tensor.dtype} with several scales")
            if has_zero_point(tensor) and (what, i, node.op.name) not in _SEVERAL_ZERO_POINTS:
                node.refuse(f"{what} {i} {shown(tensor.name)} of {tensor.dtype} with several zero points")


def has_zero_point(tensor: Tensor) -> bool:
    """Return True if a zero point of the tensor is not 0."""
    return tensor.quantization is not None and bool(tensor.quantization.zero_points.any())


def _require_packed_weights(node: Node) -> None:
    """Raise UnsupportedForm if the operator does not support a tensor with blocks or with integers of less than 8 bits.

    DEQUANTIZE and GATHER support such integers in input 0. Other operators support them only as constant weights. Zero
    points must be 0, except for DEQUANTIZE.
    """
    for what, tensors in (("input", node.inputs), ("output", node.outputs)):
        for i, tensor in enumerate(tensors):
            if tensor is None:
                continue
            quantization, name = tensor.quantization, node.op.name
            if tensor.unsupported:
                node.refuse(f"{what} {i} {shown(tensor.name)} with {tensor.unsupported}")
            if quantization is not None and quantization.block_size and (what, i, name) not in _BLOCKWISE_INPUTS:
                blocks = f"a scale for each block of {quantization.block_size} elements"
                node.refuse(f"{what} {i} {shown(tensor.name)} with {blocks}")
            if tensor.dtype not in _PACKED_INPUTS:
                continue
            where = f"{what} {i} {shown(tensor.name)}"
            expected = 0 if what == "output" and name == "GATHER" else _PACKED_INPUTS[tensor.dtype].get(name)
            if i != expected or (what == "output" and name != "GATHER"):
                node.refuse(f"{where} of {tensor.dtype}")
            if name not in ("DEQUANTIZE", "GATHER") and not tensor.is_constant:
                node.refuse(f"{where} of {tensor.dtype}, known only at run time")
            if name != "DEQUANTIZE" and quantization is not None and quantization.zero_points.any():
                node.refuse(f"weights {shown(tensor.name)} of {tensor.dtype} with a zero point other than 0")


def moves_complex_numbers(node: Node) -> bool:
    """Return True if the operator moves complex numbers.

    Raise UnsupportedForm if it reads or computes complex numbers in a way that is not supported.
    """
    reads, computes = (
        [tensor for tensor in tensors if tensor is not None and tensor.dtype.startswith("complex")]
        for tensors in (node.inputs, node.outputs)
    )
    if not reads and not computes:
        return False
    supported = _COMPLEX.get(node.op.name)
    if (len(reads), len(computes)) != supported or any(tensor.index not in node.graph.imaginary for tensor in reads):
        node.refuse("complex numbers" if supported is None else "complex numbers that RFFT2D does not compute")
    return supported == (1, 1)
