"""The limits of the machine, measured beside the peers; their results are the right ones, as nobody computes them."""

import ctypes
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from benches.peers.cases import Case
from benches.peers.runtimes.peer import Peer
from qrt import kernels

SHORTEST_PEAK = 10e-6, 100e-6  # seconds on one thread, on more; below, the meter would measure calls and starts
TRIAL = 10_000  # loops
LEAST_COPY = 1 << 20  # bytes for each further thread; below, starting it takes as long as its part


def load_peaks(folder: Path, *flags: str) -> ctypes.CDLL:
    """peak.c, built in ``folder``."""
    benches = Path(__file__).resolve().parents[2]
    source, library, include = benches / "peak.c", folder / "peak.so", f"-I{benches.parent / 'csrc'}"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", include, *flags, source, "-o", library], check=True)
    return ctypes.CDLL(str(library))


def peak(case: Case, threads: int) -> Peer | None:
    """Return a peer that runs as many multiply-adds on registers alone, and gives the expected result."""
    with TemporaryDirectory() as folder:
        function = getattr(load_peaks(Path(folder)), f"peak_{kernels.active()}", None)
    if function is None or not case.operations:
        return None
    function.argtypes, function.restype = [ctypes.c_int64], ctypes.c_int64
    start = perf_counter()
    done = function(TRIAL)
    second_of = (perf_counter() - start) / done
    if case.operations / 2 / threads * second_of < SHORTEST_PEAK[threads > 1]:
        return None
    loops = max(1, round(case.operations / 2 / threads / (done / TRIAL)))
    helpers = ThreadPoolExecutor(threads)

    def call() -> None:
        others = [helpers.submit(function, loops) for _ in range(threads - 1)]
        function(loops)
        for other in others:
            other.result()

    return Peer(call, lambda: case.d["ref"])


def copy(case: Case, threads: int) -> Peer | None:
    """A copy of as many bytes as the cast reads and writes, half of them each, in a part for each thread."""
    if case.kind not in ("qcast", "dcast") or case.nbytes < LEAST_COPY * (threads - 1):
        return None
    source = np.ones(case.nbytes // 2, np.int8)
    target = np.zeros_like(source)
    parts = [*zip(np.array_split(target, threads), np.array_split(source, threads), strict=True)]
    helpers = ThreadPoolExecutor(threads)

    def call() -> None:
        others = [helpers.submit(np.copyto, *part) for part in parts[1:]]
        np.copyto(*parts[0])
        for other in others:
            other.result()

    return Peer(call, lambda: case.d["ref"])
