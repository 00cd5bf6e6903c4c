"""The page of TFLite models. Hazards: an operator or a rule that it does not list, or lists as it was."""

from qrt.models.profiles import PROFILES
from tests.reference import importer_page, tflite_page


def test_the_page_is_what_the_tables_say() -> None:
    assert tflite_page.PAGE.read_text() == tflite_page.page(), "run `make expected`"


def test_every_operator_says_its_forms() -> None:
    without = [names for names, texts in tflite_page.operators() if not "".join(texts).endswith(".")]
    assert without == []


def test_every_name_in_a_profile_is_explained() -> None:
    rows = {row.op for profile in PROFILES.values() if profile.suffix == ".tflite" for row in profile.rows}
    assert rows == set(tflite_page.COMPUTATIONS)
    assert importer_page.conditions(".tflite") == set(tflite_page.CONDITIONS)


def test_a_computation_without_an_explanation_is_an_operator() -> None:
    unexplained = {name.upper() for name, computation in tflite_page.COMPUTATIONS.items() if not computation.text}
    assert unexplained <= {name for names, _ in tflite_page.operators() for name in names}
