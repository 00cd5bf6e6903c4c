"""Types drawn at random, as text: most are right, some break a limit. The same seed draws the same types."""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from qrt.numerics.float_text import FORMATS
from qrt.types import FloatType
from qrt.types.storage import storage_range

Shape = tuple[int | None, ...] | None
"""`None` entries are dynamic; `None` for the whole is unranked."""

EXPRESSED = tuple(FORMATS)
DOUBLES = tuple(name for name, form in FORMATS.items() if form.width <= 64)
"""What a double holds the values of: mlir-opt ends at a uniform type of another."""
USUAL = ("f32", "f32", "f32", "f64", "f16", "bf16")
_SPACES = ("", "", "", " ", "  ", "\n", "\t", " // a comment\n")


@dataclass(frozen=True)
class Quantized:
    """A quantized type: its text, and what a cast must know of it."""

    text: str
    expressed: str
    width: int


class Draw(Random):
    """A stream of choices. `noise` is how often a number or a word is drawn that breaks a limit."""

    def __init__(self, seed: str, noise: float = 0.02) -> None:
        super().__init__(seed)
        self.noise = noise

    def chance(self, probability: float) -> bool:
        return self.random() < probability


def container(shape: Shape, element: str) -> str:
    """A tensor type's text."""
    return f"tensor<{dimensions(shape)}{element}>"


def dimensions(shape: Shape) -> str:
    return "*x" if shape is None else "".join("?x" if dim is None else f"{dim}x" for dim in shape)


# -- numbers -----------------------------------------------------------------------------------------------------------


def integer(draw: Draw) -> str:
    """An integer that is 0, small, at a power of two, or not of 64 bits."""
    value = draw.choice([0, 0, draw.randint(-10, 10), draw.randint(-300, 300), draw.choice(_edges(draw))])
    return f"{'-' if value < 0 else ''}0x{abs(value):x}" if draw.chance(0.05) else str(value)


def _edges(draw: Draw) -> list[int]:
    power = 1 << draw.choice([7, 8, 15, 16, 31, 32, 63, 64])
    return [power, -power, power - 1, -power - 1]


def scale(draw: Draw, expressed: str) -> str:
    """A scale's text: within the range of the expressed type, nearly always."""
    if draw.chance(draw.noise):
        return draw.choice(["0.0", "-1.0", "1", "+1.0", ".5", "1.e400", "1e5", "0x7FF8000000000000", "nan", "1.0e-400"])
    kind = FloatType(expressed)
    low = math.log2(max(kind.smallest, 1e-300))
    high = math.log2(min(kind.largest, 1e300))
    value = 2.0 ** draw.uniform(max(low, -12), min(high, 12) if draw.chance(0.8) else high)
    if draw.chance(draw.noise):
        value = draw.choice([kind.smallest, kind.largest, kind.smallest * 0.999, kind.largest * 1.001])
    value = min(max(value, 5e-324), 1.7e308)
    bits = struct.pack(">d", value).hex()
    return draw.choice(
        [
            _literal(f"{value:.3g}"),
            _literal(repr(value)),
            _literal(f"{value:.9e}"),
            _literal(f"{value:.20E}"),
            draw.choice(["1.", "0.5", "0.1", "1.0e0", "2.5E-1"]),
            f"0x{bits}" if draw.chance(0.3) else f"{max(value, 1e-6):.6f}",
            f"{math.ceil(min(value, 1e9))}.",
        ]
    )


def _literal(text: str) -> str:
    """A float as MLIR reads it: digits, a dot, and then the exponent."""
    digits, mark, exponent = text.partition("E" if "E" in text else "e")
    return f"{digits if '.' in digits else digits + '.0'}{mark}{exponent}"


# -- quantized types ---------------------------------------------------------------------------------------------------


def storage(draw: Draw, width: int | None = None) -> tuple[str, int]:
    """(storage and bounds, width)."""
    width = width or draw.choice([1, 2, 4, 8, 8, 8, 8, 16, 16, 32, draw.randint(1, 32)])
    prefix = draw.choice(["i", "i", "u"])
    if draw.chance(4 * draw.noise):
        prefix = draw.choice(["si", "ui"])
    text = f"{prefix}{width}"
    if draw.chance(draw.noise):
        text = draw.choice([f"{prefix}33", f"{prefix}0", prefix, f"{prefix}08", "f32", "index", "i8x"])
    if draw.chance(0.3):
        least, greatest = storage_range(width, prefix in ("i", "si"))
        low = draw.choice([least, draw.randint(least, greatest - 1)])
        high = draw.choice([greatest, draw.randint(low + 1, greatest)])
        if draw.chance(draw.noise):
            low, high = draw.choice([(high, low), (low, low), (least - 1, high), (low, greatest + 1)])
        text += f"<{low}:{high}>"
    return text, width


