"""The node tests of the package `onnx`: none differs, and nearly every operator has a form that runs."""

import os

import pytest
from onnx import defs

from qrt.models.onnx.registry import OPERATORS
from tests.models.onnx.node_cases import OUT_OF_SCOPE, collected, missing, outcome

SOME = (
    "col2im",
    "deform_conv",
    "dft",
    "gridsample_bilinear",
    "maxunpool",
    "melweight",
    "roialign",
    "stft",
    "tensorscatter",
)


@pytest.mark.skipif(not os.environ.get("QRT_REQUIRE_ORACLE"), reason="it takes a minute: make test-oracle runs it")
def test_no_case_differs() -> None:
    outcomes = {case.name: outcome(case) for case in collected()}
    assert not {name: text for name, text in outcomes.items() if text.startswith("differs")}
    assert sum(text == "passed" for text in outcomes.values()) >= 1450


def test_cases_of_composed_operators_pass() -> None:
    names = [case for case in collected() if any(word in case.name for word in SOME)]
    refused = [case.name for case in names if outcome(case) not in ("passed", "as the runtime")]
    assert len(names) > 20
    assert refused == ["test_maxunpool_export_with_output_shape"]


def test_most_operators_have_a_form() -> None:
    """Of ONNX's own domain, without those whose values a program does not have."""
    names = {schema.name for schema in defs.get_all_schemas() if not schema.domain} - OUT_OF_SCOPE.keys()
    assert not OUT_OF_SCOPE.keys() & OPERATORS.keys()
    assert len(list(missing())) < 0.08 * len(names)
