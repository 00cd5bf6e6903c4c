"""Which modules import which. Hazard: a cycle, in which no module can be read, tested or moved without the others. An
import inside a function hides one from the interpreter, not from the reader."""

import ast
from pathlib import Path

import qrt

ROOT = Path(qrt.__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (ROOT / "qrt").rglob("*.py")
}
ALLOWED: dict[frozenset[str], str] = {}
"""Cycles that may be, each with the reason: three at most."""


def imported(path: Path) -> set[str]:
    """What a file imports, at any depth, but for what only types need."""
    found: set[str] = set()
    pending: list[ast.AST] = [ast.parse(path.read_text())]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending += node.orelse
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports what stands beside it by dots"
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inside if inside <= MODULES.keys() else (inside & MODULES.keys()) | {node.module or ""}
        pending += ast.iter_child_nodes(node)
    return found & MODULES.keys()


def cycles(graph: dict[str, set[str]]) -> list[frozenset[str]]:
    """The sets of modules that reach each other."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen, pending = set(), [*graph[start]]
        while pending:
            module = pending.pop()
            if module not in seen:
                seen.add(module)
                pending += graph[module]
        reached[start] = seen
    inside = [module for module in graph if module in reached[module]]
    together = {frozenset(b for b in inside if b in reached[a] and a in reached[b]) for a in inside}
    return sorted(together, key=sorted)


def test_a_cycle_is_found_and_nothing_else() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == [{"b", "c"}]


def test_no_module_imports_what_imports_it() -> None:
    graph = {name: imported(path) - {name} for name, path in MODULES.items()}
    assert sum(map(len, graph.values())) > len(graph)  # imports are seen at all
    assert [sorted(cycle) for cycle in cycles(graph) if cycle not in ALLOWED] == []
    assert len(ALLOWED) <= 3
