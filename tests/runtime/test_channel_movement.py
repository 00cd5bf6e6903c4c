"""What the verifier accepts compiles, and its values are right: drawn chains of operations that move elements, with
types per layer, per axis and in blocks. Hazards: sizes of 1 and 0, where one movement is another; equal sizes, where
channels on a wrong axis still fit; one channel; rewrites that make a movement into another one."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import QuantError
from qrt.ops import FAMILIES
from qrt.ops.core import parameters_of
from qrt.types import TensorType, UniformType

SIZES = [1, 1, 1, 2, 2, 3, 4, 0]


def draw_type(rng, shape):
    scales = lambda count: (2.0 ** rng.integers(-2, 3, count)).tolist()  # noqa: E731
    zeros = lambda count: rng.integers(-4, 5, count).tolist()  # noqa: E731
    kind = rng.choice(["layer", "axis", "blocks"]) if shape else "layer"
    if kind == "blocks" and 0 not in shape:
        counts = [int(rng.choice([n for n in range(1, size + 1) if size % n == 0])) for size in shape]
        blocks = {axis: size // count for axis, (size, count) in enumerate(zip(shape, counts, strict=True))}
        total = int(np.prod(counts))
        nested = [np.reshape(part(total), counts).tolist() for part in (scales, zeros)]
        return UniformType("i8", "f32", *nested, block_sizes=blocks)
    axes = [axis for axis, size in enumerate(shape) if size]
    if kind == "axis" and axes:
        axis = int(rng.choice(axes))
        return UniformType("i8", "f32", scales(shape[axis]), zeros(shape[axis]), axis=axis)
    return UniformType("i8", "f32", scales(1)[0], zeros(1)[0])


def values_of(stored, t):
    scale, zero = parameters_of(t, stored.shape)
    return (stored - zero) * scale


def _transpose(rng, kind):
    order = rng.permutation(len(kind.shape)).tolist()
    return [], {"permutation": order}, None, lambda x: x.transpose(order)


def _reshape(rng, kind):
    if not kind.shape or rng.random() < 0.7:
        others = [size for size in kind.shape if size != 1] + [1] * int(rng.integers(0, 3))
        shape = [int(size) for size in (rng.permutation(others) if rng.random() < 0.5 else others)]
    else:
        shape = [-1 if axis else int(kind.shape[0]) for axis in range(min(2, len(kind.shape)))]
        rest = int(np.prod(kind.shape[1:]))
        shape = [rest if size == -1 else size for size in shape]
    return [], {}, shape, lambda x: x.reshape(shape)


def _concat(rng, kind):
    axis = int(rng.integers(max(len(kind.shape), 1)))
    return ["%x"], {"axis": axis}, None, lambda x: np.concatenate([x, x], axis)


def _slice(rng, kind):
    strides = [int(rng.choice([1, 1, -1, 2])) for _ in kind.shape]
    offsets = [size - 1 if step < 0 and size else 0 for size, step in zip(kind.shape, strides, strict=True)]
    said = {"offsets": offsets, "sizes": [-1] * len(strides), "strides": strides}
    return [], said, None, lambda x: x[tuple(slice(None, None, step) for step in strides)]


def _tile(rng, kind):
    multiples = [int(rng.choice([1, 1, 2])) for _ in kind.shape]
    return [], {"multiples": multiples}, None, lambda x: np.tile(x, multiples)


def _pad(rng, kind):
    pairs = [[int(n) for n in rng.integers(0, 2, 2)] for _ in kind.shape]
    return [], {"padding": pairs}, None, lambda x: np.pad(x, pairs) if pairs else x


def _gather(rng, kind):
    axis = int(rng.integers(max(len(kind.shape), 1)))
    size = kind.shape[axis] if kind.shape else 1
    rows = rng.integers(0, max(size, 1), (2 if size else 0, 1)[: int(rng.integers(1, 3))])
    return [rows], {"axis": axis}, None, lambda x: x.take(rows, axis)


def _gather_nd(rng, kind):
    depth = int(rng.integers(1, len(kind.shape) + 1)) if kind.shape else 1
    count = 0 if 0 in kind.shape[:depth] else 3
    rows = np.stack([rng.integers(0, max(size, 1), count) for size in kind.shape[:depth]] or [np.zeros(3, int)], -1)
    return [rows], {}, None, lambda x: x[tuple(rows.T)]


def _scatter_nd(rng, kind):
    """The first rows, in reverse: the parts are the tensor's own first rows."""
    count = kind.shape[0] if kind.shape else 1
    rows = np.arange(count)[::-1].reshape(count, 1)
    return [rows, "%x"], {}, None, lambda x: x[::-1]


