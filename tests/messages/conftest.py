"""The fixture of tests that follow the advice in messages."""

from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

from qrt.cli import main
from qrt.errors import QuantError
from tests.messages.advice import pattern_of


class Heard:
    """The advice that a test follows: which messages had it."""

    def __init__(self, parts: list[str], printed: Callable[[], Any]) -> None:
        self.parts = dict.fromkeys(parts, False)
        self._printed = printed

    def __call__(self, call: Callable[[], Any]) -> tuple[str, ...]:
        """Return the values in the error of a call that fails."""
        with pytest.raises(QuantError) as raised:
            call()
        return self.text(str(raised.value))

    def command(self, command: str) -> tuple[str, ...]:
        """Return the values in what a command that fails prints."""
        self._printed()
        assert status(command) in (1, 2)
        return self.text(self._printed().err)

    def text(self, message: str) -> tuple[str, ...]:
        """Return the values in those parts that a message has, which must be one or more."""
        matches = {part: match for part in self.parts if (match := pattern_of(part).search(message))}
        assert matches, message
        self.parts |= dict.fromkeys(matches, True)
        return tuple(value for match in matches.values() for value in match.groups())


def status(command: str) -> int:
    """Return the exit status of a command."""
    try:
        return main(command.split())
    except SystemExit as stop:
        return int(stop.code or 0)


_HAS_PASSED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note for the fixture whether a test has passed: one that is skipped hears nothing."""
    report = yield
    if call.when == "call":
        item.stash[_HAS_PASSED] = report.passed
    return report


@pytest.fixture
def heard(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Iterator[Heard]:
    """Hears the messages with the parts that the test is marked with; all of them must have come in the end."""
    advice = Heard(request.function.parts, capsys.readouterr)
    yield advice
    assert not request.node.stash.get(_HAS_PASSED, False) or all(advice.parts.values()), advice.parts
