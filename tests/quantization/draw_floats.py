"""Random annotated float programs, without regions: the kernels of `draw_graph`, and layer norms, attention, selects,
training with emulated quantization, NCHW images and functions of averages. `fuse-kernels` makes their regions.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from qrt.types import CalibratedType, parse_type
from tests.quantization import float_text as ops
from tests.quantization.draw_graph import KERNELS, NOTHING, OFTEN, Body, Draw, Graph
from tests.quantization.float_text import Tensor, Text, spell


class AnnotatedText(Text):
    """Each region is its float body; the specifications of its ports are annotations around it."""

    def region(self, kernel: str, operands: Sequence[Tensor], specs: Sequence[str], out: str, body: Body) -> Tensor:
        given = [self.annotated(x, spec) for x, spec in zip(operands, specs, strict=True)]
        return self.annotated(body(self, *given), out)

    def annotated(self, x: Tensor, spec: str) -> Tensor:
        """`x` with an annotation of the specification: statistics, or casts to the type and back."""
        if spec == NOTHING:
            return x
        type = parse_type(spec)
        if isinstance(type, CalibratedType) and self._count % 2:
            return self.stats(x, type.min, type.max)
        return self.fake_quantized(x, spec)

    def emulated(self, x: Tensor, low: float, high: float, bits: int, *, is_signed: bool, is_narrow: bool) -> Tensor:
        """`x` as training with emulated quantization of these bits leaves it."""
        flags = f"is_signed = {str(is_signed).lower()}, narrow_range = {str(is_narrow).lower()}"
        ends = f"min = {spell(low)} : f32, max = {spell(high)} : f32, num_bits = {bits} : i64"
        return self.op(f'"quant.const_fake_quant"({x.name}) {{{ends}, {flags}}} : ({x.type}) -> {x.type}', x.shape)


class FloatDraw(Draw):
    """The drawing of an annotated float program."""

    text = AnnotatedText

    def _kernel(self, text: Text) -> Tensor:
        preferred = 12 * PREFERRED.get(Path(self.target).stem, ())
        while True:
            name = self._rng.choice([*OFTEN, *3 * [*FORMS], *preferred])
            made = {**KERNELS, **FORMS}[name](self, text)
            if made is not None:
                return made

    def said(self, text: Text, x: Tensor, low: float, high: float) -> Tensor:
        """`x`, mostly annotated with a range: a value without one may keep its region float."""
        return text.stats(x, low, high) if self._rng.random() < 0.85 else x


def draw_floats(seed: str, target: str, most: int) -> Graph:
    """An annotated float program, and the same one without annotations."""
    return FloatDraw(seed, target, most).graph()


def _layer_norm(draw: FloatDraw, text: Text) -> Tensor | None:
    """With a scale and an offset, which are constants; without the centring, it is an RMS norm."""
    x = draw.value(2)
    if x is None:
        return None
    rows, columns = x.shape
    x, centred = draw.said(text, x, -4, 4), x
    if draw.flag():
        m = draw.said(text, ops.mean(text, x, axes=[1]), -2, 2)
        centred = draw.said(text, ops.sub(text, x, text.broadcast(m, x.shape, [1])), -4, 4)
    else:
        centred = x
    squares = draw.said(text, ops.mul(text, centred, centred), 0, 16)
    v = draw.said(text, ops.mean(text, squares, axes=[1]), 0, 8)
    root = draw.said(text, text.unary("math.rsqrt", text.binary("arith.addf", v, text.splat(0.25, v.shape))), 0, 2)
    y = draw.said(text, ops.mul(text, centred, text.broadcast(root, x.shape, [1])), -3, 3)
    if draw.flag():
        scale, offset = (text.broadcast(draw.constant(text, (columns,)), (rows, columns), [0]) for _ in range(2))
        y = draw.said(text, ops.mul(text, y, scale), -4, 4)
        y = draw.said(text, ops.add(text, y, offset), -5, 5)
    return y


def _attention(draw: FloatDraw, text: Text) -> Tensor | None:
    x = draw.value(2)
    if x is None:
        return None
    x = draw.said(text, x, -4, 4)
    q, k, v = (
        draw.said(text, ops.matmul(text, x, draw.constant(text, (x.shape[1], 4)), *draw.bias(text, 4)), -6, 6)
        for _ in range(3)
    )
    scores = draw.said(text, ops.matmul(text, q, ops.transpose(text, k, [1, 0])), -8, 8)
    scaled = draw.said(text, text.binary("arith.mulf", scores, text.splat(0.5, scores.shape)), -4, 4)
    weights = draw.said(text, ops.softmax(text, scaled), 0, 1)
    return draw.said(text, ops.matmul(text, weights, v), -6, 6)


def _select(draw: FloatDraw, text: Text) -> Tensor | None:
    two = draw.two()
    assert two is not None
    a, b = (draw.said(text, x, -2, 2) for x in two)
    condition = text.fresh()
    if draw.flag():
        text.line(f"{condition} = arith.constant {str(draw.flag()).lower()}")
        return draw.said(text, text.op(f"arith.select {condition}, {a.name}, {b.name} : {a.type}", a.shape), -2, 2)
    flags = a.type.replace("f32", "i1")
    text.line(f"{condition} = arith.cmpf olt, {a.name}, {b.name} : {a.type}")
    return draw.said(text, text.op(f"arith.select {condition}, {a.name}, {b.name} : {flags}, {a.type}", a.shape), -2, 2)


def _emulated(draw: FloatDraw, text: Text) -> Tensor | None:
    """A product whose factors and result were rounded in training: by 4 or 8 bits, with or without sign."""
    x = draw.value(2)
    if x is None:
        return None
    bits, is_signed, is_narrow = draw.pick(4, 8), draw.flag(), draw.flag()
    low = draw.pick(-1, -2, 0)

    def round_to(value: Tensor, low: float, high: float, bits: int, *, is_weight: bool = False) -> Tensor:
        if not isinstance(text, AnnotatedText):
            return value
        signed, narrow = (True, draw_narrow) if is_weight else (is_signed, is_narrow)
        return text.emulated(value, low, high, bits, is_signed=signed, is_narrow=narrow)

    draw_narrow = draw.pick(0, 1, 1) == 1
    x = round_to(x, low, 2, bits)
    w = round_to(draw.constant(text, (x.shape[1], 4)), -1, 1 if draw_narrow else 1.5, bits, is_weight=True)
    return round_to(ops.matmul(text, x, w, *draw.bias(text, 4)), -4, 4, 8)


def _channels_first(draw: FloatDraw, text: Text) -> Tensor | None:
    """A convolution of NCHW images between transposes."""
    x = draw.value(4)
    if x is None or x.shape[1] < 3:
        return None
    x = draw.said(text, ops.transpose(text, draw.said(text, x, -2, 2), [0, 3, 1, 2]), -2, 2)
    n, c, h, w = x.shape
    out = text.filled(0, (n, 4, h - 2, w - 2))
    y = text.structured("linalg.conv_2d_nchw_fchw", [x, draw.constant(text, (4, c, 3, 3))], out)
    return draw.said(text, ops.transpose(text, draw.said(text, y, -8, 8), [0, 2, 3, 1]), -8, 8)


def _from_matrix(draw: FloatDraw, text: Text) -> Tensor | None:
    """A product that starts from a matrix: a constant, or another value."""
    x = draw.value(2)
    if x is None:
        return None
    w = draw.constant(text, (x.shape[1], x.shape[1]))
    start = draw.said(text, x, -4, 4) if draw.flag() else draw.constant(text, x.shape)
    return draw.said(text, text.structured("linalg.matmul", [draw.said(text, x, -4, 4), w], start), -8, 8)


def _of_average(draw: FloatDraw, text: Text) -> Tensor | None:
    """A function of an average."""
    x = draw._value()
    if x is None or (len(x.shape) == 4 and x.shape[1] < 2):
        return None
    x = draw.said(text, x, -2, 2)
    y = ops.mean(text, x, axes=[1]) if len(x.shape) == 2 else ops.avg_pool2d(text, x, size=2, stride=1)
    y = draw.said(text, y, -2, 2)
    body = (ops.tanh, ops.sigmoid, ops.gelu, lambda t, v: ops.clamp(t, v, 0, None))[draw.pick(0, 1, 2, 3)]
    y = draw.said(text, body(text, y), -1, 2)
    return text.broadcast(y, x.shape, [1]) if len(x.shape) == 2 else y


FORMS: dict[str, Callable[[FloatDraw, Text], Tensor | None]] = {
    "layer norm": _layer_norm,
    "attention": _attention,
    "select": _select,
    "emulated quantization": _emulated,
    "channels first": _channels_first,
    "function of an average": _of_average,
    "product from a matrix": _from_matrix,
}

PREFERRED = {"npu": ("conv2d", "channels first", "add"), "dsp": ("matmul", "add")}
"""The forms that a target with few kernels has kernels for, which are drawn more often for it."""
