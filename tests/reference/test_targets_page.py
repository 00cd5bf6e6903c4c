"""The tables of operations in the page of targets. Hazard: an operation that the page does not list."""

from tests.reference import targets_page


def test_the_tables_are_those_of_the_declarations() -> None:
    assert targets_page.PAGE.read_text() == targets_page.page(), "run `make expected`"
