"""The patterns that definitions name. Hazards: a name that no module has, which only a program with the op would tell;
a pattern that no op names, which never runs."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest

import qrt.ir.dialects
from qrt.ir.core.registry import every_definition
from qrt.ir.rewriting.rewrite import canonicalizations

ROOMS = Path(qrt.ir.dialects.__file__).parent
MODULES = sorted(path.relative_to(ROOMS).with_suffix("").as_posix() for path in ROOMS.glob("*/canonicalize*.py"))


def test_every_pattern_that_an_op_names_is_there() -> None:
    for definition in every_definition().values():
        named = [name for entry in definition.canonicalize for name in entry.partition(": ")[2].split()]
        assert len(canonicalizations(definition)) == len(named) == len({*canonicalizations(definition)})


@pytest.mark.parametrize("module", MODULES)
def test_every_pattern_is_one_that_an_op_names(module: str) -> None:
    """A pattern is what takes an operation and a builder; what other patterns are made of has a name with `_`."""
    named = {pattern for definition in every_definition().values() for pattern in canonicalizations(definition)}
    room = import_module(f"qrt.ir.dialects.{module.replace('/', '.')}")
    patterns = {
        name: made
        for name, made in inspect.getmembers(room, inspect.isfunction)
        if made.__module__ == room.__name__ and [*inspect.signature(made).parameters][1:] == ["builder"]
    }
    assert patterns
    assert {name for name, made in patterns.items() if made not in named and name[0] != "_"} == set()