def _zero_point(draw: Draw, width: int, is_negative: bool) -> str:
    if draw.chance(0.4):
        return ""
    least, greatest = storage_range(width, is_signed=True)
    least = least if is_negative else 0
    return f":{integer(draw)}" if draw.chance(draw.noise) else f":{draw.randint(least, greatest)}"


def pair(draw: Draw, expressed: str, width: int, is_negative: bool = True) -> str:
    """A scale, and a zero point that may be negative."""
    return scale(draw, expressed) + _zero_point(draw, width, is_negative)


def nested(draw: Draw, shape: list[int], expressed: str, width: int, is_negative: bool = True) -> str:
    """Scales and zero points of a shape in braces."""
    if not shape:
        return pair(draw, expressed, width, is_negative)
    rows = [nested(draw, shape[1:], expressed, width, is_negative) for _ in range(shape[0])]
    if draw.chance(draw.noise / 4):
        rows.append(draw.choice(["", "{}", "{1.0}", "1.0"]))
    return f"{{{', '.join(rows)}}}"


def per_layer(draw: Draw, expressed: str, width: int | None = None) -> Quantized:
    head, width = storage(draw, width)
    return Quantized(f"!quant.uniform<{head}:{expressed}, {pair(draw, expressed, width)}>", expressed, width)


def per_axis(draw: Draw, expressed: str, shape: Shape, width: int | None = None) -> Quantized:
    """A per-axis type that fits tensors of `shape`."""
    head, width = storage(draw, width)
    axis = draw.randrange(len(shape)) if shape else draw.randint(0, 2)
    channels = shape[axis] if shape else None
    channels = draw.randint(1, 4) if channels is None else channels
    scales = [channels] if channels != 4 or draw.chance(0.8) else [2, 2]
    text = f"!quant.uniform<{head}:{expressed}:{axis}, {nested(draw, scales, expressed, width)}>"
    return Quantized(text, expressed, width)


def sub_channel(draw: Draw, expressed: str, shape: Shape, width: int | None = None) -> Quantized:
    """A sub-channel type that fits tensors of `shape`. mlir-opt ends at negative zero points: they are rare."""
    head, width = storage(draw, width)
    shape = (2, 4) if shape is None else shape
    blocks, scales = [], []
    for axis, size in enumerate(shape):
        count = 1
        if draw.chance(0.8):
            dim = size or draw.choice([1, 2, 4])
            block = draw.choice([n for n in range(1, dim + 1) if dim % n == 0])
            blocks.append(f"{axis}:{block}")
            count = dim // block
        scales.append(count)
    draw.shuffle(blocks)
    if draw.chance(draw.noise) and blocks:
        blocks.append(draw.choice([blocks[0], f"{len(shape)}:1", "0:0", "-1:2"]))
    separator = draw.choice([", ", ",", " , "])
    rows = nested(draw, scales, expressed, width, is_negative=draw.chance(draw.noise / 4))
    text = f"!quant.uniform<{head}:{expressed}:{{{separator.join(blocks)}}}, {rows}>"
    return Quantized(text, expressed, width)


def fitting(draw: Draw, shape: Shape, expressed: str, width: int | None = None, scalar: bool = False) -> Quantized:
    """A uniform type for a scalar, or for tensors of `shape`."""
    forms = [lambda: per_layer(draw, expressed, width)] * 2
    if not scalar and shape != () and 0 not in (shape or ()):
        forms.append(lambda: per_axis(draw, expressed, shape, width))
        if shape is not None:
            forms.append(lambda: sub_channel(draw, expressed, shape, width))
    return draw.choice(forms)()


def any_type(draw: Draw, expressed: str, width: int | None = None) -> Quantized:
    head, width = storage(draw, width)
    return Quantized(f"!quant.any<{head}{f':{expressed}' if draw.chance(0.8) else ''}>", expressed, width)


def calibrated(draw: Draw, expressed: str) -> Quantized:
    bounds = [
        draw.choice(["-1.0", "-0.0", "0.0", f"{draw.uniform(-9, 9):.3f}", repr(draw.uniform(-1, 1))]) for _ in "ab"
    ]
    bounds = [text if "e" not in text else "0.25" for text in bounds]
    if draw.chance(0.9):
        bounds.sort(key=float)
    return Quantized(f"!quant.calibrated<{expressed}<{bounds[0]}:{bounds[1]}>>", expressed, 0)


