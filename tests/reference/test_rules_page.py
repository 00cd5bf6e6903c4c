"""The page of requantization rules. Hazards: a rule that it does not list, or lists as it was; two rules in one
sentence."""

from qrt import numerics
from tests.docs.documents import sections
from tests.reference import rules_page


def test_the_page_is_what_the_tables_say() -> None:
    assert rules_page.PAGE.read_text() == rules_page.page(), "run `make expected`"


def test_every_rule_has_a_section_and_a_user() -> None:
    by_title = sections(rules_page.page())
    for name in numerics.RULES:
        assert "- Ops: " in by_title[name], name
        assert "- Example: " in by_title[name], name


def test_no_two_rules_have_the_same_words() -> None:
    words = [rules_page.sentence(rule) for rule in numerics.RULES.values()]
    assert len(set(words)) == len(words)
