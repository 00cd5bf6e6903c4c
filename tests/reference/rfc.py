"""The propagation RFC, sentence by sentence, with the tests that hold what each says: quantization_rfc.toml has them,
and `make expected` writes docs/reference/quantization_rfc.md from it.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.docs.documents import ROOT

PAGE = ROOT / "docs" / "reference" / "quantization_rfc.md"
_TABLE = Path(__file__).with_name("quantization_rfc.toml")
_HEAD = """# The propagation RFC

"A Proposal for Implementing Quantization Transformations in MLIR" is a request for comments (RFC) from the MLIR
community. It describes how float programs are annotated, divided into regions that single kernels compute, and
quantized. qrt [implements this proposal](../quantization.md). This page is for readers who know the proposal and want
to see how far qrt implements it.

The first column of each table quotes a sentence of the proposal that specifies behaviour, unchanged. The second column
names the tests of qrt that check this behaviour. All other sentences of the proposal are in
`tests/reference/quantization_rfc.toml`, with the reason why they are not tested.
The [last table](#concepts-that-no-sentence-states) has behaviour that targets and whole programs need, but that no
sentence of the proposal states; its sentences are qrt's own.
"""


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the tests that hold it; or, if it says nothing that a program does, what it is instead."""

    text: str
    tests: tuple[str, ...] = ()
    why: str = ""


def sections() -> dict[str, list[Sentence]]:
    """The sentences in the RFC's order, under our titles."""
    return {
        section["title"]: [
            Sentence(each["text"], tuple(each.get("tests", ())), each.get("why", "")) for each in section["sentence"]
        ]
        for section in tomllib.loads(_TABLE.read_text())["section"]
    }


def concepts() -> list[Sentence]:
    """Return what qrt implements beyond the sentences, each with its tests."""
    return [Sentence(row["text"], tuple(row["tests"])) for row in tomllib.loads(_TABLE.read_text())["concept"]]


def page() -> str:
    parts = [_HEAD]
    for title, sentences in [*sections().items(), ("Concepts that no sentence states", concepts())]:
        held = [sentence for sentence in sentences if sentence.tests]
        if held:
            rows = "".join(f"| {_cell(each.text)} | {'; '.join(map(_named, each.tests))} |\n" for each in held)
            parts.append(f"## {title}\n\n| sentence | tests |\n|---|---|\n{rows}")
    return "\n".join(parts)


def _cell(text: str) -> str:
    """As text of a table, in which no sign is markup."""
    for sign in "\\|<>[]*_%{}":
        text = text.replace(sign, f"\\{sign}")
    return text


def _named(test: str) -> str:
    file, name = test.split("::")
    return f"`{name}` of `{file}`"
