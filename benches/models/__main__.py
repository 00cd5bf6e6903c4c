"""Writes the part *Models* of docs/performance.md: whole models in qrt and in the runtime of their format, LiteRT or
ONNX Runtime, in one interleaved run.

    python -m benches.models [--models FOLDER] [--model 'kws*'] [--rounds 15] [--threads 1 2] [--minutes 18] [--print]

Each runtime has a process of its own, and they give samples in turn. Outputs are compared before anything is timed.
Only ratios within one run mean anything. With ``--print`` the page is left as it is.
"""

import argparse
import fnmatch
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import qrt
from benches import performance_page
from benches.budget import MINUTES, Budget, dropped_peers
from benches.models.compared import drawn, problem
from benches.models.page import NAMES, Figures, part
from benches.models.process import ROOT, SampleError, Worker, interleaved
from benches.models.worker import KINDS, seconds_of
from qrt import kernels
from qrt.models.programs import load
from qrt.quantization.explain_plan import explain_plan

PEERS = {".tflite": "litert", ".onnx": "ort"}
"""The runtime of a format, which samples name ``peer``."""


def runtimes(path: Path) -> dict[str, str]:
    """Return the names of samples with the runtimes that give them."""
    return {"qrt": "qrt", "peer": PEERS[path.suffix]}


def timed(path: Path, threads: int, rounds: Iterable[int], folder: Path) -> dict[str, Any]:
    """Return the medians of both runtimes on a model, or ``error``."""
    inputs = folder / "inputs.npz"
    workers = {name: Worker(runtime, threads) for name, runtime in runtimes(path).items()}
    first_calls: dict[str, float] = {}
    try:
        for runtime, worker in workers.items():
            outputs = str(folder / f"{runtime}.npz")
            answer = worker.ask("load", path=str(path), inputs=str(inputs), outputs=outputs, budget=0.004)
            if "error" in answer:
                return {"error": f"{runtime}: {answer['error']}"}
            first_calls[NAMES.get(PEERS[path.suffix], runtime) if runtime == "peer" else runtime] = answer["first"]
        for name, reason in dropped_peers(first_calls, "qrt").items():
            return {"error": f"{name} was {reason}"}
        if wrong := problem(*(folder / f"{name}.npz" for name in workers), path.suffix):
            return {"error": wrong}
        lanes = [(runtime, what) for runtime in workers for what in KINDS]
        samples = interleaved(workers, lanes, rounds, threads)
        if not all(samples.values()):
            return {"error": "no time was left"}
        return {f"{runtime}_{what}": statistics.median(seconds) for (runtime, what), seconds in samples.items()}
    except SampleError as error:
        return {"error": str(error)}
    finally:
        for worker in workers.values():
            worker.close()


def loaded(path: Path, rounds: Iterable[int], folder: Path) -> dict[str, Any]:
    """Return the medians of loading, each in a new process, and of the memory that it took."""
    samples: dict[str, list[float]] = {}
    inputs, saved = str(folder / "inputs.npz"), str(folder / "model.qrt")
    if "error" in (answer := once("qrt", "save", path=str(path), inputs=inputs, target=saved)):
        return {"error": f"qrt: {answer['error']}"}
    files = {name: (runtime, str(path)) for name, runtime in runtimes(path).items()} | {"saved": ("saved", saved)}
    for _ in rounds:
        for name, (runtime, file) in files.items():
            answer = once(runtime, "first", path=file, inputs=inputs)
            if "error" in answer:
                return {"error": f"{runtime}: {answer['error']}"}
            for what, value in answer.items():
                samples.setdefault(f"{name}_{what}", []).append(value)
    return {name: statistics.median(values) for name, values in samples.items()}


def once(runtime: str, command: str, **values: Any) -> dict[str, Any]:
    """The answer of a process that is asked nothing else."""
    worker = Worker(runtime, 1)
    answer = worker.ask(command, **values)
    worker.close()
    return answer


def overheads(rounds: int) -> dict[int, float]:
    """The seconds of a bound plan of 1, 10 and 100 steps of one byte each."""
    q = "tensor<1x!quant.uniform<i8:f32, 0.5>>"
    found = {}
    for count in (1, 10, 100):
        steps = "\n".join(f"%{i + 1} = qrt.add %{i}, %x : ({q}, {q}) -> {q}" for i in range(1, count))
        first = f"%1 = qrt.add %x, %x : ({q}, {q}) -> {q}"
        program = qrt.compile(f"func.func @main(%x: {q}) -> {q} {{\n{first}\n{steps}\nreturn %{count} : {q}\n}}")
        run = program.bind({program.inputs[0].name: np.int8([3])})
        seconds_of(run, 1000)
        found[count] = statistics.median(seconds_of(run, 2000) for _ in range(rounds))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=ROOT.parent / "shared" / "models", metavar="FOLDER")
    parser.add_argument("--model", default="*", metavar="PATTERN")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--loads", type=int, default=5, help="how often each model is loaded in a new process")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of all models; slow ones get fewer samples")
    parser.add_argument("--print", action="store_true", help="print the part, and leave the page as it is")
    options = parser.parse_args()
    commit = "" if options.print else performance_page.measured_commit()
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(ROOT / "qrt")], check=False)
    paths = [
        path
        for suffix in PEERS
        for path in sorted((options.models / suffix[1:]).glob(f"*{suffix}"))
        if fnmatch.fnmatch(path.stem, options.model)
    ]
    if not paths:
        sys.exit(f"there is no model {options.model!r} in {options.models}: --models names the folder")
    figures, left_out = measured(paths, options)
    lines = part(figures, overheads(options.rounds), left_out)
    if options.print:
        print("\n".join(lines))
        return 0
    where, machine = performance_page.PAGE, f"{performance_page.processor()}, {kernels.active()}"
    page = performance_page.with_part(where.read_text("utf-8"), machine, commit, performance_page.MODELS, lines)
    where.write_text(page, encoding="utf-8")
    return 0


def measured(paths: Sequence[Path], options: argparse.Namespace) -> tuple[list[Figures], list[str]]:
    """Return the figures of the models, and the names of those for which no time was left."""
    budget = Budget(options.minutes * 60, len(paths) * (1 + len(options.threads)))
    figures, left_out = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for path in paths:
            deadline = budget.deadline()
            if deadline is None:
                left_out.append(path.stem)
                continue
            drawn(path, options.models, folder / "inputs.npz")
            model = Figures(path.stem, path.stat().st_size, PEERS[path.suffix])
            model.load = loaded(path, budget.rounds(deadline, options.loads), folder)
            for threads in options.threads:
                deadline = budget.deadline()
                rounds = range(0) if deadline is None else budget.rounds(deadline, options.rounds)
                model.times[threads] = timed(path, threads, rounds, folder)
                print(json.dumps({"model": path.stem, "threads": threads, **model.times[threads]}), file=sys.stderr)
            if model.is_slower(min(options.threads)):
                qrt.kernels.set_num_threads(1)
                model.steps = explain_plan(qrt.compile(load(path)))
            figures.append(model)
    return figures, left_out


if __name__ == "__main__":
    sys.exit(main())
