"""A row of the bench: a name, whether its values are quantized, and its models."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benches.operators.models import Models

Makers = Mapping[str, Callable[[], Models]]
FLOAT = "_f32"


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    name: str
    make: Callable[[], Models]

    @property
    def is_call(self) -> bool:
        """Return True if calls with arrays are timed, and not the operation alone."""
        return self.name.endswith("_small")

    @property
    def is_quantized(self) -> bool:
        """Return True unless all values are floats."""
        return FLOAT not in self.name


def rows_of(families: Sequence[Callable[[], Makers]]) -> list[Row]:
    """Return the rows of families, in order."""
    return [Row(name, make) for family in families for name, make in family().items()]
