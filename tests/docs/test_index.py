"""A reader finds any page within two links from docs/index.md."""

import argparse
import re
from importlib import import_module
from pathlib import Path

import pytest

from qrt.ir.pipeline import PASSES
from tests.docs.documents import PAGES, ROOT, blocks, sections, word_count
from tests.docs.walkthrough import steps

INDEX = ROOT / "docs" / "index.md"
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)")
GENERATED = {
    "docs/accuracy.md",
    "docs/performance.md",
    "docs/reference/api.md",
    "docs/reference/dialects/qrt.md",  # its table
    "docs/reference/numpy.md",
    "docs/reference/quantization_rfc.md",
    "docs/reference/onnx.md",
    "docs/reference/requantization.md",
    "docs/reference/tflite.md",
}
"""Pages that a program writes."""
LONG = {
    "docs/internals/runtime.md",
    "docs/lowering.md",
    "docs/numerics.md",
    "docs/numerics_functions.md",
    "docs/numerics_operations.md",
    "docs/reference/kernels/gemm.md",
    "docs/reference/passes.md",
}
"""Pages of more than 1,500 words, to look things up in: contract, forms of the article, GEMM, passes, runtime."""


def linked(page: Path) -> set[Path]:
    """The pages that a page leads to, by links and tables of contents."""
    text = page.read_text()
    listed = [line for body in TOCTREE.findall(text) for line in body.split() if not line.startswith(":")]
    found = {path for pattern in listed for path in beside(page, pattern)}
    return {path for path in found | {(page.parent / link).resolve() for link in LINK.findall(text)} if path in PAGES}


def beside(page: Path, pattern: str) -> list[Path]:
    folder = page.parent
    while pattern.startswith("../"):
        folder, pattern = folder.parent, pattern[3:]
    return list(folder.glob(f"{pattern}.md"))


NEAR = {INDEX} | linked(INDEX)
WITHIN_TWO = NEAR.union(*map(linked, NEAR))


def test_every_page_is_within_two_links() -> None:
    assert [page.relative_to(ROOT).as_posix() for page in PAGES if page not in WITHIN_TWO] == []


@pytest.mark.parametrize(
    "shown",
    [
        lambda text: any("qrt.quantize" in code and "@" in code for code in blocks(text, "python")),
        lambda text: any(step.kind == "command" and step.text.startswith("qrt run") for step in steps(text)),
        lambda text: "Add a pass" in sections(text),
        lambda text: "csrc/rows.def" in text and "csrc/include/qrt" in text,
    ],
    ids=["a quantized matmul", "a program", "a pass", "the design of a kernel"],
)
def test_a_first_one_is_within_two_links(shown) -> None:  # type: ignore[no-untyped-def]
    assert any(shown(page.read_text()) for page in WITHIN_TWO)


def test_pages_are_short() -> None:
    words = {page.relative_to(ROOT).as_posix(): word_count(page.read_text()) for page in PAGES if "docs" in page.parts}
    assert {name for name, count in words.items() if count > 1500} - GENERATED <= LONG


@pytest.mark.parametrize("verb", ["run", "opt", "bench"])
def test_every_option_of_a_command_is_shown(verb: str) -> None:
    parser = argparse.ArgumentParser(prog="qrt", add_help=False)
    import_module(f"qrt.cli.{verb}").add_arguments(parser)
    known = {option for action in parser._actions for option in action.option_strings}
    page = sections((ROOT / "docs" / "reference" / "commands.md").read_text())[f"qrt {verb}"]
    shown = set(re.findall(r"`(--?[a-z][\w-]*)", page))
    assert known - {f"--{name}" for name in PASSES} - {"-o"} == shown - {"-o"}
