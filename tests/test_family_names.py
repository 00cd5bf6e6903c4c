"""No list of op families stands outside of `qrt/ops`: what passes, targets and exporters must know of a family stands
in its declaration and its traits. Hazard: a new op that is in no list, so that it runs unfused and nothing says so.

The rule, of every module of `qrt` but those of `qrt/ops`:

- An op's name is `qrt.<family>`, or the family's alone in a module that imports families (`FAMILIES`, `family_of`) or
  forms, which name families.
- No literal set, list or tuple has the names of two families; nor has a text, split into words; nor have the keys of a
  dictionary. Its values may: it is a table from another vocabulary, such as ONNX's operators or ops of `linalg`.
- All comparisons of a module (`==`, `!=`, `in`, `case`) are with the name of one op: that which the module is about, as
  the root of its pattern. Families that a module compares with are those of an expression called `family`, or of its
  name.
- `REGISTRIES` are the exceptions, each with its reason: tables by op, of which a test says what they lack.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import qrt
from qrt.ops import FAMILIES

ROOT = Path(qrt.__file__).parent
REGISTRIES = {
    "models/onnx/exporting/registry.py": "the function that writes each op: tests/test_registry.py",
    "models/importing/data_movement.py": "sizes behind operations of importers: tests/models/test_input_shapes.py",
    "quantization/targets/declared.py": "families without a region, with the reason: tests/ops/test_traits.py",
    "models/onnx/exporting/writers": "the writers of ops, by the operators of ONNX: tests/test_registry.py",
}
OPS = {family.declaration.op: name for name, family in FAMILIES.items() if family.declaration.dialect == "qrt"}
SOURCES = {
    path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.rglob("*.py")) if path.parent != ROOT / "ops"
}
IMPORTED = {"FAMILIES", "OpFamily", "family_named", "family_of", "Form", "Reading", "form_of", "matches_of"}


def _names(node: ast.AST | None, bare: bool) -> set[str]:
    """The families that a literal names; several where it is a text of words."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return set()
    words = node.value.split()
    named = {OPS[word] for word in words if word in OPS}
    return named | ({word for word in words if word in FAMILIES} if bare else set())


def _lists(tree: ast.AST, bare: bool) -> Iterator[tuple[int, set[str]]]:
    """The families of each literal collection, and of each text that names them alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Set | ast.List | ast.Tuple):
            yield node.lineno, set().union(*(_names(element, bare) for element in node.elts))
        elif isinstance(node, ast.Dict):
            yield node.lineno, set().union(*(_names(key, bare) for key in node.keys))
        elif isinstance(node, ast.Constant):
            named = _names(node, bare)
            yield node.lineno, named if isinstance(node.value, str) and len(named) == len(node.value.split()) else set()


def _compared(tree: ast.AST, bare: bool) -> Iterator[tuple[int, set[str]]]:
    """The families with which each comparison is made."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            of_family = bare and any(_is_family(side) for side in sides)
            parts = [part for side in sides for part in getattr(side, "elts", [side])]
            yield node.lineno, set().union(*(_names(part, of_family) for part in parts))
        elif isinstance(node, ast.Match):
            values = [part.value for part in ast.walk(node) if isinstance(part, ast.MatchValue)]
            yield node.lineno, set().union(*(_names(value, bare and _is_family(node.subject)) for value in values))


def _is_family(node: ast.expr) -> bool:
    """`family`, `form.family` or `family.name`."""
    if isinstance(node, ast.Attribute):
        return node.attr == "family" or (node.attr == "name" and _is_family(node.value))
    return isinstance(node, ast.Name) and node.id == "family"


def faults(text: str) -> list[str]:
    """Where a module breaks the rule."""
    tree = ast.parse(text)
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    bare = bool(imported & IMPORTED)
    wrong = [f"{line}: {sorted(names)}" for line, names in _lists(tree, bare) if len(names) > 1]
    compared = list(_compared(tree, bare))
    every = set().union(*(names for _, names in compared))
    if len(every) > 1:
        wrong += [f"{line}: compared with {sorted(names)}" for line, names in compared if names]
    return wrong


@pytest.mark.parametrize("name", [name for name in SOURCES if not name.startswith(tuple(REGISTRIES))])
def test_a_module_has_no_list_of_families(name: str) -> None:
    assert faults(SOURCES[name].read_text()) == []


@pytest.mark.parametrize("place", REGISTRIES)
def test_a_registry_names_families(place: str) -> None:
    """What is no registry any more is no exception."""
    assert any(faults(path.read_text()) for name, path in SOURCES.items() if name.startswith(place))


IMPORT = "from qrt.ops import FAMILIES\n"


@pytest.mark.parametrize(
    "text",
    [
        'A = {"qrt.add", "qrt.sub"}',
        'A = ["qrt.add", *B, "qrt.sub"]',
        'A = frozenset("qrt.add qrt.sub".split())',
        'A = {"qrt.add": 1, "qrt.sub": 2}',
        'B = op.name == "qrt.add" or op.name == "qrt.sub"',
        'B = op.name in ("qrt.add", "qrt.sub")',
        'match op.name:\n  case "qrt.add" | "qrt.sub": pass',
        IMPORT + 'A = ("add", "sub")',
        IMPORT + 'A = f("add sub")',
        IMPORT + 'B = form.family == "add" or form.family == "sub"',
        IMPORT + 'B = family.name in ("add", "sub")',
    ],
)
def test_a_list_is_found(text: str) -> None:
    assert faults(text)


@pytest.mark.parametrize(
    "text",
    [
        'A = {"Add": "qrt.add", "Sub": "qrt.sub"}',
        'B = op.name == "qrt.add" or (op.name != "qrt.add" and op.name == "quant.scast")',
        'A = ("add", "sub")',
        'a = node.emit("qrt.add", node.emit("qrt.sub"))',
        IMPORT + 'B = kind == "add" or kind == "sub"',
        '"""add and sub are families."""',
    ],
)
def test_what_is_no_list_is_not_found(text: str) -> None:
    assert faults(text) == []
