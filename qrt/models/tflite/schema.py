"""The schema of TFLite files as data: tables, enumerations and operator codes.

`tests/models/tflite/test_schema.py` compares it with the accessors that flatc generates from the schema.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

SCALARS = {
    "?": "?", "b": "i1", "B": "u1", "h": "i2", "H": "u2", "i": "i4", "I": "u4", "q": "i8", "Q": "u8", "f": "f4",
    "d": "f8",
}  # fmt: skip
"""The codes of `struct` for scalars, and NumPy's names for them."""

TABLES = {
    "Model": """
        version:I operator_codes:[OperatorCode] subgraphs:[SubGraph] description:string buffers:[Buffer]
        metadata_buffer:[i] metadata:_ signature_defs:[SignatureDef]
    """,
    "OperatorCode": "deprecated_builtin_code:b custom_code:string version:i=1 builtin_code:i",
    "SubGraph": "tensors:[Tensor] inputs:[i] outputs:[i] operators:[Operator] name:string debug_metadata_index:i=-1",
    "Tensor": """
        shape:[i] type:TensorType buffer:I name:string quantization:QuantizationParameters is_variable:?
        sparsity:SparsityParameters shape_signature:[i] has_rank:? variant_tensors:[VariantSubType]
    """,
    "QuantizationParameters": """
        min:_ max:_ scale:[f] zero_point:[q] details_type:B details:QuantizationDetails? quantized_dimension:i
    """,
    "Operator": """
        opcode_index:I inputs:[i] outputs:[i] builtin_options_type:B builtin_options:BuiltinOptions?
        custom_options:[B] custom_options_format:b mutating_variable_inputs:[?] intermediates:[i]
        large_custom_options_offset:Q large_custom_options_size:Q builtin_options2_type:B
        builtin_options2:BuiltinOptions2? debug_metadata_index:i=-1
    """,
    "Buffer": "data:[B] offset:Q size:Q",
    "SignatureDef": "inputs:[TensorMap] outputs:[TensorMap] signature_key:string _ subgraph_index:I",
    "TensorMap": "name:string tensor_index:I",
    "AddOptions": "fused_activation_function:ActivationFunctionType pot_scale_int16:?=1",
    "ArgMaxOptions": "output_type:TensorType",
    "ArgMinOptions": "output_type:TensorType",
    "BatchMatMulOptions": "adj_x:? adj_y:? asymmetric_quantize_inputs:?",
    "BidirectionalSequenceLSTMOptions": """
        fused_activation_function:ActivationFunctionType cell_clip:f proj_clip:f merge_outputs:? time_major:?=1
        asymmetric_quantize_inputs:?
    """,
    "BidirectionalSequenceRNNOptions": """
        time_major:? fused_activation_function:ActivationFunctionType merge_outputs:?
        asymmetric_quantize_inputs:?
    """,
    "BlockwiseQuantization": "scales:i zero_points:i block_size:i block_shape:[i]",
    "BucketizeOptions": "boundaries:[f]",
    "CallOnceOptions": "init_subgraph_index:i",
    "CallOptions": "subgraph:I",
    "CastOptions": "in_data_type:TensorType out_data_type:TensorType",
    "ConcatEmbeddingsOptions": "num_channels:i num_columns_per_channel:[i] embedding_dim_per_channel:[i]",
    "ConcatenationOptions": "axis:i fused_activation_function:ActivationFunctionType",
    "Conv2DOptions": """
        padding:Padding stride_w:i stride_h:i fused_activation_function:ActivationFunctionType
        dilation_w_factor:i=1 dilation_h_factor:i=1 quantized_bias_type:TensorType
    """,
    "Conv3DOptions": """
        padding:Padding stride_d:i stride_w:i stride_h:i fused_activation_function:ActivationFunctionType
        dilation_d_factor:i=1 dilation_w_factor:i=1 dilation_h_factor:i=1
    """,
    "CumsumOptions": "exclusive:? reverse:?",
    "DepthToSpaceOptions": "block_size:i",
    "DepthwiseConv2DOptions": """
        padding:Padding stride_w:i stride_h:i depth_multiplier:i
        fused_activation_function:ActivationFunctionType dilation_w_factor:i=1 dilation_h_factor:i=1
    """,
    "DimensionMetadata": """
        format:DimensionType dense_size:i array_segments_type:B array_segments:SparseIndexVector?
        array_indices_type:B array_indices:SparseIndexVector?
    """,
    "DivOptions": "fused_activation_function:ActivationFunctionType",
    "EmbeddingLookupSparseOptions": "combiner:CombinerType",
    "FakeQuantOptions": "min:f max:f num_bits:i narrow_range:?",
    "FullyConnectedOptions": """
        fused_activation_function:ActivationFunctionType weights_format:FullyConnectedOptionsWeightsFormat
        keep_num_dims:? asymmetric_quantize_inputs:? quantized_bias_type:TensorType
    """,
    "GatherOptions": "axis:i batch_dims:i",
    "GeluOptions": "approximate:?",
    "HashtableOptions": "table_id:i key_dtype:TensorType value_dtype:TensorType",
    "IfOptions": "then_subgraph_index:i else_subgraph_index:i",
    "Int32Vector": "values:[i]",
    "L2NormOptions": "fused_activation_function:ActivationFunctionType",
    "LSHProjectionOptions": "type:LSHProjectionType",
    "LSTMOptions": """
        fused_activation_function:ActivationFunctionType cell_clip:f proj_clip:f kernel_type:LSTMKernelType
        asymmetric_quantize_inputs:?
    """,
    "LeakyReluOptions": "alpha:f",
    "LocalResponseNormalizationOptions": "radius:i bias:f alpha:f beta:f",
    "MirrorPadOptions": "mode:MirrorPadMode",
    "MulOptions": "fused_activation_function:ActivationFunctionType",
    "OneHotOptions": "axis:i",
    "PackOptions": "values_count:i axis:i",
    "Pool2DOptions": """
        padding:Padding stride_w:i stride_h:i filter_width:i filter_height:i
        fused_activation_function:ActivationFunctionType
    """,
    "RNNOptions": "fused_activation_function:ActivationFunctionType asymmetric_quantize_inputs:?",
    "RandomOptions": "seed:q seed2:q",
    "ReduceWindowOptions": "reduce_function:ReduceWindowFunction",
    "ReducerOptions": "keep_dims:?",
    "ReshapeOptions": "new_shape:[i]",
    "ResizeBilinearOptions": "_ _ align_corners:? half_pixel_centers:?",
    "ResizeNearestNeighborOptions": "align_corners:? half_pixel_centers:?",
    "ReverseSequenceOptions": "seq_dim:i batch_dim:i",
    "SVDFOptions": "rank:i fused_activation_function:ActivationFunctionType asymmetric_quantize_inputs:?",
    "SequenceRNNOptions": """
        time_major:? fused_activation_function:ActivationFunctionType asymmetric_quantize_inputs:?
    """,
    "ShapeOptions": "out_type:TensorType",
    "SkipGramOptions": "ngram_size:i max_skip_size:i include_all_ngrams:?",
    "SoftmaxOptions": "beta:f",
    "SpaceToDepthOptions": "block_size:i",
    "SparseToDenseOptions": "validate_indices:?",
    "StableHLOCompositeOptions": """
        name:string decomposition_subgraph_index:i composite_attributes:[B] composite_attributes_format:b version:i
    """,
    "StablehloGatherOptions": """
        offset_dims:[q] collapsed_slice_dims:[q] start_index_map:[q] index_vector_dim:q slice_sizes:[q]
        indices_are_sorted:?
    """,
    "StablehloPadOptions": "edge_padding_low:[q] edge_padding_high:[q] interior_padding:[q]",
    "StablehloReduceWindowOptions": """
        window_dimensions:[q] window_strides:[q] base_dilations:[q] window_dilations:[q] padding:[q]
        body_subgraph_index:i
    """,
    "StablehloScatterOptions": """
        indices_are_sorted:? update_window_dims:[q] inserted_window_dims:[q] scatter_dims_to_operand_dims:[q]
        index_vector_dim:q unique_indices:? update_computation_subgraph_index:i
    """,
    "SparsityParameters": "traversal_order:[i] block_map:[i] dim_metadata:[DimensionMetadata]",
    "SplitOptions": "num_splits:i",
    "SplitVOptions": "num_splits:i",
    "SqueezeOptions": "squeeze_dims:[i]",
    "StridedSliceOptions": "begin_mask:i end_mask:i ellipsis_mask:i new_axis_mask:i shrink_axis_mask:i offset:?",
    "SubOptions": "fused_activation_function:ActivationFunctionType pot_scale_int16:?=1",
    "TransposeConvOptions": """
        padding:Padding stride_w:i stride_h:i fused_activation_function:ActivationFunctionType
        quantized_bias_type:TensorType
    """,
    "Uint16Vector": "values:[H]",
    "Uint8Vector": "values:[B]",
    "UnidirectionalSequenceLSTMOptions": """
        fused_activation_function:ActivationFunctionType cell_clip:f proj_clip:f time_major:?
        asymmetric_quantize_inputs:? diagonal_recurrent_tensors:?
    """,
    "UniqueOptions": "idx_out_type:TensorType=2",
    "UnpackOptions": "num:i axis:i",
    "VarHandleOptions": "container:string shared_name:string",
    "WhileOptions": "cond_subgraph_index:i body_subgraph_index:i",
}
"""The fields of each table in the order of its vtable, as `name:kind=default`.

A kind is a code of `SCALARS`, an enumeration, another table, `string`, `[kind]` for a vector, or `Union?`, whose table
is selected by the preceding field. A field with the name or the kind `_` is not read. Options tables that are not
listed have no fields."""

