"""What bodies of functions share while they are drawn."""

from dataclasses import dataclass, field

from tests.oracle.draw_types import Draw


@dataclass
class Body:
    """Its lines, and how many values have names."""

    draw: Draw
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"
