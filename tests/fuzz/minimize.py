"""The smallest text that still shows a finding: by lines, then by tokens."""

import re
import time
from collections.abc import Callable

from tests.fuzz.vocabulary import tokens


def minimized(case: str, shows: Callable[[str], bool], seconds: float) -> str:
    """A part of the case that still `shows` what the case does; what is reached when time is over."""
    end = time.monotonic() + seconds
    before = ""
    while before != case and time.monotonic() < end:
        before = case
        for split in (_lines, tokens):
            case = _reduced(split(case), shows, end)
    return case


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _reduced(parts: list[str], shows: Callable[[str], bool], end: float) -> str:
    """Runs of parts are left out, long ones first. Spaces stay."""
    length = max(len(parts) // 2, 1)
    while True:
        at = 0
        while at < len(parts):
            if time.monotonic() > end:
                return "".join(parts)
            left_out, shorter = "".join(parts[at : at + length]), parts[:at] + parts[at + length :]
            if shorter and left_out.strip() and shows("".join(shorter)):
                parts = shorter
            else:
                at += length
        if length == 1:
            return "".join(parts)
        length = max(length // 2, 1)
