"""Drawn models of every form in `generated`, in qrt and in LiteRT. Hazard: rules that agree on every model at hand."""

import os
from importlib.util import find_spec

import pytest

from tests.models.tflite.oracle import ELEMENTS_IN_TESTS, ROWS, compared, forms

pytestmark = [
    pytest.mark.skipif(find_spec("ai_edge_litert") is None, reason="ai-edge-litert is not installed"),
    pytest.mark.skipif(not os.environ.get("QRT_REQUIRE_ORACLE"), reason="it takes minutes: make test-oracle runs it"),
]


@pytest.mark.parametrize(
    ("name", "form", "profile"), [pytest.param(*each, id=f"{each[0]}-{each[2]}") for each in forms()]
)
def test_every_element_is_litert_s(name, form, profile, litert):
    row = compared(name, form, profile, litert, ELEMENTS_IN_TESTS)
    ROWS.append(row)
    assert not row.is_wrong, str(row)
    assert row.elements >= max(ELEMENTS_IN_TESTS, 1), f"{name}: too few elements in {row.cases} models: {row}"
