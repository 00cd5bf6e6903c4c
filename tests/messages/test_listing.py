"""The list of all messages is up to date, and its messages are in plain words. Hazards: a message that nobody has read
as its reader would, and words that only their author understands."""

import re

import pytest

from tests.messages import listing

BAD_FORMS = {
    r"(?<!there )\b(?:is|are|be) no\b(?! greater)": "is not a ...",
    r"\bis none of\b": "must be one of ..., got ...",
    r"\bnot said\b|\bsaid in\b": "cannot be expressed in ..., has no ...",
    r"\{len\([^{}]*\)\} forms?\b": "qrt.errors.plural(count, noun)",
    r"\bonly the run knows\b": "known only at run time",
    r"\bopen dimension": "dynamic dimension",
    r"\bdo(?:es)? not go (?:with|together)\b": "do not match",
    r"\b(?:are|is) not among\b": "is out of range",
    r"\bnobody\b": "no type can be chosen for ...",
    r"\bfrom [01] up\b": "non-negative, positive",
    r"\b64 bits do not hold\b|\bi32 does not hold\b": "overflows",
    r"\bexpress(?:es)? different\b": "have different expressed types",
    r"\bits like\b|\bof its own like\b": "the word that is meant",
    r"\bwhich is not read\b|\bwhich are not read\b": "which is not supported",
    r"\bwith?out end\b(?!: after)": "recursively",
    r"\bnot upstream's\b": "does not exist upstream",
    r"\bunlike \{": "got {...}",
}
"""Forms that messages must not have, and what to write instead."""


def test_the_list_is_up_to_date() -> None:
    assert listing.PATH.read_text() == listing.page(), "run `python -m tests.expected`, and read what has changed"


@pytest.mark.parametrize("form", BAD_FORMS)
def test_no_message_has_a_bad_form(form: str) -> None:
    lines = listing.PATH.read_text().splitlines()
    bad = [line for line in lines if re.search(form, line.partition(": ")[2])]
    assert not bad, f"write {BAD_FORMS[form]!r}:\n" + "\n".join(bad)


@pytest.mark.parametrize("form", BAD_FORMS)
def test_each_form_is_one_that_it_forbids(form: str) -> None:
    """An expression that matches nothing would forbid nothing."""
    examples = (
        "x is no float", "it is none of a, b", "2 forms are not said in ONNX", "{len(a)} forms of it",
        "a size that only the run knows", "an open dimension", "sizes do not go together", "{i} is not among {n}",
        "nobody decides it", "an integer from 0 up", "64 bits do not hold the sum", "express different types",
        "others of its like", "which is not read", "calls itself without end", "'x' is not upstream's", "unlike {low}",
    )  # fmt: skip
    assert any(re.search(form, example) for example in examples)
