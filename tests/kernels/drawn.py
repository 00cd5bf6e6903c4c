"""`python -m tests.kernels.drawn ISA MINUTES [SEED]` draws products and convolutions of hostile sizes and has each
computed by every 8-bit microkernel of the ISA that supports it, whichever it is that suits: the bits are ref's.

A microkernel may compute what it is not best at; a preference that changes must not change a bit."""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qrt import numerics
from qrt._ext import kernels as kernel_calls
from tests.kernels.draws import DTYPES, Array

LINE = 64
FILLS = (0x55, 0xAA)

# Around tiles of 16 and 32 rows, panels of 16, 32 and 64 columns, steps of 4 and 64 values, blocks of 1024 rows, groups
# of 8 and 16 panels, slices of 16 and 20 steps.
M = (1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 96, 100, 1023, 1024, 1025, 1057)
N = (1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 80, 95, 96, 97, 128, 250, 256, 257, 272, 511, 512, 513, 545)
K = (0, 1, 2, 3, 4, 5, 15, 16, 31, 32, 60, 61, 63, 64, 65, 100, 127, 128, 129, 192, 255, 256, 320, 384, 449, 576, 700,
     1088, 1280, 1281, 1344, 2100)  # fmt: skip
CHANNELS = (1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 21, 24, 32, 33, 48, 63, 64, 65, 96, 128, 192, 512)
OUTPUTS = (1, 3, 16, 17, 31, 32, 33, 48, 63, 64, 65, 80, 96, 100, 128)
SIDES = (1, 2, 3, 4, 5, 7, 9, 13, 14, 15, 16, 17, 18, 28, 31, 32, 33, 40)
MOST_WORK = 1e7  # multiply-adds of a call, of an image


@dataclass(frozen=True)
class Drawn:
    """A call: what to bind, its inputs, how far from a cache line they begin."""

    entry: str
    given: dict[str, Any]
    inputs: tuple[Array, ...]
    threads: int = 1
    offset: int = 0
    text: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        said = {"threads": self.threads, "offset": self.offset, **self.text}
        return f"{self.entry}: {', '.join(f'{name} {value}' for name, value in said.items())}"


def requant(rng: np.random.Generator, rule: str, storage: str, count: int, depth: int) -> numerics.RequantParameters:
    """Of sums of `depth` products: most results are inside the bounds of the storage, which are sometimes tighter."""
    info = np.iinfo(DTYPES[storage])
    low, high = int(info.min), int(info.max)
    if rng.random() < 0.3 and storage != "i32":
        low, high = low + 5, high - 9
    spread = (high - low) / (4e3 * np.sqrt(depth + 1)) if storage != "i32" else 1.0
    scales = np.minimum(spread, 0.9) * rng.choice([0.01, 1, 1, 1, 30]) * rng.uniform(0.4, 1, count)
    middle = 0 if storage in ("i8", "i16", "i32") else (high + low) // 2
    zero_points = middle + rng.integers(-20, 21, count)
    return numerics.requant_parameters(rule, storage, low, high, [(float(s),) for s in scales], [(1.0,)] * count,
                                       zero_points.tolist())  # fmt: skip


def values(rng: np.random.Generator, container: str, shape: tuple[int, ...]) -> Array:
    info = np.iinfo(DTYPES[container])
    drawn = rng.integers(info.min, info.max, shape, endpoint=True)
    return np.where(rng.random(shape) < 0.05, rng.choice([info.min, info.max], shape), drawn).astype(DTYPES[container])