_ENUMERATIONS = {
    "TensorType": """
        FLOAT32 FLOAT16 INT32 UINT8 INT64 STRING BOOL INT16 COMPLEX64 INT8 FLOAT64 COMPLEX128 UINT64
        RESOURCE VARIANT UINT32 UINT16 INT4 BFLOAT16 INT2 UINT4 FLOAT8_E4M3FN FLOAT8_E5M2
    """,
    "DimensionType": "DENSE SPARSE_CSR",
    "ActivationFunctionType": "NONE RELU RELU_N1_TO_1 RELU6 TANH SIGN_BIT",
    "Padding": "SAME VALID",
    "MirrorPadMode": "REFLECT SYMMETRIC",
    "LSTMKernelType": "FULL BASIC",
    "FullyConnectedOptionsWeightsFormat": "DEFAULT SHUFFLED4x16INT8",
    "CombinerType": "SUM MEAN SQRTN",
    "ReduceWindowFunction": "UNSUPPORTED ADD MUL MINIMUM MAXIMUM ALL ANY",
    "LSHProjectionType": "UNKNOWN SPARSE DENSE",
}

_UNIONS = {
    "QuantizationDetails?": "NONE CustomQuantization BlockwiseQuantization MultiAxisQuantization",
    "SparseIndexVector?": "NONE Int32Vector Uint16Vector Uint8Vector",
    "BuiltinOptions?": """
    NONE Conv2DOptions DepthwiseConv2DOptions ConcatEmbeddingsOptions LSHProjectionOptions Pool2DOptions
    SVDFOptions RNNOptions FullyConnectedOptions SoftmaxOptions ConcatenationOptions AddOptions L2NormOptions
    LocalResponseNormalizationOptions LSTMOptions ResizeBilinearOptions CallOptions ReshapeOptions
    SkipGramOptions SpaceToDepthOptions EmbeddingLookupSparseOptions MulOptions PadOptions GatherOptions
    BatchToSpaceNDOptions SpaceToBatchNDOptions TransposeOptions ReducerOptions SubOptions DivOptions
    SqueezeOptions SequenceRNNOptions StridedSliceOptions ExpOptions TopKV2Options SplitOptions
    LogSoftmaxOptions CastOptions DequantizeOptions MaximumMinimumOptions ArgMaxOptions LessOptions NegOptions
    PadV2Options GreaterOptions GreaterEqualOptions LessEqualOptions SelectOptions SliceOptions
    TransposeConvOptions SparseToDenseOptions TileOptions ExpandDimsOptions EqualOptions NotEqualOptions
    ShapeOptions PowOptions ArgMinOptions FakeQuantOptions PackOptions LogicalOrOptions OneHotOptions
    LogicalAndOptions LogicalNotOptions UnpackOptions FloorDivOptions SquareOptions ZerosLikeOptions FillOptions
    BidirectionalSequenceLSTMOptions BidirectionalSequenceRNNOptions UnidirectionalSequenceLSTMOptions
    FloorModOptions RangeOptions ResizeNearestNeighborOptions LeakyReluOptions SquaredDifferenceOptions
    MirrorPadOptions AbsOptions SplitVOptions UniqueOptions ReverseV2Options AddNOptions GatherNdOptions
    CosOptions WhereOptions RankOptions ReverseSequenceOptions MatrixDiagOptions QuantizeOptions
    MatrixSetDiagOptions HardSwishOptions IfOptions WhileOptions DepthToSpaceOptions NonMaxSuppressionV4Options
    NonMaxSuppressionV5Options ScatterNdOptions SelectV2Options DensifyOptions SegmentSumOptions
    BatchMatMulOptions CumsumOptions CallOnceOptions BroadcastToOptions Rfft2dOptions Conv3DOptions
    HashtableOptions HashtableFindOptions HashtableImportOptions HashtableSizeOptions VarHandleOptions
    ReadVariableOptions AssignVariableOptions RandomOptions BucketizeOptions GeluOptions
    DynamicUpdateSliceOptions UnsortedSegmentProdOptions UnsortedSegmentMaxOptions UnsortedSegmentMinOptions
    UnsortedSegmentSumOptions ATan2Options SignOptions BitcastOptions BitwiseXorOptions RightShiftOptions
    """,
    "BuiltinOptions2?": """
    NONE StablehloConcatenateOptions StablehloBroadcastInDimOptions StablehloSliceOptions
    StablehloConvolutionOptions StablehloCustomCallOptions StablehloReduceOptions StablehloScatterOptions
    StablehloCompareOptions StablehloDynamicSliceOptions StablehloPadOptions StablehloIotaOptions
    StablehloDotGeneralOptions StablehloReduceWindowOptions StablehloSortOptions StablehloWhileOptions
    StablehloGatherOptions StablehloTransposeOptions DilateOptions StablehloRngBitGeneratorOptions
    ReduceWindowOptions StableHLOCompositeOptions StablehloShiftLeftOptions
    """,
}

