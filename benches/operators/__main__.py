"""Writes the part *Operators* of docs/performance.md: single operators in qrt, LiteRT and ONNX Runtime, in one run.

    python -m benches.operators [--row 'add*'] [--rounds 9] [--threads 1 2] [--minutes 14] [--print] [--list]

Each runtime has a process of its own, and they give samples in turn. Outputs are compared before anything is timed.
Only ratios within one run mean anything. With ``--print`` the page is left as it is.
"""

import argparse
import fnmatch
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from benches import performance_page
from benches.budget import Budget, dropped_peers
from benches.models.process import SampleError, Worker, interleaved
from benches.models.worker import write
from benches.operators import elementwise, movement, products, recurrent, reductions
from benches.operators.compared import problem
from benches.operators.models import Models
from benches.operators.page import FORMATS, RowTimes, part
from benches.operators.rows import Row, rows_of
from qrt import kernels

MINUTES = 14
"""The rest of 15 minutes is for the last row."""
SAMPLE = 0.003
"""Seconds of a sample of short calls."""
LONG = 0.05
"""Seconds of a call that is not repeated where it takes many times as long as the fastest one."""
ROWS = rows_of([elementwise.rows, movement.rows, products.rows, reductions.rows, recurrent.rows])


class Workers:
    """The processes of one number of threads. One that ends is started again for the next row."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.workers: dict[str, Worker] = {}

    def of(self, lane: str) -> Worker:
        """Return the process of a lane: a runtime, or qrt and the format of its file."""
        worker = self.workers.get(lane)
        if worker is None or worker.process.poll() is not None:
            worker = self.workers[lane] = Worker(lane.partition(" ")[0], self.threads)
        return worker

    def close(self) -> None:
        for worker in self.workers.values():
            worker.close()


def timed(row: Row, models: Models, workers: Workers, rounds: Iterable[int], folder: Path) -> RowTimes:
    """Return the times of a row. A format whose runtime and qrt disagree has none."""
    times = RowTimes(row.name, row.is_quantized, is_image=models.is_image)
    what = "run" if row.is_call else "bare"
    lanes: list[str] = []
    firsts: dict[str, float] = {}
    for format, content in models.files.items():
        file, inputs = folder / f"row.{format}", folder / f"{format}.npz"
        file.write_bytes(content)
        write(str(inputs), list(models.inputs[format]))
        pair = [f"qrt {format}", FORMATS[format]]
        errors = []
        for lane in pair:
            files = {"path": str(file), "inputs": str(inputs), "outputs": str(folder / f"{lane}.npz")}
            answer = workers.of(lane).ask("load", **files, budget=SAMPLE, kinds=[what])
            if "error" in answer:
                errors.append(f"{lane}: {answer['error']}")
            else:
                firsts[lane] = answer["first"]
        if not errors and (wrong := problem(*(folder / f"{lane}.npz" for lane in pair), format)):
            errors.append(f"{format}: {wrong}")
        times.errors += errors
        lanes += [] if errors else pair
    # What takes long is known by its first call: its samples would take the time of the other rows.
    firsts = {lane: firsts[lane] for lane in lanes}
    least = {lane: firsts[lane] for lane in dropped_peers(firsts, " ") if firsts[lane] > LONG}
    chosen = [lane for lane in lanes if lane not in least]
    clock = "cpu" if workers.threads == 1 else "elapsed"
    try:
        given = {lane: workers.of(lane) for lane in chosen}
        samples = interleaved(given, [(lane, what) for lane in chosen], rounds, workers.threads, clock)
    except SampleError as error:
        times.errors.append(str(error))
        return times
    least |= {lane: min(seconds) for (lane, _), seconds in samples.items() if seconds}
    times.own = {lane.partition(" ")[2]: seconds for lane, seconds in least.items() if lane.startswith("qrt ")}
    times.peers = {lane: seconds for lane, seconds in least.items() if not lane.startswith("qrt ")}
    return times


def measured(rows: Sequence[Row], options: argparse.Namespace) -> dict[int, list[RowTimes]]:
    """Return the times of the rows on each number of threads. Rows for which no time is left have an error."""
    budget = Budget(options.minutes * 60, len(rows) * len(options.threads))
    times: dict[int, list[RowTimes]] = {threads: [] for threads in options.threads}
    with tempfile.TemporaryDirectory() as scratch:
        for threads, results in times.items():
            workers = Workers(threads)
            for row in rows:
                deadline = budget.deadline()
                if deadline is None:
                    late = f"no time was left on {threads} thread{'s' * (threads > 1)}"
                    results.append(RowTimes(row.name, row.is_quantized, errors=[late]))
                    continue
                rounds = budget.rounds(deadline, options.rounds)
                results.append(timed(row, row.make(), workers, rounds, Path(scratch)))
                show(results[-1])
            workers.close()
    return times


def show(row: RowTimes) -> None:
    """Print a row on standard error."""
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
    times = {name: round(seconds * 1e6, 2) for name, seconds in (row.own | row.peers).items()}
    print(row.name, ratio, times, *row.errors, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--row", nargs="+", default=["*"], metavar="PATTERN")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of all rows; slow ones get fewer samples")
    parser.add_argument("--print", action="store_true", help="print the part, and leave the page as it is")
    parser.add_argument("--list", action="store_true", help="print the names of the rows, and time nothing")
    options = parser.parse_args()
    rows = [row for row in ROWS if any(fnmatch.fnmatch(row.name, pattern) for pattern in options.row)]
    if not rows:
        sys.exit(f"there is no row {' '.join(options.row)}: --list prints their names")
    if options.list:
        print(*(row.name for row in rows), sep="\n")
        return 0
    commit = "" if options.print else performance_page.measured_commit()
    load = os.getloadavg()[0]
    lines = part(measured(rows, options), load)
    if options.print:
        print("\n".join(lines))
        return 0
    where, machine = performance_page.PAGE, f"{performance_page.processor()}, {kernels.active()}"
    page = performance_page.with_part(where.read_text("utf-8"), machine, commit, performance_page.OPERATORS, lines)
    where.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
