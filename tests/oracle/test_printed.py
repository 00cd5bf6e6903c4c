"""What mlir-opt 22 prints, of programs of every dialect and after passes that change their form, is read by qrt,
printed in both forms, and read by mlir-opt again: it prints the same text."""

import os

import pytest

from qrt import ir
from qrt.errors import QuantError
from tests import mlir_opt
from tests.oracle.compare import TALLY
from tests.oracle.draw_types import Draw
from tests.oracle.execution.draw_casts import programs_of
from tests.oracle.execution.draw_control import control
from tests.oracle.execution.draw_expressions import expressions
from tests.oracle.execution.draw_memory import memory
from tests.oracle.execution.draw_tensors import tensors
from tests.oracle.execution.draw_vectors import vectors
from tests.oracle.verdicts import SEPARATOR
from tests.runtime.cast_variants import FORMS, variants

pytestmark = mlir_opt.needed

_BUFFERIZE = (
    "--lower-quant-ops",
    "--canonicalize",
    "--convert-elementwise-to-linalg",
    "--shape-to-shape-lowering",
    "--convert-shape-to-std",
    "--one-shot-bufferize=bufferize-function-boundaries",
)
PASSES = {
    "custom form": [],
    "generic form": ["--mlir-print-op-generic"],
    "canonicalize": ["--canonicalize"],
    "lower-quant-ops": ["--lower-quant-ops"],
    "linalg-generalize-named-ops": ["--linalg-generalize-named-ops"],
    "convert-elementwise-to-linalg": ["--convert-elementwise-to-linalg", "--linalg-fuse-elementwise-ops"],
    "bufferize": [*_BUFFERIZE],
    "loops": [*_BUFFERIZE, "--convert-linalg-to-loops"],
    "affine loops": [*_BUFFERIZE, "--convert-linalg-to-affine-loops"],
    "affine lowered": [*_BUFFERIZE, "--convert-linalg-to-affine-loops", "--lower-affine", "--cse"],
    "branches": [
        *_BUFFERIZE,
        "--convert-linalg-to-loops",
        "--scf-forall-to-for",
        "--lower-affine",
        "--convert-scf-to-cf",
    ],
    "code motion": [*_BUFFERIZE, "--convert-linalg-to-loops", "--loop-invariant-code-motion", "--canonicalize"],
}


def _programs() -> list[str]:
    draw = Draw("printed", noise=0)
    kinds = (expressions(draw, 6), control(draw, 14), memory(draw, 14), tensors(draw, 33), vectors(draw, 8))
    one_of_each = {variant.form: variant for variant in variants(draw)}
    casts = [text for form in FORMS for text in programs_of(one_of_each[form])]
    return [*(case.text for kind in kinds for case in kind), *casts]


PROGRAMS = _programs()[:: 1 if os.environ.get("QRT_REQUIRE_ORACLE") else 5]


@pytest.mark.parametrize("name", PASSES)
def test_what_is_printed_comes_back(name):
    printed = _printed(PROGRAMS, PASSES[name])
    form = [flag for flag in PASSES[name] if "generic" in flag]
    for generic in (False, True):
        ours = [_ours(text, generic) for text in printed]
        again = _printed(ours, form)
        differ = [(a, b) for a, b in zip(printed, again, strict=True) if a != b]
        assert not differ, f"{len(differ)} differ:\n{differ[0][0]}\n{differ[0][1]}"
    TALLY["programs that mlir-opt printed, printed again"] += len(printed)


def _printed(texts: list[str], flags: list[str]) -> list[str]:
    done = mlir_opt.run(SEPARATOR.join(f"{text}\n" for text in texts), "--split-input-file", *flags)
    assert done.returncode == 0, done.stderr.decode()[:2000]
    return [part.strip() for part in done.stdout.decode().split(SEPARATOR)]


def _ours(text: str, generic: bool) -> str:
    try:
        return ir.parse(text).print(generic=generic)
    except QuantError as error:
        raise AssertionError(f"{text}\n{error}") from None