_OPERATORS = """
    ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE EMBEDDING_LOOKUP FLOOR
    FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LOGISTIC
    LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX
    SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD
    UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE
    UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE
    BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL
    LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT
    RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT
    UNPACK REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR
    LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK
    ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4
    NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM BATCH_MATMUL
    PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D IMAG REAL COMPLEX_ABS
    HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL CONV_3D_TRANSPOSE VAR_HANDLE
    READ_VARIABLE ASSIGN_VARIABLE BROADCAST_ARGS RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL
    GELU DYNAMIC_UPDATE_SLICE RELU_0_TO_1 UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2
    UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT STABLEHLO_LOGISTIC STABLEHLO_ADD STABLEHLO_DIVIDE
    STABLEHLO_MULTIPLY STABLEHLO_MAXIMUM STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE
    STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CONVOLUTION STABLEHLO_SLICE STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE
    STABLEHLO_ABS STABLEHLO_AND STABLEHLO_COSINE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG
    STABLEHLO_MINIMUM STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER STABLEHLO_RSQRT
    STABLEHLO_SELECT STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_SCATTER STABLEHLO_COMPARE STABLEHLO_CONVERT
    STABLEHLO_DYNAMIC_SLICE STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_PAD STABLEHLO_IOTA STABLEHLO_DOT_GENERAL
    STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT STABLEHLO_WHILE STABLEHLO_GATHER STABLEHLO_TRANSPOSE DILATE
    STABLEHLO_RNG_BIT_GENERATOR REDUCE_WINDOW STABLEHLO_COMPOSITE STABLEHLO_SHIFT_LEFT STABLEHLO_CBRT
"""
"""The names of the operators, in the order of their codes."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a table in the schema.

    ``code`` is the `struct` code of a number, of a vector's elements or of an enumeration. ``size`` is the field's
    number of bytes inside the table. ``item_size`` is the number of bytes of each element of a vector or string, which
    the table only points at. ``is_plain`` is True for a number.
    """

    name: str
    size: int
    default: Any
    code: str = ""
    enumeration: str | None = None
    table: str | None = None
    union: str | None = None
    is_vector: bool = False
    is_plain: bool = False
    item_size: int = 0

    @property
    def is_string(self) -> bool:
        """True if the field is a string."""
        return self.table == "string" and not self.is_vector


