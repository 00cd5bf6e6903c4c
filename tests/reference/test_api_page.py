"""The page of the public names. Hazards: docstrings that have changed since the page was written, a missing name."""

import inspect

import pytest

import qrt
from tests.reference import api_page


def test_the_pages_are_what_the_docstrings_say() -> None:
    pages = api_page.pages()
    assert {path: path.read_text() for path in pages} == pages, "run `make expected`"
    assert set(api_page.FOLDER.glob("*.md")) == set(pages) - {api_page.PAGE}


@pytest.mark.parametrize("module", api_page.MODULES, ids=lambda module: module.__name__)
def test_every_name_has_an_entry(module) -> None:  # type: ignore[no-untyped-def]
    text = api_page.section(module)
    for name in module.__all__:
        value = getattr(module, name)
        if name != "__version__" and not inspect.ismodule(value):
            heading = f"### {module.__name__}.{name}\n" if isinstance(value, type) else f"`{module.__name__}.{name}("
            assert heading in text, name


def test_a_field_that_holds_a_class_is_no_member() -> None:
    assert "operation_class" not in dict(api_page.members(qrt.ir.Definition))


def test_no_first_sentence_has_a_role_of_sphinx() -> None:
    """Hazard: a forge shows ":func:`name`" as it is."""
    assert ":`" not in api_page.pages()[api_page.PAGE]


def test_a_signature_has_defaults_and_no_annotations() -> None:
    assert api_page.signature(qrt.dcast) == "(q, *, out=None)"
    assert api_page.signature(qrt.parse_type) == "(text, upstream=22, *, kind=Type)"
    assert api_page.signature(qrt.QuantTensor.equals, is_member=True) == "(other)"
    assert api_page.signature(qrt.errors.Position) == ""


@pytest.mark.parametrize(
    ("docstring", "line"),
    [
        ("Return ``a``. Raise\nan error.", "Return `a`."),
        ("Return the sum\nof two\n\nparagraphs.", "Return the sum of two"),
        ("Return e.g. a name of docs/numerics.md, v1.5.", "Return e.g. a name of docs/numerics.md, v1.5."),
    ],
)
def test_a_summary_is_the_first_sentence(docstring: str, line: str) -> None:
    def function() -> None: ...

    function.__doc__ = docstring
    assert api_page.summary(function) == line
