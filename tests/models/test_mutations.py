"""The changes that `python -m tests.models.mutations` makes. Hazard: a file or a line that is renamed, and a change
that is made nowhere from then on, which is seen when somebody next runs it."""

import pytest

from tests.models.mutations import STORED
from tests.models.onnx import oracle as onnx
from tests.models.tflite import oracle as tflite
from tests.source_changes import changed


@pytest.mark.parametrize(("file", "old", "new"), [change for forms in STORED.values() for change in forms])
def test_a_change_has_its_place(file, old, new):
    changed(file, old, new)  # raises where the text does not stand there once


@pytest.mark.parametrize(("module", "oracle"), list(zip(STORED, (tflite, onnx), strict=True)))
def test_each_word_begins_the_name_of_a_form(module, oracle):
    names = {name for name, *_ in oracle.forms()}
    words = {word for words in STORED[module].values() for word in words}
    assert not [word for word in words if not any(name.startswith(word) for name in names)]


def test_no_change_is_there_twice():
    """`caught` finds the forms of a change by what the changed file says."""
    changes = [change for forms in STORED.values() for change in forms]
    assert len(set(changes)) == len(changes)
