"""docs/performance.md: a section for each machine, all of whose figures are of one commit.

`make bench-peers` writes the part *Operations* of the section of its machine, `make bench-operators` the part
*Operators*, and `make bench-models` the part *Models*. Where the section is of another commit, its other parts are
removed.
"""

import platform
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
OPERATIONS, OPERATORS, MODELS = "Operations", "Operators", "Models"
PARTS = (OPERATIONS, OPERATORS, MODELS)
MEASURED = ("qrt", "csrc", "setup.py")
"""The sources that are measured: a commit that changes none of them has the figures of the one before."""
PREAMBLE = """\
# qrt beside other runtimes

This page compares the speed of qrt with that of other runtimes, on single operations and on whole models. It is for
readers who choose a runtime, or who want to know where qrt is slower. It has a section for each machine and instruction
set. All figures of a section were measured with the commit that the section names.

To measure again, run `make bench-peers`, `make bench-operators` or `make bench-models`. Each command writes a part of
the section of the machine on which it runs: *Operations*, *Operators* or *Models*. It takes at most 20 minutes. A case
that has used up its share of the time is timed in fewer rounds, but in at least three. A runtime whose first calls take
50 times as long as those of the fastest runtime is dropped from the case, and listed below the tables.

Each runtime runs in a process of its own. The samples of all runtimes are interleaved, and a time is the median of the
samples. Compare only figures of the same table, because the speed of a machine changes from run to run. A ratio is the
time of qrt divided by the time of the other runtime. If it is below 1, qrt is faster.

**Operations.** All runtimes compute the same workload, which `benches/peers/cases.py` defines. A runtime whose result
fails the numeric check has no time. Each result of qrt is first compared bit for bit with its scalar reference. qrt is
called through its public functions, with weights that were packed once, and writes to a result array that exists.

The name of a case begins with its kind: `gemm` (M x K x N), `conv` (`dw` is depthwise, `s2` has stride 2; then the
image and the channels), `qcast` and `dcast` (the number of elements, and which elements share a scale: all of the
`tensor`, or those with the same index along an axis), `wo4b32` (one row by weights of 4 bits in blocks of 32, with
float activations).

| column | meaning |
|---|---|
| `qrt, us` | the time of qrt in microseconds; products round by the rule `float32`, as in the other runtimes |
| `fixed, us` | the time of qrt if products round by the rule `fixed`, in integers |
| `best peer`, `its us` | the fastest of the other runtimes, and its time |
| `qrt / best` | `qrt, us` divided by `its us` |
| `of the limit` | the time of the limit divided by `qrt, us`; the limit is measured in the same run |

The limit of a product is the time of a loop of the instruction set's multiply-add instruction on registers, without
memory accesses, on as many threads. The limit of a cast is the time of a copy of as many bytes, on several threads if
starting them pays off. A share above 100% means that the machine changed its speed between samples.

**Operators.** Each row is one operator, written as a TFLite file, an ONNX file, or both. qrt runs each file. LiteRT
and ONNX Runtime run the files of their own formats. Results are compared first: integers of TFLite files are equal,
those of ONNX files differ by at most 1, and floats by at most a 100,000th of the greatest. Rows that end in `small`
time a call with arrays (`run` in the table below). The other rows time only the operator (`bare`).

Times are the least of the rounds. On one thread, a time is the CPU time of the process, which does not count what other
processes take. On several threads, it is the elapsed time. The last column has the slowest of qrt's times divided by
the fastest time of another runtime. Images are NHWC in TFLite and NCHW in ONNX; for operators on images, the last
column has the greater of the ratios of the two formats.

**Models.** Each model runs from its file in qrt and in the runtime of its format: LiteRT, or ONNX Runtime with all of
its optimizations. Outputs are compared before anything is timed: those of qrt and LiteRT are equal, and those of qrt
and ONNX Runtime have their greatest element at the same position. A column named after a runtime has the time or
memory of this runtime for the measurement in the column before.

| column | what is measured |
|---|---|
| `run` | a call with arrays that returns arrays: `p(x)` in qrt; set, invoke and get in LiteRT; `run` of a session |
| `bare` | a call on arrays bound before: `run()` of a bound program; invoke in LiteRT; a session run on bound values |
| `load` | the time from the file to the first result, in a new process that has imported the runtime |
| `again` | `load` for the second time in the same process |
| `saved` | `load` in qrt for the file that `p.save` wrote |
| `alone` | the part of `saved` before the first run: loading without running |
| `memory` | the growth of the process's memory from before `load` to its end |
| `peak` | the greatest growth of the memory during `load` |
"""


def processor() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def measured_commit() -> str:
    """Return the last commit that changed the measured sources. Exit if they have changes that are not committed."""
    if _git("status", "--porcelain", "--untracked-files=no", "--", *MEASURED):
        raise SystemExit(f"{', '.join(MEASURED)} have uncommitted changes: commit them, or give --print")
    return _git("log", "-1", "--format=%h", "--abbrev=8", "--", *MEASURED)


def _git(*arguments: str) -> str:
    try:
        return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"the page names the commit that is measured, and git does not know it: {error}") from None


def sections(page: str) -> list[str]:
    """Return the sections of the machines."""
    return re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]


def parts(section: str) -> dict[str, str]:
    """Return the parts of a section by title, without their headings."""
    pieces = re.split(r"^### (.*)\n", section, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], (text.strip("\n") for text in pieces[2::2]), strict=True))


def commit_of(section: str) -> str:
    """Return the commit that a section names."""
    match = re.search(r"^Commit `(\w+)`\.$", section, re.MULTILINE)
    assert match, f"a section names no commit: {section.partition(chr(10))[0]}"
    return match[1]


def with_part(page: str, machine: str, commit: str, title: str, lines: Sequence[str]) -> str:
    """Return the page with a part of a machine's section, without what other commits measured on that machine."""
    heading = f"## {machine}\n"
    others = sections(page)
    places = [index for index, section in enumerate(others) if section.startswith(heading)]
    place = places[0] if places else len(others)
    is_same_commit = bool(places) and commit_of(others[place]) == commit
    texts = (parts(others[place]) if is_same_commit else {}) | {title: "\n".join(lines).strip("\n")}
    body = "".join(f"\n### {part}\n\n{texts[part]}\n" for part in PARTS if part in texts)
    others[place : place + 1] = [f"{heading}\nCommit `{commit}`.\n{body}"]
    return "\n".join([PREAMBLE, *(section.rstrip("\n") + "\n" for section in others)])
