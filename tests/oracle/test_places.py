"""Places of errors and notes of the parser, beside mlir-opt's."""

import re

import pytest

from qrt import ir
from qrt.errors import ParseError
from tests import mlir_opt
from tests.ir.test_places import MISSING, NOTES, with_generic_forms

TEXTS = [f"{text}\n" for text, _, _ in MISSING] + [with_generic_forms(body) for body, *_ in NOTES]


@mlir_opt.needed
@pytest.mark.parametrize("text", TEXTS)
def test_errors_and_notes_are_where_upstreams_are(text):
    said = mlir_opt.run(text, "--allow-unregistered-dialect").stderr.decode()
    theirs = re.findall(r"^<stdin>:(\d+):(\d+): (error|note)", said, re.MULTILINE)
    with pytest.raises(ParseError) as caught:
        ir.parse(text, allow_unregistered=True)
    (error,) = caught.value.diagnostics
    ours = [(str(d.location.line), str(d.location.column), d.severity) for d in (error, *error.notes)]
    assert ours == theirs
