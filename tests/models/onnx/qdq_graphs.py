"""Drawn graphs of one to four operators between DequantizeLinear and QuantizeLinear.

Hazards: a result or an operand of another storage than its neighbours, from 4 to 16 bits, with or without a zero point;
a bias whose scale is not that of the sums, for each channel or for all, shared by two operators, of floats, with a zero
point; operands that several operators share, that are constants, that broadcast, with scales along an axis; activations
before a result's cast; results that are read as floats too; scales whose quotients are ties; scales near the ends of
float32.

    python -m tests.models.onnx.qdq_graphs [--count N] [--seed N]

compares so many graphs with ONNX Runtime, and prints those in which an element lies outside its bound.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from qrt.models.diff.compare import ModelComparison
from qrt.models.diff.drawn_inputs import KINDS, drawn
from qrt.models.engines.ort import OnnxRuntime
from qrt.quantization.report.differences import TensorDifference
from tests.models.onnx.writing import DTYPES, model, node, port, tensor

RANGES = {
    "int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535), "int4": (-8, 7),
    "uint4": (0, 15),
}  # fmt: skip
BYTES = ("int8", "uint8")
OPSETS = (21, 23)
"""Versions in which all of these types are quantized."""


@dataclass(frozen=True)
class Quantized:
    """A quantized tensor of a graph. ``zero_point`` is None where its casts have none."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    scale: Any
    zero_point: int | None

    @property
    def magnitude(self) -> float:
        """The largest magnitude of its usual values."""
        low, high = RANGES[self.dtype]
        zero = self.zero_point or 0
        return float(self.scale) * max(high - zero, zero - low)


