"""Texts to start from: the tests' own programs, the examples, the pages of the dialects, and the corpus."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.ir.programs import PROGRAMS, UNREGISTERED
from tests.runtime.programs import EVERYTHING

ROOT = Path(__file__).parent.parent.parent
CORPUS = Path(__file__).parent / "corpus"
_FILES = ("tests/ir/*.mlir", "tests/ir/passes/files/*.mlir", "examples/*/*.mlir")
_REFUSED = ("invalid", "broken")
_SPLIT = re.compile(r"^// -----.*\n", re.MULTILINE)
_LONGEST = 6000


@cache
def texts() -> tuple[str, ...]:
    """Programs of a few functions, and each function by itself with the aliases of its file."""
    whole = [path.read_text() for path in _paths() if not path.name.startswith(_REFUSED)]
    pages = [path.read_text() for path in sorted((ROOT / "docs/reference/dialects").glob("*.md"))]
    whole += [block for page in pages for block in re.findall(r"```mlir\n(.*?)```", page, re.DOTALL)]
    whole += [*PROGRAMS.values(), *UNREGISTERED.values(), EVERYTHING]
    parts = [part for text in whole for part in _SPLIT.split(text)]
    found = [*corpus("text"), *corpus("programs"), *parts]
    found += [function for part in parts for function in _functions(part)]
    return tuple(dict.fromkeys(text for text in found if text.strip() and len(text) <= _LONGEST))


@cache
def refused() -> tuple[str, ...]:
    """Texts that break one rule each."""
    whole = [path.read_text() for path in _paths() if path.name.startswith(_REFUSED)]
    return tuple(part for text in whole for part in _SPLIT.split(text) if part.strip())


def _paths() -> list[Path]:
    return [path for pattern in _FILES for path in sorted(ROOT.glob(pattern))]


def _functions(text: str) -> list[str]:
    aliases = "".join(re.findall(r"^[!#][\w$.]+ = .*\n", text, re.MULTILINE))
    starts = [match.start() for match in re.finditer(r"^func\.func", text, re.MULTILINE)]
    if len(starts) < 2:
        return []
    return [aliases + text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


@cache
def corpus(kind: str) -> tuple[str, ...]:
    """Every past finding of a kind: programs in files of a folder, others one a line."""
    if kind in ("text", "programs"):
        return tuple(path.read_text() for path in sorted((CORPUS / kind).glob("*.mlir")))
    lines = (CORPUS / f"{kind}.txt").read_text().splitlines()
    cases = [line for line in lines if line and not line.startswith("#")]
    return tuple(
        ast.literal_eval(line).decode("latin-1") if kind in ("arrays", "models", "saved") else line for line in cases
    )
