"""What qrt does otherwise on purpose, by name: docs/dialects.md, 'Differences', says why.

A difference is no licence. It changes what mlir-opt is asked, or what one of the two has printed, into what the other
means; the two must then agree. `REFUSED_BY_ONE` and `CRASHES` name the few verdicts that nothing can be compared with.
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


def _unsigned_zero_points(text: str, width: int, _: str) -> str:
    return _ZERO_POINT.sub(lambda m: f"{m[1]}{int(m[2], 0) % (1 << width)}", text)


def _wrapped_zero_points(text: str, width: int, _: str) -> str:
    half = 1 << (width - 1)

    def wrapped(match: re.Match[str]) -> str:
        value = (int(match[2], 0) + half) % (1 << width) - half
        return f":{value}" if value else ""

    return _ZERO_POINT.sub(wrapped, text)


def _wide_hexadecimal(text: str, _: int, expressed: str) -> str:
    if expressed == "bf16":
        return re.sub(r"0x([\dA-F]{4})\b", lambda m: _double(struct.unpack(">f", bytes.fromhex(m[1] + "0000"))[0]), text)
    if expressed not in _NARROW_HEX:
        return text
    digits, form = _NARROW_HEX[expressed]
    return re.sub(
        rf"0x([\dA-F]{{{digits}}})\b", lambda m: _double(struct.unpack(form, bytes.fromhex(m[1]))[0]), text
    )


def _double(value: float) -> str:
    return f"0x{struct.pack('>d', value).hex().upper()}"


# -- the rest ----------------------------------------------------------------------------------------------------------


def _maps_in_place(text: str) -> str:
    maps = re.findall(r"^(#map\d*) = (.*)\n", text, re.MULTILINE)
    text = re.sub(r"^#map\d* = .*\n", "", text, flags=re.MULTILINE)
    for name, value in maps:
        text = re.sub(rf"{name}\b", lambda _, value=value: value, text)
    return text


DIFFERENCES = (
    Difference(
        "siN and uiN storage is iN and uN",
        asked=lambda text: re.sub(r"((?:uniform|any)<\s*)(?:s(i\d+)|(u)i(\d+))", r"\1\2\3\4", text),
    ),
    Difference(
        "sub-channel zero points are kept as written",
        asked=_parameters(_unsigned_zero_points),
        ours=_parameters(_wrapped_zero_points),
    ),
    Difference("sub-channel scales in hexadecimal are doubles", theirs=_parameters(_wide_hexadecimal)),
    Difference("affine maps are printed in place", theirs=_maps_in_place),
    Difference(
        "a splat over no elements is printed as nothing",
        theirs=lambda text: re.sub(
            r'dense<[^<>"\[\]]+>( : (?:tensor|vector)<(?:\d+x)*0x)', r"dense<>\1", text
        ),
    ),
)

CRASHES = {
    "f80 and f128 as expressed types": "isRepresentableBy(getSemantics(), semIEEEdouble)",
}
"""Name, and the assertion that ends mlir-opt."""


def _nan_scale(ours: Verdict, theirs: Verdict) -> bool:
    return ours.error.startswith("scale nan out of expressed type range") and bool(theirs.printed)


def _early_alias(ours: Verdict, theirs: Verdict) -> bool:
    return bool(ours.printed) and theirs.error.startswith("undefined symbol alias id")


REFUSED_BY_ONE: dict[str, Callable[[Verdict, Verdict], bool]] = {
    "NaN scales are errors": _nan_scale,
    "aliases may be used before their definition": _early_alias,
}