class Drawing:
    """A graph while it is drawn. ``tensors`` are those that operators may read."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.inputs: list[Any] = []
        self.tensors: list[Quantized] = []
        self.floats: dict[str, str] = {}
        self.biases: list[tuple[str, int]] = []
        self.has_even_scales = rng.random() < 0.3
        self.count = 0

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def choice(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def integers(self, shape: Any, dtype: str) -> Any:
        low, high = RANGES[dtype]
        return self.rng.integers(low, high + 1, shape)

    def constant(self, array: Any, dtype: str | None = None) -> str:
        name = self.name("c")
        narrow = dtype is not None and dtype[-1] == "4"
        self.constants[name] = tensor(name, array, dtype.upper()) if narrow and dtype else np.asarray(array, dtype)
        return name

    # -- types ------------------------------------------------------------------------------------------------------

    def dtype(self, like: str | None = None) -> str:
        if like is not None and self.chance(0.4):
            return like
        return str(self.choice(BYTES if self.chance(0.5) else tuple(RANGES)))

    def scale(self, around: float, dtype: str) -> Any:
        """A scale with which a type holds numbers of a magnitude, more or less."""
        low, high = RANGES[dtype]
        exact = max(around, 2.0**-30) / ((high - low) / 2) * 2 ** self.rng.uniform(-1.5, 1.5)
        if self.has_even_scales:  # a power of two, or one digit
            unit = 2.0 ** np.rint(np.log2(exact)) if self.chance(0.5) else 10.0 ** np.floor(np.log10(exact))
            exact = unit * max(1, np.rint(exact / unit))
        if self.chance(0.01) and dtype[-1] != "4":  # the runtime's quotients beyond 32 bits have any 4 bits
            exact *= self.choice([2.0**-90, 2.0**90])
        return np.float32(min(max(exact, 2.0**-120), 2.0**120))

    def zero_point(self, dtype: str) -> int:
        low, high = RANGES[dtype]
        return int(self.choice([0, 0, self.rng.integers(low, high + 1), low, high, (low + high + 1) // 2]))

    def parameters(self, dtype: str, scale: Any, zero_point: int | None) -> list[str]:
        inputs = [self.constant(scale)]
        return inputs if zero_point is None else [*inputs, self.constant(zero_point, dtype)]

    def bounds(self, magnitude: float) -> list[float]:
        """Bounds of Clip, seldom in the wrong order; the lower one is often 0."""
        pair = sorted(np.clip(self.rng.normal(size=2) * magnitude, -1e38, 1e38))
        if self.chance(0.4):
            pair = [0.0, abs(pair[1])]
        return pair[::-1] if self.chance(0.05) else pair

    # -- casts ------------------------------------------------------------------------------------------------------

    def quantize(self, source: str, shape: tuple[int, ...], dtype: str, magnitude: float) -> Quantized:
        """QuantizeLinear of floats."""
        scale, zero_point = self.scale(magnitude, dtype), self.zero_point(dtype)
        zero: int | None = max(RANGES[dtype][0], min(RANGES[dtype][1], zero_point))
        more: dict[str, Any] = {}
        if self.chance(0.2):
            zero = None
            if dtype != "uint8" or self.chance(0.5):
                more["output_dtype"] = DTYPES[dtype.upper()]
        name = self.name("q")
        self.nodes.append(node("QuantizeLinear", [source, *self.parameters(dtype, scale, zero)], [name], **more))
        result = Quantized(name, dtype, shape, scale, zero)
        self.tensors.append(result)
        return result

    def dequantize(self, source: Quantized) -> str:
        """DequantizeLinear of a tensor, which several operators may share."""
        if source.name in self.floats and self.chance(0.7):
            return self.floats[source.name]
        name = self.name("f")
        inputs = [source.name, *self.parameters(source.dtype, source.scale, source.zero_point)]
        self.nodes.append(node("DequantizeLinear", inputs, [name]))
        self.floats[source.name] = name
        return name

    def weights(self, shape: tuple[int, ...], axis: int) -> tuple[str, Any, float]:
        """(floats of constant integers, their scales, their magnitude); a scale for all or for each along the axis."""
        dtype = self.dtype()
        per_axis = self.chance(0.5)
        count: tuple[int, ...] = (shape[axis],) if per_axis else ()
        scales = np.exp2(self.rng.uniform(-9, -3, count)).astype(np.float32)
        if self.has_even_scales:
            scales = np.exp2(np.rint(np.log2(scales))).astype(np.float32)
        low, high = RANGES[dtype]
        zeros = np.zeros(count, int) if self.chance(0.6) else self.rng.integers(low, high + 1, count)
        if low == 0 and self.chance(0.8):
            zeros = np.full(count, (high + 1) // 2)
        inputs = [self.constant(self.integers(shape, dtype), dtype), self.constant(scales)]
        if zeros.any() or self.chance(0.5):
            inputs.append(self.constant(zeros, dtype))
        name = self.name("w")
        self.nodes.append(node("DequantizeLinear", inputs, [name], **({"axis": axis} if per_axis else {})))
        return name, scales, float(np.max(scales)) * (high - low) / 2

    def bias(self, count: int, product: Any, magnitude: float, shape: tuple[int, ...] | None = None) -> str:
        """Floats of a constant: mostly of int32, with the scale of the sums or another one."""
        shared = [name for name, size in self.biases if size == count]
        if shared and shape is None and self.chance(0.4):
            return str(self.choice(shared))
        shape = (count,) if shape is None else shape
        if self.chance(0.1):
            return self.constant((self.rng.normal(size=shape) * magnitude).astype(np.float32))
        product = np.asarray(product, np.float32)
        kind = self.choice(["product", "product", "foreign", "channels", "one channel", "zero point", "narrow"])
        scale = np.float32(magnitude / 1000 * 2 ** self.rng.uniform(-3, 3))
        zero: list[str] = []
        dtype = "int32"
        if kind in ("product", "zero point"):
            scale = product
        elif kind == "channels":
            scale = (scale * np.exp2(self.rng.uniform(-2, 2, count))).astype(np.float32)
        elif kind == "one channel" and product.size in (1, count):
            scale = np.broadcast_to(product, (count,)).copy()
            scale[int(self.rng.integers(count))] *= np.float32(self.choice([0.5, 2, 1.001, 1 + 2.0**-23]))
        elif kind == "narrow":
            dtype = str(self.choice(tuple(RANGES)))
        if scale.ndim and len(shape) != 1:
            scale = scale.reshape(-1)[0]
        least = np.maximum(np.abs(scale), np.float32(1e-38))
        stored = np.rint(self.rng.normal(size=shape) * magnitude / least)
        low, high = RANGES.get(dtype, (-(2**31) + 1, 2**31 - 1))
        stored = np.clip(np.where(self.rng.random(shape) < 0.9, stored, 0), low, high).astype(np.int64)
        if kind == "zero point":
            zero = [self.constant(np.broadcast_to(np.int32(5), scale.shape).copy(), "int32")]
        name, axis = self.name("b"), {"axis": 0} if scale.ndim else {}
        inputs = [self.constant(stored, dtype), self.constant(scale), *zero]
        self.nodes.append(node("DequantizeLinear", inputs, [name], **axis))
        if shape == (count,):
            self.biases.append((name, count))
        return name

    # -- results ----------------------------------------------------------------------------------------------------

    def finish(
        self, operator: str, inputs: list[str], shape: Any, magnitude: float, like: Quantized, **more: Any
    ) -> None:
        """An operator, perhaps an activation, and the cast of the result; of movements mostly as it was."""
        name = self.name("y")
        self.nodes.append(node(operator, inputs, [name], **more))
        if self.chance(0.25):
            source, name = name, self.name("y")
            if self.chance(0.5):
                self.nodes.append(node("Relu", [source], [name]))
            else:
                bounds = [self.constant(np.float32(bound)) for bound in self.bounds(magnitude)]
                if self.chance(0.3):
                    bounds[int(self.rng.integers(2))] = ""
                self.nodes.append(node("Clip", [source, *bounds], [name]))
        if self.chance(0.05):  # read as floats too
            self.nodes.append(node("Neg", [name], [self.name("n")]))
        shape = tuple(int(size) for size in shape)
        if operator in (*MOVEMENTS, *EXTREMES) and self.chance(0.7):
            kept = self.name("q")
            inputs = [name, *self.parameters(like.dtype, like.scale, like.zero_point)]
            attributes = {} if like.zero_point is not None else {"output_dtype": DTYPES[like.dtype.upper()]}
            if self.chance(0.15) and like.zero_point is not None:  # the same numbers of another storage
                other = self.dtype()
                if RANGES[other][0] <= like.zero_point <= RANGES[other][1]:
                    inputs[2] = self.constant(like.zero_point, other)
                    like = Quantized(kept, other, shape, like.scale, like.zero_point)
            self.nodes.append(node("QuantizeLinear", inputs, [kept], **attributes))
            self.tensors.append(Quantized(kept, like.dtype, shape, like.scale, like.zero_point))
            return
        self.quantize(name, shape, self.dtype(like.dtype), magnitude)

    def pick(self, rank: int | None = None) -> Quantized:
        """A tensor, the last ones before others."""
        fitting = [each for each in self.tensors if rank is None or len(each.shape) == rank]
        return fitting[-1] if self.chance(0.7) else self.choice(fitting)


# -- operators -------------------------------------------------------------------------------------------------------

MOVEMENTS = ("MaxPool", "Pad", "Relu", "Reshape", "Resize", "Slice", "Tile", "Transpose", "Unsqueeze")
EXTREMES = ("Max", "Min", "ReduceMax", "ReduceMin")


def _conv(d: Drawing) -> None:
    x = d.pick(4)
    batch, channels, *image = x.shape
    kernel = [int(min(size, d.rng.integers(1, 4))) for size in image]
    groups = int(d.choice([1, 1, channels, *(n for n in (2, 3) if channels % n == 0)]))
    filters = groups * int(d.rng.integers(1, 5))
    shape = (filters, channels // groups, *kernel)
    w, scales, magnitude = d.weights(shape, 0)
    strides = [int(n) for n in d.rng.integers(1, 3, 2)]
    pads = [int(d.rng.integers(0, k)) for k in kernel * 2] if d.chance(0.5) else [0] * 4
    out = [
        (size + pads[i] + pads[i + 2] - k) // s + 1
        for i, (size, k, s) in enumerate(zip(image, kernel, strides, strict=True))
    ]
    magnitude *= x.magnitude * prod(shape[1:]) ** 0.5 / 3
    inputs = [d.dequantize(x), w]
    if d.chance(0.7):
        inputs.append(d.bias(filters, x.scale * scales, magnitude / 2))
    d.finish("Conv", inputs, (batch, filters, *out), magnitude, x, group=groups, strides=strides, pads=pads)


def _matmul(d: Drawing) -> None:
    x = d.pick()
    if len(x.shape) < 2:
        return
    depth, columns = x.shape[-1], int(d.rng.integers(1, 20))
    others = [each for each in d.tensors if len(each.shape) == 2 and each.shape[0] == depth]
    if others and d.chance(0.5):
        other = d.choice(others)
        name, magnitude, columns = d.dequantize(other), other.magnitude, other.shape[1]
    else:
        name, _, magnitude = d.weights((depth, columns), 1)
    magnitude *= x.magnitude * depth**0.5 / 3
    d.finish("MatMul", [d.dequantize(x), name], (*x.shape[:-1], columns), magnitude, x)


def _gemm(d: Drawing) -> None:
    x = d.pick(2)
    is_left_transposed, is_right_transposed = d.chance(0.2), d.chance(0.5)
    rows, depth = x.shape[::-1] if is_left_transposed else x.shape
    columns = int(d.rng.integers(1, 20))
    shape = (columns, depth) if is_right_transposed else (depth, columns)
    w, scales, magnitude = d.weights(shape, 0 if is_right_transposed else 1)
    magnitude *= x.magnitude * depth**0.5 / 3
    inputs = [d.dequantize(x), w]
    if d.chance(0.7):
        of = d.choice([None, None, (1, columns), (rows, columns), (rows, 1), (1,), ()])
        inputs.append(d.bias(columns, x.scale * scales, magnitude / 2, of))
    more = {"transA": int(is_left_transposed), "transB": int(is_right_transposed)}
    if d.chance(0.2):
        more |= {"alpha": float(d.choice([1.0, 0.5, -1.25])), "beta": float(d.choice([1.0, 0.75]))}
    d.finish("Gemm", inputs, (rows, columns), magnitude, x, **more)


def _second(d: Drawing, x: Quantized) -> tuple[str, tuple[int, ...], float]:
    """A second operand that broadcasts with the first: a tensor, the same one, or a constant."""
    others = [each for each in d.tensors if _broadcasts(x.shape, each.shape)]
    if d.chance(0.6):
        other = d.choice(others)
        return d.dequantize(other), other.shape, other.magnitude
    shape = tuple(int(d.choice([1, size])) for size in x.shape[int(d.rng.integers(len(x.shape) + 1)) :])
    if not shape:
        value = d.constant(d.integers((), "int8"), "int8")
        name = d.name("w")
        d.nodes.append(node("DequantizeLinear", [value, d.constant(d.scale(x.magnitude, "int8"))], [name]))
        return name, (), x.magnitude
    name, _, magnitude = d.weights(shape, int(d.rng.integers(len(shape))))
    return name, shape, magnitude


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1], strict=False))


def _binary(operator: str) -> Callable[[Drawing], None]:
    def build(d: Drawing) -> None:
        x = d.pick()
        name, shape, magnitude = _second(d, x)
        inputs = [d.dequantize(x), name]
        if d.chance(0.5):
            inputs.reverse()
        result = np.broadcast_shapes(x.shape, shape)
        size = x.magnitude * magnitude / 2 if operator == "Mul" else x.magnitude + magnitude
        d.finish(operator, inputs, result, size, x)

    return build


def _reduction(d: Drawing) -> None:
    """Along all axes, which every opset writes in the same way."""
    x = d.pick()
    d.finish(d.choice(["ReduceMax", "ReduceMin"]), [d.dequantize(x)], (1,) * len(x.shape), x.magnitude, x, keepdims=1)


def _concat(d: Drawing) -> None:
    x = d.pick()
    axis = int(d.rng.integers(len(x.shape)))
    others = [each for each in d.tensors if _without(each.shape, axis) == _without(x.shape, axis)]
    parts = [x, *(d.choice(others) for _ in range(int(d.rng.integers(0, 3))))]
    shape = [sum(each.shape[axis] for each in parts) if i == axis else n for i, n in enumerate(x.shape)]
    d.finish("Concat", list(map(d.dequantize, parts)), shape, max(each.magnitude for each in parts), x, axis=axis)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], -1, *shape[axis + 1 :])


def _where(d: Drawing) -> None:
    x = d.pick()
    name, shape, magnitude = _second(d, x)
    shape = np.broadcast_shapes(x.shape, shape)
    condition = d.constant(d.rng.random(shape) < 0.5)
    d.finish("Where", [condition, d.dequantize(x), name], shape, max(x.magnitude, magnitude), x)


def _function(d: Drawing) -> None:
    x = d.pick()
    operator = d.choice(["Sigmoid", "LeakyRelu", "Softmax", "Tanh", "HardSigmoid"])
    more: dict[str, Any] = {"alpha": float(d.choice([0.01, 0.25, 1.5]))} if operator == "LeakyRelu" else {}
    if operator == "Softmax":
        more["axis"] = int(d.rng.integers(-len(x.shape), len(x.shape)))
    d.finish(operator, [d.dequantize(x)], x.shape, x.magnitude if operator == "LeakyRelu" else 1.0, x, **more)


def _pool(d: Drawing) -> None:
    x = d.pick(4)
    operator = d.choice(["AveragePool", "GlobalAveragePool", "MaxPool"])
    batch, channels, *image = x.shape
    if operator == "GlobalAveragePool":
        d.finish(operator, [d.dequantize(x)], (batch, channels, 1, 1), x.magnitude / 2, x)
        return
    kernel = [int(min(size, d.rng.integers(1, 4))) for size in image]
    pads = [int(d.rng.integers(0, k)) for k in kernel * 2] if d.chance(0.5) else [0] * 4
    out = [size + pads[i] + pads[i + 2] - k + 1 for i, (size, k) in enumerate(zip(image, kernel, strict=True))]
    more: dict[str, Any] = {"kernel_shape": kernel, "pads": pads}
    if operator == "AveragePool":
        more["count_include_pad"] = int(d.rng.integers(2))
    d.finish(operator, [d.dequantize(x)], (batch, channels, *out), x.magnitude, x, **more)


def _movement(d: Drawing) -> None:
    x = d.pick()
    operator = d.choice([name for name in MOVEMENTS if name != "MaxPool"])
    inputs, rank, more = [d.dequantize(x)], len(x.shape), {}
    shape: tuple[int, ...] = x.shape
    if operator == "Reshape":
        shape = (x.shape[0], prod(x.shape[1:]))
        inputs.append(d.constant(np.array(shape, np.int64)))
    elif operator == "Transpose":
        order = [int(axis) for axis in d.rng.permutation(rank)]
        more["perm"], shape = order, tuple(x.shape[axis] for axis in order)
    elif operator == "Slice":
        shape = (*x.shape[:-1], (x.shape[-1] + 1) // 2)
        inputs += [d.constant(np.array([n], np.int64)) for n in (0, 2**31, rank - 1, 2)]
    elif operator == "Tile":
        repeats = [int(n) for n in d.rng.integers(1, 3, rank)]
        inputs.append(d.constant(np.array(repeats, np.int64)))
        shape = tuple(size * n for size, n in zip(x.shape, repeats, strict=True))
    elif operator == "Pad":
        widths = [int(n) for n in d.rng.integers(0, 3, 2 * rank)]
        inputs.append(d.constant(np.array(widths, np.int64)))
        if d.chance(0.5):
            inputs.append(d.constant(np.float32(d.rng.normal(0, x.magnitude))))
        shape = tuple(size + widths[i] + widths[i + rank] for i, size in enumerate(x.shape))
    elif operator == "Unsqueeze":
        inputs.append(d.constant(np.array([0], np.int64)))
        shape = (1, *x.shape)
    elif operator == "Resize":
        shape = (*x.shape[:-1], 2 * x.shape[-1])
        inputs += ["", "", d.constant(np.array(shape, np.int64))]
        more |= {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    d.finish(operator, inputs, shape, x.magnitude, x, **more)


OPERATORS: tuple[tuple[Callable[[Drawing], None], int | None], ...] = (
    (_conv, 4), (_conv, 4), (_matmul, 2), (_gemm, 2), (_binary("Add"), None), (_binary("Mul"), None), (_concat, None),
    (_where, None), (_function, None), (_pool, 4), (_movement, None), (_binary("Sub"), None), (_binary("Max"), None),
    (_reduction, None),
)  # fmt: skip
"""Each with the rank of the tensor that it needs."""


def draw_graph(rng: np.random.Generator) -> bytes:
    """Return a drawn model. Its inputs are quantized, or floats that are quantized first."""
    d = Drawing(rng)
    for _ in range(int(rng.integers(1, 3))):
        rank = 4 if d.chance(0.55) else 2
        shape = tuple(int(n) for n in (rng.integers(1, (3, 7, 8, 8)) if rank == 4 else rng.integers(1, (8, 40))))
        dtype, name = d.dtype(), d.name("x")
        if dtype[-1] == "4" or d.chance(0.2):
            d.inputs.append(port(name, "FLOAT", shape))
            d.quantize(name, shape, dtype, 1.0)
            continue
        d.inputs.append(port(name, dtype.upper(), shape))
        low, high = RANGES[dtype]
        zero = d.zero_point(dtype)
        scale = d.scale(float(np.exp2(rng.uniform(-3, 3))), dtype)
        d.tensors.append(Quantized(name, dtype, shape, scale, None if d.chance(0.1) else max(low, min(high, zero))))
    for _ in range(int(rng.integers(1, 5))):
        fitting = [build for build, rank in OPERATORS if any(rank in (None, len(each.shape)) for each in d.tensors)]
        d.choice(fitting)(d)
    results = [each for each in d.tensors if each.name.startswith("q")]
    read = {name for each in d.nodes for name in each.input}
    outputs = []
    for each in results:
        if each.name not in read or d.chance(0.2):
            name = d.name("r")
            inputs = [each.name, *d.parameters(each.dtype, each.scale, each.zero_point)]
            d.nodes.append(node("DequantizeLinear", inputs, [name]))
            outputs.append(port(name, "FLOAT", [None] * len(each.shape)))
    outputs += [port(name, "FLOAT") for each in d.nodes if each.op_type == "Neg" for name in each.output]
    return model(d.nodes, d.inputs, outputs, d.constants, opset=int(d.choice(OPSETS)))


def outside(content: bytes, engine: OnnxRuntime, rng: np.random.Generator) -> tuple[list[TensorDifference], int]:
    """Return (the tensors with elements outside their bounds, how many groups were folded) of a model."""
    comparison = ModelComparison(content, engine, "ort")
    for kind in (*KINDS, *KINDS[:2]):
        comparison.add([drawn(port, kind, rng) for port in comparison.file.inputs])
    result = comparison.result()
    comparison.close()
    different = [tensor for tensor in result.tensors if tensor.differ]
    if result.differ and not different:
        different = [tensor for tensor in result.outputs if tensor.differ]
    return different, sum(tensor.operator.startswith("QDQ ") for tensor in result.tensors)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first graph")
    options = parser.parse_args()
    groups = wrong = 0
    with OnnxRuntime(seconds=300) as engine:
        for number in range(options.first, options.first + options.count):
            rng = np.random.default_rng([options.seed, number])
            content = draw_graph(rng)
            try:
                different, folded = outside(content, engine, rng)
            except Exception as error:
                print(f"graph {number}: {type(error).__name__}: {error}", flush=True)
                wrong += 1
                continue
            groups += folded
            wrong += bool(different)
            for each in different:
                print(f"graph {number}: {each}", flush=True)
    print(f"{options.count} graphs, {groups} groups folded, {wrong} with elements outside their bounds")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
