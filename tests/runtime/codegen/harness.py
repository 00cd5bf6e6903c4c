"""Runs a program as machine code and in the interpreter, and compares results bit for bit, or errors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.errors import ModelError
from qrt.ir import Module
from qrt.ops.core import Array
from qrt.runtime.compilation import compile


def outcome(program: Any, arrays: Sequence[Array], **options: Any) -> list[Array] | str:
    """Return the results of a run, or the text of its error."""
    inputs = {port.name: array for port, array in zip(program.inputs, arrays, strict=True)}
    try:
        results = program.run(inputs, **options).values()
    except ModelError as error:
        return str(error)
    return [np.asarray(getattr(result, "storage", result)) for result in results]


def assert_equal(actual: list[Array] | str, expected: list[Array] | str) -> None:
    """Assert that two outcomes have the same bits, or the same error."""
    if isinstance(actual, str) or isinstance(expected, str):
        assert actual == expected
        return
    for ours, wanted in zip(actual, expected, strict=True):
        assert (ours.dtype, ours.shape) == (wanted.dtype, wanted.shape)
        bits = f"u{ours.itemsize}"
        np.testing.assert_array_equal(np.atleast_1d(ours).view(bits), np.atleast_1d(wanted).view(bits))


def check(text: str | Module, *arrays: Array, saturating: bool = False) -> list[Array] | str:
    """Assert that machine code gives the interpreter's outcome, and return it."""
    code = compile(text, saturating=saturating, codegen=True)
    assert [step.engine for step in code.coverage(*(array.shape for array in arrays))] == ["machine code"]
    copies = [array.copy() for array in arrays]
    expected = outcome(compile(text, saturating=saturating), copies, interpret=True)
    given = [array.copy() for array in arrays]
    assert_equal(outcome(code, given), expected)
    assert_equal(given, copies)  # memrefs that the program writes
    return expected
