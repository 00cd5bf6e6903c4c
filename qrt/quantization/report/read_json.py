"""The parser of reports in JSON. Each field must have the type of the attribute of the same name."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from qrt.errors import ModelError, shown
from qrt.quantization.report.as_json import VERSION
from qrt.quantization.report.report import Report

_INFINITIES = {"inf": float("inf"), "-inf": float("-inf")}
_NAMES = {str: "a string", int: "a count", float: 'a number, "inf" or "-inf"', bool: "true or false"}
_hints = cache(get_type_hints)


def read_json(text: str, where: str = "report") -> Report:
    """Parse a JSON report. The result equals the report that was written.

    Parameters
    ----------
    text : str
        The text of ``as_json``.
    where : str, default "report"
        The prefix of messages, such as the name of the file.

    Returns
    -------
    Report

    Raises
    ------
    ModelError
        If the text is not JSON or has another version, or a field is missing, unknown, or has the wrong type.
    """
    try:
        table = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{where}: not JSON: {error}") from None
    if not isinstance(table, dict) or table.get("version") != VERSION or isinstance(table["version"], bool):
        raise ModelError(f'{where}: expected {{"version": {VERSION}, ...}}')
    report: Report = _read(Report, {name: value for name, value in table.items() if name != "version"}, where)
    return report


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _read(kind: Any, value: Any, where: str) -> Any:
    """Convert a JSON value to the type ``kind`` of a field; raise ModelError, with ``where``, if this is impossible."""
    if is_dataclass(kind):
        return _read_table(kind, value, where)
    arguments = get_args(kind)
    if get_origin(kind) is Literal:
        return value if value in arguments else _fail(where, " or ".join(map(json.dumps, arguments)), value)
    if NoneType in arguments:
        return None if value is None else _read(arguments[0], value, where)
    if get_origin(kind) is tuple:
        if not isinstance(value, list):
            _fail(where, "a list", value)
        return tuple(_read(arguments[0], item, f"{where}[{index}]") for index, item in enumerate(value))
    if get_origin(kind) is Mapping:
        return _read_histogram(value, where)
    if kind is float and isinstance(value, str) and value in _INFINITIES:
        return _INFINITIES[value]
    if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53:
        return float(value)
    return value if type(value) is kind and (kind is not int or value >= 0) else _fail(where, _NAMES[kind], value)


def _read_table(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        _fail(where, "a table", value)
    known = {attribute.name: attribute for attribute in fields(kind)}
    for name in value:
        if name not in known:
            raise ModelError(f"{where}: unknown field {shown(name)}: the fields are {', '.join(known)}")
    for name, attribute in known.items():
        if name not in value and attribute.default is MISSING and attribute.default_factory is MISSING:
            raise ModelError(f"{where}: the field {name} is missing")
    hints = _hints(kind)
    return kind(**{name: _read(hints[name], attribute, f"{where}.{name}") for name, attribute in value.items()})


def _read_histogram(value: Any, where: str) -> dict[int, int]:
    if not isinstance(value, dict):
        _fail(where, "a table", value)
    for key, count in value.items():
        if not (key.isascii() and key.isdigit() and str(int(key)) == key and int(key) < 1 << 16):
            _fail(where, "an integer of 16 bits, in decimal", key)
        if type(count) is not int or count < 1:
            _fail(f"{where}.{key}", "a count", count)
    return {int(key): count for key, count in value.items()}


def _fail(where: str, wanted: str, value: Any) -> Any:
    raise ModelError(f"{where}: expected {wanted}, got {shown(value)}")
