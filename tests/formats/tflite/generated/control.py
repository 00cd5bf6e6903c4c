"""Variables, WHILE and IF. Hazards: what a variable holds after many calls and after a reset; loops that run no round;
branches that are taken in some runs only."""

from functools import partial

import numpy as np

from tests.formats.beside import Case
from tests.formats.tflite.generated import draw
from tests.formats.tflite.writing import Operator, Subgraph, Tensor, write

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


CASES = {
    "variable, int32": partial(variable, quantized=False),
    "variable, i8": partial(variable, quantized=True),
    "WHILE": loop,
    "IF": choice,
}
