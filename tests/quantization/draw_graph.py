"""Random float programs whose operations stand in regions, with annotations that help, are missing or contradict each
other: branches, concatenations, calls, loops, constants that several kernels share, every kernel.

A program is drawn twice from one seed: with its regions, and `plain`, without regions and annotations.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from qrt.types import CalibratedType, UniformType
from tests.ops.harness import Array
from tests.quantization import float_text as ops
from tests.quantization.float_text import Tensor, Text

MATRIX, IMAGE = (2, 6), (1, 4, 4, 6)
NOTHING = "f32"
Body = Callable[..., Tensor]


@dataclass
class Graph:
    """`text` has regions, `plain` has none. `quantized` are the types of arguments that are no floats."""

    text: str
    plain: str
    shapes: list[tuple[int, ...]]
    quantized: dict[int, UniformType] = field(default_factory=dict)

    def draw(self, seed: int) -> list[Array]:
        """Values for the arguments; storage for those of a quantized type."""
        rng = np.random.default_rng(seed)
        arrays = []
        for number, shape in enumerate(self.shapes):
            if number in self.quantized:
                t = self.quantized[number]
                codes = rng.integers(t.storage_min, t.storage_max, shape, endpoint=True)
                arrays.append(codes.astype(f"int{t.storage_width}"))
            else:
                arrays.append((rng.normal(size=shape) * 2).astype(np.float32))
        return arrays


def draw_graph(seed: str, target: str = "qrt-cpu", most: int = 10) -> Graph:
    """A program whose annotations the target can take."""
    return Draw(seed, target, most).graph()


class PlainText(Text):
    """Regions are their bodies, and annotations are nothing."""

    def region(self, kernel: str, operands: Sequence[Tensor], specs: Sequence[str], out: str, body: Body) -> Tensor:
        return body(self, *operands)

    def stats(self, x: Tensor, low: float, high: float) -> Tensor:
        return x

    def op(self, text: str, shape: Sequence[int]) -> Tensor:
        if text.startswith('"quant.coupled_ref"'):
            return Tensor(text.partition("(")[2].partition(")")[0], tuple(shape))
        return super().op(text, shape)


class Draw:
    """The drawing of one program, `text` of which writes its annotations."""

    text: type[Text] = Text

    def __init__(self, seed: str, target: str, most: int) -> None:
        self._seed, self._most = seed, most
        self.target = target

    def graph(self) -> Graph:
        annotated, plain = self._whole(self.text()), self._whole(PlainText())
        return Graph(annotated[0], plain[0], annotated[1], annotated[2])

    def _whole(self, text: Text) -> tuple[str, list[tuple[int, ...]], dict[int, UniformType]]:
        self._rng = random.Random(self._seed)
        self._values: list[Tensor] = []
        self._constants: list[Tensor] = []
        self._wild = self._rng.random() < 0.2
        functions = "".join(self._callee(type(text), number) for number in range(2))
        first = self._rng.choice([MATRIX, IMAGE, IMAGE])
        arguments, quantized = [], {}
        for number in range(self._rng.randint(1, 3)):
            argument = Tensor(f"%x{number}", self._rng.choice([MATRIX, IMAGE]) if number else first)
            if self._rng.random() < 0.2:
                quantized[number] = self._uniform()
                stored = argument.type.replace("f32>", f"{quantized[number]}>")
                value = text.op(f"quant.dcast {argument.name} : {stored} to {argument.type}", argument.shape)
            else:
                value = self._annotated(text, argument)
            arguments.append(argument)
            self._values.append(value)
        for _ in range(self._rng.randint(2, self._most)):
            self._values.append(self._step(text))
        results = self._rng.sample(self._values[len(arguments) :], k=1) + self._values[-1:]
        main = text.function("main", arguments, results)
        for number, t in quantized.items():
            name = arguments[number]
            stored = name.type.replace("f32>", f"{t}>")
            main = main.replace(f"{name.name}: {name.type}", f"{name.name}: {stored}", 1)
        return functions + main, [argument.shape for argument in arguments], quantized

    # -- annotations --------------------------------------------------------------------------------------------------

    def _range(self) -> tuple[float, float]:
        """A range that lies around 0, or beside it."""
        size = 2.0 ** self._rng.randint(-8, 8) if self._wild else 2.0 ** self._rng.randint(-1, 3)
        size *= self._rng.choice([1, 1.1, 0.77])
        low, high = self._rng.choice([(-1, 1), (-1, 0.6), (0, 1), (0.5, 1), (-1, -0.25), (-1, 0)])
        return low * size, high * size

    def _uniform(self) -> UniformType:
        low, high = self._range()
        low, high = min(low, 0), max(high, 0)
        if self.target == "int16x8":
            return UniformType("i16", "f32", float(np.float32(max(-low, high) / 32767)))
        scale = float(np.float32((high - low) / 255))
        return UniformType("i8", "f32", scale, int(np.clip(round(-128 - low / scale), -128, 127)))

    def _spec(self, *, needs_range: bool) -> str:
        """What is said of a port; a range where nothing else gives one."""
        low, high = self._range()
        calibrated = str(CalibratedType("f32", low, high))
        drawn = self._rng.random()
        if needs_range:
            return str(self._uniform()) if drawn < 0.25 else calibrated
        if drawn < 0.7:
            return NOTHING
        return str(self._uniform()) if drawn < 0.85 else calibrated if drawn < 0.95 else "!quant.any<i4:f32>"

    def _annotated(self, text: Text, x: Tensor) -> Tensor:
        """With a range, which a value that no region makes needs."""
        return text.stats(x, *self._range())

    # -- steps --------------------------------------------------------------------------------------------------------

    def _step(self, text: Text) -> Tensor:
        drawn = self._rng.random()
        if drawn < 0.07:
            return self._call(text)
        if drawn < 0.14:
            return self._loop(text)
        if drawn < 0.18:
            return self._choice(text)
        if drawn < 0.21:
            return self._select(text)
        made = self._kernel(text)
        if self._rng.random() < 0.05:
            coupled = f'"quant.coupled_ref"({made.name}) {{coupledKey = "c"}} : ({made.type}) -> {made.type}'
            made = text.op(coupled, made.shape)
        return made

    def _value(self, rank: int | None = None) -> Tensor | None:
        fitting = [value for value in self._values if rank is None or len(value.shape) == rank]
        return self._rng.choice(fitting) if fitting else None

    def _kernel(self, text: Text) -> Tensor:
        """A region of a kernel that takes values there are."""
        while True:
            name = self._rng.choice(OFTEN)
            if self.target == "int16x8" and name in ("lookup", "softmax"):
                continue  # its tables take 8 bits
            made = KERNELS[name](self, text)
            if made is not None:
                return made

    def region(self, text: Text, kernel: str, operands: Sequence[Tensor], body: Body, *, ranged: bool = True) -> Tensor:
        """`ranged`: the result's type does not follow from those of the operands."""
        constants = {constant.name for constant in self._constants}
        specs = [NOTHING if t.name in constants else self._spec(needs_range=False) for t in operands]
        return text.region(kernel, operands, specs, self._spec(needs_range=ranged), body)

    def constant(self, text: Text, shape: Sequence[int]) -> Tensor:
        """One that is there, or a new one; sometimes with a channel of zeros."""
        fitting = [constant for constant in self._constants if constant.shape == tuple(shape)]
        if fitting and self._rng.random() < 0.5:
            return self._rng.choice(fitting)
        rng = np.random.default_rng(self._rng.getrandbits(32))
        values = rng.normal(size=shape) * 2.0 ** self._rng.randint(-3, 1)
        if self._rng.random() < 0.1:
            values[..., 0] = 0
        self._constants.append(text.constant(values.astype(np.float32)))
        return self._constants[-1]

    def bias(self, text: Text, size: int) -> list[Tensor]:
        return [self.constant(text, (size,))] if self._rng.random() < 0.6 else []

    def flag(self) -> bool:
        return self._rng.random() < 0.4

    def pick(self, *choices: int) -> int:
        return self._rng.choice(choices)

    def value(self, rank: int) -> Tensor | None:
        return self._value(rank)

    def two(self) -> tuple[Tensor, Tensor] | None:
        """Two values of one shape, perhaps one value twice."""
        first = self._value()
        assert first is not None
        second = self._rng.choice([value for value in self._values if value.shape == first.shape])
        return first, second

    # -- functions and control flow -----------------------------------------------------------------------------------

    def _callee(self, kind: type[Text], number: int) -> str:
        text, argument = kind(), Tensor("%x", MATRIX)
        x = self._annotated(text, argument)
        y = self.region(text, "mul", [x, x], ops.mul)
        if self.target != "int16x8":
            y = self.region(text, "lookup", [y], self._rng.choice([ops.tanh, ops.sigmoid]))
        if self.flag():
            y = self.region(text, "add", [x, y], ops.add)
        body = text.function(f"callee{number}", [argument], [y])
        return body.replace("func.func", "func.func private", 1)

    def _call(self, text: Text) -> Tensor:
        x = self._value(2)
        if x is None or x.shape != MATRIX:
            return self._kernel(text)
        return text.op(f"func.call @callee{self.pick(0, 1)}({x.name}) : ({x.type}) -> {x.type}", x.shape)

    def _loop(self, text: Text) -> Tensor:
        """A value is carried through additions and a function."""
        two = self.two()
        assert two is not None
        start, x = two
        low, high, step = (text.fresh() for _ in range(3))
        for name, value in ((low, 0), (high, self.pick(1, 2, 3)), (step, 1)):
            text.line(f"{name} = arith.constant {value} : index")
        made, carried = Tensor(text.fresh(), x.shape), Tensor(text.fresh(), x.shape)
        text.line(
            f"{made.name} = scf.for {text.fresh()} = {low} to {high} step {step} "
            f"iter_args({carried.name} = {start.name}) -> ({x.type}) {{"
        )
        with text.indented():
            y = self.region(text, "add", [carried, x], ops.add)
            if self.flag() and self.target != "int16x8":
                y = self.region(text, "lookup", [y], ops.tanh)
            text.line(f"scf.yield {y.name} : {y.type}")
        text.line("}")
        return made

    def _choice(self, text: Text) -> Tensor:
        two = self.two()
        assert two is not None
        a, b = two
        name, made = text.fresh(), Tensor(text.fresh(), a.shape)
        text.line(f"{name} = arith.constant {'true' if self.flag() else 'false'}")
        text.line(f"{made.name} = scf.if {name} -> ({a.type}) {{")
        with text.indented():
            y = self.region(text, "mul", [a, b], ops.mul)
            text.line(f"scf.yield {y.name} : {y.type}")
        text.line("} else {")
        with text.indented():
            text.line(f"scf.yield {b.name} : {b.type}")
        text.line("}")
        return made

    def _select(self, text: Text) -> Tensor:
        two = self.two()
        assert two is not None
        name, first, second = text.fresh(), *two
        text.line(f"{name} = arith.constant {'true' if self.flag() else 'false'}")
        return text.op(f"arith.select {name}, {first.name}, {second.name} : {first.type}", first.shape)


