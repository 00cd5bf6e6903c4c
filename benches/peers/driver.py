"""Asks one process per library to prepare and time its peers, a sample of each in turn."""

import gc
import json
import math
import os
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benches.budget import Budget, dropped_peers
from benches.peers import runtimes
from benches.peers.cases import Case, cases

ROOT = Path(__file__).resolve().parents[2]
LONG_CALL = 0.25
"""Seconds of a call that is timed once before its samples."""


@dataclass(frozen=True)
class Options:
    threads: int
    rounds: int = 15
    budget_ms: float = 4.0  # of one sample
    settle_ms: float = 0.0  # between samples: idle workers of another library look for work for a while
    plugins: tuple[str, ...] = ()
    budget: Budget | None = None  # of all cases; without it, each has all its rounds


@dataclass
class _Lane:
    """A peer of one case that gave a right or wrong result, and its samples in seconds."""

    row: dict[str, Any]
    worker: "Worker"
    samples: list[float] = field(default_factory=list)


class Worker:
    """The process of one library: its crash, or its busy threads, do not touch the others."""

    def __init__(self, library: str, options: Options) -> None:
        command = [sys.executable, "-m", "benches.peers", "--worker", library, "--threads", str(options.threads)]
        command += ["--budget-ms", str(options.budget_ms), *(a for p in options.plugins for a in ("--plugin", p))]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def ask(self, **message: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            print(json.dumps(message), file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise EOFError(f"the process of the library ended with status {self.process.wait()}")
        return json.loads(answer)

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def run(chosen: list[Case], names: list[str], options: Options) -> Iterator[dict[str, Any]]:
    """One row for each case and peer that takes it."""
    workers: dict[str, Worker] = {}
    try:
        for case in chosen:
            deadline = options.budget.deadline() if options.budget else math.inf
            if deadline is None:
                yield {"case": case.name, "threads": options.threads, "left_out": True}
            else:
                yield from _run_case(case, names, workers, options, deadline)
    finally:
        for worker in workers.values():
            worker.close()


def _run_case(
    case: Case, names: list[str], workers: dict[str, Worker], options: Options, deadline: float
) -> Iterator[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    lanes: list[_Lane] = []
    for name in names:
        row: dict[str, Any] = {"case": case.name, "peer": name, "threads": options.threads}
        library = runtimes.library_of(name)
        try:
            if library not in workers:
                workers[library] = Worker(library, options)
            answer = workers[library].ask(command="prepare", case=case.name, peer=name)
        except EOFError as error:
            answer = {"ok": False, "error": str(error)}
            workers.pop(library).close()
        if "none" in answer:
            continue
        row.update(answer)
        rows.append(row)
        if "share" in answer:
            lanes.append(_Lane(row, workers[library]))
    # A wrong result may be fast, and a meter is no runtime: neither makes another one slow.
    first_calls = {lane.row["peer"]: lane.row["first"] for lane in lanes if lane.row["ok"] and not _is_meter(lane)}
    for name, reason in dropped_peers(first_calls, "qrt_").items():
        (lane,) = (lane for lane in lanes if lane.row["peer"] == name)
        lane.row["dropped"] = reason
        lanes.remove(lane)
    rounds = options.budget.rounds(deadline, options.rounds) if options.budget else range(options.rounds)
    for turn in rounds:
        for i in range(len(lanes)):
            _sample(lanes[(i + turn) % len(lanes)], options)
    for lane in lanes:
        lane.row.update(_times(case, lane.samples))
    yield from rows


def _is_meter(lane: _Lane) -> bool:
    return runtimes.library_of(lane.row["peer"]) == "meter"


def _sample(lane: _Lane, options: Options) -> None:
    if options.settle_ms:
        time.sleep(options.settle_ms / 1e3)
    try:
        lane.samples.append(lane.worker.ask(command="sample", peer=lane.row["peer"])["seconds"])
    except (EOFError, KeyError) as error:
        lane.row.update(ok=False, error=str(error))


def _times(case: Case, samples: list[float]) -> dict[str, float]:
    if not samples:
        return {}
    median = statistics.median(samples)
    times = {"median_us": round(median * 1e6, 3), "p10_us": round(sorted(samples)[len(samples) // 10] * 1e6, 3)}
    if case.operations:
        times["gops"] = round(case.operations / median * 1e-9, 1)
    if case.nbytes:
        times["gbps"] = round(case.nbytes / median * 1e-9, 2)
    return times


# ---------------------------------------------------------------------------------------------------- in a worker


def serve(peers: dict[str, runtimes.Make], threads: int, budget: float) -> None:
    """Answers a driver on standard input and output; ``budget`` is the length of a sample in seconds."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print stays out of the answers
    served = _PeerServer(peers, threads, budget)
    for line in sys.stdin:
        message = json.loads(line)
        answer = served.prepare(**message) if message.pop("command") == "prepare" else served.sample(**message)
        print(json.dumps(answer, default=float), file=out, flush=True)


class _PeerServer:
    def __init__(self, peers: dict[str, runtimes.Make], threads: int, budget: float) -> None:
        self.peers, self.threads, self.budget = peers, threads, budget
        self.cases = {case.name: case for case in cases()}
        self.current = ""
        self.ready: dict[str, tuple[runtimes.Peer, int]] = {}

    def prepare(self, case: str, peer: str) -> dict[str, Any]:
        if case != self.current:
            self.ready.clear()
            if self.current:
                self.cases[self.current].forget()
            self.current = case
        try:
            return self._prepare(self.cases[case], peer)
        except ImportError as error:
            return {"absent": True, "note": str(error)[:120]}
        except Exception as error:
            if os.environ.get("PEERS_TRACE"):
                traceback.print_exc()
            return {"ok": False, "error": f"{type(error).__name__}: {str(error)[:200]}"}
        finally:
            gc.collect()
            gc.freeze()

    def _prepare(self, case: Case, peer: str) -> dict[str, Any]:
        runtime = self.peers[peer](case, self.threads)
        if runtime is None:
            return {"none": True}
        runtime.call()  # some runtimes compile the case at this call
        shortest = _timed(runtime.call, 1)
        ok, difference, share = case.check(runtime.result())
        if shortest < LONG_CALL:
            shortest = min(_timed(runtime.call, 1) for _ in range(3))
        self.ready[peer] = runtime, max(1, int(self.budget / max(shortest, 1e-7)))
        return {"ok": ok, "maxdiff": difference, "share": share, "first": shortest}

    def sample(self, peer: str) -> dict[str, Any]:
        runtime, calls = self.ready[peer]
        gc.disable()
        _timed(runtime.call, max(1, calls // 4))  # warms caches and clock
        seconds = _timed(runtime.call, calls)
        gc.enable()
        return {"seconds": seconds}


def _timed(call: Callable[[], object], calls: int) -> float:
    """Seconds of one call of so many."""
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls
