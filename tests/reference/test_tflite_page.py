"""The page of TFLite models. Hazards: an operator or a rule that it does not list, or lists as it was."""

from tests.reference import tflite_page


def test_the_page_is_what_the_tables_say() -> None:
    assert tflite_page.PAGE.read_text() == tflite_page.page(), "run `make expected`"


def test_every_operator_says_its_forms() -> None:
    assert [names for names, text in tflite_page.operators() if not text.endswith(".")] == []
