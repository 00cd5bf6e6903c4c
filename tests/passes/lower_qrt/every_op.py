"""An instance of every op that is no sum of products: (name, (shape, element) of each operand, result, attributes).

In whole bytes: what upstream executes of tensor.pad on i4 puts the elements elsewhere."""

from qrt.types import UniformType
from tests.ops.harness import tensor
from tests.ops.test_binary import channels

X = UniformType("i8", "f32", 0.5, -128)
Y = UniformType("u8", "f32", 0.75, 255, storage_min=1)
WINDOW = {"kernel": (2, 3), "strides": (2, 1), "padding": ((1, 0), (1, 2))}
IMAGE = (2, 5, 4, 3)
TABLE = UniformType("u16", "f32", 0.5, 65535)

EVERY_OP = [
    *[(name, [((4, 1, 3), X), ((2, 3), channels(Y, 3, 1))], channels(X, 2, 1), {}) for name in ("add", "sub", "mul")],
    *[("mul", [((2,), X), ((2,), Y)], X, {"requant": rule}) for rule in ("fixed_double", "float32", "float64_away")],
    ("requantize", [((4, 3), channels(X, 3, 1))], channels(Y, 4, 0), {}),
    ("requantize", [((), X)], Y, {}),
    ("clamp", [((4, 3), channels(Y, 3, 1))], None, {"min": 0.0}),
    ("max_pool2d", [(IMAGE, Y)], None, WINDOW),
    ("avg_pool2d", [(IMAGE, channels(X, 3, 3))], Y, WINDOW),
    ("avg_pool2d", [((0, 2, 2, 1), X)], Y, {}),
    ("mean", [(IMAGE, channels(X, 3, 3))], Y, {"axes": (1, 2), "keepdims": True}),
    ("mean", [(IMAGE, X)], Y, {}),
    ("lookup", [((2, 3), X), ((256,), TABLE)], None, {}),
    ("softmax", [((2, 3, 4), Y)], X, {"axis": 1}),
    ("pad", [((2, 3), channels(X, 3, 1))], None, {"padding": ((1, 2), (0, 0)), "value": 2.0}),
    ("reshape", [((2, 6), X)], tensor((3, 4), X), {}),
    ("reshape", [((1, 1), X)], tensor((), X), {}),
    ("transpose", [(IMAGE, channels(X, 3, 3))], None, {"permutation": (3, 0, 2, 1)}),
    ("transpose", [((), X)], None, {}),
    ("concat", [((2, 3), X), ((2, 1), Y), ((2, 2), X)], X, {"axis": 1}),
]
DYNAMIC = [
    ("add", [((None, 3), X), ((1, 3), Y)], X, {}),
    ("avg_pool2d", [((None, None, None, 3), X)], Y, WINDOW),
    ("softmax", [((None, 3), Y)], X, {}),
    ("pad", [((None, 3), X)], None, {"padding": ((1, 2), (0, 0))}),
    ("reshape", [((None, 6), X)], tensor((None, 4), X), {}),
    ("transpose", [((None, 3), X)], None, {"permutation": (1, 0)}),
    ("concat", [((None, 3), X), ((None, 3), Y)], X, {}),
]
