"""The steps of imported models that Python computes, beside the lists on the pages of the importers. Hazards: an
operator that becomes a hundred times slower because one op of its program has no kernel, and a false list."""

import re
import zlib
from collections.abc import Iterator

import numpy as np
import pytest

import qrt
from qrt.models.profiles import profile
from qrt.models.tflite.importing import import_model
from tests.models.onnx import forms as onnx_forms
from tests.models.onnx import oracle as onnx_oracle
from tests.models.onnx.running import imported
from tests.models.tflite import stored
from tests.reference.python_steps import ONNX, TFLITE, by_operator

OPERATOR = re.compile(r"(?:node|operator) \d+ ([^\s,]+)")


def of_tflite() -> Iterator[tuple[qrt.Program, list[tuple[int, ...]]]]:
    """A program of each form whose sizes do not depend on the data of the run, and the shapes of a run."""
    forms = {name: (form, of) for name, form, of in stored.forms() if ", open" not in name}
    for name, (form, of) in forms.items():
        drawn = stored.drawn(name, form, 0)
        yield qrt.compile(import_model(drawn.model, profile(of))), [np.shape(x) for x in drawn.inputs[0]]


def of_onnx() -> Iterator[tuple[qrt.Program, list[tuple[int, ...]]]]:
    """The same of ONNX."""
    for name, form, _ in onnx_oracle.forms():
        if not name.startswith("open "):
            case = form(np.random.default_rng([0, zlib.crc32(name.encode()), 0]))
            yield qrt.compile(imported(case.content)), [np.shape(x) for x in (case.inputs or [[]])[0]]
    for each in onnx_forms.forms():
        yield qrt.compile(imported(each.content())), [np.shape(x) for x in each.inputs.values()]


def computed_in_python(programs: Iterator[tuple[qrt.Program, list[tuple[int, ...]]]]) -> dict[str, set[str]]:
    """The ops that Python computes, by operator."""
    ops: dict[str, set[str]] = {}
    for program, shapes in programs:
        for step in program.coverage(*shapes):
            if step.engine in ("interpreter", "reference"):
                operator = OPERATOR.search(step.location)
                ops.setdefault(operator[1] if operator else "?", set()).add(step.op)
    return ops


@pytest.mark.parametrize(("programs", "table"), [(of_tflite, TFLITE), (of_onnx, ONNX)])
def test_the_pages_list_what_python_computes(programs, table):
    assert computed_in_python(programs()) == by_operator(table)
