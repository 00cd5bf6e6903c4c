"""What the kernel tests draw: storage types, requantization parameters, parameter layouts, extreme arrays."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from qrt import kernels as isa_tables
from qrt import numerics
from qrt._ext.kernels import isas

Array = npt.NDArray[Any]

# All that there are, or the one that QRT_ISA names.
ISAS = tuple(isa for isa in isas() if os.environ.get("QRT_ISA") in (isa, None, ""))
SIMD_ISAS = tuple(isa for isa in ISAS if isa != "ref")
SHARED_ROWS = ("store", "store_wide", "byte_products")  # which other rows call by way of the table
DTYPES: dict[str, Any] = {
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32
}  # fmt: skip

# Examples are whole kernel calls: their time says nothing.
kernels = settings(
    max_examples=max(1, settings.default.max_examples * 2 // 3), suppress_health_check=[HealthCheck.too_slow]
)


def isas_by_rows(*rows: str) -> tuple[str, ...]:
    """Of the ISAs whose rows of these names, and `store` and `store_wide`, are the same functions, the first alone. A
    call that reaches no other row runs the same instructions on each. test_rows.py checks which rows calls reach."""
    suppliers = isa_tables.coverage()
    first: dict[tuple[str | None, ...], str] = {}
    for isa in ISAS:
        first.setdefault(tuple(suppliers[isa][row] for row in (*rows, *SHARED_ROWS)), isa)
    return tuple(first.values())


@dataclass(frozen=True)
class Storage:
    """A storage type: the container that holds it and its bounds."""

    name: str
    low: int
    high: int

    @property
    def dtype(self) -> Any:
        return DTYPES[self.name]


@st.composite
def storages(draw: st.DrawFn, widths: tuple[int, int] = (1, 32)) -> Storage:
    """Any width and signedness, sometimes with narrower bounds."""
    width = draw(st.integers(*widths))
    signed = draw(st.booleans())
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    if draw(st.booleans()):
        low, high = sorted((draw(st.integers(low, high)), draw(st.integers(low, high))))
    container = 8 if width <= 8 else 16 if width <= 16 else 32
    return Storage(f"{'i' if signed else 'u'}{container}", low, high)


@dataclass(frozen=True)
class Layout:
    """A shape and how the parameter index moves over it."""

    shape: tuple[int, ...]
    block: tuple[int, ...]
    step: tuple[int, ...]

    @property
    def index(self) -> Array:
        """The parameter index of each element."""
        index = np.zeros(self.shape, np.int64)
        for axis, (size, block, step) in enumerate(zip(self.shape, self.block, self.step, strict=True)):
            along = np.arange(size) // block * step
            index += along.reshape((-1,) + (1,) * (len(self.shape) - 1 - axis))
        return index

    @property
    def count(self) -> int:
        return 1 + sum((max(n, 1) - 1) // b * s for n, b, s in zip(self.shape, self.block, self.step, strict=True))


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Per layer, per axis or sub-channel, over up to four dimensions, some of them empty or 1."""
    shape = tuple(draw(st.lists(st.sampled_from([0, 1, 2, 3, 4, 6, 17, 40]), max_size=4)))
    kind = draw(st.sampled_from(["layer", "axis", "block"]))
    ones, zeros = (1,) * len(shape), (0,) * len(shape)
    if kind == "layer" or not shape:
        return Layout(shape, ones, zeros)
    if kind == "axis":
        axis = draw(st.integers(0, len(shape) - 1))
        return Layout(shape, ones, tuple(int(d == axis) for d in range(len(shape))))
    block = tuple(draw(st.sampled_from([b for b in range(1, n + 1) if n % b == 0] or [1])) for n in shape)
    counts = [max(n // b, 1) for n, b in zip(shape, block, strict=True)]
    step = tuple(int(np.prod(counts[d + 1 :])) for d in range(len(shape)))
    return Layout(shape, block, step)


@st.composite
def zero_points(draw: st.DrawFn, storage: Storage, count: int) -> Array:
    ends = st.sampled_from([storage.low, storage.high, (storage.low + storage.high) // 2])
    value = ends | st.integers(storage.low, storage.high)
    few = draw(st.lists(value, min_size=1, max_size=5))
    return np.resize(np.array(few, np.int64), count)


@st.composite
def requants(draw: st.DrawFn, count: int, rules: tuple[str, ...] = numerics.REQUANT_RULES) -> Any:
    """Parameters for multipliers from 2**-45 to 2**3 (left shifts included), into any storage."""
    rule = draw(st.sampled_from(rules))
    storage = draw(storages((2, 8)) | storages())
    few = draw(st.lists(st.floats(-45, 3), min_size=1, max_size=5))
    multipliers = np.resize(np.exp2(np.array(few)), count)
    zps = draw(zero_points(storage, count))
    numerators, ones = [(float(m),) for m in multipliers], [(1.0,)] * count
    return numerics.requant_parameters(rule, storage.name, storage.low, storage.high, numerators, ones, zps.tolist())


def stored(rng: np.random.Generator, storage: Storage, shape: tuple[int, ...]) -> Array:
    """Values of a storage type: its ends often, all of it sometimes."""
    values = rng.integers(storage.low, storage.high, shape, np.int64, endpoint=True)
    ends = rng.choice(np.array([storage.low, storage.high]), shape)
    return np.where(rng.random(shape) < 0.2, ends, values).astype(storage.dtype)


def full(container: str) -> Storage:
    info = np.iinfo(DTYPES[container])
    return Storage(container, int(info.min), int(info.max))


def matmul_exact(a: Array, b: Array) -> Array:
    """The matrix product as Python integers where 64 bits could be too few."""
    wide = max(a.size and int(np.abs(a).max()), 1) * max(b.size and int(np.abs(b).max()), 1) * max(a.shape[-1], 1)
    return a @ b if wide < 1 << 62 else np.asarray(a.astype(object) @ b.astype(object))
