"""The process of one runtime, which loads a model and gives samples of its time.

    python -m benches.models.worker RUNTIME THREADS

reads a line of JSON from standard input and answers with one: ``load`` and ``sample``. The process ends after
``first``, which measures a load in a process that has loaded nothing, and after ``save``, which writes the file that
the runtime ``saved`` loads.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
CLOCKS = {"elapsed": time.perf_counter, "cpu": time.process_time}
"""The CPU time of a process leaves out what others take from it. On one thread it is the time of a call."""
KINDS = ("run", "bare")
"""What is timed: a call of arrays that gives arrays, or one of values that are bound already."""
LONG_CALL = 0.25
"""Seconds of a call that is timed once before its samples."""


class QrtModel:
    """A model in qrt."""

    def __init__(self, path: str, threads: int) -> None:
        import qrt

        qrt.kernels.set_num_threads(threads)
        self.program = qrt.compile(qrt.load(path))

    def first(self, inputs: list[Array]) -> None:
        self.call = self.called(inputs)
        self.call()

    def called(self, inputs: list[Array]) -> Callable[[], object]:
        """A call of arrays, which gives arrays."""
        program = self.program
        return lambda: program(*inputs)

    def bare(self, inputs: list[Array]) -> Callable[[], object]:
        """A call of what is bound already."""
        names = [port.name for port in self.program.inputs]
        return self.program.bind(dict(zip(names, map(np.ascontiguousarray, inputs), strict=True)))

    def outputs(self, inputs: list[Array]) -> list[Array]:
        names = [port.name for port in self.program.inputs]
        found = self.program.run(dict(zip(names, inputs, strict=True))).values()
        return [np.asarray(getattr(each, "storage", each)) for each in found]

    def renew(self) -> None:
        """Makes the state new."""
        self.program.reset()


class SavedModel(QrtModel):
    """A program in qrt, from the file that ``Program.save`` wrote."""

    def __init__(self, path: str, threads: int) -> None:
        import qrt

        qrt.kernels.set_num_threads(threads)
        self.program = qrt.load_program(path)


class LiteRTModel:
    """A model in LiteRT."""

    def __init__(self, path: str, threads: int) -> None:
        from ai_edge_litert.interpreter import Interpreter

        self.path, self.threads = path, threads
        self.interpreter = Interpreter(path, num_threads=threads)
        self.interpreter.allocate_tensors()
        self.given = [detail["index"] for detail in self.interpreter.get_input_details()]
        self.taken = [detail["index"] for detail in self.interpreter.get_output_details()]

    def first(self, inputs: list[Array]) -> None:
        self.called(inputs)()

    def called(self, inputs: list[Array]) -> Callable[[], object]:
        """Set, invoke and get."""
        set_tensor, invoke, get = (
            self.interpreter.set_tensor,
            self.interpreter.invoke,
            self.interpreter.get_tensor,
        )
        pairs, taken = list(zip(self.given, inputs, strict=True)), self.taken

        def call() -> list[Array]:
            for index, array in pairs:
                set_tensor(index, array)
            invoke()
            return [get(index) for index in taken]

        return call

    def bare(self, inputs: list[Array]) -> Callable[[], object]:
        """Invoke alone."""
        for index, array in zip(self.given, inputs, strict=True):
            self.interpreter.set_tensor(index, array)
        return self.interpreter.invoke

    def outputs(self, inputs: list[Array]) -> list[Array]:
        return [np.asarray(each) for each in self.called(inputs)()]  # type: ignore[attr-defined]

    def renew(self) -> None:
        """Makes the state new: LiteRT's own reset leaves resource variables as they are."""
        self.__init__(self.path, self.threads)  # type: ignore[misc]


