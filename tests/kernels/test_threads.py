"""The pool: the same bits on any count, many callers at once, fork, the caller's float control register."""

import ctypes
import ctypes.util
import multiprocessing
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from qrt import numerics
from qrt._ext import kernels as kernel_calls
from qrt.errors import KernelError
from tests.kernels import jobs
from tests.kernels.compiled import CSRC, compiled
from tests.kernels.draws import ISAS, Array
from tests.kernels.jobs import answer, mixed_jobs

FE_UPWARD = {"x86_64": 0x800, "aarch64": 0x400000}
REQUANT = numerics.requant_parameters("fixed", "i8", -128, 127, [(2.0**-11,)], [(1.0,)], [1])


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = kernel_calls.get_num_threads()
    kernel_calls.set_num_threads(2)
    yield
    kernel_calls.set_num_threads(before)


def product(isa: str = "ref", size: int = 96) -> tuple[kernel_calls.KernelCall, Array, Array]:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, (size, size), dtype=np.int8) for _ in range(2))
    call = kernel_calls.bind_gemm(
        isa=isa, a="i8", b="i8", m=size, n=size, k=size, a_zero_points=[3], b_zero_points=[0], requant=REQUANT
    )
    return call, a, b


def result(call: kernel_calls.KernelCall, a: Array, b: Array) -> Array:
    out = np.zeros(call.operand_shapes[-1][1:], np.int8)
    call(a, b, out)
    return out


@pytest.mark.parametrize("isa", ISAS)
def test_the_count_changes_no_bit(isa: str, two_threads: None) -> None:
    call, a, b = product(isa, 150)
    found = []
    for threads in (1, 2, 3, 16):
        kernel_calls.set_num_threads(threads)
        found.append(result(call, a, b))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


@pytest.mark.parametrize("isa", ISAS)
def test_the_count_changes_no_bit_of_any_entry(isa: str, two_threads: None) -> None:
    found = []
    for threads in (1, 3):
        kernel_calls.set_num_threads(threads)
        found.append([answer(job).tobytes() for job in mixed_jobs(isa)])
    assert found[0] == found[1]


def test_every_entry_has_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hazard: an entry that no test of threads, of forks or of valgrind calls. Steps of control have none."""
    bound = set[str]()

    def noting(name: str, bind: Callable[..., object]) -> Callable[..., object]:
        def note(*arguments: object, **options: object) -> object:
            bound.add(name)
            return bind(*arguments, **options)

        return note

    for name, bind in list(vars(jobs).items()):
        if name.startswith("bind_"):
            monkeypatch.setattr(jobs, name, noting(name, bind))
    mixed_jobs("ref")
    assert bound == {name for name in dir(kernel_calls) if name.startswith("bind_")} - {"bind_control"}


def test_many_python_threads_call_at_once(two_threads: None) -> None:
    """8 threads, 2,000 calls each, in 8 orders, on every ISA: calls are shared, workspaces are a thread's own, and
    the pool serves one job at a time."""
    calls = [job for isa in ISAS for job in mixed_jobs(isa)]
    kernel_calls.set_num_threads(1)
    expected = [answer(job) for job in calls]
    kernel_calls.set_num_threads(2)
    start = threading.Barrier(8)

    def work(seed: int) -> int:
        order = np.random.default_rng(seed).integers(0, len(calls), 2000)
        start.wait()
        return sum(not np.array_equal(answer(calls[i]), expected[i], equal_nan=True) for i in order)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [0] * 8


def child(queue: "multiprocessing.Queue[bytes]") -> None:
    queue.put(result(*product()).tobytes())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_a_pool_of_its_own(two_threads: None) -> None:
    """The parent's workers do not exist in the child: a job must not wait for them."""
    expected = result(*product()).tobytes()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    found = queue.get(timeout=60)
    process.join(60)
    assert process.exitcode == 0
    assert found == expected
    assert result(*product()).tobytes() == expected


def test_tasks_written_by_any_thread_are_read_by_the_caller(tmp_path: Path) -> None:
    """make test-tsan runs the same program under the thread sanitizer."""
    program = compiled("pool", tmp_path, CSRC / "core" / "threads" / "threads.c", "-pthread")
    assert subprocess.run([program], capture_output=True, text=True, timeout=60).stdout == "0\n"


