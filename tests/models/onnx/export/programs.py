"""Small programs, each of one op in one form, with the operators that it must become."""

X = "!quant.uniform<i8:f32, 0.05:3>"
U = "!quant.uniform<u8:f32, 0.05:130>"
Y = "!quant.uniform<i8:f32, 0.07:-4>"
WORD = "!quant.uniform<i16:f32, 2.44140625E-4>"
Q, D = "QuantizeLinear", "DequantizeLinear"


def program(ports: str, body: str, result: str) -> str:
    """A function ``main`` that returns ``%y``."""
    named = ", ".join(
        f'{port.strip()} {{qrt.name = "{port.split(":")[0].strip().lstrip("%")}"}}' for port in ports.split(";")
    )
    return f'func.func @main({named}) -> ({result} {{qrt.name = "out"}}) {{\n{body}\n  return %y : {result}\n}}'


def unary(op: str, given: str = X, made: str = X, shape: str = "?x5x6x4", out: str | None = None) -> str:
    """An op of one operand, with its attributes."""
    source, target = f"tensor<{shape}x{given}>", f"tensor<{out or shape}x{made}>"
    return program(f"%x: {source}", f"  %y = {op} : ({source}) -> {target}", target)


def binary(op: str, a: str = X, b: str = X, made: str = Y, shapes: tuple[str, str, str] = ("2x5x4",) * 3) -> str:
    """An op of two operands."""
    left, right, out = (f"tensor<{shape}x{element}>" for shape, element in zip(shapes, (a, b, made), strict=True))
    return program(f"%a: {left}; %b: {right}", f"  %y = {op.replace('()', '%a, %b')} : ({left}, {right}) -> {out}", out)


def weights(shape: str, element: str, storage: str = "i8", value: str = "7") -> str:
    """A constant of quantized values."""
    return f"""  %c{storage} = arith.constant dense<{value}> : tensor<{shape}x{storage}>
  %w = quant.scast %c{storage} : tensor<{shape}x{storage}> to tensor<{shape}x{element}>
"""


def product(op: str, x: str, w: str, out: str, values: str, attributes: str, channels: int, clamp: str = "") -> str:
    """A sum of products with constant weights of a scale for each channel, and a bias."""
    axis = {"qrt.conv2d": 0, "qrt.depthwise_conv2d": 2, "qrt.transpose_conv2d": 0, "qrt.matmul": 1}[op]
    scales = [0.02 + 0.01 * channel for channel in range(channels)]
    element = f"!quant.uniform<i8:f32:{axis}, {{{','.join(map(str, scales))}}}>"
    bias = f"!quant.uniform<i32:f32:0, {{{','.join(repr(0.05 * scale) for scale in scales)}}}>"
    kinds = f"tensor<{x}x{X}>, tensor<{w}x{element}>, tensor<{channels}x{bias}>"
    offsets = [100 * channel - 150 for channel in range(channels)]
    body = weights(w, element, value=values)
    body += f"""  %ci32 = arith.constant dense<{offsets}> : tensor<{channels}xi32>
  %b = quant.scast %ci32 : tensor<{channels}xi32> to tensor<{channels}x{bias}>
  %{"z" if clamp else "y"} = {op} %x, %w, %b {{{attributes}}} : ({kinds}) -> tensor<{out}x{Y}>"""
    if clamp:
        body += f"\n  %y = qrt.clamp %z {{{clamp}}} : (tensor<{out}x{Y}>) -> tensor<{out}x{Y}>"
    return program(f"%x: tensor<{x}x{X}>", body, f"tensor<{out}x{Y}>")


def table(given: str, made: str, entries: list[int]) -> str:
    """A lookup."""
    body = f"""  %c = arith.constant dense<{entries}> : tensor<{len(entries)}xi8>
  %t = quant.scast %c : tensor<{len(entries)}xi8> to tensor<{len(entries)}x{made}>
  %y = qrt.lookup %x, %t : (tensor<2x9x{given}>, tensor<{len(entries)}x{made}>) -> tensor<2x9x{made}>"""
    return program(f"%x: tensor<2x9x{given}>", body, f"tensor<2x9x{made}>")


def nibbles() -> str:
    """A lookup of 4 bits."""
    nibble = "!quant.uniform<u4:f32, 0.5:8>"
    body = f"""  %q = qrt.requantize %x : (tensor<2x9x{X}>) -> tensor<2x9x{nibble}>
  %c = arith.constant dense<{[*range(-8, 8)]}> : tensor<16xi8>
  %t = quant.scast %c : tensor<16xi8> to tensor<16x{Y}>
  %y = qrt.lookup %q, %t : (tensor<2x9x{nibble}>, tensor<16x{Y}>) -> tensor<2x9x{Y}>"""
    return program(f"%x: tensor<2x9x{X}>", body, f"tensor<2x9x{Y}>")


