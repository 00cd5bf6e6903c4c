"""Files beside their expected output, which `make expected` writes: every op in the forms people write."""

from importlib import import_module

import pytest

from qrt import ir
from qrt.ir.core.registry import DIALECTS, every_definition
from tests.expected import PRINTED, SUFFIX, printed


@pytest.mark.parametrize("path", PRINTED, ids=lambda path: path.name)
def test_prints_as_expected(path):
    module = printed(path)
    expected = path.with_suffix(SUFFIX).read_text()
    assert str(module) == expected
    assert ir.parse(expected) == module
    assert ir.parse(module.print(generic=True)) == module


def test_the_files_hold_every_op():
    modules = [ir.parse(path.read_text()) for path in PRINTED]
    found = {operation.name for module in modules for operation in module.operation.walk()}
    assert found == set(every_definition())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_table_of_files_says_the_ops_of_each(dialect):
    """An op that its table leaves out, or has in another file, would be unknown until all of the dialect is loaded."""
    table = getattr(import_module(f"qrt.dialects.{dialect}"), "FILES", {})
    for file, names in table.items():
        ops = import_module(f"qrt.dialects.{dialect}.{file}").OPS
        assert sorted(op.name for op in ops) == sorted(f"{dialect}.{name}" for name in names.split())
