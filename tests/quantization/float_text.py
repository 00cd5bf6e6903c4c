"""Writes float programs as MLIR text: each function computes what one kernel does, in `linalg`, `arith`, `math` and
`tensor`, as front ends write it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

import numpy as np

from tests.ops.harness import Array


@dataclass(frozen=True)
class Tensor:
    """A value of the program: its name and its shape. All elements are f32."""

    name: str
    shape: tuple[int, ...]

    @property
    def type(self) -> str:
        return tensor_type(self.shape)


def tensor_type(shape: Sequence[int]) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}f32>"


class Text:
    """Lines of a function's body. Names are numbered over the whole text, so that no two are equal."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._indent = "  "
        self._count = 0

    def fresh(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def line(self, text: str) -> None:
        self.lines.append(self._indent + text)

    @contextmanager
    def indented(self) -> Iterator[None]:
        before, self._indent = self._indent, self._indent + "  "
        yield
        self._indent = before

    def op(self, text: str, shape: Sequence[int]) -> Tensor:
        """An operation with one tensor as its result."""
        made = Tensor(self.fresh(), tuple(shape))
        self.line(f"{made.name} = {text}")
        return made

    def scalar(self, value: float) -> str:
        name = self.fresh()
        spelled = {np.inf: "0x7F800000", -np.inf: "0xFF800000"}.get(value, spell(value))
        self.line(f"{name} = arith.constant {spelled} : f32")
        return name

    def constant(self, values: Array) -> Tensor:
        return self.op(f"arith.constant dense<{nested(values)}> : {tensor_type(values.shape)}", values.shape)

    def splat(self, value: float, shape: Sequence[int]) -> Tensor:
        return self.op(f"arith.constant dense<{spell(value)}> : {tensor_type(shape)}", shape)

    def filled(self, value: float, shape: Sequence[int]) -> Tensor:
        start, empty = self.scalar(value), self.empty(shape)
        return self.op(f"linalg.fill ins({start} : f32) outs({empty.name} : {empty.type}) -> {empty.type}", shape)

    def empty(self, shape: Sequence[int]) -> Tensor:
        return self.op(f"tensor.empty() : {tensor_type(shape)}", shape)

    def unary(self, name: str, x: Tensor) -> Tensor:
        return self.op(f"{name} {x.name} : {x.type}", x.shape)

    def binary(self, name: str, a: Tensor, b: Tensor) -> Tensor:
        return self.op(f"{name} {a.name}, {b.name} : {a.type}", a.shape)

    def structured(self, name: str, inputs: Sequence[Tensor], out: Tensor, tail: str = "") -> Tensor:
        """A `linalg` op with `ins` and `outs`."""
        names, types = ", ".join(t.name for t in inputs), ", ".join(t.type for t in inputs)
        arrow = "" if tail else f" -> {out.type}"
        return self.op(f"{name} ins({names} : {types}) outs({out.name} : {out.type}){tail}{arrow}", out.shape)

    def broadcast(self, x: Tensor, shape: Sequence[int], new_axes: Sequence[int]) -> Tensor:
        return self.structured("linalg.broadcast", [x], self.empty(shape), f" dimensions = {list(new_axes)}")

    def reduce(self, combine: str, start: float, x: Tensor, axes: Sequence[int]) -> Tensor:
        out = self.filled(start, [size for axis, size in enumerate(x.shape) if axis not in axes])
        return self.structured(f"linalg.reduce {{ {combine} }}", [x], out, f" dimensions = {list(axes)}")

    def stats(self, x: Tensor, low: float, high: float) -> Tensor:
        """The range that the values of `x` were seen in."""
        stats = f"{{layerStats = dense<[{spell(low)}, {spell(high)}]> : tensor<2xf32>}}"
        return self.op(f'"quant.stats"({x.name}) {stats} : ({x.type}) -> {x.type}', x.shape)

    def fake_quantized(self, x: Tensor, type: str) -> Tensor:
        """`x` as training with emulated quantization leaves it."""
        stored = x.type.replace("f32>", f"{type}>")
        q = self.op(f"quant.qcast {x.name} : {x.type} to {stored}", x.shape)
        return self.op(f"quant.dcast {q.name} : {stored} to {x.type}", x.shape)

    def region(
        self, kernel: str, operands: Sequence[Tensor], specs: Sequence[str], out: str, body: "Callable[..., Tensor]"
    ) -> Tensor:
        """A `quant.region` whose body `body(text, *arguments)` writes."""
        result, arguments = self.fresh(), [Tensor(self.fresh(), t.shape) for t in operands]
        self.line(f"{result} = quant.region ({', '.join(t.name for t in operands)}) {{")
        self.line(f"^bb0({', '.join(f'{t.name}: {t.type}' for t in arguments)}):")
        with self.indented():
            made = body(self, *arguments)
            self.line(f"quant.return {made.name} : {made.type}")
        types = ", ".join(t.type for t in operands)
        self.line(
            f'}} {{input_specs = [{", ".join(specs)}], output_specs = [{out}], kernel = "{kernel}"}} '
            f": ({types}) -> {made.type}"
        )
        return Tensor(result, made.shape)

    def function(self, name: str, arguments: Sequence[Tensor], results: Sequence[Tensor]) -> str:
        """The lines as a function."""
        taken = ", ".join(f"{t.name}: {t.type}" for t in arguments)
        types = ", ".join(t.type for t in results)
        body = "\n".join(self.lines)
        returned = f"  return {', '.join(t.name for t in results)} : {types}"
        return f"func.func @{name}({taken}) -> ({types}) {{\n{body}\n{returned}\n}}\n"


def spell(value: float) -> str:
    """A number that reads as the same f32."""
    return f"{float(np.float32(value)):.9e}"


def nested(values: Array) -> str:
    return f"[{', '.join(map(nested, values))}]" if values.ndim else spell(float(values))


# -- the kernels ------------------------------------------------------------------------------------------------------


def bias_and_relu(text: Text, y: Tensor, bias: Tensor | None, *, relu: bool) -> Tensor:
    if bias is not None:
        y = text.binary("arith.addf", y, text.broadcast(bias, y.shape, range(len(y.shape) - 1)))
    return clamp(text, y, 0, None) if relu else y


def matmul(text: Text, x: Tensor, w: Tensor, bias: Tensor | None = None, *, relu: bool = False) -> Tensor:
    out = text.filled(0, (x.shape[0], w.shape[1]))
    return bias_and_relu(text, text.structured("linalg.matmul", [x, w], out), bias, relu=relu)


def conv2d(
    text: Text,
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    relu: bool = False,
    stride: int = 1,
    padding: int = 0,
    filters: str = "hwcf",
) -> Tensor:
    """Filters in the order of `filters`, of which `linalg` has `hwcf` and `fhwc`."""
    x = pad(text, x, [0, padding, padding, 0], 0) if padding else x
    size = w.shape[filters.index("h")]
    shape = (*_windows(x, size, stride), w.shape[filters.index("f")])
    attributes = f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}"
    y = text.structured(f"linalg.conv_2d_nhwc_{filters} {attributes}", [x, w], text.filled(0, shape))
    return bias_and_relu(text, y, bias, relu=relu)


