"""A linter of words, which `make lint` runs: it counts docstrings and names that a newcomer has to read twice.

    python -m tests.plain_words [--list] [PATH ...]

It looks at `qrt`, or at the paths. The exit status is 1 if a kind of findings has more than `LIMITS` allows, and then,
or with `--list`, all findings are printed. A sentence may pass and still be unclear: the count is a guide.
"""

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = {".py", ".pyi", ".pyx", ".pxi"}
LIMITS = {"docstring": 0, "class": 0, "module": 0, "name": 100}
LONGEST_SUMMARY = 120
FRAGMENTS = re.compile(
    r"(What|Of|Which|How|Where|Why|Who|Whose|As|That|Those|So|By|Has|To|Whether)\b|(The same|The others|It) "
)
"""Beginnings of a docstring that is no sentence with a verb in the imperative, and no noun with its description."""


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


CLASSES = words(
    """Held Said Seen Kept Made Found Told Around Quick Cut Tried Refused Served Watched Written Wrong Spread Gaps Site
    Form Forwarded Reduced Selected Planned Joined Named Spelled Given Searched Suppression Offers Stated Folded Filled
    Compared Composed Closed Unplanned Loaded Reading Running Causes Factor Moments Rounds Place Places Part Parts
    Making Maker Prepared Declared"""
)
"""Names of classes that do not say what an instance is."""
MODULES = words(
    """around held reduced said kept made tried called carried gains moves origins causes forwarding wrap nearest edges
    bodies tags lines numbers plain moving blocks powers between products_of entries compared seen tapped scope trial"""
)
"""Names of modules that do not say what the file is about."""
NAMES = words("said told kept made found each held asked worded known_as")
"""Parameters and variables that do not say what they are."""


@dataclass(frozen=True)
class Finding:
    """A word or a docstring to rewrite."""

    path: Path
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.kind}: {self.text}"


def findings(path: Path, source: str) -> Iterator[Finding]:
    """Yield the findings of a file. Only the name of a Cython file is checked."""
    if path.stem in MODULES:
        yield Finding(path, 1, "module", path.stem)
    if path.suffix not in {".py", ".pyi"}:
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            docstring = ast.get_docstring(node)
            if docstring and is_fragment(docstring):
                yield Finding(path, node.body[0].lineno, "docstring", docstring.partition("\n")[0])
        if isinstance(node, ast.ClassDef) and node.name.lstrip("_") in CLASSES:
            yield Finding(path, node.lineno, "class", node.name)
        if isinstance(node, ast.arg) and node.arg.lstrip("_") in NAMES:
            yield Finding(path, node.lineno, "name", node.arg)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id.lstrip("_") in NAMES:
            yield Finding(path, node.lineno, "name", node.id)


def is_fragment(docstring: str) -> bool:
    """Return True if the summary begins with a question word or a pronoun, or its line is too long."""
    return bool(FRAGMENTS.match(docstring)) or len(docstring.partition("\n")[0]) > LONGEST_SUMMARY


def source_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the Python and Cython files that are, or are below, the paths."""
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in files if file.suffix in SUFFIXES)


def main(arguments: list[str] | None = None) -> int:
    """Print the counts, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT / "qrt"])
    parser.add_argument("--list", action="store_true", help="print every finding")
    options = parser.parse_args(arguments)
    results = [finding for path in source_files(options.paths) for finding in findings(path, path.read_text("utf-8"))]
    counts = Counter(finding.kind for finding in results)
    excess = [kind for kind, limit in LIMITS.items() if counts[kind] > limit]
    for finding in results:
        if options.list or finding.kind in excess:
            print(finding)
    print("plain words:", ", ".join(f"{counts[kind]} of {limit} {kind}" for kind, limit in LIMITS.items()))
    return 1 if excess else 0


if __name__ == "__main__":
    sys.exit(main())
