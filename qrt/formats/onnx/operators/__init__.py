"""The operators of ONNX, by subject: each file of this folder has a line here with what it imports. It is loaded when a
model has one of these operators. A name outside of ONNX's own domain has its domain before it.
"""

FILES = {
    "activations": "Clip HardSigmoid HardSwish LeakyRelu PRelu Relu",
    "arithmetic": "Abs Add And BitwiseAnd BitwiseOr BitwiseXor Cast CastLike Ceil Div Equal Floor Greater "
    "GreaterOrEqual Less LessOrEqual Max Min Mul Neg Not Or Reciprocal Round Sqrt Sub Sum Where Xor",
    "casts": "DequantizeLinear QuantizeLinear",
    "convolution": "Conv QLinearConv",
    "movement": "Concat DepthToSpace Dropout Expand Flatten Identity Reshape SpaceToDepth Squeeze Tile Transpose "
    "Unsqueeze",
    "pooling": "AveragePool GlobalAveragePool GlobalMaxPool MaxPool",
    "products": "Gemm MatMul MatMulInteger QLinearMatMul com.microsoft::QGemm",
    "reductions": "ArgMax ArgMin BatchNormalization ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Softmax",
    "shapes": "Constant ConstantOfShape Range Shape Size",
    "slicing": "Gather GatherND Pad Slice Split",
}
"""The operators of each file."""
