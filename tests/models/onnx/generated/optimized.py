"""Operators that ONNX Runtime's optimizer and quantizers write: fused ones, those of images with the channels last,
weights in blocks. Hazards: an activation whose numbers are taken in another order, a transposed batch, a last block
that is not whole, packed zero points, a zero point of float, rows of weights that name their block."""

from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.generated import draw
from tests.models.onnx.writing import model, node, port, tensor

OWN = "com.microsoft"
NEAR = 1e-4
"""How far sums of a hundred floats near 1 lie apart at most."""


def _floats(rng: np.random.Generator, *shape: int) -> Any:
    return rng.normal(size=shape).astype(np.float32)


def fused_convolution(rng: np.random.Generator, activation: str, numbers: Any = (), added: bool = False) -> Case:
    filters, channels = (int(n) for n in rng.integers(1, 6, 2))
    constants = {"w": _floats(rng, filters, channels, 3, 2), "b": _floats(rng, filters)}
    said = {"activation": activation, **({"activation_params": numbers} if numbers else {})}
    height, width = (int(n) for n in rng.integers(4, 12, 2))
    shapes = {"x": (2, channels, height, width), **({"z": (2, filters, height - 2, width - 1)} if added else {})}
    made = node("FusedConv", ["x", "w", "b", *(["z"] if added else [])], ["y"], domain=OWN, **said)
    content = model([made], [port(name, shape=shape) for name, shape in shapes.items()], [port("y")], constants)
    return Case(content, [[_floats(rng, *shape) for shape in shapes.values()]], absolute=NEAR)


def fused_gemm(rng: np.random.Generator) -> Case:
    rows, depth, columns = (int(n) for n in rng.integers(1, 9, 3))
    constants = {"w": _floats(rng, columns, depth), "b": _floats(rng, columns)}
    said = {"activation": "LeakyRelu", "activation_alpha": 0.3, "transB": 1}
    made = node("FusedGemm", ["x", "w", "b"], ["y"], domain=OWN, **said)
    return Case(model([made], [port("x", shape=(rows, depth))], [port("y")], constants),
                [[_floats(rng, rows, depth)]], absolute=NEAR)  # fmt: skip


def fused_product(rng: np.random.Generator, **said: Any) -> Case:
    rows, depth, columns, batch = (int(n) for n in rng.integers(1, 9, 4))
    shapes = []
    for side, shape in (("A", (batch, rows, depth)), ("B", (batch, depth, columns))):
        whole = list(shape)
        if said.get(f"trans{side}"):
            whole[-2:] = whole[:0:-1]
        if said.get(f"transBatch{side}"):
            whole = [whole[1], whole[0], whole[2]]
        shapes.append(tuple(whole))
    alpha = float(np.float32(rng.normal()))
    made = node("FusedMatMul", ["a", "b"], ["y"], domain=OWN, alpha=alpha, **said)
    ports = [port(name, shape=shape) for name, shape in zip("ab", shapes, strict=True)]
    return Case(model([made], ports, [port("y")]), [[_floats(rng, *shape) for shape in shapes]], absolute=NEAR)


def largest(rng: np.random.Generator, op: str, dtype: str, axes: int = 2) -> Case:
    """MaxPool of 8-bit integers: dilated, or over three axes."""
    kernel, dilations = ([int(n) for n in rng.integers(1, 4, axes)] for _ in range(2))
    said = {"kernel_shape": kernel, "dilations": dilations, "strides": [int(n) for n in rng.integers(1, 3, axes)]}
    said["pads"] = [int(rng.integers(0, k)) for _ in range(2) for k in kernel]
    image = [int(n) for n in rng.integers(8, 12, axes)]
    shape = (2, *image, 3) if op.startswith("Nhwc") else (2, 3, *image)
    made = node(op, ["x"], ["y"], domain=OWN if op.startswith("Nhwc") else "", **said)
    content = model([made], [port("x", dtype.upper(), shape)], [port("y", dtype.upper())])
    return Case(content, draw.runs(rng, [shape], dtype))


def convolution(rng: np.random.Generator, last: bool) -> Case:
    """QLinearConv of ONNX Runtime's own domain."""
    filters, channels = (int(n) for n in rng.integers(1, 9, 2))
    scale = np.float32(draw.scale(rng, -8, 1))
    constants = {"sx": scale, "zx": draw.zero_point(rng, "uint8"),
                 "w": draw.integers(rng, (filters, channels, 3, 3), "uint8"), "sw": np.float32(0.01),
                 "zw": draw.zero_point(rng, "uint8"), "sy": np.float32(scale * 3), "zy": draw.zero_point(rng, "uint8"),
                 "b": rng.integers(-9000, 9001, filters).astype(np.int32)}  # fmt: skip
    shape = (2, 7, 6, channels) if last else (2, channels, 7, 6)
    made = node("QLinearConv", ["x", *constants], ["y"], domain=OWN, channels_last=int(last), pads=[1, 0, 1, 1])
    content = model([made], [port("x", "UINT8", shape)], [port("y", "UINT8")], constants)
    return Case(content, draw.runs(rng, [shape], "uint8"))


