"""Hypothesis profiles: `ci`, the default, draws the same examples on every machine; HYPOTHESIS_PROFILE=search draws
new and many; few is for builds that run slowly."""

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.skipped import summary

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("few", derandomize=True, deadline=None, max_examples=6)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Objects of some 30,000 tests live to the end: collections of garbage, among which some tests ask for, need not
    look through them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Count the skipped tests by what would run them, in the line before pytest's last."""
    yield
    line = summary(str(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
    if line:
        terminalreporter.write_line(line)