class OrtModel:
    """A model in ONNX Runtime, with all of its optimizations."""

    def __init__(self, path: str, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.names = [each.name for each in self.session.get_inputs()]

    def first(self, inputs: list[Array]) -> None:
        self.called(inputs)()

    def called(self, inputs: list[Array]) -> Callable[[], object]:
        """A run of arrays, which gives arrays."""
        run, given = self.session.run, dict(zip(self.names, inputs, strict=True))
        return lambda: run(None, given)

    def bare(self, inputs: list[Array]) -> Callable[[], object]:
        """A run of values that are bound already."""
        import onnxruntime

        binding = self.session.io_binding()
        for name, array in zip(self.names, inputs, strict=True):
            binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
        for each, array in zip(self.session.get_outputs(), self.outputs(inputs), strict=True):
            binding.bind_ortvalue_output(each.name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
        run = self.session.run_with_iobinding
        return lambda: run(binding)

    def outputs(self, inputs: list[Array]) -> list[Array]:
        return [np.asarray(each) for each in self.called(inputs)()]  # type: ignore[attr-defined]

    def renew(self) -> None:
        """There is no state."""


MODELS: dict[str, Callable[[str, int], Any]] = {
    "qrt": QrtModel,
    "saved": SavedModel,
    "litert": LiteRTModel,
    "ort": OrtModel,
}


def imported(runtime: str) -> None:
    """Import the runtime, as a process has it that is about to load a model."""
    if runtime in ("qrt", "saved"):
        import qrt  # noqa: F401
    elif runtime == "ort":
        import onnxruntime  # noqa: F401
    else:
        import ai_edge_litert.interpreter  # noqa: F401


def resident() -> int:
    """The bytes of memory that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak() -> int:
    """The most bytes of memory that the process had since ``forget_peak``."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resident()


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def seconds_of(call: Callable[[], object], count: int, clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    for _ in range(count):
        call()
    return (clock() - start) / count


class Server:
    """Answers the driver."""

    def __init__(self, runtime: str, threads: int) -> None:
        self.runtime, self.threads = runtime, threads
        imported(runtime)

    def load(self, path: str, inputs: str, outputs: str, budget: float, kinds: Sequence[str] = KINDS) -> dict[str, Any]:
        """Load a model, write its outputs, and choose the calls of a sample. Return the seconds of a first call."""
        arrays = read(inputs)
        self.model = MODELS[self.runtime](path, self.threads)
        write(outputs, self.model.outputs(arrays))
        makers = {"run": self.model.called, "bare": self.model.bare}
        self.calls = {kind: makers[kind](arrays) for kind in kinds}
        self.counts = {}
        firsts = {}
        for name, call in self.calls.items():
            seconds_of(call, 1)
            firsts[name] = seconds_of(call, 1)
            if firsts[name] < LONG_CALL:
                firsts[name] = seconds_of(call, 3)
            self.counts[name] = max(1, int(budget / max(firsts[name], 1e-9)))
        return {"ok": True, "first": firsts[kinds[0]]}

    def save(self, path: str, inputs: str, target: str) -> dict[str, Any]:
        """Saves the program of a model, with the plan of these inputs."""
        program = MODELS[self.runtime](path, self.threads).program
        program(*read(inputs))
        program.save(target)
        return {"ok": True}

    def sample(self, what: str, clock: str = "elapsed") -> dict[str, Any]:
        """The seconds of a call, by one of ``CLOCKS``."""
        return {"seconds": seconds_of(self.calls[what], self.counts[what], CLOCKS[clock])}

    def first(self, path: str, inputs: str) -> dict[str, Any]:
        """File to first result, for the first model of the process and again, how much of the first passed before the
        run, and how memory grew."""
        arrays = read(inputs)
        forget_peak()
        before = resident()
        found = []
        for _ in range(2):
            start = time.perf_counter()
            model = MODELS[self.runtime](path, self.threads)
            loaded = time.perf_counter() - start
            model.first(arrays)
            found.append(time.perf_counter() - start)
            if len(found) == 1:
                alone, grown, most = loaded, resident() - before, peak() - before
        return {"seconds": found[0], "again": found[1], "alone": alone, "grown": grown, "peak": most}


def read(path: str) -> list[Array]:
    """The arrays of a file, in order."""
    with np.load(path) as file:
        return [file[f"{index}"] for index in range(len(file.files))]


def write(path: str, arrays: list[Array]) -> None:
    np.savez(path, **{f"{index}": array for index, array in enumerate(arrays)})


def main() -> None:
    server = Server(sys.argv[1], int(sys.argv[2]))
    out = os.fdopen(os.dup(1), "w")  # LiteRT writes to standard output too
    os.dup2(2, 1)
    for line in sys.stdin:
        message = json.loads(line)
        command = message.pop("command")
        try:
            answer = getattr(server, command)(**message)
        except Exception as error:
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
