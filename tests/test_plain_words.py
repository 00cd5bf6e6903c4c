"""The linter of words. Hazards: a kind that it never counts, a limit that it does not keep."""

from pathlib import Path

import pytest

from tests import plain_words

PATH = Path("package/reader.py")


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ('"""Readers of files."""', []),
        ('"""What reads files."""', ["docstring"]),
        ('def f():\n    """Return the tokens."""', []),
        ('def f():\n    """The same for tokens."""', ["docstring"]),
        ('def f():\n    """Token by token."""', []),
        ('def f():\n    """Total of all tokens."""', []),
        ('def f():\n    """Return the\n    tokens of a file."""', []),
        (f'class Reader:\n    """{"Reader " * 18}"""', ["docstring"]),
        ("class _Held: ...", ["class"]),
        ("class Holder: ...", []),
        ("def f(said): ...", ["name"]),
        ("for each in range(3): ...", ["name"]),
        ("_kept = found = 1", ["name", "name"]),
        ("print(found)", []),
    ],
)
def test_findings(source: str, kinds: list[str]) -> None:
    assert [finding.kind for finding in plain_words.findings(PATH, source)] == kinds


def test_names_of_modules_are_checked_in_cython_too() -> None:
    assert [str(finding) for finding in plain_words.findings(Path("held.pyx"), "cdef int said")] == [
        "held.pyx:1: module: held"
    ]


def test_more_findings_than_the_limit_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reader.py").write_text("said = 1\ntold = 2\n")
    monkeypatch.setattr(plain_words, "LIMITS", {"name": 2})
    assert plain_words.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "plain words: 2 of 2 name\n"
    monkeypatch.setattr(plain_words, "LIMITS", {"name": 1})
    assert plain_words.main([str(tmp_path)]) == 1
    assert f"{tmp_path}/reader.py:2: name: told" in capsys.readouterr().out