FORK = """
import os, signal, sys, threading, warnings
from qrt._ext import kernels as kernel_calls
from tests.kernels.jobs import answer, mixed_jobs
warnings.simplefilter("ignore")
kernel_calls.set_num_threads(2)
jobs = mixed_jobs(os.environ.get("QRT_ISA") or kernel_calls.isas()[-1])
expected = [answer(job).tobytes() for job in jobs]
busy = threading.Thread(target=lambda: [answer(job) for _ in range(20) for job in jobs])
busy.start()
for generation in range(3):  # children of children too
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        busy.join() if generation == 0 else None
        os._exit(os.waitstatus_to_exitcode(status))
    if [answer(job).tobytes() for job in jobs] != expected:
        os._exit(1)
os._exit(42)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_amid_parallel_work_does_not_hang() -> None:
    """Another thread holds the pool while the process forks; the child, and its own, work in parallel at once."""
    for _ in range(5):
        assert subprocess.run([sys.executable, "-c", FORK], timeout=60).returncode == 42


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="processors of a thread are asked for as Linux does")
def test_a_worker_that_was_moved_may_use_every_processor_again() -> None:
    # Busy processors make workers late, which then are moved from the caller's: a mask must not stay behind.
    script = """if True:
        import os, sys, time
        sys.path.insert(0, sys.argv[1])
        from tests.kernels.test_threads import product, result
        from qrt._ext import kernels as kernel_calls
        kernel_calls.set_num_threads(4)
        call, a, b = product()
        first = result(call, a, b)
        for i in range(400):
            if i % 20 == 0:
                time.sleep(0.002)
            assert (result(call, a, b) == first).all()
        threads = [int(thread) for thread in os.listdir("/proc/self/task")]
        print(len(threads) >= 4, {os.sched_getaffinity(thread) == os.sched_getaffinity(0) for thread in threads})
    """
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        ran = subprocess.run(
            [sys.executable, "-c", script, str(CSRC.parent)], capture_output=True, text=True, timeout=120
        )
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert ran.stdout.split() == ["True", "{True}"], ran.stderr


def test_importing_starts_no_thread() -> None:
    program = "import os, qrt._ext.kernels; print(len(os.listdir('/proc/self/task')))"
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("threads are counted through /proc")
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "1"


def run_with_threads(given: str, program: str) -> str:
    """What the program prints, or the last line of its error."""
    environment = os.environ | {"QRT_NUM_THREADS": given}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    return (found.stdout or found.stderr).strip().splitlines()[-1]


@pytest.mark.parametrize("given", ["1", "3", "256"])
def test_the_environment_sets_the_count(given: str) -> None:
    assert run_with_threads(given, "import qrt; print(qrt.kernels.get_num_threads())") == given


GET_THREADS = "qrt.kernels.get_num_threads()"
QUANTIZE = "qrt.quantize(np.ones(3, np.float32), qrt.parse_type('!quant.uniform<i8:f32, 1.0>'))"


@pytest.mark.parametrize(
    ("given", "use"), [("many", QUANTIZE), *((given, GET_THREADS) for given in ("0", "-1", "257", "2 ", "9" * 30))]
)
def test_a_count_that_is_none_is_an_error_at_first_use(given: str, use: str) -> None:
    found = run_with_threads(given, f"import numpy as np, qrt; {use}")
    assert found == f"qrt.errors.KernelError: QRT_NUM_THREADS must be an integer from 1 to 256, got {given!r}"


def test_a_count_given_later_mends_the_environment() -> None:
    assert (
        run_with_threads("many", "import qrt; qrt.kernels.set_num_threads(2); print(qrt.kernels.get_num_threads())")
        == "2"
    )


@pytest.mark.parametrize("threads", [0, -1, 257, 1.5])
def test_set_num_threads_refuses(threads: int) -> None:
    with pytest.raises(KernelError, match="set_num_threads"):
        kernel_calls.set_num_threads(threads)


@pytest.mark.skipif(platform.machine() not in FE_UPWARD, reason="the rounding modes' numbers are not known here")
@pytest.mark.parametrize("isa", ISAS)
def test_the_callers_rounding_mode_is_not_used_and_not_lost(isa: str) -> None:
    upward = FE_UPWARD[platform.machine()]
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    x = np.linspace(-20, 20, 999, dtype=np.float32)
    expected = numerics.quantize(x, np.float32(0.3), 3, -128, 127, "f32")
    out = np.zeros(999, np.int8)
    call = kernel_calls.bind_qcast(
        isa=isa, expressed="f32", storage="i8", shape=(999,), scales=[float(np.float32(0.3))], zero_points=[3],
        storage_min=-128, storage_max=127, rounding="half_even", zero_point="before", scale="divide",
    )  # fmt: skip
    before = libm.fegetround()
    libm.fesetround(upward)
    try:
        call(x, out)
        after = libm.fegetround()
    finally:
        libm.fesetround(before)
    assert after == upward
    np.testing.assert_array_equal(out, expected)
