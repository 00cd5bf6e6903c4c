"""The words of csrc/. Hazard: two words for one thing, or one that was replaced and comes back with the next file."""

import re

import pytest

from tests.docs.documents import ROOT, sections

TEXT = (ROOT / "docs" / "internals" / "glossary.md").read_text()
CSRC = ROOT / "csrc"
FILES = {path: path.read_text() for path in sorted(CSRC.rglob("*")) if path.suffix in (".c", ".h", ".inl", ".def")}
TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*", re.DOTALL)


def rows(text: str) -> list[list[str]]:
    """The cells of a table's rows, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


WORDS = [word for row in rows(TEXT.partition("\n## ")[0]) for word in re.findall(r"`(\w+)`", row[0])]
REPLACED = {row[0].strip("`"): re.findall(r"`(\w+)`", row[1]) for row in rows(sections(TEXT)["Replaced words"])}


def identifiers(code: str) -> set[str]:
    """The names in C code, macros among them: neither comments nor strings."""
    return {token for token in TOKEN.findall(code) if token[0].isalpha() or token[0] == "_"}


def parts(name: str) -> str:
    """A name's parts between underscores, with one before and one behind; a number at the end of a part is dropped."""
    return "".join(f"_{re.sub(r'(?<=[a-z])[0-9]+$', '', part)}" for part in name.lower().split("_")) + "_"


NAMES = {path: {name: parts(name) for name in identifiers(code)} for path, code in FILES.items()}


def test_names_are_found_in_code_alone() -> None:
    code = '/* a_terms */ int b_terms; // c_terms\nx("d_terms \\" e_terms", \'f\'); #define G_TERMS2 terminals\n'
    names = identifiers(code)
    assert names == {"int", "b_terms", "x", "define", "G_TERMS2", "terminals"}
    assert [name for name in sorted(names) if "_terms_" in parts(name)] == ["G_TERMS2", "b_terms"]


def test_the_tables_are_read() -> None:
    assert len(WORDS) == len(set(WORDS)) > 30
    assert len(REPLACED) > 5
    assert not REPLACED.keys() & set(WORDS)
    assert {word for now in REPLACED.values() for word in now} <= set(WORDS)


@pytest.mark.parametrize("word", REPLACED)
def test_no_name_has_a_replaced_word(word: str) -> None:
    found = {
        str(path.relative_to(CSRC)): sorted(name for name, text in names.items() if f"_{word}_" in text)
        for path, names in NAMES.items()
    }
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_the_table_is_used(word: str) -> None:
    assert any(f"_{word}_" in text or f"_{word}s_" in text for names in NAMES.values() for text in names.values())
