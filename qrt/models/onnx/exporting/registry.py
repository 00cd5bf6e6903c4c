"""The registry of the functions that export operations as ONNX nodes. Each function is in a file of `writers`."""

from collections.abc import Callable

from qrt.models.onnx.exporting.group import Group
from qrt.ops import FAMILIES
from qrt.registry import Registry, places_by_name

Writer = Callable[[Group], None]

_FOLDER = "qrt.models.onnx.exporting.writers"
_ELEMENTWISE = [
    family.declaration.op for family in FAMILIES.values() if family.traits.is_elementwise and not family.traits.tables
]
"""The elementwise operations. Those that have no writer below are written by `functions.elementwise`."""
WRITERS: Registry[Writer] = Registry(
    "writer",
    dict.fromkeys(_ELEMENTWISE, f"{_FOLDER}.functions:elementwise")
    | places_by_name(
        _FOLDER,
        {
            "elementwise:clamp": "qrt.clamp",
            "elementwise:dequantize": "quant.dcast",
            "elementwise:quantize": "qrt.requantize quant.qcast",
            "dynamic:dynamic_lstm": "qrt.dynamic_lstm",
            "dynamic:dynamic_matmul": "qrt.dynamic_matmul",
            "elementwise:operator": "arith.addf arith.divf arith.maximumf arith.minimumf arith.mulf arith.negf "
            "arith.subf math.absf math.ceil math.cos math.erf math.exp math.floor math.log math.roundeven math.sin "
            "math.sqrt math.tanh qrt.add qrt.div qrt.logistic qrt.maximum qrt.minimum qrt.mul qrt.sub qrt.tanh",
            "elementwise:squared_difference": "qrt.squared_difference",
            "reductions:arg": "qrt.argmax qrt.argmin",
            "reductions:reduce_extreme": "qrt.reduce_max qrt.reduce_min",
            "reductions:top_k": "qrt.top_k",
            "functions:leaky_relu": "qrt.leaky_relu",
            "functions:lookup": "qrt.lookup",
            "functions:prelu": "qrt.prelu",
            "functions:softmax": "qrt.log_softmax qrt.softmax",
            "movement:concat": "qrt.concat",
            "movement:gather": "qrt.gather",
            "movement:gather_nd": "qrt.gather_nd",
            "movement:pad": "qrt.pad",
            "movement:reshape": "qrt.reshape",
            "movement:slice_": "qrt.slice",
            "movement:tile": "qrt.tile",
            "movement:transpose": "qrt.transpose",
            "nests:elementwise": "arith.addi arith.andi arith.cmpf arith.cmpi arith.muli arith.ori arith.select "
            "arith.subi arith.xori linalg.generic",
            "products:conv2d": "qrt.conv2d",
            "products:depthwise_conv2d": "qrt.depthwise_conv2d",
            "products:matmul": "qrt.float_matmul qrt.matmul",
            "products:transpose_conv2d": "qrt.transpose_conv2d",
            "recurrent:lstm": "qrt.lstm",
            "reductions:pool": "qrt.avg_pool2d qrt.max_pool2d",
            "reductions:reduce": "qrt.mean qrt.sum",
            "resizing:resize": "qrt.resize_bilinear qrt.resize_nearest",
            "sizes:splat": "tensor.splat",
        },
    ),
)
"""The functions that export operations, by the operation's name."""
