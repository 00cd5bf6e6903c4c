"""invalid.mlir and invalid_*.mlir: every program is refused with the message, on the line and in the column its comment
says."""

import re
from pathlib import Path

import pytest

from qrt import ir
from qrt.errors import ParseError, VerifyError

_EXPECTED = re.compile(r"// expected-error@\+(\d+):(\d+) \{\{(.*)\}\}")
FILES = sorted(Path(__file__).parent.glob("invalid*.mlir"))
CASES = [text for path in FILES for text in path.read_text().split("// -----\n")]


@pytest.mark.parametrize("text", CASES, ids=lambda text: _EXPECTED.search(text)[3][:48])
def test_refused_as_said(text):
    before, _, _ = text.partition("// expected-error@")
    offset, column, message = _EXPECTED.search(text).groups()
    with pytest.raises((ParseError, VerifyError)) as caught:
        ir.parse(text).verify()
    assert message in caught.value.message
    location = caught.value.location
    assert (location.line, location.column) == (before.count("\n") + 1 + int(offset), int(column))
