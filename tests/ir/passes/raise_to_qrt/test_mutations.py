"""The list of deleted conditions names texts of the source as it is."""

import pytest

from tests.ir.passes.raise_to_qrt.mutations import CHANGES
from tests.source_changes import changed


@pytest.mark.parametrize("change", CHANGES, ids=[f"{file}: {old}" for file, old, _ in CHANGES])
def test_every_change_applies(change: tuple[str, str, str]) -> None:
    assert changed(*change)
