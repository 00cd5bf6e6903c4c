"""Annotated float programs of as many regions as one asks for, each shape a hazard to passes of quantization."""

import numpy as np

from qrt import ir
from qrt.ir.remarks import remarks_to
from tests.quantization import float_text as ops
from tests.quantization.float_text import Tensor, Text

SHAPE = (4,)
PASSES = {
    "fuse-kernels": "fuse-kernels{target=qrt-cpu}",
    "propagate-quant": "propagate-quant{target=qrt-cpu}",
    "check-quant": "check-quant{target=qrt-cpu}",
    "export-quant to kernels": "export-quant{to=fixed target=qrt-cpu}",
    "export-quant to generated code": "export-quant{to=codegen target=qrt-cpu}",
}
"""The passes from a float program to an exported one. Both exports begin with the program that is checked."""


def prepared(text: str, name: str) -> ir.Module:
    """Return the program of a text after the passes before one of `PASSES`."""
    module, names = ir.parse(text), list(PASSES)
    with remarks_to(None):
        ir.run_passes(module, ",".join(PASSES[before] for before in names[: min(names.index(name), 3)]))
    return module


def _step(text: Text, x: Tensor, weights: Tensor, number: int) -> Tensor:
    """Append one of three regions, whose range depends on its number."""
    steps = (ops.add, ops.mul, lambda text, x, _: ops.tanh(text, x))
    return text.stats(steps[number % 3](text, x, weights), -1 - number % 7 / 8, 1)


def _begin() -> tuple[Text, Tensor, Tensor, Tensor]:
    text, x = Text(), Tensor("%x", SHAPE)
    return text, x, text.constant(np.float32([1, -1, 0.5, 0.25])), text.stats(x, -1, 1)


def chain(count: int) -> str:
    """Regions in a row: what reaches the last one has passed all others."""
    text, x, weights, value = _begin()
    for number in range(count):
        value = _step(text, value, weights, number)
    return text.function("main", [x], [value])


def wide(count: int) -> str:
    """Half the regions use one value, and a tree of sums joins them."""
    text, x, weights, value = _begin()
    level = [_step(text, value, weights, number) for number in range(count // 2)]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        odd = level[-1:] if len(level) % 2 else []
        level = [text.stats(ops.add(text, a, b), -2, 2) for a, b in pairs] + odd
    return text.function("main", [x], level)


def joined(count: int) -> str:
    """One region of as many operands as there are others: all have one type, so that each gets a rescale."""
    text, x, weights, value = _begin()
    parts = [_step(text, value, weights, number) for number in range(count // 2)]
    return text.function("main", [x], [ops.concat(text, *parts, axis=0)])


def operands(count: int) -> str:
    """One region of as many operands, each with a range for each channel."""
    text = Text()
    inputs = [Tensor(f"%x{number}", SHAPE) for number in range(count)]
    ends = ", ".join(f"[{-1 - channel}.0, 1.0]" for channel in range(SHAPE[0]))
    attributes = (
        f"{{layerStats = dense<[-4.0, 1.0]> : tensor<2xf32>, axisStats = dense<[{ends}]> : tensor<4x2xf32>, axis = 0}}"
    )
    parts = [text.op(f'"quant.stats"({x.name}) {attributes} : ({x.type}) -> {x.type}', x.shape) for x in inputs]
    return text.function("main", inputs, [ops.concat(text, *parts, axis=0)])


def branches(count: int) -> str:
    """Regions in both arms of one `scf.if` after another."""
    text, x, weights, value = _begin()
    condition = text.fresh()
    text.line(f"{condition} = arith.constant true")
    for number in range(count // 2):
        result = Tensor(text.fresh(), SHAPE)
        for arm, head in enumerate((f"{result.name} = scf.if {condition} -> ({result.type}) {{", "} else {")):
            text.line(head)
            with text.indented():
                text.line(f"scf.yield {_step(text, value, weights, number + arm).name} : {result.type}")
        text.line("}")
        value = result
    return text.function("main", [x], [value])


PROGRAMS = (chain, wide, joined, operands, branches)