def depthwise_conv2d(
    text: Text, x: Tensor, w: Tensor, bias: Tensor | None = None, *, relu: bool = False, stride: int = 1
) -> Tensor:
    shape = (*_windows(x, w.shape[0], stride), w.shape[2])
    attributes = f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}"
    y = text.structured(f"linalg.depthwise_conv_2d_nhwc_hwc {attributes}", [x, w], text.filled(0, shape))
    return bias_and_relu(text, y, bias, relu=relu)


def _windows(x: Tensor, size: int, stride: int) -> tuple[int, int, int]:
    return x.shape[0], (x.shape[1] - size) // stride + 1, (x.shape[2] - size) // stride + 1


def _pooled(text: Text, kind: str, start: float, x: Tensor, size: int, stride: int) -> Tensor:
    attributes = f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}"
    out = text.filled(start, (*_windows(x, size, stride), x.shape[3]))
    return text.structured(f"linalg.pooling_nhwc_{kind} {attributes}", [x, text.empty((size, size))], out)


def max_pool2d(text: Text, x: Tensor, *, size: int = 2, stride: int = 2, padding: int = 0) -> Tensor:
    x = pad(text, x, [0, padding, padding, 0], -np.inf) if padding else x
    return _pooled(text, "max", -np.inf, x, size, stride)


