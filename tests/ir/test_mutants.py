"""Attributes of wrong kinds, wrong counts and wrong types, on every op in generic form: a diagnostic, or a program that
prints, reads back and goes through canonicalize; never a Python error. HYPOTHESIS_PROFILE=search tries all of them."""

import os
import random

import pytest

from qrt import ir
from qrt.errors import QuantError
from qrt.ir import run_passes
from qrt.ir.core.registry import DIALECTS, every_definition
from tests.ir.mutants import Example, changes, examples

_TRIED = 1 << 30 if os.environ.get("HYPOTHESIS_PROFILE") == "search" else 24
"""Of the changes of one op."""


def attempt(text):
    """Whether a program is accepted."""
    try:
        module = ir.parse(text, allow_unregistered=True)
        module.verify()
    except QuantError:
        return False
    for generic in (False, True):
        again = ir.parse(module.print(generic=generic), allow_unregistered=True)
        again.verify()
    str(run_passes(again, "canonicalize"))
    return True


@pytest.mark.parametrize("dialect", DIALECTS.own)
def test_a_wrong_program_is_a_diagnostic(dialect):
    tried = 0
    for name in sorted(every_definition()):
        if not name.startswith(f"{dialect}."):
            continue
        found = [(original, *each) for original in examples()[name][:2] for each in changes(original)]
        for original, what, change in random.Random(name).sample(found, min(_TRIED, len(found))):
            example = Example(original)
            change(example)
            text = example.text()
            try:
                attempt(text)
            except Exception as error:
                raise AssertionError(f"{name}: {what}\n{text}") from error
            tried += 1
    assert tried