@cache
def fields(table: str) -> tuple[Field, ...]:
    """Return the fields of a table, in the order of its vtable."""
    return tuple(map(_field, TABLES.get(table, "").split()))


def _field(text: str) -> Field:
    name, _, rest = text.partition(":")
    kind, _, default = rest.partition("=")
    if "_" in (name, kind):
        return Field(name, 1, None, "b", is_plain=True)
    if kind in SCALARS:
        number = float(default or 0) if kind in "fd" else int(default or 0)
        return Field(name, int(SCALARS[kind][1:] or 1), bool(number) if kind == "?" else number, kind, is_plain=True)
    if kind in _ENUMERATIONS:
        code = "i" if kind == "ReduceWindowFunction" else "b"
        return Field(name, int(SCALARS[code][1:]), enumeration(kind)[int(default or 0)], code, enumeration=kind)
    if kind in _UNIONS:
        return Field(name, 4, None, union=kind)
    if kind.startswith("["):
        item = kind[1:-1]
        if item in SCALARS:
            size = int(SCALARS[item][1:] or 1)
            return Field(name, 4, np.empty(0, SCALARS[item]), item, is_vector=True, item_size=size)
        return Field(name, 4, (), table=item, is_vector=True, item_size=4)
    return Field(name, 4, "" if kind == "string" else None, table=kind, item_size=1 if kind == "string" else 0)


