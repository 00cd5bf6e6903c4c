"""The changes that `python -m tests.quantization.scaling.mutations` makes. Hazard: a line that is written
otherwise now, and a change that is made nowhere from then on."""

import pytest

from tests.quantization.scaling.mutations import CHANGES
from tests.source_changes import changed


@pytest.mark.parametrize(("file", "old", "new"), CHANGES)
def test_a_change_has_its_place(file, old, new):
    changed(file, old, new)  # raises where the text does not stand there once
