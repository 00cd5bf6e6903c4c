"""Files beside their expected output, which `make expected` writes: every op in the forms people write."""

import pytest

from qrt import ir
from qrt.ir.core.registry import every_definition
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
