"""Programs drawn at random are executed by mlir-runner 22 and by qrt, planned and interpreted: equal bits wherever
upstream defines the result. Functions of the C library lie within `draw_elementwise.ULPS`.

QRT_ORACLE_SEED draws others. With QRT_REQUIRE_ORACLE all are executed, without a sample. Every disagreement is mended,
or is one of differences.py.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from tests import mlir_opt, mlir_runner
from tests.oracle.draw_types import Draw
from tests.oracle.execution import (
    draw_casts,
    draw_control,
    draw_elementwise,
    draw_expressions,
    draw_memory,
    draw_named,
    draw_tensors,
    draw_vectors,
    driver,
    unreachable,
)
from tests.oracle.execution.case import Case
from tests.oracle.execution.compare import disagreements

pytestmark = mlir_opt.needed

SEED = os.environ.get("QRT_ORACLE_SEED", "1")
IS_FULL = bool(os.environ.get("QRT_REQUIRE_ORACLE"))
PROGRAMS = {
    "expressions": draw_expressions.expressions,
    "loops and branches": draw_control.control,
    "memory": draw_memory.memory,
    "tensors": draw_tensors.tensors,
    "vectors": draw_vectors.vectors,
}
_COUNT = 150
"""Programs of each kind in a full run."""
_SAMPLE = 8
_SHOWN = 5


def chosen(draw: Draw, cases: Iterable[Case]) -> Sequence[Case]:
    every = list(cases)
    return every if IS_FULL else draw.sample(every, min(_SAMPLE, len(every)))


def assert_agreement(draw: Draw, cases: Iterable[Case]) -> None:
    reports = disagreements(chosen(draw, cases))
    assert not reports, "\n\n".join([f"{len(reports)} disagreements, seed {SEED}", *reports[:_SHOWN]])


def test_ops_alone():
    draw = Draw(f"elementwise {SEED}")
    assert_agreement(draw, draw_elementwise.elementwise(draw))


def test_ops_on_tensors():
    draw = Draw(f"tensors {SEED}")
    assert_agreement(draw, draw_elementwise.on_tensors(draw))


def test_named_ops():
    draw = Draw(f"named {SEED}")
    assert_agreement(draw, draw_named.named(draw))


@pytest.mark.parametrize("kind", PROGRAMS)
def test_programs(kind):
    draw = Draw(f"{kind} {SEED}")
    assert_agreement(draw, PROGRAMS[kind](draw, _COUNT if IS_FULL else 2 * _SAMPLE))


def test_casts():
    draw = Draw(f"casts {SEED}", noise=0)
    assert_agreement(draw, draw_casts.casts(draw))


@pytest.mark.skipif(not IS_FULL, reason="a process for each")
@pytest.mark.parametrize("path", mlir_runner.PATHS)
def test_what_is_unreachable(path):
    """An op that gains a conversion must be drawn."""
    outcomes = driver.execute([replace(case, path=path) for case in unreachable.programs()])
    assert all(isinstance(outcome, str) for outcome in outcomes), outcomes
