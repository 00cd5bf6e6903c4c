"""What qrt does otherwise on purpose, by name: the pages of dialects that docs/reference/differences.md lists say why.

A difference is no licence. It changes what mlir-opt is asked, or what one of the two has printed, into what the other
means; the two must then agree. `INCOMPARABLE` names the few verdicts of which only one is there.
"""

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

from tests.oracle.verdicts import Verdict

Rewrite = Callable[[str], str]


def _same(text: str) -> str:
    return text


@dataclass(frozen=True)
class Difference:
    """`asked` changes mlir-opt's input; `theirs` and `ours` what is printed."""

    name: str
    asked: Rewrite = _same
    theirs: Rewrite = _same
    ours: Rewrite = _same


# -- sub-channel parameters --------------------------------------------------------------------------------------------

_SUB_CHANNEL = re.compile(
    r"(uniform<\s*[su]?i?(\d+)\s*(?:<[^<>]*>)?\s*:\s*(\w+)\s*:\s*\{[^{}]*\}\s*,\s*)(\{[^<>%]*\})(?=\s*>)"
)
_ZERO_POINT = re.compile(r"(:\s*)(-?(?:0x[\da-fA-F]+|\d+))")
_NARROW_HEX = {"f32": (8, ">f"), "f16": (4, ">e")}


def _parameters(change: Callable[[str, int, str], str]) -> Rewrite:
    """`change(scales and zero points, storage width, expressed type)` of every sub-channel type of a text."""
    return lambda text: _SUB_CHANNEL.sub(lambda m: m[1] + change(m[4], int(m[2]), m[3]), text)


def _wrapped_zero_points(text: str, width: int, _: str) -> str:
    half = 1 << (width - 1)

    def wrapped(match: re.Match[str]) -> str:
        value = (int(match[2], 0) + half) % (1 << width) - half
        return f":{value}" if value else ""

    return _ZERO_POINT.sub(wrapped, text)


def _wide_hexadecimal(text: str, _: int, expressed: str) -> str:
    if expressed == "bf16":
        return re.sub(
            r"0x([\dA-F]{4})\b", lambda m: _double(struct.unpack(">f", bytes.fromhex(m[1] + "0000"))[0]), text
        )
    if expressed not in _NARROW_HEX:
        return text
    digits, form = _NARROW_HEX[expressed]
    return re.sub(rf"0x([\dA-F]{{{digits}}})\b", lambda m: _double(struct.unpack(form, bytes.fromhex(m[1]))[0]), text)


def _double(value: float) -> str:
    return f"0x{struct.pack('>d', value).hex().upper()}"


# -- the rest ----------------------------------------------------------------------------------------------------------


def _maps_in_place(text: str) -> str:
    maps = re.findall(r"^(#map\d*) = (.*)\n", text, re.MULTILINE)
    text = re.sub(r"^#map\d* = .*\n", "", text, flags=re.MULTILINE)
    for name, value in maps:
        text = re.sub(rf"{name}\b", lambda _, value=value: value, text)
    return text


_WIDE_BITS = re.compile(r"0x(?:[\dA-F]{32}|[\dA-F]{20})\b")
_WIDE_DECIMAL = re.compile(r"-?\d\.\d+e[+-]?\d{4,}\b")
"""Numbers beyond the range of doubles."""


def _without_wide_numbers(text: str) -> str:
    return _WIDE_DECIMAL.sub("wide", _WIDE_BITS.sub("wide", text))


DIFFERENCES = (
    Difference(
        "f80 and f128 that are not doubles are printed as bits",
        theirs=_without_wide_numbers,
        ours=_without_wide_numbers,
    ),
    Difference(
        "sub-channel zero points are read as written",
        ours=_parameters(_wrapped_zero_points),
    ),
    Difference(
        "brackets in comments are ignored",
        asked=lambda text: re.sub(r"//[^\n]*[<>(){}\[\]][^\n]*", "", text),
    ),
    Difference("sub-channel scales in hexadecimal are doubles", theirs=_parameters(_wide_hexadecimal)),
    Difference("affine maps are printed in place", theirs=_maps_in_place),
    Difference(
        "a splat without elements is printed as `dense<>`",
        theirs=lambda text: re.sub(r'dense<[^<>"\[\]]+>( : (?:tensor|vector)<(?:\d+x)*0x)', r"dense<>\1", text),
    ),
)


@dataclass(frozen=True)
class Case:
    """A program that one of the two does not print."""

    text: str
    ours: Verdict
    theirs: Verdict


def _nan_scale(case: Case) -> bool:
    accepted = case.theirs.printed or case.theirs.crash == "semantics don't support NaN!"
    return case.ours.error.startswith("scale nan out of expressed type range") and bool(accepted)


def _wide_expressed(case: Case) -> bool:
    crash = case.theirs.crash.startswith("isRepresentableBy(getSemantics(), semIEEEdouble)")
    return crash and re.search(r"\bf(80|128)\b", case.text) is not None


def _wide_zero_point(case: Case) -> bool:
    crash = case.theirs.crash == 'llvm::isUIntN(BitWidth, val) && "Value is not an N-bit unsigned value"'
    text = re.sub(r"//[^\n]*", "", case.text)
    return crash and re.search(r"uniform<[^%]*?:\s*\{[^{}]*\}", text) is not None


def _unsigned_float(case: Case) -> bool:
    return case.theirs.crash == "This floating point format does not support signed values"


def _no_infinity(case: Case) -> bool:
    return bool(case.ours.printed) and case.theirs.crash == "semantics don't support inf!"


def _no_mapping(case: Case) -> bool:
    refused = "has no storage type" in case.ours.error
    return refused and case.theirs.crash == "unexpected quantized type"


def _storage_of_known_sign(case: Case) -> bool:
    refused = re.search(r"the storage type must be an integer, got (si|ui)\d+", case.ours.error)
    return refused is not None and case.theirs.crash == 'result && "builder didn\'t return the right type"'


def _name_in_use(case: Case) -> bool:
    """The name is defined outside of every function, where no line is indented."""
    error = re.match(
        r"redefinition of SSA value '(%.*)'|region entry argument '(%.*)' is already in use", case.theirs.error
    )
    if error is None or not case.ours.printed:
        return False
    return re.search(rf"^{re.escape(error[1] or error[2])}\b.*=", case.text, re.MULTILINE) is not None


def _early_alias(case: Case) -> bool:
    return bool(case.ours.printed) and case.theirs.error.startswith("undefined symbol alias id")


INCOMPARABLE: dict[str, Callable[[Case], bool]] = {
    "NaN scales are errors": _nan_scale,
    "f80 and f128 may be expressed types": _wide_expressed,
    "sub-channel zero points may be negative or beyond the storage type": _wide_zero_point,
    "negative numbers of f8E8M0FNU are NaN": _unsigned_float,
    "infinities saturate in formats that have none": _no_infinity,
    "a cast of a type without scales is an error": _no_mapping,
    "casts of storage of known sign are not lowered": _storage_of_known_sign,
    "aliases may be used before their definition": _early_alias,
    "isolated regions may reuse names from outside": _name_in_use,
}
