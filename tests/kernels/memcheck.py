"""`python -m tests.kernels.memcheck`: jobs.py under valgrind. Fails if a kernel touches memory that is not its own, or
if a branch, in a kernel or in the comparison of its results, depends on memory that it got and did not write.

The interpreter reads uninitialised memory of its own: what counts has a frame, or its origin, in the extension."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

COMMAND = ("valgrind", "--quiet", "--track-origins=yes", "--leak-check=no", "--error-limit=no", "--num-callers=20",
           "--xml=yes")  # fmt: skip


def concerns_kernels(error: ElementTree.Element) -> bool:
    leak = (error.findtext("kind") or "").startswith("Leak")  # of the interpreter, reported whatever the options
    return not leak and any("/_ext/kernels." in (frame.text or "") for frame in error.iter("obj"))


def describe(error: ElementTree.Element) -> str:
    lines = [text.text or "" for tag in ("what", "auxwhat") for text in error.iter(tag)]
    for frame in error.iter("frame"):
        function, file, line = (frame.findtext(part) for part in ("fn", "file", "line"))
        lines.append(f"    {function} {file}:{line}")
    return "\n".join(lines)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        environment = os.environ | {"PYTHONMALLOC": "malloc", "OPENBLAS_NUM_THREADS": "1"}
        program = [sys.executable, "-m", "tests.kernels.jobs"]
        subprocess.run([*COMMAND, f"--xml-file={report}", *program], env=environment, check=True)
        errors = [error for error in ElementTree.parse(report).iter("error") if concerns_kernels(error)]
    for error in errors:
        print(describe(error), file=sys.stderr)
    print(f"memcheck: {len(errors)} errors")
    return int(bool(errors))


if __name__ == "__main__":
    sys.exit(main())