def _reduce_max(rng, kind):
    axes = sorted(int(axis) for axis in rng.choice(len(kind.shape), 1)) if kind.shape else []
    keep = bool(rng.integers(2))
    return [], {"axes": axes, "keepdims": keep}, None, lambda x: x.max(tuple(axes), keepdims=keep)


MOVEMENTS = {
    "transpose": _transpose,
    "reshape": _reshape,
    "concat": _concat,
    "slice": _slice,
    "tile": _tile,
    "pad": _pad,
    "gather": _gather,
    "gather_nd": _gather_nd,
    "scatter_nd": _scatter_nd,
    "reduce_max": _reduce_max,
}


def spell(value):
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value} : i64" if isinstance(value, int) else str(value)


def draw_chain(rng, first):
    """(the text of a program, its argument's type, the values it gives by those it takes)."""
    shape = tuple(int(size) for size in rng.choice(SIZES, int(rng.integers(1, 5))))
    kind = given = TensorType(shape, draw_type(rng, shape))
    lines, steps, name = [], [], "%v0"
    for number in range(1, int(rng.integers(2, 5))):
        op = first if number == 1 else str(rng.choice(list(MOVEMENTS)))
        others, said, declared, step = MOVEMENTS[op](rng, kind)
        operands, types = [name], [kind]
        for index, other in enumerate(others):
            if isinstance(other, str):
                operands, types = [*operands, name], [*types, kind]
                continue
            held = f"%c{number}_{index}"
            type = TensorType(other.shape, "i64")
            lines.append(f"{held} = arith.constant dense<{other.tolist() if other.size else ''}> : {type}")
            operands, types = [*operands, held], [*types, type]
        family = FAMILIES[op]
        wanted = None if declared is None else TensorType(declared, kind.element)
        try:
            result = family.resolve(tuple(types), family.complete(said), wanted)
        except QuantError:
            continue
        name = f"%v{number}"
        attributes = ", ".join(f"{key} = {spell(value)}" for key, value in said.items())
        signature = ", ".join(map(str, types))
        lines.append(f"{name} = qrt.{op} {', '.join(operands)} {{{attributes}}} : ({signature}) -> {result}")
        kind = result
        steps.append(step)
    body = "\n  ".join([*lines, f"return {name} : {kind}"])
    return f"func.func @f(%v0: {given}) -> {kind} {{\n  {body}\n}}", given, kind, steps


@pytest.mark.parametrize("first", MOVEMENTS)
def test_drawn_chains_of_movements(first):
    """Any other order, or other parameters, would give other values."""
    ran = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, *first.encode()])
        text, given, kind, steps = draw_chain(rng, first)
        if not steps:
            continue
        module = ir.parse(text)
        module.verify(strict=True)
        program = qrt.compile(module)
        stored = rng.integers(-128, 128, given.shape).astype(np.int8)
        planned, interpreted = (
            program.run({"arg0": stored}, interpret=interpret)["result0"] for interpret in (False, True)
        )
        np.testing.assert_array_equal(planned.storage, interpreted.storage, text)
        wanted = values_of(stored, given.element)
        for step in steps:
            wanted = step(wanted)
        np.testing.assert_array_equal(values_of(planned.storage, kind.element), wanted, text)
        ran += 1
    assert ran > 15


