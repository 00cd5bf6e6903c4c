"""DynamicQuantizeLinear. Hazards: a range without 0, a range of one number, a zero point that is a tie, tails."""

from typing import Any

import numpy as np

from tests.formats.beside import Case
from tests.formats.onnx.generated import draw
from tests.formats.onnx.writing import model, node, port


def quantized(rng: np.random.Generator) -> Case:
    shape = draw.shape(rng, int(rng.integers(1, 4)), 20_000)
    x = rng.normal(0, 1, shape) * 2.0 ** rng.uniform(-20, 20) + rng.choice([0, rng.normal()])
    x = {0: x, 1: np.abs(x), 2: -np.abs(x), 3: x * 0, 4: np.rint(x)}[int(rng.integers(5))]
    outputs = [port("y", "UINT8", shape), port("s", shape=()), port("z", "UINT8", ())]
    content = model([node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])], [port("x", shape=shape)], outputs)
    return Case(content, [[x.astype(np.float32)]], ulp=0)


CASES: dict[str, Any] = {"DynamicQuantizeLinear": quantized}
