"""The recipes of CONTRIBUTING, done as they are printed: each step names a file, and shows what is added and where."""

import re
from dataclasses import dataclass

from tests.docs.tree import Tree

_RECIPE = re.compile(r"^### ([^\n]*)\n(.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
_PLACE = r"(?P<new>a new file)|(?P<end>at the end)|before `(?P<line>[^`\n]*)`"
_CODE = r"   ```\w+\n(?P<code>.*?)^   ```$"
_STEP = re.compile(
    r"^\d+\. \[?`(?P<path>[\w./-]+)`(?:\]\([^)]*\))?, "
    rf"(?:(?P<written>which `make expected` writes)|(?:{_PLACE})[^`\n]*:\n\n{_CODE})",
    re.MULTILINE | re.DOTALL,
)
_RUN = re.compile(r"^Run (?:.*\n)+", re.MULTILINE)


@dataclass(frozen=True)
class Recipe:
    """An addition, and the tests that it must pass."""

    title: str
    steps: tuple[re.Match[str], ...]
    tests: tuple[str, ...]

    @property
    def written(self) -> set[str]:
        """The files that `make expected` writes."""
        return {step["path"] for step in self.steps if step["written"]}

    @property
    def edited(self) -> set[str]:
        """The files whose code it shows."""
        return {step["path"] for step in self.steps} - self.written

    def apply(self, tree: Tree) -> None:
        """Add the code of the steps, in their order."""
        for step in self.steps:
            if step["written"]:
                continue
            code = re.sub(r"^   ", "", step["code"], flags=re.MULTILINE)
            if step["new"]:
                assert not (tree.folder / step["path"]).exists(), step["path"]
                tree.make(step["path"], code)
            elif step["end"]:
                tree.append(step["path"], code)
            else:
                _insert(tree, step["path"], step["line"], code)


def _insert(tree: Tree, path: str, line: str, code: str) -> None:
    """Insert code before the one line of a file that begins so."""
    lines = (tree.folder / path).read_text().splitlines(keepends=True)
    (place,) = (number for number, text in enumerate(lines) if text.lstrip().startswith(line))
    tree.make(path, "".join([*lines[:place], code, *lines[place:]]))


def recipes(section: str) -> list[Recipe]:
    """Return the recipes below a heading. A numbered line that is no step is an error."""
    result = []
    for title, text in _RECIPE.findall(section):
        steps = tuple(_STEP.finditer(text))
        assert len(steps) == len(re.findall(r"^\d+\. ", text, re.MULTILINE)), title
        tests = tuple(test for run in _RUN.findall(text) for test in re.findall(r"`(tests/[\w./:]+)`(?!\])", run))
        result.append(Recipe(title, steps, tests))
    return result
