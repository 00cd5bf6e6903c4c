"""The page of the operations of targets. Hazard: an operation that the page does not list."""

from tests.reference import targets_page


def test_the_page_is_what_the_declarations_say() -> None:
    assert targets_page.PAGE.read_text() == targets_page.page(), "run `make expected`"
