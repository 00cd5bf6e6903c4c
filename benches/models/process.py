"""The processes of runtimes, which give samples of their times in turn."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SETTLE = 0.08
"""Seconds between samples on several threads, in which idle workers of the other runtime stop looking for work."""


class SampleError(Exception):
    """A sample that a runtime could not give."""


class Worker:
    """The process of a runtime."""

    def __init__(self, runtime: str, threads: int) -> None:
        # Users have bytecode: without it a first load compiles the modules of qrt that it needs.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), environment.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "benches.models.worker", runtime, str(threads)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def ask(self, command: str, **values: Any) -> dict[str, Any]:
        """The answer; ``error`` says why there is none."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            print(json.dumps({"command": command, **values}), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            return {"error": f"the process ended with status {self.process.wait()}"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


def interleaved(
    workers: Mapping[str, Worker],
    lanes: Sequence[tuple[str, str]],
    rounds: Iterable[int],
    threads: int,
    clock: str = "elapsed",
) -> dict[tuple[str, str], list[float]]:
    """Return the samples of each lane, which is a runtime and what is timed. Each round begins with another lane."""
    samples: dict[tuple[str, str], list[float]] = {lane: [] for lane in lanes}
    for turn in rounds:
        start = turn % max(1, len(lanes))
        for runtime, what in [*lanes[start:], *lanes[:start]]:
            if threads > 1:
                time.sleep(SETTLE)
            answer = workers[runtime].ask("sample", what=what, clock=clock)
            if "error" in answer:
                raise SampleError(f"{runtime}: {answer['error']}")
            samples[runtime, what].append(answer["seconds"])
    return samples
