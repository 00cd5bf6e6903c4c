"""The list of changes. Hazard: a change whose place is gone, which would test nothing."""

import ast
from pathlib import Path

import pytest

from tests.quantization.calibration.mutations import CHANGES, TESTS
from tests.source_changes import changed


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change[0]}: {change[1].strip()[:40]}")
def test_each_change_has_its_place(change: tuple[str, str, str]) -> None:
    ast.parse(changed(*change))
    assert Path(change[0]).stem in TESTS
