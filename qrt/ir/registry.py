"""The ops that are known, by name. A dialect is a module of `qrt.ir.dialects` with a list `OPS`, loaded when a text or
a pass first names something of it."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qrt.ir.define import Definition

DIALECTS = (
    "affine",
    "arith",
    "bufferization",
    "builtin",
    "cf",
    "complex",
    "func",
    "linalg",
    "math",
    "memref",
    "quant",
    "qrt",
    "scf",
    "shape",
    "tensor",
    "ub",
    "vector",
)

DEFINITIONS: "dict[str, Definition]" = {}
"""The ops of the dialects that are loaded."""
_loaded: set[str] = set()


def load(dialect: str) -> None:
    """Make the ops and attributes of a dialect known, if it is one of ours."""
    if dialect in DIALECTS and dialect not in _loaded:
        module = import_module(f"qrt.ir.dialects.{dialect}")
        DEFINITIONS.update((definition.name, definition) for definition in module.OPS)
        _loaded.add(dialect)  # last: another thread that finds it here finds the ops too


def find(name: str) -> "Definition | None":
    """The op of a name."""
    found = DEFINITIONS.get(name)
    if found is None:
        load(name.partition(".")[0])
        found = DEFINITIONS.get(name)
    return found


def definition(name: str) -> "Definition":
    """The op of a name that is known to be one."""
    found = find(name)
    assert found is not None
    return found


def every_definition() -> "dict[str, Definition]":
    """All ops of all dialects."""
    for dialect in DIALECTS:
        load(dialect)
    return DEFINITIONS
