"""Calls of the eager API, drawn: valid ones of every function, and hostile arguments in their place."""

import ast
import math
from collections.abc import Sequence
from random import Random
from typing import Any

from qrt.errors import QuantError
from qrt.tensor.protocol.table import table
from qrt.types import TensorType, UniformType, storage_range
from tests.fuzz import seeds
from tests.fuzz.kinds.eager import FUNCTIONS, LARGEST
from tests.fuzz.kinds.eager_words import METHODS, METRICS, NUMPY, WORDS
from tests.ir.passes.lower_qrt.draw_ops import DRAWS
from tests.ir.passes.lower_qrt.draw_types import OpDraw

_SCALES = (
    0.5,
    1.0,
    0.1,
    1 / 3,
    2.0**-20,
    1e4,
    3e-7,
    1e-30,
    1e30,
    3.4028234e38,
    1.1754944e-38,
    1e-45,
    2.0**-126,
    2.0**127,
)
_EXPRESSED = ("f32", "f32", "f32", "f32", "f64", "f16", "bf16", "f8E4M3FN", "tf32")
_SIZES = (0, 1, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
"""Around the ends of blocks."""
_WITH_FLOATS = [name for name, function in NUMPY.items() if table()[function].kind == "floats"]
_HOSTILE = (
    "None", "0", "1", "-1", "2.5", "nan", "inf", "-inf", "1e400", "9223372036854775808", "-9223372036854775809", '""',
    '"fixed"', '"10"',
    "[]", "()", "[[]]", "(0, 0)", "(1.9, 0.2)", "(-1, -1)", "[1, 2]", '("a",)', "object()", "True", 'a("3", "f32")',
    'a("", "int8")',
    'a("2x2", "object")', 'q("2", "!quant.uniform<i8:f32, 0.5>")', 'q("", "!quant.uniform<i3:f32, 0.5>")',
    't("!quant.any<i8:f32>")', 't("f32")',
    "np_int(3)", "np_float(0.5)", "((1, 2), (3, 4))", "((0, 0), (0, 9223372036854775807))",
    "(4294967296, 4294967296)", '"SAME"', '"VALID"',
    '"float32"', '"fixed_double"', "100000000000000000000000000000000000000000000000", "slice(None)",
)  # fmt: skip


def draw(draw: Random) -> str:
    make = draw.choice(
        (
            _valid,
            _valid,
            _valid,
            _product,
            _product,
            _cast,
            _method,
            _numpy,
            _numpy,
            _in_floats,
            _words,
            _any_call,
            _past,
        )
    )
    text = make(draw)
    for _ in range(draw.choice((0, 0, 0, 1, 1, 2))):
        text = _hostile(draw, text)
    return text


def _call(name: str, operands: Sequence[str], /, **said: object) -> str:
    return f"{name}({', '.join((*operands, *(f'{key}={value}' for key, value in said.items())))})"


def _tensor(
    draw: Random, shape: Sequence[int], t: object, layouts: Sequence[str] = ("C", "C", "strided", "transposed")
) -> str:
    sizes = "x".join(map(str, shape))
    return f'q("{sizes}", "{t}", {draw.randrange(99)}, "{draw.choice(layouts)}")'


def _type(draw: Random, channels: int | None = None, axis: int | None = None) -> UniformType:
    """Any width, bounds, zero point, and a scale of the whole range that its expressed type has."""
    width, signed = draw.choice((8, 8, 8, 4, 16, 32, draw.randint(1, 32))), draw.random() < 0.5
    low, high = storage_range(width, signed)
    said: dict[str, Any] = {"storage": f"{'i' if signed else 'u'}{width}"}
    zero_point = draw.choice((0, low, high, draw.randint(low, high), (low + high) // 2))
    if draw.random() < 0.2:
        said |= {"storage_min": (least := draw.randint(low, high - 1)), "storage_max": draw.randint(least + 1, high)}
    while True:
        scale = draw.choice((draw.choice(_SCALES), 2.0 ** draw.randint(-140, 127), draw.uniform(1e-3, 2)))
        try:
            if channels and axis is not None and draw.random() < 0.5:
                scales = [scale * draw.choice((1, 0.5, 0.75)) for _ in range(channels)]
                return UniformType(
                    expressed="f32", scales=scales, zero_points=[zero_point] * channels, axis=axis, **said
                )
            return UniformType(expressed=draw.choice(_EXPRESSED), scales=scale, zero_points=zero_point, **said)
        except QuantError:  # a scale beyond the expressed type
            continue


def _valid(draw: Random) -> str:
    """An op as the lowering's tests draw it, with the types and attributes that they make."""
    op = DRAWS[name := draw.choice(sorted(DRAWS))](OpDraw(str(draw.random())), name)
    operands = [
        _tensor(draw, array.shape, t, ("C", "packed") if i else ("C",))
        for i, (array, t) in enumerate(zip(op.arrays, op.elements, strict=True))
    ]
    said = {key: repr(value) for key, value in op.attributes.items()}
    if isinstance(op.out, UniformType):
        said["out_type"] = f't("{op.out}")'
    if name in ("matmul", "conv2d", "depthwise_conv2d") and len(operands) == 3:
        said["bias"] = operands.pop()
    if name == "concat":
        operands = [f"[{', '.join(operands)}]"]
    if name == "reshape":
        shape = op.out.shape if isinstance(op.out, TensorType) else op.arrays[0].shape
        operands.append(repr(tuple(-1 if n is None else n for n in shape or ())))
    if name in ("add", "sub", "clamp", "lookup", "pad", "max_pool2d", "softmax", "reshape", "transpose"):
        said.pop("requant", None)
    return _call(name, operands, **said)


def _product(draw: Random) -> str:
    m, k, n = (draw.choice(_SIZES) for _ in range(3))
    ta, tw = _type(draw), _type(draw, n, 1)
    said: dict[str, object] = {"out_type": f't("{_type(draw, n, 1)}")'} if draw.random() < 0.7 else {}
    if draw.random() < 0.3:
        said["requant"] = repr(draw.choice(("fixed", "float32", "fixed_double", "float64")))
    if draw.random() < 0.3:
        said["bias"] = _tensor(draw, (n,), _type(draw, n, 0))
    layouts = ("C", "packed", "transposed")
    if draw.random() < 0.25:
        return _call("float_matmul", [f'a("{m}x{k}", "f32", {draw.randrange(99)})', _tensor(draw, (k, n), tw, layouts)])
    return _call("matmul", [_tensor(draw, (m, k), ta), _tensor(draw, (k, n), tw, layouts)], **said)


def _cast(draw: Random) -> str:
    shape = [draw.choice(_SIZES) for _ in range(draw.choice((0, 1, 1, 2, 3)))]
    while math.prod(shape) > LARGEST:
        shape.pop()
    axis = draw.randrange(len(shape)) if shape else None
    t = _type(draw, None if axis is None else shape[axis], axis)
    tensor, sizes, expressed = _tensor(draw, shape, t), "x".join(map(str, shape)), str(t.expressed_type)
    dtype = expressed if expressed in ("f16", "bf16", "f64") else "f32"
    layout = draw.choice(("C", "C", "strided", "transposed", "swapped"))
    values = f'a("{sizes}", "{dtype}", {draw.randrange(99)}, "{layout}")'
    rules = {
        "rounding": repr(draw.choice(("half_even", "half_away", "toward_zero"))),
        "zero_point": repr(draw.choice(("before", "after"))),
        "scale": repr(draw.choice(("divide", "reciprocal"))),
    }
    return draw.choice((
        lambda: _call("dcast", [tensor]),
        lambda: _call("qcast", [values, f't("{t}")'], **dict(draw.sample(sorted(rules.items()), draw.randint(0, 3)))),
        lambda: _call("quantize", [values, f't("{t}")']),
        lambda: _call("quantize", [values], **_choice(draw, axis)),
        lambda: f'{tensor}.astype("{_type(draw, None if axis is None else shape[axis], axis)}")',
        lambda: _call("scast", [_call("scast", [tensor]), f't("{t}")']),
        lambda: _call("requantize", [tensor, f't("{_type(draw, None if axis is None else shape[axis], axis)}")']),
        lambda: _call("quantize", [values, f't("{t}")'], out=tensor),
    ))()  # fmt: skip


def _choice(draw: Random, axis: int | None) -> dict[str, object]:
    """How a type is chosen from values."""
    said: dict[str, object] = {
        "axis": axis,
        "group_size": draw.choice((1, 2, 3)),
        "method": repr(draw.choice(("minmax", "mse", "percentile"))),
        "percentile": draw.choice((1, 50, 99.9)),
        "symmetric": draw.choice((True, False)),
        "narrow": draw.choice((True, False)),
    }
    return {"bits": draw.randint(1, 32), **dict(draw.sample(sorted(said.items()), draw.randint(0, 3)))}


def _method(draw: Random) -> str:
    shape = [draw.choice((0, 1, 2, 3, 5)) for _ in range(draw.choice((0, 1, 2, 3)))]
    axis = draw.randrange(len(shape)) if shape else None
    tensor = _tensor(draw, shape, _type(draw, None if axis is None else shape[axis], axis))
    key = draw.choice(
        (
            "0",
            "-1",
            "::2",
            "::-1",
            "1:",
            "None",
            "0, 0",
            "slice(None), 0",
            "99",
            "[0, 1]",
            "()",
            "1:0",
            "2:9223372036854775807",
        )
    )
    form = draw.choice((
        "{0}[{1}]", "{0}.T", "{0}.reshape(-1)", "{0}.reshape({2})", "{0}.transpose({2})", "{0}.dequantize()",
        "{0}.packed", "{0}.storage",
        "{0}.copy()", "repr({0})", "{0} + {0}", "{0} @ {0}.T", "{0} * {0}", "{0} - {0}", "{0} == {0}", "len({0})",
        "asarray({0})",
        "np_concatenate([{0}, {0}])", "np_add({0}, {0})", "np_sum({0})", "relu({0}, out={0})",
        "add({0}, {0}, out={0})", "pack({0})", "float({0})",
        "{0} + {2}", "{0}.scales", "TensorType({2}, t(\"f32\"))", "scast({0})",
    ))  # fmt: skip
    return form.replace("{0}", tensor).replace("{1}", key).replace("{2}", draw.choice(_HOSTILE))


def _small(draw: Random) -> tuple[list[int], str]:
    shape = [draw.choice((0, 1, 2, 3, 5)) for _ in range(draw.choice((0, 1, 2, 2, 3)))]
    axis = draw.randrange(len(shape)) if shape else None
    return shape, _tensor(draw, shape, _type(draw, None if axis is None else shape[axis], axis))


def _numpy(draw: Random) -> str:
    """A function of NumPy's, with one or two tensors, an axis, an operand that is none."""
    name, (shape, tensor) = draw.choice([*NUMPY]), _small(draw)
    other = draw.choice((tensor, tensor, _small(draw)[1], "1", "0.5", "-1", "[0, 1]", draw.choice(_HOSTILE)))
    array = f'a("{"x".join(map(str, shape))}", "{draw.choice(("f32", "int32", "bool", "f64"))}", {draw.randrange(99)})'
    operands = draw.choice(
        ([tensor], [tensor], [tensor, other], [f"[{tensor}, {other}]"], [tensor, array], [array, tensor])
    )
    options = {"axis": draw.choice((0, -1, 1, None)), "keepdims": True, "out": draw.choice((tensor, array))}
    said = {key: options[key] for key in options if draw.random() < (0.4 if key == "axis" else 0.1)}
    if draw.random() < 0.15:
        return _call("under", [draw.choice(('"allow"', '"warn"', '"raise"')), name, *operands])
    return _call(name, operands, **said)


def _in_floats(draw: Random) -> str:
    """A call that has no exact result, whose error says what to write instead."""
    shape, tensor = _small(draw)
    array = f'a("{"x".join(map(str, shape))}", "{draw.choice(("f32", "f64", "int32"))}", {draw.randrange(99)})'
    other = draw.choice((tensor, array, array, _small(draw)[1], "np_float(0.5)", "np_int(2)", "np_float(-0.3)"))
    first, second = draw.choice(((tensor, other), (tensor, other), (other, tensor)))
    if draw.random() < 0.4:
        return f"{first} {draw.choice(('+', '-', '*', '/', '**', '%', '//', '@'))} {second}"
    operands = draw.choice(([tensor], [first, second], [first, second, draw.choice(("2", "0.5", "[1, 2.5]", "None"))]))
    options = {"axis": draw.choice((0, -1)), "dtype": '"float64"', "where": "True", "num": 3}
    said = {key: value for key, value in options.items() if draw.random() < 0.15}
    return _call(draw.choice(_WITH_FLOATS), operands, **said)


_DTYPES = ('"f32"', '"int8"', '"float64"', '"!quant.uniform<i8:f32, 0.25>"')
_KEYS = (
    "0", "-1", "slice(None)", "slice(0, 2)", "(0, 0)", "[0, 1]", "99", '"a"', "None", "1.5", "(slice(None), 0)",
    "[True, False]",
    "slice(None, None, 2)", "[[0], [1]]", "object()",
)  # fmt: skip


def _words(draw: Random) -> str:
    """Assignment, files, measures, comparisons and methods."""
    shape, tensor = _small(draw)
    sizes = "x".join(map(str, shape))
    other = draw.choice((tensor, _small(draw)[1], f'a("{sizes}", "f32", {draw.randrange(99)})', draw.choice(_HOSTILE)))
    sign = draw.choice(("==", "!=", "<", ">=", "/", "**", "%", "//", "*", "@", "+", "-"))
    return draw.choice((
        lambda: _call("assigned", [tensor, draw.choice(_KEYS), other]),
        lambda: f"{tensor}[{draw.choice(_KEYS)}]",
        lambda: f"{tensor} {sign} {other}",
        lambda: f"{other} {sign} {tensor}",
        lambda: _call(draw.choice(METRICS[:-1]), [tensor, other]),
        lambda: _call("saturation", [draw.choice((tensor, other))]),
        lambda: _call("saved", [other], suffix=repr(draw.choice((".npz", ".safetensors", ".txt", ""))),
                      name=draw.choice(('"w"', *_HOSTILE)), append=draw.choice(("False", "True", '"b"'))),
        lambda: _call("load_tensors", [draw.choice(_HOSTILE)]),
        lambda: f"{tensor}.{draw.choice(METHODS)}",
        lambda: f"{tensor}.{draw.choice(METHODS)}({draw.choice(('', '', '0', 'axis=0', 'axis=-1', other))})",
        lambda: f"{tensor}.astype({draw.choice(_DTYPES + _HOSTILE)})",
        lambda: _call("values", [tensor], **{draw.choice(("like", "axis", "type")): draw.choice(_HOSTILE)}),
    ))()  # fmt: skip


def _past(draw: Random) -> str:
    return draw.choice(seeds.corpus("eager"))


def _any_call(draw: Random) -> str:
    """A function with arguments of any kind."""
    tensors = [
        _tensor(draw, [draw.choice((0, 1, 2, 3)) for _ in range(draw.choice((0, 1, 2, 4)))], _type(draw))
        for _ in range(3)
    ]
    operands = draw.choices((*tensors, f't("{_type(draw)}")', draw.choice(_HOSTILE)), k=draw.choice((0, 1, 2, 2, 3)))
    words = (
        "out",
        "out_type",
        "bias",
        "bits",
        "group_size",
        "method",
        "axis",
        "axes",
        "requant",
        "padding",
        "strides",
        "groups",
        "beta",
        "keepdims",
        "value",
        "min",
        "rounding",
    )
    said = {draw.choice(words): draw.choice((*_HOSTILE, *operands)) for _ in range(draw.choice((0, 0, 1, 2)))}
    return _call(draw.choice((*FUNCTIONS, *WORDS)), operands, **said)


def _hostile(draw: Random, text: str) -> str:
    """A number, a text or a whole argument in place of one."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:  # a number with a method
        return text
    nodes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.Tuple | ast.Call | ast.List) and node is not tree.body
    ]
    if not nodes:
        return text
    node = draw.choice(nodes)
    assert node.end_col_offset is not None
    start, end = (len(text.encode()[:at].decode()) for at in (node.col_offset, node.end_col_offset))
    return text[:start] + draw.choice(_HOSTILE) + text[end:]
