"""Types, attributes and programs drawn at random, right and broken by one change: mlir-opt 22 and qrt give the same
verdict, print the same text, and make the same of it in every pass.

QRT_ORACLE_SEED draws others; QRT_ORACLE_PROGRAMS says how many. Every disagreement is mended, or is one of
tests/oracle/differences.py.
"""

import os

import pytest

from tests import mlir_opt
from tests.oracle.compare import disagreements, disagreements_after
from tests.oracle.draw_attributes import attribute_text
from tests.oracle.draw_programs import Program, program
from tests.oracle.draw_types import Draw, spaced, type_text
from tests.oracle.mutations import mutated
from tests.oracle.verdicts import PASSES

pytestmark = mlir_opt.needed

SEED = os.environ.get("QRT_ORACLE_SEED", "1")
PROGRAMS = int(os.environ.get("QRT_ORACLE_PROGRAMS", "3000" if os.environ.get("QRT_REQUIRE_ORACLE") else "300"))
_SHOWN = 5


def shown(reports: list[str]) -> str:
    return "\n\n".join([f"{len(reports)} disagreements, seed {SEED}", *reports[:_SHOWN]])


def in_a_module(attribute: str) -> Program:
    return Program(f"module attributes {{q.a = {attribute}}} {{\n}}")


def test_types():
    draw = Draw(f"types {SEED}")
    types = [type_text(draw) for _ in range(PROGRAMS)]
    programs = [in_a_module(spaced(draw, text) if draw.chance(0.3) else text) for text in types]
    reports, _ = disagreements(programs, "types")
    assert not reports, shown(reports)


def test_attributes():
    draw = Draw(f"attributes {SEED}")
    reports, _ = disagreements([in_a_module(attribute_text(draw)) for _ in range(PROGRAMS // 3)], "attributes")
    assert not reports, shown(reports)


@pytest.fixture(scope="module")
def programs():
    draw = Draw(f"programs {SEED}")
    return [program(draw) for _ in range(PROGRAMS // 3)]


@pytest.fixture(scope="module")
def outcome(programs):
    return disagreements(programs, "programs")


def test_programs(outcome):
    reports, _ = outcome
    assert not reports, shown(reports)


def test_broken_programs(programs):
    draw = Draw(f"mutations {SEED}")
    broken = [mutated(draw, draw.choice(programs)) for _ in range(PROGRAMS - len(programs))]
    reports, _ = disagreements(broken, "programs with one change")
    assert not reports, shown(reports)


@pytest.mark.parametrize("name", PASSES)
def test_passes(outcome, name):
    _, accepted = outcome
    reports = disagreements_after(accepted, name)
    assert not reports, shown(reports)
