"""The operators that LiteRT registers. Hazard: an import of an operator that the page counts as missing, or a name of a
file of another version."""

from importlib.util import find_spec

import pytest

from qrt.models.tflite import schema
from qrt.models.tflite.registry import OPERATORS, PLAIN_OPERATORS
from tests.models.tflite import registered


def test_names_are_those_of_the_schema() -> None:
    names = registered.registered()
    assert names == sorted({*names} & {*schema.operators()})
    assert {"ADD", "STABLEHLO_ADD", "BROADCAST_TO"} <= {*names}


def test_imported_operators_are_registered() -> None:
    """CALL is none of LiteRT's, but of its converter's; custom operators are not in the schema."""
    imported = {*OPERATORS, *PLAIN_OPERATORS} & {*schema.operators()}
    assert imported - {*registered.registered()} == {"CALL"}


@pytest.mark.skipif(find_spec("ai_edge_litert") is None, reason="ai-edge-litert is not installed")
@pytest.mark.parametrize(("name", "is_registered"), [("ADD", True), ("BROADCAST_TO", True), ("CALL", False)])
def test_litert_has_an_operator_of_the_file(name: str, is_registered: bool) -> None:
    assert registered.is_registered(name) is is_registered
