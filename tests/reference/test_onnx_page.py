"""The page of ONNX models. Hazards: an operator or a rule that it does not list, or lists as it was."""

from qrt.models.profiles.ort import ORT
from tests.reference import onnx_page


def test_the_page_is_what_the_tables_say() -> None:
    assert onnx_page.PAGE.read_text() == onnx_page.page(), "run `make expected`"


def test_every_operator_says_its_forms() -> None:
    assert [names for names, (text,) in onnx_page.operators() if not text.endswith(".")] == []


def test_every_computation_of_the_profile_is_explained() -> None:
    assert {row.op for row in ORT.rows} == set(onnx_page.COMPUTATIONS)
