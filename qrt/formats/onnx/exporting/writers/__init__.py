"""The ops that are written, by subject: each file of this folder has a line here with what it writes. It is loaded when
a program has one of these ops.
"""

FILES = {
    "casts": "quant.qcast quant.dcast qrt.requantize qrt.clamp",
    "dynamic": "qrt.dynamic_matmul qrt.dynamic_lstm",
    "elementwise": "qrt.add qrt.sub qrt.mul qrt.div qrt.maximum qrt.minimum qrt.squared_difference",
    "extremes": "qrt.argmax qrt.argmin qrt.reduce_max qrt.reduce_min qrt.top_k",
    "floats": "arith.addf arith.subf arith.mulf arith.divf arith.maximumf arith.minimumf arith.negf math.absf "
    "math.ceil math.cos math.erf math.exp math.floor math.log math.roundeven math.sin math.sqrt math.tanh",
    "functions": "qrt.softmax qrt.log_softmax qrt.logistic qrt.tanh qrt.leaky_relu qrt.prelu qrt.lookup",
    "movement": "qrt.reshape qrt.transpose qrt.concat qrt.pad qrt.slice qrt.tile qrt.gather qrt.gather_nd",
    "nests": "linalg.generic arith.addi arith.andi arith.cmpf arith.cmpi arith.muli arith.ori arith.select arith.subi "
    "arith.xori",
    "products": "qrt.conv2d qrt.depthwise_conv2d qrt.transpose_conv2d qrt.matmul qrt.float_matmul",
    "recurrent": "qrt.lstm",
    "reductions": "qrt.mean qrt.sum qrt.avg_pool2d qrt.max_pool2d",
    "resizing": "qrt.resize_bilinear qrt.resize_nearest",
    "sizes": "tensor.splat",
}
"""The ops of each file."""