# -- each kernel ------------------------------------------------------------------------------------------------------


def _matmul(draw: Draw, text: Text) -> Tensor | None:
    x = draw.value(2)
    if x is None:
        return None
    n, relu = draw.pick(x.shape[1], 6, 4), draw.flag()
    operands = [x, draw.constant(text, (x.shape[1], n)), *draw.bias(text, n)]
    return draw.region(text, "matmul", operands, lambda t, *values: ops.matmul(t, *values, relu=relu))


def _conv2d(draw: Draw, text: Text) -> Tensor | None:
    x = draw.value(4)
    if x is None or x.shape[1] < 3:
        return None
    n, relu, padding, filters = (
        draw.pick(x.shape[3], 6),
        draw.flag(),
        draw.pick(0, 1),
        ("hwcf", "fhwc")[draw.pick(0, 1)],
    )
    sizes = {"h": 3, "w": 3, "c": x.shape[3], "f": n}
    operands = [x, draw.constant(text, [sizes[letter] for letter in filters]), *draw.bias(text, n)]
    body = lambda t, *values: ops.conv2d(t, *values, relu=relu, padding=padding, filters=filters)  # noqa: E731
    return draw.region(text, "conv2d", operands, body)


def _depthwise(draw: Draw, text: Text) -> Tensor | None:
    x = draw.value(4)
    if x is None or x.shape[1] < 2:
        return None
    relu = draw.flag()
    operands = [x, draw.constant(text, (2, 2, x.shape[3])), *draw.bias(text, x.shape[3])]
    return draw.region(
        text, "depthwise_conv2d", operands, lambda t, *values: ops.depthwise_conv2d(t, *values, relu=relu)
    )


