"""JSON of reports. Hazards: a field that is lost or read as another type, an infinity that JSON lacks, a schema that
allows what is not read or forbids what is written, a field that was added without the schema."""

import copy
import json
import math
from collections.abc import Iterator
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt.quantization.report
from qrt.errors import ModelError, QuantValueError
from qrt.quantization.report import FloatOperation, OutputReport, PortReport, RegionReport, Report, Rescale
from qrt.quantization.report.read_json import read_json
from tests.quantization.report.drawn import network
from tests.quantization.report.schema import valid

SCHEMA = json.loads((Path(qrt.quantization.report.__file__).parent / "report.schema.json").read_text())
TABLES = {
    "output": OutputReport, "region": RegionReport, "port": PortReport, "rescale": Rescale, "float": FloatOperation
}  # fmt: skip
NUMBERS = st.floats(allow_nan=False)
COUNTS = st.integers(0, 1 << 40)
HISTOGRAMS = st.dictionaries(st.integers(0, 0xFFFF), st.integers(1, 1 << 60), max_size=4)
TEXTS = st.text(max_size=8)
PORTS = st.builds(
    PortReport, TEXTS, st.sampled_from(("input", "output")), TEXTS, TEXTS, st.booleans(), COUNTS, NUMBERS, NUMBERS,
    COUNTS, HISTOGRAMS, NUMBERS, COUNTS,
)  # fmt: skip
REGIONS = st.builds(
    RegionReport, TEXTS, TEXTS, TEXTS, st.lists(PORTS, max_size=2).map(tuple), NUMBERS, NUMBERS, NUMBERS, COUNTS,
    NUMBERS, COUNTS,
)  # fmt: skip
REPORTS = st.builds(
    Report, TEXTS, TEXTS, COUNTS,
    st.lists(st.builds(OutputReport, TEXTS, NUMBERS, st.none() | NUMBERS), max_size=2).map(tuple),
    st.lists(REGIONS, max_size=2).map(tuple),
    st.lists(st.builds(Rescale, TEXTS, TEXTS, TEXTS, TEXTS), max_size=1).map(tuple),
    st.lists(st.builds(FloatOperation, TEXTS, TEXTS, TEXTS), max_size=1).map(tuple),
    st.lists(TEXTS, max_size=2).map(tuple), COUNTS,
)  # fmt: skip


@settings(max_examples=25)
@given(REPORTS)
def test_a_report_is_read_as_it_was_written(report: Report) -> None:
    text = report.json()
    table = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} : not JSON:"))
    assert valid(SCHEMA, table, SCHEMA)
    read = read_json(text)
    assert read == report
    assert repr(read) == repr(replace(report, regions=tuple(map(sorted_ports, report.regions))))  # -0.0 too
    assert read.json() == text


def sorted_ports(region: RegionReport) -> RegionReport:
    """Histograms are written in the order of bins."""
    ports = (replace(port, histogram=dict(sorted(port.histogram.items()))) for port in region.ports)
    return replace(region, ports=tuple(ports))


def test_the_schema_has_each_field_and_no_other() -> None:
    for kind, schema in [(Report, SCHEMA), *((kind, SCHEMA["$defs"][name]) for name, kind in TABLES.items())]:
        known = [each.name for each in fields(kind)]
        optional = [each.name for each in fields(kind) if (each.default, each.default_factory) != (MISSING, MISSING)]
        assert [name for name in schema["properties"] if name != "version"] == known
        assert [name for name in schema["required"] if name != "version"] == [
            name for name in known if name not in optional
        ]
        assert schema["additionalProperties"] is False


def broken(table: Any, whole: Any) -> Iterator[Any]:
    """The whole, with one value of the table changed, removed or added."""
    items: Any = list(table.items()) if isinstance(table, dict) else list(enumerate(table))
    for key, value in items:
        for other in ("a", 7.5, True, None, [], {}, -1):
            table[key] = other
            yield copy.deepcopy(whole)
        if isinstance(table, dict):
            del table[key]
            yield copy.deepcopy(whole)
            table.clear()
            table.update(items)
        table[key] = value
        if isinstance(value, (dict, list)):
            yield from broken(value, whole)
    if isinstance(table, dict):
        table["other"] = 1
        yield copy.deepcopy(whole)
        del table["other"]


def message(table: Any) -> str | None:
    """What is said against a table; None where it is read."""
    try:
        read_json(json.dumps(table), "r.json")
    except ModelError as error:
        return str(error)
    return None


def test_what_is_read_is_what_the_schema_allows() -> None:
    report = network(1)
    first = report.regions[0]
    port = replace(first.ports[0], histogram={0x3F80: 3, 0xBF80: 1})
    small = replace(report, regions=(replace(first, ports=(port,)),), unmatched=("a",), sampled=64)
    whole = json.loads(small.json())
    messages = [(message(table), valid(SCHEMA, table, SCHEMA)) for table in broken(whole, whole)]
    assert [said for said, allowed in messages if (said is None) != allowed] == []
    refused = [said for said, _ in messages if said is not None]
    assert len(messages) - len(refused) > 50
    assert len(refused) > 300
    assert all(said.startswith("r.json") and len(said.splitlines()) == 1 for said in refused)


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_an_infinity_is_a_string(value: float) -> None:
    report = replace(network(1), outputs=(OutputReport("y", value, None),))
    assert json.loads(report.json())["outputs"] == [{"name": "y", "snr": str(value), "same_answers": None}]


def test_a_nan_is_refused_by_its_place() -> None:
    report = replace(network(1), outputs=(OutputReport("y", math.nan, None),))
    with pytest.raises(QuantValueError, match=r"must not be NaN, but report\.outputs\[0\]\.snr is"):
        report.json()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "r.json: not JSON"),
        ("[" * 100000, "r.json: not JSON"),
        ("[]", r'r.json: expected \{"version": 1, ...\}'),
        ('{"version": 2}', r'r.json: expected \{"version": 1, ...\}'),
        ('{"version": true}', r'r.json: expected \{"version": 1, ...\}'),
        ('{"version": 1}', "r.json: the field function is missing"),
        ('{"version": 1, "rows": NaN}', "r.json: not JSON: NaN is not a JSON number"),
    ],
)
def test_what_is_no_report_is_refused(text: str, said: str) -> None:
    with pytest.raises(ModelError, match=f"^{said}"):
        read_json(text, "r.json")


def test_a_message_names_the_field() -> None:
    table = json.loads(network(1).json())
    table["regions"][0]["ports"][1]["bits"] = "8"
    with pytest.raises(ModelError) as error:
        read_json(json.dumps(table), "r.json")
    assert str(error.value) == "r.json.regions[0].ports[1].bits: expected a count, got '8'"


def test_a_field_that_older_files_lack_has_its_default() -> None:
    table = json.loads(network(1).json())
    del table["unmatched"], table["regions"][0]["ports"][0]["scale"]
    read = read_json(json.dumps(table))
    assert read.unmatched == ()
    assert read.regions[0].ports[0].scale == 0


@pytest.mark.parametrize(("key", "count"), [("65536", 1), ("-1", 1), ("01", 1), ("٤", 1), ("1", 0), ("1", True)])
def test_a_histogram_has_bins_and_counts(key: str, count: int) -> None:
    table = json.loads(network(1).json())
    table["regions"][0]["ports"][0]["histogram"] = {"0": 2, "65535": 1}
    assert message(table) is None
    table["regions"][0]["ports"][0]["histogram"][key] = count
    assert not valid(SCHEMA, table, SCHEMA)
    assert message(table)