@cache
def enumeration(name: str) -> tuple[str, ...]:
    """Return the names of an enumeration's values 0, 1, 2, ..."""
    return tuple(_ENUMERATIONS[name].split())


@cache
def _union(name: str) -> tuple[str, ...]:
    return tuple(_UNIONS[name].split())


def union_table(union: str, kind: int) -> str | None:
    """Return the table name for a union's type code ``kind``; None for code 0 (no value) and for unknown codes."""
    known = _union(union)
    return known[kind] if 0 < kind < len(known) else None


@cache
def operators() -> tuple[str, ...]:
    """Return the names of TFLite's operators, in the order of their codes."""
    return tuple(_OPERATORS.split())


_SHARED = {
    "AVERAGE_POOL_2D": "Pool2DOptions", "MAX_POOL_2D": "Pool2DOptions", "L2_POOL_2D": "Pool2DOptions",
    "L2_NORMALIZATION": "L2NormOptions", "MEAN": "ReducerOptions", "SUM": "ReducerOptions",
    "REDUCE_PROD": "ReducerOptions", "REDUCE_MAX": "ReducerOptions", "REDUCE_MIN": "ReducerOptions",
    "REDUCE_ANY": "ReducerOptions", "REDUCE_ALL": "ReducerOptions", "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions", "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
    "CONV_3D_TRANSPOSE": "Conv3DOptions", "RANDOM_UNIFORM": "RandomOptions", "RANDOM_STANDARD_NORMAL": "RandomOptions",
    "MULTINOMIAL": "RandomOptions",
}  # fmt: skip


@cache
def options_table(operator: str) -> str | None:
    """Return the name of an operator's options table, such as "Conv2DOptions"; None if the operator has none."""
    return _SHARED.get(operator) or _by_name().get(operator.replace("_", "").lower())


@cache
def _by_name() -> dict[str, str]:
    names = _union("BuiltinOptions?") + _union("BuiltinOptions2?")
    return {name.removesuffix("Options").lower(): name for name in names}
