"""What the tables of sizes share: cases, and what they draw."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrt import numerics
from tests.kernels.draws import DTYPES, Array

BYTES, CONTAINERS = ("i8", "u8"), ("i8", "u8", "i8", "u8", "i16", "u16", "i32")


@dataclass(frozen=True)
class Case:
    """A call: what to bind, its operands, what NumPy makes of them."""

    entry: str
    given: dict[str, Any]
    operands: tuple[Array, ...]
    expected: Callable[[], Array]
    threads: int = 1

    def __str__(self) -> str:
        return f"{self.entry} {', '.join(f'{name}={_short(value)}' for name, value in self.given.items())}"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return getattr(value, "rule", None) or repr(value)


def combinations(rng: np.random.Generator, each: int, **table: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """Every value of every argument `each` times, the other arguments drawn."""
    for name, values in table.items():
        for value in values:
            for _ in range(each):
                drawn = {other: choices[rng.integers(len(choices))] for other, choices in table.items()}
                yield drawn | {name: value}


def draw(rng: np.random.Generator, container: str, shape: Any) -> Array:
    """All values of 8 and 16 bits; of 32 few enough for sums of products in 64."""
    info = np.iinfo(DTYPES[container])
    low, high = max(info.min, -(1 << 17)), min(info.max, 1 << 17)
    return rng.integers(low, high, shape, DTYPES[container], endpoint=True)


def requants(rng: np.random.Generator, count: int, raw: bool = False) -> numerics.RequantParameters:
    """`count` parameters; `raw` leaves sums as they are."""
    if raw:
        return numerics.requant_parameters("fixed", "i32", -(2**31), 2**31 - 1, [(1.0,)] * count, [(1.0,)] * count,
                                           [0] * count)  # fmt: skip
    rule, storage = (
        str(rng.choice(["fixed", "fixed_double", "half_up_twice", "float32", "float64_away"])),
        str(rng.choice(["i8", "u8", "i16", "i32"])),
    )
    info = np.iinfo(DTYPES[storage])
    few = min(count, 5)
    numerators = [(float(2.0 ** -rng.uniform(1, 14)),) for _ in range(few)]
    p = numerics.requant_parameters(rule, storage, int(info.min), int(info.max), numerators, [(1.0,)] * few,
                                    draw(rng, "i8" if storage == "i8" else "u8", few).tolist())  # fmt: skip
    repeated = {name: np.resize(getattr(p, name), count) for name in ("multiplier", "shift", "scale_f32", "scale_f64")
                if getattr(p, name).size}  # fmt: skip
    return numerics.RequantParameters(**vars(p) | repeated | {"zero_point": np.resize(p.zero_point, count)})
