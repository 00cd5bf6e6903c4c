"""Variables, WHILE and IF. Hazards: what a variable holds after many calls and after a reset; loops that run no round;
branches that are taken in some runs only."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Operator, Subgraph, Tensor, write

_RUNS = 50


def _numbers(rng, shape, most=1000):
    return rng.integers(-most, most, shape, dtype=np.int32, endpoint=True)


def variable(rng, quantized):
    """A variable that holds the last inputs, or their sum."""
    shape = draw.shape(rng)
    dtype, others = (
        ("int8", {"scales": draw.scale(rng), "zero_points": draw.zero_point(rng)}) if quantized else ("int32", {})
    )
    first = draw.integers(rng, shape) if quantized else _numbers(rng, shape)
    x, old, new = (Tensor(shape, dtype, **others) for _ in range(3))
    handle, other = Tensor((), "resource"), Tensor((), "resource")
    options = {"container": "", "shared_name": "kept"}
    initial = [
        Operator("VAR_HANDLE", [], [other], options),
        Operator("ASSIGN_VARIABLE", [other, Tensor(shape, dtype, data=first, **others)], []),
    ]
    step = Operator("MAXIMUM", [x, old], [new]) if quantized else Operator("ADD", [x, old], [new], {})
    main = [
        Operator("CALL_ONCE", [], [], {"init_subgraph_index": 1}),
        Operator("VAR_HANDLE", [], [handle], options),
        Operator("READ_VARIABLE", [handle], [old]),
        step,
        Operator("ASSIGN_VARIABLE", [handle, new if rng.random() < 0.5 else x], []),
    ]
    content = write([Subgraph([x], [new], main), Subgraph([], [], initial, "init")])
    runs = [[draw.integers(rng, shape) if quantized else _numbers(rng, shape)] for _ in range(_RUNS)]
    return Case(content, runs, resets=(_RUNS // 2,))


def loop(rng):
    """Rounds until a counter reaches a limit that is given; each adds, multiplies and wraps."""
    shape = draw.shape(rng)
    counter, total = Tensor((), "int32"), Tensor(shape, "int32")
    ends = [Tensor((), "int32"), Tensor(shape, "int32")]

    def carried():
        return Tensor((), "int32"), Tensor(shape, "int32")

    a, b, limit, said = *carried(), Tensor((), "int32", data=int(rng.integers(-1, 6))), Tensor((), "bool")
    condition = Subgraph([a, b], [said], [Operator("LESS", [a, limit], [said], {})])
    a, b = carried()
    more, sums = carried()
    product = Tensor(shape, "int32")
    steps = [
        Operator("ADD", [a, Tensor((), "int32", data=1)], [more], {}),
        Operator("MUL", [b, Tensor((1,), "int32", data=int(rng.integers(-5, 6)))], [product], {}),
        Operator("ADD", [product, more], [sums], {}),
    ]
    options = {"cond_subgraph_index": 1, "body_subgraph_index": 2}
    main = Subgraph([counter, total], ends, [Operator("WHILE", [counter, total], ends, options)])
    content = write([main, condition, Subgraph([a, b], [more, sums], steps)])
    return Case(content, [[np.int32(rng.integers(-2, 8)), _numbers(rng, shape, 2**30)] for _ in range(4)])


def choice(rng):
    """A branch by a comparison of an input."""
    shape = draw.shape(rng)
    number, x, y, z = Tensor((), "int32"), Tensor(shape, "int32"), Tensor(shape, "int32"), Tensor(shape, "int32")
    said = Tensor((), "bool")

    def branch(name):
        a, b, made = (Tensor(shape, "int32") for _ in range(3))
        return Subgraph([a, b], [made], [Operator(name, [a, b], [made], {})])

    options = {"then_subgraph_index": 1, "else_subgraph_index": 2}
    steps = [
        Operator("GREATER_EQUAL", [number, Tensor((), "int32", data=0)], [said], {}),
        Operator("IF", [said, x, y], [z], options),
    ]
    names = rng.choice(["ADD", "SUB", "MUL", "MAXIMUM"], 2, replace=False)
    content = write([Subgraph([number, x, y], [z], steps), *map(branch, map(str, names))])
    return Case(content, [[np.int32(n), _numbers(rng, shape), _numbers(rng, shape)] for n in (-1, 0, 5, -7)])


def gru(rng):
    """A GRU of int8 as a loop: each round takes a row of the input, and computes two gates and what is new."""
    rows, batch, units, features = (int(rng.integers(1, most)) for most in (7, 24, 40, 24))
    plain = {"fused_activation_function": "NONE"}
    steps = []

    def numbers(*shape, scale=1 / 128, zero_point=0, **others):
        return Tensor(shape, "int8", scales=scale, zero_points=zero_point, **others)

    def made(name, inputs, scale=1 / 128, zero_point=0, options=plain):
        result = numbers(batch, units, scale=scale, zero_point=zero_point)
        steps.append(Operator(name, inputs, [result], options))
        return result

    def product(x, size):
        scale = float(np.float32(rng.uniform(0.002, 0.02)))
        weights = numbers(units, size, scale=scale, data=rng.integers(-127, 128, (units, size)))
        bias = Tensor((units,), "int32", data=rng.integers(-5000, 5000, units), scales=float(np.float32(scale) / 128))
        # LiteRT's ADD has a rule where no scale is 256 times that of its result, which is 0.01 at least.
        return made("FULLY_CONNECTED", [x, weights, bias], min(draw.scale(rng), 2.5), draw.zero_point(rng))

    def gate(kept, scale, zero_point, name):
        both = made("ADD", [product(x, features), product(kept, units)], rng.uniform(0.01, 0.1), draw.zero_point(rng))
        return made(name, [both], scale, zero_point, {})

    def carried():
        return [Tensor((1,), "int32"), numbers(batch, units), numbers(rows, batch, features)]

    number, h, xs = carried()
    after, taken, x = Tensor((1,), "int32"), numbers(1, batch, features), numbers(batch, features)
    shape = Tensor((2,), "int32", data=[batch, features])
    steps += [
        Operator("ADD", [number, Tensor((), "int32", data=1)], [after], plain),
        Operator("GATHER", [xs, number], [taken], {"axis": 0, "batch_dims": 0}),
        Operator("RESHAPE", [taken, shape], [x], {"new_shape": [batch, features]}),
    ]
    reset, update = (gate(h, 1 / 256, -128, "LOGISTIC") for _ in range(2))
    new = gate(made("MUL", [reset, h]), 1 / 128, 0, "TANH")
    rest = made("SUB", [numbers(1, units, data=np.full((1, units), 127)), update])
    result = made("ADD", [made("MUL", [update, h]), made("MUL", [rest, new])])

    below, said = carried(), Tensor((1,), "bool")
    limit = Tensor((1,), "int32", data=[rows])
    condition = Subgraph(below, [said], [Operator("LESS", [below[0], limit], [said], {})])
    inputs, ends = carried(), carried()
    options = {"cond_subgraph_index": 1, "body_subgraph_index": 2}
    main = Subgraph(inputs, ends, [Operator("WHILE", inputs, ends, options)])
    content = write([main, condition, Subgraph([number, h, xs], [after, result, xs], steps)])
    runs = [[np.int32([begin]), draw.integers(rng, (batch, units)), draw.integers(rng, (rows, batch, features))]
            for begin in (0, 0, rows // 2, rows)]  # fmt: skip
    return Case(content, runs)


CASES = {
    "variable, int32": partial(variable, quantized=False),
    "variable, i8": partial(variable, quantized=True),
    "WHILE": loop,
    "WHILE, GRU": gru,
    "IF": choice,
}
