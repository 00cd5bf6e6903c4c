"""The counts of the run, at its end."""

import os

import pytest

from qrt.runtime.interpreter import TABLES
from tests.oracle.execution.compare import EXECUTIONS, EXPLAINED, OPS, UNDEFINED, UNEXPLAINED
from tests.oracle.execution.unreachable import UNREACHABLE


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not EXECUTIONS:
        return
    line = terminalreporter.line
    terminalreporter.section("mlir-runner and qrt")
    line(f"{EXECUTIONS.total():8}  executions by both")
    for name, count in EXECUTIONS.items():
        line(f"{count:8}    {name}")
    line(f"{UNDEFINED.total():8}  calls that upstream leaves undefined, refused by qrt")
    line(f"{len(OPS):8}  ops: {', '.join(sorted(OPS))}")
    for name, count in sorted(EXPLAINED.items()):
        line(f"{count:8}  explained: {name}")
    line(f"{UNEXPLAINED.total():8}  unexplained")
    if not os.environ.get("QRT_REQUIRE_ORACLE"):
        return  # a sample has few ops
    others = sorted(op for op in TABLES.every_op() - set(OPS) if op.partition(".")[0] not in ("func", "qrt", "quant"))
    line(f"{len(others):8}  ops that qrt runs and none of these programs has: {', '.join(others)}")
    for what, why in UNREACHABLE.items():
        line(f"          no upstream execution of {what}: {why}")
