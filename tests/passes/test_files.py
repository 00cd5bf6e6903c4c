"""Files beside their expected output; the first line is the pipeline."""

from pathlib import Path

import pytest

from qrt import ir
from qrt.passes import run_passes

FILES = sorted(path for path in (Path(__file__).parent / "files").glob("*.mlir") if ".expected" not in path.name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_passes_as_expected(path):
    text = path.read_text()
    pipeline = text.partition("\n")[0].removeprefix("//").strip()
    module = run_passes(ir.parse(text, path.name), pipeline)
    expected = path.with_suffix(".expected.mlir").read_text()
    assert str(module) == expected
    assert ir.parse(expected) == module