def to_floats(rng: np.random.Generator, per_column: bool) -> Case:
    """MatMulIntegerToFloat."""
    rows, depth, columns = (draw.size(rng, 17) for _ in range(3))
    count = (columns,) if per_column else (1,)
    constants = {"w": draw.integers(rng, (depth, columns), "uint8"),
                 "sw": np.exp2(rng.uniform(-9, -3, count)).astype(np.float32),
                 "zw": draw.integers(rng, count, "uint8"), "b": _floats(rng, columns)}  # fmt: skip
    names = ["x", "w", "sx", "sw", "zx", "zw", *(["b"] if rng.random() < 0.5 else [])]
    ports = [port("x", "UINT8", (rows, depth)), port("sx", shape=(1,)), port("zx", "UINT8", (1,))]
    content = model([node("MatMulIntegerToFloat", names, ["y"], domain=OWN)], ports, [port("y")], constants)
    x, zero = draw.integers(rng, (rows, depth), "uint8"), draw.integers(rng, (1,), "uint8")
    return Case(content, [[x, np.exp2(rng.uniform(-9, -3, 1)).astype(np.float32), zero]], absolute=NEAR)


def of_blocks(rng: np.random.Generator, zeros: str, groups: bool, scales: tuple[int, ...] = (1,)) -> Case:
    """MatMulNBits of 4 bits with floats or none for zero points, and with rows that name their block. Each scale has
    one of the factors ``scales``."""
    depth, columns, size = 8 * int(rng.integers(2, 9)), draw.size(rng, 17), 16
    blocks = -(-depth // size)
    constants = {"w": rng.integers(0, 256, (columns, blocks, size // 2), np.uint8),
                 "s": rng.uniform(0.01, 0.1, columns * blocks).astype(np.float32)}  # fmt: skip
    constants["s"] *= rng.choice(scales, columns * blocks).astype(np.float32)
    if zeros == "floats":
        constants["z"] = rng.uniform(0, 15, (columns, blocks)).astype(np.float32)
    if groups:
        constants["g"] = rng.integers(0, blocks, depth).astype(np.int32)
    names = ["x", "w", "s", "z" if "z" in constants else "", *(["g"] if groups else [])]
    made = node("MatMulNBits", names, ["y"], domain=OWN, K=depth, N=columns, bits=4, block_size=size)
    content = model([made], [port("x", shape=(3, depth))], [port("y")], constants)
    return Case(content, [[_floats(rng, 3, depth)]], absolute=1e-4)


def taken(rng: np.random.Generator, dtype: str, bits: int = 4) -> Case:
    """GatherBlockQuantized."""
    rows, length = int(rng.integers(1, 9)), 16 * int(rng.integers(1, 5))
    blocks = -(-length // 16)
    said: dict[str, Any] = {"block_size": 16, "gather_axis": 0, "quantize_axis": 1}
    constants: dict[str, Any] = {}
    if dtype == "UINT8":
        said["bits"] = bits
        constants["d"] = rng.integers(0, 256, (rows, length * bits // 8), np.uint8)
        constants["z"] = rng.integers(0, 256, (rows, -(-blocks * bits // 8)), np.uint8)
    else:
        least = -8 if dtype == "INT4" else 0
        for name, width in (("d", length), ("z", blocks)):
            constants[name] = tensor(name, rng.integers(least, least + 16, (rows, width)), dtype)
    constants["s"] = rng.uniform(0.01, 0.1, (rows, blocks)).astype(np.float32)
    names = ["d", "i", "s", *(["z"] if rng.random() < 0.7 else [])]
    made = node("GatherBlockQuantized", names, ["y"], domain=OWN, **said)
    constants = {name: value for name, value in constants.items() if name in names}
    content = model([made], [port("i", "INT64", (2, 3))], [port("y")], constants, opset=21)
    return Case(content, [[rng.integers(0, rows, (2, 3))]], ulp=0)


def taken_from_blocks(rng: np.random.Generator, dtype: str) -> Case:
    """GatherBlockQuantized along the axis of the blocks, of which the last one may not be whole."""
    rows, length = int(rng.integers(2, 70)), int(rng.integers(1, 9))
    blocks, least = -(-rows // 16), -8 if dtype == "INT4" else 0
    said: dict[str, Any] = {"block_size": 16, "gather_axis": 0, "quantize_axis": 0}
    constants: dict[str, Any] = {
        name: tensor(name, rng.integers(least, least + 16, (width, length)), dtype)
        for name, width in (("d", rows), ("z", blocks))
    }
    constants["s"] = rng.uniform(0.01, 0.1, (blocks, length)).astype(np.float32)
    kind = ("INT32", np.int32) if rng.random() < 0.5 else ("INT64", np.int64)
    shape = (2, 3) if rng.random() < 0.5 else (int(rng.integers(1, 9)),)
    made = node("GatherBlockQuantized", ["d", "i", "s", "z"], ["y"], domain=OWN, **said)
    content = model([made], [port("i", kind[0], shape)], [port("y")], constants, opset=21)
    return Case(content, [[rng.integers(-rows, rows, shape).astype(kind[1])]], ulp=0)


def in_blocks(rng: np.random.Generator, op: str, dtype: str, at_run: bool) -> Case:
    """A cast in blocks along an axis, of which the last one is not whole, or whose scales only the run knows."""
    rows, length, size = int(rng.integers(1, 9)), int(rng.integers(2, 40)), int(rng.integers(2, 9))
    shape = (rows, -(-length // size))
    parameters = {"s": np.exp2(rng.uniform(-6, 0, shape)).astype(np.float32), "z": draw.integers(rng, shape, dtype)}
    made = node(op, ["x", "s", "z"], ["y"], axis=1, block_size=size)
    own = dtype.upper() if op == "DequantizeLinear" else "FLOAT"
    ports = [port("x", own, (rows, length))]
    if at_run:
        ports += [port("s", shape=shape), port("z", dtype.upper(), shape)]
    x = draw.integers(rng, (rows, length), dtype) if own != "FLOAT" else 9 * _floats(rng, rows, length)
    content = model([made], ports, [port("y", dtype.upper() if own == "FLOAT" else "FLOAT")],
                    {} if at_run else parameters, opset=21)  # fmt: skip
    return Case(content, [[x, *(parameters.values() if at_run else ())]], ulp=0)


def cast(rng: np.random.Generator, dtype: str) -> Case:
    """QuantizeLinear and DequantizeLinear of ONNX Runtime's own domain."""
    constants = {"s": np.float32(draw.scale(rng, -6, 1)), "z": draw.zero_point(rng, dtype)}
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"], domain=OWN),
             node("DequantizeLinear", ["q", "s", "z"], ["y"], domain=OWN)]  # fmt: skip
    shape = draw.shape(rng, 2, 400)
    content = model(nodes, [port("x", shape=shape)], [port("y")], constants)
    return Case(content, [[_floats(rng, *shape) * 9 * float(constants["s"])]], ulp=0)


ACTIVATIONS: dict[str, Any] = {"Relu": (), "Sigmoid": (), "Tanh": (), "LeakyRelu": (0.25,), "Clip": (-0.5, 1.5),
                               "HardSigmoid": (0.3, 0.4)}  # fmt: skip
CASES: dict[str, Any] = {
    f"FusedConv {name}": partial(fused_convolution, activation=name, numbers=numbers)
    for name, numbers in ACTIVATIONS.items()
}
CASES |= {
    "FusedConv, with a sum": partial(fused_convolution, activation="Relu", added=True),
    "FusedGemm": fused_gemm,
    "FusedMatMul": fused_product,
    "FusedMatMul, transposed": partial(fused_product, transA=1, transB=1),
    "FusedMatMul, of a transposed batch": partial(fused_product, transBatchA=1, transBatchB=1, transB=1),
    "NhwcMaxPool": partial(largest, op="NhwcMaxPool", dtype="uint8"),
    "MaxPool int8, dilated": partial(largest, op="MaxPool", dtype="int8"),
    "MaxPool uint8, three axes": partial(largest, op="MaxPool", dtype="uint8", axes=3),
    "QLinearConv of com.microsoft": partial(convolution, last=False),
    "QLinearConv of com.microsoft, channels last": partial(convolution, last=True),
    "MatMulIntegerToFloat": partial(to_floats, per_column=False),
    "MatMulIntegerToFloat, a scale for each column": partial(to_floats, per_column=True),
    "MatMulNBits, zero points of float": partial(of_blocks, zeros="floats", groups=False),
    "MatMulNBits, negative scales": partial(of_blocks, zeros="", groups=False, scales=(-1, 0, 1)),
    "MatMulNBits, scales of 0": partial(of_blocks, zeros="", groups=False, scales=(0, 1)),
    "MatMulNBits, g_idx": partial(of_blocks, zeros="", groups=True),
    "MatMulNBits, g_idx and zero points of float": partial(of_blocks, zeros="floats", groups=True),
    "GatherBlockQuantized INT4": partial(taken, dtype="INT4"),
    "GatherBlockQuantized UINT4": partial(taken, dtype="UINT4"),
    "GatherBlockQuantized UINT8 of 4 bits": partial(taken, dtype="UINT8"),
    "GatherBlockQuantized UINT8 of 8 bits": partial(taken, dtype="UINT8", bits=8),
}
CASES |= {
    f"GatherBlockQuantized {dtype} along its blocks": partial(taken_from_blocks, dtype=dtype)
    for dtype in ("INT4", "UINT4")
}
for _dtype in draw.DTYPES:
    CASES |= {
        f"{op} {_dtype}, ragged blocks{' of the run' * at_run}": partial(in_blocks, op=op, dtype=_dtype, at_run=at_run)
        for op in ("QuantizeLinear", "DequantizeLinear")
        for at_run in (False, True)
    }
CASES |= {
    f"casts of com.microsoft {dtype}": partial(cast, dtype=dtype) for dtype in ("int8", "uint8", "int16", "uint16")
}
