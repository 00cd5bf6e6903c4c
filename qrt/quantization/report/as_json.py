"""A report as JSON. Its schema is ``report.schema.json`` beside this file; docs/reference/report.md explains it.

Each field is named like the attribute of the report. JSON has no infinity, so an infinite number is the string "inf" or
"-inf". No number is NaN.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isinf, isnan
from typing import Any

from qrt.errors import QuantValueError
from qrt.quantization.report.model import ReportFigures

VERSION = 1
"""The version of the schema. It increases when a field is removed or changes its meaning, not when one is added."""


def as_json(report: ReportFigures) -> str:
    """Return the report as JSON text, with one line for each region."""
    table = {"version": VERSION, **_plain(report, "report")}
    lines = [f"{json.dumps(name)}: {_lines(value)}" for name, value in table.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"
    return json.dumps(value)


def _plain(value: Any, where: str) -> Any:
    """Return a part of a report as a value for `json.dumps`; ``where`` names the part in an error."""
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name), f"{where}.{item.name}") for item in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {str(key): value[key] for key in sorted(value)}
    if isinstance(value, float):
        if isnan(value):
            raise QuantValueError(f"the numbers of a report must not be NaN, but {where} is")
        return str(value) if isinf(value) else value
    return value
