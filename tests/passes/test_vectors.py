"""Vector programs that canonicalize compute what they did. Hazards: an order of dimensions composed the wrong way
round, a lane taken for one in bounds."""

from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.passes import run_passes

TEXT = (Path(__file__).parent / "files" / "canonicalize_vectors.mlir").read_text()
FUNCTIONS = [function.sym_name for function in ir.parse(TEXT).functions]
FILL = iter(range(1, 1 << 20))


def given(type):
    """Numbers that differ, in the shape of a type."""
    if str(type) == "index":
        return np.int64(2)
    shape = [5 if size is None else size for size in getattr(type, "shape", ())]
    return np.array([next(FILL) for _ in range(int(np.prod(shape)))], np.float32).reshape(shape)[()]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_compute_what_they_did(name):
    before, after = ir.parse(TEXT), run_passes(ir.parse(TEXT), "canonicalize")
    inputs = [given(value.type) for value in before.function(name).regions[0].blocks[0].arguments]
    found = []
    for module in (before, after):
        arguments = {f"arg{number}": value.copy() for number, value in enumerate(inputs)}
        results = qrt.compile(module, name).run(arguments, interpret=True)
        memory = [value for value in arguments.values() if value.ndim]
        found.append([np.asarray(value) for value in (*results.values(), *memory)])
    for was, value in zip(*found, strict=True):
        np.testing.assert_array_equal(value, was)
