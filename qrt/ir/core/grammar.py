"""Regular expressions for common spellings of an operation's parts: types, signatures, attributes, SSA names.

The parser tries these expressions first, for speed. They match types with up to three levels of angle brackets. The
recursive-descent parser reads all other types and spellings.
"""

import re
from dataclasses import dataclass

from qrt.types.scanner import pattern

SPACE = pattern("").pattern
_IN = r"[^<>\"()\[\]\n/]*+"
_NEST1 = rf"<{_IN}>"
_NEST2 = rf"<{_IN}(?:{_NEST1}{_IN})*+>"
_NEST3 = rf"<{_IN}(?:{_NEST2}{_IN})*+>"
TYPE = rf"(?:!?[a-zA-Z_][\w.]*+(?:{_NEST3})?+)"
SIGNATURE = rf"\((?:{TYPE}(?:,[ ]?{TYPE})*+)?\)[ ]?->[ ]?{TYPE}"
ATTRIBUTES = r"\{[^{}\"\n/]*+(?:\"[^\"\\\n]*+\"[^{}\"\n/]*+)*+\}"
NAME = r"%(?:\d++|[a-zA-Z$._-][\w$.-]*+)"
NAMES = rf"{NAME}(?:{SPACE}#\d++)?+(?:[ ]?,[ ]?{NAME}(?:{SPACE}#\d++)?+)*+"

TYPE_PATTERN = pattern(rf"({TYPE})")
SIGNATURE_PATTERN = pattern(rf"({SIGNATURE})")
ATTRIBUTES_PATTERN = pattern(rf"({ATTRIBUTES})")
OPERAND_PATTERN = pattern(rf"({NAME})(?:{SPACE}#(\d+))?")
NAMES_PATTERN = pattern(rf"({NAMES})")
_RESULT = rf"{NAME}(?:{SPACE}:{SPACE}\d++)?+"
RESULT_PATTERN = pattern(rf"({NAME})(?:{SPACE}:{SPACE}(\d+))?{SPACE},?")
HEAD_PATTERN = pattern(
    rf"(?:({_RESULT}(?:{SPACE},{SPACE}{_RESULT})*+){SPACE}={SPACE})?"
    r"(?:\"((?:[^\"\\\n]++|\\.)++)\"|([a-zA-Z_][\w$.]*))"
)
LOCATION_PATTERN = pattern(r"loc\s*\(")


@dataclass(frozen=True)
class Line:
    """Regular expression for the common one-line spelling of an op's text.

    `parts` names what each group of the expression matches: "operands", "attributes", "result type", ... `typed` lists
    the operands and results whose types the text contains; the other types are inferred.
    """

    pattern: re.Pattern[str]
    parts: tuple[str, ...]
    typed: tuple[str, ...] | None = None


OPERANDS = rf"{NAME}(?:[ ]?,[ ]?{NAME})*+"

GENERIC_LINE = Line(
    pattern(
        rf"\(({OPERANDS})?\){SPACE}(?:<({ATTRIBUTES})>{SPACE})?"
        rf"({ATTRIBUTES})?{SPACE}:{SPACE}({SIGNATURE})"
    ),
    ("operands", "properties", "attributes", "signature"),
)
"""The generic form of an op without regions and successors."""
