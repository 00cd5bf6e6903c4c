"""Drawn models of every form against LiteRT's results in `stored.txt`. Hazard: a changed rule that nobody notices
without LiteRT. The plain references run: other tests hold kernels and lowerings to them."""

import pytest

from tests.models.stored import Line, kept, wanted
from tests.models.tflite.oracle import forms
from tests.models.tflite.stored import FURTHER, differences, drawn, lines, ours


@pytest.mark.parametrize("line", lines(), ids=lambda line: f"{line.name}-{line.number}")
def test_results_are_litert_s(line: Line) -> None:
    assert not differences(line, interpret=True)


def test_every_form_and_profile_has_a_line() -> None:
    expected = wanted(((name, profile) for name, _, profile in forms()), FURTHER)
    assert {(line.name, line.number, profile) for line in lines() for profile in line.results} == expected


def test_a_changed_result_is_noticed() -> None:
    """One unit of one integer, and some more of a float than it may lie apart."""
    for name in ("ADD i8", "DEQUANTIZE i8"):
        line = next(line for line in lines() if line.name.startswith(name))
        form = next(form for name, form, _ in forms() if name == line.name)
        results = ours(drawn(line.name, form, line.number), "litert", interpret=True)
        assert kept(results) == line.results["litert"]
        results[0][0] = results[0][0].copy()
        results[0][0].flat[0] += 1
        changed = Line(line.name, line.number, line.digest, {"litert": kept(results)})
        assert differences(changed, interpret=True) == ["litert"]