def _binary(name: str, body: Body) -> Callable[[Draw, Text], Tensor | None]:
    def drawn(draw: Draw, text: Text) -> Tensor | None:
        two = draw.two()
        return None if two is None else draw.region(text, name, two, body)

    return drawn


def _lookup(draw: Draw, text: Text) -> Tensor | None:
    x = draw._value()
    bodies = (ops.tanh, ops.sigmoid, ops.gelu, ops.one_minus)
    return None if x is None else draw.region(text, "lookup", [x], bodies[draw.pick(0, 1, 2, 3)])


def _clamp(draw: Draw, text: Text) -> Tensor | None:
    x = draw._value()
    low, high = ((0, None), (-1, 1), (0, 6))[draw.pick(0, 1, 2)]
    if x is None:
        return None
    return draw.region(text, "clamp", [x], lambda t, v: ops.clamp(t, v, low, high), ranged=False)


def _softmax(draw: Draw, text: Text) -> Tensor | None:
    x = draw._value()
    if x is None:
        return None
    out = NOTHING if draw.target != "qrt-cpu" else str(CalibratedType("f32", 0, 1))
    return text.region("softmax", [x], [draw._spec(needs_range=False)], out, ops.softmax)


def _pool(name: str, body: Body, *, ranged: bool) -> Callable[[Draw, Text], Tensor | None]:
    def drawn(draw: Draw, text: Text) -> Tensor | None:
        x = draw.value(4)
        if x is None or x.shape[1] < 2:
            return None
        stride = draw.pick(1, 2)
        return draw.region(text, name, [x], lambda t, v: body(t, v, size=2, stride=stride), ranged=ranged)

    return drawn


