"""Cases in a forked process, under limits: what ends the process, or never comes back, is an outcome as any other."""

import faulthandler
import json
import os
import re
import resource
import select
import signal
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any, NoReturn

from tests.fuzz.kinds import Kind
from tests.fuzz.outcome import Finding, Hang, cause_of, check_message, detail_of, is_refusal

SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
SLOWNESS = 20.0 if SANITIZED else 1.0
"""By how much a case may take longer. Its time is CPU time: wall time would blame it for what runs beside it."""
STUCK_SECONDS = 120 * SLOWNESS
"""Wall time without a word from a worker that waits for something."""
ADDRESS_SPACE = 1 << 30
"""Bytes beyond what the process has at its fork. A sanitizer maps terabytes, so there is no limit under one."""
RESIDENT = 400 << 20
"""Bytes that one case may add to the resident set."""


@dataclass(frozen=True)
class Outcome:
    """What a case did: a label to count, or the cause of a finding."""

    number: int
    label: str = ""
    cause: str = ""
    detail: str = ""
    seconds: float = 0.0
    has_died: bool = False


def run(kind: Kind, cases: Iterable[tuple[int, str]], processes: int = 1) -> Iterator[Outcome]:
    """The outcome of each case, by several processes; one that ends is replaced by another for the cases left to it."""
    given = list(cases)
    workers = [_Worker(kind, share) for i in range(processes) if (share := given[i::processes])]
    while workers:
        ready, _, _ = select.select(workers, [], [], 1)
        for worker in ready:
            outcome = worker.next_outcome()
            if outcome is not None:
                yield outcome
            if worker.has_ended:
                workers.remove(worker)
                if worker.cases:
                    workers.append(_Worker(kind, worker.cases))
        for worker in workers:
            worker.kill_if_stuck()


def outcome_of(kind: Kind, case: str) -> Outcome:
    """A case in a process of its own."""
    (outcome,) = run(kind, [(0, case)])
    return outcome


class _Worker:
    """A forked process, and the cases whose outcomes it has not told."""

    def __init__(self, kind: Kind, cases: list[tuple[int, str]]) -> None:
        self.cases, self.has_ended, self.heard = cases, False, time.monotonic()
        self.said = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end of the process
        reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _work(kind, cases, writing, self.said)
        os.close(writing)
        # What a buffer held, select would not see.
        self.lines = open(reading, "rb", buffering=0)  # noqa: SIM115

    def fileno(self) -> int:
        return self.lines.fileno()

    def next_outcome(self) -> Outcome | None:
        """What the process tells; of one that has ended, what became of its case. None if it had told everything."""
        self.heard = time.monotonic()
        line = self.lines.readline()
        if line:
            (number, _), *self.cases = self.cases
            return Outcome(number, **json.loads(line))
        self.has_ended = True
        status = os.waitpid(self.pid, 0)[1]
        self.said.seek(0)
        text = self.said.read().decode(errors="replace")
        self.said.close()
        self.lines.close()
        if status == 0 or not self.cases:
            return None
        (number, _), *self.cases = self.cases
        return Outcome(number, cause=_death(status, text), detail=text[-4000:], has_died=True)

    def kill_if_stuck(self) -> None:
        if time.monotonic() - self.heard > STUCK_SECONDS:
            os.kill(self.pid, signal.SIGKILL)


# -- in the worker ---------------------------------------------------------------------------------------------------


def _work(kind: Kind, cases: list[tuple[int, str]], writing: int, said: IO[bytes]) -> NoReturn:
    """Runs cases until one leaves the process in doubt. Never returns: what stands above belongs to the parent."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for stream, target in ((0, null), (1, null), (2, said.fileno())):
            os.dup2(target, stream)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not SANITIZED:
            faulthandler.enable(said)
        limit_memory()
        for _, case in cases:
            outcome, is_sound = measured(kind, case)
            os.write(writing, json.dumps(outcome).encode() + b"\n")
            if not is_sound:
                break
        os._exit(0)
    finally:
        os._exit(70)


def limit_memory() -> None:
    """Of this process, from now on."""
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + ADDRESS_SPACE, resource.RLIM_INFINITY))


def _time_is_over(*_: Any) -> None:
    raise Hang("more CPU time than a case may take")


def measured(kind: Kind, case: str) -> tuple[dict[str, Any], bool]:
    """The outcome, and whether the process may go on: memory is not given back, and locks may be held after a hang."""
    signal.signal(signal.SIGPROF, _time_is_over)
    seconds = SLOWNESS * kind.seconds
    start, resident = time.process_time(), _resident()
    # What does not come back to Python is ended by the kernel.
    resource.setrlimit(resource.RLIMIT_CPU, (int(start + 2 * seconds) + 2, resource.RLIM_INFINITY))
    told: dict[str, Any]
    is_sound = True
    try:
        try:
            signal.setitimer(signal.ITIMER_PROF, seconds, 0.2)  # again and again: __del__ swallows exceptions
            told = {"label": kind.check(case)}
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        grown = _resident() - resident
        if grown > RESIDENT and not SANITIZED:
            is_sound = False
            raise Finding("memory", f"{grown >> 20} MiB more than before")
    except BaseException as error:
        if is_refusal(kind.name, error):
            told = _refused(error)
        else:
            told = {"cause": cause_of(error), "detail": detail_of(error)}
            is_sound = is_sound and isinstance(error, Exception) and not isinstance(error, MemoryError)
    return told | {"seconds": time.process_time() - start}, is_sound


def _refused(error: BaseException) -> dict[str, Any]:
    try:
        check_message(error)
    except Finding as finding:
        return {"cause": finding.cause, "detail": finding.detail}
    return {"label": "refused"}


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _address_space() -> int:
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[0]) * resource.getpagesize()


# -- after its end ---------------------------------------------------------------------------------------------------


def _death(status: int, said: str) -> str:
    """The cause of a process that ended: its signal, and what a sanitizer or Python's fault handler says of it."""
    found = re.search(r"SUMMARY: \w+: (.*)|(\S+: runtime error: .*)", said)
    if found:
        return re.sub(r"0x[0-9a-f]+", "", (found[1] or found[2])).split("(/")[0].strip()
    if not os.WIFSIGNALED(status):
        return f"the worker exited with {os.waitstatus_to_exitcode(status)}"
    number = os.WTERMSIG(status)
    name = {signal.SIGKILL: "hang (stuck)", signal.SIGXCPU: "hang in C"}.get(number, signal.Signals(number).name)
    frames = re.findall(r'File "[^"]*?(qrt/(?!tests)[^"]*)", line \d+ in (\S+)', said)
    return f"{name} in {frames[0][0]}:{frames[0][1]}" if frames else name
