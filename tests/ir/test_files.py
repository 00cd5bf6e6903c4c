"""Files beside their expected output: every op in the forms people write."""

from pathlib import Path

import pytest

from qrt import ir
from qrt.ir.core.registry import every_definition

FOLDER = Path(__file__).parent
FILES = sorted(path for path in FOLDER.glob("*.mlir") if path.with_suffix(".expected.mlir").exists())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_prints_as_expected(path):
    module = ir.parse(path.read_text(), filename=path.name)
    module.verify(strict=True)
    expected = path.with_suffix(".expected.mlir").read_text()
    assert str(module) == expected
    assert ir.parse(expected) == module
    assert ir.parse(module.print(generic=True)) == module


def test_the_files_hold_every_op():
    modules = [ir.parse(path.read_text()) for path in FILES]
    found = {operation.name for module in modules for operation in module.operation.walk()}
    assert found == set(every_definition())