def _mean(draw: Draw, text: Text) -> Tensor | None:
    x = draw.value(4)
    return None if x is None else draw.region(text, "mean", [x], lambda t, v: ops.mean(t, v, axes=[1, 2]))


def _pad(draw: Draw, text: Text) -> Tensor | None:
    x = draw.value(4)
    if x is None or x.shape[1] > 5:
        return None
    value = draw.pick(0, 0, 1)
    return draw.region(text, "pad", [x], lambda t, v: ops.pad(t, v, [0, 1, 1, 0], value), ranged=False)


def _reshape(draw: Draw, text: Text) -> Tensor | None:
    x = draw.value(4)
    if x is None or prod(x.shape) > 150:
        return None
    return draw.region(text, "reshape", [x], ops.flatten, ranged=False)


def _transpose(draw: Draw, text: Text) -> Tensor | None:
    x = draw.value(4)
    if x is None:
        return None
    return draw.region(text, "transpose", [x], lambda t, v: ops.transpose(t, v, [0, 2, 1, 3]), ranged=False)


def _concat(draw: Draw, text: Text) -> Tensor | None:
    two = draw.two()
    if two is None or two[0].shape[-1] > 12:
        return None
    axis = len(two[0].shape) - 1
    ranged = draw.flag() or draw.target == "qrt-cpu"
    return draw.region(text, "concat", two, lambda t, *values: ops.concat(t, *values, axis=axis), ranged=ranged)


KERNELS: dict[str, Callable[[Draw, Text], Tensor | None]] = {
    "matmul": _matmul,
    "conv2d": _conv2d,
    "depthwise_conv2d": _depthwise,
    "add": _binary("add", ops.add),
    "sub": _binary("sub", ops.sub),
    "mul": _binary("mul", ops.mul),
    "avg_pool2d": _pool("avg_pool2d", ops.avg_pool2d, ranged=True),
    "max_pool2d": _pool("max_pool2d", ops.max_pool2d, ranged=False),
    "mean": _mean,
    "softmax": _softmax,
    "pad": _pad,
    "reshape": _reshape,
    "transpose": _transpose,
    "concat": _concat,
    "lookup": _lookup,
    "clamp": _clamp,
}
OFTEN = [*KERNELS, *3 * ("matmul",), *2 * ("conv2d", "depthwise_conv2d", "max_pool2d", "concat", "pad")]
