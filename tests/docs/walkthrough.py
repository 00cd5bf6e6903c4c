"""A page, done as it is printed, from its first line to its last.

- A fenced block after a paragraph that ends with a path and a colon is that file.
- A `diff` block changes the file that it names.
- The `python` blocks of a page share a namespace.
- An indented line that begins with a program of `PROGRAMS` is a command, and so is each line of a `sh` block.
- A `text` block right after a command or a `python` block is what that printed. A line `...` of it stands for any
  lines. It says `error:` where a command fails.
"""

import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from qrt.cli import main
from tests.docs.tree import python

PROGRAMS = ("qrt", "python", "make", "pip", "git")
INSTALLS = (["pip", "install", "."],)
"""Commands that are not run, beside targets of `make`: `make test-sdist` installs the package."""
TARGETS = {"build": ("setup.py", "--quiet", "build_ext", "--inplace"), "expected": ("-m", "tests.expected")}
"""What Python runs for the targets that pages about the sources need."""
SHELLS = ("sh", "bash", "shell")
_STEP = re.compile(
    r"(?:`(?P<path>[\w./-]+\.(?:c|h|mlir|py|toml))`:\n\n)?^```(?P<kind>\w*)[^\n]*\n(?P<text>.*?)^```$"
    rf"|^    (?P<command>(?:{'|'.join(PROGRAMS)}) [^\n]*)$",
    re.MULTILINE | re.DOTALL,
)
_SHOWN = re.compile(r"\n+```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"^(?:\w+=\S+|[\w-]+)$")


@dataclass(frozen=True)
class Step:
    """`kind` is `command` or the language of a block; `shown` is what the page says that it prints, if it does."""

    kind: str
    text: str
    line: int
    path: str | None
    shown: str | None


def steps(page: str) -> list[Step]:
    """What a page writes, runs and shows, in order."""
    return list(_steps(page))


def _steps(page: str) -> Iterator[Step]:
    for match in _STEP.finditer(page):
        command = match["command"]
        text = match["text"] if command is None else command
        shown = _SHOWN.match(page, match.end())
        kind = "command" if command is not None else match["kind"]
        line = page.count("\n", 0, match.start("text" if command is None else "command")) + 1
        if kind in SHELLS and match["path"] is None:
            yield from (Step("command", one, line, None, None) for one in text.splitlines())
        else:
            yield Step(kind, text, line, match["path"], shown[1] if shown else None)


class Walk:
    """Does the steps in the folder where the process stands."""

    def __init__(self, page: str, makefile: str) -> None:
        self.page = page
        self.targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
        self.namespace: dict[str, object] = {}

    def do(self, step: Step) -> None:
        """One step; an AssertionError where it does not do what the page says."""
        printed = None
        if step.path is not None:
            write(Path(step.path), step.text)
        elif step.kind == "diff":
            change(step.text)
        elif step.kind == "python":
            printed = self.python(step)
        elif step.kind == "command":
            status, printed = self.command(shlex.split(step.text, comments=True))
            expected = "error:" in (step.shown or "")
            assert bool(status) == expected, f"{self.page}:{step.line}: status {status}\n{printed}"
        if printed is not None and step.shown is not None:
            assert shows(step.shown, printed), f"{self.page}:{step.line} prints\n{printed}"

    def python(self, step: Step) -> str:
        code = "\n" * (step.line - 1) + step.text  # an error names the line of the page
        with redirect_stdout(StringIO()) as printed:
            exec(compile(code, self.page, "exec"), self.namespace)
        return printed.getvalue()

    def command(self, words: list[str]) -> tuple[int, str]:
        """Its status, and what it printed."""
        if words[0] == "make":
            return self.make(words[1:])
        if words in INSTALLS:
            return 0, ""
        assert words[0] == "qrt", f"{words[0]} is not run: {words}"
        with redirect_stdout(StringIO()) as printed, redirect_stderr(printed):
            status = main(words[1:])
        return status, printed.getvalue()

    def make(self, words: list[str]) -> tuple[int, str]:
        """Nothing: targets build, install and test for minutes. That they exist is what is checked."""
        missing = {word for word in words if "=" not in word} - self.targets
        assert not missing, f"the Makefile has no {missing}"
        assert all(_TARGET.match(word) for word in words), words
        return 0, ""


class CheckoutWalk(Walk):
    """Does the steps in a copy of the repository, each in a process of its own: pages that change the sources."""

    def python(self, step: Step) -> str:
        return self.run("-c", step.text)[1]

    def command(self, words: list[str]) -> tuple[int, str]:
        if words[0] in ("qrt", "python"):
            return self.run(*(("-m", "qrt") if words[0] == "qrt" else ()), *words[1:])
        return super().command(words)

    def make(self, words: list[str]) -> tuple[int, str]:
        super().make(words)
        if words[0] in TARGETS:
            return self.run(*TARGETS[words[0]])
        return 0, ""

    def run(self, *arguments: str) -> tuple[int, str]:
        return python(Path.cwd(), *arguments)


def shows(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed: all of it, or the pieces between its lines `...`, in order."""
    first, *others = re.split(r"^ *\.\.\.\n", shown, flags=re.MULTILINE)
    if not others:
        return printed == shown
    place = len(first) if printed.startswith(first) else -1
    for piece in others[:-1]:
        found = printed.find(piece, place) if place >= 0 else -1
        place = found + len(piece) if found >= 0 else -1
    return place >= 0 and printed[place:].endswith(others[-1])


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def change(text: str) -> None:
    """Apply a diff of one place of one file, which stands there as the diff says."""
    name, *lines = text.splitlines(keepends=True)
    path = Path(name.split()[1])
    before, after = ("".join(line[1:] for line in lines if line[0] in f" {sign}") for sign in "-+")
    source = path.read_text()
    assert source.count(before) == 1, f"{path} does not have the place of the diff once:\n{before}"
    path.write_text(source.replace(before, after))
