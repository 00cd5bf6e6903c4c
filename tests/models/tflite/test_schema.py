"""The tables of the schema, against the functions that flatc made of it."""

from typing import Any

import pytest
import tflite

from qrt.models.tflite import schema

_KINDS = {
    "?": "Bool", "b": "Int8", "B": "Uint8", "h": "Int16", "H": "Uint16", "i": "Int32", "I": "Uint32", "q": "Int64",
    "Q": "Uint64", "f": "Float32", "d": "Float64",
}  # fmt: skip


class _Recorder:
    """A builder of FlatBuffers that keeps what it is called with."""

    def __init__(self) -> None:
        self.called: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self.called.append((name, arguments))


def _recorded(function: str, *arguments: int) -> tuple[str, tuple[Any, ...]]:
    recorder = _Recorder()
    getattr(tflite, function)(recorder, *arguments)
    return recorder.called[-1]


def _camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


_LATER_TABLES = {"BlockwiseQuantization"}
"""Tables that the package tflite does not have; LiteRT's own accessors do."""
_LATER_TYPES = ("INT2", "UINT4", "FLOAT8_E4M3FN", "FLOAT8_E5M2")


@pytest.mark.parametrize("table", sorted(schema.TABLES.keys() - _LATER_TABLES))
def test_fields_have_the_slots_kinds_and_defaults_of_the_schema(table: str) -> None:
    fields = schema.fields(table)
    assert _recorded(f"{table}Start") == ("StartObject", (len(fields),))
    for slot, field in enumerate(fields):
        if field.name == "_":
            continue
        name = f"{table}Add{_camel(field.name)}"
        method, (at, _, default) = _recorded(name, 1)
        assert at == slot, name
        if field.is_plain:
            assert method == f"Prepend{_KINDS[field.code]}Slot" or field.default is None, name
            assert default == field.default or field.default is None, name
        elif field.enumeration:
            names = schema.enumeration(field.enumeration)
            assert (method, default) == (f"Prepend{_KINDS[field.code]}Slot", names.index(field.default)), name
        else:
            assert method == "PrependUOffsetTRelativeSlot", name
        if field.is_vector:
            method, (size, _, _) = _recorded(f"{table}Start{_camel(field.name)}Vector", 1)
            assert (method, size) == ("StartVector", field.item_size), name


def test_later_parts_of_the_schema_are_those_of_litert() -> None:
    accessors = pytest.importorskip("ai_edge_litert.schema_py_generated")
    _check_values(accessors.TensorType, schema.enumeration("TensorType"))
    _check_values(accessors.QuantizationDetails, schema._union("QuantizationDetails?"))
    for table in _LATER_TABLES:
        recorder = _Recorder()
        getattr(accessors, f"{table}Start")(recorder)
        for slot, field in enumerate(schema.fields(table)):
            getattr(accessors, f"{table}Add{_camel(field.name)}")(recorder, 1)
            method, (at, _, default) = recorder.called[-1]
            assert at == slot
            expected = "PrependUOffsetTRelativeSlot" if field.is_vector else f"Prepend{_KINDS[field.code]}Slot"
            assert (method, default) == (expected, 0)


def test_every_table_of_options_with_fields_is_there() -> None:
    named = {name for name in (*schema._union("BuiltinOptions?"), *schema._union("BuiltinOptions2?")) if name != "NONE"}
    for name in named - schema.TABLES.keys():
        if not name.startswith("Stable"):
            assert _recorded(f"{name}Start") == ("StartObject", (0,)), name


@pytest.mark.parametrize("name", schema._ENUMERATIONS)
def test_enumerations_count_from_zero(name: str) -> None:
    known = tuple(value for value in schema.enumeration(name) if value not in _LATER_TYPES)
    _check_values(getattr(tflite, name), known)


def test_operators_and_unions_have_the_codes_of_the_schema() -> None:
    _check_values(tflite.BuiltinOperator, schema.operators())
    _check_values(tflite.BuiltinOptions, schema._union("BuiltinOptions?"))
    _check_values(tflite.SparseIndexVector, schema._union("SparseIndexVector?"))
    _check_values(tflite.BuiltinOptions2, schema._union("BuiltinOptions2?"))


def _check_values(enumeration: type, names: tuple[str, ...]) -> None:
    values = {name: value for name, value in vars(enumeration).items() if isinstance(value, int)}
    assert values == {name: number for number, name in enumerate(names)}