def quantized(draw: Draw) -> Quantized:
    """Any form, of any expressed type, fitting something or nothing."""
    expressed = draw.choice(DOUBLES if draw.chance(0.5) else USUAL)
    if draw.chance(draw.noise / 4):
        expressed = draw.choice(["f80", "f128"])
    if draw.chance(draw.noise):
        expressed = draw.choice(["i8", "index", "f33", "none", "tensor<f32>"])
        return Quantized(f"!quant.uniform<i8:{expressed}, 1.0>", expressed, 8)
    shape = tuple(draw.choice([None, 1, 2, 4, 6]) for _ in range(draw.randint(1, 3)))
    return draw.choice(
        [
            lambda: per_layer(draw, expressed),
            lambda: per_axis(draw, expressed, shape),
            lambda: sub_channel(draw, expressed, shape),
            lambda: any_type(draw, draw.choice(EXPRESSED)),
            lambda: calibrated(draw, draw.choice(EXPRESSED)),
        ]
    )()


# -- builtin types -----------------------------------------------------------------------------------------------------


def scalar_type(draw: Draw) -> str:
    width = draw.choice([0, 1, 4, 7, 8, 16, 32, 64, 100])
    return draw.choice([f"i{width}", f"si{width}", f"ui{width}", draw.choice(EXPRESSED), "index"])


def type_text(draw: Draw, depth: int = 0) -> str:
    """Any type."""
    rules: list[Callable[[], str]] = [lambda: quantized(draw).text] * 6 + [lambda: scalar_type(draw)] * 2
    if depth < 3:

        def inner() -> str:
            return type_text(draw, depth + 1)

        rules += [lambda: _tensor(draw, quantized(draw).text)] * 3
        rules += [
            lambda: _tensor(draw, inner() if draw.chance(0.3) else scalar_type(draw)),
            lambda: _memref(draw, inner() if draw.chance(0.2) else scalar_type(draw)),
            lambda: _vector(draw),
            lambda: f"tuple<{', '.join(inner() for _ in range(draw.randint(0, 3)))}>",
            lambda: f"complex<{scalar_type(draw)}>",
            lambda: "none",
            lambda: function_type(draw, inner),
        ]
    return draw.choice(rules)()


def function_type(draw: Draw, inner: Callable[[], str]) -> str:
    inputs, results = ([inner() for _ in range(draw.randint(0, 2))] for _ in "ab")
    plain = len(results) == 1 and not results[0].startswith("(")
    return f"({', '.join(inputs)}) -> {results[0] if plain and draw.chance(0.7) else '(' + ', '.join(results) + ')'}"


def any_shape(draw: Draw) -> Shape:
    if draw.chance(0.15):
        return None
    return tuple(draw.choice([None, 0, 1, 2, 3, 4, 17, (1 << 63) - 1]) for _ in range(draw.randint(0, 3)))


def _tensor(draw: Draw, element: str) -> str:
    encoding = draw.choice(['"sparse"', "5 : i32", "unit", "[1, f32]", ""]) if draw.chance(0.05) else None
    return container(any_shape(draw), element if encoding is None else f"{element}, {encoding}")


def _memref(draw: Draw, element: str) -> str:
    shape = any_shape(draw)
    layout = ""
    if draw.chance(0.3):
        strides = ", ".join(draw.choice(["?", "1", "2"]) for _ in shape or ())
        layout = draw.choice([", 3", f", strided<[{strides}]>", f", strided<[{strides}], offset: ?>, 1", ', "space"'])
    return f"memref<{dimensions(shape)}{element}{layout}>"


def _vector(draw: Draw) -> str:
    dims = [draw.choice(["1", "2", "4", "[4]", "0" if draw.chance(0.1) else "8"]) for _ in range(draw.randint(0, 3))]
    return f"vector<{''.join(f'{dim}x' for dim in dims)}{scalar_type(draw)}>"


def spaced(draw: Draw, text: str) -> str:
    """The same tokens with other white space around punctuation."""
    parts = []
    quoted = False
    for character in text:
        quoted ^= character == '"'
        around = not quoted and character in ",{}:"
        parts.append(f"{draw.choice(_SPACES)}{character}{draw.choice(_SPACES)}" if around else character)
    return "".join(parts)
