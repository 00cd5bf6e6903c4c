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


def few_bits(rng: np.random.Generator, source: str, target: str) -> Case:
    """A cast to integers of 2 or 4 bits: halves, and the low bits of larger integers."""
    x = np.concatenate([rng.integers(-40, 41, 60) / 2, rng.normal(size=60) * 2.0 ** rng.uniform(0, 40, 60),
                        [np.nan, np.inf, -np.inf, 0.49999997, -0.49999997, 8388609]])  # fmt: skip
    with np.errstate(over="ignore"):
        x = rng.permutation(x).astype(FLOATS[source])
    nodes = [node("Cast", ["x"], ["q"], to=DTYPES[target]), node("Cast", ["q"], ["y"], to=DTYPES["INT32"])]
    ports = [port("x", source, x.shape)], [port("y", "INT32", x.shape)]
    return Case(model(nodes, *ports, opset=25, ir_version=13), [[x]])


def powers(rng: np.random.Generator, mode: str, saturate: int) -> Case:
    """A cast to float8e8m0 and back: powers of 2, the middles between them, and what lies beside both."""
    x = np.exp2(rng.integers(-140, 128, 60)) * rng.choice([1, 1.25, 1.5, 1.75], 60)
    x = np.concatenate([x, np.nextafter(x[:20].astype(np.float32), np.float32(rng.choice([-1, 1]) * np.inf)),
                        [0, -1, np.inf, -np.inf, np.nan, 3e38, -0.0, 1e-45]])  # fmt: skip
    nodes = [node("Cast", ["x"], ["q"], to=DTYPES["FLOAT8E8M0"], round_mode=mode, saturate=saturate),
             node("Cast", ["q"], ["y"], to=DTYPES["FLOAT"])]  # fmt: skip
    ports = [port("x", "FLOAT", x.shape)], [port("y", "FLOAT", x.shape)]
    return Case(model(nodes, *ports, opset=25, ir_version=13), [[x.astype(np.float32)]], ulp=0)


CASES: dict[str, Any] = {
    f"Cast {source} to {target}{', known' * known}": partial(cast, source=source, target=target, known=known)
    for source in FLOATS
    for target in INTEGERS
    for known in ((False, True) if target in ("INT32", "INT64") else (False,))
}
CASES |= {
    f"Cast {source} to {target}": partial(few_bits, source=source, target=target)
    for source in FLOATS
    for target in ("INT4", "UINT4", "INT2", "UINT2")
}
CASES |= {
    f"Cast to FLOAT8E8M0, {mode}{'' if saturate else ', without saturation'}": partial(
        powers, mode=mode, saturate=saturate
    )
    for mode in ("up", "down", "nearest")
    for saturate in (0, 1)
}
