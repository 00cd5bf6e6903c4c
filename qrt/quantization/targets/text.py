"""The reader of targets in TOML (docs/reference/targets.md)."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Literal, cast

from qrt.errors import ModelError, QuantError, QuantTypeError, shown
from qrt.ops import FAMILIES
from qrt.ops.declare import Constraint
from qrt.quantization.targets.declared import declared_tables
from qrt.quantization.targets.kernel import CONSTRAINTS, QuantFn, TargetKernel, TargetPort
from qrt.types import UniformType, parse_type

_TARGET_KEYS: dict[str, tuple[type, str]] = {
    "name": (str, "text"),
    "coarser_bias": (bool, "true or false"),
    "rescale_cost": (float, "a number of bits"),
    "operations": (dict, "a table, [operations]"),
    "kernel": (list, "tables, [[kernel]]"),
}
_KERNEL_KEYS: dict[str, tuple[type, str]] = {
    "name": (str, "text"),
    "constraint": (str, "text"),
    "constrained": (list, "names of ports"),
    "ports": (dict, "a table of ports"),
    "outputs": (list, "names of ports"),
    "multiplier": (list, "two numbers"),
    "default": (dict, "a table of ports"),
    "pattern": (str, "the name of a kernel of qrt"),
}
_STORAGE = re.compile(r"(\*|[a-zA-Z]\w*)(?:<(-?\d{1,10}):(-?\d{1,10})>)?", re.ASCII)
_AXIS = re.compile(r"axis=(-?\d{1,3})", re.ASCII)
_LAYOUT = re.compile(r"layout=(\d(?:,\d)*)", re.ASCII)
_BLOCKS = re.compile(r"blocks=(\d{1,3}:\d{1,9}(?:,\d{1,3}:\d{1,9})*)", re.ASCII)


def read_table(text: str, where: str) -> tuple[str | None, tuple[TargetKernel, ...], dict[str, Any]]:
    """Parse the TOML text of a target. Return its name or None, its kernels, and its options by name.

    The options are ``coarser_bias`` and ``rescale_cost``, if given. ``where`` is the prefix of messages. Raises
    ModelError that names the table, the key and the accepted values.
    """
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ModelError(f"{where}: not TOML: {error}") from None
    _check_keys(table, _TARGET_KEYS, where)
    kernels: list[TargetKernel] = []
    for number, entry in enumerate(table.get("kernel", []), 1):
        place = f"{where}: [[kernel]] number {number}"
        if not isinstance(entry, dict):
            raise ModelError(f"{place}: expected a table, got {shown(entry)}")
        kernels += signatures(entry, f"{place} ({shown(entry['name'])})" if "name" in entry else place)
    if "operations" in table:
        place = f"{where}: [operations]"
        for entry in declared_tables(table["operations"], {kernel.name for kernel in kernels}, place):
            kernels += signatures(entry, f"{place} ({shown(entry['name'])})")
    if not kernels:
        raise ModelError(f"{where}: a target needs at least one [[kernel]] table, or [operations]")
    if not table.get("rescale_cost", 0.0) >= 0:
        raise ModelError(
            f"{where}: rescale_cost must be a non-negative number of bits, got {shown(table['rescale_cost'])}"
        )
    options: dict[str, Any] = {key: table[key] for key in ("coarser_bias", "rescale_cost") if key in table}
    return table.get("name"), tuple(kernels), options


def _check_keys(table: Mapping[str, Any], keys: Mapping[str, tuple[type, str]], where: str) -> None:
    for key, value in table.items():
        if key not in keys:
            raise ModelError(f"{where}: unknown key {shown(key)}: the keys are {', '.join(keys)}")
        kind, wanted = keys[key]
        if not isinstance(value, kind):
            raise ModelError(f"{where}: {key} must be {wanted}, got {shown(value)}")


def signatures(
    table: Mapping[str, Any], where: str, constraints: tuple[Constraint | QuantFn, ...] | None = None
) -> Sequence[TargetKernel]:
    """Return the signatures that a `[[kernel]]` table describes: one for each combination of its ports' storage types.

    ``where`` is the prefix of messages. ``constraints``, unless None, are used instead of the table's key
    ``constraint``.
    """
    _check_keys(table, _KERNEL_KEYS, where)
    for key in ("name", "ports"):
        if not table.get(key):
            raise ModelError(f"{where}: {key} must be given")
    constraints = constraints or (table.get("constraint", "free"),)
    for constraint in constraints:
        if not callable(constraint) and constraint not in CONSTRAINTS:
            raise ModelError(
                f"{where}: constraint must be one of {', '.join(CONSTRAINTS)}, got {shown(constraint)}: "
                "give a function of one's own in Python, with qrt.quantization.targets.register_target"
            )
    pattern = table.get("pattern")
    if pattern is not None and pattern not in FAMILIES:
        raise ModelError(f"{where}: pattern must be the name of a kernel of qrt, got {shown(pattern)}")
    choices = [_choices(key, text, f"{where}: ports") for key, text in table["ports"].items()]
    outputs = _names(table, "outputs", where, [port.name for port, *_ in choices], ["y"])
    constrained = _names(table, "constrained", where, [port.name for port, *_ in choices], [])
    default = {key: _port(key, text, f"{where}: default") for key, text in table.get("default", {}).items()}
    try:
        return [
            TargetKernel(
                table["name"],
                tuple(port for port in ports if port.name not in outputs),
                tuple(port for name in outputs for port in ports if port.name == name),
                constraints[0] if len(constraints) == 1 else constraints,
                tuple(constrained),
                _multiplier(table, where),
                default,
                pattern,
            )
            for ports in _combined(choices, where, is_joint="same_scale" in constraints)
        ]
    except QuantTypeError as error:
        raise ModelError(f"{where}: {error}") from None


def _names(table: Mapping[str, Any], key: str, where: str, known: list[str], default: list[str]) -> list[str]:
    names: list[str] = table.get(key, default)
    for name in names:
        if name not in known:
            raise ModelError(f"{where}: {key} names {shown(name)}, expected one of the ports {', '.join(known)}")
    return names


def _combined(choices: list[list[TargetPort]], where: str, *, is_joint: bool) -> Sequence[tuple[TargetPort, ...]]:
    """Return the combinations of one port from each list; the ports of the last list vary fastest.

    With ``is_joint``, all ports must have one type. The number of combinations is then that of a list, and combination
    i has the i-th port of each list.
    """
    if not is_joint:
        return list(product(*choices))
    count = max(map(len, choices))
    if any(len(ports) not in (1, count) for ports in choices):
        raise ModelError(f"{where}: ports: with same_scale all lists must have the same number of storages")
    return list(zip(*(ports * count if len(ports) == 1 else ports for ports in choices), strict=True))


def _multiplier(table: Mapping[str, Any], where: str) -> tuple[float, float]:
    ends = table.get("multiplier", [0.0, float("inf")])
    if len(ends) != 2 or any(isinstance(end, bool) or not isinstance(end, int | float) for end in ends):
        raise ModelError(f"{where}: multiplier must be two numbers, got {shown(ends)}")
    try:
        return float(ends[0]), float(ends[1])
    except OverflowError:
        raise ModelError(f"{where}: multiplier exceeds the range of float64: write inf") from None


def _choices(key: str, text: Any, where: str) -> list[TargetPort]:
    texts = text if isinstance(text, list) and text else [text]
    return [_port(key, storage, where) for storage in texts]


def _port(key: str, text: Any, where: str) -> TargetPort:
    """Return the port that an entry of a table describes, such as ``x = "i8<-127:127> axis=0"``.

    ``key`` is the name of the port; a final ``?`` marks an optional port, and a final ``*`` any number of ports.
    """
    size = cast(Literal["", "?", "*"], key[-1:] if key[-1:] in ("?", "*") else "")
    name = key.removesuffix(size)
    place = f"{where}: {shown(key)}"
    if not name.isidentifier():
        raise ModelError(f"{place} is not a valid port name: expected letters and digits, then optionally ? or *")
    if not isinstance(text, str):
        raise ModelError(f"{place} must be text such as 'i8' or '*', got {shown(text)}")
    try:
        if text.startswith("!"):
            return TargetPort(name, given=parse_type(text, kind=UniformType), size=size)
        return TargetPort(name, size=size, **_parts(text))
    except QuantError as error:
        message = (
            error.args[0] if error.args else error
        )  # without a ParseError's caret, which points into the type's text
        raise ModelError(f"{place} is {shown(text)}: {message}") from None


def _parts(text: str) -> dict[str, Any]:
    """Parse the text of a port, such as `i8<-127:127> axis=0 symmetric`; return the keyword arguments of TargetPort."""
    storage, *options = text.split() or [""]
    match = _STORAGE.fullmatch(storage)
    if match is None:
        raise QuantTypeError("expected a storage such as 'i8', 'i8<-127:127>', 'f32' or '*'")
    parts: dict[str, Any] = {"storage": match[1]}
    if match[2] is not None:
        parts |= {"low": int(match[2]), "high": int(match[3])}
    for option in options:
        if (axis := _AXIS.fullmatch(option)) is not None:
            parts["axis"] = int(axis[1])
        elif (blocks := _BLOCKS.fullmatch(option)) is not None:
            parts["blocks"] = {int(a): int(s) for a, s in (pair.split(":") for pair in blocks[1].split(","))}
        elif (layout := _LAYOUT.fullmatch(option)) is not None:
            parts["layout"] = tuple(map(int, layout[1].split(",")))
        elif option == "symmetric":
            parts["symmetric"] = True
        else:
            raise QuantTypeError(f"expected axis=0, blocks=0:32,1:1, layout=0,3,1,2 or symmetric, got {shown(option)}")
    return parts
