"""Every sentence of the propagation RFC is mapped to tests that exist. Hazard: a sentence that nobody holds."""

import ast
from functools import cache

import pytest

from tests.docs.documents import ROOT
from tests.reference import rfc

SENTENCES = [sentence for sentences in rfc.sections().values() for sentence in sentences]
RFC = ROOT.parent / "shared" / "reference" / "quantization-rfc.txt"


@cache
def functions(file):
    return {node.name for node in ast.parse((ROOT / file).read_text()).body if isinstance(node, ast.FunctionDef)}


def test_the_tests_exist():
    named = {test for sentence in [*SENTENCES, *rfc.concepts()] for test in sentence.tests}
    assert named
    missing = [test for test in sorted(named) if test.split("::")[1] not in functions(test.split("::")[0])]
    assert missing == []


def test_a_sentence_has_tests_or_says_what_it_is_instead():
    assert [each.text for each in SENTENCES if bool(each.tests) == bool(each.why)] == []


def test_the_page_is_up_to_date():
    assert rfc.PAGE.read_text() == rfc.page()


@pytest.mark.skipif(not RFC.exists(), reason="the text of the RFC does not stand beside this checkout")
def test_the_sentences_are_those_of_the_rfc():
    """All of them, in order. Hazard: one that was left out because it is hard."""
    text = " ".join(RFC.read_text().replace("•", " ").split())
    end = 0
    between = []
    for sentence in SENTENCES:
        start = text.find(" ".join(sentence.text.split()), end)
        assert start >= 0, sentence.text
        between.append(text[end:start].strip())
        end = start + len(" ".join(sentence.text.split()))
    assert [words for words in [*between, text[end:].strip()] if words] == []
