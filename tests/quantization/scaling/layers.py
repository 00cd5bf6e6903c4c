"""Programs of products, of what is done to their channels, and of passes on them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from qrt import ir
from qrt.ir.pipeline import module_steps, run_steps
from tests.quantization import float_text as ops
from tests.quantization.float_text import Tensor, Text

Array = np.ndarray[Any, Any]
INPUTS = {"matmul": (3, 5), "hwcf": (2, 4, 4, 3), "fhwc": (2, 4, 4, 3), "depthwise": (2, 4, 4, 3)}
"""The shape of what each product takes."""
WEIGHTS = {"matmul": (5, 4), "hwcf": (2, 2, 3, 4), "fhwc": (4, 2, 2, 3), "depthwise": (2, 2, 3)}
OUTPUTS = {"matmul": 1, "hwcf": 3, "fhwc": 0, "depthwise": 2}
"""The axis of the weights along which output channels are."""
SUMMED = {"matmul": 5, "hwcf": 12, "fhwc": 12, "depthwise": 4}
"""How many products are added up for each number."""


def channels(kind: str) -> int:
    return WEIGHTS[kind][OUTPUTS[kind]]


def product(text: Text, kind: str, x: Tensor, weights: Array, bias: Array | None = None) -> Tensor:
    w, b = text.constant(weights), None if bias is None else text.constant(bias)
    if kind == "matmul":
        return ops.matmul(text, x, w, b)
    return ops.depthwise_conv2d(text, x, w, b) if kind == "depthwise" else ops.conv2d(text, x, w, b, filters=kind)


def vector(text: Text, numbers: Array, like: Tensor) -> Tensor:
    """Numbers for each channel, as a tensor of a shape."""
    return text.broadcast(text.constant(numbers), like.shape, range(len(like.shape) - 1))


def program(shape: Sequence[int], body: Callable[[Text, Tensor], Tensor | Sequence[Tensor]]) -> str:
    """A program of one argument."""
    text, x = Text(), Tensor("%x", tuple(shape))
    made = body(text, x)
    return text.function("main", [x], [made] if isinstance(made, Tensor) else made)


def passed(text: str, pipeline: str) -> tuple[ir.Module, list[str]]:
    """A program after passes, and what they remarked."""
    said: list[str] = []
    module = run_steps(ir.parse(text), module_steps(pipeline), report=lambda each: said.append(each.message))
    return module, said


def kernels(module: ir.Module) -> list[str]:
    return [op.attributes["kernel"].python for op in module.operation.walk() if op.name == "quant.region"]


def keys(module: ir.Module) -> list[str]:
    return [op.attributes["statsKey"].python for op in module.operation.walk() if op.name == "quant.stats_ref"]