ONE = "!quant.uniform<i8:f32:1, {0.5}>", "!quant.uniform<i8:f32:0, {0.5}>"
LAYER = "!quant.uniform<i8:f32, 0.5>"
BLOCKS = "!quant.uniform<i8:f32:{0:2}, {{0.5}, {0.25}}>", "!quant.uniform<i8:f32:{1:2}, {{0.5, 0.25}}>"
TWO = "!quant.uniform<i8:f32:0, {0.5, 0.25}>", "!quant.uniform<i8:f32:1, {0.5, 0.25}>"


@pytest.mark.parametrize(
    ("permutation", "given", "result"),
    [
        ("{permutation = [1, 0]}", f"tensor<4x1x{ONE[0]}>", f"tensor<1x4x{ONE[1]}>"),
        ("{permutation = [1, 0]}", f"tensor<4x1x{BLOCKS[0]}>", f"tensor<1x4x{BLOCKS[1]}>"),
        ("{permutation = [1, 0]}", f"tensor<2x1x{TWO[0]}>", f"tensor<1x2x{TWO[1]}>"),
        ("{permutation = [1, 0]}", f"tensor<2x0x{TWO[0]}>", f"tensor<0x2x{TWO[1]}>"),
        ("{permutation = [1, 0]}", f"tensor<?x1x{ONE[0]}>", f"tensor<1x?x{ONE[1]}>"),
        ("", f"tensor<2x3x{LAYER}>", f"tensor<3x2x{LAYER}>"),
        ("", f"tensor<2x3x{TWO[0]}>", f"tensor<3x2x{TWO[1]}>"),
        ("", f"tensor<1x1x{ONE[0]}>", f"tensor<1x1x{ONE[1]}>"),
    ],
)
def test_a_transpose_that_leaves_elements_in_their_order(permutation, given, result):
    """A reshape does the same, but does not let these channels follow; and axes are reversed by default."""
    text = f"func.func @f(%x: {given}) -> {result} {{ %0 = qrt.transpose %x {permutation} : ({given}) -> {result}\n"
    program = qrt.compile(ir.parse(f"{text} return %0 : {result} }}"))
    shape = tuple(4 if size is None else size for size in program.inputs[0].type.shape)
    stored = np.arange(np.prod(shape), dtype=np.int8).reshape(shape)
    for interpret in (False, True):
        got = program.run({"arg0": stored}, interpret=interpret)["result0"]
        np.testing.assert_array_equal(got.storage, stored.T)


def test_one_channel_may_be_declared_on_any_axis_of_1():
    t = UniformType("i8", "f32", [0.5], axis=1)
    for axis in (0, 2):
        given, result = TensorType((4, 1), t), TensorType((1, 4, 1), t.with_(axis=axis))
        reshape = FAMILIES["reshape"]
        assert reshape.resolve((given,), reshape.complete({}), result) == result


@pytest.mark.parametrize("shape", ["1x?", "?x1", "?x?", "1x1"])
@pytest.mark.parametrize("axis", [0, 1])
def test_one_channel_goes_where_the_transpose_has_it(shape: str, axis: int) -> None:
    """For sizes of 1 the shape stays, and the transpose is a reshape that could leave the channel in its place."""
    sizes = shape.split("x")
    if sizes[axis] == "?":  # one channel needs a size of 1
        sizes[axis] = "1"
    t = "!quant.uniform<i8:f32:{}, {{5.000000e-01:3}}>"
    given = f"tensor<{'x'.join(sizes)}x{t.format(axis)}>"
    result = f"tensor<{'x'.join(reversed(sizes))}x{t.format(1 - axis)}>"
    program = qrt.compile(f"""func.func @f(%x: {given}) -> {result} {{
      %0 = qrt.transpose %x {{permutation = [1, 0]}} : ({given}) -> {result}
      return %0 : {result} }}""")
    for size in (1, 3) if "?" in sizes else (1,):
        x = np.arange(size, dtype=np.int8).reshape([size if d == "?" else 1 for d in sizes])
        for interpret in (True, False):
            found = program.run({"arg0": x}, interpret=interpret)["result0"]
            np.testing.assert_array_equal(found.storage, x.T)
            assert found.type.axis == 1 - axis
