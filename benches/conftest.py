"""Fixtures of the benches: every ISA in turn, one thread, yardsticks measured in the same run, a summary at the end.

Absolute times drift with the machine's load; ratios of neighbouring measurements hold. Figures are medians of them."""

import ctypes
import platform
import shutil
import sysconfig
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter

import pytest

from benches.peers.runtimes.meters import load_peaks
from qrt import kernels

PEAK_LOOPS = 100_000
SUMMARY = pytest.StashKey[list[str]]()

Work = Callable[[], object]


def seconds(work: Work, clock: Callable[[], float] = perf_counter) -> float:
    start = clock()
    work()
    return clock() - start


@pytest.fixture
def paired() -> Callable[..., tuple[float, float]]:
    """paired(work, yardstick, rounds, clock) -> (seconds of work, seconds of work / seconds of yardstick),
    interleaved."""

    def measure(
        work: Work, yardstick: Work, rounds: int = 25, clock: Callable[[], float] = perf_counter
    ) -> tuple[float, float]:
        work(), yardstick()
        pairs = [(seconds(work, clock), seconds(yardstick, clock)) for _ in range(rounds)]
        return median(w for w, _ in pairs), median(w / y for w, y in pairs)

    return measure


@pytest.fixture(scope="session")
def peak(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Work, int]]:
    """peak(isa) -> (a run of multiply-adds on registers alone, how many it does)."""
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if platform.machine().lower() not in ("x86_64", "amd64"):
        pytest.skip("the peak meter knows x86-64 alone")
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler: {compiler}")
    functions = load_peaks(tmp_path_factory.mktemp("peak"))

    def meter(isa: str) -> tuple[Work, int]:
        function = getattr(functions, f"peak_{isa}", None)
        if function is None:
            pytest.skip(f"the peak meter does not know {isa}")
        function.argtypes, function.restype = [ctypes.c_int64], ctypes.c_int64
        return lambda: function(PEAK_LOOPS), function(PEAK_LOOPS)

    return meter


@pytest.fixture
def one_thread() -> Iterator[None]:
    before = kernels.get_num_threads()
    kernels.set_num_threads(1)
    yield
    kernels.set_num_threads(before)


@pytest.fixture(params=[name for name in kernels.available() if name != "ref"])
def isa(request: pytest.FixtureRequest, one_thread: None) -> Iterator[str]:
    with kernels.use(request.param):
        yield request.param


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Adds a line to the summary at the end of the run."""
    return request.config.stash.setdefault(SUMMARY, []).append


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    lines = config.stash.get(SUMMARY, [])
    if lines:
        terminalreporter.section("qrt, one thread")
        terminalreporter.write_line("\n".join(lines))
