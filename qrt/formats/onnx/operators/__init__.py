"""The operators of ONNX, by subject: each file of this folder has a line here with what it imports. It is loaded when a
model has one of these operators. A name outside of ONNX's own domain has its domain before it.
"""

FILES = {
    "activations": "Clip HardSigmoid HardSwish LeakyRelu PRelu Relu",
    "arithmetic": "Abs Add And BitwiseAnd BitwiseOr BitwiseXor Cast CastLike Ceil Div Equal Floor Greater "
    "GreaterOrEqual Less LessOrEqual Max Min Mul Neg Not Or Reciprocal Round Sqrt Sub Sum Where Xor",
    "casts": "DequantizeLinear DynamicQuantizeLinear QuantizeLinear",
    "composites": "Hardmax InstanceNormalization LpNormalization com.microsoft::Attention "
    "com.microsoft::EmbedLayerNormalization com.microsoft::MultiHeadAttention com.microsoft::QAttention "
    "com.microsoft::QEmbedLayerNormalization com.microsoft::RotaryEmbedding",
    "control": "If Loop Scan",
    "convolution": "Conv ConvInteger QLinearConv",
    "defined": "AffineGrid Attention BlackmanWindow CausalConvWithState CenterCropPad GroupNormalization "
    "HammingWindow HannWindow LinearAttention LogSoftmax MeanVarianceNormalization NegativeLogLikelihoodLoss ReduceL1 "
    "ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare RotaryEmbedding Shrink SoftmaxCrossEntropyLoss SwiGLU "
    "ThresholdedRelu",
    "einsum": "Einsum",
    "functions": "Acos Acosh Asin Asinh Atan Atanh Celu Cos Cosh Elu Erf Exp Gelu Log Mish Pow Selu Sigmoid Sin Sinh "
    "Softplus Softsign Swish Tan Tanh com.microsoft::BiasGelu com.microsoft::FastGelu com.microsoft::Gelu "
    "com.microsoft::QuickGelu",
    "indexing": "Compress GatherElements GatherND NonZero Scatter ScatterElements ScatterND",
    "lines": "CumSum EyeLike OneHot ReverseSequence TopK Trilu",
    "movement": "Concat DepthToSpace Dropout Expand Flatten Identity Reshape SpaceToDepth Squeeze Tile Transpose "
    "Unsqueeze",
    "normalization": "LayerNormalization RMSNormalization SimplifiedLayerNormalization "
    "com.microsoft::SkipLayerNormalization com.microsoft::SkipSimplifiedLayerNormalization",
    "numbers": "BitShift BitwiseNot IsInf IsNaN Mean Mod Sign",
    "pooling": "AveragePool GlobalAveragePool GlobalMaxPool MaxPool",
    "powers": "GlobalLpPool LRN LpPool",
    "products": "Gemm MatMul MatMulInteger QLinearMatMul com.microsoft::QGemm",
    "quantized": "com.microsoft::QLinearAdd com.microsoft::QLinearAveragePool com.microsoft::QLinearConcat "
    "com.microsoft::QLinearGlobalAveragePool com.microsoft::QLinearLeakyRelu com.microsoft::QLinearMul "
    "com.microsoft::QLinearSigmoid com.microsoft::QLinearSoftmax com.microsoft::QLinearWhere",
    "recurrent": "com.microsoft::DynamicQuantizeLSTM",
    "recurrent_floats": "GRU LSTM RNN",
    "reductions": "ArgMax ArgMin BatchNormalization ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Softmax",
    "resizing": "Resize Upsample",
    "shapes": "Constant ConstantOfShape Range Shape Size",
    "slicing": "Gather Pad Slice Split",
    "transposed": "ConvTranspose",
    "weight_only": "com.microsoft::DynamicQuantizeMatMul com.microsoft::MatMulNBits",
}
"""The operators of each file."""
