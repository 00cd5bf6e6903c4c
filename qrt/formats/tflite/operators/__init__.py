"""The operators of TFLite, by subject: each file of this folder has a line here with what it imports. It is loaded when
a model has one of these operators.
"""

FILES = {
    "activations": "ABS LEAKY_RELU NEG PRELU RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1",
    "arithmetic": "ADD DIV MAXIMUM MINIMUM MUL SQUARED_DIFFERENCE SUB",
    "arithmetic_plain": "EQUAL FLOOR_DIV FLOOR_MOD GREATER GREATER_EQUAL LESS LESS_EQUAL LOGICAL_AND LOGICAL_NOT "
    "LOGICAL_OR NOT_EQUAL POW",
    "blocks": "BATCH_TO_SPACE_ND DEPTH_TO_SPACE SPACE_TO_BATCH_ND SPACE_TO_DEPTH",
    "casts": "DEQUANTIZE QUANTIZE",
    "control": "ASSIGN_VARIABLE CALL CALL_ONCE IF READ_VARIABLE VAR_HANDLE WHILE",
    "convolution": "CONV_2D DEPTHWISE_CONV_2D",
    "dense": "FULLY_CONNECTED",
    "extremes": "ARG_MAX ARG_MIN REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN TOPK_V2",
    "functions": "ELU EXP GELU HARD_SWISH LOG LOGISTIC LOG_SOFTMAX RSQRT SOFTMAX SQRT TANH",
    "gathering": "GATHER GATHER_ND",
    "matmul": "BATCH_MATMUL",
    "movement": "BROADCAST_TO CONCATENATION EXPAND_DIMS PACK RESHAPE SQUEEZE TILE TRANSPOSE UNPACK",
    "one_hot": "ONE_HOT",
    "pooling": "AVERAGE_POOL_2D MAX_POOL_2D",
    "recurrent": "SVDF UNIDIRECTIONAL_SEQUENCE_LSTM",
    "reductions": "MEAN SUM",
    "resizing": "RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR",
    "shapes": "BROADCAST_ARGS CAST FILL RANGE RANK SELECT SELECT_V2 SHAPE ZEROS_LIKE",
    "slicing": "MIRROR_PAD PAD PADV2 REVERSE_V2 SLICE SPLIT SPLIT_V STRIDED_SLICE",
    "transpose_conv": "TRANSPOSE_CONV",
}
"""The operators of each file."""
PLAIN_FILES = {
    "activations_plain": "ELU HARD_SWISH LEAKY_RELU LOGISTIC PRELU RELU RELU6 RELU_N1_TO_1",
    "arithmetic_plain": "ABS ADD CEIL COS DIV EXP FLOOR LOG MAXIMUM MINIMUM MUL NEG ROUND RSQRT SIN SQRT SQUARE "
    "SQUARED_DIFFERENCE SUB TANH",
    "float_sums": "SOFTMAX",
}
"""The operators of which a file imports the forms without a quantized input."""
