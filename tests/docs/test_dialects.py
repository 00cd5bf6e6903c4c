"""docs/reference/dialects shows every type and op, each on its dialect's page, and nothing that is not so."""

import re

import pytest

from qrt import ir
from qrt.ir.core import registry
from qrt.ir.core.registry import definition, every_definition
from qrt.ir.core.traits import EXTENSION
from qrt.numerics.float_text import FORMATS
from qrt.types import FloatType, Type
from tests import mlir_opt
from tests.docs.documents import DIALECTS, blocks, sections

PAGES = {name: page.read_text() for name, page in DIALECTS.items()}
INDEX = sections(PAGES["index"])
EXAMPLES = [
    (name if name in registry.DIALECTS.own else name.partition("_")[0], text)
    for name, page in PAGES.items()
    for text in blocks(page, "mlir")
]
ROWS = [
    line.split(" | ")[-1]
    for title in ("Types", "Types of later versions")
    for line in INDEX[title].splitlines()
    if line.startswith("|")
]
TYPES = [text for row in ROWS for text in re.findall(r"`([^`]+)`", row)]


def declaration(types):
    """A program that says types; those of unknown dialects are read as such."""
    return ir.parse(f"func.func private @f({', '.join(types)})", allow_unregistered=True, upstream=24)


def ops(text):
    return {operation.name for operation in ir.parse(text).operation.walk()}


@pytest.mark.parametrize(("dialect", "text"), EXAMPLES)
def test_an_example_verifies_and_reads_back(dialect, text):
    module = ir.parse(text)
    module.verify(strict=True)
    for generic in (False, True):
        assert ir.parse(module.print(generic=generic)) == module


@pytest.mark.parametrize("dialect", registry.DIALECTS.own)
def test_a_page_shows_every_op_of_its_dialect(dialect):
    shown = set().union(*(ops(text) for page, text in EXAMPLES if page == dialect))
    assert {name for name in every_definition() if name.startswith(f"{dialect}.")} <= shown


def test_an_example_reads_back_as_its_type():
    for text in TYPES:
        module = declaration([text])
        assert ir.parse(str(module), allow_unregistered=True, upstream=24) == module


def kinds(base=Type):
    """The classes of types that have no subclass."""
    for kind in base.__subclasses__():
        yield from kinds(kind) if kind.__subclasses__() else [kind]


def test_every_type_has_an_example():
    shown = declaration(TYPES).functions[0].type.inputs
    assert {type(shown_type) for shown_type in shown} == set(kinds())
    assert {shown_type.name for shown_type in shown if isinstance(shown_type, FloatType)} == set(FORMATS)


@mlir_opt.needed
def test_mlir_opt_reads_what_is_upstreams():
    """One name of an op or an attribute spelled as ours alone would be a page that misleads."""
    upstream = [
        text
        for _, text in EXAMPLES
        if not any(name.startswith("qrt.") or EXTENSION in definition(name).traits for name in ops(text))
    ]
    assert len(upstream) >= len(registry.DIALECTS.own) - 1
    for text in upstream:
        accepted, output = mlir_opt.upstream(text, "--allow-unregistered-dialect")
        assert accepted, output
        assert ir.parse(output) == ir.parse(text)


def test_what_is_not_supported_is_listed():
    """The tables are what errors go by."""
    listed = {}
    for dialect, page in PAGES.items():
        for line in sections(page).get("Not supported", "").splitlines():
            if line.startswith("| `"):
                names, reason = line.strip("| ").split(" | ")
                assert reason
                listed.setdefault(dialect, []).extend(re.findall(r"`([^`]+)`", names))
    assert {dialect: sorted(names) for dialect, names in listed.items()} == {
        dialect: sorted(names.split()) for dialect, names in registry.UNSUPPORTED_OPS.items()
    }
    dialects = INDEX["Dialects that are not supported"].strip().splitlines()[-1]
    assert sorted(re.findall(r"`([^`]+)`", dialects)) == sorted(registry.UNSUPPORTED_DIALECTS)
