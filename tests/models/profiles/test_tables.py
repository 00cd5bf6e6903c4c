"""The tables of profiles. Hazards: a row that no node can reach, or a rule that nothing computes, in a table that is
data."""

import pytest

from qrt.errors import QuantTypeError
from qrt.models.profiles import PROFILES, Profile, Range, Row, profile


def test_the_first_row_that_applies_decides() -> None:
    rows = (Row("add", "near", {"ratio": Range(0.5, 2.0), "storage": ("i8", "u8")}), Row("add", "far"))
    mine = Profile("mine", "mine 1.0", "", rows)

    def rule(**facts: object) -> str | None:
        row = mine.find("add", **facts)
        return None if row is None else row.rule

    assert rule(ratio=0.5, storage="i8") == "near"
    assert rule(ratio=2.0, storage="i8") == "far"
    assert rule(ratio=1.0, storage="i16") == "far"
    assert rule(ratio=1.0) == "far"  # a fact that is not known fulfils no condition


@pytest.mark.parametrize("name", PROFILES)
def test_no_row_hides_another(name: str) -> None:
    for rows in PROFILES[name].by_op.values():
        for i, row in enumerate(rows):
            assert not any(earlier.when == {} or earlier.when == row.when for earlier in rows[:i]), row


def test_an_unknown_profile_is_named() -> None:
    with pytest.raises(QuantTypeError, match="did you mean 'litert-ref'"):
        profile("litert_ref")
