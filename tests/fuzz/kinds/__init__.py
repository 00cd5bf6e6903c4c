"""What is fuzzed. A case of any kind is a text, so that one minimizer and one corpus serve all."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from tests.fuzz.kinds import arrays, command, command_draw, eager, eager_draw, models, programs, saved, text


@dataclass(frozen=True)
class Kind:
    """`draw` makes a case; `check` gives a label to count it by, and raises a Finding, or whatever escapes.
    It may take so many seconds of CPU time.
    """

    name: str
    draw: Callable[[Random], str]
    check: Callable[[str], str]
    seconds: float = 2.0

    @property
    def encoding(self) -> str:
        """A case's in files."""
        return "latin-1" if self.name in ("arrays", "models", "saved") else "utf-8"

    def cases(self, seed: str, numbers: range) -> Iterator[tuple[int, str]]:
        """The cases that a seed and numbers stand for, on any machine."""
        for number in numbers:
            yield number, self.draw(Random(f"{self.name} {seed} {number}"))


KINDS = {
    kind.name: kind
    for kind in (
        Kind("text", text.draw, text.check),
        Kind("programs", programs.draw, programs.check),
        Kind("eager", eager_draw.draw, eager.check),
        Kind("arrays", arrays.draw, arrays.check),
        Kind("command", command_draw.draw, command.check),
        Kind("models", models.draw, models.check, seconds=5.0),
        Kind("saved", saved.draw, saved.check),
    )
}