def pick(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


def common(rng: np.random.Generator, n: int, depth: int) -> dict[str, Any]:
    """What products and convolutions share: types, how sums end, the bias."""
    wide = rng.random() < 0.08
    a = pick(rng, "i16", "u16") if wide else pick(rng, "u8", "i8")
    b = "i16" if wide and rng.random() < 0.3 else pick(rng, "i8", "i8", "i8", "u8")
    info = np.iinfo(DTYPES[a])
    centre = 128 if b == "u8" else 0
    storage = pick(rng, "u8", "i8", "u8", "i8", "u8", "i8", "i16", "i32")
    rule = pick(rng, "float32", "fixed", "float32", "fixed", "fixed_double", "half_up_twice", "float64_away")
    columns = bool(rng.integers(2))
    if a in ("i16", "u16") or b == "i16":
        depth <<= 16
    drawn = {
        "a": a, "b": b, "za": int(rng.integers(info.min, info.max, endpoint=True)),
        "zb": rng.integers(centre - 5, centre + 6, n) if rng.random() < 0.15 else np.array([centre]),
        "requant": requant(rng, rule, storage, n if columns else 1, depth), "columns": columns,
    }  # fmt: skip
    kind = pick(rng, None, "constant", "constant", "i32", "i64", "large")
    limit = 2**31 - 1 if kind == "large" else 20_000
    if kind:
        bias = rng.integers(-limit, limit, n, endpoint=True).astype(np.int64 if kind == "i64" else np.int32)
        drawn["bias"] = (bias, kind in ("constant", "large") and bool(rng.integers(3)))
    return drawn


def finished(rng: np.random.Generator, entry: str, given: dict[str, Any], x: Array, w: Array, drawn: dict[str, Any],
             said: dict[str, Any]) -> Drawn:  # fmt: skip
    """With the weights and the bias as constants or operands."""
    inputs = [x]
    if rng.random() < 0.75:
        given["b_constant" if entry == "gemm" else "w_constant"] = w
    else:
        inputs.append(w)
    if "bias" in drawn:
        bias, constant = drawn["bias"]
        given["bias"] = bias if constant else ("i64" if bias.dtype == np.int64 else "i32")
        if not constant:
            inputs.append(bias)
    said |= {"a": drawn["a"], "b": drawn["b"], "za": drawn["za"], "zb": drawn["zb"].size > 1,
             "rule": given["requant"].rule, "out": given["requant"].storage, "inputs": len(inputs)}  # fmt: skip
    return Drawn(entry, given, tuple(inputs), int(pick(rng, 1, 1, 2)), int(pick(rng, 0, 0, 16, 7)), said)


def product(rng: np.random.Generator, m: int, k: int, n: int) -> Drawn:
    batch = int(pick(rng, 1, 1, 1, 1, 2, 3))
    drawn = common(rng, n, k)
    given = {
        "a": drawn["a"], "b": drawn["b"], "m": m, "n": n, "k": k, "batch": batch, "a_zero_points": [drawn["za"]],
        "b_zero_points": drawn["zb"], "b_zero_point_steps": (0, 0, int(drawn["zb"].size > 1)),
        "requant": drawn["requant"], "requant_steps": (0, 0, int(drawn["columns"])),
        "b_transposed": bool(rng.integers(2)),
    }  # fmt: skip
    if rng.random() < 0.1:
        given |= {"requant_steps": (0, 1, 0), "requant": requant(rng, "float32", "i8", m, k)}
    if rng.random() < 0.1:
        given |= {"a_zero_points": values(rng, drawn["a"], (m,)).astype(np.int64), "a_zero_point_steps": (0, 1)}
    x = values(rng, drawn["a"], (batch, m, k))
    w = values(rng, drawn["b"], (1, n, k) if given["b_transposed"] else (1, k, n))
    return finished(rng, "gemm", given, x, w, drawn, {"m": m, "k": k, "n": n, "batch": batch})


def convolution(rng: np.random.Generator, size: tuple[int, int], channels: int, outputs: int, kernel: tuple[int, int],
                strides: tuple[int, int] = (1, 1), padding: Any = ((0, 0), (0, 0)), dilations: tuple[int, int] = (1, 1),
                groups: int = 1) -> Drawn:  # fmt: skip
    """`channels` and `outputs` of each group."""
    drawn = common(rng, outputs * groups, channels * kernel[0] * kernel[1])
    images = int(pick(rng, 1, 1, 2))
    x = values(rng, drawn["a"], (images, *size, channels * groups))
    w = values(rng, drawn["b"], (outputs * groups, *kernel, channels))
    given = {
        "x": drawn["a"], "w": drawn["b"], "x_shape": x.shape, "w_shape": w.shape, "x_zero_point": drawn["za"],
        "w_zero_points": drawn["zb"], "requant": drawn["requant"], "strides": strides, "padding": padding,
        "dilations": dilations, "groups": groups,
    }  # fmt: skip
    said = {name: given[name] for name in ("x_shape", "w_shape", "strides", "padding", "dilations", "groups")}
    return finished(rng, "conv2d", given, x, w, drawn, said)


def draw_convolution(rng: np.random.Generator, most_work: float) -> Drawn | None:
    """None where the window does not fit, or there is too much to do."""

    def two(*choices: int) -> tuple[int, int]:
        return int(pick(rng, *choices)), int(pick(rng, *choices))

    size, kernel, strides, dilations = two(*SIDES), two(1, 2, 3, 3, 5), two(1, 1, 2, 3), two(1, 1, 1, 2)
    padding = tuple((int(rng.integers(0, n)), int(rng.integers(0, n))) for n in kernel)
    channels, outputs, groups = int(pick(rng, *CHANNELS)), int(pick(rng, *OUTPUTS)), int(pick(rng, 1, 1, 1, 1, 2, 3))
    outs = [(n + sum(p) - (k - 1) * d - 1) // s + 1
            for n, p, k, d, s in zip(size, padding, kernel, dilations, strides, strict=True)]  # fmt: skip
    if min(outs) < 1 or np.prod([*outs, *kernel, channels, outputs, groups], dtype=float) > most_work:
        return None
    return convolution(rng, size, channels, outputs, kernel, strides, padding, dilations, groups)


def draw_product(rng: np.random.Generator, most_work: float) -> Drawn | None:
    m, k, n = (int(pick(rng, *sizes)) if rng.random() < 0.8 else int(rng.integers(1, 300)) for sizes in (M, K, N))
    return product(rng, m, k, n) if m * k * n <= most_work else None


def draws(seed: int, most_work: float = MOST_WORK) -> Iterator[Drawn]:
    rng = np.random.default_rng(seed)
    while True:
        drawn = (draw_convolution if rng.random() < 0.5 else draw_product)(rng, most_work)
        if drawn is not None:
            yield drawn


def placed(array: Array, offset: int) -> Array:
    """A copy `offset` bytes, to whole elements, behind a cache line."""
    offset -= offset % array.itemsize
    raw = np.empty(array.nbytes + 2 * LINE, np.uint8)
    start = -raw.ctypes.data % LINE + offset
    copy = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def bind(case: Drawn, isa: str, microkernel: str | None = None) -> kernel_calls.KernelCall:
    call: kernel_calls.KernelCall = getattr(kernel_calls, f"bind_{case.entry}")(
        isa=isa, microkernel=microkernel, **case.given
    )
    return call


def answer(call: kernel_calls.KernelCall, case: Drawn, fill: int) -> Array:
    """The result, in memory that held `fill`, and must hold it still around."""
    shape, dtype = call.operand_shapes[-1], call.operand_dtypes[-1]
    bytes_ = int(np.prod(shape)) * dtype.itemsize
    raw = np.full(bytes_ + 4 * LINE, fill, np.uint8)
    start = -raw.ctypes.data % LINE + LINE + case.offset - case.offset % dtype.itemsize
    out = raw[start : start + bytes_].view(dtype).reshape(shape)
    call(*(placed(x, case.offset) for x in case.inputs), out)
    if not ((raw[:start] == fill).all() and (raw[start + bytes_ :] == fill).all()):
        raise AssertionError(f"written outside the result: {case}")
    return out.copy()


def check(case: Drawn, isa: str, counts: Counter[str]) -> None:
    """Every microkernel, twice, beside ref. Counts those that took the call."""
    kernel_calls.set_num_threads(case.threads)
    expected = answer(bind(case, "ref"), case, FILLS[0])
    for name in (None, *kernel_calls.microkernels(isa)):
        call = bind(case, isa, name)
        if name is not None and call.microkernel not in (name, None):
            continue
        counts[name or "chosen"] += 1
        for fill in FILLS:
            got = answer(call, case, fill)
            if got.tobytes() != expected.tobytes():
                at = np.argwhere(got != expected)
                wrong = f"{len(at)} of {got.size} wrong, first {at[0]}"
                raise AssertionError(f"{name} ({call.microkernel}), {wrong}: {case}")


def main(isa: str, minutes: str, seed: str = "0") -> int:
    counts: Counter[str] = Counter()
    end, wrong, cases = time.monotonic() + 60 * float(minutes), 0, 0
    for case in draws(int(seed)):
        if time.monotonic() > end:
            break
        cases += 1
        try:
            check(case, isa, counts)
        except AssertionError as error:
            wrong += 1
            print(error, flush=True)
    print(f"seed {seed}: {cases} cases, {wrong} wrong; {', '.join(f'{n} {c}' for n, c in counts.items())}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
