"""Files beside their expected output, which `make expected` writes; the first line is the pipeline."""

import pytest

from qrt import ir
from tests.expected import PASSED, SUFFIX, passed


@pytest.mark.parametrize("path", PASSED, ids=lambda path: path.name)
def test_passes_as_expected(path):
    module = passed(path)
    expected = path.with_suffix(SUFFIX).read_text()
    assert str(module) == expected
    assert ir.parse(expected) == module
