"""Changes of the source that tests must catch, each made alone in a copy of the repository."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]

Change = tuple[str, str, str]
"""A file, a text that stands in it once, and what comes in its place."""


def changed(file: str, old: str, new: str) -> str:
    """The file with the change."""
    text = (ROOT / file).read_text()
    if text.count(old) != 1:
        raise ValueError(f"{file} has {old!r} {text.count(old)} times")
    return text.replace(old, new)


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The tests of a copy, up to the first that fails."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def main(doc: str | None, changes: Sequence[Change], caught_by: Callable[[Path, str], str], *ignored: str) -> None:
    """Makes the changes whose file has one of the words of the command line, and ends with the status 1 if there are
    any that no test catches. ``caught_by`` takes the copy and the changed file, and names the test that fails; it gives
    "" if none does. Files of a name in ``ignored`` are not copied.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    words = parser.parse_args().words
    chosen = [change for change in changes if not words or any(word in change[0] for word in words)]
    texts = [changed(*change) for change in chosen]
    survivors = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "copy"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "__pycache__", *ignored))
        if failed := caught_by(folder, ""):
            sys.exit(f"a test fails before anything is changed: {failed}")
        for (file, old, new), text in zip(chosen, texts, strict=True):
            (folder / file).write_text(text)
            failed = caught_by(folder, file)
            survivors += not failed
            print(f"{file}: {old.strip()!r} -> {new.strip()!r}: {failed or 'NO TEST CATCHES IT'}", flush=True)
            (folder / file).write_text((ROOT / file).read_text())
    print(f"{len(chosen)} changes, {survivors} of which no test catches")
    sys.exit(survivors > 0)
