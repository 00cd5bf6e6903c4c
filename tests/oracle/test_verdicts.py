"""mlir-opt 22 says of the programs of tests/ir/test_verdicts.py what is said there, so that the table cannot drift."""

import pytest

from qrt import ir
from qrt.ir.core.registry import UPSTREAM_ONLY
from tests import mlir_opt
from tests.ir.test_verdicts import CANONICAL, CASES, allows_unregistered, expectation
from tests.oracle import verdicts
from tests.oracle.draw_programs import Program

pytestmark = mlir_opt.needed


def test_the_verdicts_are_those_of_mlir_opt():
    found = verdicts.upstream([Program(text, unregistered=allows_unregistered(text)) for text in CASES])
    for text, verdict in zip(CASES, found, strict=True):
        message = expectation(text)
        assert bool(message) == bool(verdict.error), text
        assert message in verdict.error, text
        assert not verdict.crash, text


@pytest.mark.parametrize("name", CANONICAL)
def test_the_canonical_form_is_that_of_mlir_opt(name):
    before, after = CANONICAL[name]
    accepted, output = mlir_opt.upstream(before, "--canonicalize")
    assert accepted, output
    assert ir.parse(output) == ir.parse(after)


def test_the_ops_that_are_carried_are_upstreams():
    names = sorted(UPSTREAM_ONLY)
    found = verdicts.upstream([Program(f'"{name}"() : () -> ()', unregistered=True) for name in names])
    unknown = [name for name, verdict in zip(names, found, strict=True) if "unregistered" in verdict.error]
    assert unknown == []