def numbers(count: int, modulus: int, step: int) -> list[int]:
    """Different constants without a pattern that an error of axes could keep."""
    return [(step * i * i + 3 * i) % modulus - modulus // 2 for i in range(count)]


def nested(values: list[int], shape: tuple[int, ...]) -> str:
    """Numbers as the text of a constant."""
    if len(shape) == 1:
        return str(values)
    size = len(values) // shape[0]
    return f"[{', '.join(nested(values[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0]))}]"


def values(*shape: int) -> str:
    """The text of a constant of a shape."""
    count = 1
    for size in shape:
        count *= size
    return nested(numbers(count, 251, 7), shape)


def cast(op: str, given: str, made: str) -> str:
    """A cast."""
    source, target = f"tensor<?x5x{given}>", f"tensor<?x5x{made}>"
    return program(f"%x: {source}", f"  %y = {op} : {source} to {target}", target)


def blocked() -> str:
    """Weights of 4 bits in blocks, beside activations of floats."""
    element = "!quant.uniform<i4:f32:{0:2, 1:1}, {{0.5, 0.25, 0.125}, {1.0, 0.75, 2.0}}>"
    body = f"""  %c = arith.constant dense<{nested(numbers(12, 15, 7), (4, 3))}> : tensor<4x3xi4>
  %w = quant.scast %c : tensor<4x3xi4> to tensor<4x3x{element}>
  %f = quant.dcast %x : tensor<?x4x{X}> to tensor<?x4xf32>
  %y = qrt.float_matmul %f, %w : (tensor<?x4xf32>, tensor<4x3x{element}>) -> tensor<?x3xf32>"""
    return program(f"%x: tensor<?x4x{X}>", body, "tensor<?x3xf32>")


def floats() -> str:
    """Arithmetic of floats between casts."""
    kind = "tensor<2x4xf32>"
    body = f"""  %0 = quant.dcast %x : tensor<2x4x{X}> to {kind}
  %1 = math.exp %0 : {kind}
  %2 = arith.addf %1, %0 : {kind}
  %y = quant.qcast %2 : {kind} to tensor<2x4x{Y}>"""
    return program(f"%x: tensor<2x4x{X}>", body, f"tensor<2x4x{Y}>")


SIGMOID = "!quant.uniform<i16:f32, 3.0517578125E-5>"
PARTS = "!quant.uniform<u8:f32, 0.00390625>"


def nest() -> str:
    """The greater of a tensor and a vector that is added to it, along the first axis: a loop nest."""
    maps = "[affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>]"
    body = f"""  %0 = quant.dcast %x : tensor<4x2x{X}> to tensor<4x2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %1 = linalg.generic {{indexing_maps = {maps}, iterator_types = ["parallel", "parallel"]}}
    ins(%0, %v : tensor<4x2xf32>, tensor<4xf32>) outs(%e : tensor<4x2xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %c = arith.cmpf ogt, %s, %a : f32
    %r = arith.select %c, %s, %a : f32
    linalg.yield %r : f32
  }} -> tensor<4x2xf32>
  %y = quant.qcast %1 : tensor<4x2xf32> to tensor<4x2x{Y}>"""
    return program(f"%x: tensor<4x2x{X}>; %v: tensor<4xf32>", body, f"tensor<4x2x{Y}>")


HALF = 'strides = [2, 2], padding = [[1, 0], [0, 1]], requant = "fixed_double"'
SPREAD = "strides = [2, 2], padding = [[1, 1], [1, 1]], output_padding = [1, 1]"
AVERAGE = 'qrt.avg_pool2d %x {kernel = [2, 3], strides = [1, 2], padding = [[1, 0], [1, 1]], requant = "integer"}'
HALVES = 'qrt.resize_bilinear %x {size = [10, 9], half_pixel_centers = true, rule = "fixed11"}'
SOFT = 'qrt.softmax %x {axis = 1 : i64, beta = 0.5 : f64, requant = "table_float32"}'
AROUND = "qrt.pad %x {padding = [[0, 0], [1, 2], [0, 1], [0, 0]]"
ABS = [max(-128, min(127, round(abs(code - 3) * 0.05 / 0.0625))) for code in range(-128, 128)]
PROGRAMS: dict[str, tuple[str, list[str]]] = {
    "conv2d": (
        product("qrt.conv2d", "?x5x6x2", "3x3x2x2", "?x2x3x3", values(3, 3, 2, 2), HALF, 3),
        ["Transpose", D, D, D, "Conv", Q, "Transpose"],
    ),
    "conv2d in groups, clamped": (
        product("qrt.conv2d", "1x5x6x4", "4x2x2x2", "1x4x5x4", values(4, 2, 2, 2), "groups = 2", 4, "min = 0.0 : f64"),
        ["Transpose", D, D, D, "Conv", "Relu", Q, "Transpose"],
    ),
    "depthwise_conv2d": (
        product("qrt.depthwise_conv2d", "?x5x6x2", "3x2x4", "?x3x5x4", values(3, 2, 4), 'requant = "float32"', 4),
        ["Transpose", D, D, D, "Conv", Q, "Transpose"],
    ),
    "transpose_conv2d": (
        product("qrt.transpose_conv2d", "1x3x4x2", "3x3x3x2", "1x6x8x3", values(3, 3, 3, 2), SPREAD, 3),
        ["Transpose", D, D, D, "ConvTranspose", Q, "Transpose"],
    ),
    "matmul": (
        product("qrt.matmul", "?x6", "6x3", "?x3", values(6, 3), 'requant = "float64_away"', 3, "max = 3.0 : f64"),
        [D, D, D, "Gemm", "Clip", Q],
    ),
    "matmul of batches": (binary("qrt.matmul ()", shapes=("2x3x4", "2x4x5", "2x3x5")), [D, D, "MatMul", Q]),
    "matmul of batches with a bias": (
        product("qrt.matmul", "2x3x6", "6x3", "2x3x3", values(6, 3), 'requant = "float32"', 3),
        [D, D, "MatMul", D, "Add", Q],
    ),
    "add": (binary('qrt.add () {requant = "scaled20"}'), [D, D, "Add", Q]),
    "add, broadcast": (binary("qrt.add ()", shapes=("2x5x4", "4", "2x5x4")), [D, D, "Add", Q]),
    "sub": (binary("qrt.sub ()"), [D, D, "Sub", Q]),
    "mul of unsigned": (binary('qrt.mul () {requant = "float32"}', U, U, U), [D, D, "Mul", Q]),
    "div": (binary("qrt.div ()"), [D, D, "Div", Q]),
    "maximum": (binary("qrt.maximum ()", made=X), [D, D, "Max", Q]),
    "minimum": (binary("qrt.minimum ()", made=X), [D, D, "Min", Q]),
    "squared_difference": (binary("qrt.squared_difference ()"), [D, D, "Sub", "Mul", Q]),
    "requantize": (unary('qrt.requantize %x {requant = "half_up_twice_16"}', X, U), [D, Q]),
    "clamp": (unary("qrt.clamp %x {min = -1.0 : f64, max = 2.0 : f64}"), [D, "Clip", Q]),
    "relu": (unary("qrt.clamp %x {min = 0.0 : f64}"), [D, "Relu", Q]),
    "avg_pool2d by another rule": (
        unary("qrt.avg_pool2d %x {kernel = [2, 2], strides = [1, 1]}", made=Y, out="?x4x5x4"),
        ["Transpose", D, "AveragePool", Q, "Transpose"],
    ),
    "avg_pool2d": (
        unary(AVERAGE, out="?x5x3x4"),
        ["Transpose", "Cast", "AveragePool", "Abs", "Add", "Floor", "Sign", "Mul", "Cast", "Transpose"],
    ),
    "max_pool2d": (
        unary("qrt.max_pool2d %x {kernel = [2, 2], strides = [2, 1]}", out="?x2x5x4"),
        ["Transpose", D, "MaxPool", Q, "Transpose"],
    ),
    "mean": (unary('qrt.mean %x {axes = [1, 2], requant = "raw_mean"}', made=Y, out="?x4"), [D, "ReduceMean", Q]),
    "sum": (unary("qrt.sum %x {axes = [3], keepdims = true}", made=Y, out="?x5x6x1"), [D, "ReduceSum", Q]),
    "reduce_max": (unary("qrt.reduce_max %x {axes = [1]}", out="?x6x4"), [D, "ReduceMax", Q]),
    "reduce_min": (unary("qrt.reduce_min %x {axes = [1, 3], keepdims = true}", out="?x1x6x1"), [D, "ReduceMin", Q]),
    "argmax": (unary("qrt.argmax %x {axis = 2 : i64}", made="i64", out="?x5x4"), [D, "ArgMax"]),
    "argmin of i32": (unary("qrt.argmin %x {axis = -1 : i64}", made="i32", out="?x5x6"), [D, "ArgMin", "Cast"]),
    "softmax": (
        unary(SOFT, made=PARTS),
        [D, "Mul", "Softmax", Q],
    ),
    "log_softmax": (unary("qrt.log_softmax %x", made="!quant.uniform<i8:f32, 0.0625:127>"), [D, "LogSoftmax", Q]),
    "logistic": (unary("qrt.logistic %x", WORD, SIGMOID), [D, "Sigmoid", Q]),
    "tanh": (unary('qrt.tanh %x {requant = "gemmlowp"}', WORD, SIGMOID), [D, "Tanh", Q]),
    "leaky_relu": (unary("qrt.leaky_relu %x {alpha = 0.125 : f64}", made=Y), [D, "LeakyRelu", Q]),
    "prelu": (binary("qrt.prelu ()", shapes=("2x5x4", "1x4", "2x5x4")), [D, D, "PRelu", Q]),
    "resize_bilinear": (
        unary(HALVES, shape="1x5x6x4", out="1x10x9x4"),
        ["Transpose", D, "Resize", Q, "Transpose"],
    ),
    "resize_bilinear of an open batch": (
        unary("qrt.resize_bilinear %x {size = [9, 11], align_corners = true}", out="?x9x11x4"),
        ["Transpose", D, "Resize", Q, "Transpose"],
    ),
    "resize_nearest": (
        unary("qrt.resize_nearest %x {size = [7, 12]}", shape="1x5x6x4", out="1x7x12x4"),
        ["Transpose", D, "Resize", Q, "Transpose"],
    ),
    "resize_nearest, which Resize puts beside a tie": (
        unary("qrt.resize_nearest %x {size = [2, 5]}", shape="1x14x6x4", out="1x2x5x4"),
        ["Transpose", "Gather", "Gather", "Transpose"],
    ),
    "reshape": (unary("qrt.reshape %x", out="?x120"), ["Reshape"]),
    "transpose": (unary("qrt.transpose %x {permutation = [0, 2, 3, 1]}", out="?x6x4x5"), ["Transpose"]),
    "pad": (unary(AROUND + "}", out="?x8x7x4"), ["Pad"]),
    "pad of 16 bits": (
        unary(AROUND + ", value = 0.25 : f64}", WORD, WORD, out="?x8x7x4"),
        [D, "Pad", Q],
    ),
    "slice": (
        unary("qrt.slice %x {offsets = [0, 4, 1, 0], sizes = [-1, 3, 2, -1], strides = [1, -2, 3, 1]}", out="?x3x2x4"),
        ["Slice"],
    ),
    "tile": (unary("qrt.tile %x {multiples = [1, 2, 1, 3]}", out="?x10x6x12"), ["Tile"]),
    "gather": (binary("qrt.gather () {axis = 1 : i64}", b="i32", made=X, shapes=("2x5x4", "3", "2x3x4")), ["Gather"]),
    "gather_nd": (binary("qrt.gather_nd ()", b="i32", made=X, shapes=("2x5x4", "3x2", "3x4")), ["Cast", "GatherND"]),
    "concat": (binary("qrt.concat () {axis = 2 : i64}", made=X, shapes=("2x5x4", "2x5x3", "2x5x7")), ["Concat"]),
    "concat of two types": (
        binary("qrt.concat () {axis = 0 : i64}", b=Y, made=X, shapes=("2x4", "3x4", "5x4")),
        [D, D, "Concat", Q],
    ),
    "lookup": (table(X, Y, numbers(256, 256, 5)), ["Cast", "Add", "Gather"]),
    "lookup of a known function": (
        table(X, "!quant.uniform<i8:f32, 0.0625>", ABS),
        [D, "Abs", Q],
    ),
    "lookup of 4 bits": (nibbles(), [D, Q, "Cast", "Gather"]),
    "narrow bounds": (unary("qrt.requantize %x", made="!quant.uniform<i8<-100:90>:f32, 0.03>"), [D, "Clip", Q]),
    "a scale out of the range of float32": (unary("qrt.requantize %x", made=(
        "!quant.uniform<i8:f32, "
        "0.123456789123>"
    )), [D, Q]),
    "qcast": (cast('quant.qcast %x {rounding = "half_away"}', "f32", U), [Q]),
    "dcast": (cast("quant.dcast %x", U, "f32"), [D]),
    "blocks": (blocked(), [D, D, "MatMul"]),
    "floats": (floats(), [D, "Exp", "Add", Q]),
    "a loop nest of floats": (nest(), [D, "Reshape", "Add", "Greater", "Where", Q]),
}  # fmt: skip
