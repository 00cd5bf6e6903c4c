"""The changes that `python -m tests.formats.mutations` makes. Hazard: a file or a line that is renamed, and a change
that is made nowhere from then on, which is seen when somebody next runs it."""

import pytest

from tests.formats.mutations import FORMS
from tests.formats.tflite.oracle import forms
from tests.source_changes import changed


@pytest.mark.parametrize(("file", "old", "new"), FORMS)
def test_a_change_has_its_place(file, old, new):
    changed(file, old, new)  # raises where the text does not stand there once


def test_each_word_begins_the_name_of_a_form():
    names = {name for name, _, _ in forms()}
    words = {word for words in FORMS.values() for word in words}
    assert not [word for word in words if not any(name.startswith(word) for name in names)]
