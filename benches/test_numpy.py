"""NumPy's functions on quantized tensors beside the same on the bytes of their storage.

The goal: at most 1.1 times the time of NumPy from 64K elements on, where it reads or writes them; at most 2 us more for
16."""

from collections.abc import Callable

import numpy as np
import pytest

import qrt

T = qrt.UniformType("i8", "f32", 0.02, 3)
SIZES = {"16": (4, 4), "256K": (512, 512)}
CALLS = {"16": 1000, "256K": 20}
MOVES: dict[str, Callable[..., object]] = {
    "take": lambda x, i, m: np.take(x, i, 0),
    "take_along_axis": lambda x, i, m: np.take_along_axis(x, i[:, None], 0),
    "where": lambda x, i, m: np.where(m, x, x),
    "repeat": lambda x, i, m: np.repeat(x, 2, 0),
    "stack": lambda x, i, m: np.stack([x, x]),
    "concatenate": lambda x, i, m: np.concatenate([x, x]),
    "roll": lambda x, i, m: np.roll(x, 1, 0),
    "tile": lambda x, i, m: np.tile(x, 2),
    "delete": lambda x, i, m: np.delete(x, 0, 0),
    "pad": lambda x, i, m: np.pad(x, 1),
    "tril": lambda x, i, m: np.tril(x),
    "copy": lambda x, i, m: np.copy(x),
    "flip": lambda x, i, m: np.flip(x, 0),
    "swapaxes": lambda x, i, m: np.swapaxes(x, 0, 1),
    "q[mask]": lambda x, i, m: x[m],
    "q[indices]": lambda x, i, m: x[i],
    "q[1:]": lambda x, i, m: x[1:],
    "q[...] = 1": lambda x, i, m: x.__setitem__(..., 1),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", MOVES)
def test_move(benchmark, one_thread, paired, report, name: str, size: str):
    rng, work, calls = np.random.default_rng(0), MOVES[name], CALLS[size]
    storage = rng.integers(-128, 128, SIZES[size], np.int8)
    tensor, indices, mask = qrt.QuantTensor(storage, T), np.arange(len(storage))[::-1].copy(), storage > 0

    def run(x: object) -> None:
        for _ in range(calls):
            work(x, indices, mask)

    time, ratio = paired(lambda: run(tensor), lambda: run(storage))
    more = (time - time / ratio) / calls * 1e6
    benchmark.group = f"numpy {size}"
    benchmark.extra_info |= {"times_numpy": round(ratio, 2), "microseconds_more": round(more, 2)}
    report(
        f"np {name:<16} {size:>5} {time / calls * 1e6:9.2f} us {ratio:6.2f} x NumPy on the bytes, {more:7.2f} us more"
    )
    benchmark.pedantic(lambda: run(tensor), rounds=3)
