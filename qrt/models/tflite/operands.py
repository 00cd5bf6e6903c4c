"""Table of the operands and the number of results of each TFLite operator."""

from dataclasses import dataclass
from functools import cache

_UNARY = """ABS BUCKETIZE CAST CEIL COS DENSIFY DEQUANTIZE ELU EXP FAKE_QUANT FLOOR GELU HARD_SWISH LEAKY_RELU
    LOCAL_RESPONSE_NORMALIZATION LOG LOGICAL_NOT LOGISTIC LOG_SOFTMAX NEG QUANTIZE RANK RELU RELU6 RELU_0_TO_1
    RELU_N1_TO_1 ROUND RSQRT SHAPE SIGN SIN SOFTMAX SQRT SQUARE TANH ZEROS_LIKE AVERAGE_POOL_2D MAX_POOL_2D
    L2_POOL_2D L2_NORMALIZATION SPACE_TO_DEPTH DEPTH_TO_SPACE SQUEEZE READ_VARIABLE BITCAST"""
_BINARY = """STABLEHLO_ADD STABLEHLO_AND STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_MULTIPLY STABLEHLO_PAD
    STABLEHLO_REDUCE_WINDOW STABLEHLO_SHIFT_LEFT ADD SUB MUL DIV FLOOR_DIV FLOOR_MOD POW MAXIMUM MINIMUM
    SQUARED_DIFFERENCE ATAN2 EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER GREATER_EQUAL LOGICAL_AND LOGICAL_OR PRELU
    BATCH_MATMUL PAD MIRROR_PAD TRANSPOSE TILE EXPAND_DIMS REVERSE_SEQUENCE FILL BROADCAST_TO BROADCAST_ARGS GATHER
    GATHER_ND REVERSE_V2 RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR ARG_MAX ARG_MIN CUMSUM MEAN SUM REDUCE_PROD
    REDUCE_MAX REDUCE_MIN REDUCE_ANY REDUCE_ALL BITWISE_XOR RIGHT_SHIFT"""

_GATES = """input_to_input? input_to_forget input_to_cell input_to_output
    recurrent_to_input? recurrent_to_forget recurrent_to_cell recurrent_to_output
    cell_to_input? cell_to_forget? cell_to_output? input_bias? forget_bias cell_bias output_bias
    projection? projection_bias?"""
_STATES, _NORMS = "hidden_state cell_state", "input_norm? forget_norm? cell_norm? output_norm?"
_AUXILIARY = "auxiliary_to_input? auxiliary_to_forget? auxiliary_to_cell? auxiliary_to_output?"
_ALL_OPTIONAL = " ".join(f"{name.rstrip('?')}?" for name in f"{_GATES} {_STATES} {_NORMS}".split())
OPERANDS = {
    **dict.fromkeys(_UNARY.split(), "x"),
    **dict.fromkeys(_BINARY.split(), "a b"),
    "CONV_2D": "x filter bias?",
    "DEPTHWISE_CONV_2D": "x filter bias?",
    "FULLY_CONNECTED": "x weights bias? -> *",  # a second result belongs to shuffled weights
    "TRANSPOSE_CONV": "output_shape filter x bias?",
    "CONV_3D": "x filter bias?",
    "CONV_3D_TRANSPOSE": "output_shape filter x bias?",
    "CONCATENATION": "x+",
    "ADD_N": "x+",
    "PACK": "x+",
    "PADV2": "x paddings value",
    "RESHAPE": "x shape?",
    "SLICE": "x begin size",
    "STRIDED_SLICE": "x begin end strides",
    "SPLIT": "axis x -> *",
    "SPLIT_V": "x sizes axis -> *",
    "UNPACK": "x -> *",
    "TOPK_V2": "x k -> 2",
    "SPACE_TO_BATCH_ND": "x block paddings",
    "BATCH_TO_SPACE_ND": "x block crops",
    "SELECT": "condition a b",
    "SELECT_V2": "condition a b",
    "RANGE": "start limit delta",
    "ONE_HOT": "indices depth on off",
    "DYNAMIC_UPDATE_SLICE": "x update start",
    "EMBEDDING_LOOKUP": "indices table",
    "COMPLEX_ABS": "x",
    "IMAG": "x",
    "REAL": "x",
    "RFFT2D": "x sizes",
    "MATRIX_DIAG": "diagonal",
    "MATRIX_SET_DIAG": "x diagonal",
    "DILATE": "x dilations padding",
    "REDUCE_WINDOW": "x start sizes strides dilations",
    "SEGMENT_SUM": "x segments",
    "UNSORTED_SEGMENT_MAX": "x segments count",
    "UNSORTED_SEGMENT_MIN": "x segments count",
    "UNSORTED_SEGMENT_PROD": "x segments count",
    "UNSORTED_SEGMENT_SUM": "x segments count",
    "STABLEHLO_GATHER": "x positions",
    "STABLEHLO_SCATTER": "x positions updates",
    "SCATTER_ND": "indices updates shape",
    "SPARSE_TO_DENSE": "indices shape values default",
    "SVDF": "x feature_weights time_weights bias? state",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": f"x {_GATES} {_STATES} {_NORMS}",
    "LSTM": f"x {_ALL_OPTIONAL} -> *",  # its option kernel_type determines which it needs
    "BIDIRECTIONAL_SEQUENCE_LSTM": f"x {_GATES} {_GATES} {_STATES} {_STATES} auxiliary? {_AUXILIARY} {_AUXILIARY} -> *",
    "RNN": "x weights recurrent bias hidden_state",
    "BIDIRECTIONAL_SEQUENCE_RNN": "x weights recurrent bias hidden_state weights recurrent bias hidden_state "
    "auxiliary? auxiliary_weights? auxiliary_weights? -> *",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "x weights recurrent bias hidden_state",
    "VAR_HANDLE": "",
    "ASSIGN_VARIABLE": "handle value -> 0",
    "CALL_ONCE": "-> 0",
    "IF": "condition x* -> *",
    "WHILE": "x* -> *",
    "CALL": "x* -> *",
    "STABLEHLO_COMPOSITE": "x* -> *",
    "TFLite_Detection_PostProcess": "boxes scores anchors -> 4",
    "Convolution2DTransposeBias": "x weights bias",
}
"""The operands of each operator, and after an arrow the number of results if it is not 1.

`?` marks an optional operand, `*` any number of operands, `+` one or more. Operators that are not in the table are
neither checked nor imported."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of an operator. With ``is_many`` it is the last operand, and stands for any number of tensors."""

    name: str
    is_optional: bool
    is_many: bool


@cache
def operands(operator: str) -> tuple[tuple[Operand, ...], int, int | None]:
    """Return an operator's operands, the least number of operands, and the number of results (None for any number)."""
    given, _, results = OPERANDS[operator].partition("->")
    declared = tuple(Operand(text.rstrip("?*+"), text[-1] in "?*", text[-1] in "*+") for text in given.split())
    least = max((number for number, operand in enumerate(declared, 1) if not operand.is_optional), default=0)
    count = results.strip()
    return declared, least, None if count == "*" else int(count or 1)
