"""docs/performance.md: a section for each machine, all of whose figures are of one commit.

`make bench-peers` writes the part *Operations* of the section of its machine, and `make bench-models` the part
*Models*. Where the section is of another commit, its other part is removed.
"""

import platform
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
OPERATIONS, MODELS = "Operations", "Models"
PARTS = (OPERATIONS, MODELS)
MEASURED = ("qrt", "csrc", "setup.py")
"""The sources that are measured: a commit that changes none of them has the figures of the one before."""
PREAMBLE = """\
# qrt beside other runtimes

This page has a section for each machine and instruction set. All figures of a section are those of the commit that it
names. `make bench-peers` writes the part *Operations* of the section of its machine, and `make bench-models` the part
*Models*. Each takes at most 20 minutes: a case that has used up its share of the time gets fewer rounds, but at least
three. A runtime whose first calls take 50 times the fastest one's is dropped, and a line says so.

Each runtime has a process of its own. Their samples are interleaved, and a time is the median of the samples. Compare
only figures of one table: the speed of a machine changes from run to run. The ratio is qrt's time divided by that of
the other runtime, so that less than 1 means that qrt is faster.

**Operations.** All runtimes compute the same workload, which `benches/peers/cases.py` defines. A result that fails the
numeric check has no time. Each result of qrt is first compared bit for bit with that of its scalar reference. qrt is
called through its public functions, with weights that were packed once and a result that exists already.

The column `qrt, us` has the rule `float32`, which the other runtimes compute too, and the column `fixed, us` the rule
`fixed`, in integers. `best peer` is the fastest of the other runtimes. `of the limit` is the limit's time divided by
qrt's. The limit of a product is a loop of the instruction set's multiply-add on registers alone, on as many threads.
The limit of a cast is a copy of as many bytes, on several threads where starting them is worth it. Limits are measured
in the same run. A share above 100% means that the machine changed its speed between samples.

**Models.** Each model runs from its file in qrt and in the runtime of its format: LiteRT, or ONNX Runtime with all of
its optimizations. Outputs are compared before anything is timed. Those of LiteRT are equal. Those of ONNX Runtime have
the same greatest element.

| column | what is measured |
|---|---|
| `run` | a call with arrays that returns arrays: `p(x)` in qrt; set, invoke and get in LiteRT; `run` of a session |
| `bare` | a call on arrays that were bound before: `run()` of a bound program, invoke, a run of bound values |
| `load` | from the file to the first result, in a new process that has imported the runtime |
| `again` | the same for a second time in that process |
| `saved` | the same as `load` for the file that `p.save` wrote |
| `alone` | the part of `saved` before the first run |
| `memory` | how much the process's memory grows by `load` |
| `peak` | the most by which it grew on the way |
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
