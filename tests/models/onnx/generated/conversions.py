"""Casts of floats to integers, of numbers that the integers cannot represent. Hazards: infinities and NaNs, numbers
beside the ends of the integers, the low bits of a wider integer, unsigned integers above the middle."""

from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.writing import DTYPES, model, node, port

FLOATS = {"FLOAT": np.float32, "DOUBLE": np.float64, "FLOAT16": np.float16}
INTEGERS = ("INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64")


def cast(rng: np.random.Generator, source: str, target: str, known: bool) -> Case:
    """Of uint32, NaNs and numbers beyond -2^31 and 2^32 are left out: the runtime's last elements differ there."""
    ends = [sign * (2.0**bits + more) for sign in (-1, 1) for bits in (7, 8, 15, 16, 31, 32, 63, 64)
            for more in (-1.5, -0.5, 0, 0.5)]  # fmt: skip
    drawn = rng.normal(size=128) * 2.0 ** rng.uniform(0, 66, 128)
    x = np.concatenate([[np.nan, np.inf, -np.inf], ends, drawn])
    x = x[(x >= -(2.0**31)) & (x < 2.0**32)] if target == "UINT32" else x
    with np.errstate(over="ignore"):
        x = rng.permutation(x).astype(FLOATS[source])
    nodes = [node("Cast", ["x"], ["z" if known else "y"], to=DTYPES[target])]
    ports, constants = [port("x", source, x.shape)], {}
    if known:
        nodes.append(node("Add", ["z", "zero"], ["y"]))
        constants, ports = {"x": x}, [port("zero", target, (1,))]
    content = model(nodes, ports, [port("y", target, x.shape)], constants)
    return Case(content, [[np.zeros(1, target.lower()) if known else x]])


CASES: dict[str, Any] = {
    f"Cast {source} to {target}{', known' * known}": partial(cast, source=source, target=target, known=known)
    for source in FLOATS
    for target in INTEGERS
    for known in ((False, True) if target in ("INT32", "INT64") else (False,))
}
