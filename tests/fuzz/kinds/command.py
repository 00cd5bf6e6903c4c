"""The command line: `main` with drawn arguments in this process, and a few processes with streams that are closed or
full. A case is a line as a shell takes it: `qrt ...` or `python -m qrt ...`, then redirections."""

import contextlib
import io
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

import numpy as np

from qrt.cli import main
from qrt.kernels import get_num_threads, set_num_threads
from tests.fuzz.outcome import Finding, check_text
from tests.ir.programs import CAST, PROGRAMS

_DIAGNOSTIC = re.compile(r"^(?=\S[^\n]*?: (?:error|warning|remark): )", re.MULTILINE)
"""Where one begins, with its notes, among what is written to standard error."""
STREAMS = ("<&-", ">&-", "2>&-", "</dev/null", ">/dev/full", "2>/dev/full", "<p.mlir", "<x.npy")


@dataclass(frozen=True)
class Ran:
    """The status, and what was written to the streams that took it."""

    status: int
    out: str
    error: str


# -- checking --------------------------------------------------------------------------------------------------------


def check(case: str) -> str:
    """Status 0, 1 or 2 by themselves, an error in one line, and none where a stream lost what was written."""
    try:
        words = shlex.split(case)
    except ValueError:
        return "no command"
    prefix = ["python", "-m", "qrt"] if words[:3] == ["python", "-m", "qrt"] else ["qrt"]
    streams = [word for word in words if word in STREAMS]
    arguments = [word for word in words[len(prefix) :] if word not in STREAMS]
    # A path out of the folder, and measurements that are asked to last, are no subjects of a test.
    if (
        words[: len(prefix)] != prefix
        or any("/" in word and "no/y" not in word for word in arguments)
        or _lasts(arguments)
    ):
        return "no command"
    runner = run_in_process if prefix == ["qrt"] else _run_process
    found = runner(arguments, _files(), streams)
    if "Traceback" in found.error or found.status not in (0, 1, 2):
        raise Finding(f"status {found.status}: {_last_line(found.error)}", found.error[-3000:])
    for diagnostic in _DIAGNOSTIC.split(found.error):
        check_text(diagnostic or "nothing before the first", f"command {arguments[:1]}")
    if found.status and not found.error and not {"2>&-", "2>/dev/full"} & {*streams}:
        raise Finding("an error that says nothing", f"status {found.status}")
    if found.status == 0 and {">&-", ">/dev/full"} & {*streams}:
        rest = [word for word in streams if word not in (">&-", ">/dev/full")]
        if run_in_process(arguments, _files(), rest).out:
            raise Finding(f"status 0, and the output is lost: {arguments[0]}", case)
    return f"status {found.status}"


def _lasts(arguments: Sequence[str]) -> bool:
    """Whether a benchmark would take all cases, or longer than a moment each."""
    if "bench" not in arguments:
        return False
    seconds = [word.partition("=")[2] for word in arguments if word.startswith("--seconds=")]
    return "gemm_4x4x4" not in arguments or not seconds or any(map(_is_long, seconds))


def _is_long(seconds: str) -> bool:
    """Whether it is a duration that a benchmark takes, and more than a moment."""
    try:
        return 0.01 < float(seconds) < math.inf
    except ValueError:
        return False


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1][:100]


@cache
def _files() -> Mapping[str, bytes]:
    def saved(array: object, **options: bool) -> bytes:
        written = io.BytesIO()
        np.save(written, array, **options)
        return written.getvalue()

    floats, zipped = np.float32([1, -2, 0.5, 1e9]), io.BytesIO()
    np.savez(zipped, floats)
    return {
        "p.mlir": CAST.encode(),
        "two.mlir": PROGRAMS["calls"].encode(),
        "split.mlir": f"{CAST}// -----\nfunc.func @f( // expected-error {{{{x}}}}\n// -----\n{CAST}".encode(),
        "no.mlir": b"func.func @f() { retur }",
        "bytes.mlir": b"// \xff\xfe\x00",
        "x.npy": saved(floats),
        "i.npy": saved(np.int8([1, 2, 3, 4])),
        "o.npy": saved(np.array([1, None], object), allow_pickle=True),
        "z.npz": zipped.getvalue(),
        "cut.npy": saved(floats)[:70],
    }


# -- running ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _folder(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder with these files, in which the process works."""
    before, threads = os.getcwd(), get_num_threads()
    with tempfile.TemporaryDirectory() as name:
        for file, data in files.items():
            Path(name, file).write_bytes(data)
        os.chdir(name)
        try:
            Path("folder.mlir").mkdir()
            yield Path(name)
        finally:
            os.chdir(before)
            set_num_threads(threads)


def run_in_process(arguments: Sequence[str], files: Mapping[str, bytes], streams: Sequence[str] = ()) -> Ran:
    """`main` on these arguments, with streams as Python makes them of such descriptors."""
    kept = sys.stdin, sys.stdout, sys.stderr
    with _folder(files):
        taken = [_stream(streams, "", "<"), _stream(streams, "", ">"), _stream(streams, "2", ">")]
        sys.stdin, sys.stdout, sys.stderr = taken  # type: ignore[assignment]
        try:
            status = main(list(arguments))
            if sys.stdout is not None and not sys.stdout.closed:
                sys.stdout.flush()
        except OSError:  # at the end, where Python itself would flush and say so
            status = 120
        finally:
            out, error = (_written(stream) for stream in taken[1:])
            sys.stdin, sys.stdout, sys.stderr = kept
            for stream in taken:
                with contextlib.suppress(OSError, AttributeError):
                    stream.close()  # type: ignore[union-attr]
    return Ran(1 if status == 120 else status, out, error or ("error" if status == 120 else ""))


class _Kept(io.BytesIO):
    """Bytes that can be read once the stream is closed."""

    value = b""

    def close(self) -> None:
        self.value = self.getvalue()
        super().close()


def _stream(streams: Sequence[str], number: str, sign: str) -> IO[str] | None:
    for word in streams:
        if word.startswith(number + sign) and (number or word[0] == sign):
            target = word[len(number) + 1 :]
            return None if target == "&-" else open(target, "r" if sign == "<" else "w", encoding="utf-8")
    return io.TextIOWrapper(_Kept(), encoding="utf-8", errors="backslashreplace")


def _written(stream: IO[str] | None) -> str:
    if not isinstance(stream, io.TextIOWrapper) or not isinstance(stream.buffer, _Kept):
        return ""
    with contextlib.suppress(ValueError):
        stream.flush()
    data = stream.buffer.value if stream.buffer.closed else stream.buffer.getvalue()
    return data.decode(errors="replace")


def _run_process(arguments: Sequence[str], files: Mapping[str, bytes], streams: Sequence[str] = ()) -> Ran:
    if any("\0" in word for word in arguments):
        return Ran(2, "", "no process takes a NUL")
    command = " ".join([shlex.quote(sys.executable), "-m", "qrt", *map(shlex.quote, arguments), *streams])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with _folder(files):
        done = subprocess.run(
            ["/bin/sh", "-c", command.encode(errors="surrogateescape")],
            stdin=subprocess.DEVNULL, capture_output=True, env=environment, timeout=110, check=False,
        )  # fmt: skip
    return Ran(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