def avg_pool2d(text: Text, x: Tensor, *, size: int = 2, stride: int = 2) -> Tensor:
    y = _pooled(text, "sum", 0, x, size, stride)
    return text.binary("arith.divf", y, text.splat(size * size, y.shape))


def mean(text: Text, x: Tensor, *, axes: Sequence[int]) -> Tensor:
    total = text.reduce("arith.addf", 0, x, axes)
    return text.binary("arith.divf", total, text.splat(prod(x.shape[axis] for axis in axes), total.shape))


def softmax(text: Text, x: Tensor) -> Tensor:
    """Along the last axis, each step an op."""
    axis = len(x.shape) - 1
    largest = text.broadcast(text.reduce("arith.maximumf", -np.inf, x, [axis]), x.shape, [axis])
    powers = text.unary("math.exp", text.binary("arith.subf", x, largest))
    total = text.broadcast(text.reduce("arith.addf", 0, powers, [axis]), x.shape, [axis])
    return text.binary("arith.divf", powers, total)


def add(text: Text, a: Tensor, b: Tensor, *, relu: bool = False) -> Tensor:
    return bias_and_relu(text, text.binary("arith.addf", a, b), None, relu=relu)


def sub(text: Text, a: Tensor, b: Tensor) -> Tensor:
    return text.binary("arith.subf", a, b)


def mul(text: Text, a: Tensor, b: Tensor) -> Tensor:
    return text.binary("arith.mulf", a, b)


def clamp(text: Text, x: Tensor, low: float | None, high: float | None) -> Tensor:
    if low is not None:
        x = text.binary("arith.maximumf", x, text.splat(low, x.shape))
    if high is not None:
        x = text.binary("arith.minimumf", x, text.splat(high, x.shape))
    return x


def sigmoid(text: Text, x: Tensor) -> Tensor:
    one = text.splat(1, x.shape)
    powers = text.unary("math.exp", text.unary("arith.negf", x))
    return text.binary("arith.divf", one, text.binary("arith.addf", one, powers))


def tanh(text: Text, x: Tensor) -> Tensor:
    return text.unary("math.tanh", x)


def gelu(text: Text, x: Tensor) -> Tensor:
    half, one = text.splat(0.5, x.shape), text.splat(1, x.shape)
    inner = text.unary("math.erf", text.binary("arith.mulf", x, text.splat(2**-0.5, x.shape)))
    return text.binary("arith.mulf", text.binary("arith.mulf", x, half), text.binary("arith.addf", one, inner))


def one_minus(text: Text, x: Tensor) -> Tensor:
    return text.binary("arith.subf", text.splat(1, x.shape), x)


def pad(text: Text, x: Tensor, sizes: Sequence[int], value: float) -> Tensor:
    """By as many elements on both sides of each axis."""
    filler = text.scalar(value)
    shape = [size + 2 * more for size, more in zip(x.shape, sizes, strict=True)]
    made = Tensor(text.fresh(), tuple(shape))
    indices = ", ".join(f"{text.fresh()}: index" for _ in shape)
    text.line(f"{made.name} = tensor.pad {x.name} low{list(sizes)} high{list(sizes)} {{")
    text.line(f"^bb0({indices}):")
    text.line(f"  tensor.yield {filler} : f32")
    text.line(f"}} : {x.type} to {made.type}")
    return made


def flatten(text: Text, x: Tensor) -> Tensor:
    """All axes but the first become one."""
    groups = [[0], [*range(1, len(x.shape))]]
    shape = (x.shape[0], prod(x.shape[1:]))
    return text.op(f"tensor.collapse_shape {x.name} {groups} : {x.type} into {tensor_type(shape)}", shape)


def transpose(text: Text, x: Tensor, order: Sequence[int]) -> Tensor:
    out = text.empty([x.shape[axis] for axis in order])
    return text.structured("linalg.transpose", [x], out, f" permutation = {list(order)}")


def concat(text: Text, *parts: Tensor, axis: int) -> Tensor:
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    names, types = ", ".join(part.name for part in parts), ", ".join(part.type for part in parts)
    return text.op(f"tensor.concat dim({axis}) {names} : ({types}) -> {tensor_type(shape)}", shape)
